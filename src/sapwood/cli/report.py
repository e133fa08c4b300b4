"""Metrics of a model, and results as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.boosting.recipe import is_auto
from sapwood.cli.console import print_line, print_table
from sapwood.cli.dataset import Dataset
from sapwood.cli.options import Task
from sapwood.counted import counted
from sapwood.errors import InputError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sapwood.estimators.boosting_cv import BoostingCV
    from sapwood.estimators.estimator import Estimator

_MOST_CLASSES = 12
_MOST_COLUMNS = 10
_MOST_LEAVES = 16


Scores = dict[str, float]


def scores(estimator: BaseEstimator, dataset: Dataset) -> Scores:
    """Metrics by name; NaN where one is not defined."""
    if dataset.weight is not None and not dataset.weight.any():
        raise InputError("All test rows have weight 0, so metrics are undefined. Choose another column with --weight.")
    if dataset.task is Task.REGRESSION:
        return number_scores(dataset.y, estimator.predict(dataset.X), dataset.weight)
    classes = dataset.classes
    predicted = np.searchsorted(classes, estimator.predict(dataset.X))
    probability = np.zeros((dataset.n_rows, len(classes)))
    probability[:, np.searchsorted(classes, estimator.classes_)] = estimator.predict_proba(dataset.X)
    return class_scores(np.searchsorted(classes, dataset.y), predicted, probability, dataset.weight)


def baseline(dataset: Dataset) -> BaseEstimator:
    """A model of the best constant prediction: shares of the classes, or the mean."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    constant = DummyClassifier(strategy="prior") if dataset.task is Task.CLASSIFICATION else DummyRegressor()
    return constant.fit(np.zeros((dataset.n_rows, 1)), dataset.y, dataset.weight)


def number_scores(y: Floats, predicted: Floats, weight: Floats | None) -> Scores:
    """Metrics of regression."""
    from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

    return {
        "RMSE": float(np.sqrt(mean_squared_error(y, predicted, sample_weight=weight))),
        "MAE": float(mean_absolute_error(y, predicted, sample_weight=weight)),
        "R²": float(r2_score(y, predicted, sample_weight=weight)) if len(y) > 1 else np.nan,
    }


def class_scores(y: Array, predicted: Array, probability: Floats, weight: Floats | None) -> Scores:
    """Metrics of classification, from codes of classes."""
    from sklearn.metrics import accuracy_score, log_loss, recall_score

    recall = recall_score(y, predicted, labels=np.unique(y), average="macro", sample_weight=weight, zero_division=0)
    codes = np.arange(probability.shape[1])
    return {
        "accuracy": float(accuracy_score(y, predicted, sample_weight=weight)),
        "balanced accuracy": float(recall),
        "log loss": float(log_loss(y, probability, labels=codes, sample_weight=weight)),
        "AUC" if len(codes) == 2 else "AUC (one against the rest)": _auc(y, probability, weight),
    }


def _auc(y: Array, probability: Floats, weight: Floats | None) -> float:
    """Mean over the classes that some rows have and others do not."""
    from sklearn.metrics import roc_auc_score

    present = np.unique(y)
    if len(present) < 2:
        return np.nan
    # Of two classes, either one gives the same area
    scored = present[-1:] if probability.shape[1] == 2 else present
    areas = [roc_auc_score(y == code, probability[:, code], sample_weight=weight) for code in scored]
    return float(np.mean(areas))


