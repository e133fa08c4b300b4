import re
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import ensemble, inspection, tree

import sapwood as sw
from model_cases import KINDS, fitted, foreign, frame, signal, three_classes
from sapwood.errors import InputError, InputTypeError, NotFittedError, ParameterError
from sapwood.explain import partial_dependence
from sapwood.predictor import Predictor
from strategies import examples

rng = np.random.default_rng(0)
NUMBERS = rng.normal(size=(240, 3))
TARGET = NUMBERS[:, 0] * NUMBERS[:, 1] + NUMBERS[:, 2]
CLASSES = np.digitize(TARGET, [-0.5, 0.5])
COARSE = rng.integers(0, 4, (1500, 3)).astype(float)  # every node of boosting holds every value, so thresholds agree
COARSE_TARGET = COARSE[:, 0] * COARSE[:, 1] + COARSE[:, 2] + rng.normal(size=1500)
LARGE = {"min_samples_leaf": 20, "random_state": 0}  # no ties between splits, which each library decides in its own way
MANY = {"n_estimators": 8, "max_depth": 2, **LARGE}
PAIRS = [
    (sw.DecisionTreeRegressor(**LARGE), tree.DecisionTreeRegressor(**LARGE), NUMBERS, TARGET),
    (sw.GradientBoostingRegressor(**MANY), ensemble.GradientBoostingRegressor(**MANY), COARSE, COARSE_TARGET),
]


def by_hand(model, X, column, values, answer):
    """Replace, predict, average."""
    out = []
    for value in values:
        changed = X.copy()
        changed[column] = value if not isinstance(value, str) else pd.Categorical([value] * len(X))
        out.append(answer(changed).mean(axis=0))
    return np.array(out).T


def test_a_worked_example():
    X = pd.DataFrame({"a": [0.0, 0.0, 1.0, 1.0], "b": [0.0, 1.0, 0.0, 1.0]})
    model = sw.DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 13.0])
    for method in ("recursion", "brute"):
        found = partial_dependence(model, X, "a", method=method)
        assert found.average.tolist() == [[0.5, 11.5]]
        assert found.method == method
    assert found.grid[0].tolist() == [0.0, 1.0]
    assert (found.feature_names, found.kinds, found.output_names) == (("a",), ("number",), ("prediction",))
    rows = partial_dependence(model, X, "a", kind="both")
    assert rows.individual[0].tolist() == [[0.0, 10.0], [1.0, 13.0], [0.0, 10.0], [1.0, 13.0]]
    assert rows.average.tolist() == [[0.5, 11.5]]
    assert rows.to_frame().columns.tolist() == ["output", "row", "a", "value", "average"]
    centred = partial_dependence(model, X, "a", kind="individual", centred=True)
    assert centred.individual[0].tolist() == [[0.0, 10.0], [0.0, 12.0], [0.0, 10.0], [0.0, 12.0]]
    assert centred.average.tolist() == [[0.0, 11.0]]
    pair = partial_dependence(model, X, ("b", "a"), method="brute")
    assert pair.average.tolist() == [[[0.0, 10.0], [1.0, 13.0]]]
    assert pair.to_frame().iloc[1].tolist() == ["prediction", 0.0, 1.0, 10.0]
    weighted = partial_dependence(model, X, "a", sample_weight=[3.0, 1.0, 0.0, 0.0])
    assert weighted.method == "brute"
    assert weighted.average.tolist() == [[0.25, 10.75]]


def test_a_few_points_are_printed():
    X = pd.DataFrame({"a": [0.0, 0.0, 1.0, 1.0], "b": [0.0, 1.0, 0.0, 1.0]})
    model = sw.DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 13.0])
    assert str(partial_dependence(model, X, "a")).splitlines() == [
        "Partial dependence on a: prediction by method recursion",
        "  a  prediction",
        "  0      0.5000",
        "  1     11.5000",
    ]
    both = str(partial_dependence(model, X, ("b", "a"), kind="both", centred=True)).splitlines()
    assert both[0] == "Partial dependence on b, a: prediction by method brute, centred, with curves of 4 rows"
    assert both[-1].split() == ["1", "1", "13.0000"]
    classes, rows = fitted("tree classes"), frame()
    many = str(partial_dependence(classes, rows, "income")).splitlines()
    assert many[1].split() == ["income", "low", "mid", "top"]
    assert (len(many), many[-1]) == (13, "  … 40 more points")
    assert str(partial_dependence(classes, rows, "since")).splitlines()[2].split()[0].startswith("20")
    assert "… 2484 more points" in str(partial_dependence(classes, rows, ("income", "age")))


