"""A model as a query in SQL."""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Literal

import numpy as np

from sapwood.arrays import Floats
from sapwood.errors import ModelFileError, ParameterError
from sapwood.interchange.cells import value_of
from sapwood.interchange.targets.exported_model import exported_model, output_names, stops_at_unseen
from sapwood.interchange.targets.replay import Outputs, Precision, boundary_rows, check_outputs, write_checked
from sapwood.interchange.targets.sql.response import result, sql_response
from sapwood.interchange.targets.sql.tree import sql_name, sql_number, sql_text, sql_tree
from sapwood.keywords import answering
from sapwood.model import Model
from sapwood.table.schema import ColumnSchema
from sapwood.tree import Tree

Dialect = Literal["standard", "sqlite", "postgresql", "duckdb"]

DIALECTS = ("standard", "sqlite", "postgresql", "duckdb")
WITH_DATES = ("postgresql", "duckdb")  # have types of dates and intervals
PLUS = "\n    + "
MOST_NUMBERS = 200_000  # of nodes times scores
TREES = 50  # of one step: expressions must not be too deep


@answering
def to_sql(
    model: object,
    path: str | os.PathLike[str] | None = None,
    *,
    table: str = "rows",
    dialect: Dialect = "standard",
    keep: Sequence[str] = (),
) -> str:
    """A SELECT that gives the predictions, or the probabilities of the classes, for the rows of a table.

    It runs in SQLite (from 3.35 on, with EXP if there is a link), PostgreSQL (from 12) and DuckDB. Columns are found
    by name; missing values are NULL, not NaN; categories are compared with the levels' own values, and levels that
    training has not seen are treated according to the model's `unseen` (with "error", results are NULL). Booleans may
    be 0 and 1. SQLite checks the query for all three before it is returned; very large models are refused.

    Args:
        model: a fitted estimator, or its Model.
        table: name of the table.
        path: file to write; None only returns the text.
        dialect: "postgresql" and "duckdb" read dates and durations from columns of these types; "standard" and
            "sqlite" from numbers: seconds since 1970-01-01 (UTC), and seconds. All else is the same.
        keep: other columns of the table to have in the result before the predictions, such as a key.
    """
    if dialect not in DIALECTS:
        raise ParameterError(f"dialect={dialect!r} is not known. Use one of {', '.join(map(repr, DIALECTS))}.")
    exported = exported_model(model, "SQL")
    _refuse_large(exported)
    _refuse_alike(exported, dialect)
    rows = _storable_rows(exported, boundary_rows(exported, is_slow=True))
    precision = Precision.reordered(exported) if exported.trees.is_linear else Precision.double(exported)
    check_outputs(exported, "SQL", rows, lambda cells: _sqlite_outputs(exported, cells), precision)
    text = sql_query(exported, table, dialect, keep)
    write_checked(path, text.encode())
    return text


def _refuse_large(model: Model) -> None:
    """SQLite's time to read a query grows with the square of its numbers."""
    size = sum(term.tree.node_count * term.values.shape[1] + _numbers_of_lines(term.tree) for term in model.trees)
    if size > MOST_NUMBERS:
        fewer = "n_estimators, max_depth, linear_tree=False" if model.trees.is_linear else "n_estimators, max_depth"
        raise ParameterError(
            f"This {model.estimator} would be a query of {size} numbers, but databases take minutes to read more than "
            f"{MOST_NUMBERS}. Fit fewer or smaller trees ({fewer}), or use to_c, to_onnx or to_python."
        )


def _numbers_of_lines(tree: Tree) -> int:
    return 0 if tree.linear is None else 6 * len(tree.linear.lines)


def _refuse_alike(model: Model, dialect: Dialect) -> None:
    """SQLite and DuckDB ignore the case of names."""
    alike = _alike(model)
    if alike is not None and dialect != "postgresql":
        raise ParameterError(
            f"The columns {alike[0]!r} and {alike[1]!r} differ in capital letters only, but SQLite and DuckDB ignore "
            "case. Rename one of them, or use dialect='postgresql'."
        )


def _alike(model: Model) -> tuple[str, str] | None:
    """The first two columns of the query that differ in capital letters only."""
    seen: dict[str, str] = {}
    for name in (model.schema.names[j] for j in _used(model)):
        other = seen.setdefault(name.lower(), name)
        if other != name:
            return other, name
    return None


def _numbered(model: Model) -> Model:
    """The same with names that differ for SQLite."""
    columns = tuple(replace(column, name=f"x{j}") for j, column in enumerate(model.schema.columns))
    return replace(model, schema=replace(model.schema, columns=columns))


