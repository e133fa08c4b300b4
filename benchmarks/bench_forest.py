"""Forests, extra trees and AdaBoost next to those of other libraries: speed, quality, size.

    python benchmarks/bench_forest.py [--cases rf rf-exact regression extra covertype adaboost] [--repeats 3]
                                      [--libraries sklearn intelex ydf lightgbm sapwood]

Two threads each; rivals take turns and the median counts. A library that is not installed is left out. "memory" is what
the fitted model takes, measured as the growth of the process when a pickle of it is loaded; "disk" is its pickle.
Covertype needs SAPWOOD_DATA.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "2")

import importlib
import pickle
import platform
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from data import Split, covertype_split, make_split
from measure import HERE, _run, take_turns
from neighbours import Neighbours
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from text import Table

THREADS = 2
WARM_UP_ROWS = 2000
MEGA = 2.0**20
HEADINGS = "library s of_sklearn of_intelex test_score predict_s nodes_of_a_tree memory_MB disk_MB bars"


@dataclass(frozen=True)
class Case:
    """Data, how many trees, and what Sapwood should reach: shares of the time of rivals, a loss of quality at most."""

    title: str
    kind: str  # forest, extra or adaboost
    task: str  # classes or numbers
    data: Callable[[], Split | None]
    n_trees: int
    parameters: dict[str, Any]
    bars: dict[str, float]  # library -> share of its time
    slack: float | None = None  # of scikit-learn's score
    memory_bar: float | None = None  # share of scikit-learn's memory


def regression_split() -> Split:
    """The twelve measured columns, without those derived from them."""
    split = make_split(24_000, 19, "numbers")
    return replace(split, X=split.X[:, :12].copy(), X_test=split.X_test[:, :12].copy())


CASES = {
    "rf": Case(
        "random forest, classes, 100 000 × 28, fully grown",
        "forest",
        "classes",
        partial(make_split, 100_000, 28, "classes"),
        50,
        {"max_features": "sqrt"},
        {"sklearn": 0.15, "intelex": 0.6},
        0.002,
        0.5,
    ),
    "rf-exact": Case(
        "the same, exact splits",
        "forest",
        "classes",
        partial(make_split, 100_000, 28, "classes"),
        50,
        {"max_features": "sqrt", "max_bins": None},
        {"sklearn": 0.25},
        0.002,
        0.5,
    ),
    "regression": Case(
        "random forest, numbers, 24 000 × 12, all columns at each split",
        "forest",
        "numbers",
        regression_split,
        50,
        {"max_features": 1.0},
        {"sklearn": 0.25},
        None,
        0.5,
    ),
    "extra": Case(
        "extra trees, classes, 100 000 × 28",
        "extra",
        "classes",
        partial(make_split, 100_000, 28, "classes"),
        50,
        {"max_features": "sqrt"},
        {"sklearn": 0.35},
        None,
        0.5,
    ),
    "covertype": Case(
        "random forest, covertype, 7 classes",
        "forest",
        "classes",
        partial(covertype_split, "classes"),
        20,
        {"max_features": "sqrt"},
        {"sklearn": 0.3},
        None,
        0.5,
    ),
    "adaboost": Case(
        "AdaBoost, 300 stumps, 20 000 × 20",
        "adaboost",
        "classes",
        partial(make_split, 20_000, 20, "classes"),
        300,
        {},
        {"sklearn": 0.1},
    ),
}

NAMES = {
    "sklearn": "scikit-learn",
    "intelex": "scikit-learn-intelex",
    "ydf": "YDF",
    "lightgbm": "LightGBM rf",
    "sapwood": "Sapwood",
}


class Rival:
    """Fits one library's model to a case."""

    def __init__(self, library: str, case: Case, split: Split) -> None:
        self.library, self.case, self.split = library, case, split
        self.model: Any = None
        self._make = MAKERS[library](case)

    def fit(self) -> None:
        self.model = self._fit(self.split.X, self.split.y)

    def warm_up(self) -> None:
        self._fit(self.split.X[:WARM_UP_ROWS], self.split.y[:WARM_UP_ROWS])

    def _fit(self, X: Any, y: Any) -> Any:
        if self.library == "ydf":
            return self._make.train({"x": X, "y": y})
        return self._make().fit(X, y)

    def score(self) -> tuple[str, float]:
        """AUC for two classes, accuracy for more, R² for numbers."""
        X, y = self.split.X_test, self.split.y_test
        if self.library == "ydf":
            said = self.model.predict({"x": X})
        elif self.case.task == "numbers":
            said = self.model.predict(X)
        else:
            said = self.model.predict_proba(X)
            said = said[:, 1] if said.shape[1] == 2 else said
        if self.case.task == "numbers":
            return "R²", float(r2_score(y, said))
        if np.ndim(said) == 1:
            return "AUC", float(roc_auc_score(y, said))
        return "accuracy", float(accuracy_score(y, np.unique(self.split.y)[np.argmax(said, axis=1)]))

    def predict(self) -> None:
        if self.library == "ydf":
            self.model.predict({"x": self.split.X_test})
        else:
            self.model.predict(self.split.X_test)

    def nodes(self) -> float | None:
        """Nodes of a tree, on average over the first."""
        if self.library not in {"sklearn", "sapwood"}:
            return None
        return float(np.mean([tree.tree_.node_count for tree in list(self.model.estimators_[:3])]))

    def sizes(self) -> tuple[float, float] | None:
        """Memory of the fitted model, and its pickle, in MB."""
        if self.library not in {"sklearn", "sapwood"}:
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.pickle"
            path.write_bytes(pickle.dumps(self.model, protocol=5))
            return float(_run(str(HERE / "model_memory.py"), str(path))), path.stat().st_size / MEGA


