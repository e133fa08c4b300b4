"""`sapwood inspect`: what a model file holds."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from sapwood.cli.console import print_line, print_table
from sapwood.cli.options import ModelFile
from sapwood.counted import counted
from sapwood.one_line import one_line

if TYPE_CHECKING:
    from sapwood.cli.model_file import SavedModel
    from sapwood.estimators.estimator import Estimator
    from sapwood.model.model import Model
    from sapwood.table.schema import ColumnSchema

_MOST_COLUMNS = 40
_MOST_IMPORTANT = 10
_LONGEST = 60  # characters of a parameter's value
_BLOCKS = "▁▂▃▄▅▆▇█"
_WIDTH = 40  # characters of a curve


class Parameters(StrEnum):
    """Which parameters to show."""

    CHANGED = "changed"
    ALL = "all"


def inspect(
    model: ModelFile,
    parameters: Annotated[
        Parameters, typer.Option("--parameters", help="Show the parameters that differ from their defaults, or all.")
    ] = Parameters.CHANGED,
    tree: Annotated[int, typer.Option("--tree", min=0, metavar="N", help="Tree to print, counted from 0.")] = 0,
    max_depth: Annotated[int, typer.Option("--max-depth", min=0, help="Levels of the tree to print.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, for programs.")] = False,
) -> None:
    """Show what a model file, or a code file, holds.

    Prints the file's checksum and version, and the model's parameters, columns, classes, training history,
    importance of columns, and one of its trees.
    """
    from sapwood.cli.model_file import read_any_model
    from sapwood.codes.code_file import is_code_file
    from sapwood.show import export_text
    from sapwood.show.one_tree import pick_tree

    if is_code_file(model):
        _show_codes(model, as_json)
        return
    saved = read_any_model(model)
    title = pick_tree(saved.model, tree).title
    text = export_text(saved.model, tree=tree, max_depth=max_depth)
    if as_json:
        facts = _facts(saved) | {"tree": {"number": tree, "title": title, "text": text}}
        print_line(json.dumps(_plain(facts), indent=2, allow_nan=False))
        return
    _show_file(saved)
    _show_parameters(saved.estimator, parameters)
    _show_columns(saved.model.schema.columns)
    _show_history(saved)
    _show_importance(saved.estimator)
    print_line(f"Tree: {title}" if title else "Tree:")
    print_line(text)


def _show_codes(path: Path, as_json: bool) -> None:
    """What a code file holds."""
    from sapwood.cli.encode import describe_size
    from sapwood.codes.code_file import CodeFile

    file = CodeFile.open(path)
    contents = file.contents
    if as_json:
        facts = {name: getattr(contents, name) for name in ("max_bins", "n_given", "digests", "roles", "classes")}
        sizes = {name: getattr(file, name) for name in ("n_rows", "n_blocks", "block_rows", "n_bytes")}
        facts |= {"columns": [vars(column) | {"statistics": None} for column in file.schema.columns]}
        print_line(json.dumps(_plain({"file": str(path), **sizes, **facts}), indent=2, allow_nan=False))
        return
    print_line(describe_size(file))
    print_line(f"Source: {contents.source}")
    for role, name in contents.roles.items():
        if name is not None:
            print_line(f"{role.capitalize()}: {one_line(name)}")
    _show_columns(file.schema.columns)


def _facts(saved: SavedModel) -> dict[str, object]:
    """All that is known of the model and its file."""
    from sapwood import fingerprint
    from sapwood.explain import importance

    estimator, model, found = saved.estimator, saved.model, importance(saved.estimator)
    return {
        "file": str(saved.path),
        "bytes": saved.path.stat().st_size,
        "format_version": int(saved.metadata["version"]),
        "library_version": saved.metadata["library"],
        "sha256": saved.metadata["sha256"],
        "fingerprint": fingerprint(estimator),
        "estimator": model.estimator,
        "task": saved.document["task"],
        "is_finished": saved.is_finished,
        "parameters": getattr(estimator, "params_", estimator.get_params(deep=False)),
        "recipe": getattr(estimator, "recipe_", None),
        "changed_parameters": _changed(estimator),
        "has_column_names": model.schema.named,
        "columns": [
            {name: getattr(column, name) for name in ("name", "kind", "levels", "low", "high", "has_missing")}
            for column in model.schema.columns
        ],
        "classes": model.classes,
        "trees": _size(model),
        "rounds": getattr(estimator, "best_n_rounds_", None),
        "stopped_reason": getattr(estimator, "stopped_reason_", None),
        "history": [{**vars(curve), "best_round": curve.best_round} for curve in curves(estimator)],
        "importance": {"names": found.names, **found.measures},
    }


def _size(model: Model) -> dict[str, int]:
    """Number, depth and leaves of the trees that prediction uses."""
    trees = [term.tree for term in model.trees]
    return {
        "n_trees": len(trees),
        "max_depth": max(tree.max_depth for tree in trees),
        "n_leaves": sum(tree.n_leaves for tree in trees),
    }


def _changed(estimator: Estimator) -> list[str]:
    """Parameters whose text is not that of the default."""
    default = type(estimator)().get_params(deep=False)
    own = estimator.get_params(deep=False)
    own.pop("callbacks", None)  # files hold no functions
    return [name for name, value in own.items() if repr(value) != repr(default[name])]


def _plain(value: object) -> object:
    """A value as JSON: NaN becomes null, and a value that JSON cannot represent its Python text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if value is None or isinstance(value, (str, bool, int, float)) else repr(value)


