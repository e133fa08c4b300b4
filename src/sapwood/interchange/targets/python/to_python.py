"""A model as a module of plain Python."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.counted import counted
from sapwood.errors import InputTypeError, ModelFileError
from sapwood.interchange.targets.description import column_lines
from sapwood.interchange.targets.formula import MOST_EXPONENT, Formula, formula_of
from sapwood.interchange.targets.node_table import NodeTable
from sapwood.interchange.targets.python import text as python_text
from sapwood.interchange.targets.replay import Answers, Precision, boundary_rows, check_answers, write_checked
from sapwood.keywords import answering
from sapwood.table.column import UNSEEN
from sapwood.table.schema import ColumnSchema

Floats = NDArray[np.float64]

WIDTH = 118
PLAIN = (str, int, float, bool, type(None))


@answering
def to_python(model: Any, path: str | os.PathLike[str] | None = None) -> str:
    """A Python module that imports nothing but math: predict(row), and predict_proba(row) of classifiers.

    A row is a dictionary from names of columns to values, or a list of values: what `predict_one` takes. Dates are
    datetime objects or seconds since 1970-01-01 (UTC), durations timedelta objects or seconds. Results are those of
    `predict_one`, with lists in place of arrays, and the same bits unless there is an exponential in between.

    Args:
        model: a fitted estimator.
        path: file to write; None only returns the text.
    """
    formula = formula_of(model, "Python")
    text = python_module(formula)
    cells = boundary_rows(formula, is_slow=True)
    check_answers(model, formula, "Python", cells, _executed(text, formula), Precision.double(formula))
    write_checked(path, text.encode("ascii"))
    return text


def python_module(formula: Formula) -> str:
    """The text of the module, in ASCII: other characters are escaped."""
    data = "\n".join(line for name, value in _data(formula) for line in _assignment(name, value))
    functions = [python_text.WALK, python_text.RESPONSES[formula.response], *_answers(formula)]
    return "\n".join([*_head(formula), "import math", "", data, *functions])


def _head(formula: Formula) -> Iterator[str]:
    yield f"# A {formula.kind} with {counted(len(formula.tree_sum), 'tree')}, written by Sapwood."
    yield "#"
    for line in column_lines(formula, "row", "None and NaN are missing values.", by_number=False):
        yield f"# {ascii(line)[1:-1]}"
    yield ""


def _answers(formula: Formula) -> list[str]:
    if not formula.classes:
        return [python_text.ONE_NUMBER if len(formula.names) == 1 else python_text.NUMBERS]
    if len(formula.classes) > 1:
        return [python_text.LABEL, python_text.SEVERAL_CLASSES]
    own = "_numbers" if formula.factors is None else "_probabilities"
    undone = [] if formula.factors is None else [python_text.UNDONE]
    return [*undone, python_text.LABEL, python_text.ONE_CLASS.format(probabilities=own)]


def _data(formula: Formula) -> Iterator[tuple[str, Any]]:
    nodes, columns = NodeTable.of(formula), formula.schema.columns
    yield "NAMES", [column.name for column in columns]
    yield "KINDS", [column.kind for column in columns]
    yield "CODES", [_codes(column) for column in columns]
    yield "UNSEEN", UNSEEN
    yield "STOPS_AT_UNSEEN", formula.stops_at_unseen
    yield "REFUSES_UNSEEN", formula.unseen == "error"
    for name in ("feature", "threshold", "right", "missing_left", "subset", "levels", "says", "words", "roots"):
        yield name.upper(), getattr(nodes, name).tolist()
    yield "COLUMNS", nodes.columns.tolist()
    yield "BASE", formula.tree_sum.base.tolist()
    yield "DIVISOR", float(formula.tree_sum.divisor)
    yield "KEPT", list(formula.kept)
    yield "SCALE", formula.scale
    yield "MOST_EXPONENT", MOST_EXPONENT
    yield from _data_of_response(formula)


def _data_of_response(formula: Formula) -> Iterator[tuple[str, Any]]:
    if formula.ranks:
        yield "RANKS", list(formula.ranks)
    if formula.weights is not None:
        yield "WEIGHTS", formula.weights.tolist()
    if formula.factors is not None:
        yield "FACTORS", formula.factors.tolist()
    if formula.classes:
        yield "CLASSES", [list(labels) for labels in formula.classes]
        yield "GROUPS", [list(group) for group in formula.groups]
        yield "MARGIN", formula.margin
        yield "SECOND_OF_EQUALS", formula.second_of_equals


def _codes(column: ColumnSchema) -> dict[Any, int] | None:
    return dict(column.code_of) if column.kind == "category" else None


def _assignment(name: str, value: Any) -> Iterator[str]:
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


def _literal(value: Any) -> str:
    """Python that means this value, in ASCII; never anything but a constant."""
    if isinstance(value, list):
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


def _executed(text: str, formula: Formula) -> Any:
    """What the module says of rows, in a namespace of its own."""
    module: dict[str, Any] = {"__name__": "model"}
    try:
        exec(compile(text, "<model>", "exec"), module)
    except SyntaxError as error:
        raise ModelFileError(f"The Python text is not valid, so nothing was written: {error}") from error

    def answer(cells: Floats) -> Answers:
        natives = [_native(formula, row) for row in cells]
        if not formula.classes:
            return Answers(_gathered([_said(module["predict"], row) for row in natives], len(formula.names)))
        shares = [_said(module["predict_proba"], row) for row in natives]
        labels = [_said(module["predict"], row) for row in natives]
        return Answers(_gathered(shares, len(formula.names)), np.array(labels, dtype=object).reshape(len(cells), -1))

    return answer


def _said(function: Any, row: list[Any]) -> Any:
    """What a function says; nothing if it refuses the row."""
    try:
        return function(row)
    except ValueError:
        return None


def _gathered(said: list[Any], width: int) -> Floats:
    """Numbers (rows, width) from lists, lists of lists or single numbers; NaN where nothing was said."""
    out = np.full((len(said), width), np.nan)
    for row, own in zip(out, said, strict=True):
        if own is not None:
            row[:] = np.hstack(own if isinstance(own, list) else [own])
    return out


def _native(formula: Formula, cells: Floats) -> list[Any]:
    """A row as a user would give it."""
    return [_value(column, cell) for column, cell in zip(formula.schema.columns, cells.tolist(), strict=True)]


def _value(column: ColumnSchema, cell: float) -> Any:
    if math.isnan(cell):
        return None
    if column.kind != "category":
        return cell
    return column.levels[int(cell)] if cell >= 0 else _Unseen


class _Unseen:
    """A level that no training row can have had."""
