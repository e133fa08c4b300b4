"""A model as a query in SQL."""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ModelFileError, ParameterError
from sapwood.interchange.targets.formula import Formula, formula_of
from sapwood.interchange.targets.replay import Answers, Precision, boundary_rows, check_answers, write_checked
from sapwood.interchange.targets.sql.response import result, sql_response
from sapwood.interchange.targets.sql.tree import sql_name, sql_number, sql_text, sql_tree
from sapwood.keywords import answering
from sapwood.table.schema import ColumnSchema

Floats = NDArray[np.float64]
Dialect = Literal["standard", "sqlite", "postgresql", "duckdb"]

DIALECTS = ("standard", "sqlite", "postgresql", "duckdb")
WITH_DATES = ("postgresql", "duckdb")  # have types of dates and intervals
PLUS = "\n    + "
MOST_NUMBERS = 200_000  # of nodes times scores
TREES = 50  # of one step: expressions must not be too deep


@answering
def to_sql(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    table: str = "rows",
    dialect: Dialect = "standard",
    keep: Sequence[str] = (),
) -> str:
    """A SELECT that gives the predictions, or the probabilities of the classes, for the rows of a table.

    It runs in SQLite (from 3.35 on, with EXP if there is a link), PostgreSQL (from 12) and DuckDB. Columns are found
    by name; missing values are NULL, not NaN; categories are compared with the levels' own values, and levels that
    training has not seen do what the model says (with unseen="error", results are NULL). Booleans may be 0 and 1.
    SQLite answers for all three before the text is returned; very large models are refused.

    Args:
        model: a fitted estimator.
        table: name of the table.
        path: file to write; None only returns the text.
        dialect: "postgresql" and "duckdb" read dates and durations from columns of these types; "standard" and
            "sqlite" from numbers: seconds since 1970-01-01 (UTC), and seconds. All else is the same.
        keep: other columns of the table to have in the result before the predictions, such as a key.
    """
    if dialect not in DIALECTS:
        raise ParameterError(f"dialect={dialect!r} is not known. Use one of {', '.join(map(repr, DIALECTS))}.")
    formula = formula_of(model, "SQL")
    _refuse_large(formula)
    _refuse_alike(formula, dialect)
    check_answers(
        model,
        formula,
        "SQL",
        _speakable_rows(formula, boundary_rows(formula, is_slow=True)),
        lambda cells: _answers_of_sqlite(formula, cells),
        Precision.double(formula),
    )
    text = sql_query(formula, table, dialect, keep)
    write_checked(path, text.encode())
    return text


def _refuse_large(formula: Formula) -> None:
    """SQLite's time to read a query grows with the square of its numbers."""
    size = sum(member.tree.node_count * member.values.shape[1] for member in formula.terms)
    if size > MOST_NUMBERS:
        raise ParameterError(
            f"This {formula.kind} would be a query of {size} numbers, but databases take minutes to read more than "
            f"{MOST_NUMBERS}. Fit fewer or smaller trees (n_estimators, max_depth), or use to_c, to_onnx or to_python."
        )


def _refuse_alike(formula: Formula, dialect: Dialect) -> None:
    """SQLite and DuckDB take names for the same that differ in capitals only."""
    alike = _alike(formula)
    if alike is not None and dialect != "postgresql":
        raise ParameterError(
            f"The columns {alike[0]!r} and {alike[1]!r} differ in capital letters only, which SQLite and DuckDB do not "
            "tell apart. Rename one of them, or use dialect='postgresql'."
        )


def _alike(formula: Formula) -> tuple[str, str] | None:
    """The first two columns of the query that differ in capital letters only."""
    seen: dict[str, str] = {}
    for name in (formula.schema.names[j] for j in _used(formula)):
        other = seen.setdefault(name.lower(), name)
        if other != name:
            return other, name
    return None


def _numbered(formula: Formula) -> Formula:
    """The same with names that SQLite can tell apart."""
    named = enumerate(formula.schema.columns)
    columns = tuple(replace(column, name=f"x{j}") for j, column in named)
    return replace(formula, schema=replace(formula.schema, columns=columns))


def sql_query(formula: Formula, table: str, dialect: Dialect, keep: Sequence[str]) -> str:
    """The query: cells, scores some trees at a time, numbers step by step."""
    kept = [f"k{i}" for i in range(len(keep))]
    cells = [f"c{j}" for j in _used(formula)]
    read = [f"{sql_name(name)} AS {alias}" for name, alias in zip(keep, kept, strict=True)]
    read += [_cell(formula.schema.columns[j], j, dialect) for j in _used(formula)]
    base = [f"CAST({sql_number(x)} AS DOUBLE PRECISION) AS s{k}" for k, x in enumerate(formula.tree_sum.base.tolist())]
    parts = [_select([*read, *base], sql_name(table))]
    for sums in _sums(formula):
        parts.append(_select([*kept, *cells, *sums], f"m{len(parts) - 1}"))
    for t, step in enumerate(_numbers(formula)):
        numbers = [f"{own} AS {result(t, k)}" for k, own in enumerate(step)]
        parts.append(_select([*kept, *cells, *numbers], f"m{len(parts) - 1}"))
    titles = [*keep, *_titles(formula)]
    answers = [*kept, *(result(t, k) for k in range(len(formula.names)))]
    named = [f"{own} AS {sql_name(title)}" for own, title in zip(answers, titles, strict=True)]
    steps = ",\n".join(f"m{i} AS MATERIALIZED (\n{part}\n)" for i, part in enumerate(parts))
    return f"WITH {steps}\n{_select(named, f'm{len(parts) - 1}')};\n"


