"""400 generated mistakes: none ends in a crash or a bare exception, changes the caller's data or breaks a model."""

from __future__ import annotations

import copy
import hashlib
import inspect
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge

import sapwood
from bad_values import CLASSES, FRAME, NUMBERS, OPTIONS, PARAMETERS, ROUNDS, TABLES, TARGETS, WEIGHTS, X
from sapwood import SapwoodError

N_CASES = 400
NAMES = (
    *("DecisionTreeClassifier", "DecisionTreeRegressor", "RandomForestClassifier", "RandomForestRegressor"),
    *("ExtraTreesClassifier", "ExtraTreesRegressor", "BaggingClassifier", "BaggingRegressor"),
    *("AdaBoostClassifier", "AdaBoostRegressor", "GradientBoostingClassifier", "GradientBoostingRegressor"),
    *("NewtonBoostingClassifier", "NewtonBoostingRegressor", "NewtonBoostingRanker"),
)
CELLS_OR_FRAME = (X, FRAME)
METHODS = (
    *("predict", "predict_proba", "apply", "decision_path", "predict_one", "predict_proba_one", "staged_predict"),
    *("decision_function", "predict_log_proba", "explain_row", "proximity", "predict_interval", "predict_quantiles"),
)
FOR_ONE_ROW = ("predict_one", "predict_proba_one", "explain_row")


def target_of(name: str) -> np.ndarray:
    return CLASSES if "Classifier" in name or "Ranker" in name else NUMBERS


def new(name: str, **parameters: Any) -> Any:
    small = {} if name.startswith("DecisionTree") else {"n_estimators": 3}
    if "estimator" in getattr(sapwood, name)._get_param_names() and parameters.pop("foreign", False):
        small["estimator"] = LogisticRegression() if "Classifier" in name else Ridge()
    parameters.pop("foreign", None)
    return getattr(sapwood, name)(**{"random_state": 0, **small, **parameters})


@cache
def fitted(name: str, of_frame: bool, foreign: bool) -> Any:
    extra: dict[str, Any] = {"oob_score": True, "n_estimators": 20} if "Forest" in name else {}
    if "ForestRegressor" in name:
        extra["keep_targets"] = True
    table = np.nan_to_num(X) if foreign else CELLS_OR_FRAME[of_frame]
    return new(name, foreign=foreign, **extra).fit(table, target_of(name))