@pytest.mark.parametrize(("ours", "theirs", "X", "y"), PAIRS)
@pytest.mark.parametrize("features", [[0], [0, 2]])
def test_both_methods_agree_with_scikit_learn(ours, theirs, X, y, features):
    mine, other = ours.fit(X, y), theirs.fit(X, y)
    np.testing.assert_allclose(mine.predict(X), other.predict(X))
    for method in ("recursion", "brute"):
        options = {"grid_resolution": 9, "percentiles": (0.1, 0.8)}
        found = partial_dependence(mine, X, features, method=method, **options)
        known = inspection.partial_dependence(other, X, features, method=method, kind="average", **options)
        for own, axis in zip(found.grid, known["grid_values"], strict=True):
            np.testing.assert_allclose(own, axis)
        start = mine.ensemble_.base[0] if method == "recursion" and hasattr(mine, "ensemble_") else 0.0
        np.testing.assert_allclose(found.average, known["average"] + start, rtol=1e-6)


def test_classes_agree_with_scikit_learn():
    mine = sw.DecisionTreeClassifier(**LARGE).fit(NUMBERS, CLASSES)
    other = tree.DecisionTreeClassifier(**LARGE).fit(NUMBERS, CLASSES)
    np.testing.assert_allclose(mine.predict_proba(NUMBERS), other.predict_proba(NUMBERS))
    known = inspection.partial_dependence(other, NUMBERS, [1], method="brute", kind="both", grid_resolution=7)
    found = partial_dependence(mine, NUMBERS, 1, method="brute", kind="both", grid_resolution=7)
    np.testing.assert_allclose(found.average, known["average"])
    np.testing.assert_allclose(found.individual, known["individual"])
    assert found.output_names == (0, 1, 2)


@st.composite
def factorial(draw):
    """Every combination of the values of some columns, each equally often, and any target."""
    axes = [
        draw(st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True)) for _ in range(draw(st.integers(2, 3)))
    ]
    rows = np.array(list(product(*axes)), dtype=float)
    X = pd.DataFrame(rows, columns=list("abc")[: len(axes)])
    if draw(st.booleans()):
        X["a"] = X["a"].map(lambda code: "uvwxy"[int(code)])
    if draw(st.booleans()):
        X.loc[X["b"] == X["b"].iloc[0], "b"] = np.nan
    y = draw(st.lists(st.integers(-8, 8).map(float), min_size=len(X), max_size=len(X)))
    return X, np.array(y)


@examples
@given(factorial(), st.integers(0, 2))
def test_both_methods_agree_on_independent_columns(case, kind):
    X, y = case
    make = (
        sw.DecisionTreeRegressor(),
        sw.GradientBoostingRegressor(n_estimators=3, max_depth=2),
        sw.RandomForestRegressor(n_estimators=2, bootstrap=False, max_features=1, random_state=0),
    )[kind]
    model = make.fit(X, y)
    for features in ("a", "b", ("a", "b")):
        values = {name: [*X[name].dropna().unique()[:3], None] for name in np.atleast_1d(features)}
        both = [partial_dependence(model, X, features, method=m, values=values) for m in ("recursion", "brute")]
        assert [found.method for found in both] == ["recursion", "brute"]
        np.testing.assert_allclose(both[0].average, both[1].average, rtol=1e-6, atol=1e-6)


