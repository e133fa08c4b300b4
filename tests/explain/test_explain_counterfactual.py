import itertools
import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

import sapwood as sw
from model_cases import KINDS, OF_TARGETS, fitted, foreign, frame, signal, two_classes
from sapwood.errors import InputError, InputTypeError, NotFittedError, ParameterError
from sapwood.explain import counterfactual
from strategies import examples

MAKERS = (
    sw.DecisionTreeClassifier,
    lambda: sw.RandomForestClassifier(n_estimators=3, random_state=0),
    lambda: sw.AdaBoostClassifier(n_estimators=3),
    sw.DecisionTreeRegressor,
    lambda: sw.AdaBoostRegressor(n_estimators=3, random_state=0),
    lambda: sw.GradientBoostingRegressor(n_estimators=3, max_depth=2),
    lambda: sw.NewtonBoostingClassifier(n_estimators=2, max_depth=2, min_child_weight=0),
)


def options(model, X, j, scale):
    """All that a column can become: its cost and value; by the thresholds alone."""
    now, name = X.iloc[0, j], X.columns[j]
    if isinstance(now, str):
        return [(float(level != now), level) for level in model.schema_.columns[j].levels]
    nodes = model.to_frame()
    cuts = nodes.loc[nodes["feature"] == name, "threshold"].unique()
    values = [now, *(cut for cut in cuts if cut < now), *(np.nextafter(cut, np.inf) for cut in cuts if cut >= now)]
    return [(abs(value - now) / scale, value) for value in values if np.isfinite(value)]


def oracle(model, X, wants, free, most_changes):
    """The least cost of all combinations."""
    scales = [c.high - c.low if c.kind == "number" and c.high > c.low else 1.0 for c in model.schema_.columns]
    choices = [options(model, X, j, scales[j]) if j in free else [(0.0, X.iloc[0, j])] for j in range(X.shape[1])]
    points = [p for p in itertools.product(*choices) if sum(cost > 0 for cost, _ in p) <= most_changes]
    rows = pd.DataFrame([[value for _, value in point] for point in points], columns=X.columns)
    good = np.flatnonzero(wants(model.predict(rows)))
    return min((sum(cost for cost, _ in points[k]) for k in good), default=None)


@st.composite
def situations(draw):
    n = draw(st.integers(4, 12))
    columns = {
        name: draw(st.lists(st.sampled_from([0.25, 1.5, 2.0, 3.75, 6.0]), min_size=n, max_size=n)) for name in "ab"
    }
    columns["c"] = draw(st.lists(st.sampled_from(["u", "v", "w"]), min_size=n, max_size=n))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    y[:2] = [0, 1]
    free = draw(st.sampled_from([[0, 1, 2], [0, 1], [2], [0, 2]]))
    return pd.DataFrame(columns), y, draw(st.sampled_from(MAKERS))(), free, draw(st.integers(1, 3))


@examples
@given(situations())
def test_the_change_is_the_smallest_of_all(case):
    X, y, model, free, most_changes = case
    try:
        model.fit(X, y)
    except InputError:  # AdaBoost finds nothing better than guessing
        return
    row = X.iloc[[0]]
    before = model.predict(row)[0]
    target = None if hasattr(model, "classes_") else (before + 0.25, None)
    wants = (lambda said: said != before) if target is None else (lambda said: said >= target[0])
    expected = oracle(model, row, wants, free, most_changes)
    ask = {"target": target, "features": free, "most_changes": most_changes}
    if expected is None:
        with pytest.raises(InputError, match=r"this is proven|No column that the model uses may change"):
            counterfactual(model, row, **ask)
        return
    found = counterfactual(model, row, **ask)
    assert found.is_proven
    assert found.distance == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert found.distance == pytest.approx(sum(change.cost for change in found.changes))
    assert len(found.changes) <= most_changes
    assert wants(model.predict(pd.DataFrame([found.row])))[0]


