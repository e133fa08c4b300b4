"""Training on shards that share nothing with their leader: the same model, in the promised number of exchanges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_cases import LOSSES, POLICIES, Data, all_bytes, fit, mixed_frame, target
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wire import wired

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.options import RoundOptions, TreeOptions
from sapwood.boosting.rounds import Rounds
from sapwood.losses import LambdaRank
from sapwood.row_parts.rows import LocalRows
from sapwood.shard.row_state import RowState

N_ROWS, N_ROUNDS = 240, 3
OPTIONS: dict[str, dict[str, Any]] = {
    "all rows": {},
    "drawn rows": {"subsample": 0.6, "seed": 3},
    "a given number": {"subsample": 0.6, "counted": True, "seed": 3},
    "by gradient": {"subsample": 0.5, "by_gradient": True, "seed": 3},
    "leaves of all rows": {"subsample": 0.5, "leaves_of_all_rows": True, "seed": 3},
    "columns by node": {"columns": ColumnOptions(5, by_node=0.5), "seed": 3},
    "line search": {"line_search": True, "unit_hessian": True},
    "noise": {"random_strength": 1.0, "seed": 3},
    "held out": {"rows": np.flatnonzero(np.arange(N_ROWS) % 5 != 2)},
}


def data_of(loss: str, weighted: bool = False) -> Data:
    frame = mixed_frame(N_ROWS)
    weight = np.random.default_rng(1).integers(1, 4, N_ROWS) / 2 if weighted else None
    return Data.of(frame, target(loss, frame), weight)


def on_wire(
    data: Data, loss: str, tree: TreeOptions, borders: list[int], most_trees: int = 1, **options: Any
) -> Rounds:
    """Rounds on shards that share nothing with their leader; those of several trees copy samples."""
    own, columns = options.pop("rows", None), options.pop("columns", None)
    setup = RoundOptions(tree, columns or ColumnOptions(data.coded.n_features), **options)
    made = LOSSES[loss]()
    start = Ensemble(made.start(LocalRows.of(data.y, data.weight)))
    score = np.repeat(start.base[:, None], len(data.y), axis=1)
    shards = wired(data.coded, RowState(data.y, data.weight, score, own, 0), borders, most_trees, most_trees > 1)
    return Rounds(data.coded, data.table.schema.n_levels, made, setup, start, shards)


def advance(rounds: Rounds, n: int = N_ROUNDS) -> Rounds:
    for _ in range(n):
        rounds.advance(0.3)
    return rounds


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", OPTIONS)
def test_the_model_is_that_of_one_shard(loss: str, kind: str) -> None:
    number = list(LOSSES).index(loss) + list(OPTIONS).index(kind)  # so that each loss and kind has all of these
    policy, weighted = list(POLICIES)[number % 2], number // 2 % 2 == 1
    data, options = data_of(loss, weighted), OPTIONS[kind]
    alone = fit(data, LOSSES[loss](), POLICIES[policy], N_ROUNDS, **options)
    for most_trees in (1, 3):
        found = advance(on_wire(data, loss, POLICIES[policy], [0, 100, 100, 101, N_ROWS], most_trees, **options))
        assert all_bytes(found.ensemble) == all_bytes(alone.ensemble)
        np.testing.assert_array_equal(found.score, alone.score)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, N_ROWS), max_size=4), st.sampled_from(sorted(LOSSES)), st.integers(0, 9))
def test_borders_do_not_matter(cuts: list[int], loss: str, seed: int) -> None:
    data, options = data_of(loss), {"subsample": 0.7, "seed": seed}
    alone = fit(data, LOSSES[loss](), POLICIES["depthwise"], 2, **options)
    found = advance(on_wire(data, loss, POLICIES["depthwise"], [0, *sorted(cuts), N_ROWS], **options), 2)
    assert all_bytes(found.ensemble) == all_bytes(alone.ensemble)


TOGETHER = [("squared", 1, 1), ("multinomial", 3, 1), ("multinomial", 1, 3)]  # the last one after the other


@pytest.mark.parametrize(("loss", "most_trees", "n_trees"), TOGETHER)
def test_a_tree_takes_two_exchanges_more_than_it_has_levels(loss: str, most_trees: int, n_trees: int) -> None:
    data, depth = data_of(loss), 3
    rounds = on_wire(data, loss, TreeOptions(max_depth=depth, min_child_weight=0.0), [0, 90, N_ROWS], most_trees)
    before = rounds.shards.n_exchanges
    advance(rounds, 4)
    assert all(tree.max_depth == depth for trees in rounds.trees for tree in trees)
    assert rounds.shards.n_exchanges - before == 4 * (1 + n_trees * (depth + 1))


def test_rankings_whose_queries_are_not_cut() -> None:
    sizes = np.array([30, 50, 40, 60, 20, 40])
    data, options = data_of("squared"), {"subsample": 0.7, "seed": 3}
    grades = np.digitize(data.y, [0.5, 1.5]).astype(np.float64)
    data = Data(data.table, data.coded, grades)
    alone = fit(data, LambdaRank(sizes), POLICIES["depthwise"], N_ROUNDS, **options)
    setup = RoundOptions(POLICIES["depthwise"], ColumnOptions(data.coded.n_features), **options)
    shards = wired(data.coded, RowState(grades, None, np.zeros((1, N_ROWS)), None, 0), [0, 80, 120, N_ROWS])
    start = Ensemble(np.zeros(1))
    found = Rounds(data.coded, data.table.schema.n_levels, LambdaRank(sizes), setup, start, shards)
    assert all_bytes(advance(found).ensemble) == all_bytes(alone.ensemble)
