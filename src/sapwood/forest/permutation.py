"""Permutation importance out of bag (Breiman 2001).

How much worse does each tree predict the rows it did not see, once a column's values are shuffled among them? Trees
are independent given the rows, so their spread gives a standard error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.forest.bags import Bags
from sapwood.forest.forest import Forest
from sapwood.one_line import one_line
from sapwood.result import Part, Result, TextTable
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget, NumberTarget
from sapwood.threads import run_all


@dataclass(frozen=True, eq=False, repr=False)
class PermutationImportance(Result):
    """Increase of the out-of-bag error by shuffling columns, for each tree (trees, groups)."""

    names: tuple[str, ...]
    increase: Floats

    @property
    def mean(self) -> Floats:
        """Mean increase of the error over the trees."""
        return np.asarray(self.increase.mean(axis=0))

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean."""
        return np.asarray(self.increase.std(axis=0, ddof=1) / np.sqrt(len(self.increase)))

    @property
    def z(self) -> Floats:
        """Mean by standard error; 0 where no tree changed its prediction."""
        error = self.standard_error
        return np.divide(self.mean, error, out=np.zeros_like(error), where=error > 0)

    def _parts(self) -> Iterator[Part]:
        """A table, the most important first."""
        mean, error, z = self.mean, self.standard_error, self.z
        order = np.argsort(-mean, kind="stable")
        rows = [(one_line(self.names[j]), f"{mean[j]:.6g}", f"{error[j]:.3g}", f"{z[j]:.1f}") for j in order]
        yield TextTable(("column", "increase of error", "standard error", "z"), rows)


def permutation_importance(
    forest: Forest,
    bags: Bags,
    table: Table,
    target: ClassTarget | NumberTarget,
    weight: Floats | None,
    groups: Sequence[tuple[str, Sequence[int]]],
    *,
    seed: int,
    n_repeats: int = 1,
    n_jobs: int = 1,
) -> PermutationImportance:
    """Shuffle each group of columns, all of them alike, among the rows outside of each bag."""

    def of_tree(t: int) -> Floats:
        descent, votes = forest.descent(t, table.dtype), forest.votes(t)
        rows = bags.bag(t).outside(table.n_rows)
        increase = np.zeros(len(groups))
        if not len(rows):
            return increase
        cells = table.pick(rows)
        own = None if weight is None else weight[rows]
        plain = _error(target, rows, votes[descent.leaves(cells)], own)
        for g, (_, columns) in enumerate(groups):
            used = [j for j in columns if j in descent.used]
            if used:
                draws = np.random.default_rng([seed, t, g])
                for _ in range(n_repeats):
                    shuffled = cells.copy()
                    shuffled[:, used] = cells[draws.permutation(len(rows))][:, used]
                    increase[g] += _error(target, rows, votes[descent.leaves(shuffled)], own) - plain
        return increase / n_repeats

    found = run_all([partial(of_tree, t) for t in range(len(forest))], n_jobs)
    return PermutationImportance(tuple(name for name, _ in groups), np.array(found))


def _error(target: ClassTarget | NumberTarget, rows: Array, votes: Floats, weight: Floats | None) -> float:
    """Share of wrong classes, or mean squared error, averaged over the outputs."""
    if isinstance(target, NumberTarget):
        loss = ((target.values[rows] - votes[:, :, 0]) ** 2).mean(axis=1)
    else:
        loss = (votes.argmax(axis=2) != target.codes[rows]).mean(axis=1)
    return float(np.average(loss, weights=weight))
