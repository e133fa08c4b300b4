"""Any table in: frames of all libraries, categories, missing values, dates, sparse matrices, both float types."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from newton_cases import METHODS
from scipy import sparse

from sapwood import NewtonBoostingClassifier, NewtonBoostingRegressor, SapwoodError

rng = np.random.default_rng(3)
N = 240
NUMBER = np.round(rng.normal(size=N), 2)
COLOUR = rng.choice(["red", "green", "blue", "grey", "pink", "teal"], size=N)
FLAG = rng.random(N) < 0.5
DAY = [dt.datetime(2020, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 300, size=N)]
EFFECT = {"red": 2.0, "green": -1.0, "blue": 0.5, "grey": -2.0, "pink": 1.0, "teal": 0.0}
Y = (
    NUMBER
    + np.array([EFFECT[c] for c in COLOUR])
    + FLAG
    + np.array([day.month for day in DAY]) / 6
    + 0.1 * rng.normal(size=N)
)
COLUMNS: dict[str, Any] = {"number": NUMBER, "colour": COLOUR, "flag": FLAG, "day": DAY}
PANDAS = pd.DataFrame(COLUMNS)
POLARS = pl.DataFrame({**COLUMNS, "colour": COLOUR.tolist()})
ARROW = pa.table({"number": NUMBER, "colour": COLOUR.tolist(), "flag": FLAG, "day": DAY})


def regressor(**parameters: Any) -> NewtonBoostingRegressor:
    return NewtonBoostingRegressor(recipe="xgboost", **{"n_estimators": 12, "n_jobs": 1, **parameters})


def arrays(model: Any) -> list[bytes]:
    """All that is learnt, as bytes."""
    return [a.tobytes() for own in model.ensemble_.rounds for tree in own for a in tree.arrays().values()]


class TestFrames:
    @pytest.mark.parametrize("method", METHODS)
    def test_all_libraries_give_the_same_model(self, method):
        model = regressor(tree_method=method).fit(PANDAS, Y)
        assert model.score(PANDAS, Y) > 0.9
        for frame in (POLARS, ARROW, PANDAS.assign(colour=PANDAS["colour"].astype("category"))):
            other = regressor(tree_method=method).fit(frame, Y)
            assert arrays(other) == arrays(model)
            np.testing.assert_array_equal(other.predict(PANDAS), model.predict(frame))
            assert other.feature_names_in_.tolist() == list(COLUMNS)

    def test_targets_of_all_libraries(self):
        model = regressor().fit(PANDAS, Y)
        for y in (pd.Series(Y), pl.Series(Y), pa.array(Y), Y.tolist()):
            assert arrays(regressor().fit(PANDAS, y)) == arrays(model)
        labels = np.where(Y > 1, "high", "low")
        model = NewtonBoostingClassifier(recipe="xgboost", n_estimators=3, n_jobs=1).fit(PANDAS, labels)
        for y in (pd.Series(labels), pl.Series(labels.tolist()), pa.array(labels.tolist()), labels.tolist()):
            other = NewtonBoostingClassifier(recipe="xgboost", n_estimators=3, n_jobs=1).fit(PANDAS, y)
            assert arrays(other) == arrays(model)
            np.testing.assert_array_equal(other.predict(POLARS), model.predict(PANDAS))

    def test_columns_are_found_by_name(self):
        model = regressor().fit(PANDAS, Y)
        expected = model.predict(PANDAS)
        for frame in (PANDAS[["day", "flag", "colour", "number"]], POLARS.select("colour", "number", "day", "flag")):
            np.testing.assert_array_equal(model.predict(frame), expected)
        np.testing.assert_array_equal(model.predict(PANDAS.assign(more=1.0)), expected)
        assert model.evals_result() == {}

    @pytest.mark.filterwarnings("ignore::sapwood.errors.DataDriftWarning")
    def test_evaluation_sets_are_matched_too(self):
        shuffled = PANDAS[["flag", "day", "number", "colour"]].assign(colour="unknown")
        model = regressor(n_estimators=4).fit(PANDAS, Y, eval_set=[(shuffled, Y), (POLARS, Y)])
        curves = model.evals_result()
        rmse = [np.sqrt(np.mean((model.predict(frame) - Y) ** 2)) for frame in (shuffled, POLARS)]
        assert [curves[name]["rmse"][-1] for name in curves] == pytest.approx(rmse)

    def test_arrays_and_frames_of_numbers(self):
        x = rng.normal(size=(N, 3))
        expected = arrays(regressor().fit(x, Y))
        names = ["a", "b", "c"]
        for table in (
            pd.DataFrame(x, columns=names),
            pl.DataFrame(x, schema=names),
            pa.table(dict(zip(names, x.T, strict=True))),
            np.asfortranarray(x),
            x.tolist(),
            x.astype(object),
        ):
            assert arrays(regressor().fit(table, Y)) == expected

    @pytest.mark.parametrize("method", METHODS)
    def test_both_float_types(self, method):
        single = rng.normal(size=(N, 3)).astype(np.float32)
        double = single.astype(np.float64)
        ours, theirs = (regressor(tree_method=method).fit(table, Y) for table in (single, double))
        assert arrays(ours) == arrays(theirs)
        for table in (single, double):
            np.testing.assert_array_equal(ours.predict(table), theirs.predict(table))
        np.testing.assert_array_equal(ours.predict(single), ours.predict(double))

    @pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, bool])
    def test_whole_numbers(self, dtype):
        x = rng.integers(0, 2 if dtype is bool else 50, size=(N, 3))
        np.testing.assert_array_equal(
            regressor().fit(x.astype(dtype), Y).predict(x.astype(dtype)), regressor().fit(x.astype(float), Y).predict(x)
        )

    def test_dates_are_ordered(self):
        days = PANDAS[["day"]]
        model = regressor(max_depth=2, n_estimators=60).fit(days, [day.toordinal() for day in DAY])
        order = np.argsort(DAY)
        assert (np.diff(model.predict(days)[order]) >= 0).mean() > 0.95
        assert model.schema_.columns[0].kind == "date"


class TestCategories:
    def test_a_split_parts_levels(self):
        model = regressor(max_depth=1, n_estimators=1, learning_rate=1.0, reg_lambda=0.0).fit(PANDAS[["colour"]], Y)
        tree = model.ensemble_.rounds[0][0]
        assert tree.is_subset_split(0)
        left = {model.schema_.columns[0].levels[code] for code in tree.left_levels(0)}
        means = pd.Series(Y).groupby(COLOUR).mean().sort_values()
        assert left in ({*means.index[: len(left)]}, {*means.index[len(means) - len(left) :]})

    def test_names_of_levels_do_not_matter(self):
        renamed = PANDAS.assign(colour=PANDAS["colour"].map(dict(zip(EFFECT, "fbdaec", strict=True))))
        np.testing.assert_allclose(
            regressor().fit(PANDAS, Y).predict(PANDAS), regressor().fit(renamed, Y).predict(renamed), rtol=1e-9
        )

    def test_numbers_as_categories(self):
        codes = pd.Categorical(COLOUR).codes.astype(float)
        model = regressor(categorical_features=[0]).fit(np.c_[codes, NUMBER], Y)
        assert model.schema_.columns[0].kind == "category"
        named = regressor().fit(pd.DataFrame({"a": COLOUR, "b": NUMBER}), Y)
        np.testing.assert_array_equal(
            model.predict(np.c_[codes, NUMBER]), named.predict(pd.DataFrame({"a": COLOUR, "b": NUMBER}))
        )

    @pytest.mark.filterwarnings("ignore::sapwood.errors.DataDriftWarning")
    @pytest.mark.parametrize("method", METHODS)
    def test_unseen_levels_go_with_the_missing_ones(self, method):
        some_missing = PANDAS.assign(colour=PANDAS["colour"].where(rng.random(N) < 0.8, None))
        for frame in (PANDAS, some_missing):
            model = regressor(tree_method=method).fit(frame, Y)
            unseen, missing = frame.assign(colour="mauve"), frame.assign(colour=pd.Series([None] * N, dtype=object))
            np.testing.assert_array_equal(model.predict(unseen), model.predict(missing))
            model.set_params(unseen="error")
            model.predict(missing)
            with pytest.raises(SapwoodError, match=r"'colour'.*'mauve'"):
                model.predict(unseen)

    @pytest.mark.parametrize("method", METHODS)
    def test_many_levels(self, method):
        level = rng.integers(0, 700, size=5000)
        y = (level % 7 == 0) * 2.0 + rng.normal(size=5000) * 0.1
        frame = pd.DataFrame({"level": level.astype(str)})
        model = regressor(n_estimators=30, max_cat_threshold=200, tree_method=method).fit(frame, y)
        assert model.score(frame, y) > 0.2  # only the 254 commonest levels have a code of their own

    @pytest.mark.parametrize("most", [1, 4, 100])
    def test_one_against_the_rest_while_there_are_few(self, most):
        model = regressor(max_depth=1, max_cat_to_onehot=most).fit(PANDAS[["colour"]], Y)
        sizes = {min(len(tree.left_levels(0)), 6 - len(tree.left_levels(0))) for (tree,) in model.ensemble_.rounds}
        assert sizes == {1} if most == 100 else max(sizes) > 1

    def test_limits_of_subsets(self):
        model = regressor(max_depth=1, max_cat_threshold=1, max_cat_to_onehot=1).fit(PANDAS[["colour"]], Y)
        for (tree,) in model.ensemble_.rounds:
            assert min(len(tree.left_levels(0)), 6 - len(tree.left_levels(0))) == 1

    @pytest.mark.parametrize(("smooth", "alone"), [(0.0, "a"), (100.0, "e")])
    def test_smoothing_moves_rare_levels_to_the_middle(self, smooth, alone):
        """Only the first or the last level may stand alone; the rare one is the last before it is smoothed."""
        frame = pd.DataFrame({"level": [*np.repeat(list("abcde"), 40), "rare"]})
        y = np.r_[np.repeat([1.0, 1.5, 2.0, 2.5, 4.0], 40), 9.0]
        model = regressor(
            max_depth=1, n_estimators=1, max_cat_to_onehot=1, max_cat_threshold=1, reg_lambda=0.0, cat_smooth=smooth
        ).fit(frame, y)
        left = model.ensemble_.rounds[0][0].left_levels(0)
        side = left if len(left) == 1 else np.setdiff1d(np.arange(6), left)
        assert [model.schema_.columns[0].levels[code] for code in side] == [alone]

    @pytest.mark.parametrize("method", METHODS)
    def test_levels_of_rows_without_weight_are_forgotten(self, method):
        weight = (COLOUR != "teal").astype(float)
        used = PANDAS[weight > 0].reset_index(drop=True)
        ours = regressor(tree_method=method).fit(PANDAS, Y, weight)
        theirs = regressor(tree_method=method).fit(used, Y[weight > 0])
        assert arrays(ours) == arrays(theirs)
        assert "teal" not in ours.schema_.columns[1].levels

    def test_continuing_keeps_the_codes_of_levels(self):
        first = regressor(n_estimators=5).fit(PANDAS, Y)
        weight = (COLOUR != "blue").astype(float)
        both = regressor(n_estimators=5).fit(PANDAS, Y, weight, init_model=first)
        np.testing.assert_array_equal(both.predict(PANDAS, n_rounds=5), first.predict(PANDAS))
        used = PANDAS[weight > 0].reset_index(drop=True)
        same = regressor(n_estimators=5).fit(used, Y[weight > 0], init_model=first)
        np.testing.assert_array_equal(both.predict(PANDAS), same.predict(PANDAS))
        assert np.mean((both.predict(used) - Y[weight > 0]) ** 2) < np.mean((first.predict(used) - Y[weight > 0]) ** 2)


class TestMissing:
    @pytest.mark.parametrize("method", METHODS)
    def test_directions_are_learnt(self, method):
        x = rng.normal(size=(N, 1))
        x[::4] = np.nan
        for missing in (5.0, -5.0):
            y = np.where(np.isnan(x[:, 0]), missing, x[:, 0])
            model = regressor(n_estimators=60, tree_method=method).fit(x, y)
            assert model.predict([[np.nan]]) == pytest.approx(missing, abs=0.1)
            assert model.score(x, y) > 0.98

    def test_all_spellings_of_missing(self):
        x = NUMBER.astype(object)
        x[::5] = None
        frames = [
            pd.DataFrame({"a": x}),
            pd.DataFrame({"a": pd.array(x, dtype="Float64")}),
            pl.DataFrame({"a": [None if v is None else float(v) for v in x]}),
            np.array([np.nan if v is None else v for v in x], dtype=float)[:, None],
        ]
        models = [regressor().fit(frame, Y) for frame in frames]
        assert all(arrays(model) == arrays(models[0]) for model in models)

    @pytest.mark.filterwarnings("ignore::sapwood.errors.DataDriftWarning")
    def test_missing_only_at_prediction(self):
        """Rows go with the larger child, and nothing fails."""
        x = rng.normal(size=(N, 2))
        model = regressor().fit(x, Y)
        said = model.predict(np.full((3, 2), np.nan))
        assert np.isfinite(said).all()
        assert Y.min() <= said[0] <= Y.max()

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("policy", ["depthwise", "lossguide"])
    def test_training_rows_reach_the_leaf_they_trained(self, method, policy):
        x = rng.normal(size=(N, 3)).astype(np.float32)
        x[rng.random(x.shape) < 0.2] = np.nan
        model = regressor(n_estimators=5, tree_method=method, grow_policy=policy, gamma=0.01).fit(x, Y)
        for t, (tree,) in enumerate(model.ensemble_.rounds):
            counts = np.bincount(model.apply(x)[:, t], minlength=tree.node_count)
            np.testing.assert_array_equal(counts[tree.is_leaf], tree.n_node_samples[tree.is_leaf])


class TestSparse:
    @pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
    @pytest.mark.parametrize("method", METHODS)
    def test_like_dense(self, form, method):
        x = rng.normal(size=(N, 8)) * (rng.random((N, 8)) < 0.2)
        x[0, 0] = np.nan
        ours, theirs = (regressor(tree_method=method).fit(table, Y) for table in (form(x), x))
        assert arrays(ours) == arrays(theirs)
        np.testing.assert_array_equal(ours.predict(form(x)), theirs.predict(x))
        np.testing.assert_array_equal(ours.predict(x), theirs.predict(form(x)))
        np.testing.assert_array_equal(ours.apply(form(x)), theirs.apply(x))

    def test_evaluation_and_weights(self):
        x = sparse.random_array((N, 5), density=0.3, rng=4, format="csr")
        weight = (np.arange(N) % 3 > 0).astype(float)
        model = regressor(n_estimators=3).fit(x, Y, weight, eval_set=[(x, Y)])
        dense = regressor(n_estimators=3).fit(x.toarray(), Y, weight, eval_set=[(x.toarray(), Y)])
        assert model.evals_result() == dense.evals_result()

    def test_absent_cells_may_be_missing(self) -> None:
        X = sparse.random_array((N, 5), density=0.3, rng=4, format="csr")
        dense = np.full(X.shape, np.nan)
        coordinates = X.tocoo()
        dense[coordinates.row, coordinates.col] = coordinates.data
        y = np.nan_to_num(dense[:, 0], nan=2.0) + np.nan_to_num(dense[:, 1], nan=-1.0)
        model = NewtonBoostingRegressor(recipe="xgboost", n_estimators=10, sparse_absent="missing").fit(X, y)
        same = NewtonBoostingRegressor(recipe="xgboost", n_estimators=10).fit(dense, y)
        zeros = NewtonBoostingRegressor(recipe="xgboost", n_estimators=10).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), same.predict(dense))
        np.testing.assert_array_equal(model.predict(dense), same.predict(dense))
        assert not np.array_equal(model.predict(X), zeros.predict(X))
