"""Calibration of predicted probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats, Mask
from sapwood.errors import InputError, ParameterError
from sapwood.keywords import answering
from sapwood.parameters import Interval, OneOf, check_parameters
from sapwood.plot.checks import as_labels, check_length, classes_of, require_known
from sapwood.plot.output_names import chosen_output
from sapwood.plot.short_text import distinct
from sapwood.plot.style import DASHES, FAINT, Axes, draw_grid, label_axes, legend_beside, new_axes, style
from sapwood.show.colour import class_colours

_RULES = {"n_bins": (Interval(int, low=1),), "strategy": (OneOf("quantile", "uniform"),)}
_SIZE = (6.6, 5.6)
_STRIP = 0.2  # height of the histograms below 0
_STRIP_BINS = 50
_LONGEST_NAME = 26
_MOST_INSIDE = 6  # curves whose legend has room in the picture


@answering
def plot_calibration(
    model: Any,
    X: Any,
    y: Any,
    *,
    output: object = None,
    n_bins: int = 10,
    strategy: str = "quantile",
    ax: Axes | None = None,
) -> Axes:
    """Draw how often a class occurs among rows of like predicted probability, and return the Axes.

    Bars are 95 % intervals (Wilson). Below are histograms of the predictions; the legend has Brier scores.

    Args:
        model: a fitted classifier, or a dictionary from names to classifiers.
        X: rows.
        y: their true classes.
        output: the class, by name or position; by default the second of two, or each of more.
        n_bins: groups of rows.
        strategy: groups of equal size ("quantile") or of equal width ("uniform").
        ax: Axes to draw on; None makes a new figure.
    """
    check_parameters("plot_calibration", _RULES, {"n_bins": n_bins, "strategy": strategy})
    curves, label = _curves(model, X, as_labels("y", y), output)
    with style():
        ax = new_axes(ax, _SIZE)
        ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1.0, linestyle=DASHES, zorder=1, label="perfect")
        for lane, (curve, colour) in enumerate(zip(curves, class_colours(len(curves)), strict=True)):
            _draw_curve(ax, curve, colour, n_bins, strategy)
            _draw_histogram(ax, curve.predicted, colour, lane, len(curves))
        label_axes(ax, f"predicted probability{label}", f"observed share{label}")
        ax.set(xlim=(-0.03, 1.03), ylim=(-_STRIP - 0.03, 1.03), yticks=np.linspace(0, 1, 6))
        draw_grid(ax, "y")
        if len(curves) > _MOST_INSIDE:
            legend_beside(ax, gap=0.6)
        else:
            ax.legend(loc="best")
    return ax


@dataclass(frozen=True)
class _Curve:
    """Predicted probabilities of a class, and the rows that are of this class."""

    name: str
    predicted: Floats
    observed: Mask

    @property
    def brier(self) -> float:
        """Mean squared difference of probability and truth."""
        return float(np.mean((self.predicted - self.observed) ** 2))


def _curves(model: Any, X: Any, y: list[Any], output: object) -> tuple[list[_Curve], str]:
    """Curves, and what the labels of the axes add for the class."""
    models = dict(model) if isinstance(model, Mapping) else {"model": model}
    if not models:
        raise InputError("model is an empty dictionary. Give a fitted classifier, or a dictionary of some.")
    classes, *others = (classes_of(own, "predict_proba") for own in models.values())
    if any(own != classes for own in others):
        raise InputError("The models have different classes. Compare models of the same classes.")
    predicted = [np.asarray(own.predict_proba(X), dtype=np.float64) for own in models.values()]
    check_length("y", len(y), "X", len(predicted[0]))
    require_known("y", y, classes)
    observed = [np.array([own == label for own in y]) for label in classes]
    names = distinct(classes, _LONGEST_NAME)
    if output is None and len(classes) > 2 and len(models) == 1:
        return [_Curve(name, predicted[0][:, k], observed[k]) for k, name in enumerate(names)], " of the class"
    k = _one_class(output, [str(label) for label in classes])
    titles = distinct(list(models), _LONGEST_NAME) if len(models) > 1 else [names[k]]
    curves = [_Curve(title, own[:, k], observed[k]) for title, own in zip(titles, predicted, strict=True)]
    return curves, f" of {names[k]}"


def _one_class(output: object, classes: list[str]) -> int:
    if output is not None:
        return chosen_output(output, classes)
    if len(classes) > 2:
        raise ParameterError(
            f"output=None is not allowed for several models of {len(classes)} classes. Use output={classes[0]!r}, or "
            "draw one model."
        )
    return len(classes) - 1


def _draw_curve(ax: Axes, curve: _Curve, colour: str, n_bins: int, strategy: str) -> None:
    """Draw scikit-learn's curve, with intervals; its `calibration_curve` lacks the sizes of groups, which they need."""
    from scipy.stats import binomtest
    from sklearn.calibration import CalibrationDisplay

    _, group, count = np.unique(_groups(curve.predicted, n_bins, strategy), return_inverse=True, return_counts=True)
    predicted, positive = np.bincount(group, curve.predicted) / count, np.bincount(group, curve.observed)
    share = positive / count
    label = f"{curve.name}, Brier score {curve.brier:.3f}"
    looks = {"color": colour, "linewidth": 1.4, "marker": "o", "markersize": 4.5, "zorder": 3}
    CalibrationDisplay(share, predicted, curve.predicted).plot(ax=ax, name=label, ref_line=False, **looks)
    sizes = zip(positive, count, strict=True)
    low, high = np.transpose([binomtest(int(k), int(n)).proportion_ci(method="wilson") for k, n in sizes])
    # Rounding may put an end of the interval on the wrong side of the share
    ends = np.maximum((share - low, high - share), 0)
    ax.errorbar(predicted, share, ends, fmt="none", ecolor=colour, elinewidth=0.9, capsize=2, alpha=0.5)


def _groups(predicted: Floats, n_bins: int, strategy: str) -> NDArray[np.intp]:
    """Group of each row; rows of equal predictions are in one group."""
    if strategy == "uniform":
        inner = np.linspace(0, 1, n_bins + 1)[1:-1]
    else:
        inner = np.unique(np.quantile(predicted, np.linspace(0, 1, n_bins + 1)))[1:-1]
    return np.searchsorted(inner, predicted).astype(np.intp)


def _draw_histogram(ax: Axes, predicted: Floats, colour: str, lane: int, lanes: int) -> None:
    """Draw how often each probability is predicted, in a lane of its own below zero."""
    counts, edges = np.histogram(predicted, bins=_STRIP_BINS, range=(0.0, 1.0))
    height = _STRIP / lanes
    bottom = -0.03 - height * (lane + 1)
    tall = counts / counts.max() * height * 0.9
    ax.bar(edges[:-1], tall, np.diff(edges), bottom=bottom, align="edge", color=colour, alpha=0.75, zorder=2)