@examples
@given(st.integers(0, 10_000), st.integers(5, 40))
def test_both_methods_agree_for_sums_of_stumps(seed, n):
    draws = np.random.default_rng(seed)
    X = draws.integers(0, 6, (n, 3)).astype(float)  # columns that depend on each other by chance
    model = sw.GradientBoostingRegressor(n_estimators=4, max_depth=1).fit(X, draws.normal(size=n))
    for features in (0, (0, 2)):
        both = [partial_dependence(model, X, features, method=m) for m in ("recursion", "brute")]
        np.testing.assert_allclose(both[0].average, both[1].average, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("feature", ["age", "income", "colour", "member", "since"])
def test_every_model_and_column_by_hand(kind, feature):
    model, X = fitted(kind), frame()
    found = partial_dependence(model, X, feature, method="brute", grid_resolution=4)
    if kind == "two outputs":
        expected = by_hand(model, X, feature, found.grid[0], lambda X: np.concatenate(model.predict_proba(X), axis=1))
    elif hasattr(model, "classes_"):
        skip = 1 if len(model.classes_) == 2 else 0
        expected = by_hand(model, X, feature, found.grid[0], lambda X: model.predict_proba(X)[:, skip:])
        assert found.output_names == tuple(model.classes_[skip:])
    else:
        expected = by_hand(model, X, feature, found.grid[0], lambda X: model.predict(X).reshape(len(X), -1))
    np.testing.assert_allclose(found.average, expected, rtol=1e-9, atol=1e-12)
    assert len(found.to_frame()) == found.average.size


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "adaboost numbers"])
def test_scores_of_every_model(kind):
    model, X = fitted(kind), frame()
    brute = partial_dependence(model, X, "age", method="brute", output="score", grid_resolution=3, kind="both")
    quick = partial_dependence(model, X, "age", output="score", grid_resolution=3)
    assert quick.method == "recursion"
    assert quick.average.shape == brute.average.shape == (len(quick.output_names), 3)
    changed = X.assign(age=brute.grid[0][1])
    table = model.model_.match(changed)
    tree_sum = model.model_.trees
    scores = np.repeat(tree_sum.base[:, None], len(X), axis=1)
    for member in tree_sum:
        leaves = Predictor(member.tree).leaves(table)
        scores[member.column : member.column + member.values.shape[1]] += member.values[leaves].T
    kept = model.model_.kept_scores
    np.testing.assert_allclose(brute.individual[:, :, 1], scores[kept] / tree_sum.divisor, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "output", "method"),
    [
        ("tree classes", "auto", "recursion"),
        ("forest votes", "auto", "recursion"),
        ("bagging", "probability", "recursion"),
        ("newton numbers", "auto", "recursion"),
        ("newton ranks", "auto", "recursion"),
        ("newton three", "auto", "brute"),
        ("newton three", "score", "recursion"),
        ("adaboost two", "auto", "brute"),
        ("adaboost numbers", "auto", "brute"),
    ],
)
def test_the_method_that_auto_picks(kind, output, method):
    found = partial_dependence(fitted(kind), frame(), "age", output=output, grid_resolution=2)
    assert found.method == method
    assert found.average.shape == (len(found.output_names), 2)


@pytest.mark.parametrize("kind", ["bagging", "adaboost", "gradient"])
def test_models_with_other_estimators_inside(kind):
    model, X, _ = foreign(kind)
    found = partial_dependence(model, X, 1, grid_resolution=3)
    changed = X.copy()
    changed[:, 1] = found.grid[0][2]
    said = model.predict_proba(changed)[:, 1] if kind == "bagging" else model.predict(changed)
    assert found.average[0, 2] == pytest.approx(said.mean())


@pytest.mark.filterwarnings("ignore::sapwood.errors.DataDriftWarning")
def test_grids_of_all_kinds():
    model, X = fitted("forest numbers"), frame()
    age = partial_dependence(model, X, "age", grid_resolution=5, percentiles=(0, 1)).grid[0]
    assert (age[0], age[-1]) == (X["age"].min(), X["age"].max())
    colour = partial_dependence(model, X, "colour")
    assert colour.grid[0].tolist() == ["blue", "green", "red"]
    assert colour.grid_codes[0].tolist() == [0.0, 1.0, 2.0]
    assert partial_dependence(model, X, "member").grid[0].tolist() == [False, True]
    since = partial_dependence(model, X, "since", grid_resolution=3)
    assert since.grid[0].dtype == "M8[us]"
    assert since.kinds == ("date",)
    own = partial_dependence(model, X, "colour", values=["red", None], method="brute")
    assert own.grid[0].tolist() == ["red", None]
    reds = [model.predict(X.assign(colour=value)).mean() for value in ("red", None)]
    np.testing.assert_allclose(own.average[0], reds)
    pair = partial_dependence(model, X, ["age", "since"], values={"age": [20, 60]}, grid_resolution=4)
    assert pair.average.shape == (1, 2, 4)
    assert pair.to_frame()["since"].nunique() == 4
    flat = partial_dependence(
        model, X.assign(income=[*[1.0] * 115, 0.0, 3.0, 5.0, 7.0, 9.0]), "income", grid_resolution=6
    )
    np.testing.assert_allclose(flat.grid[0], np.linspace(0.0, 9.0, 6))


@pytest.mark.parametrize("make", [np.asarray, np.float32, sparse.csr_matrix, pd.DataFrame, pl.DataFrame, list])
def test_any_container_gives_the_same(make):
    X = np.where(rng.random((60, 3)) < 0.4, 0.0, rng.integers(-8, 8, (60, 3)) / 4)
    model = sw.RandomForestRegressor(n_estimators=3, random_state=0).fit(X, X[:, 0] - X[:, 2])
    found, plain = (
        partial_dependence(model, rows, (0, 1), method="brute", grid_resolution=3, n_jobs=2) for rows in (make(X), X)
    )
    np.testing.assert_allclose(found.average, plain.average)


