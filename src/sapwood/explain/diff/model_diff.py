"""ModelDiff: the result of a comparison of two models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sapwood.counted import counted
from sapwood.errors import InputError
from sapwood.explain.diff.column_pairs import ColumnChange
from sapwood.explain.diff.parameter_changes import ParameterChange
from sapwood.explain.diff.prediction_moves import Moves, RowMove
from sapwood.explain.diff.shap_moves import ShapMoves
from sapwood.explain.diff.split_changes import SplitChange
from sapwood.explain.diff.tree_pairs import AFTER, BEFORE, SAME, STRUCTURE, VALUES, ScoreParts, TreePairs
from sapwood.one_line import one_line
from sapwood.parameters import OneOf, check_parameters
from sapwood.result import Part, Result
from sapwood.show.number import number_text, percent, plain_number
from sapwood.table.frame import make_frame

SHOWN = {"columns": 8, "parameters": 8, "rows": 5, "splits": 5, "features": 8}
"""Lines of each part in print, so that all parts fit on a page."""

STATUS_TEXTS = {SAME: "the same", VALUES: "with other leaf values", STRUCTURE: "of other structure"}
PARTS = ("rows", "features", "trees", "splits", "columns", "parameters")


@dataclass(frozen=True, eq=False, repr=False)
class ModelDiff(Result):
    """What changed from one model to another; print it for a page of text.

    | part | meaning |
    |---|---|
    | columns | differences of the columns that the models were fitted to |
    | parameters | parameters with other values |
    | moves | predictions of both models for the rows of X, and their differences |
    | trees | trees that are the same, and what the others change; None if there are members of other libraries |
    | splits | thresholds and sets of levels that came and went, column by column |
    | shap | which columns explain the moves; None if the scores of the models are not sums on the same scale |

    `notes` explain why a part is None.
    """

    model_names: tuple[str, str]
    columns: tuple[ColumnChange, ...]
    parameters: tuple[ParameterChange, ...]
    moves: Moves
    trees: TreePairs | None
    splits: tuple[SplitChange, ...]
    shap: ShapMoves | None
    notes: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether nothing is different: columns, parameters, trees, and predictions to the last digit."""
        trees_are_same = self.trees is None or self.trees.n_first_same == len(self.trees.trees)
        unmoved = not self.moves.size.any() and not self.moves.changes_class.any()
        return not self.columns and not self.parameters and trees_are_same and unmoved

    @property
    def rows(self) -> tuple[RowMove, ...]:
        """The rows of X by the size of their moves, the largest first."""
        return self.moves.rows

    @property
    def summary(self) -> dict[str, float]:
        """Shares of rows that move and that change class; mean, quantiles and largest size of the moves."""
        return self.moves.summary

    @property
    def parts(self) -> ScoreParts | None:
        """Moves of the scores of the rows, part by part: start, leaf values, structure."""
        return None if self.trees is None else self.trees.parts

    def to_frame(self, part: str = "rows") -> Any:
        """One part as a data frame, the largest change first.

        Args:
            part: "rows" (with the parts of the moves of scores, if they are known), "features" (differences of Shapley
                values), "trees", "splits", "columns" or "parameters".
        """
        check_parameters("to_frame", {"part": (OneOf(*PARTS),)}, {"part": part})
        return make_frame(getattr(self, f"_{part}_frame")())

    def _parts(self) -> Iterator[Part]:
        """A page: columns, parameters, predictions, trees, and columns that explain the moves."""
        before, after = self.model_names
        names = after if before == after else f"{before} → {after}"
        yield f"Model diff: {names}, {counted(self.moves.n_rows, 'row')}"
        if self.is_same:
            trees = "" if self.trees is None else ", trees"
            yield f"No difference: columns, parameters{trees} and predictions are the same."
            return
        yield from _listed("Columns", self.columns, SHOWN["columns"])
        yield from _listed("Parameters", self.parameters, SHOWN["parameters"])
        yield from self._moves_text()
        yield from self._trees_text()
        yield from self._features_text()
        yield from (f"Note: {note}" for note in self.notes)

    def _moves_text(self) -> Iterator[str]:
        moves, summary = self.moves, self.summary
        n, more = int(moves.has_moved.sum()), f" by more than {moves.tolerance:g}" if moves.tolerance else ""
        flips = int(moves.changes_class.sum())
        classes = f"; {flips} change class ({percent(summary['changes_class'])})" if moves.are_classes else ""
        yield f"Predictions: {n} of {counted(moves.n_rows, 'row')} move{more} ({percent(summary['moved'])}){classes}"
        if n:
            size = {name: number_text(summary[name], 3) for name in ("mean", "q50", "q90", "largest")}
            what = "largest change of a probability" if moves.are_classes else "size of the move"
            usual = f"mean {size['mean']}, median {size['q50']}, 90 % of rows up to {size['q90']}"
            yield f"  {what}: {usual}, at most {size['largest']}"
            moved = moves.order[moves.has_moved[moves.order]]
            yield from (f"  {moves.describe(int(i))}" for i in moved[: SHOWN["rows"]])

    def _trees_text(self) -> Iterator[str]:
        if self.trees is None:
            return
        counts, first, same = self.trees.counts, self.trees.n_first_same, float(self.trees.same_leaves.mean())
        texts = [f"{n} {STATUS_TEXTS.get(status, status)}" for status, n in counts.items() if n]
        yield f"Trees: {', '.join(texts)}"
        if 0 < first < len(self.trees.trees):
            yield f"  the first {first} are the same" if first > 1 else "  the first one is the same"
        both = " that both models have" if counts[BEFORE] or counts[AFTER] else ""
        yield f"  {percent(same)} of the rows are in the same leaves of all trees{both}"
        changed = [split for split in self.splits if split.is_change]
        yield from _lines(changed, SHOWN["splits"], "columns with other splits")
        if self.parts is not None:
            sizes = {name: plain_number(size, 4) for name, size in self.parts.mean_abs().items()}
            yield (
                f"  mean size of the score's move by part: leaf values {sizes['values']}, structure "
                f"{sizes['structure']}, start {sizes['start']}"
            )

    def _features_text(self) -> Iterator[str]:
        if self.shap is None or not self.shap.values.any():
            return
        rows = counted(len(self.shap.rows), "row")
        yield f"Columns that explain the moves, by the mean size of the differences of Shapley values ({rows}):"
        shown = [(one_line(name), number_text(size, 4)) for name, size in self.shap.sizes if size > 0]
        width = max(len(name) for name, _ in shown)
        yield from _lines([f"{name:<{width}}  {size}" for name, size in shown], SHOWN["features"], "columns")

    def _rows_frame(self) -> dict[str, object]:
        columns = self.moves.columns()
        if self.parts is not None:
            names, order = self.parts.output_names, self.moves.order
            for part, own in self.parts.by_name().items():
                titles = [part] if len(names) == 1 else [f"{part} {name}" for name in names]
                columns |= {title: own[order, k] for k, title in enumerate(titles)}
        return columns

    def _features_frame(self) -> dict[str, object]:
        return _fields(self._known(self.shap, "features").features, "feature", "output", "mean_abs", "mean")

    def _trees_frame(self) -> dict[str, object]:
        heads = ("tree", "status", "leaves_before", "leaves_after", "leaves_kept", "leaves_same", "largest_step")
        return _fields(self._known(self.trees, "trees").trees, *heads)

    def _splits_frame(self) -> dict[str, object]:
        self._known(self.trees, "splits")
        sizes = {name: [len(getattr(one, name)) for one in self.splits] for name in ("came", "went", "turned")}
        numbers = _fields(self.splits, "feature", "splits_before", "splits_after")
        return numbers | sizes | {"words": [split.description for split in self.splits]}

    def _columns_frame(self) -> dict[str, object]:
        return _fields(self.columns, "feature", "what") | {"words": [change.description for change in self.columns]}

    def _parameters_frame(self) -> dict[str, object]:
        shown = _fields(self.parameters, "name", "text_before", "text_after")
        return dict(zip(("name", "before", "after"), shown.values(), strict=True))

    def _known(self, part: Any, name: str) -> Any:
        if part is None:
            raise InputError(f"part={name!r} is not known for these models. {' '.join(self.notes)} Use another part.")
        return part


def _fields(items: Sequence[object], *names: str) -> dict[str, object]:
    """Columns of a frame, one for each attribute."""
    return {name: [getattr(item, name) for item in items] for name in names}


def _lines(items: Sequence[object], most: int, what: str) -> Iterator[str]:
    """The first items, one on a line, and how many more there are."""
    yield from (f"  {item}" for item in items[:most])
    if len(items) > most:
        yield f"  … {len(items) - most} more {what}"


def _listed(title: str, items: Sequence[object], most: int) -> Iterator[str]:
    if items:
        yield f"{title}:"
        yield from _lines(items, most, "changes")
