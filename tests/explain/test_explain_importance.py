import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score, make_scorer

import sapwood as sw
from model_cases import KINDS, OF_TARGETS, fitted, foreign, frame, signal, three_classes, two_classes, two_targets
from sapwood.errors import InputError, InputTypeError, NotFittedError, ParameterError
from sapwood.explain import Importance, importance, shap_values
from strategies import examples

STRUCTURE = ["gain", "splits", "cover"]


def truth(kind, X):
    if kind == "two outputs":
        return np.column_stack([two_classes(X), three_classes(X)])
    if kind == "newton ranks":
        return np.digitize(signal(X), [4.0, 5.0])
    if kind in OF_TARGETS:
        return two_targets(X)
    if hasattr(fitted(kind), "classes_"):
        return three_classes(X) if len(fitted(kind).classes_) == 3 else two_classes(X)
    return signal(X)


def test_a_worked_example():
    X = pd.DataFrame({"b": [0, 0, 1, 1], "a": [0, 1, 0, 1], "c": [0, 0, 0, 0]})
    model = sw.DecisionTreeRegressor().fit(X, [0.0, 0.0, 2.0, 3.0])
    found = importance(model)
    assert found.names == ("b", "a", "c")
    assert found.sorted_by == "gain"
    assert found["splits"].tolist() == [1, 1, 0]
    np.testing.assert_allclose(found["cover"], [4 / 6, 2 / 6, 0])
    np.testing.assert_allclose(found["gain"], [6.25 / 6.75, 0.5 / 6.75, 0])
    assert str(found).splitlines() == [
        "feature     gain  splits   cover",
        "b         0.9259       1  0.6667",
        "a        0.07407       1  0.3333",
        "c              0       0       0",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_without_rows(kind):
    model = fitted(kind)
    found = importance(model)
    assert list(found.measures) == STRUCTURE
    by_name = dict(zip(found.names, found["gain"], strict=True))
    assert [by_name[name] for name in model.schema_.names] == model.feature_importances_.tolist()
    nodes = model.to_frame()
    for name, splits in zip(found.names, found["splits"], strict=True):
        assert splits == (nodes["feature"] == name).sum()
    assert found["cover"].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "newton ranks"])
def test_every_model_with_rows(kind):
    model, X = fitted(kind), frame()
    found = importance(model, X, truth(kind, X), n_repeats=2)
    expected = [*STRUCTURE, "permutation", "permutation_se"]
    if hasattr(model, "permutation_importance") and model.bootstrap:
        expected += ["oob_permutation", "oob_permutation_se"]
    if model.model_.is_sum:
        expected += ["mean_abs_shap"]
    assert list(found.measures) == expected
    assert found.sorted_by == "permutation"
    assert np.array_equal(found["permutation"], np.sort(found["permutation"])[::-1])


def test_permutation_is_the_drop_of_the_score():
    X = frame()[["age", "member"]]
    y = signal(frame())
    model = sw.DecisionTreeRegressor(max_depth=3).fit(X, y)
    found = importance(model, X, y, n_repeats=3, random_state=7)
    for name in X.columns:
        drops = []
        for r in range(3):
            shuffled = X.copy()
            shuffled[name] = X[name].to_numpy()[np.random.default_rng([7, r]).permutation(len(X))]
            drops.append(model.score(X, y) - model.score(shuffled, y))
        at = found.names.index(name)
        assert found["permutation"][at] == pytest.approx(np.mean(drops), abs=1e-12)
        assert found["permutation_se"][at] == pytest.approx(np.std(drops, ddof=1) / np.sqrt(3), abs=1e-12)


def test_it_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    model = sw.RandomForestClassifier(n_estimators=10, random_state=0).fit(X[:200], y[:200])
    ours = importance(model, X[200:], y[200:], n_repeats=20)
    theirs = permutation_importance(model, X[200:], y[200:], n_repeats=20, random_state=0)
    order = [int(name[1:]) for name in ours.names]
    np.testing.assert_allclose(ours["permutation"], theirs.importances_mean[order], atol=0.03)
    assert "oob_permutation" not in ours.measures  # these are not the training rows


def test_out_of_bag_is_the_forests_own():
    model, X = fitted("forest classes"), frame()
    y = three_classes(X)
    found = importance(model, X, y, n_repeats=2, random_state=5, sort_by="oob_permutation")
    own = model.permutation_importance(X, y, n_repeats=2, random_state=5)
    order = [own.names.index(name) for name in found.names]
    assert found["oob_permutation"].tolist() == own.mean[order].tolist()
    assert found["oob_permutation_se"].tolist() == own.standard_error[order].tolist()