def sklearn_maker(case: Case) -> Any:
    ensemble = importlib.import_module("sklearn.ensemble")
    return _sklearn_like(ensemble, case, {k: v for k, v in case.parameters.items() if k != "max_bins"})


def intelex_maker(case: Case) -> Any:
    if case.kind == "adaboost":
        raise ImportError("no such model")
    ensemble = importlib.import_module("sklearnex.ensemble")
    exact = case.parameters.get("max_bins", 255) is None
    given = {k: v for k, v in case.parameters.items() if k != "max_bins"}
    return _sklearn_like(ensemble, case, {**given, "max_bins": 10**6} if exact else given)


def sapwood_maker(case: Case) -> Any:
    return _sklearn_like(importlib.import_module("sapwood"), case, case.parameters)


def _sklearn_like(module: Any, case: Case, parameters: dict[str, Any]) -> Any:
    ending = "Classifier" if case.task == "classes" else "Regressor"
    if case.kind == "adaboost":
        return partial(getattr(module, f"AdaBoost{ending}"), n_estimators=case.n_trees, random_state=0, **parameters)
    kind = getattr(module, f"{'RandomForest' if case.kind == 'forest' else 'ExtraTrees'}{ending}")
    return partial(kind, n_estimators=case.n_trees, n_jobs=THREADS, random_state=0, **parameters)


def lightgbm_maker(case: Case) -> Any:
    """Bags without replacement, 63 % of the rows each; leaves without limit are not to be had, so 4 096 a tree."""
    if case.kind != "forest":
        raise ImportError("no such model")
    lightgbm = importlib.import_module("lightgbm")
    kind = lightgbm.LGBMClassifier if case.task == "classes" else lightgbm.LGBMRegressor
    share = 1.0 if case.parameters.get("max_features") == 1.0 else 0.19
    return partial(
        kind,
        n_estimators=case.n_trees,
        boosting_type="rf",
        bagging_freq=1,
        bagging_fraction=0.632,
        feature_fraction_bynode=share,
        num_leaves=4096,
        min_child_samples=1,
        n_jobs=THREADS,
        random_state=0,
        verbose=-1,
    )


def ydf_maker(case: Case) -> Any:
    if case.kind != "forest":
        raise ImportError("no such model")
    ydf = importlib.import_module("ydf")
    ydf.verbose(0)
    task = ydf.Task.CLASSIFICATION if case.task == "classes" else ydf.Task.REGRESSION
    share = 1.0 if case.parameters.get("max_features") == 1.0 else -1.0
    return ydf.RandomForestLearner(
        label="y",
        task=task,
        num_trees=case.n_trees,
        max_depth=-1,
        min_examples=1,
        num_threads=THREADS,
        num_candidate_attributes_ratio=share,
        winner_take_all=False,
        compute_oob_performances=False,
        random_seed=0,
    )