def _show_file(saved: SavedModel) -> None:
    from rich.filesize import decimal

    from sapwood import fingerprint
    from sapwood.show.value import levels_text

    metadata, size = saved.metadata, _size(saved.model)
    print_line(
        f"File: {saved.path}, {decimal(saved.path.stat().st_size)}, format version {metadata['version']}, written by "
        f"Sapwood {metadata['library']}."
    )
    print_line(f"SHA-256: {metadata['sha256']}")
    print_line(f"Fingerprint: {fingerprint(saved.estimator)}")
    print_line(
        f"Model: {saved.model.estimator}, {saved.document['task']}, {counted(size['n_trees'], 'tree')}, "
        f"{counted(size['n_leaves'], 'leaf')}, depth {size['max_depth']}."
    )
    if not saved.is_finished:
        print_line("This is a checkpoint: training had not ended.")
    for labels in saved.model.classes:
        print_line(f"Classes: {levels_text(labels.tolist())}")


def _show_parameters(estimator: Estimator, which: Parameters) -> None:
    changed, values = _changed(estimator), getattr(estimator, "params_", estimator.get_params(deep=False))
    shown = list(values) if which is Parameters.ALL else changed
    if not shown:
        print_line("All parameters are the defaults.")
        return
    rows = [[name, _short(values[name]), "yes" if name in changed else ""] for name in shown]
    print_table("Parameters", ["parameter", "value", "changed"], rows, n_names=3)
    for sentence in getattr(estimator, "recipe_", ()) if which is Parameters.ALL else ():
        print_line(sentence)