def sql_query(model: Model, table: str, dialect: Dialect, keep: Sequence[str]) -> str:
    """The query: cells, scores some trees at a time, numbers step by step."""
    kept = [f"k{i}" for i in range(len(keep))]
    cells = [f"c{j}" for j in _used(model)]
    read = [f"{sql_name(name)} AS {alias}" for name, alias in zip(keep, kept, strict=True)]
    read += [_cell(model.schema.columns[j], j, dialect) for j in _used(model)]
    base = [f"CAST({sql_number(x)} AS DOUBLE PRECISION) AS s{k}" for k, x in enumerate(model.trees.base.tolist())]
    parts = [_select([*read, *base], sql_name(table))]
    for sums in _sums(model):
        parts.append(_select([*kept, *cells, *sums], f"m{len(parts) - 1}"))
    for t, step in enumerate(_numbers(model)):
        numbers = [f"{own} AS {result(t, k)}" for k, own in enumerate(step)]
        parts.append(_select([*kept, *cells, *numbers], f"m{len(parts) - 1}"))
    titles = [*keep, *(f"probability of {name}" if model.classes else name for name in output_names(model))]
    numbers = [*kept, *(result(t, k) for k in range(len(output_names(model))))]
    named = [f"{own} AS {sql_name(title)}" for own, title in zip(numbers, titles, strict=True)]
    steps = ",\n".join(f"m{i} AS MATERIALIZED (\n{part}\n)" for i, part in enumerate(parts))
    return f"WITH {steps}\n{_select(named, f'm{len(parts) - 1}')};\n"


def _select(columns: Sequence[str], source: str) -> str:
    return "SELECT\n  " + ",\n  ".join(columns) + f"\nFROM {source}"


def _used(model: Model) -> list[int]:
    """Columns that trees split, and those whose unknown levels are an error."""
    used = {int(j) for term in model.trees for j in term.tree.feature[~term.tree.is_leaf]}
    refused = np.flatnonzero(model.schema.n_levels).tolist() if model.unseen == "error" else []
    return sorted(used.union(refused))


def _cell(column: ColumnSchema, j: int, dialect: Dialect) -> str:
    """A column as numbers, or as the values of its levels."""
    name = sql_name(column.name)
    if column.kind == "boolean":
        name = f"CAST({name} AS INTEGER)"
    if column.kind in ("date", "duration") and dialect in WITH_DATES:
        name = f"EXTRACT(EPOCH FROM {name})"
    return f"{name} AS c{j}" if column.kind == "category" else f"CAST({name} AS DOUBLE PRECISION) AS c{j}"


def _sums(model: Model) -> list[list[str]]:
    """Scores after each step, which adds the values of some trees in their order; the last one divides.

    Inputs are named with their table, since some databases would take `s0` for the output.
    """
    steps: list[list[str]] = []
    for start in range(0, len(model.trees), TREES):
        sums: list[list[str]] = [[f"m{len(steps)}.s{k}"] for k in range(model.trees.n_columns)]
        for term in islice(model.trees, start, start + TREES):
            expression = sql_tree(term.tree, model.schema, stops_at_unseen(model))
            for k, values in enumerate(term.values.T):
                sums[term.column + k].append(f"CAST({expression(values)} AS DOUBLE PRECISION)")
        steps.append([f"{PLUS.join(own)} AS s{k}" for k, own in enumerate(sums)])
    if model.trees.divisor != 1.0:
        divisor, source = sql_number(model.trees.divisor), f"m{len(steps)}"
        steps.append([f"{source}.s{k} / {divisor} AS s{k}" for k in range(model.trees.n_columns)])
    return steps


def _numbers(model: Model) -> list[list[str]]:
    """Steps from scores to numbers; a row with an unknown level has none if that is an error."""
    steps = sql_response(model)
    categories = [j for j in _used(model) if model.schema.n_levels[j]]
    if model.unseen != "error" or not categories:
        return steps
    levels = {j: ", ".join(map(sql_text, model.schema.columns[j].levels)) for j in categories}
    unknown = " OR ".join(f"c{j} NOT IN ({own})" for j, own in levels.items())
    return [
        *steps,
        [
            f"CASE WHEN {unknown} THEN NULL ELSE {result(len(steps) - 1, k)} END"
            for k in range(len(output_names(model)))
        ],
    ]


def _storable_rows(model: Model, cells: Floats) -> Floats:
    """Rows that a database can hold: booleans are 0, 1 or NULL there."""
    flags = [j for j, column in enumerate(model.schema.columns) if column.kind == "boolean"]
    return cells[(np.isnan(cells[:, flags]) | np.isin(cells[:, flags], (0.0, 1.0))).all(axis=1)]


def _sqlite_outputs(model: Model, cells: Floats) -> Outputs:
    """Results of the query in a database in memory."""
    model = model if _alike(model) is None else _numbered(model)
    columns = {j: model.schema.columns[j] for j in _used(model)}
    key = "key" + "_" * max(len(column.name) for column in model.schema.columns)
    names = [*(column.name for column in columns.values()), key]
    query = sql_query(model, "rows", "standard", [key])
    values = [_stored(column, cells[:, j]) for j, column in columns.items()]
    with closing(sqlite3.connect(":memory:")) as database:
        database.create_function("EXP", 1, math.exp, deterministic=True)
        try:
            database.execute(f"CREATE TABLE rows ({', '.join(map(sql_name, names))})")
            places = ", ".join("?" * len(names))
            rows = zip(*values, range(len(cells)), strict=True)
            database.executemany(f"INSERT INTO rows VALUES ({places})", rows)
            found = database.execute(query).fetchall()
        except sqlite3.Error as error:
            raise ModelFileError(f"SQLite refuses the query, so nothing was written: {error}.") from error
    return Outputs(np.array(sorted(found), dtype=np.float64)[:, 1:])


def _stored(column: ColumnSchema, cells: Floats) -> list[object]:
    """What a database holds for the cells of a column."""
    unseen = "?" + "?".join(map(str, column.levels))  # longer than any level
    return [value_of(column, cell, unseen) for cell in cells.tolist()]
