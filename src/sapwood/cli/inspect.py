"""`sapwood inspect`: what a model file holds."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sapwood.cli.console import say, show_table
from sapwood.cli.options import TracebackOption
from sapwood.counted import counted

if TYPE_CHECKING:
    from sapwood.cli.file_facts import FileFacts

_MOST_COLUMNS = 40
_MOST_IMPORTANT = 10
_LONGEST = 60  # characters of a parameter's value


class Parameters(StrEnum):
    """Which parameters to show."""

    CHANGED = "changed"
    ALL = "all"


def inspect(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    parameters: Annotated[
        Parameters,
        typer.Option("--parameters", help="Parameters to show: those that are not the defaults, or all."),
    ] = Parameters.CHANGED,
    tree: Annotated[int, typer.Option("--tree", min=0, metavar="N", help="Number of the tree to print.")] = 0,
    max_depth: Annotated[int, typer.Option("--max-depth", min=0, help="Levels of the tree to print.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, for programs.")] = False,
    _traceback: TracebackOption = False,
) -> None:
    """Show what a model file holds: the model, its columns, classes and trees, its training, and what matters to it."""
    from sapwood.cli.file_facts import read_facts

    facts = read_facts(model)
    if as_json:
        say(json.dumps(facts.as_json(tree, max_depth), indent=2, allow_nan=False))
        return
    title = facts.tree(tree).title
    _show_file(facts)
    _show_parameters(facts, parameters)
    _show_columns(facts)
    _show_history(facts)
    _show_importance(facts)
    _show_tree(facts, tree, title, max_depth)


def _show_file(facts: FileFacts) -> None:
    from rich.filesize import decimal

    from sapwood.show.value import levels_text

    size, metadata = facts.size, facts.metadata
    say(
        f"File: {facts.path}, {decimal(facts.path.stat().st_size)}, format version {metadata['version']}, written by "
        f"Sapwood {metadata['library']}."
    )
    say(f"SHA-256: {metadata['sha256']}")
    say(f"Fingerprint: {facts.fingerprint}")
    say(
        f"Model: {type(facts.model).__name__}, {facts.document['task']}, {counted(size.n_trees, 'tree')}, "
        f"{counted(size.n_leaves, 'leaf')}, "
        f"depth {size.max_depth}."
    )
    if not facts.is_finished:
        say("This is a checkpoint: training had not ended.")
    for labels in facts.classes:
        say(f"Classes: {levels_text(labels)}")


def _show_parameters(facts: FileFacts, which: Parameters) -> None:
    changed = facts.changed
    shown = facts.parameters if which is Parameters.ALL else changed
    if not shown:
        say("All parameters are the defaults.")
        return
    rows = [[name, _short(value), "yes" if name in changed else ""] for name, value in shown.items()]
    show_table("Parameters", ["parameter", "value", "changed"], rows, n_names=3)


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _show_columns(facts: FileFacts) -> None:
    columns = facts.model.schema_.columns
    rows = [_column_words(column) for column in columns[:_MOST_COLUMNS]]
    show_table(f"Columns: {len(columns)}", ["column", "kind", "levels", "range", "missing"], rows, n_names=5)
    if len(columns) > _MOST_COLUMNS:
        say(f"… and {len(columns) - _MOST_COLUMNS} more columns; --json lists all.")


def _column_words(column: Any) -> list[str]:
    from sapwood.show.names import one_line
    from sapwood.show.value import levels_text, value_text

    levels = f"{len(column.levels)}: {levels_text(column.levels)}" if column.levels else ""
    known = not math.isnan(column.low)
    span = f"{value_text(column, column.low)} … {value_text(column, column.high)}" if known else ""
    return [one_line(column.name), column.kind, levels, span, "yes" if column.has_missing else "no"]


def _show_history(facts: FileFacts) -> None:
    from sapwood.cli.history import sketch
    from sapwood.cli.report import number

    rows = [
        [
            *(f"{curve.rows} {curve.measure}", str(curve.first + len(curve.values) - 1)),
            *(number(value) for value in (curve.values[0], curve.values[-1], curve.best)),
            str(curve.best_round or "–"),
        ]
        for curve in facts.history
    ]
    if rows:
        show_table("Measured in training", ["", "rounds", "first", "last", "best", "best round"], rows)
    for curve in facts.history:
        say(f"{curve.rows} {curve.measure}: {sketch(curve.values)}")
    reason = getattr(facts.model, "stopped_reason_", None)
    if reason is not None and facts.is_finished:
        say(f"Training stopped: {reason}.{_used(facts.model)}")


def _used(model: Any) -> str:
    used = getattr(model, "best_n_rounds_", None)
    return "" if used is None else f" Prediction uses {used} of {counted(model.ensemble_.n_rounds, 'round')}."


def _show_importance(facts: FileFacts) -> None:
    from sapwood.cli.report import number
    from sapwood.show.names import one_line

    found = facts.importance
    rows = [
        [one_line(name), number(found["gain"][j]), str(int(found["splits"][j])), number(found["cover"][j])]
        for j, name in enumerate(found.names[:_MOST_IMPORTANT])
        if found["splits"][j] > 0
    ]
    if rows:
        show_table("Importance of columns", ["column", "gain", "splits", "cover"], rows)


def _show_tree(facts: FileFacts, tree: int, title: str, max_depth: int) -> None:
    from sapwood.show import export_text

    say(f"Tree: {title}" if title else "Tree:")
    say(export_text(facts.model, tree=tree, max_depth=max_depth))