def test_a_worked_example():
    X = pd.DataFrame(
        {"age": [20, 30, 40, 50, 60, 70], "colour": list("rrrggg"), "size": [0.5, 1.5, 0.5, 1.5, 0.5, 1.5]}
    )
    model = sw.DecisionTreeClassifier().fit(X, ["no", "no", "no", "yes", "yes", "yes"])
    found = counterfactual(model, X.iloc[[1]])
    assert str(found).splitlines() == [
        "Prediction: no → yes, if",
        "  age: 30 → 46",
        "Distance 0.32; no smaller change does it.",
    ]
    assert repr(found) == str(found)
    (change,) = found.changes
    assert (change.feature, change.before, change.after, change.cost) == ("age", 30, 46, 0.32)
    assert found.row == {"age": 46, "colour": "r", "size": 1.5}
    assert (found.before, found.after, found.is_proven, found.others) == ("no", "yes", True, ())
    by_range = counterfactual(model, X.iloc[[1]], X=X)
    assert by_range.distance == pytest.approx(16 / 25)
    with pytest.raises(InputError, match=r"this is proven|No column that the model uses"):
        counterfactual(model, X.iloc[[1]], fixed="age")
    numbers = sw.DecisionTreeRegressor().fit(X[["size"]], X["size"])
    assert counterfactual(numbers, [0.5], target=(1, 2)).changes[0].description == "size: 0.5 → 1.01"
    assert counterfactual(numbers, [1.5], target=(None, 1)).changes[0].description == "size: 1.5 → 1"


def printed(found, row):
    """The row with the numbers that are printed in place of its own."""
    out = list(row)
    for change in found.changes:
        before, after = change.description.removeprefix(f"{change.feature}: ").split(" → ")
        assert before != after
        out[list(found.row).index(change.feature)] = float(after)
    return out


@pytest.mark.parametrize(
    "model",
    [
        sw.DecisionTreeClassifier(max_depth=4),
        sw.RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0),
        sw.NewtonBoostingClassifier(n_estimators=4, max_depth=2),
    ],
)
def test_printed_numbers_lead_to_the_prediction(model):
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    model.fit(X, y)
    for row in X.to_numpy()[::12]:
        found = counterfactual(model, row)
        told = [printed(found, row)]
        assert model.predict(pd.DataFrame(told, columns=X.columns))[0] == found.after


def test_printed_numbers_of_all_sizes():
    rng = np.random.default_rng(0)
    for size in (1e-300, 1e-9, 1e-4, 1.0, 1e9, 1e12):
        X = size * (rng.normal(size=(60, 2)) + 1.0)
        model = sw.RandomForestClassifier(n_estimators=5, random_state=0).fit(X, X[:, 0] > size)
        for row in X[:6]:
            found = counterfactual(model, row)
            assert model.predict([printed(found, row)])[0] == found.after


def test_printed_durations_lie_on_their_side():
    X = pd.DataFrame({"took": pd.to_timedelta([5.0, 7.0, 7199.0, 7203.0, 90000.0, 7.0], "s")})
    model = sw.DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1, 0])
    (up,) = counterfactual(model, X.iloc[[2]]).changes
    assert up.description == "took: 1.9997 h → 2.00056 h"  # the threshold is 7201 s, so 2 h would not do
    (down,) = counterfactual(model, X.iloc[[4]]).changes
    assert down.description == "took: 1.04 d → 2 h"


def test_estimators_of_other_kinds_get_the_number_itself():
    model, X, _ = foreign("gradient")
    at = int(np.argmin(model.predict(X)))
    found = counterfactual(model, X[at], target=(model.predict(X)[at] + 0.1, None), X=X)
    assert model.predict([printed(found, X[at])])[0] == found.after


@pytest.mark.parametrize("kind", KINDS)
def test_every_model(kind):
    model, X = fitted(kind), frame()
    predicted = model.predict(X)
    for at in (3, 8):
        target = None
        if not hasattr(model, "classes_"):
            target = (predicted[at] + 0.3 * predicted.std(axis=0), None)
            if kind in OF_TARGETS:  # bounds of the first
                target = [(target[0][0], None), (None, None)]
        found = counterfactual(model, X.iloc[at].to_dict(), target=target, X=X, n=3)
        sets = []
        for one in (found, *found.others):
            said = model.predict(pd.DataFrame([one.row]).astype({"colour": "category"}))[0]
            low = target and np.ravel(target)[0]
            assert (np.ravel(said)[0] >= low) if target else np.any(said != predicted[at])
            assert all(one.row[change.feature] != X.iloc[at][change.feature] for change in one.changes)
            names = {change.feature for change in one.changes}
            assert not any(before <= names for before in sets)
            sets.append(names)
            unchanged = [name for name in X.columns if name not in names and pd.notna(X.iloc[at][name])]
            assert all(one.row[name] == X.iloc[at][name] for name in unchanged)
        distances = [one.distance for one in (found, *found.others) if one.is_proven]
        assert distances == sorted(distances)