def test_threads_rows_and_thresholds():
    X = np.float32(NUMBERS)
    before = X.copy()
    model = sw.DecisionTreeRegressor(max_depth=3).fit(X, TARGET)
    one = partial_dependence(model, X, 0, method="brute", n_jobs=1)
    np.testing.assert_array_equal(one.average, partial_dependence(model, X, 0, method="brute", n_jobs=2).average)
    np.testing.assert_array_equal(X, before)
    edge = float(model.tree_.threshold[0])  # between two float32
    column = int(model.tree_.feature[0])
    beyond = np.nextafter(edge, np.inf)
    for method in ("brute", "recursion"):
        found = partial_dependence(model, X, column, values=[edge, beyond], method=method)
        assert found.average[0, 0] != found.average[0, 1]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            {"features": "agee"},
            InputError,
            "features names 'agee', which is not a column of the model. Did you mean 'age'?",
        ),
        ({"features": 9}, InputError, "features names 9"),
        ({"features": ("age", "age")}, InputError, "a pair of different ones"),
        ({"features": ["age", "income", "since"]}, InputError, "one column or a pair"),
        ({"features": []}, InputError, "one column or a pair"),
        ({"kind": "averge"}, ParameterError, "Did you mean kind='average'?"),
        ({"method": "fast"}, ParameterError, "method='fast'"),
        ({"output": "raw"}, ParameterError, "output='raw'"),
        ({"output": "prediction"}, ParameterError, "Use output='probability'"),
        ({"grid_resolution": 1}, ParameterError, "grid_resolution=1"),
        ({"percentiles": (0.9, 0.1)}, ParameterError, "percentiles=(0.9, 0.1)"),
        ({"percentiles": 3}, ParameterError, "percentiles=3"),
        ({"values": []}, InputError, "values of 'age' are empty"),
        ({"values": 3}, InputTypeError, "values of 'age' are 3"),
        ({"values": {"income": [1]}}, InputError, "values has a grid for 'income', which is not among the features"),
        ({"values": [1], "features": ("age", "income")}, InputError, "values must be a mapping"),
        ({"values": ["rot"], "features": "colour"}, InputError, "not a level of column 'colour'"),
        ({"sample_weight": [1.0]}, InputError, "sample_weight"),
        ({"method": "recursion", "kind": "both"}, ParameterError, "recursion gives averages only"),
        ({"method": "recursion", "sample_weight": np.ones(120)}, ParameterError, "sample_weight is given"),
        ({"n_jobs": 0}, ParameterError, "n_jobs=0"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, words):
    with pytest.raises(error, match=re.escape(words)):
        partial_dependence(fitted("tree classes"), frame(), **{"features": "age", **arguments})


def test_recursion_is_refused_where_it_does_not_apply():
    for kind, words in (("adaboost numbers", "the median"), ("newton three", "output='probability' is not a sum")):
        with pytest.raises(ParameterError, match=words):
            partial_dependence(fitted(kind), frame(), "age", method="recursion")
    with pytest.raises(ParameterError, match="not trees of Sapwood"):
        partial_dependence(*foreign("gradient")[:2], 0, method="recursion")
    with pytest.raises(ParameterError, match="output='score' is not allowed for AdaBoostRegressor"):
        partial_dependence(fitted("adaboost numbers"), frame(), "age", output="score")
    with pytest.raises(ParameterError, match="Use output='prediction'"):
        partial_dependence(fitted("tree numbers"), frame(), "age", output="probability")


def test_other_bad_input():
    with pytest.raises(NotFittedError):
        partial_dependence(sw.DecisionTreeClassifier(), frame(), "age")
    X = frame()
    model = sw.DecisionTreeClassifier().fit(X, three_classes(X))
    with pytest.raises(InputError, match="Column 'income' of X holds no finite value"):
        partial_dependence(model, X.assign(income=np.nan), "income")
    assert partial_dependence(model, X.assign(income=np.nan), "income", values=[1.0]).average.shape == (3, 1)
    named = sw.DecisionTreeRegressor().fit(X.rename(columns={"age": "output"})[["output"]], signal(X))
    heads = partial_dependence(named, X.rename(columns={"age": "output"})[["output"]], "output").to_frame().columns
    assert heads.tolist() == ["output_", "output", "average"]
