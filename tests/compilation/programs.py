"""Typical programs: every estimator on every form of rows, with two and five classes, with and without weights.

    python programs.py [--estimators DecisionTreeClassifier …] [--rows float64 …] [--only NAME …] [--compile-nothing]

Each is fitted, predicts, is saved and loaded. The fingerprints of the models are printed as JSON, and the kernels that
had to be compiled.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import event
from numpy.typing import NDArray
from scipy import sparse

import sapwood

N_ROWS = 900
QUERY = 30  # rows of a query to rank
FEW: dict[str, Any] = {"n_estimators": 3, "random_state": 0}

ESTIMATORS: dict[str, dict[str, dict[str, Any]]] = {
    "DecisionTreeClassifier": {"": {"random_state": 0}, "deep 3": {"max_depth": 3}},
    "DecisionTreeRegressor": {"": {"random_state": 0}, "deep 3": {"max_depth": 3}},
    "RandomForestClassifier": {"": FEW, "out of bag": {**FEW, "n_estimators": 20, "oob_score": True}},
    "RandomForestRegressor": {"": FEW, "out of bag": {**FEW, "n_estimators": 20, "oob_score": True}},
    "ExtraTreesClassifier": {"": FEW},
    "ExtraTreesRegressor": {"": FEW},
    "BaggingClassifier": {"": FEW},
    "BaggingRegressor": {"": FEW},
    "AdaBoostClassifier": {"": FEW},
    "AdaBoostRegressor": {"": FEW},
    "GradientBoostingClassifier": {"": FEW, "subsample": {**FEW, "subsample": 0.5}},
    "GradientBoostingRegressor": {"": FEW, "subsample": {**FEW, "subsample": 0.5}},
    "NewtonBoostingClassifier": {
        "": {"random_state": 0},
        "rounds": FEW,
        "xgboost": {**FEW, "recipe": "xgboost"},
        "stopped": {"early_stopping_rounds": 3, "validation_fraction": 0.2, **FEW},
    },
    "NewtonBoostingRegressor": {
        "": {"random_state": 0},
        "rounds": FEW,
        "xgboost": {**FEW, "recipe": "xgboost"},
        "stopped": {"early_stopping_rounds": 3, "validation_fraction": 0.2, **FEW},
        "linear": {"random_state": 0, "linear_tree": True},
    },
    "NewtonBoostingRanker": {"rounds": FEW},
}


def _numbers() -> NDArray[np.float64]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N_ROWS, 6))
    X[:, 4] = rng.integers(0, 40, N_ROWS)
    X[::9, 5] = np.nan
    return X


def _frame() -> Any:
    """Numbers of several kinds, categories, missing values and truths, as pandas has them."""
    import pandas as pd

    rng = np.random.default_rng(6)
    X = pd.DataFrame(_numbers()[:, :4], columns=list("abcd"))
    X["whole"] = rng.integers(0, 1000, N_ROWS)
    X["small"] = X["a"].astype(np.float32)
    X["level"] = rng.choice(["x", "y", "z", None], size=N_ROWS)
    X["town"] = pd.Categorical(rng.integers(0, 30, N_ROWS).astype(str))
    X["true"] = rng.random(N_ROWS) > 0.5
    return X


def _polars() -> Any:
    import polars as pl

    return pl.from_pandas(_frame())


ROWS: dict[str, Callable[[], Any]] = {
    "float64": _numbers,
    "float64 by column": lambda: np.asfortranarray(_numbers()),
    "float32": lambda: _numbers().astype(np.float32),
    "float32, nothing missing": lambda: np.nan_to_num(_numbers()).astype(np.float32),
    "float64, nothing missing": lambda: np.nan_to_num(_numbers()),
    "whole numbers": lambda: np.nan_to_num(100 * _numbers()).astype(np.int64),
    "sparse": lambda: sparse.csr_matrix(np.nan_to_num(_numbers()) * (_numbers() > 0.8)),
    "frame": _frame,
    "polars": _polars,
}


def _targets(name: str) -> dict[str, NDArray[Any]]:
    signal = np.nan_to_num(_numbers()) @ np.array([1.0, 0.5, -0.7, 0.2, 0.03, 0.1])
    if name.endswith("Regressor"):
        return {"numbers": signal}
    if name.endswith("Ranker"):
        return {"ranking": np.digitize(signal, [-1.0, 1.0])}
    return {"2 classes": (signal > 0).astype(int), "5 classes": np.digitize(signal, [-2.0, -0.7, 0.7, 2.0])}


def programs(estimators: list[str], rows: list[str]) -> Iterator[tuple[str, Callable[[], str]]]:
    """Name and program, which returns the fingerprint of its model."""
    for form in rows:
        if form in ("frame", "polars") and find_spec({"frame": "pandas"}.get(form, form)) is None:
            continue
        X = ROWS[form]()
        for name in estimators:
            for (option, parameters), (target, y) in _pairs(ESTIMATORS[name], _targets(name)):
                for weights in (False, True):
                    model = getattr(sapwood, name)(**parameters)
                    label = ", ".join(filter(None, (name, option, form, target, "weights" * weights)))
                    yield label, lambda model=model, X=X, y=y, weights=weights: _run(model, X, y, weights)


def _pairs(left: dict[str, Any], right: dict[str, Any]) -> Iterator[tuple[tuple[str, Any], tuple[str, Any]]]:
    for one in left.items():
        for other in right.items():
            yield one, other


def _run(model: Any, X: Any, y: NDArray[Any], weights: bool) -> str:
    """Fit, predict, save, load and predict again."""
    options: dict[str, Any] = {}
    is_ranker = type(model).__name__.endswith("Ranker")
    if is_ranker:
        options["group"] = [QUERY] * (N_ROWS // QUERY)
    if weights:
        drawn = np.random.default_rng(7).random(N_ROWS) + 0.5
        options |= {"query_weight": drawn[::QUERY]} if is_ranker else {"sample_weight": drawn}
    model.fit(X, y, **options)
    model.predict(X)
    if hasattr(model, "predict_proba"):
        model.predict_proba(X)
    if not sparse.issparse(X):
        model.predict(X[:1])
    with tempfile.TemporaryDirectory() as folder:
        sapwood.save(model, Path(folder) / "model.sapwood")
        sapwood.load(Path(folder) / "model.sapwood").predict(X)
    return sapwood.fingerprint(model)


class Compiled(event.Listener):
    """The kernels of the library that are compiled, not those that only they call."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._depth = 0

    def on_start(self, begun: event.Event) -> None:
        function = begun.data["dispatcher"].py_func
        if self._depth == 0:
            self.names.append(f"{function.__module__}.{function.__qualname__}{begun.data['args']}")
        self._depth += 1

    def on_end(self, ended: event.Event) -> None:
        self._depth -= 1


def main() -> None:
    """Run programs and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--only", nargs="+", metavar="NAME", help="the programs of these names")
    parser.add_argument("--compile-nothing", action="store_true", help="fail if a kernel had to be compiled")
    options = parser.parse_args()
    compiled = Compiled()
    event.register("numba:compile", compiled)
    fingerprints, by_program = {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, program in programs(options.estimators, options.rows):
            if options.only and name not in options.only:
                continue
            compiled.names.clear()
            fingerprints[name] = program()
            if compiled.names:
                by_program[name] = list(compiled.names)
    json.dump({"fingerprints": fingerprints, "compiled": by_program}, sys.stdout, indent=1)
    if unknown := set(options.only or ()) - fingerprints.keys():
        sys.exit(f"There are no such programs: {unknown}")
    if options.compile_nothing and by_program:
        sys.exit(f"Kernels were compiled: {by_program}")


if __name__ == "__main__":
    main()
