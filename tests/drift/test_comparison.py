"""`schema_.compare`: figures of new rows beside those of training, and what is kept for them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from drifted import DRIFTED, churn, customers, drifted
from scipy import sparse
from sklearn.datasets import load_iris

import sapwood as sw
from sapwood.table.schema import Schema
from sapwood.table.statistics import MOST_COLUMNS, MOST_LEVELS, SHARES, with_statistics
from sapwood.table.table import Table

pytestmark = pytest.mark.filterwarnings("ignore::sapwood.errors.IdentifierWarning")

TRAINED, NEW = customers(), customers(120, seed=1)
GOLDEN = Path(__file__).parent.parent / "compat" / "v1"


def schema_of(X: Any, **options: Any) -> Schema:
    return with_statistics(Table.from_any(X, **options))


def by_name(comparison: Any) -> dict[str, Any]:
    return {column.name: column for column in comparison.columns}


def test_the_figures_of_a_worked_example() -> None:
    schema = schema_of(pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, np.nan], "c": ["a", "a", "b", None, "a"]}))
    found = by_name(schema.compare(pd.DataFrame({"x": [np.nan, 2.0, 5.0, 8.0], "c": ["z", "a", "b", "b"]})))
    x, c = found["x"], found["c"]
    assert (x.missing_before, x.missing, x.outside, x.far_outside) == (0.2, 0.25, 0.5, 0.25)
    assert (x.quantiles_before[0], x.quantiles_before[-1]) == (1.0, 4.0)
    assert (x.quantiles[0], x.quantiles[-1]) == (2.0, 8.0)
    assert x.distance == pytest.approx(2 / 3)  # up to 4: all of training, one of three now
    assert (c.missing_before, c.missing, c.unseen) == (0.2, 0.0, 0.25)
    assert c.unseen_expected == 0.25  # "b" occurred once in four rows with a level
    # shares of a, b and unseen levels: before 3/4, 1/4 of the three quarters that are not expected to be unseen
    assert c.distance == pytest.approx((abs(9 / 16 - 1 / 4) + abs(3 / 16 - 1 / 2) + 0) / 2)
    assert math.isnan(c.outside)


def test_what_changed_is_conspicuous_and_nothing_else() -> None:
    model = sw.NewtonBoostingClassifier(n_estimators=2).fit(TRAINED, churn(TRAINED))
    assert not model.schema_.compare(TRAINED).is_conspicuous
    assert not model.schema_.compare(NEW).is_conspicuous
    found = model.schema_.compare(drifted(NEW))
    verdicts = {column.name: column.verdict for column in found.conspicuous}
    assert set(verdicts) == set(DRIFTED)
    assert "unseen levels" in verdicts["contract"]
    assert "outside" in verdicts["tenure"]
    assert "missing" in verdicts["charges"]


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"tenure": NEW["tenure"] // 4}, "shifted"),
        ({"contract": "monthly"}, "shifted"),
        ({"total": np.nan}, "missing"),
        ({"total": 500.0}, "shifted"),
        ({"charges": NEW["charges"] + 60}, "outside, shifted"),
    ],
)
def test_lesser_changes(change: dict[str, Any], verdict: str) -> None:
    found = schema_of(TRAINED).compare(NEW.assign(**change))
    assert [(one.name, one.verdict) for one in found.conspicuous] == [(next(iter(change)), verdict)]


def test_it_shows_itself() -> None:
    found = schema_of(TRAINED).compare(drifted(NEW))
    text = str(found)
    assert repr(found) == text == f"{found}"
    assert text.splitlines()[0] == "120 rows compared with 400 rows of training: 3 of 6 columns are conspicuous."
    assert "0 … 72 → 9999 … 9999" in text
    assert "0 % → 100 %" in text
    assert "2020-01-03" in text
    assert "<table>" in found._repr_html_()
    frame = found.to_frame()
    assert list(frame["column"]) == list(TRAINED.columns)
    assert {"verdict", "missing", "unseen", "outside", "distance", "q50", "q50_before"} <= set(frame.columns)
    hostile = schema_of(pd.DataFrame({"<b>\n": [1.0, 2.0]})).compare(pd.DataFrame({"<b>\n": [1.0, 2.0]}))
    assert "<b>" not in hostile._repr_html_()
    assert len(str(hostile).splitlines()) == 3


def test_many_columns_are_cut_short_but_conspicuous_ones_are_shown() -> None:
    random = np.random.default_rng(0)
    X = random.random((200, 100))
    new = random.random((100, 100))
    new[:, 99] = 50
    text = str(schema_of(X).compare(new))
    assert "x99 " in text
    assert "… and 40 more columns, as in training" in text


def statistics_of(schema: Schema) -> list[Any]:
    kept = [column.statistics for column in schema.columns]
    arrays = ("quantiles", "upto", "codes", "counts")
    return [
        [one.n_rows, one.n_missing, one.n_single, *(getattr(one, name).tolist() for name in arrays)]
        for one in kept
        if one is not None
    ]


def big_table(kind: str) -> Any:
    random = np.random.default_rng(0)
    if kind == "few distinct rows":
        return random.integers(0, 3, (30_000, 2)).astype(float)
    if kind == "mostly equal rows":
        return np.where(random.random((30_000, 1)) < 0.4, 7.0, random.normal(size=(30_000, 3)))
    X = random.normal(size=(30_000, 3))
    X[random.random(X.shape) < 0.3] = np.nan
    return sparse.csr_array(np.nan_to_num(X).round(1)) if kind == "sparse" else X


@pytest.mark.parametrize("kind", ["numbers", "few distinct rows", "mostly equal rows", "sparse"])
def test_statistics_do_not_depend_on_the_order_of_rows(kind: str) -> None:
    X, order = big_table(kind), np.random.default_rng(1).permutation(30_000)
    assert statistics_of(schema_of(X)) == statistics_of(schema_of(X[order]))
    assert statistics_of(schema_of(TRAINED)) == statistics_of(schema_of(TRAINED.sample(frac=1, random_state=0)))


@pytest.mark.parametrize("kind", ["numbers", "few distinct rows", "mostly equal rows"])
def test_a_sample_has_the_quantiles_of_all_rows(kind: str) -> None:
    X = big_table(kind)
    for j, column in enumerate(schema_of(X).columns):
        kept, values = column.statistics, X[:, j][~np.isnan(X[:, j])]
        assert kept is not None
        assert (kept.quantiles[0], kept.quantiles[-1]) == (values.min(), values.max())
        assert kept.n_missing == np.isnan(X[:, j]).sum()
        upto = [(values <= mark).mean() for mark in kept.quantiles]
        np.testing.assert_allclose(kept.upto, upto, atol=0.035)
        np.testing.assert_allclose(upto[1:-1], np.maximum(upto[1:-1], np.array(SHARES[1:-1]) - 0.035))


def test_containers_of_the_same_cells_have_the_same_statistics() -> None:
    X = np.random.default_rng(0).integers(0, 9, (500, 3)).astype(float)
    X[::7, 1] = np.nan
    expected = statistics_of(schema_of(X))
    frame = pd.DataFrame(X)
    for held in (np.asfortranarray(X), frame, pl.from_pandas(frame.rename(columns=str)), sparse.csc_array(X)):
        assert statistics_of(schema_of(held)) == expected


def test_float32_and_float64_of_the_same_numbers_are_alike() -> None:
    X = np.random.default_rng(0).integers(0, 8, (400, 2)) / 10
    for trained, new in ((X.astype(np.float32), X), (X, X.astype(np.float32))):
        found = schema_of(trained).compare(new)
        assert not found.is_conspicuous
        assert all(column.distance == 0 and column.outside == 0 for column in found.columns)


def test_many_levels_are_kept_in_part() -> None:
    random = np.random.default_rng(0)
    codes = np.minimum(random.geometric(0.002, 20_000), 5000).astype(str)
    schema = schema_of(pd.DataFrame({"c": codes}))
    kept = schema.columns[0].statistics
    assert kept is not None
    assert len(kept.codes) == len(kept.counts) == MOST_LEVELS < len(schema.columns[0].levels)
    most = pd.Series(codes).value_counts()
    assert sorted(kept.counts.tolist(), reverse=True) == most.iloc[:MOST_LEVELS].tolist()
    new = np.minimum(random.geometric(0.002, 3000), 5000).astype(str)
    assert not schema.compare(pd.DataFrame({"c": new})).is_conspicuous


def test_odd_columns() -> None:
    X = pd.DataFrame({"empty": [np.nan] * 60, "constant": [3.0] * 60, "infinite": [-np.inf, np.inf] * 30})
    schema = schema_of(X.assign(yes=[True, False] * 30, nothing=pd.Series([None] * 60, dtype="string")))
    same = X.assign(yes=[True, False] * 30, nothing=pd.Series([None] * 60, dtype="string"))
    found = schema.compare(same)
    assert not found.is_conspicuous
    assert str(found)
    assert found.to_frame() is not None
    assert schema.compare(same.assign(constant=4.0)).is_conspicuous


def test_a_file_keeps_the_statistics(tmp_path: Path) -> None:
    model = sw.RandomForestClassifier(n_estimators=2, random_state=0).fit(TRAINED, churn(TRAINED))
    for name in ("model.sapwood", "model.json"):
        sw.save(model, tmp_path / name)
        loaded = sw.load(tmp_path / name)
        assert statistics_of(loaded.schema_) == statistics_of(model.schema_)
        assert str(loaded.schema_.compare(drifted(NEW))) == str(model.schema_.compare(drifted(NEW)))
        assert sw.fingerprint(loaded) == sw.fingerprint(model)
        sw.save(loaded, tmp_path / f"again_{name}")
        assert (tmp_path / f"again_{name}").read_bytes() == (tmp_path / name).read_bytes()


def test_statistics_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    from sapwood.estimators.model_file import describe, rebuild
    from sapwood.files.content import read_content
    from sapwood.files.statistics import PARTS, PLACE

    model = sw.DecisionTreeClassifier(max_depth=2).fit(TRAINED, churn(TRAINED))
    assert describe(model)[0].keys() == {"estimator", "task", "parameters", "fitted"}
    sw.save(model, tmp_path / "model.sapwood")
    _, document, arrays = read_content(tmp_path / "model.sapwood")
    assert statistics_of(rebuild(document, arrays).schema_) == statistics_of(model.schema_)
    for part in PARTS:
        name = f"{PLACE}.{part}"
        for bad in (arrays[name][:-1], arrays[name] - 10_000, np.full(arrays[name].shape, np.nan)):
            if part in ("quantiles", "upto") and bad.shape == arrays[name].shape and np.isfinite(bad).all():
                continue  # any numbers will do
            with pytest.raises(sw.SapwoodError):
                rebuild(document, {**arrays, name: bad})
        with pytest.raises(sw.SapwoodError):
            rebuild(document, {key: array for key, array in arrays.items() if key != name})
    for bad_document in ({"rows": 0}, {"rows": "many"}, {}, 5):
        with pytest.raises(sw.SapwoodError):
            rebuild({**document, "extensions": {"statistics": bad_document}}, arrays)


@pytest.mark.parametrize("file", ["newton_of_classes.sapwood", "newton_of_classes.json", "forest_of_numbers.sapwood"])
def test_older_files_have_none_and_say_so(file: str) -> None:
    model = sw.load(GOLDEN / file)
    rows = pd.DataFrame({"size": [1e9] * 9, "count": [1e9] * 9, "colour": ["pink"] * 9, "member": [True] * 9})
    model.predict(rows)  # no warning
    found = model.schema_.compare(rows)
    assert not found.has_statistics
    assert "holds no statistics" in str(found)
    assert by_name(found)["colour"].unseen == 1.0
    assert model.get_params()["drift_warning"] is True


def test_very_wide_tables_keep_none() -> None:
    X = sparse.eye_array(30, MOST_COLUMNS + 1, format="csr")
    assert not schema_of(X).has_statistics
    assert schema_of(X[:, :-1]).has_statistics


def test_trees_of_bagging_know_the_statistics_of_their_columns() -> None:
    X, y = load_iris(return_X_y=True)
    model = sw.BaggingClassifier(n_estimators=2, max_features=2, random_state=0).fit(X, y)
    assert model.estimators_[0].schema_.has_statistics


def test_rows_of_weight_zero_do_not_count() -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    weight = np.where(np.arange(20) < 10, 1.0, 0.0)
    for model in (sw.DecisionTreeRegressor(), sw.NewtonBoostingRegressor(n_estimators=1)):
        model.fit(X, y, sample_weight=weight)
        kept = model.schema_.columns[0].statistics
        assert kept is not None
        assert (kept.n_rows, kept.quantiles[-1]) == (10, 9.0)


def test_the_table_of_the_caller_is_not_changed() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    copy = X.copy()
    schema_of(X).compare(X)
    np.testing.assert_array_equal(X, copy)
    assert X.flags.writeable