def _short(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _show_columns(columns: Sequence[ColumnSchema]) -> None:
    rows = [_column_cells(column) for column in columns[:_MOST_COLUMNS]]
    print_table(f"Columns: {len(columns)}", ["column", "kind", "levels", "range", "missing"], rows, n_names=5)
    if len(columns) > _MOST_COLUMNS:
        print_line(f"… and {len(columns) - _MOST_COLUMNS} more columns; --json lists all.")


def _column_cells(column: ColumnSchema) -> list[str]:
    from sapwood.show.value import levels_text, value_text

    levels = f"{len(column.levels)}: {levels_text(column.levels)}" if column.levels else ""
    known = not math.isnan(column.low)
    span = f"{value_text(column, column.low)} … {value_text(column, column.high)}" if known else ""
    return [one_line(column.name), column.kind, levels, span, "yes" if column.has_missing else "no"]


def _show_history(saved: SavedModel) -> None:
    from sapwood.cli.report import number

    found = curves(saved.estimator)
    rows = [
        [
            *(f"{curve.rows} {curve.measure}", str(curve.first + len(curve.values) - 1)),
            *(number(value) for value in (curve.values[0], curve.values[-1], curve.best)),
            str(curve.best_round or "–"),
        ]
        for curve in found
    ]
    if rows:
        print_table("Measured in training", ["", "rounds", "first", "last", "best", "best round"], rows)
    for curve in found:
        print_line(f"{curve.rows} {curve.measure}: {sketch(curve.values)}")
    reason = getattr(saved.estimator, "stopped_reason_", None)
    if reason is not None and saved.is_finished:
        print_line(f"Training stopped: {reason}.{_used(saved.estimator)}")


def _used(estimator: Estimator) -> str:
    used = getattr(estimator, "best_n_rounds_", None)
    return "" if used is None else f" Prediction uses {used} of {counted(estimator.ensemble_.n_rounds, 'round')}."


def _show_importance(estimator: Estimator) -> None:
    from sapwood.cli.report import number
    from sapwood.explain import importance

    found = importance(estimator)
    rows = [
        [one_line(name), number(found["gain"][j]), str(int(found["splits"][j])), number(found["cover"][j])]
        for j, name in enumerate(found.names[:_MOST_IMPORTANT])
        if found["splits"][j] > 0
    ]
    if rows:
        print_table("Importance of columns", ["column", "gain", "splits", "cover"], rows)


@dataclass(frozen=True)
class Curve:
    """A metric after each round, tree or learner, the first of which has the number `first`."""

    rows: str
    measure: str
    values: tuple[float, ...]
    first: int = 1
    best_place: int | None = None

    @property
    def best_round(self) -> int | None:
        """Number of the best round, counted from 1."""
        return None if self.best_place is None else self.first + self.best_place

    @property
    def best(self) -> float:
        """The metric at the best round."""
        return math.nan if self.best_place is None else self.values[self.best_place]


def curves(estimator: Estimator) -> list[Curve]:
    """All curves of training that an estimator keeps."""
    return [*_of_boosting(estimator), *_of_others(estimator)]


def sketch(values: Sequence[float]) -> str:
    """A curve as a line of blocks, the highest value as a full one; spaces for missing values."""
    shown = np.asarray(values, dtype=np.float64)
    if len(shown) > _WIDTH:
        shown = shown[np.linspace(0, len(shown) - 1, _WIDTH).round().astype(int)]
    finite = shown[np.isfinite(shown)]
    if len(finite) == 0:
        return ""
    low, span = finite.min(), float(np.ptp(finite)) or 1.0
    return "".join(_BLOCKS[round(7 * (value - low) / span)] if math.isfinite(value) else " " for value in shown)


def _of_boosting(estimator: Estimator) -> Iterator[Curve]:
    """Curves of boosting; those of a continued model lack the first rounds."""
    history = getattr(estimator, "evals_result_", {})
    for rows, by_measure in history.items():
        for measure, values in by_measure.items():
            first = estimator.ensemble_.n_rounds - len(values) + 1
            decides = rows == list(history)[-1] and measure == list(by_measure)[-1]
            chosen = getattr(estimator, "best_iteration_", None) if decides else None
            best = _best_place(values, measure) if chosen is None else int(chosen) + 1 - first
            yield Curve(rows, measure, tuple(values), first, best)


def _of_others(estimator: Estimator) -> Iterator[Curve]:
    for name, measure in (("oob_scores_", "loss"), ("oob_curve_", "error")):
        found = np.asarray(getattr(estimator, name, ()), dtype=np.float64)
        # A stage that was not measured, before warm_start, has the loss 0
        values = tuple(np.where((found == 0.0) & (measure == "loss"), np.nan, found).tolist())
        if values:
            yield Curve("out of bag", measure, values, 1, _best_place(values, measure))
    if hasattr(estimator, "estimator_errors_"):  # of one learner each: none of them is the best round
        errors = estimator.estimator_errors_[: len(estimator.model_.trees)]
        yield Curve("each learner", "weighted error", tuple(errors.tolist()))


def _best_place(values: Sequence[float], measure: str) -> int | None:
    """The first place of the best value; None if it is not known whether larger is better."""
    from sapwood.metrics.names import larger_is_better

    larger = larger_is_better(measure)
    numbers = np.asarray(values, dtype=np.float64)
    if larger is None or not np.isfinite(numbers).any():
        return None
    return int(np.nanargmax(numbers) if larger else np.nanargmin(numbers))
