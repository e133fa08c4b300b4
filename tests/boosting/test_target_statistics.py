"""Statistics of categories: ordered means next to a plain twin, and trees on derived columns, decoded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from engine_cases import LOSSES
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.fitting import Rows, Setup, begin_rounds
from sapwood.boosting.options import RoundOptions, TreeOptions
from sapwood.boosting.replay import Replay
from sapwood.boosting.rounds import Rounds
from sapwood.boosting.target_statistics import (
    MOST_CLASSES,
    N_ORDERS,
    STRENGTH,
    StatisticOptions,
    TargetStatistics,
    derive_columns,
    draw_orders,
    in_units,
    tabulate,
)
from sapwood.boosting.training import Plan
from sapwood.boosting.whole_rounds import WholeRounds
from sapwood.codes.bins import GroupedLevels, origins_of
from sapwood.metrics.names import find_metric
from sapwood.table import Table

Array = NDArray[Any]
METRICS = {"squared": "rmse", "logistic": "logloss", "multinomial": "mlogloss"}


def test_worked_example() -> None:
    """Levels a a b a b c with targets 1 0 1 1 0 1, whose mean is 4/6, in the order of the rows."""
    levels, y, rows = np.array([1, 1, 2, 1, 2, 3]), np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0]), np.arange(6)
    statistics = TargetStatistics([in_units(y, np.ones(6), rows)], rows, [rows])
    prior = 4 / 6
    before = [prior, (1 + prior) / 2, prior, (1 + prior) / 3, (1 + prior) / 2, prior]
    np.testing.assert_allclose(statistics.of_rows(levels, 3)[0], before, rtol=1e-11)
    by_level = [prior, (2 + prior) / 4, (1 + prior) / 3, (1 + prior) / 2]  # missing, a, b, c
    np.testing.assert_allclose(statistics.of_levels(levels, 3)[0], by_level, rtol=1e-11)


def twin(levels: Array, y: Array, weight: Array, rows: Array, orders: list[Array]) -> tuple[Array, Array]:
    """Statistics of rows, and of levels, row by row."""
    prior = sum(weight[i] * y[i] for i in rows) / sum(weight[i] for i in rows)

    def mean(of: list[int]) -> float:
        total, mass = sum(weight[i] * y[i] for i in of), sum(weight[i] for i in of)
        return float((total + STRENGTH * prior) / (mass + STRENGTH))

    by_level = np.array([mean([i for i in rows if levels[i] == level]) for level in range(levels.max() + 1)])
    by_row = by_level[levels]
    for i in rows:
        found = []
        for order in orders:
            before = order[: order.tolist().index(i)]
            found.append(mean([j for j in before if levels[j] == levels[i]]))
        by_row[i] = np.mean(found)
    return by_row, by_level


@st.composite
def cases(draw: st.DrawFn) -> tuple[Array, Array, Array, Array]:
    n = draw(st.integers(1, 25))
    levels = draw(st.lists(st.integers(0, draw(st.integers(0, 6))), min_size=n, max_size=n))
    y = draw(st.lists(st.one_of(st.sampled_from([0.0, 1.0, -2.5]), st.floats(-1e6, 1e6)), min_size=n, max_size=n))
    weight = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n))
    some = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    rows = np.flatnonzero(some)
    if not np.array(weight)[rows].sum() > 0:
        rows, weight = np.arange(n), [1.0] * n
    return np.array(levels), np.array(y), np.array(weight), rows


@given(cases(), st.integers(0, 5))
@settings(max_examples=80, deadline=None)
def test_equal_to_the_twin(case: tuple[Array, Array, Array, Array], seed: int) -> None:
    levels, y, weight, rows = case
    statistics = TargetStatistics.of(y, weight, rows, StatisticOptions(0, 0, seed))
    by_row, by_level = twin(levels, y, weight, rows, list(statistics.orders))
    near = {"rtol": 1e-9, "atol": 1e-9 * max(1.0, float(np.abs(y).max()))}
    n_levels = int(levels.max())
    np.testing.assert_allclose(statistics.of_levels(levels, n_levels)[0], by_level, **near)
    np.testing.assert_allclose(statistics.of_rows(levels, n_levels)[0], by_row, **near)
    assert (statistics.of_rows(levels, n_levels)[0] == statistics.of_rows(levels, n_levels)[0]).all()


def test_rows_that_do_not_train_may_have_any_target() -> None:
    levels, y, rows = np.array([1, 1, 2, 2]), np.array([1e-6, 2e-6, 3e-6, 1e140]), np.array([0, 1, 2])
    means = TargetStatistics.of(y, None, rows, StatisticOptions(0, 0, 0)).of_rows(levels, 2)[0]
    assert means[3] == pytest.approx((3e-6 + 2e-6) / 2, rel=1e-9)


def test_orders() -> None:
    rows = np.arange(0, 400, 2)
    orders = draw_orders(rows, 400, 3)
    assert len(orders) == N_ORDERS
    for order in orders:
        np.testing.assert_array_equal(np.sort(order), rows)
    assert len({tuple(order.tolist()) for order in [*orders, *draw_orders(rows, 400, 4)]}) == 2 * N_ORDERS
    np.testing.assert_array_equal(draw_orders(rows, 400, 3)[1], orders[1])


def test_a_row_does_not_see_its_own_target() -> None:
    """A target moves from the row to one of another level, so that the mean of all stays."""
    rng = np.random.default_rng(0)
    levels, y = rng.integers(1, 30, 200), rng.integers(0, 9, 200).astype(np.float64)
    options = StatisticOptions(0, 0, 1)
    before = TargetStatistics.of(y, None, None, options).of_rows(levels, 30)[0]
    for row in range(25):
        other = int(np.flatnonzero(levels != levels[row])[-1])
        moved = y.copy()
        moved[row], moved[other] = y[row] + 1.0, y[other] - 1.0
        after = TargetStatistics.of(moved, None, None, options).of_rows(levels, 30)[0]
        assert after[row] == before[row]
        assert (after != before).any()


def test_rows_have_about_the_statistics_of_their_levels_where_these_are_large() -> None:
    rng = np.random.default_rng(0)
    levels = rng.integers(1, 21, 20_000)
    y = rng.normal(size=21)[levels] + rng.normal(size=20_000)
    statistics = TargetStatistics.of(y, None, None, StatisticOptions(0, 0, 0))
    distance = np.abs(statistics.of_rows(levels, 20)[0] - statistics.of_levels(levels, 20)[0][levels])
    assert np.median(distance) < 0.03
    assert distance.mean() < 0.06


def test_classes() -> None:
    """Two classes have a statistic of the second one; many have one for each of the most frequent."""
    two = np.array([0.0, 1.0, 1.0])
    (own,) = TargetStatistics.of(two, None, None, StatisticOptions(0, 2, 0)).targets
    np.testing.assert_array_equal(own.weighted * own.units[0], two)
    many = np.repeat(np.arange(12.0), [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 10])
    found = TargetStatistics.of(many, None, None, StatisticOptions(0, 12, 0)).targets
    assert [int(many[np.flatnonzero(target.weighted)[0]]) for target in found] == [2, 3, 4, 5, 6, 7, 8, 11]
    assert len(found) == MOST_CLASSES


def wide_frame(n: int, n_levels: int = 30, seed: int = 0) -> pd.DataFrame:
    """Numbers and two categories, one of few and one of many levels, with gaps."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n).round(1), "c": rng.normal(size=n)})
    frame.loc[rng.random(n) < 0.2, "c"] = np.nan
    frame["d"] = rng.normal(size=n)
    frame["level"] = pd.Categorical(rng.choice([None, *(f"l{i}" for i in range(n_levels))], n))
    frame["few"] = pd.Categorical(rng.choice(["x", "y", "z"], n))
    return frame