def test_shap_values_are_averaged_and_summed_over_outputs():
    model, X = fitted("tree classes"), frame()
    values = np.abs(shap_values(model, X).values)
    found = importance(model, X)
    assert found.sorted_by == "mean_abs_shap"
    by_column = dict(zip(found.names, found["mean_abs_shap"], strict=True))
    expected = values.mean(axis=0).sum(axis=1)
    assert [by_column[name] for name in X.columns] == pytest.approx(expected.tolist())
    weight = np.arange(1.0, len(X) + 1.0)
    found = importance(model, X, sample_weight=weight)
    by_column = dict(zip(found.names, found["mean_abs_shap"], strict=True))
    expected = np.average(values, axis=0, weights=weight).sum(axis=1)
    assert [by_column[name] for name in X.columns] == pytest.approx(expected.tolist())


def test_groups_are_added_shuffled_together_and_summed():
    model, X = fitted("tree numbers"), frame()
    y = signal(X)
    found = importance(model, X, y, groups={"who": ["age", "colour"], "rest": [1, "since"]}, n_repeats=2)
    single = importance(model, X, y, n_repeats=2)
    assert set(found.names) == {"who", "rest", "member"}
    at = found.names.index("who")
    for measure in STRUCTURE:
        parts = [single[measure][single.names.index(name)] for name in ("age", "colour")]
        assert found[measure][at] == pytest.approx(sum(parts))
    together = np.abs(shap_values(model, X).values[:, [0, 2]].sum(axis=1)).mean()
    assert found["mean_abs_shap"][at] == pytest.approx(together)
    drops = []
    for r in range(2):
        order = np.random.default_rng([0, r]).permutation(len(X))
        shuffled = X.copy()
        for name in ("age", "colour"):
            shuffled[name] = X[name].iloc[order].array
        drops.append(model.score(X, y) - model.score(shuffled, y))
    assert found["permutation"][at] == pytest.approx(np.mean(drops))
    alone = found.names.index("member"), single.names.index("member")
    assert found["permutation"][alone[0]] == single["permutation"][alone[1]]


@examples
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=2, max_size=6))
def test_ties_are_decided_by_the_next_measure_and_then_by_name(rows):
    from sapwood.explain.importance.importance import _sorted

    gains = np.array([row[0] for row in rows], dtype=float)
    splits = np.array([row[1] for row in rows], dtype=float)
    names = [f"c{(7 * k) % 11}" for k in range(len(rows))]
    found = _sorted(names, {"gain": gains, "splits": splits}, None, "model")
    expected = sorted(zip(-gains, -splits, names, strict=True))
    assert found.names == tuple(name for *_, name in expected)
    found = _sorted(names, {"gain": gains, "splits": splits}, "splits", "model")
    expected = sorted(zip(-splits, -gains, names, strict=True))
    assert found.names == tuple(name for *_, name in expected)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, pd.DataFrame, pl.DataFrame, list])
def test_any_container_gives_the_same(make):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((60, 3)) < 0.4, 0.0, rng.normal(size=(60, 3)))
    y = X[:, 0] - X[:, 2]
    model = sw.DecisionTreeRegressor(max_depth=4).fit(X, y)
    given_rows = make(X)
    found, plain = importance(model, given_rows, y), importance(model, X, y)
    assert found.names == plain.names
    np.testing.assert_array_equal(found["permutation"], plain["permutation"])


def test_threads_and_weights():
    model, X = fitted("forest numbers"), frame()
    y, weight = signal(X), np.random.default_rng(0).random(len(X))
    one = importance(model, X, y, sample_weight=weight, n_jobs=1)
    two = importance(model, X, y, sample_weight=weight, n_jobs=2)
    assert one.names == two.names
    np.testing.assert_array_equal(one["permutation"], two["permutation"])
    ones = importance(model, X, y, sample_weight=np.full(len(X), 3.0))
    np.testing.assert_allclose(ones["permutation"], importance(model, X, y)["permutation"], atol=1e-12)


def test_scorings_of_all_kinds():
    model, X = fitted("tree classes"), frame()
    y = three_classes(X)
    seen = []

    def own(model, X, y):
        seen.append(type(X))
        return accuracy_score(y, model.predict(X))

    tables = [importance(model, X, y, scoring=s) for s in (None, "accuracy", make_scorer(accuracy_score), own)]
    for found in tables[1:]:
        np.testing.assert_allclose(found["permutation"], tables[0]["permutation"], atol=1e-12)
    assert set(seen) == {pd.DataFrame}


