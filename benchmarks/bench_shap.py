"""Shapley values next to those of other libraries, on models of equal size.

    python benchmarks/bench_shap.py [--rows 10000] [--pair-rows 500] [--repeats 5] [--libraries sapwood xgboost …]

Two classes, 28 columns, 100 trees of depth 6, trained on 100 000 rows by each library itself; two threads each; rivals
take turns and the median counts. Making a library's own kind of data set is not timed. CatBoost's trees are symmetric,
which is less work. shap.TreeExplainer explains XGBoost's model. "error" is the largest distance between the sum of a
row's values and its score. "others" are cores that other processes kept busy meanwhile: threads that wait for each
other suffer from them more than their share.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "2")

import platform
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from boosters import BOOSTERS, Settings
from data import make_split
from measure import Seconds, take_turns
from neighbours import Neighbours
from numpy.typing import NDArray
from text import Table

THREADS, TREES = 2, 100
TRAINING_ROWS = 100_000
BAR = 0.5  # of XGBoost's time
LIBRARIES = ("sapwood", "xgboost", "lightgbm", "catboost", "shap")
TITLES = {
    "sapwood": "Sapwood",
    "xgboost": "XGBoost",
    "lightgbm": "LightGBM",
    "catboost": "CatBoost",
    "shap": "shap.TreeExplainer",
}

Explain = Callable[[], NDArray]
"""Values (rows, features + 1), the last of which is the base value; or those of pairs likewise."""


def sapwood_values(model: Any, X: NDArray) -> Explain:
    from sapwood.explain import shap_values

    def run() -> NDArray:
        found = shap_values(model, X, n_jobs=THREADS)
        return np.column_stack([found.values, found.base_values])

    return run


def sapwood_pairs(model: Any, X: NDArray) -> Explain:
    from sapwood.explain import shap_interaction_values

    return lambda: shap_interaction_values(model, X, n_jobs=THREADS).values


def xgboost_values(model: Any, X: NDArray) -> Explain:
    import xgboost

    data = xgboost.DMatrix(X, nthread=THREADS)
    return lambda: model.predict(data, pred_contribs=True)


def xgboost_pairs(model: Any, X: NDArray) -> Explain:
    import xgboost

    data = xgboost.DMatrix(X, nthread=THREADS)
    return lambda: model.predict(data, pred_interactions=True)


def lightgbm_values(model: Any, X: NDArray) -> Explain:
    return lambda: model.predict(X, pred_contrib=True, num_threads=THREADS)


def catboost_values(model: Any, X: NDArray) -> Explain:
    import catboost

    pool = catboost.Pool(X)
    return lambda: model.get_feature_importance(pool, type="ShapValues", thread_count=THREADS)


def shap_values_of_xgboost(model: Any, X: NDArray) -> Explain:
    import shap

    def run() -> NDArray:
        explainer = shap.TreeExplainer(model)
        values = explainer.shap_values(X)
        return np.column_stack([values, np.full(len(X), explainer.expected_value)])

    return run


VALUES = {
    "sapwood": sapwood_values,
    "xgboost": xgboost_values,
    "lightgbm": lightgbm_values,
    "catboost": catboost_values,
    "shap": shap_values_of_xgboost,
}
PAIRS = {"sapwood": sapwood_pairs, "xgboost": xgboost_pairs}
MARGINS: dict[str, Callable[[Any, NDArray], NDArray]] = {
    "sapwood": lambda model, X: model.decision_function(X),
    "xgboost": lambda model, X: model.predict(import_module("xgboost").DMatrix(X), output_margin=True),
    "lightgbm": lambda model, X: model.predict(X, raw_score=True),
    "catboost": lambda model, X: model.predict(X, prediction_type="RawFormulaVal"),
}


def fit(libraries: list[str], X: NDArray, y: NDArray) -> dict[str, Any]:
    """A model of each library that is installed; shap takes XGBoost's."""
    settings, models = Settings(TREES, 2, threads=THREADS), {}
    for library in libraries:
        maker = "xgboost" if library == "shap" else library
        try:
            import_module(library)
            models[library] = models.get(maker) or BOOSTERS[maker]().fit(X, y, settings)
        except Exception as error:
            print(f"{TITLES[library]}: left out, {error!r}", flush=True)
    return models


def race(
    title: str, rivals: dict[str, Explain], errors: dict[str, float], leaves: dict[str, float], repeats: int
) -> None:
    for run in rivals.values():
        run()  # loads and compiles what is loaded and compiled once
    others = Neighbours()
    seconds = take_turns(rivals, repeats)
    table = Table("library s cpu_s of_XGBoost cpu_of_XGBoost leaves_of_a_tree error")
    for name, time in seconds.items():
        shares = _shares(seconds, name)
        table.add(
            TITLES[name].replace(" ", "_"),
            f"{time.wall:.3f}",
            f"{time.cpu:.3f}",
            *shares,
            f"{leaves[name]:.1f}",
            f"{errors[name]:.1e}" if name in errors else "",
        )
    table.print(title)
    if {"sapwood", "xgboost"} <= seconds.keys():
        share = seconds["sapwood"].wall / seconds["xgboost"].wall
        print(f"  bar: at most {BAR} of XGBoost's time: {share:.3f}: {'met' if share <= BAR else 'MISSED'}")
    print(f"  others kept {others.cores():.2f} cores busy meanwhile", flush=True)


def _shares(seconds: dict[str, Seconds], name: str) -> list[str]:
    if "xgboost" not in seconds:
        return ["", ""]
    return [f"{own / theirs:.3f}" for own, theirs in zip(seconds[name], seconds["xgboost"], strict=True)]


def distance(values: NDArray, margin: NDArray) -> float:
    return float(np.abs(values.sum(axis=1) - margin).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--pair-rows", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    arguments = parser.parse_args()
    print(
        f"Python {platform.python_version()}; {os.cpu_count()} cores; {THREADS} threads each, median of "
        f"{arguments.repeats} repeats in turns; compiling and loading not counted (a call before)"
    )
    split = make_split(TRAINING_ROWS, 28, "classes")
    models = fit(arguments.libraries, split.X, split.y)
    print("  ".join(f"{library} {import_module(library).__version__}" for library in models), flush=True)
    X, few = split.X_test[: arguments.rows], split.X_test[: arguments.pair_rows]
    makers = {library: "xgboost" if library == "shap" else library for library in models}
    leaves = {library: BOOSTERS[makers[library]]().count_leaves(model) for library, model in models.items()}
    rivals = {library: VALUES[library](model, X) for library, model in models.items()}
    errors = {name: distance(rivals[name](), MARGINS[makers[name]](models[name], X)) for name in models}
    race(f"Values, {len(X)} rows × 28, {TREES} trees of depth 6", rivals, errors, leaves, arguments.repeats)
    pairs = {library: PAIRS[library](models[library], few) for library in PAIRS if library in models}
    race(f"Values of pairs, {len(few)} rows", pairs, {}, leaves, arguments.repeats)


if __name__ == "__main__":
    main()