def make(
    loss: str, n_levels: int = 30, replays: bool = False, method: Any = "hist", tree: TreeOptions | None = None,
    columns: float = 1.0, **options: Any
) -> tuple[Rounds, Table, Array]:  # fmt: skip
    """Rounds on three of four rows, the table of all, and the other rows."""
    frame = wide_frame(600, n_levels)
    table, y = Table.from_any(frame), target(loss, frame)
    rows = Rows(table, y, np.random.default_rng(3).uniform(0.1, 3.0, len(y)))
    n_classes = {"logistic": 2, "multinomial": 3}.get(loss, 0)
    tree = tree or TreeOptions(
        max_depth=0, max_leaves=12, leaf_wise=True, min_child_weight=1e-3, min_data_per_group=60.0
    )
    rounds = RoundOptions(tree, ColumnOptions(table.n_features, columns), method=method, **options)
    setup = Setup(LOSSES[loss](), rounds, Plan(1, 0.3), statistics=StatisticOptions(16, n_classes, 5))
    held_out = np.arange(0, len(y), 4)
    found = begin_rounds(rows, np.delete(np.arange(len(y)), held_out), setup)
    if replays:
        found.replay = Replay(found.loss, y, rows.weight, None, found.score.copy())
    return found, table, held_out


def target(loss: str, frame: pd.DataFrame) -> Array:
    """A target that depends on the level, in the domain of the loss."""
    rng = np.random.default_rng(1)
    effects = rng.normal(size=1 + len(frame["level"].cat.categories))
    found = effects[frame["level"].cat.codes] + 0.5 * frame["a"] + 0.3 * rng.normal(size=len(frame))
    if loss == "logistic":
        return (found > 0).to_numpy().astype(np.float64)
    return np.digitize(found, [-0.5, 0.5]).astype(np.float64) if loss == "multinomial" else found.to_numpy()