MAKERS: dict[str, Callable[[Case], Any]] = {
    "sklearn": sklearn_maker,
    "intelex": intelex_maker,
    "ydf": ydf_maker,
    "lightgbm": lightgbm_maker,
    "sapwood": sapwood_maker,
}


def enter(case: Case, split: Split, libraries: list[str]) -> dict[str, Rival]:
    """Rivals that are installed, know the model, and have fitted a little."""
    rivals = {}
    for library in libraries:
        try:
            rival = Rival(library, case, split)
            rival.warm_up()
        except Exception as error:
            print(f"{NAMES[library]}: left out, {error!r}", flush=True)
        else:
            rivals[library] = rival
    return rivals


def run(case: Case, libraries: list[str], repeats: int) -> None:
    split = case.data()
    if split is None:
        print(f"\n{case.title}: left out, SAPWOOD_DATA is not set")
        return
    print(f"\n{case.title}, {case.n_trees} trees", flush=True)
    others = Neighbours()
    rivals = enter(case, split, libraries)
    seconds = {name: time.wall for name, time in take_turns({n: r.fit for n, r in rivals.items()}, repeats).items()}
    busy = others.cores()
    predict = {name: time.wall for name, time in take_turns({n: r.predict for n, r in rivals.items()}, 3).items()}
    scores = {name: rival.score() for name, rival in rivals.items()}
    sizes = {name: rival.sizes() for name, rival in rivals.items()}
    table = Table(HEADINGS)
    for name, rival in rivals.items():
        shares = [f"{seconds[name] / seconds[to]:.2f}" if to in seconds else "" for to in ("sklearn", "intelex")]
        size = ("", "") if sizes[name] is None else tuple(f"{each:.1f}" for each in sizes[name])
        nodes = rival.nodes()
        met = verdict(case, seconds, scores, sizes) if name == "sapwood" else ""
        table.add(
            NAMES[name].replace(" ", "_"),
            f"{seconds[name]:.2f}",
            *shares,
            f"{scores[name][0]} {scores[name][1]:.4f}",
            f"{predict[name]:.2f}",
            "" if nodes is None else f"{nodes:.0f}",
            *size,
            met,
        )
    table.print("")
    for line in lines(case, seconds, scores, sizes):
        print("  " + line)
    print(f"  others kept {busy:.2f} cores busy meanwhile", flush=True)


def lines(case: Case, seconds: dict[str, float], scores: Any, sizes: Any) -> list[str]:
    """Every bar in words."""
    found = []
    for rival, bar in case.bars.items():
        if {rival, "sapwood"} <= seconds.keys():
            share = seconds["sapwood"] / seconds[rival]
            found.append(f"bar: at most {bar:g} of the time of {NAMES[rival]}: {share:.3f}: {_word(share <= bar)}")
    if case.slack is not None and {"sklearn", "sapwood"} <= scores.keys():
        loss = scores["sklearn"][1] - scores["sapwood"][1]
        found.append(
            f"bar: at most {case.slack} below scikit-learn's {scores['sklearn'][0]}: {loss:.4f}: "
            f"{_word(loss <= case.slack)}"
        )
    if case.memory_bar is not None and sizes.get("sklearn") and sizes.get("sapwood"):
        share = sizes["sapwood"][0] / sizes["sklearn"][0]
        found.append(
            f"bar: at most {case.memory_bar:g} of scikit-learn's memory: {share:.3f}: {_word(share <= case.memory_bar)}"
        )
    return found


def verdict(case: Case, seconds: dict[str, float], scores: Any, sizes: Any) -> str:
    return "MISSED" if any("MISSED" in line for line in lines(case, seconds, scores, sizes)) else "met"


def _word(is_met: bool) -> str:
    return "met" if is_met else "MISSED"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--libraries", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    print(
        f"Python {platform.python_version()}; {os.cpu_count()} cores; {THREADS} threads each, median of "
        f"{arguments.repeats} repeats in turns; compiling and loading not counted (a small fit before)"
    )
    for library in ("sklearn", "sklearnex", "ydf", "lightgbm", "sapwood"):
        try:
            print(f"{library} {importlib.import_module(library).__version__}", end="  ")
        except (ImportError, AttributeError):
            print(f"{library} –", end="  ")
    print()
    for name in arguments.cases:
        run(CASES[name], arguments.libraries, arguments.repeats)


if __name__ == "__main__":
    main()
