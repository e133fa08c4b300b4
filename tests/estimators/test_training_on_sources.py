"""Training on sources gives the model of memory, bit for bit, wherever arrays are and however large blocks are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_fits import FEATURES, KEEPS, N_ROWS, file_of, force, of_table, sales, shown

import sapwood as sw
from sapwood.errors import ParameterError, TextColumnWarning

pytestmark = pytest.mark.filterwarnings("ignore::sapwood.errors.IdentifierWarning")

FRAME = sales()
PLAIN: dict[str, Any] = {
    "n_estimators": 3,
    "random_state": 0,
    "max_depth": 4,
    "min_child_weight": 0.0,
    "target_statistics": False,
    "linear_tree": False,
}


def rowwise(y: Any, score: Any) -> Any:
    return score - y, np.ones_like(score)


rowwise.rowwise = True  # type: ignore[attr-defined]


def whole(y: Any, score: Any) -> Any:
    return score - y - np.mean(score - y), np.ones_like(score)


NUMBERS = sw.NewtonBoostingRegressor
CLASSES = sw.NewtonBoostingClassifier
LOSSES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "squared": (NUMBERS, "price", {}),
    "absolute": (NUMBERS, "price", {"objective": "absolute_error"}),
    "huber": (NUMBERS, "price", {"objective": "huber"}),
    "quantiles": (NUMBERS, "price", {"objective": "quantile", "quantile_alpha": [0.2, 0.8]}),
    "poisson": (NUMBERS, "count", {"objective": "poisson"}),
    "tweedie": (NUMBERS, "count", {"objective": "tweedie"}),
    "rowwise": (NUMBERS, "price", {"objective": rowwise}),
    "whole": (NUMBERS, "price", {"objective": whole}),
    "two classes": (CLASSES, "late", {}),
    "exponential": (CLASSES, "late", {"objective": "exponential"}),
    "three classes": (CLASSES, "kind", {}),
    "one tree for all": (CLASSES, "kind", {"multi_strategy": "multi_output_tree"}),
    "balanced": (CLASSES, "kind", {"class_weight": "balanced"}),
}
PARAMETERS: dict[str, dict[str, Any]] = {
    "all rows": {},
    "drawn rows": {"subsample": 0.6},
    "by gradient": {"subsample": 0.5, "sampling_method": "gradient_based"},
    "leaf by leaf": {"grow_policy": "lossguide", "max_leaves": 7, "max_depth": 0},
    "columns": {"colsample_bynode": 0.6},
    "noise": {"random_strength": 1.0},
    "symmetric": {"grow_policy": "symmetric"},
}
SOME = ["squared", "absolute", "three classes", "one tree for all"]
MIXED = [(kind, loss) for kind in PARAMETERS for loss in SOME if (kind, loss) != ("symmetric", "one tree for all")]
PLACES = [(keep, rows) for keep in ("codes", "all") for rows in (7, 100_000)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("keep", "block_rows"), [*PLACES, ("memory", 7)])
@pytest.mark.parametrize("weight", [None, "w"])
def test_every_loss(
    loss: str, keep: str, block_rows: int, weight: str | None, tmp_path: Path, monkeypatch: Any
) -> None:
    make, target, options = LOSSES[loss]
    model = make(**PLAIN | options)
    wanted = shown(of_table(model, FRAME, target, weight))
    path = file_of(FRAME, tmp_path, target, *([] if weight is None else [weight]))
    force(monkeypatch, KEEPS[keep], block_rows)
    assert shown(model.fit(path, sample_weight=weight, target=target)) == wanted


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize(("kind", "loss"), MIXED)
def test_every_sample_and_shape_of_trees(kind: str, keep: str, loss: str, tmp_path: Path, monkeypatch: Any) -> None:
    make, target, options = LOSSES[loss]
    model = make(**PLAIN | options | PARAMETERS[kind])
    wanted = shown(of_table(model, FRAME, target, "w"))
    force(monkeypatch, KEEPS[keep], 41)
    assert shown(model.fit(file_of(FRAME, tmp_path, target, "w"), target, "w")) == wanted


@pytest.mark.parametrize("keep", KEEPS)
def test_blocks_of_one_row(keep: str, tmp_path: Path, monkeypatch: Any) -> None:
    few = FRAME.head(30)
    model = CLASSES(**PLAIN)
    wanted = shown(of_table(model, few, "kind"))
    force(monkeypatch, KEEPS[keep], 1)
    assert shown(model.fit(file_of(few, tmp_path, "kind"), target="kind")) == wanted


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    loss=st.sampled_from(sorted(LOSSES)),
    kind=st.sampled_from(sorted(PARAMETERS)),
    keep=st.sampled_from(sorted(KEEPS)),
    rows=st.integers(20, N_ROWS),
    weighted=st.booleans(),
    seed=st.integers(0, 3),
)
def test_mixtures(loss: str, kind: str, keep: str, rows: int, weighted: bool, seed: int, tmp_path_factory: Any) -> None:
    make, target, options = LOSSES[loss]
    if kind == "symmetric" and loss == "one tree for all":
        return
    frame, weight = sales(N_ROWS, seed), "w" if weighted else None
    model = make(**PLAIN | options | PARAMETERS[kind] | {"random_state": seed, "n_estimators": 2})
    wanted = shown(of_table(model, frame, target, weight))
    path = file_of(frame, tmp_path_factory.mktemp("mix"), target, *([] if weight is None else [weight]))
    with pytest.MonkeyPatch.context() as patch:
        force(patch, KEEPS[keep], rows)
        assert shown(model.fit(path, target=target, sample_weight=weight)) == wanted


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("loss", ["squared", "two classes", "three classes", "absolute"])
def test_early_stopping_on_rows_that_are_held_out(keep: str, loss: str, tmp_path: Path, monkeypatch: Any) -> None:
    make, target, options = LOSSES[loss]
    more = {"n_estimators": 12, "validation_fraction": 0.3, "early_stopping_rounds": 2, "learning_rate": 1.0}
    model = make(**PLAIN | options | more)
    wanted = shown(of_table(model, FRAME, target, "w"))
    assert wanted[1]
    force(monkeypatch, KEEPS[keep], 41)
    assert shown(model.fit(file_of(FRAME, tmp_path, target, "w"), target=target, sample_weight="w")) == wanted


@pytest.mark.parametrize("keep", [*KEEPS, "table"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_validation_sets_of_sources(keep: str, weight: str | None, tmp_path: Path, monkeypatch: Any) -> None:
    frame, other = FRAME, sales(60, 1)
    other.loc[0, "shop"] = None
    model = CLASSES(**PLAIN | {"n_estimators": 12, "early_stopping_rounds": 3, "learning_rate": 1.0})
    weights = None if weight is None else [other[weight], other[weight]]
    sets = {"near": (other[FEATURES], other["kind"]), "far": (other[FEATURES], other["kind"])}
    wanted = shown(of_table(model, frame, "kind", weight, eval_set=sets, sample_weight_eval_set=weights))
    columns = ["kind", *([] if weight is None else [weight])]
    path, valid = (file_of(f, tmp_path, *columns, name=f"{len(f)}.parquet") for f in (frame, other))
    if keep != "table":
        force(monkeypatch, KEEPS[keep], 50)
    model.fit(path, target="kind", sample_weight=weight, eval_set={"near": valid, "far": (valid, None)})
    assert shown(model) == wanted
    sets["near"] = (valid, "kind")
    weights = weight and [weight, other[weight]]
    named = of_table(model, frame, "kind", weight, eval_set=sets, sample_weight_eval_set=weights)
    assert shown(named) == wanted


@pytest.mark.parametrize("alone", [True, False])
def test_a_validation_source_may_stand_alone_or_in_a_list(alone: bool, tmp_path: Path) -> None:
    path = file_of(FRAME, tmp_path, "price")
    model = NUMBERS(**PLAIN).fit(path, target="price", eval_set=path if alone else [path])
    assert list(model.evals_result_) == ["validation_0"]


@pytest.mark.parametrize("keep", [*KEEPS, "table"])
@pytest.mark.parametrize("weight", [None, "query_w"])
def test_rankings(keep: str, weight: str | None, tmp_path: Path, monkeypatch: Any) -> None:
    frame, other = FRAME, sales(60, 2)
    model = sw.NewtonBoostingRanker(**PLAIN)
    of_valid = {"eval_set": [(other[FEATURES], other["grade"])], "eval_qid": [other["query"]]}
    of_valid["query_weight_eval_set"] = weight and [other[weight]]
    of_rows = {"qid": frame["query"], "query_weight": weight and frame[weight]}
    wanted = shown(model.fit(frame[FEATURES], frame["grade"], **of_rows, **of_valid))
    columns = ["grade", "query", *([] if weight is None else [weight])]
    path, valid = (file_of(f, tmp_path, *columns, name=f"{len(f)}.parquet") for f in (frame, other))
    if keep != "table":
        force(monkeypatch, KEEPS[keep], 25)
    found = model.fit(path, target="grade", qid="query", query_weight=weight, eval_set=[valid])
    assert shown(found) == wanted


@pytest.mark.parametrize("kind", ["lazy frame", "relation", "frames", "pairs"])
def test_every_kind_of_source(kind: str, tmp_path: Path) -> None:
    model = NUMBERS(**PLAIN)
    wanted = shown(of_table(model, FRAME, "price"))
    path = file_of(FRAME.reset_index(), tmp_path, "price", "index")
    parts = FRAME.iloc[:100], FRAME.iloc[100:]
    sources: dict[str, Any] = {
        "lazy frame": lambda: pl.scan_parquet(path).drop("index"),
        "relation": lambda: duckdb.sql(f"select * exclude (index) from '{path}' order by index"),
        "frames": lambda: [part[["price", *FEATURES]] for part in parts],
        "pairs": lambda: [(part[FEATURES], part["price"]) for part in parts],
    }
    assert shown(model.fit(sources[kind](), target=None if kind == "pairs" else "price")) == wanted


@pytest.mark.parametrize("keep", KEEPS)
def test_monotone_constraints(keep: str, tmp_path: Path, monkeypatch: Any) -> None:
    model = NUMBERS(**PLAIN, monotone_constraints={"a": 1, "c": -1})
    wanted = shown(of_table(model, FRAME, "price"))
    force(monkeypatch, KEEPS[keep], 41)
    assert shown(model.fit(file_of(FRAME, tmp_path, "price"), target="price")) == wanted


@pytest.mark.parametrize("keep", [*KEEPS, "table"])
def test_a_model_is_continued(keep: str, tmp_path: Path, monkeypatch: Any) -> None:
    model = CLASSES(**PLAIN, subsample=0.7)
    first = CLASSES(**PLAIN, subsample=0.7).fit(FRAME[FEATURES], FRAME["kind"])
    wanted = shown(of_table(model, FRAME, "kind", init_model=first))
    if keep != "table":
        force(monkeypatch, KEEPS[keep], 41)
    assert shown(model.fit(file_of(FRAME, tmp_path, "kind"), target="kind", init_model=first)) == wanted


def test_few_rows_are_validated_in_folds_as_in_memory(tmp_path: Path) -> None:
    frame, model = sales(800), NUMBERS(random_state=0)
    wanted = of_table(model, frame, "price", "w")
    expected, folds = shown(wanted), wanted.oof_prediction_
    found = model.fit(file_of(frame, tmp_path, "price", "w"), target="price", sample_weight="w")
    assert shown(found) == expected
    np.testing.assert_array_equal(found.oof_prediction_, folds)
    assert np.isnan(found.oof_prediction_).sum() == (frame["w"] == 0).sum()


def test_callbacks_see_every_round(tmp_path: Path, monkeypatch: Any) -> None:
    force(monkeypatch, KEEPS["all"], 7)
    seen: list[int] = []
    model = NUMBERS(**PLAIN, callbacks=[lambda progress: seen.append(progress.round) or progress.round == 2])
    model.fit(file_of(FRAME, tmp_path, "price"), target="price")
    assert seen == [1, 2]
    assert model.stopped_reason_ == "a callback asked to stop"


def test_a_plan_says_what_training_takes(tmp_path: Path) -> None:
    path = file_of(FRAME, tmp_path, "kind")
    text = str(sw.plan(CLASSES(), path, target="kind", eval_set=[path]))
    assert f"{N_ROWS} rows x 5 columns" in text
    assert "validation sets" in text
    with pytest.raises(ParameterError, match="max_memory=1 KB is too little: 320 rows of 5 columns need at least"):
        sw.plan(CLASSES(max_memory="1KB"), path, target="kind")
    with pytest.raises(ParameterError, match="max_memory=1 KB is too little"):
        CLASSES(max_memory="1KB").fit(path, target="kind")
    size = sw.plan(CLASSES(), path, target="kind").size
    least = size.least()
    assert sw.plan(CLASSES(max_memory=least), path, target="kind").memory <= least
    with pytest.raises(ParameterError, match="is too little"):
        sw.plan(CLASSES(max_memory=least - 1), path, target="kind")
    with pytest.raises(ParameterError, match="in memory already"):
        sw.plan(CLASSES(), FRAME)
    with pytest.raises(ParameterError, match="only NewtonBoostingRegressor"):
        sw.plan(sw.RandomForestClassifier(), path)


@pytest.mark.parametrize("keep", [*KEEPS, "table"])
def test_the_last_rows_have_a_weight_of_zero(keep: str, tmp_path: Path, monkeypatch: Any) -> None:
    frame = FRAME.assign(w=np.where(FRAME.index < 280, 0.5, 0.0))
    path = file_of(frame, tmp_path, "price", "w")
    if keep != "table":
        force(monkeypatch, KEEPS[keep], 41)
    model = NUMBERS(**PLAIN)
    wanted = shown(of_table(model, frame, "price", "w"))
    assert shown(model.fit(path, "price", "w")) == wanted
    if keep == "table":
        model.set_params(n_estimators="auto", cv=2).fit(path, "price", "w")
        assert np.isnan(model.oof_prediction_[280:]).all()
        assert np.isfinite(model.oof_prediction_[:280]).all()


@pytest.mark.parametrize("keep", ["codes", "table"])
def test_classes_that_look_like_numbers_are_warned_of_as_in_memory(keep: str, tmp_path: Path, monkeypatch: Any) -> None:
    frame = FRAME.assign(kind=(FRAME["grade"] + 0.5).astype(str))
    if keep != "table":
        force(monkeypatch, KEEPS[keep], 41)
    path = file_of(frame, tmp_path, "kind")
    with pytest.warns(TextColumnWarning, match="y holds text that looks like numbers .* treated as 4 classes"):
        CLASSES(**PLAIN).fit(path, target="kind")
