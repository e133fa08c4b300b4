"""Every mistake ends in a Sapwood error of the expected builtin kind, which names the culprit and offers a remedy."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sapwood import DecisionTreeClassifier, DecisionTreeRegressor, SapwoodError, prune_by_cv

X = np.array([[0.0, 1], [1, 0], [2, 2], [3, 1], [4, np.nan], [5, 0]])
Y = np.array([0, 0, 1, 1, 0, 1])
FRAME = pd.DataFrame({"age": X[:, 0], "colour": ["red", "blue", "red", None, "blue", "green"]})
NUMBERS = Y + 0.5
Classifier, Regressor = DecisionTreeClassifier, DecisionTreeRegressor

# A remedy is a sentence that tells what to do.
REMEDY = re.compile(
    r"\b(Use|Pass|Give|Add|Remove|Rename|Reshape|Rescale|Convert|Leave|Make|Map|Did you mean|Turn|Call|Divide|Set|Fit"
    r"|Unnest|Its parameters are|must be|must have|The classes are|Columns are|The columns are|Take|Drop)\b"
)


def fit(X: Any = X, y: Any = Y, weight: Any = None, kind: Any = Classifier, **parameters: Any) -> Any:
    return kind(**parameters).fit(X, y, sample_weight=weight)


def regress(y: Any = NUMBERS, **parameters: Any) -> Any:
    return fit(X, y, kind=Regressor, **parameters)


def on_frame(**parameters: Any) -> Any:
    return fit(FRAME, **parameters)


def with_cell(value: Any) -> np.ndarray:
    cells = X.astype(object)
    cells[2, 1] = value
    return cells


Case = tuple[Callable[[], Any], type[Exception], str]

PARAMETERS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "criterion of the other kind": (Classifier, {"criterion": "squared_error"}, "criterion"),
    "misspelt criterion": (Regressor, {"criterion": "sqared_error"}, "criterion.*squared_error"),
    "criterion is a number": (Classifier, {"criterion": 3}, "criterion=3"),
    "splitter": (Classifier, {"splitter": "worst"}, "splitter"),
    "max_depth 0": (Classifier, {"max_depth": 0}, "max_depth=0.*at least 1"),
    "max_depth float": (Classifier, {"max_depth": 2.5}, "max_depth=2.5"),
    "max_depth bool": (Classifier, {"max_depth": True}, "max_depth=True"),
    "max_depth str": (Regressor, {"max_depth": "3"}, "max_depth='3'.*max_depth=3"),
    "min_samples_split 1": (Classifier, {"min_samples_split": 1}, "min_samples_split=1"),
    "min_samples_split 1.5": (Classifier, {"min_samples_split": 1.5}, "min_samples_split=1.5"),
    "min_samples_leaf 0": (Classifier, {"min_samples_leaf": 0}, "min_samples_leaf=0"),
    "min_samples_leaf 1.0": (Classifier, {"min_samples_leaf": 1.0}, "min_samples_leaf=1.0"),
    "min_samples_leaf nan": (Classifier, {"min_samples_leaf": np.nan}, "min_samples_leaf=nan"),
    "min_weight_fraction_leaf": (Classifier, {"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf=0.6"),
    "max_features 0": (Classifier, {"max_features": 0}, "max_features=0"),
    "max_features auto": (Classifier, {"max_features": "auto"}, "max_features='auto'"),
    "max_features 1.1": (Regressor, {"max_features": 1.1}, "max_features=1.1"),
    "random_state negative": (Classifier, {"random_state": -1}, "random_state=-1"),
    "random_state str": (Classifier, {"random_state": "seed"}, "random_state='seed'"),
    "max_leaf_nodes 1": (Classifier, {"max_leaf_nodes": 1}, "max_leaf_nodes=1"),
    "min_impurity_decrease": (Classifier, {"min_impurity_decrease": -0.1}, "min_impurity_decrease=-0.1"),
    "ccp_alpha negative": (Classifier, {"ccp_alpha": -1}, "ccp_alpha=-1"),
    "ccp_alpha infinite": (Classifier, {"ccp_alpha": np.inf}, "ccp_alpha=inf"),
    "impurity_threshold": (Classifier, {"impurity_threshold": -1.0}, "impurity_threshold"),
    "significance 0": (Classifier, {"significance": 0.0}, "significance=0.0"),
    "significance 1": (Regressor, {"significance": 1.0}, "significance=1.0"),
    "leaf of the other kind": (Classifier, {"leaf": "median"}, "leaf='median'"),
    "leaf": (Regressor, {"leaf": "mode"}, "leaf='mode'"),
    "max_bins 1": (Classifier, {"max_bins": 1}, "max_bins=1"),
    "unseen": (Classifier, {"unseen": "ignore"}, "unseen='ignore'"),
    "n_jobs 0": (Classifier, {"n_jobs": 0}, "n_jobs=0.*n_jobs=1"),
    "n_jobs float": (Classifier, {"n_jobs": 1.5}, "n_jobs=1.5"),
    "class_weight": (Classifier, {"class_weight": "balance"}, "class_weight='balance'.*balanced"),
    "class_weight of no class": (Classifier, {"class_weight": {7: 1.0}}, "class_weight.*7"),
    "class_weight negative": (Classifier, {"class_weight": {0: -1.0}}, "class_weight.*-1"),
    "class_weight text": (Classifier, {"class_weight": {0: "much"}}, "class_weight.*'much'"),
    "class_weight nan": (Classifier, {"class_weight": {0: np.nan}}, "class_weight.*nan"),
    "class_weight all zero": (Classifier, {"class_weight": {0: 0.0, 1: 0.0}}, "class_weight.*zero"),
    "class_weight list too long": (Classifier, {"class_weight": [{0: 1}, {0: 1}]}, "class_weight has 2"),
    "class_weight list of words": (Classifier, {"class_weight": ["even"]}, "class_weight"),
    "monotonic_cst too short": (Classifier, {"monotonic_cst": [1]}, "monotonic_cst has 1 elements"),
    "monotonic_cst 2": (Classifier, {"monotonic_cst": [0, 2]}, "monotonic_cst is 2"),
    "monotonic_cst text": (Classifier, {"monotonic_cst": ["up", 0]}, "monotonic_cst is .up."),
    "monotonic_cst array cell": (Classifier, {"monotonic_cst": [[1, 0]]}, "monotonic_cst has 1 elements"),
    "monotonic_cst name": (Classifier, {"monotonic_cst": {"speed": 1}}, "monotonic_cst.*'speed'"),
    "monotonic_cst number": (Classifier, {"monotonic_cst": 1}, "monotonic_cst=1"),
    "categorical_features text": (Classifier, {"categorical_features": "x1"}, "categorical_features='x1'"),
    "categorical_features number": (Classifier, {"categorical_features": 1}, "categorical_features=1"),
    "categorical_features index": (Classifier, {"categorical_features": [5]}, "categorical_features.*5"),
    "categorical_features name": (Classifier, {"categorical_features": ["size"]}, "categorical_features.*'size'"),
    "categorical_features mask": (Classifier, {"categorical_features": [True]}, "categorical_features has 1 boolean"),
    "categorical_features mixed": (Classifier, {"categorical_features": [0, "x1"]}, "categorical_features"),
}

FITTING: dict[str, Case] = {
    "unknown parameter": (lambda: Classifier(max_dept=3), TypeError, "'max_dept'.*max_depth"),
    "unknown parameter of the other kind": (lambda: Regressor(class_weight="balanced"), TypeError, "'class_weight'"),
    "unknown parameter in set_params": (lambda: Classifier().set_params(depth=3), TypeError, "'depth'"),
    "nested parameter in set_params": (lambda: Classifier().set_params(max_depth__x=3), TypeError, "max_depth__x"),
    "parameter by position": (lambda: Classifier("gini"), TypeError, "position"),
    "X is None": (lambda: fit(None), TypeError, "X is None"),
    "X is text": (lambda: fit("table.csv"), TypeError, "X is 'table.csv'"),
    "X is a vector": (lambda: fit(X[:, 0]), ValueError, "X must have rows and columns"),
    "X is a cube": (lambda: fit(X.reshape(6, 2, 1)), ValueError, "X must have rows and columns"),
    "X is a dict": (lambda: fit({"a": [1, 2]}, [0, 1]), TypeError, "X is {'a'"),
    "X without rows": (lambda: fit(X[:0], []), ValueError, "at least one row in X"),
    "X without columns": (lambda: fit(X[:, :0]), ValueError, "at least one column in X"),
    "X is complex": (lambda: fit(X.astype(complex)), ValueError, "X has dtype complex128"),
    "X is ragged": (lambda: fit([[1, 2], [3]], [0, 1]), ValueError, "X, a list"),
    "X holds lists": (lambda: fit(with_cell([1])), TypeError, "'x1' of X, row 2"),
    "X holds a dict": (lambda: fit(with_cell({})), TypeError, "'x1' of X, row 2"),
    "X holds a huge integer": (lambda: fit(with_cell(10**400)), ValueError, "'x1' of X, row 2"),
    "X with repeated names": (lambda: fit(FRAME.set_axis(["a", "a"], axis=1)), ValueError, "X has columns.*'a'"),
    "X with mixed names": (lambda: fit(FRAME.set_axis(["a", 1], axis=1)), TypeError, "X has column names"),
    "X is lazy": (lambda: fit(pl.LazyFrame({"a": [1, 2]}), [0, 1]), TypeError, "X is a lazy frame"),
    "X is sparse objects": (lambda: fit(sparse.csr_array(X == 1).astype("c16")), ValueError, "X has dtype complex"),
    "y is missing": (lambda: Classifier().fit(X, None), ValueError, "target y is None"),
    "y is too short": (lambda: fit(y=Y[:4]), ValueError, r"\[6, 4\].*y must have"),
    "y is too long": (lambda: regress(np.arange(9.0)), ValueError, r"\[6, 9\].*y must have"),
    "y is text": (lambda: fit(y="abcdef"), TypeError, "y is a str"),
    "y is sparse": (lambda: fit(y=sparse.csr_array(np.eye(6))), TypeError, "y is a sparse matrix"),
    "y has three dimensions": (lambda: fit(y=np.zeros((6, 1, 1))), ValueError, "y should be a 1d array"),
    "y holds None": (lambda: fit(y=["a", None, "a", "b", "b", "a"]), ValueError, "y contains NaN.*row 1"),
    "y holds NaN": (lambda: regress([0, 1, np.nan, 2, 3, 4]), ValueError, "y contains NaN.*row 2"),
    "y holds infinity": (lambda: regress([0, 1, np.inf, 2, 3, 4]), ValueError, "y contains infinity.*row 2"),
    "y holds words": (lambda: regress(list("abcdef")), ValueError, "y holds 'a' in row 0"),
    "y is continuous": (lambda: fit(y=NUMBERS), ValueError, "y holds 0.5 in row 0"),
    "y is mixed": (lambda: fit(y=["a", 1, "a", 1, "a", 1]), ValueError, "y mixes"),
    "y is complex": (lambda: fit(y=Y.astype(complex)), ValueError, "y has dtype complex"),
    "y is negative for Poisson": (lambda: regress(Y - 1, criterion="poisson"), ValueError, "y has the negative value"),
    "y is zero for Poisson": (lambda: regress(0 * Y, criterion="poisson"), ValueError, "Sum of y"),
    "weight too short": (lambda: fit(weight=np.ones(3)), ValueError, "sample_weight.shape"),
    "weight negative": (lambda: fit(weight=-np.ones(6)), ValueError, "sample_weight.*negative.*row 0"),
    "weight NaN": (lambda: fit(weight=[1, 1, np.nan, 1, 1, 1]), ValueError, "sample_weight.*NaN.*row 2"),
    "weight infinite": (lambda: fit(weight=[1, 1, np.inf, 1, 1, 1]), ValueError, "sample_weight.*row 2"),
    "weight zero": (lambda: fit(weight=np.zeros(6)), ValueError, "sample_weight is zero"),
    "weight matrix": (lambda: fit(weight=np.ones((6, 2))), ValueError, "sample_weight has shape"),
    "weight text": (lambda: fit(weight=list("abcdef")), TypeError, "sample_weight cannot"),
    "weight too large": (lambda: fit(weight=np.full(6, 1e308)), ValueError, "sum of sample_weight"),
    "weights leave no event": (
        lambda: fit(X, Y, [1, 1, 0, 0, 1, 0], kind=Regressor, criterion="poisson"),
        ValueError,
        "Sum of y",
    ),
    "monotonic with three classes": (
        lambda: fit(y=[0, 1, 2, 0, 1, 2], monotonic_cst=[1, 0]),
        ValueError,
        "monotonic_cst.*multiclass",
    ),
    "monotonic with two outputs": (
        lambda: regress(np.c_[Y, Y], monotonic_cst=[1, 0]),
        ValueError,
        "monotonic_cst.*multiple outputs",
    ),
    "monotonic category": (lambda: on_frame(monotonic_cst={"colour": 1}), ValueError, "monotonic_cst.*'colour'"),
    "path with bad y": (
        lambda: Classifier().cost_complexity_pruning_path(X, Y[:2]),
        ValueError,
        "y must have",
    ),
    "path with bad parameter": (
        lambda: Classifier(max_depth=0).cost_complexity_pruning_path(X, Y),
        ValueError,
        "max_depth=0",
    ),
}

PREDICTION: dict[str, Case] = {
    "too few columns": (lambda: fit().predict(X[:, :1]), ValueError, "X has 1 features.*expecting 2"),
    "too many columns": (lambda: fit().apply(np.c_[X, X]), ValueError, "X has 4 features.*expecting 2"),
    "no rows": (lambda: fit().predict(X[:0]), ValueError, "at least one row in X"),
    "a vector": (lambda: fit().predict_proba(X[0]), ValueError, "X must have rows and columns"),
    "None": (lambda: regress().predict(None), TypeError, "X is None"),
    "text": (lambda: fit().decision_path("X"), TypeError, "X is 'X'"),
    "strings for numbers": (lambda: fit().predict([["a", "b"]]), ValueError, "'x0' of X: expected numbers"),
    "complex": (lambda: fit().predict(X.astype(complex)), ValueError, "X has dtype complex"),
    "a column is absent": (lambda: on_frame().predict(FRAME[["age"]]), ValueError, "X lacks.*'colour'"),
    "a column is renamed": (
        lambda: on_frame().predict(FRAME.rename(columns={"colour": "color"})),
        ValueError,
        "X lacks.*'colour'.*Did you mean 'color'",
    ),
    "a column is repeated": (
        lambda: on_frame().predict(FRAME[["age", "age", "colour"]]),
        ValueError,
        "X has more than one.*'age'",
    ),
    "numbers for categories": (lambda: on_frame().predict(FRAME.assign(colour=1.0)), ValueError, "'colour' of X"),
    "categories for numbers": (lambda: on_frame().predict(FRAME.assign(age="old")), ValueError, "'age' of X"),
    "dates for numbers": (
        lambda: on_frame().apply(FRAME.assign(age=pd.Timestamp("2020-01-01"))),
        ValueError,
        "'age' of X",
    ),
    "unseen level": (
        lambda: on_frame(unseen="error").predict(FRAME.assign(colour="pink")),
        ValueError,
        "'colour' of X.*'pink'.*row 0",
    ),
    "bad unseen after fit": (lambda: fit().set_params(unseen="x").predict(X), ValueError, "unseen='x'"),
    "bad n_jobs after fit": (lambda: fit().set_params(n_jobs=0).predict(X), ValueError, "n_jobs=0"),
    "explain many rows": (lambda: fit().explain_row(X), ValueError, "row has 6 rows"),
    "explain a short row": (lambda: fit().explain_row([1.0]), ValueError, "row has 1 values"),
    "explain a number": (lambda: fit().explain_row(3), TypeError, "3 is not a row"),
    "explain text": (lambda: fit().explain_row("row"), TypeError, "'row' is not a row"),
    "explain None": (lambda: fit().explain_row(None), TypeError, "None is not a row"),
    "explain an incomplete mapping": (lambda: on_frame().explain_row({"age": 3}), ValueError, "no value.*colour"),
    "explain a misspelt name": (
        lambda: on_frame().explain_row({"age": 3, "color": "red"}),
        ValueError,
        "row has no value.*colour.*color",
    ),
    "explain words for numbers": (lambda: fit().explain_row(["a", "b"]), ValueError, "'x0' of X"),
    "explain an unseen level": (
        lambda: on_frame(unseen="error").explain_row({"age": 0.0, "colour": "pink"}),
        ValueError,
        "'pink'",
    ),
}

PRUNING: dict[str, Case] = {
    "not an estimator": (lambda: prune_by_cv("tree", X, Y), TypeError, "estimator='tree'"),
    "a class": (lambda: prune_by_cv(Classifier, X, Y), TypeError, "estimator=<class"),
    "one fold": (lambda: prune_by_cv(Classifier(), X, Y, cv=1), ValueError, "cv=1"),
    "too many folds": (lambda: prune_by_cv(Classifier(), X, Y, cv=9), ValueError, "cv=9 cannot divide"),
    "folds in words": (lambda: prune_by_cv(Classifier(), X, Y, cv="five"), ValueError, "cv='five'"),
    "no folds": (lambda: prune_by_cv(Classifier(), X, Y, cv=[]), ValueError, r"cv=\[\]"),
    "rule": (lambda: prune_by_cv(Classifier(), X, Y, cv=2, rule="2se"), ValueError, "rule='2se'"),
    "scoring": (lambda: prune_by_cv(Classifier(), X, Y, cv=2, scoring="good"), ValueError, "scoring='good'"),
    "n_jobs": (lambda: prune_by_cv(Classifier(), X, Y, cv=2, n_jobs=0), ValueError, "n_jobs=0"),
    "weight": (lambda: prune_by_cv(Classifier(), X, Y, sample_weight=[1]), ValueError, "sample_weight"),
    "X": (lambda: prune_by_cv(Classifier(), X[0], Y), ValueError, "X must have rows and columns"),
    "y": (lambda: prune_by_cv(Classifier(), X, Y[:2]), ValueError, "y must have"),
    "parameter": (lambda: prune_by_cv(Classifier(max_depth=0), X, Y, cv=2), ValueError, "max_depth=0"),
}

UNFITTED: dict[str, Callable[[Any], Any]] = {
    "predict": lambda model: model.predict(X),
    "apply": lambda model: model.apply(X),
    "decision_path": lambda model: model.decision_path(X),
    "explain_row": lambda model: model.explain_row(X[0]),
    "get_depth": lambda model: model.get_depth(),
    "get_n_leaves": lambda model: model.get_n_leaves(),
    "feature_importances_": lambda model: model.feature_importances_,
    "score": lambda model: model.score(X, Y),
}


def check(attempt: Callable[[], Any], kind: type[Exception], words: str) -> None:
    """The attempt fails as it should, and leaves the data as it was."""
    before = copy.deepcopy((X, Y, NUMBERS)), FRAME.copy(deep=True)
    with pytest.raises(kind, match="(?s)" + words) as caught:
        attempt()
    assert isinstance(caught.value, SapwoodError), f"{type(caught.value).__name__}: {caught.value}"
    message = " ".join(str(caught.value).split())
    assert REMEDY.search(message), message
    assert len(message) < 700, message
    for array, copied in zip((X, Y, NUMBERS), before[0], strict=True):
        assert array.tobytes() == copied.tobytes()
    pd.testing.assert_frame_equal(FRAME, before[1])


@pytest.mark.parametrize("case", PARAMETERS.values(), ids=PARAMETERS)
def test_parameters(case: tuple[Any, dict[str, Any], str]) -> None:
    kind, given, words = case
    check(lambda: fit(kind=kind, **given), (ValueError, TypeError), words)
    check(lambda: fit(kind=kind, **{}).set_params(**given).fit(X, Y), (ValueError, TypeError), words)


@pytest.mark.parametrize("case", FITTING.values(), ids=FITTING)
def test_fitting(case: Case) -> None:
    check(*case)


@pytest.mark.parametrize("case", PREDICTION.values(), ids=PREDICTION)
def test_prediction(case: Case) -> None:
    check(*case)


@pytest.mark.parametrize("case", PRUNING.values(), ids=PRUNING)
def test_pruning(case: Case) -> None:
    check(*case)


@pytest.mark.parametrize("use", UNFITTED.values(), ids=UNFITTED)
@pytest.mark.parametrize("kind", [Classifier, Regressor])
def test_use_before_fit(kind: Any, use: Callable[[Any], Any]) -> None:
    check(lambda: use(kind()), NotFittedError, "Call 'fit'")


@pytest.mark.parametrize("use", ["predict_proba", "predict_log_proba"])
def test_probabilities_before_fit(use: str) -> None:
    check(lambda: getattr(Classifier(), use)(X), NotFittedError, "Call 'fit'")


def test_a_failed_fit_leaves_the_model_as_it_was() -> None:
    model = fit(max_depth=2)
    before, predicted = model.tree_, model.predict(X)
    for attempt in (lambda: model.fit(FRAME, Y[:2]), lambda: model.fit(FRAME, Y, sample_weight=np.zeros(6))):
        with pytest.raises(SapwoodError):
            attempt()
        assert model.tree_ is before
        assert model.n_features_in_ == 2
        np.testing.assert_array_equal(model.predict(X), predicted)
    model.set_params(monotonic_cst=[1])
    with pytest.raises(SapwoodError):
        model.fit(FRAME, Y)
    assert model.tree_ is before
    np.testing.assert_array_equal(model.predict(X), predicted)
