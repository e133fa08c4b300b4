"""The out-of-bag error of a forest after each of its trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.errors import InputError, InputTypeError
from sapwood.forest.out_of_bag import first_flat
from sapwood.keywords import answering
from sapwood.model import model_of
from sapwood.plot.checks import require_estimator
from sapwood.plot.style import SIZE, Axes, draw_grid, label_axes, mark_chosen, new_axes, style
from sapwood.show.colour import NUMBER_COLOUR
from sapwood.show.number import grouped_number

_TOLERANCE = 0.005  # of forests, unless they have their own


@answering
def plot_oob_curve(forest: Any, ax: Axes | None = None) -> Axes:
    """Draw the error on rows outside of the bags after each tree, mark where it was flat first, and return the Axes.

    Flat means that the mean error of the last 25 trees is lower than that of the 25 before by less than the share
    `oob_tol` of it; a forest with `oob_stop=True` stops there.
    """
    curve = _curve(forest)
    flat = first_flat(curve.tolist(), getattr(forest, "oob_tol", 0.0) or _TOLERANCE)
    with style():
        ax = new_axes(ax, SIZE)
        trees = np.arange(1, len(curve) + 1)
        marker = "o" if np.isfinite(curve).sum() == 1 else None  # a single point makes no line
        label = f"after each tree; {grouped_number(curve[-1], 4)} in the end"
        ax.plot(trees, curve, color=NUMBER_COLOUR, linewidth=1.6, marker=marker, label=label, zorder=2)
        if flat is not None:
            stopped = ": growth stopped" if getattr(forest, "oob_stop", False) else ""
            mark_chosen(ax, flat, curve[flat - 1], f"flat after {flat} trees{stopped}")
        measure = "share of wrong classes" if hasattr(forest, "classes_") else "mean squared error"
        label_axes(ax, "trees", f"out-of-bag error ({measure})")
        draw_grid(ax, "y")
        ax.legend(loc="best")
    return ax


def _curve(forest: Any) -> Floats:
    owner = type(forest).__name__
    if hasattr(forest, "oob_curve_") and len(forest.oob_curve_):
        return np.asarray(forest.oob_curve_, dtype=np.float64)
    require_estimator("forest", forest, "fitted forest")
    model_of(forest, "forest")
    if hasattr(forest, "oob_score"):
        raise InputError(f"This {owner} did not measure its out-of-bag error. Set oob_score=True before fit.")
    raise InputTypeError(f"forest is a {owner}, which has no out-of-bag error of trees. Use plot_learning_curves.")
