"""What a plan counts: arrays that are in memory in any case, what is written, and how often codes are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sapwood as sw
from sapwood.boosting.memory_plan import BASE, Keep, TrainingPlan, TrainingSize
from sapwood.shard.gradient_units import PACKED_ROWS
from sapwood.sources.encode import encode
from sapwood.sources.open import open_source
from sapwood.sources.rows import Roles
from sapwood.sources.survey import survey

N = 1_000_000
SIZE = TrainingSize(N, 10, 16, 1, 2000, 32, 10, 5)
LIMIT = 1 << 30

IN_MEMORY: dict[str, tuple[dict[str, Any], float]] = {  # bytes of a row
    "uniform": ({"share": 0.5}, 4),
    "by gradient": ({"share": 0.5, "by_gradient": True}, 4 + 16),
    "mixture": ({"one_tree": True}, 16),
    "mixture of short derivatives": ({"one_tree": True, "short": True}, 8),
    "held out": ({"held_out": 0.25}, 48 + 0.25 * 24),
    "class weights": ({"class_weighted": True}, 16),
    "class weights times others": ({"class_weighted": True, "weighted": True}, 8),
}


@pytest.mark.parametrize("name", IN_MEMORY)
@pytest.mark.parametrize("keep", Keep)
def test_what_is_never_on_disk(name: str, keep: Keep) -> None:
    options, of_row = IN_MEMORY[name]
    coded = replace(SIZE, is_coded=True)
    more = replace(coded, **options).needed(keep, LIMIT) - coded.needed(keep, LIMIT)
    if keep is not Keep.ALL_ON_DISK:
        more -= replace(coded, **options).state(keep) - coded.state(keep)
    assert more == of_row * N


def test_gradients_that_are_not_packed() -> None:
    packed = SIZE.state(Keep.MEMORY)
    assert replace(SIZE, counts_rows=True).state(Keep.MEMORY) == packed + 16 * N
    enough, fewer = PACKED_ROWS / N + 1e-6, PACKED_ROWS / N - 1e-5
    assert replace(SIZE, share=enough).state(Keep.MEMORY) == packed
    assert replace(SIZE, share=fewer).state(Keep.MEMORY) == packed + 16 * N
    assert replace(SIZE, share=enough, held_out=0.1).state(Keep.MEMORY) == packed + 16 * N


def test_disk_has_room_for_two_records_of_a_row_and_for_gradients_that_are_not_packed() -> None:
    assert SIZE.state(Keep.ALL_ON_DISK) == (8 + 8 + 16 + 16 + 2 + 16) * N
    plan = TrainingPlan(SIZE, Keep.ALL_ON_DISK, LIMIT)
    assert plan.disk == SIZE.codes + 8 * N + SIZE.state(Keep.ALL_ON_DISK)


def test_code_files_are_read_without_a_sample_or_coding() -> None:
    wide = replace(SIZE, n_rows=300_000, n_features=2000, row_width=2000, batch_bytes=1 << 25)
    reading = wide.needed(Keep.ALL_ON_DISK, 1 << 33)
    training = replace(wide, is_coded=True).needed(Keep.ALL_ON_DISK, 1 << 33)
    assert reading - training > 200_000 * 2000 * 8
    block = wide.block_rows(1 << 33) * (2000 + 2000 + 32)
    assert training == BASE + wide.histograms(Keep.ALL_ON_DISK) + block


def test_passes() -> None:
    assert TrainingPlan(SIZE, Keep.CODES_ON_DISK, 1).passes == 6
    assert TrainingPlan(replace(SIZE, share=0.5), Keep.CODES_ON_DISK, 1).passes == 7
    assert TrainingPlan(replace(SIZE, held_out=0.5), Keep.CODES_ON_DISK, 1).passes == 7
    assert TrainingPlan(replace(SIZE, share=0.5), Keep.CODES_ON_DISK, 1 << 40).passes == 2


@pytest.fixture
def path(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(900, 40)), columns=[f"x{j}" for j in range(40)]).assign(q=1)
    frame.to_parquet(tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def size_of(path: Path, **parameters: Any) -> TrainingSize:
    return sw.plan(sw.NewtonBoostingRegressor(**parameters), path, target="x0").size


def test_parameters_that_take_memory(path: Path) -> None:
    plain = size_of(path)
    assert (plain.n_scores, plain.counts_rows, plain.held_out, plain.by_gradient) == (1, False, 0.0, False)
    assert size_of(path, objective="quantile", quantile_alpha=[0.1, 0.5, 0.9]).n_scores == 3
    assert size_of(path, quantile_alpha=[0.1, 0.5, 0.9]).n_scores == 1
    assert size_of(path, min_child_samples=2).counts_rows
    assert size_of(path, validation_fraction=0.25).held_out == 0.25
    assert size_of(path, subsample=0.5, sampling_method="gradient_based").by_gradient
    unlimited = size_of(path, max_depth=0, max_leaves=0, grow_policy="depthwise")
    assert (unlimited.n_splits, unlimited.most_nodes) == (10, 1024)  # 2^10 > 900 rows
    assert unlimited.histograms(Keep.MEMORY) <= 1 << 29


def test_batches_of_wide_tables_are_small(tmp_path: Path) -> None:
    rows = np.zeros((5000, 1200))
    rows[:, 0] = np.arange(5000)
    pd.DataFrame(rows, columns=[f"x{j}" for j in range(1200)]).to_parquet(tmp_path / "wide.parquet")
    size = size_of(tmp_path / "wide.parquet")
    assert size.batch_bytes == (1 << 22) // 1199 * 1199 * 8


def test_a_full_disk_does_not_matter_if_nothing_is_written(path: Path, monkeypatch: Any) -> None:
    file = encode(survey(open_source(str(path)), Roles(target="x0"), task="numbers"), path.parent / "rows.codes").path
    monkeypatch.setattr("sapwood.estimators.training_plan.shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    model = sw.NewtonBoostingRegressor(n_estimators=2)
    for source, target in ((path, "x0"), (file, None)):
        assert sw.plan(model, source, target=target).disk == 0
        assert model.fit(source, target=target).n_estimators_ == 2