@pytest.mark.parametrize("kind", ["bagging", "adaboost", "gradient"])
def test_models_with_other_estimators_inside(kind):
    model, X, y = foreign(kind)
    found = importance(model, X, y, n_repeats=3)
    assert ("gain" in found.measures) == (kind == "gradient")
    assert "mean_abs_shap" not in found.measures or kind == "gradient"
    drops = []
    for r in range(3):
        shuffled = X.copy()
        shuffled[:, 0] = X[np.random.default_rng([0, r]).permutation(len(X)), 0]
        drops.append(model.score(X, y) - model.score(shuffled, y))
    assert found["permutation"][found.names.index("x0")] == pytest.approx(np.mean(drops))


def test_rows_are_left_alone():
    X = frame()
    before = X.copy(deep=True)
    importance(fitted("forest numbers"), X, signal(X), n_repeats=1)
    pd.testing.assert_frame_equal(X, before)


def test_a_single_repeat_has_no_standard_error():
    X = frame()
    found = importance(fitted("tree numbers"), X, signal(X), n_repeats=1)
    assert np.isnan(found["permutation_se"]).all()
    assert isinstance(found, Importance)
    table = found.to_frame()
    assert table.columns.tolist() == ["feature", *found.measures]
    assert len(table) == len(found) == 5


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"n_repeats": 0}, ParameterError, "n_repeats=0"),
        ({"sort_by": "gian"}, ParameterError, "Did you mean sort_by='gain'?"),
        ({"sort_by": "permutation"}, ParameterError, "sort_by='permutation' is not allowed for these arguments"),
        ({"random_state": "x"}, ParameterError, "random_state='x'"),
        ({"groups": [["age"]]}, InputTypeError, "groups is a list"),
        (
            {"groups": {"g": ["agee"]}},
            InputError,
            "groups['g'] names 'agee', which is not a column of the model. Did you",
        ),
        ({"groups": {"g": []}}, InputError, "groups['g'] is empty"),
        ({"groups": {"g": 3.5}}, InputTypeError, "groups['g']=3.5"),
        ({"groups": {"age": ["member"]}}, InputError, "groups names a set of columns 'age'"),
        ({"y": [1]}, InputError, "y is given without X"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, words):
    with pytest.raises(error, match=re.escape(words)):
        importance(fitted("tree classes"), **arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"y": ["low"]}, InputError, "1"),
        ({"sample_weight": [1.0]}, InputError, "sample_weight"),
        ({"y": three_classes(frame()), "scoring": "exactness"}, ParameterError, "scoring='exactness'"),
    ],
)
def test_rows_that_do_not_fit_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        importance(fitted("tree classes"), frame(), **arguments)


@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_classes_that_the_model_does_not_know_are_refused(scoring):
    X, model = frame(), fitted("tree classes")
    y = three_classes(X)
    for wrong, names in ((np.char.upper(y), "'LOW', 'MID', 'TOP'"), (np.arange(len(X)) % 2, "0, 1")):
        words = f"y holds classes that the model does not know: [{names}]. It knows ['low', 'mid', 'top']."
        with pytest.raises(InputError, match=re.escape(words)):
            importance(model, X, wrong, scoring=scoring)
    with pytest.raises(InputError, match="y has 2 outputs, but the model was fitted with 1"):
        importance(model, X, np.column_stack([y, y]), scoring=scoring)


@pytest.mark.parametrize(("kind", "scoring"), [("tree classes", "r2"), ("tree numbers", "accuracy")])
def test_a_scoring_that_does_not_fit_is_named(kind, scoring):
    X = frame()
    y = three_classes(X) if kind == "tree classes" else signal(X)
    with pytest.raises(ParameterError, match=f"scoring='{scoring}' is not allowed for this DecisionTree"):
        importance(fitted(kind), X, y, scoring=scoring)


def test_other_bad_input():
    with pytest.raises(NotFittedError):
        importance(sw.DecisionTreeClassifier())
    with pytest.raises(InputError, match="lacks 4 of the 5 columns"):
        importance(fitted("tree classes"), frame()[["age"]])
    with pytest.raises(InputError, match="This BaggingClassifier has no measures without rows"):
        importance(foreign("bagging")[0])
    with pytest.raises(ParameterError, match="scoring=None is not allowed for NewtonBoostingRanker"):
        importance(fitted("newton ranks"), frame(), np.ones(120))
    with pytest.raises(InputError, match="no measure 'size'"):
        importance(fitted("tree classes"))["size"]