@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
@pytest.mark.parametrize("n_levels", [30, 300])
@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial", "absolute"])
def test_rows_that_do_not_train_are_predicted_by_subsets_of_levels(loss: str, n_levels: int, method: str) -> None:
    """So the codes of rows, and the levels that splits are decoded to, are the same function of the level."""
    rounds, table, held_out = make(loss, n_levels, method=method)
    n_derived = 3 if loss == "multinomial" else 1
    assert origins_of(rounds.table.bins).tolist() == [*range(6), *[4] * n_derived]
    assert isinstance(rounds.table.bins[4], GroupedLevels) == (n_levels > 255)
    used = set()
    for _ in range(4):
        rounds.advance(0.3)
    for trees in rounds.trees:
        for tree in trees:
            used |= set(tree.feature.tolist())
            assert tree.feature.max() < table.n_features
    assert 4 in used
    predicted = rounds.ensemble.scores(table)
    np.testing.assert_array_equal(rounds.score[:, held_out], predicted[:, held_out])
    assert (rounds.score != predicted).any(), "rows that train have other codes"


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "all drawn": {"subsample": 0.6, "columns": 0.5, "seed": 7},
    "leaves of all rows": {"subsample": 0.8, "leaves_of_all_rows": True, "columns": 0.3},
    "one tree, noise": {"one_tree": True, "random_strength": 1.5},
    "one cut": {"tree": TreeOptions(max_depth=5, extra_trees=True)},
}


@pytest.mark.parametrize("replays", [False, True])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("loss", METRICS)
def test_whole_rounds_are_equal_to_those_step_by_step(loss: str, options: str, replays: bool) -> None:
    (plain, _, held_out), (whole, _, _) = (make(loss, replays=replays, **OPTIONS[options]) for _ in range(2))
    assert WholeRounds.measures(whole.loss, find_metric(METRICS[loss], whole.loss.losses))
    assert WholeRounds.suits(whole, 0.3)  # type: ignore[arg-type]
    WholeRounds(whole, held_out).advance([0.3] * 5)
    for _ in range(5):
        plain.advance(0.3)
    np.testing.assert_array_equal(whole.score, plain.score)
    if whole.replay is not None and plain.replay is not None:
        np.testing.assert_array_equal(whole.replay.score, plain.replay.score)
        assert (whole.replay.score != whole.score).any()
    for one, other in zip(whole.trees, plain.trees, strict=True):
        for a, b in zip(one, other, strict=True):
            for name in ("feature", "threshold", "value", "subsets", "missing_go_to_left"):
                np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_derived_columns_come_along_with_their_origin() -> None:
    options = ColumnOptions(4, by_tree=0.5, by_node=0.5, origins=np.array([0, 1, 2, 3, 2, 2]))
    plain = ColumnOptions(4, by_tree=0.5, by_node=0.5)
    nodes = np.zeros(1, dtype=[("depth", np.int64), ("key", np.uint64)])
    for key in range(20):
        found, wanted = (each.choice(key).usable(nodes, [0])[0] for each in (options, plain))
        np.testing.assert_array_equal(found[:4], wanted)
        np.testing.assert_array_equal(found[4:], wanted[[2, 2]])


def test_columns_without_anything_to_tell() -> None:
    table = Table.from_any(wide_frame(50))
    assert derive_columns(table, np.ones(50), None, None, StatisticOptions(16, 0, 0)) is None
    assert derive_columns(table, np.arange(50.0), None, None, StatisticOptions(30, 0, 0)) is None
    assert derive_columns(table, np.arange(50.0), None, np.array([7]), StatisticOptions(16, 0, 0)) is None
    assert tabulate(table, np.arange(50.0), None, None, StatisticOptions(30, 0, 0)) == {}


def test_bits_do_not_depend_on_threads() -> None:
    table, y = Table.from_any(wide_frame(500)), np.random.default_rng(0).normal(size=500)
    one, two = (derive_columns(table, y, None, None, StatisticOptions(2, 0, 0, n_jobs)) for n_jobs in (1, 2))
    assert one is not None
    assert two is not None
    assert [own.origin for own in one.bins] == [own.origin for own in two.bins] == [4, 5]
    np.testing.assert_array_equal(one.codes, two.codes)
