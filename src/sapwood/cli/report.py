"""Results as tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sapwood.cli.console import say, show_table
from sapwood.cli.metrics import Scores
from sapwood.cli.sample import Sample
from sapwood.counted import counted

_MOST_CLASSES = 12
_MOST_COLUMNS = 10
_MOST_LEAVES = 16


def number(value: float) -> str:
    """Four significant digits, all digits of the whole part, or a dash for what is not defined."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else str(value)
    return f"{value:.4f}" if abs(value) < 10 and round(value, 4) else f"{value:.{max(4, _whole_digits(value))}g}"


def _whole_digits(value: float) -> int:
    return len(str(int(abs(value)))) if abs(value) < 1e15 else 4


def show_scores(title: str, columns: Mapping[str, Scores]) -> None:
    """Measures as rows, sets of rows as columns."""
    names = list(next(iter(columns.values())))
    rows = [[name, *(number(scores[name]) for scores in columns.values())] for name in names]
    show_table(title, ["", *columns], rows)


def show_folds(title: str, folds: Sequence[Scores]) -> None:
    """Mean and standard error of every measure, over the folds in which it is defined."""
    rows = []
    for name in dict.fromkeys(name for scores in folds for name in scores):
        values = np.array([scores[name] for scores in folds if not math.isnan(scores.get(name, math.nan))])
        mean = values.mean() if len(values) else math.nan
        error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
        rows.append([name, f"{number(mean)} ± {number(error)}"])
    show_table(title, ["", "mean ± standard error"], rows)


def show_fold_rounds(result: Any) -> None:
    """The metric of every fold of a cross-validation at the best round, and its mean."""
    at = result.best_round
    parts = (result.train_curve, result.test_curve)
    rows = [
        [f"fold {k + 1}", str(len(train)), str(len(test)), *(number(curve.values[k, at]) for curve in parts)]
        for k, (train, test) in enumerate(result.splits)
    ]
    rows.append(["mean", "", "", *(number(curve.mean[at]) for curve in parts)])
    rows.append(["standard error", "", "", *(number(curve.standard_error[at]) for curve in parts)])
    header = ["", "training rows", "held-out rows", "train", "held out"]
    show_table(f"{result.metric} after {counted(result.best_n_rounds, 'round')}", header, rows)


def show_confusion(estimator: Any, sample: Sample) -> None:
    """Rows by class and prediction, unless there are too many classes to read."""
    from sklearn.metrics import confusion_matrix

    classes = sample.classes
    if len(classes) > _MOST_CLASSES:
        say(f"The confusion matrix of {len(classes)} classes is too large to show.")
        return
    truth, predicted = (np.searchsorted(classes, labels) for labels in (sample.y, estimator.predict(sample.X)))
    counts = confusion_matrix(truth, predicted, labels=np.arange(len(classes)))
    names = [str(label) for label in classes]
    rows = [[name, *map(str, row)] for name, row in zip(names, counts, strict=True)]
    show_table("Confusion matrix of the test rows", ["is ↓   predicted →", *names], rows)


def model_facts(estimator: Any, seconds: float | None = None) -> str:
    """Size of the model and time to make it, if it was made now, in one line."""
    facts = [type(estimator).__name__]
    if hasattr(estimator, "get_n_leaves"):
        facts.append(f"depth {estimator.get_depth()}")
        facts.append(counted(estimator.get_n_leaves(), "leaf"))
    if hasattr(estimator, "ensemble_"):
        facts += _boosting_facts(estimator)
    if hasattr(estimator, "forest_"):
        facts += _forest_facts(estimator)
    if hasattr(estimator, "estimator_errors_"):
        facts.append(f"{counted(len(estimator.estimators_), 'learner')} ({estimator.stopped_reason_})")
    return ", ".join(facts if seconds is None else [*facts, f"trained in {seconds:.2f} s"])


def _boosting_facts(estimator: Any) -> list[str]:
    rounds = estimator.ensemble_.rounds
    n_leaves = sum(tree.n_leaves for trees in rounds for tree in trees)
    facts = [
        counted(len(rounds), "round"),
        counted(len(rounds) * estimator.ensemble_.n_scores, "tree"),
        counted(n_leaves, "leaf"),
    ]
    if estimator.best_n_rounds_ < len(rounds):
        used = estimator.best_n_rounds_
        facts.append(f"the first {counted(used, 'round')} {'is' if used == 1 else 'are'} used")
    return facts


def _forest_facts(estimator: Any) -> list[str]:
    forest = estimator.forest_
    facts = [
        counted(len(forest), "tree"),
        counted(sum(tree.n_leaves for tree in forest.unpacked()), "leaf"),
    ]
    if hasattr(estimator, "oob_curve_"):
        facts.append(f"out-of-bag error {number(float(estimator.oob_curve_[-1]))}")
    return facts


def show_importances(estimator: Any, names: Sequence[str]) -> None:
    """The columns that matter most; in a lone leaf none does."""
    shares = np.asarray(estimator.feature_importances_)
    order = [j for j in np.argsort(-shares, kind="stable")[:_MOST_COLUMNS] if shares[j] > 0]
    if order:
        show_table("Importance of columns", ["column", "share"], [[names[j], f"{shares[j]:.4f}"] for j in order])


def show_tree(estimator: Any, wanted: bool | None) -> None:
    """The tree as text: if it is wanted, or if nothing was said and it is small."""
    from sapwood.show import export_text

    if wanted is False or not hasattr(estimator, "tree_"):
        return
    if wanted is None and estimator.get_n_leaves() > _MOST_LEAVES:
        say(f"The tree has {estimator.get_n_leaves()} leaves; --show-tree prints it.")
        return
    say(export_text(estimator, max_depth=max(1, estimator.get_depth())))
