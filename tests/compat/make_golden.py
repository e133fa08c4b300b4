"""Makes the golden files of the format's first version and what they must say.

    python tests/compat/make_golden.py

They are made once for each version of the format and then never again: every later library must read them and say the
same. Only a change of the format before its first release is a reason to make them anew.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from golden import FOLDER, answers, rows_from

import sapwood as sw

N_TRAINED, N_ASKED = 60, 8


def columns(n: int, seed: int) -> dict[str, list[Any]]:
    """A column of every kind that JSON can hold, with missing values."""
    random = np.random.default_rng(seed)
    sizes = [None if random.random() < 0.15 else round(float(random.normal()), 3) for _ in range(n)]
    return {
        "size": sizes,
        "count": [float(random.integers(0, 20)) for _ in range(n)],
        "colour": [(None, "red", "green", "blue")[random.integers(4)] for _ in range(n)],
        "member": [bool(random.integers(2)) for _ in range(n)],
    }


def signal(given: dict[str, list[Any]]) -> np.ndarray:
    sizes = np.array([0.7 if size is None else size for size in given["size"]])
    red = np.array([colour == "red" for colour in given["colour"]])
    return (sizes + np.array(given["count"]) / 10 + 2.0 * red + 0.5 * np.array(given["member"])).round(3)


def models() -> dict[str, Any]:
    """Small models of every kind."""
    given = columns(N_TRAINED, 0)
    X, y = rows_from(given), signal(given)
    two = np.where(y > np.median(y), "yes", "no")
    three = np.array(["low", "mid", "top"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    small: dict[str, Any] = {"n_estimators": 3, "max_depth": 3, "random_state": 0}
    bag: dict[str, Any] = {"n_estimators": 3, "random_state": 0}
    return {
        "tree_of_numbers": sw.DecisionTreeRegressor(max_depth=4).fit(X, y),
        "tree_of_classes": sw.DecisionTreeClassifier(max_depth=4, class_weight={"low": 2, "mid": 1, "top": 0.5}).fit(
            X, three
        ),
        "tree_of_two_outputs": sw.DecisionTreeClassifier(max_depth=3).fit(X, np.column_stack([two, three])),
        "forest_of_numbers": sw.RandomForestRegressor(
            oob_score=True, keep_targets=True, **{**small, "n_estimators": 12}
        ).fit(X, y),
        "forest_of_votes": sw.RandomForestClassifier(voting="hard", **small).fit(X, three),
        "extra_trees": sw.ExtraTreesClassifier(**small).fit(X, two),
        "extra_trees_of_numbers": sw.ExtraTreesRegressor(**small).fit(X, np.column_stack([y, -y])),
        "bagging": sw.BaggingClassifier(max_features=0.5, **bag).fit(X, two),
        "bagging_of_numbers": sw.BaggingRegressor(sw.DecisionTreeRegressor(max_depth=2), **bag).fit(X, y),
        "adaboost": sw.AdaBoostClassifier(sw.DecisionTreeClassifier(max_depth=2), **bag).fit(X, three),
        "adaboost_of_numbers": sw.AdaBoostRegressor(loss="square", **bag).fit(X, y),
        "newton_of_numbers": sw.NewtonBoostingRegressor(
            n_estimators=6, max_depth=3, random_state=0, early_stopping_rounds=2, monotone_constraints={"count": 1}
        ).fit(X, y, eval_set=[(X[:20], y[:20])]),
        "newton_of_quantiles": sw.NewtonBoostingRegressor(
            n_estimators=3, max_depth=2, random_state=0, objective="quantile", quantile_alpha=[0.1, 0.9]
        ).fit(X, y),
        "newton_of_classes": sw.NewtonBoostingClassifier(class_weight="balanced", **small).fit(X, three),
        "newton_of_ranks": sw.NewtonBoostingRanker(**small).fit(X, np.digitize(y, [1.0, 2.0]), group=[20, 40]),
        "gradient_of_numbers": sw.GradientBoostingRegressor(loss="huber", subsample=0.8, **small).fit(X, y),
        "gradient_of_classes": sw.GradientBoostingClassifier(**small).fit(X, two),
    }


def main() -> None:
    """Write the files, one of them in the readable form, too."""
    FOLDER.mkdir(exist_ok=True)
    asked = columns(N_ASKED, 1)
    expected: dict[str, Any] = {"rows": asked, "models": {}}
    for name, model in models().items():
        files = [f"{name}.sapwood", *([f"{name}.json"] if name == "newton_of_classes" else [])]
        for file in files:
            sw.save(model, FOLDER / file)
            told = {"estimator": type(model).__name__, "fingerprint": sw.fingerprint(model)}
            expected["models"][file] = told | {"answers": answers(model, rows_from(asked))}
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
