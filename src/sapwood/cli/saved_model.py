"""Model files: written after training, read again, and what data must look like to fit them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from sapwood.cli.data import Table, arrow, check_exists, require_columns
from sapwood.cli.models import check_single
from sapwood.cli.output import check_output
from sapwood.cli.sample import Sample
from sapwood.cli.task import Choice, Task, target_values
from sapwood.errors import InputError

MODEL_FILES = (".sapwood", ".json")


def check_model_output(path: Path, inputs: Collection[Path]) -> None:
    """Raise before any work is done if the model could not be written in the end."""
    check_output(path, MODEL_FILES, inputs)


def write_model(estimator: Any, path: Path) -> str:
    """Save a model, and say where and how large it is."""
    from rich.filesize import decimal

    from sapwood import save

    save(estimator, path, form="json" if path.suffix.lower() == ".json" else "binary")
    return f"{path} ({decimal(path.stat().st_size)})"


def read_model(path: Path) -> Any:
    """The fitted estimator in a file, which predicts one class or number for each row."""
    from sapwood import load

    check_exists(path, "model file")
    estimator = load(path)
    check_single(estimator)
    return estimator


def known_sample(estimator: Any) -> Sample:
    """No rows, but the columns and classes of the training data: what other files are read like."""
    pa = arrow()
    fields = [(column.name, pa.string() if _is_text(column) else pa.null()) for column in estimator.schema_.columns]
    task = _task(estimator)
    classes = np.empty(0)
    if task is Task.CLASSIFICATION:
        classes = target_values(pa.chunked_array([estimator.classes_.tolist()]), "classes", task)
    choice = Choice(task, "the model is for it")
    return Sample(pa.schema(fields).empty_table(), classes[:0], None, choice, classes)


def require_model_columns(table: Table, estimator: Any, path: Path) -> None:
    """Raise if a table lacks columns of the model, or has too few or many for one that knows no names."""
    schema = estimator.schema_
    if schema.named:
        require_columns(table, schema.names, "The model's column", path)
    elif table.num_columns != schema.n_features:
        raise InputError(
            f"The model was trained on {schema.n_features} columns without names, but {str(path)!r} has "
            f"{table.num_columns} columns to predict from. Use --drop to leave out the others."
        )


def _is_text(column: Any) -> bool:
    return any(isinstance(level, str) for level in column.levels)


def _task(estimator: Any) -> Task:
    return Task.CLASSIFICATION if hasattr(estimator, "classes_") else Task.REGRESSION
