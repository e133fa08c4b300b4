"""A model as a module of plain Python."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.counted import counted
from sapwood.errors import InputTypeError, ModelFileError
from sapwood.interchange.cells import row_values
from sapwood.interchange.targets.description import column_lines
from sapwood.interchange.targets.exported_model import MOST_EXPONENT, exported_model, output_names, stops_at_unseen
from sapwood.interchange.targets.node_table import NodeTable
from sapwood.interchange.targets.python import text as python_text
from sapwood.interchange.targets.replay import (
    Outputs,
    Precision,
    Predict,
    boundary_rows,
    check_outputs,
    write_checked,
)
from sapwood.keywords import answering
from sapwood.model import Model
from sapwood.table.column import UNSEEN

WIDTH = 118
PLAIN = (str, int, float, bool, type(None))
Row = list[object]


@answering
def to_python(model: object, path: str | os.PathLike[str] | None = None) -> str:
    """A Python module that imports nothing but math: predict(row), and predict_proba(row) of classifiers.

    A row is a dictionary from names of columns to values, or a list of values: what `predict_one` takes. Dates are
    datetime objects or seconds since 1970-01-01 (UTC), durations timedelta objects or seconds. Results are those of
    `predict_one`, with lists in place of arrays, and the same bits unless there is an exponential in between.

    Args:
        model: a fitted estimator, or its Model.
        path: file to write; None only returns the text.
    """
    exported = exported_model(model, "Python")
    text = python_module(exported)
    cells = boundary_rows(exported, is_slow=True)
    check_outputs(exported, "Python", cells, _executed(text, exported), Precision.double(exported))
    write_checked(path, text.encode("ascii"))
    return text


def python_module(model: Model) -> str:
    """The text of the module, in ASCII: other characters are escaped."""
    data = "\n".join(line for name, value in _data(model) for line in _assignment(name, value))
    scores = python_text.SCORES_OF_LINES if model.trees.is_linear else python_text.SCORES
    reading = [python_text.WALK, scores, python_text.CELLS]
    functions = [*reading, python_text.RESPONSES[model.response.kind], *_public_functions(model)]
    return "\n".join([*_head(model), "import math", "", data, *functions])


def _head(model: Model) -> Iterator[str]:
    yield f"# A {model.estimator} with {counted(len(model.trees), 'tree')}, written by Sapwood."
    yield "#"
    for line in column_lines(model, "row", "None and NaN are missing values.", by_number=False):
        yield f"# {ascii(line)[1:-1]}"
    yield ""


def _public_functions(model: Model) -> list[str]:
    if not model.classes:
        return [python_text.ONE_NUMBER if len(output_names(model)) == 1 else python_text.NUMBERS]
    if len(model.classes) > 1:
        return [python_text.LABEL, python_text.SEVERAL_CLASSES]
    own = "_numbers" if model.response.factors is None else "_probabilities"
    more = [] if model.response.factors is None else [python_text.WITHOUT_FACTORS]
    return [*more, python_text.LABEL, python_text.ONE_CLASS.format(probabilities=own)]


def _data(model: Model) -> Iterator[tuple[str, object]]:
    nodes, columns = NodeTable.of(model), model.schema.columns
    yield "NAMES", [column.name for column in columns]
    yield "KINDS", [column.kind for column in columns]
    yield "CODES", [dict(column.code_of) if column.kind == "category" else None for column in columns]
    yield "UNSEEN", UNSEEN
    yield "STOPS_AT_UNSEEN", stops_at_unseen(model)
    yield "REFUSES_UNSEEN", model.unseen == "error"
    for name in ("feature", "threshold", "right", "missing_left", "subset", "levels", "value_row", "values", "roots"):
        yield name.upper(), getattr(nodes, name).tolist()
    yield "COLUMNS", nodes.columns.tolist()
    if nodes.linear is not None:
        yield "LINE_START", nodes.linear.starts.tolist()
        yield "LINES", nodes.linear.lines.tolist()
    yield "BASE", model.trees.base.tolist()
    yield "DIVISOR", float(model.trees.divisor)
    yield "KEPT", model.kept_scores
    yield "SCALE", model.response.scale
    yield "MOST_EXPONENT", MOST_EXPONENT
    yield from _data_of_response(model)


def _data_of_response(model: Model) -> Iterator[tuple[str, object]]:
    if model.response.ranks:
        yield "RANKS", list(model.response.ranks)
    if model.response.weights is not None:
        yield "WEIGHTS", model.response.weights.tolist()
    if model.response.factors is not None:
        yield "FACTORS", model.response.factors.tolist()
    if model.classes:
        yield "CLASSES", [labels.tolist() for labels in model.classes]
        yield "GROUPS", model.groups
        yield "MARGIN", model.response.margin
        yield "SECOND_OF_EQUALS", model.response.second_of_equals


def _assignment(name: str, value: object) -> Iterator[str]:
    """A constant; a long list gets as many items in a line as fit."""
    if not isinstance(value, list) or not value:
        yield f"{name} = {_literal(value)}"
        return
    yield f"{name} = ["
    line = "   "
    for item in map(_literal, value):
        if len(line) + len(item) + 2 > WIDTH and line.strip():
            yield line
            line = "   "
        line += f" {item},"
    yield line
    yield "]"


def _literal(value: object) -> str:
    """Python that means this value, in ASCII; never anything but a constant."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    if type(value) not in PLAIN:
        raise InputTypeError(
            f"The model names {value!r}, a {type(value).__name__}, which cannot be written in Python text. Use strings "
            "or numbers for classes and levels."
        )
    if isinstance(value, float) and not math.isfinite(value):
        return "math.nan" if math.isnan(value) else f"{'-' if value < 0 else ''}math.inf"
    return ascii(value)


def _executed(text: str, model: Model) -> Predict:
    """The module, run in a namespace of its own and applied to rows."""
    module: dict[str, Any] = {"__name__": "model"}
    try:
        exec(compile(text, "<model>", "exec"), module)
    except SyntaxError as error:
        raise ModelFileError(f"The Python text is not valid, so nothing was written: {error}") from error

    def predict(cells: Floats) -> Outputs:
        rows, width = [row_values(row, model.schema, _Unseen) for row in cells.tolist()], len(output_names(model))
        if not model.classes:
            return Outputs(_numbers(module["predict"], rows, width))
        labels = np.array([_unless_refused(module["predict"], row) for row in rows], dtype=object)
        return Outputs(_numbers(module["predict_proba"], rows, width), labels.reshape(len(rows), -1))

    return predict


def _unless_refused(function: Callable[[Row], Any], row: Row) -> Any:
    """The result of a function; None if it raises for the row."""
    try:
        return function(row)
    except ValueError:
        return None


def _numbers(function: Callable[[Row], Any], rows: list[Row], width: int) -> Floats:
    """Results (rows, width) from numbers, lists or lists of lists; NaN for rows that the function refuses."""
    out = np.full((len(rows), width), np.nan)
    for numbers, row in zip(out, rows, strict=True):
        found = _unless_refused(function, row)
        if found is not None:
            numbers[:] = np.hstack(found if isinstance(found, list) else [found])
    return out


class _Unseen:
    """A level that no training row can have had."""