def _select(columns: Sequence[str], source: str) -> str:
    return "SELECT\n  " + ",\n  ".join(columns) + f"\nFROM {source}"


def _used(formula: Formula) -> list[int]:
    """Columns that trees ask about, and those whose unknown levels are an error."""
    asked = {int(j) for member in formula.terms for j in member.tree.feature[~member.tree.is_leaf]}
    refused = np.flatnonzero(formula.schema.n_levels).tolist() if formula.unseen == "error" else []
    return sorted(asked.union(refused))


def _cell(column: ColumnSchema, j: int, dialect: Dialect) -> str:
    """A column as numbers, or as the values of its levels."""
    name = sql_name(column.name)
    if column.kind == "boolean":
        name = f"CAST({name} AS INTEGER)"
    if column.kind in ("date", "duration") and dialect in WITH_DATES:
        name = f"EXTRACT(EPOCH FROM {name})"
    return f"{name} AS c{j}" if column.kind == "category" else f"CAST({name} AS DOUBLE PRECISION) AS c{j}"


def _sums(formula: Formula) -> list[list[str]]:
    """Scores after each step: what some trees say is added in their order; in the end all is divided.

    What comes in is named with its table, since some databases would take `s0` for what comes out.
    """
    steps: list[list[str]] = []
    for start in range(0, len(formula.terms), TREES):
        terms: list[list[str]] = [[f"m{len(steps)}.s{k}"] for k in range(formula.n_scores)]
        for member in formula.terms[start : start + TREES]:
            expression = sql_tree(member.tree, formula.schema, formula.stops_at_unseen)
            for k, words in enumerate(member.values.T):
                terms[member.column + k].append(f"CAST({expression(words)} AS DOUBLE PRECISION)")
        steps.append([f"{PLUS.join(own)} AS s{k}" for k, own in enumerate(terms)])
    if formula.tree_sum.divisor != 1.0:
        divisor, source = sql_number(formula.tree_sum.divisor), f"m{len(steps)}"
        steps.append([f"{source}.s{k} / {divisor} AS s{k}" for k in range(formula.n_scores)])
    return steps


def _numbers(formula: Formula) -> list[list[str]]:
    """Steps from scores to numbers; a row with an unknown level has none if that is an error."""
    steps = sql_response(formula)
    categories = [j for j in _used(formula) if formula.schema.n_levels[j]]
    if formula.unseen != "error" or not categories:
        return steps
    levels = {j: ", ".join(map(sql_text, formula.schema.columns[j].levels)) for j in categories}
    unknown = " OR ".join(f"c{j} NOT IN ({own})" for j, own in levels.items())
    return [
        *steps,
        [f"CASE WHEN {unknown} THEN NULL ELSE {result(len(steps) - 1, k)} END" for k in range(len(formula.names))],
    ]


def _titles(formula: Formula) -> list[str]:
    return [f"probability of {name}" for name in formula.names] if formula.classes else list(formula.names)


def _speakable_rows(formula: Formula, cells: Floats) -> Floats:
    """Rows that a database can hold: booleans are 0, 1 or NULL there."""
    flags = [j for j, column in enumerate(formula.schema.columns) if column.kind == "boolean"]
    return cells[(np.isnan(cells[:, flags]) | np.isin(cells[:, flags], (0.0, 1.0))).all(axis=1)]


def _answers_of_sqlite(formula: Formula, cells: Floats) -> Answers:
    """What the query says in a database in memory."""
    formula = formula if _alike(formula) is None else _numbered(formula)
    key = "key" + "_" * max(len(column.name) for column in formula.schema.columns)
    names = [*(formula.schema.columns[j].name for j in _used(formula)), key]
    query = sql_query(formula, "rows", "standard", [key])
    makers = [_value_maker(formula.schema.columns[j]) for j in _used(formula)]
    values = [[make(cell) for cell in cells[:, j].tolist()] for make, j in zip(makers, _used(formula), strict=True)]
    with closing(sqlite3.connect(":memory:")) as database:
        database.create_function("EXP", 1, math.exp, deterministic=True)
        try:
            database.execute(f"CREATE TABLE rows ({', '.join(map(sql_name, names))})")
            places = ", ".join("?" * len(names))
            rows = zip(*values, range(len(cells)), strict=True)
            database.executemany(f"INSERT INTO rows VALUES ({places})", rows)
            said = database.execute(query).fetchall()
        except sqlite3.Error as error:
            raise ModelFileError(f"SQLite refuses the query, so nothing was written: {error}.") from error
    return Answers(np.array(sorted(said), dtype=np.float64)[:, 1:])


def _value_maker(column: ColumnSchema) -> Callable[[float], Any]:
    """From cells to what a database holds."""
    unseen = "?" + "?".join(str(level) for level in column.levels)  # longer than any level

    def make(cell: float) -> Any:
        if math.isnan(cell):
            return None
        if column.kind != "category":
            return cell
        return column.levels[int(cell)] if cell >= 0 else unseen

    return make
