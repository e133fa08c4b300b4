"""Histograms of drawn columns alone, next to those of all columns: equal bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from engine_cases import Data, all_bytes, fit, lower

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.options import TreeOptions
from sapwood.codes import bundles
from sapwood.losses import Logistic
from sapwood.shard.shard import Shard

N_ROWS, N_COLUMNS = 1200, 41
WEIGHTS = np.random.default_rng(5).uniform(0.0, 3.0, N_COLUMNS)
DRAWS: dict[str, dict[str, Any]] = {
    "by tree": {"by_tree": 0.6},
    "few": {"by_tree": 0.05},
    "by level": {"by_tree": 0.7, "by_level": 0.6},
    "by node": {"by_tree": 0.7, "by_node": 0.5},
    "by weight": {"by_tree": 0.5, "weights": WEIGHTS},
    "constraints": {"by_tree": 0.7, "together": (frozenset(range(9)), frozenset(range(5, N_COLUMNS)))},
}
TREES = {
    "by level": TreeOptions(max_depth=6, min_child_weight=0.1),
    "by leaf": TreeOptions(max_depth=0, max_leaves=25, leaf_wise=True, cat_smooth=10.0),
    "rows counted": TreeOptions(max_depth=6, min_child_rows=9),
}


@pytest.fixture(autouse=True)
def threads_for_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch, LITTLE_WORK=0, LARGE_CELLS=1, available_cores=lambda: 5)


def data_of(kind: str, monkeypatch: pytest.MonkeyPatch) -> Data:
    """Numbers with missing values, categories and flags, or numbers alone; bytes are shared if it is "bundled"."""
    monkeypatch.setattr(bundles, "LEAST_ROWS", 100 if kind == "bundled" else 10**9)
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(N_ROWS, N_COLUMNS))
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    frame = pd.DataFrame(numbers).rename(columns=str)
    if kind != "numbers":
        chosen = rng.integers(0, 20, N_ROWS)
        frame = frame.assign(**{f"flag {j}": (chosen == j).astype(float) for j in range(20)}).iloc[:, 22:]
        frame[["few", "many"]] = rng.integers(0, [4, 40], size=(N_ROWS, 2))
        frame = frame.astype({"few": "category", "many": "category"})
    score = frame.iloc[:, :3].fillna(0.5).sum(axis=1) * frame.iloc[:, 3].fillna(1.0) + rng.normal(size=N_ROWS)
    return Data.of(frame, (score > 0).to_numpy(np.float64))


def use_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sum up all columns, which only growth step by step allows: it searches those that a node may use."""
    use = Shard.use_columns
    monkeypatch.setattr(Shard, "use_columns", lambda shard, mask: use(shard, np.ones_like(mask)))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["numbers", "mixed", "bundled"])
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("draws", DRAWS)
def test_other_columns_decide_nothing(
    draws: str, tree: str, kind: str, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if packed:
        lower(monkeypatch, PACKED_ROWS=1)
    data = data_of(kind, monkeypatch)
    assert data.coded.n_features == N_COLUMNS
    assert data.coded.is_bundled == (kind == "bundled")

    def bytes_of(n_jobs: int, n_shards: int) -> bytes:
        columns = ColumnOptions(N_COLUMNS, **DRAWS[draws])
        options: dict[str, Any] = {"n_jobs": n_jobs, "n_shards": n_shards, "columns": columns, "subsample": 0.8}
        return all_bytes(fit(data, Logistic(), TREES[tree], 2, **options).ensemble)

    found = {ways: bytes_of(*ways) for ways in ((1, 1), (5, 1), (2, 2))}
    use_all(monkeypatch)
    assert set(found.values()) == {bytes_of(1, 2)}


def test_one_code_in_most_cells() -> None:
    """Histograms lie apart by an odd number of lines of a cache, so that equal codes do not share one."""
    n_codes = np.array([0, 1, 3, 4, 7, 254, 255])
    starts = bundles.spaced(n_codes + 1)
    room = np.diff(starts)
    assert (room >= n_codes + 1).all()
    assert (room % 8 == 4).all()
    assert room.tolist() == [4, 4, 4, 12, 12, 260, 260]
