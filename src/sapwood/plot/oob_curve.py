"""The out-of-bag error of a forest after each of its trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import InputError, InputTypeError
from sapwood.forest.out_of_bag import first_flat
from sapwood.keywords import answering
from sapwood.plot.style import ACCENT, PAPER, SIZE, draw_grid, label_axes, new_axes, style
from sapwood.show.colour import NUMBER_COLOUR
from sapwood.show.fitted import is_classifier, require_model
from sapwood.show.number import grouped_number

Floats = NDArray[np.float64]

_TOLERANCE = 0.005  # of forests, unless they have their own


@answering
def plot_oob_curve(forest: Any, ax: Any = None) -> Any:
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
            _draw_mark(ax, curve, flat, bool(getattr(forest, "oob_stop", False)))
        measure = "share of wrong classes" if is_classifier(forest) else "mean squared error"
        label_axes(ax, "trees", f"out-of-bag error ({measure})")
        draw_grid(ax, "y")
        ax.legend(loc="best")
    return ax


def _curve(forest: Any) -> Floats:
    owner = type(forest).__name__
    if hasattr(forest, "oob_curve_") and len(forest.oob_curve_):
        return np.asarray(forest.oob_curve_, dtype=np.float64)
    if isinstance(forest, type) or not hasattr(forest, "fit"):
        raise InputTypeError(
            f"forest is {f'the class {forest.__name__}' if isinstance(forest, type) else f'a {owner}'}, but must be a "
            "fitted forest."
        )
    require_model(forest, "forest")
    if hasattr(forest, "oob_score"):
        raise InputError(f"This {owner} did not measure its out-of-bag error. Set oob_score=True before fit.")
    raise InputTypeError(f"forest is a {owner}, which has no out-of-bag error of trees. Use plot_learning_curves.")


def _draw_mark(ax: Any, curve: Floats, flat: int, stops: bool) -> None:
    ax.axvline(flat, color=ACCENT, linewidth=1.0, alpha=0.5, zorder=1)
    ax.plot(
        flat,
        curve[flat - 1],
        marker="D",
        markersize=7,
        markerfacecolor=ACCENT,
        markeredgecolor=PAPER,
        linestyle="none",
        label=f"flat after {flat} trees{': growth stopped' if stops else ''}",
        zorder=4,
    )