def test_the_class_that_is_asked_for():
    model, X = fitted("newton three"), frame()
    row = X.iloc[[3]]
    assert model.predict(row)[0] == "low"
    mid, top = counterfactual(model, row, target="mid"), counterfactual(model, row, target="top")
    assert (mid.after, top.after) == ("mid", "top")
    assert min(mid.distance, top.distance) == counterfactual(model, row).distance
    several = counterfactual(fitted("two outputs"), row, target=("yes", "mid"))
    assert several.after == ("yes", "mid")


def test_numbers_stay_within_bounds():
    model, X = fitted("newton numbers"), frame()
    predicted = model.predict(X)
    low, high = np.quantile(predicted, [0.6, 0.7])
    found = counterfactual(model, X.iloc[[int(predicted.argmin())]], target=(low, high))
    assert low <= found.after <= high
    poisson = sw.NewtonBoostingRegressor(n_estimators=4, objective="count:poisson").fit(X, np.round(signal(X)))
    low = np.quantile(poisson.predict(X), 0.8)
    found = counterfactual(poisson, X.iloc[[int(poisson.predict(X).argmin())]], target=(low, None))
    assert found.is_proven
    assert found.after >= low


def test_missing_values_stay_unless_their_column_is_named():
    X = pd.DataFrame({"a": [1.0, 2.0, np.nan, np.nan], "b": [0, 1, 0, 1]})
    model = sw.DecisionTreeClassifier().fit(X, ["x", "x", "y", "y"])
    with pytest.raises(InputError, match="whose value is missing changes only if features names it"):
        counterfactual(model, [np.nan, 0])
    found = counterfactual(model, [np.nan, 0], features=["a"])
    assert found.changes[0].description.startswith("a: missing → ")
    assert (found.after, found.distance) == ("x", 1.0)
    with pytest.raises(InputError, match="this is proven"):  # nothing becomes missing
        counterfactual(model, [1.0, 0])


def test_unknown_and_missing_levels():
    X = frame()
    model = sw.DecisionTreeClassifier().fit(X[["colour"]], np.where(X["colour"] == "red", "red", "other"))
    for value in ("purple", None):
        found = counterfactual(model, {"colour": value}, features=["colour"])
        assert (found.row, found.distance) == ({"colour": "red"}, 1.0)
    stop = sw.DecisionTreeClassifier(unseen="node").fit(X[["colour"]], np.where(X["colour"] == "red", "red", "other"))
    found = counterfactual(stop, {"colour": "purple"})
    assert not found.is_proven
    assert found.row == {"colour": "red"}


def test_dates_truth_and_small_steps():
    X = frame(200)
    late = np.where(X["since"] > pd.Timestamp("2021-01-01"), "late", "early")
    model = sw.DecisionTreeClassifier(max_depth=1).fit(X[["since"]], late)
    found = counterfactual(model, {"since": pd.Timestamp("2020-03-01")})
    assert pd.Timestamp(found.row["since"]) == pd.Timestamp(model.tree_.threshold[0], unit="s").ceil("D")
    assert re.search(r"since: 2020-03-01 → 2021-01-\d\d", str(found))
    model = sw.DecisionTreeClassifier().fit(X[["member"]], X["member"])
    assert counterfactual(model, {"member": False}).row == {"member": True}
    single = np.float32(np.random.default_rng(0).normal(size=(50, 1)))
    model = sw.DecisionTreeClassifier(max_depth=1).fit(single, single[:, 0] > 0)
    found = counterfactual(model, np.float32([-1.0]), X=single)
    assert np.float32(found.row["x0"]) == found.row["x0"]
    assert found.row["x0"] > model.tree_.threshold[0] >= np.nextafter(np.float32(found.row["x0"]), np.float32(-9))


def test_whole_numbers_are_known_from_rows():
    X = pd.DataFrame({"k": [1, 2, 5, 9] * 5})
    model = sw.ExtraTreesClassifier(n_estimators=5, random_state=0).fit(X, X["k"] > 4)
    assert not float(counterfactual(model, [2]).row["k"]).is_integer()
    found = counterfactual(model, [2], X=X)
    assert isinstance(found.row["k"], int)
    assert found.after


