"""Calibration of predicted probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import InputError, ParameterError
from sapwood.keywords import answering
from sapwood.parameters import Interval, OneOf, check_parameters
from sapwood.plot.label import distinct
from sapwood.plot.output import chosen_output
from sapwood.plot.style import FAINT, draw_grid, label_axes, legend_beside, new_axes, style
from sapwood.plot.truth import as_labels, check_length, require_classifier, require_known
from sapwood.show.colour import class_colours

Floats = NDArray[np.float64]

_RULES = {"n_bins": (Interval(int, low=1),), "strategy": (OneOf("quantile", "uniform"),)}
_SIZE = (6.6, 5.6)
_Z = 1.959964  # of an interval of 95 %
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
    output: Any = None,
    n_bins: int = 10,
    strategy: str = "quantile",
    ax: Any = None,
) -> Any:
    """Draw how often a class occurs among rows of like predicted probability, and return the Axes.

    Bars are 95 % intervals (Wilson), the strips below histograms of the predictions, and the legend has Brier scores.

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
        ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1, label="perfect")
        for lane, (curve, colour) in enumerate(zip(curves, class_colours(len(curves)), strict=True)):
            _draw_curve(ax, curve, colour, _groups(curve.said, n_bins, strategy))
            _draw_strip(ax, curve.said, colour, lane, len(curves))
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
    name: str
    said: Floats  # probability of the class
    is_so: NDArray[np.bool_]

    @property
    def brier(self) -> float:
        """Mean squared difference of probability and truth."""
        return float(np.mean((self.said - self.is_so) ** 2))


def _curves(model: Any, X: Any, y: list[Any], output: Any) -> tuple[list[_Curve], str]:
    """Curves, and what the axes add to say which class they are about."""
    models = dict(model) if isinstance(model, Mapping) else {"model": model}
    if not models:
        raise InputError("model is an empty dictionary. Give a fitted classifier, or a dictionary of some.")
    said = [_probabilities(own, X, y) for own in models.values()]
    classes = next(iter(models.values())).classes_.tolist()
    if any(own.classes_.tolist() != classes for own in models.values()):
        raise InputError("The models have different classes. Compare models of the same classes.")
    require_known("y", y, classes)
    names = distinct(classes, _LONGEST_NAME)
    if output is None and len(classes) > 2 and len(models) == 1:
        return [_Curve(name, said[0][:, k], _is(y, classes[k])) for k, name in enumerate(names)], " of the class"
    k = _one_class(output, [str(label) for label in classes])
    many = len(models) > 1
    curves = [
        _Curve(name if many else names[k], own[:, k], _is(y, classes[k]))
        for name, own in zip(distinct(list(models), _LONGEST_NAME), said, strict=True)
    ]
    return curves, f" of {names[k]}"


def _one_class(output: Any, classes: list[str]) -> int:
    if output is not None:
        return chosen_output(output, classes)
    if len(classes) > 2:
        raise ParameterError(
            f"output=None is not allowed for several models of {len(classes)} classes. Use output={classes[0]!r}, or "
            "draw one model."
        )
    return len(classes) - 1


def _probabilities(model: Any, X: Any, y: list[Any]) -> Floats:
    require_classifier(model, "predict_proba")
    said = np.asarray(model.predict_proba(X), dtype=np.float64)
    check_length("y", len(y), "X", len(said))
    return said


def _is(y: list[Any], label: Any) -> NDArray[np.bool_]:
    return np.array([own == label for own in y])


@dataclass(frozen=True)
class _Group:
    said: float
    share: float
    low: float
    high: float


def _groups(said: Floats, n_bins: int, strategy: str) -> NDArray[np.intp]:
    """Group of every row; equal predictions are never parted."""
    if strategy == "uniform":
        inner = np.linspace(0, 1, n_bins + 1)[1:-1]
    else:
        inner = np.unique(np.quantile(said, np.linspace(0, 1, n_bins + 1)))[1:-1]
    return np.searchsorted(inner, said).astype(np.intp)


def _draw_curve(ax: Any, curve: _Curve, colour: str, groups: NDArray[np.intp]) -> None:
    found = [_group(curve, groups == g) for g in np.unique(groups)]
    share = np.array([group.share for group in found])
    bars = ax.errorbar(
        [group.said for group in found],
        share,
        (share - [group.low for group in found], [group.high for group in found] - share),
        color=colour,
        linewidth=1.4,
        elinewidth=0.9,
        capsize=2,
        marker="o",
        markersize=4.5,
        label=f"{curve.name}, Brier score {curve.brier:.3f}",
        zorder=3,
    )
    for part in (*bars[1], *bars[2]):
        part.set_alpha(0.5)


def _group(curve: _Curve, rows: NDArray[np.bool_]) -> _Group:
    count, share = int(rows.sum()), float(curve.is_so[rows].mean())
    low, high = _wilson(share, count)
    # Rounding may put an end of the interval on the wrong side of the share
    return _Group(float(curve.said[rows].mean()), share, min(low, share), max(high, share))


def _wilson(share: float, count: int) -> tuple[float, float]:
    """Wilson's interval of a share, which stays between 0 and 1."""
    whole = 1 + _Z**2 / count
    middle = share + _Z**2 / (2 * count)
    half = _Z * math.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    return (middle - half) / whole, (middle + half) / whole


def _draw_strip(ax: Any, said: Floats, colour: str, lane: int, lanes: int) -> None:
    """Draw how often each probability is predicted, in a lane of its own below zero."""
    counts, edges = np.histogram(said, bins=_STRIP_BINS, range=(0.0, 1.0))
    height = _STRIP / lanes
    bottom = -0.03 - height * (lane + 1)
    tall = counts / counts.max() * height * 0.9
    ax.bar(edges[:-1], tall, np.diff(edges), bottom=bottom, align="edge", color=colour, alpha=0.75, zorder=2)
