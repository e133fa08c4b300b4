"""Games whose Shapley values explain the scores of a sum of trees, computed for one block of rows after another.

A game chooses the kernels of a tree. Every sum is made in the order of the trees and no row depends on another, so
values are the same to the last bit for any number of threads and whichever rows are explained together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats
from sapwood.errors import InputError, InputTypeError
from sapwood.explain.shap.quadrature import deficit, edge_coefficients, gauss_rule, line_coefficients, surplus
from sapwood.explain.shap.tree_paths import TreePaths
from sapwood.kernels.interactions import Edges, add_interactions
from sapwood.kernels.interactions import Scratch as PairScratch
from sapwood.kernels.interventional import Scratch, add_interventional
from sapwood.kernels.path_lines import LeafLines
from sapwood.kernels.shapley import add_shapley_values
from sapwood.kernels.vectors import LANES
from sapwood.model import Model
from sapwood.progress_bar import WorkBar
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all
from sapwood.tree_sum import TreeSum

Add = Callable[[NDArray[np.uint8], Floats | None, Floats], None]
"""Adds a tree's values to (width, …, rows), given the sides of the rows and what lines of its leaves add to them."""
Along = Callable[[Floats | None], LeafLines | None]

_SINGLE = np.dtype(np.float32)
_X = re.compile(r"(?<![\w'\"])X(?![\w'\"])")  # the argument, not a column of that name, which is in quotes
MOST_ROWS = 1 << 10  # of a block
MOST_CELLS = 1 << 21  # of a block's sides, cells and values each
MOST_COEFFICIENTS = 1 << 21  # of the trees that are prepared at a time


class Game(Protocol):
    """Which rows take the place of absent features, and which values are computed."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values of a row."""

    @property
    def n_lanes(self) -> int:
        """Rows that the kernel computes together; the rows of a block are filled up to a multiple."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest type that cells may have."""

    def expectation(self, paths: TreePaths) -> Floats:
        """The value of a tree when all features are absent."""

    def prepare(self, paths: TreePaths) -> Add:
        """Compute all that does not depend on the rows."""


@dataclass(frozen=True, eq=False)
class Explained:
    """Values (rows, …, columns), the scores (columns) they start from, and the scores (rows, columns) they lead to."""

    values: Floats
    base: Floats
    scores: Floats


@dataclass(frozen=True)
class PathDependent:
    """Values of features; absent ones are averaged over training rows, along the trees."""

    n_features: int
    n_lanes: int = LANES
    dtype: np.dtype[Any] = _SINGLE

    @property
    def shape(self) -> tuple[int, ...]:
        """A value for each feature."""
        return (self.n_features,)

    def expectation(self, paths: TreePaths) -> Floats:
        """Mean over the training rows."""
        return paths.expectation()

    def prepare(self, paths: TreePaths) -> Add:
        """Products and sums at the points of a rule that is exact for the longest path."""
        rule = gauss_rule(paths.n_features - 1)
        coefficients = edge_coefficients(paths.nodes, rule.points)
        room, along = (paths.n_depths, len(rule.points), LANES), _lines_along(paths, rule.points)

        def add(sides: NDArray[np.uint8], lines: Floats | None, out: Floats) -> None:
            met = np.empty(paths.n_depths, dtype=np.uint64)
            products, sums = np.empty(room), np.zeros((room[0], paths.width, *room[1:]))
            given = rule.weights, paths.values, along(lines), sides
            add_shapley_values(paths.nodes, coefficients, *given, met, products, sums, out)

        return add


@dataclass(frozen=True)
class Interactions(PathDependent):
    """Values of pairs of features, the lower first; `completed_pairs` makes symmetric matrices of them."""

    @property
    def shape(self) -> tuple[int, ...]:
        """A value for each pair."""
        return (self.n_features, self.n_features)

    def prepare(self, paths: TreePaths) -> Add:
        """As for values, and the effect of each edge at each point."""
        rule = gauss_rule(paths.n_features - 1)
        points = rule.points
        coefficients = edge_coefficients(paths.nodes, points)
        edges = Edges(coefficients, surplus(paths.nodes, points), deficit(points), rule.weights)
        room, along = (paths.n_depths, len(rule.points), LANES), _lines_along(paths, points)

        def add(sides: NDArray[np.uint8], lines: Floats | None, out: Floats) -> None:
            met = np.empty(paths.n_depths, dtype=np.uint64)
            products, effects, scaled = np.empty(room), np.empty(room), np.empty(room[1:])
            places = np.empty((3, paths.n_depths), dtype=np.int64)
            scratch = PairScratch(met, products, effects, scaled, places)
            add_interactions(paths.nodes, edges, paths.values, along(lines), sides, scratch, out)

        return add