def test_fewer_changes_of_equal_cost():
    X = pd.DataFrame(list(itertools.product([0, 1], repeat=3)), columns=list("abc"))
    model = sw.DecisionTreeClassifier().fit(X, (X["a"] == 1) | ((X["b"] == 1) & (X["c"] == 1)))
    assert [change.feature for change in counterfactual(model, [0, 0, 0]).changes] == ["a"]
    found = counterfactual(model, [0, 0, 0], n=5)
    assert [[change.feature for change in one.changes] for one in (found, *found.others)] == [["a"], ["b", "c"]]
    assert "no smaller change of other columns does it" in str(found)
    assert str(found).endswith(str(found.others[0]))
    assert "no smaller change of other columns does it" in str(found.others[0])


def test_models_without_proof():
    model, X, _ = foreign("gradient")
    at = int(np.argmin(model.predict(X)))
    found = counterfactual(model, X[at], target=(model.predict(X)[at] + 0.1, None), X=X)
    assert not found.is_proven
    assert "a smaller change may also work" in str(found)
    assert model.predict([list(found.row.values())])[0] == pytest.approx(found.after)


def test_a_search_that_is_cut_short(monkeypatch):
    module = sys.modules["sapwood.explain.counterfactual.counterfactual"]  # the function of the same name hides it
    model, row = fitted("newton two"), frame().iloc[[3]]
    whole = counterfactual(model, row)
    monkeypatch.setattr(module, "MOST_BOXES", 1)
    short = counterfactual(model, row)
    assert whole.is_proven
    assert not short.is_proven
    assert short.distance >= whole.distance
    monkeypatch.setattr(module, "LARGEST", 1)
    assert not counterfactual(model, row).is_proven
    with pytest.raises(InputError, match="but the search was not complete"):
        counterfactual(fitted("tree numbers"), row, target=(1e9, None))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            {"target": "yess"},
            InputError,
            "target='yess' is not one of the model's classes, which are ['no', 'yes']",
        ),
        ({"target": "no"}, InputError, "target='no' is what the model predicts already"),
        (
            {"features": ["agee"]},
            InputError,
            "features names 'agee', which is not a column of the model. Did you mean 'age'?",
        ),
        ({"features": []}, InputError, "features is empty"),
        ({"fixed": ["height"]}, InputError, "fixed names 'height'"),
        (
            {"fixed": ["age", "income", "colour", "member", "since"]},
            InputError,
            "No column that the model uses may",
        ),
        ({"most_changes": 0}, ParameterError, "most_changes=0"),
        ({"n": 0}, ParameterError, "n=0"),
        ({"row": [1]}, InputError, "The row has 1 values"),
        ({"X": pd.DataFrame({"age": [1]})}, InputError, "lacks 4 of the 5 columns"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, words):
    with pytest.raises(error, match=re.escape(words)):
        counterfactual(fitted("newton two"), **{"row": frame().iloc[[3]], **arguments})


@pytest.mark.parametrize("target", [None, 3, (2, 1), (1,), ("a", "b"), "ab"])
def test_bad_bounds_are_refused(target):
    with pytest.raises(InputError, match="target"):
        counterfactual(fitted("tree numbers"), frame().iloc[[3]], target=target)


def test_other_bad_input():
    row = frame().iloc[[3]]
    with pytest.raises(InputError, match="holds what the model predicts already"):
        counterfactual(fitted("tree numbers"), row, target=(None, 1e9))
    with pytest.raises(InputError, match="this is proven"):
        counterfactual(fitted("tree numbers"), row, target=(1e9, None))
    with pytest.raises(InputError, match="one class for each of 2 outputs"):
        counterfactual(fitted("two outputs"), row, target="yes")
    with pytest.raises(InputError, match="only one class"):
        counterfactual(sw.DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "a"]), [1.0])
    with pytest.raises(NotFittedError):
        counterfactual(sw.DecisionTreeClassifier(), [1.0])
    with pytest.raises(InputTypeError, match="there are no trees"):
        counterfactual(foreign("bagging")[0], [1.0, 2.0, 3.0])
    X = frame()
    model = sw.DecisionTreeClassifier().fit(X, two_classes(X))
    before = row.copy(deep=True)
    counterfactual(model, row, X=X)
    pd.testing.assert_frame_equal(row, before)