def digest(value: Any) -> str:
    """Of data that the caller owns; things that cannot be pickled are told by their identity."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return hashlib.sha256(value.tobytes()).hexdigest() + str((value.shape, value.dtype, value.flags.writeable))
    if isinstance(value, pd.DataFrame):
        return digest(value.to_numpy()) + str((list(value.columns), list(value.dtypes), list(value.index)))
    if sparse.issparse(value):
        return digest(value.toarray())
    if isinstance(value, (list, tuple, np.ndarray)):
        return str([digest(own) for own in value])
    try:
        return hashlib.sha256(pickle.dumps(value)).hexdigest()
    except Exception:
        return str(id(value))


class Case:
    """One mistake: what is done with which model, and with what."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.name = NAMES[seed % len(NAMES)]
        self.refits = bool(self.rng.integers(2))
        self.foreign = self.name[:3] in ("Bag", "Ada") and self.rng.random() < 0.3
        self.of_frame = not self.foreign and bool(self.rng.integers(2))
        self.model = copy.copy(fitted(self.name, self.of_frame, self.foreign)) if self.refits else new(self.name)
        kinds = ("table", "target", "weight", "parameter", "option", "predict")
        self.kind = kinds[(seed // len(NAMES)) % len(kinds)]
        self.label, self.given, self.call = getattr(self, f"_{self.kind}")()

    def _pick(self, values: Any) -> Any:
        return list(values)[self.rng.integers(len(values))]

    def _made(self, makers: dict[str, Any]) -> tuple[str, Any]:
        label = self._pick(makers)
        return label, makers[label](self.rng)

    def _fit(self, X: Any, y: Any, **options: Any) -> Callable[[], Any]:
        return lambda: self.model.fit(X, y, **options)

    def _table(self) -> tuple[str, Any, Callable[[], Any]]:
        label, given = self._made(TABLES)
        return label, given, self._fit(given, target_of(self.name))

    def _target(self) -> tuple[str, Any, Callable[[], Any]]:
        label, given = self._made(TARGETS)
        return label, given, self._fit(X, given)

    def _weight(self) -> tuple[str, Any, Callable[[], Any]]:
        label, given = self._made(WEIGHTS)
        name = "query_weight" if "Ranker" in self.name else "sample_weight"
        return label, given, self._fit(X, target_of(self.name), **{name: given})

    def _parameter(self) -> tuple[str, Any, Callable[[], Any]]:
        """Some values are fine for some parameters; any others are refused."""
        name, given = self._pick(self.model._get_param_names()), self._pick(PARAMETERS)

        def call() -> Any:
            model, table = copy.copy(self.model).set_params(**{name: given}), np.nan_to_num(X) if self.foreign else X
            before = dict(vars(model))
            try:
                return model.fit(table, target_of(self.name))
            except BaseException:
                assert vars(model) == before or all(vars(model)[key] is before[key] for key in before)
                raise

        return f"{name} {type(given).__name__}", given, call

    def _option(self) -> tuple[str, Any, Callable[[], Any]]:
        known = [name for name in OPTIONS if name in _options_of(type(self.model), self.foreign)]
        if not known:
            return self._target()
        name = self._pick(known)
        given = self._pick(OPTIONS[name])
        options = {name: given, **({"rows": [[0, 1], [2, 3]]} if name == "features" else {})}
        if name == "sample_weight_eval_set":
            options["eval_set"] = [(X, target_of(self.name))]
        return f"{name} {given!r}"[:40], given, self._fit(X, target_of(self.name), **options)

    def _predict(self) -> tuple[str, Any, Callable[[], Any]]:
        self.model = copy.copy(fitted(self.name, self.of_frame, self.foreign))
        self.refits = True
        method = self._pick([name for name in METHODS if hasattr(self.model, name)])
        label, given = self._made({**TABLES, **OF_OTHER_COLUMNS})
        ask = getattr(self.model, method)
        if method not in FOR_ONE_ROW and "n_rounds" in inspect.signature(ask).parameters and self.rng.integers(2):
            rounds = self._pick(ROUNDS)
            return f"{method} n_rounds={rounds!r}", rounds, lambda: _exhausted(ask(self._own(), n_rounds=rounds))
        return f"{method} {label}", given, lambda: _exhausted(ask(given))

    def _own(self) -> Any:
        return np.nan_to_num(X) if self.foreign else CELLS_OR_FRAME[self.of_frame]


OF_OTHER_COLUMNS: dict[str, Any] = {
    "fewer columns": lambda _: X[:, :2],
    "more columns": lambda _: np.c_[X, X],
    "words": lambda _: np.full((3, 4), "x", dtype=object),
    "dates": lambda _: np.full((3, 4), np.datetime64("2020-01-01")),
    "other names": lambda _: FRAME.rename(columns={"a": "e"}),
    "words for numbers": lambda _: FRAME.assign(a="high"),
}


@cache
def _options_of(kind: type, foreign: bool) -> frozenset[str]:
    names = set(inspect.signature(kind.fit).parameters)
    if "given" in names:  # bagging hands them on
        names |= {"rows", "features"} if foreign else {"rows", "features", "checkpoint"}
    return frozenset(names)


def _exhausted(answer: Any) -> Any:
    return list(answer) if isinstance(answer, Iterator) else answer


MAY_SUCCEED = {"parameter"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(N_CASES))
def test_a_mistake(seed: int) -> None:
    case = Case(seed)
    owned = (X, NUMBERS, CLASSES, FRAME, case.given)
    model, before = case.model, digest(owned)
    said = model.predict(case._own()) if case.refits else None
    state = dict(vars(model))
    failed = False
    try:
        case.call()
    except SapwoodError:
        failed = True
    assert failed or case.kind in MAY_SUCCEED, f"{case.name} takes {case.kind} {case.label}"
    assert digest(owned) == before
    assert set(vars(model)) == set(state)
    assert all(vars(model)[name] is value for name, value in state.items())
    if said is not None:
        np.testing.assert_array_equal(model.predict(case._own()), said)
    assert case.refits == hasattr(model, "schema_")


def test_the_cases_reach_every_estimator_and_mistake() -> None:
    cases = [Case(seed) for seed in range(N_CASES)]
    assert len({(case.name, case.kind) for case in cases}) == 6 * len(NAMES)
    assert len({(case.kind, case.label) for case in cases}) > 200