def number(value: float) -> str:
    """Four significant digits, all digits of the whole part, or a dash for what is not defined."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else str(value)
    return f"{value:.4f}" if abs(value) < 10 and round(value, 4) else f"{value:.{max(4, _whole_digits(value))}g}"


def _whole_digits(value: float) -> int:
    return len(str(int(abs(value)))) if abs(value) < 1e15 else 4


def show_task(dataset: Dataset) -> None:
    """Print notes about the columns, and the task."""
    for note in dataset.notes:
        print_line(note)
    print_line(f"Task: {dataset.task}, because {dataset.choice.why}.")


def show_scores(title: str, columns: Mapping[str, Scores]) -> None:
    """Print metrics as rows, and what they were computed for as columns."""
    names = list(next(iter(columns.values())))
    rows = [[name, *(number(scores[name]) for scores in columns.values())] for name in names]
    print_table(title, ["", *columns], rows)


def show_folds(title: str, folds: Sequence[Scores]) -> None:
    """Print mean and standard error of every metric, over the folds in which it is defined."""
    rows = []
    for name in dict.fromkeys(name for scores in folds for name in scores):
        values = np.array([scores[name] for scores in folds if not math.isnan(scores.get(name, math.nan))])
        mean = values.mean() if len(values) else math.nan
        error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
        rows.append([name, f"{number(mean)} ± {number(error)}"])
    print_table(title, ["", "mean ± standard error"], rows)


def show_fold_rounds(result: BoostingCV) -> None:
    """Print the metric of every fold at the best round, and its mean."""
    at = result.best_round
    parts = (result.train_curve, result.test_curve)
    rows = [
        [f"fold {k + 1}", str(len(train)), str(len(test)), *(number(curve.values[k, at]) for curve in parts)]
        for k, (train, test) in enumerate(result.splits)
    ]
    rows.append(["mean", "", "", *(number(curve.mean[at]) for curve in parts)])
    rows.append(["standard error", "", "", *(number(curve.standard_error[at]) for curve in parts)])
    header = ["", "training rows", "held-out rows", "train", "held out"]
    print_table(f"{result.metric} after {counted(result.best_n_rounds, 'round')}", header, rows)


def show_confusion(estimator: Estimator, dataset: Dataset) -> None:
    """Print counts by class and prediction, unless there are too many classes."""
    from sklearn.metrics import confusion_matrix

    classes = dataset.classes
    if len(classes) > _MOST_CLASSES:
        print_line(f"The confusion matrix of {len(classes)} classes is too large to show.")
        return
    truth, predicted = (np.searchsorted(classes, labels) for labels in (dataset.y, estimator.predict(dataset.X)))
    counts = confusion_matrix(truth, predicted, labels=np.arange(len(classes)))
    names = [str(label) for label in classes]
    rows = [[name, *map(str, row)] for name, row in zip(names, counts, strict=True)]
    print_table("Confusion matrix of the test rows", ["is ↓   predicted →", *names], rows)


def model_summary(estimator: Estimator, seconds: float | None = None) -> str:
    """Size of the model, and training time if it was trained now, in one line."""
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


def choices(estimator: Estimator) -> Iterator[str]:
    """What a recipe chose where parameters are "auto", and how many rounds were best in validation."""
    given = estimator.get_params(deep=False)
    chosen = {name: value for name, value in getattr(estimator, "params_", {}).items() if is_auto(given[name])}
    if chosen:
        yield "Chosen: " + ", ".join(f"{name}={value}" for name, value in chosen.items()) + "."
    if hasattr(estimator, "oof_prediction_"):
        yield estimator.recipe_[-1]


def _boosting_facts(estimator: Estimator) -> list[str]:
    rounds = estimator.ensemble_.rounds
    n_leaves = sum(tree.n_leaves for trees in rounds for tree in trees)
    facts = [
        counted(len(rounds), "round"),
        counted(len(rounds) * estimator.ensemble_.round_size, "tree"),
        counted(n_leaves, "leaf"),
    ]
    if estimator.best_n_rounds_ < len(rounds):
        used = estimator.best_n_rounds_
        facts.append(f"the first {counted(used, 'round')} {'is' if used == 1 else 'are'} used")
    return facts


def _forest_facts(estimator: Estimator) -> list[str]:
    forest = estimator.forest_
    facts = [
        counted(len(forest), "tree"),
        counted(sum(tree.n_leaves for tree in forest.unpacked()), "leaf"),
    ]
    if hasattr(estimator, "oob_curve_"):
        facts.append(f"out-of-bag error {number(float(estimator.oob_curve_[-1]))}")
    return facts


def show_importances(estimator: Estimator, names: Sequence[str]) -> None:
    """Print the most important columns; a tree without splits has none."""
    shares = np.asarray(estimator.feature_importances_)
    order = [j for j in np.argsort(-shares, kind="stable")[:_MOST_COLUMNS] if shares[j] > 0]
    if order:
        print_table("Importance of columns", ["column", "share"], [[names[j], f"{shares[j]:.4f}"] for j in order])


def show_tree(estimator: Estimator, wanted: bool | None) -> None:
    """Print the tree as text if it is wanted, or by default if it is small."""
    from sapwood.show import export_text

    if wanted is False or not hasattr(estimator, "tree_"):
        return
    if wanted is None and estimator.get_n_leaves() > _MOST_LEAVES:
        print_line(f"The tree has {estimator.get_n_leaves()} leaves; --show-tree prints it.")
        return
    print_line(export_text(estimator, max_depth=max(1, estimator.get_depth())))
