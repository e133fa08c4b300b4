"""Search where some columns are wide: narrow columns by histograms, wide ones from the rows of each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.boosting.columns import ColumnChoice
from sapwood.boosting.histogram_search import HistogramSearch
from sapwood.boosting.wide_splits import WideSplits, describe
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.routing import sum_records
from sapwood.shard.mixed_shard import MixedShard

Ids = list[int]
Nodes = NDArray[Any]


@dataclass(frozen=True)
class _SomeColumns:
    """A choice of columns as those see it that know only some columns."""

    choice: ColumnChoice
    features: NDArray[np.int64]

    def usable(self, nodes: Nodes, ids: Sequence[int]) -> NDArray[np.bool_]:
        """(nodes, some columns), or one row that serves all nodes."""
        return np.ascontiguousarray(self.choice.usable(nodes, ids)[:, self.features])


class MixedSearch:
    """Best splits of narrow and wide columns."""

    def __init__(self, shards: Sequence[MixedShard], signs: NDArray[np.int8], counts_rows: bool, n_jobs: int) -> None:
        table = shards[0].mixed
        self._shards = shards
        self._narrow_features = np.flatnonzero(~table.is_wide)
        self._narrow: HistogramSearch | None = None
        if len(self._narrow_features):
            self._narrow = HistogramSearch(shards, signs[self._narrow_features], counts_rows, n_jobs)
        wide = np.flatnonzero(table.is_wide)
        self._wide = WideSplits(
            shards, describe(wide, np.arange(len(wide)), table.n_codes, table.is_category, signs), n_jobs
        )

    @property
    def sets(self) -> NDArray[np.uint32]:
        """Levels that go left, of splits of wide columns."""
        return self._wide.sets

    def open_root(self, nodes: Nodes) -> None:
        """Sums of the root; OUT nodes[0]."""
        self._wide.begin()
        if self._narrow is not None:
            self._narrow.open_root(nodes)
            return
        sums = np.zeros(2, dtype=np.int64)
        for shard in self._shards:
            records, quanta, ranges = shard.rows_of([0])
            sums += sum_records(records, *ranges[0].tolist(), quanta)
        nodes["gradient"][0], nodes["hessian"][0] = sums

    def find(self, nodes: Nodes, ids: Ids, columns: ColumnChoice, rules: Any) -> None:
        """Best split of nodes; OUT nodes."""
        if self._narrow is None:
            nodes["gain"][ids], nodes["feature"][ids] = NO_GAIN, -1
        else:
            self._narrow.find(nodes, ids, _SomeColumns(columns, self._narrow_features), rules)  # type: ignore[arg-type]
            found = nodes["feature"][ids]
            nodes["feature"][ids] = np.where(found >= 0, self._narrow_features[found], -1)
        self._wide.improve(nodes, ids, columns.usable(nodes, ids), rules)

    def branch(self, nodes: Nodes, parents: Ids, wanted: set[int]) -> None:
        """Histograms of those children that will be searched; OUT nodes."""
        if self._narrow is not None:
            self._narrow.branch(nodes, parents, wanted)

    def end(self, nodes: Nodes) -> None:
        """The tree is grown; OUT nodes."""
        if self._narrow is not None:
            self._narrow.end(nodes)