@dataclass(frozen=True, eq=False)
class Interventional:
    """Values of features; absent ones are those of each row of a background, (rows, features)."""

    background: Array
    n_lanes: int = 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the background: a float64 may be on the other side of a threshold than the nearest float32."""
        return self.background.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """A value for each feature."""
        return (int(self.background.shape[1]),)

    def expectation(self, paths: TreePaths) -> Floats:
        """Mean over the background."""
        values = paths.leaf_values(self._cells(paths))
        return np.asarray((values / len(self.background)).sum(axis=0))  # their sum may be too large for a float

    def prepare(self, paths: TreePaths) -> Add:
        """The sides of the background at every split."""
        columns = np.array(self._cells(paths).T, order="C")  # a copy: read-only arrays would need a second kernel
        others = np.ascontiguousarray(paths.sides(columns).T)
        weights = parting_weights(paths.n_features) / len(self.background)
        theirs = None if paths.lines is None else np.ascontiguousarray(paths.lines.values(columns).T)

        def add(sides: NDArray[np.uint8], lines: Floats | None, out: Floats) -> None:
            owner, parted = np.zeros(out.shape[1], dtype=np.int8), np.empty(paths.n_depths, dtype=np.int32)
            gain, loss = np.empty((2, paths.width))
            kept = np.empty((paths.n_depths, 2, paths.width))
            scratch = Scratch(owner, parted, gain, loss, kept)
            rows, paired = np.ascontiguousarray(sides.T), None
            if paths.lines is not None and lines is not None and theirs is not None:
                paired = paths.lines.against(np.ascontiguousarray(lines.T), theirs)
            add_interventional(paths.nodes, paths.children, weights, paths.values, paired, rows, others, scratch, out)

        return add

    def _cells(self, paths: TreePaths) -> Array:
        return self.background.astype(paths.dtype, copy=False)


def _lines_along(paths: TreePaths, points: Floats) -> Along:
    """From what lines add to rows to what kernels take, with coefficients at these points; None if there are none."""
    lines = paths.lines
    if lines is None:
        return lambda _: None
    coefficients = line_coefficients(lines.share, points)
    return lambda values: None if values is None else lines.along(coefficients, values)


def parting_weights(n_features: int) -> Floats:
    """(a - 1)! b! / (a + b)! for up to so many features of the row, a, and of the other, b; 0 where a is 0."""
    out = np.zeros((n_features + 1, n_features + 1))
    a = np.arange(1, n_features + 1)
    out[1:, 0] = 1.0 / a
    for b in range(1, n_features + 1):
        out[1:, b] = out[1:, b - 1] * b / (a + b)
    return out


def completed_pairs(pairs: Floats, single: Floats) -> Floats:
    """Interaction values (rows, features, features, columns): the value of a pair is split between two entries.

    The diagonal is the rest of a feature's own value.
    """
    out = (pairs + pairs.swapaxes(1, 2)) / 2.0
    feature = np.arange(out.shape[1])
    out[:, feature, feature] = single - out.sum(axis=2)
    return out


def match_background(model: Model, background: object) -> Table:
    """Rows of a background in the columns of the training table; errors name it in place of X."""
    try:
        return model.match(background)
    except (InputError, InputTypeError) as error:
        raise type(error)(_X.sub("background", str(error))) from error


def play(
    game: Game, tree_sum: TreeSum, table: Table, stop_at_unseen: bool, n_jobs: int, verbose: bool = False
) -> Explained:
    """The values of all rows of a table."""
    values = np.zeros((table.n_rows, *game.shape, tree_sum.n_columns))
    scores = np.repeat(tree_sum.base[None, :], table.n_rows, axis=0)
    base = tree_sum.base.copy()
    with WorkBar(len(tree_sum), verbose) as bar:
        for trees in _batches(tree_sum, np.result_type(table.dtype, game.dtype), stop_at_unseen):
            for paths in trees:
                base[paths.columns] += game.expectation(paths)
            adds = run_all([partial(game.prepare, paths) for paths in trees], n_jobs)
            add = partial(_add_block, game, list(zip(trees, adds, strict=True)), table, values, scores)
            n_cells = max(table.n_features, values[0].size, *(paths.n_cells for paths in trees))
            size = _block_rows(table.n_rows, n_cells, n_jobs)
            tasks = [partial(add, *block) for block in blocks(table.n_rows, size)]
            run_all(bar.counted(tasks, len(trees) / max(len(tasks), 1)), n_jobs)
    return Explained(values / tree_sum.divisor, base / tree_sum.divisor, scores / tree_sum.divisor)


def _batches(tree_sum: TreeSum, dtype: np.dtype[Any], stop_at_unseen: bool) -> Iterator[list[TreePaths]]:
    """Some trees at a time, so that the coefficients of a large forest need little memory."""
    batch: list[TreePaths] = []
    size = 0
    for term in tree_sum:
        paths = TreePaths.of(term, dtype, stop_at_unseen)
        batch.append(paths)
        size += len(paths.nodes) * max(1, paths.n_features)
        if size >= MOST_COEFFICIENTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _block_rows(n_rows: int, n_cells: int, n_jobs: int) -> int:
    """A multiple of the lanes: few enough rows for memory, `n_cells` each, and for all threads to get some."""
    rows = min(MOST_ROWS, MOST_CELLS // n_cells, -(-n_rows // (2 * n_jobs)))
    return _up_to_multiple(max(1, rows), LANES)


def _add_block(
    game: Game,
    trees: list[tuple[TreePaths, Add]],
    table: Table,
    values: Floats,
    scores: Floats,
    start: int,
    stop: int,
) -> None:
    """Values and scores of some rows; OUT values, scores."""
    cells = table.block(start, stop).astype(trees[0][0].dtype, copy=False)
    n_rows = len(cells)
    columns = np.zeros((cells.shape[1], _up_to_multiple(n_rows, game.n_lanes)), dtype=cells.dtype)
    columns[:, :n_rows] = cells.T
    sums = np.zeros((values.shape[-1], *game.shape, columns.shape[1]))
    for paths, add in trees:
        scores[start:stop, paths.columns] += paths.leaf_values(cells)
        if paths.n_steps:
            add(paths.sides(columns), paths.line_values(columns), sums[paths.columns])
    values[start:stop] += np.moveaxis(sums[..., :n_rows], (0, -1), (-1, 0))


def _up_to_multiple(count: int, of: int) -> int:
    return -(-count // of) * of
