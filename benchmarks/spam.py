"""The spam data of *The Elements of Statistical Learning*: test errors of tree, bagging, forest, AdaBoost and boosting.

    SAPWOOD_DATA=… python benchmarks/spam.py

The book's split: 3 065 rows to train on, 1 536 to test on. What it reports (second edition): a pruned tree 8.7 to 9.3 %
(§9.2.5), bagging 5.4 %, random forest 4.88 %, boosting 4.5 % (§15.2, figure 15.1, standard error 0.6 %). AdaBoost of
larger trees is not in the book; it should stand next to boosting.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

from sapwood import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    NewtonBoostingClassifier,
    RandomForestClassifier,
    prune_by_cv,
)

SEEDS = range(3)


def spam() -> tuple[pd.DataFrame, pd.Series, pd.DataFrame, pd.Series]:
    frame = pd.read_parquet(Path(os.environ["SAPWOOD_DATA"]) / "spam_esl.parquet")
    test = frame.pop("test").astype(bool)
    y = frame.pop("spam")
    return frame[~test], y[~test], frame[test], y[test]


def main() -> None:
    X, y, X_test, y_test = spam()
    stump_depth = 5
    models = {
        "tree, pruned by CV": (
            lambda _: prune_by_cv(DecisionTreeClassifier(), X, y, cv=10, rule="min").estimator,
            "8.7-9.3",
        ),
        "bagging, 200 trees": (lambda s: BaggingClassifier(None, 200, n_jobs=2, random_state=s).fit(X, y), "5.4"),
        "random forest, 500 trees": (
            lambda s: RandomForestClassifier(500, n_jobs=2, random_state=s, oob_score=True).fit(X, y),
            "4.9",
        ),
        "AdaBoost, trees of depth 5": (
            lambda s: AdaBoostClassifier(
                DecisionTreeClassifier(max_depth=stump_depth), n_estimators=300, learning_rate=0.5, random_state=s
            ).fit(X, y),
            "–",
        ),
        "gradient boosting, 5 leaves": (
            lambda s: GradientBoostingClassifier(
                n_estimators=500, max_leaf_nodes=6, max_depth=None, learning_rate=0.1, random_state=s
            ).fit(X, y),
            "4.5",
        ),
        "Newton boosting": (
            lambda s: NewtonBoostingClassifier(
                recipe="xgboost",
                n_estimators=500,
                max_depth=4,
                learning_rate=0.05,
                subsample=0.7,
                colsample_bynode=0.3,
                random_state=s,
            ).fit(X, y),
            "4.5",
        ),
    }
    print(f"{len(X)} rows to train on, {len(X_test)} to test on; errors in %, mean over {len(SEEDS)} seeds")
    for name, (fit, book) in models.items():
        seeds = SEEDS if "tree, pruned" not in name else range(1)
        fitted = [fit(seed) for seed in seeds]
        errors = [100 * np.mean(model.predict(X_test) != y_test.to_numpy()) for model in fitted]
        note = f"  (OOB {100 * fitted[0].oob_curve_[-1]:.2f})" if hasattr(fitted[0], "oob_curve_") else ""
        print(f"{name:28} {np.mean(errors):5.2f}   book {book}{note}", flush=True)


if __name__ == "__main__":
    main()
