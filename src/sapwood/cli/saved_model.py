"""Model files: written after training, read again, and what data must look like to fit them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sapwood.cli.data import arrow, check_exists, require_columns
from sapwood.cli.models import check_single
from sapwood.cli.output import check_output
from sapwood.cli.sample import Sample
from sapwood.cli.task import Choice, Task, target_values
from sapwood.errors import InputError, ModelFileError
from sapwood.table.reading import Reading

MODEL_FILES = (".sapwood", ".json")
EXTENSION = "readings"


def check_model_output(path: Path, inputs: Collection[Path]) -> None:
    """Raise before any work is done if the model could not be written in the end."""
    check_output(path, MODEL_FILES, inputs)


def write_model(estimator: Any, path: Path, readings: Mapping[str, Reading]) -> str:
    """Save a model and how text was read for it, and say where and how large the file is."""
    from rich.filesize import decimal

    from sapwood.estimators.model_file import write_model as write

    noted = {name: [reading.kind, reading.form] for name, reading in readings.items()}
    write(path, estimator, {EXTENSION: noted} if noted else {}, "json" if path.suffix.lower() == ".json" else "binary")
    return f"{path} ({decimal(path.stat().st_size)})"


class SavedModel(NamedTuple):
    """A fitted estimator that predicts one class or number for each row, and how text was read for it."""

    estimator: Any
    readings: Mapping[str, Reading]


def read_model(path: Path) -> SavedModel:
    """The model in a file."""
    from sapwood.estimators.model_file import read_content, rebuild

    check_exists(path, "model file")
    _, document, arrays = read_content(path)
    estimator = rebuild(document, arrays)
    check_single(estimator)
    return SavedModel(estimator, _readings(document["extensions"].get(EXTENSION, {})))


def _readings(found: Any) -> dict[str, Reading]:
    try:
        return {name: Reading(kind, form) for name, (kind, form) in found.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise ModelFileError(f"The model file cannot be used: its {EXTENSION} are not understood.") from error


def known_sample(model: SavedModel) -> Sample:
    """No rows, but the columns and classes of the training data: what other files are read like."""
    pa = arrow()
    estimator = model.estimator
    types = {"number": pa.float64(), "date": pa.timestamp("us")}
    fields = [
        (column.name, pa.string() if _is_text(column) else types.get(column.kind, pa.null()))
        for column in estimator.schema_.columns
    ]
    task = _task(estimator)
    classes = np.empty(0)
    if task is Task.CLASSIFICATION:
        classes = target_values(pa.chunked_array([estimator.classes_.tolist()]), "classes", task)
    choice = Choice(task, "the model is for it")
    return Sample(pa.schema(fields).empty_table(), classes[:0], None, choice, classes, model.readings)


def require_model_columns(names: list[str], estimator: Any, path: Path) -> None:
    """Raise if a file lacks columns of the model, or has too few or many for one that knows no names."""
    schema = estimator.schema_
    if schema.named:
        require_columns(names, schema.names, "The model's column", path)
    elif len(names) != schema.n_features:
        raise InputError(
            f"The model was trained on {schema.n_features} columns without names, but {str(path)!r} has "
            f"{len(names)} columns to predict from. Use --drop to leave out the others."
        )


def _is_text(column: Any) -> bool:
    return any(isinstance(level, str) for level in column.levels)


def _task(estimator: Any) -> Task:
    return Task.CLASSIFICATION if hasattr(estimator, "classes_") else Task.REGRESSION
