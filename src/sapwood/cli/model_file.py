"""Model files: written after training, read again, and rows of data files with the columns of a saved model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sapwood.cached_property import cached_property
from sapwood.cli.data_file import Batches, arrow, named_columns, require_columns
from sapwood.cli.dataset import Choice, Dataset, target_values
from sapwood.cli.model_kinds import require_one_output
from sapwood.cli.options import InputOptions, Task
from sapwood.errors import InputError, ModelFileError
from sapwood.sources.files import check_exists
from sapwood.table.reading import Reading

if TYPE_CHECKING:
    from pyarrow import Table

    from sapwood.estimators.estimator import Estimator
    from sapwood.model.model import Model

_READINGS = "readings"  # extension of the file format: how text was read as numbers and dates


def write_model(estimator: Estimator, path: Path, readings: Mapping[str, Reading]) -> str:
    """Save a model and how text was read for it; returns path and size of the file."""
    from rich.filesize import decimal

    from sapwood.estimators.model_file import write_model as write

    noted = {name: [reading.kind, reading.form] for name, reading in readings.items()}
    write(path, estimator, {_READINGS: noted} if noted else {}, "json" if path.suffix.lower() == ".json" else "binary")
    return f"{path} ({decimal(path.stat().st_size)})"


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model read from a file, and the contents of the file."""

    path: Path
    metadata: Mapping[str, str]
    document: Mapping[str, Any]
    estimator: Estimator

    @property
    def model(self) -> Model:
        """What the estimator computes."""
        return self.estimator.model_

    @property
    def is_finished(self) -> bool:
        """Whether training had ended; False for a checkpoint of unfinished training."""
        note = self.document["extensions"].get("checkpoint")
        return not isinstance(note, dict) or note.get("finished") is True

    @cached_property
    def readings(self) -> dict[str, Reading]:
        """How text was read as numbers and dates, by column."""
        try:
            found = self.document["extensions"].get(_READINGS, {})
            return {name: Reading(kind, form) for name, (kind, form) in found.items()}
        except (AttributeError, TypeError, ValueError) as error:
            raise ModelFileError(
                f"The model file {str(self.path)!r} cannot be used: its {_READINGS} are not understood."
            ) from error

    def empty_dataset(self) -> Dataset:
        """The columns and classes of the training data, without rows, for reading other files alike."""
        pa = arrow()
        types = {"number": pa.float64(), "date": pa.timestamp("us")}
        columns = [
            (column.name, pa.string() if _is_text(column.levels) else types.get(column.kind, pa.null()))
            for column in self.model.schema.columns
        ]
        task, classes = Task.REGRESSION, np.empty(0)
        if self.model.is_classifier:
            task = Task.CLASSIFICATION
            classes = target_values(pa.chunked_array([self.model.classes[0].tolist()]), "classes", task)
        choice = Choice(task, "the model is for it")
        return Dataset(pa.schema(columns).empty_table(), classes[:0], None, choice, classes, self.readings)

    def columns_of(self, names: Sequence[str], path: Path, drop: Collection[str] = ()) -> Collection[str]:
        """The columns of a file that the model uses; raises if some are missing, or their number is wrong."""
        dropped = named_columns(drop, names)
        require_columns(names, dropped, "--drop", path)
        left = [name for name in names if name not in dropped]
        schema = self.model.schema
        if schema.named:
            require_columns(left, schema.names, "The model's column", path)
            return schema.names
        if len(left) != schema.n_features:
            raise InputError(
                f"The model was trained on {schema.n_features} columns without names, but {str(path)!r} has "
                f"{len(left)} columns to predict from. Use --drop to ignore the others."
            )
        return left

    def read_rows(self, path: Path, options: InputOptions) -> Table:
        """All rows of a data file, with the columns of the model."""
        batches = Batches(path, options.file_format, self.empty_dataset(), ())
        columns = self.columns_of(batches.names, path, options.drop)
        return arrow().concat_tables([rows for rows, _, _ in batches.read(columns)])


def read_model(path: Path) -> SavedModel:
    """The model in a file, which must predict one class or number for each row."""
    saved = read_any_model(path)
    require_one_output(saved.estimator)
    return saved


def read_any_model(path: Path) -> SavedModel:
    """The model in a file, whatever it predicts."""
    from sapwood.estimators.model_file import rebuild
    from sapwood.files.content import read_content

    check_exists(path, "model file")
    metadata, document, arrays = read_content(path)
    return SavedModel(path, metadata, document, rebuild(document, arrays))


def _is_text(levels: Collection[object]) -> bool:
    return any(isinstance(level, str) for level in levels)
