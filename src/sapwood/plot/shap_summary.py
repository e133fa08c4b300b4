"""Shapley values of all rows: a swarm of points for each feature.

Unlike the package shap, it colours categories, whose levels are named, and dates, names the scale of the values, and
draws several outputs as stacked bars. Points are at the same places each time, and no global random state is touched.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats
from sapwood.keywords import answering
from sapwood.parameters import Interval, check_parameters
from sapwood.plot.feature_rows import features_left_out, name_rows, row_axes
from sapwood.plot.output_names import about_output, scale_of_output, single_output
from sapwood.plot.shap_data import ShapData, shades
from sapwood.plot.short_text import distinct
from sapwood.plot.style import (
    FAINT,
    NOTE,
    Axes,
    colour_bar,
    draw_grid,
    fixed_generator,
    label_axes,
    low_to_high,
    note,
    style,
)
from sapwood.show.colour import class_colours

_RULES = {"most": (Interval(int, low=1),)}
_MOST_POINTS = 3000  # of a feature
_ROW = 0.36  # inches; swarms need more room than bars
_BINS = 90
_SWARM = 0.38  # greatest distance from the middle of a row
_STEP = 0.075  # between two points side by side
_LONGEST_LEVELS = 40
_BAR = 0.62


@answering
def plot_shap_summary(shap_values: Any, output: object = None, most: int = 15, ax: Axes | None = None) -> Axes:
    """Draw the effect of each feature on each row, coloured by the feature's value, and return the Axes.

    The features of largest mean |SHAP value| are on top. Several outputs are drawn as stacked bars of this mean, unless
    one is chosen.

    Args:
        shap_values: what `explain.shap_values` returns, or an Explanation of the package shap.
        output: name or position of one output.
        most: features to draw at most.
        ax: Axes to draw on; None makes a new figure.
    """
    check_parameters("plot_shap_summary", _RULES, {"most": most})
    explained = ShapData.of(shap_values)
    stacked = output is None and len(explained.outputs) > 1
    chosen = list(range(len(explained.outputs))) if stacked else [single_output(output, explained.outputs, "")]
    weight = np.abs(explained.values[:, :, chosen]).mean(axis=0)
    order = np.argsort(-weight.sum(axis=1), kind="stable")
    shown = [int(j) for j in order[:most]]
    with style():
        ax = row_axes(ax, len(shown), _ROW)
        name_rows(ax, [explained.names[j] for j in shown])
        notes = [f"{features_left_out(len(order) - len(shown))} not shown"] if len(order) > len(shown) else []
        if stacked:
            _draw_stacks(ax, weight[shown], explained.outputs)
        elif _draw_swarms(ax, explained, chosen[0], shown):
            notes.append("grey: missing")
        label_axes(ax, _label(explained, None if stacked else chosen[0]), "")
        draw_grid(ax, "x")
        note(ax, "  ·  ".join(notes))
    return ax


def _label(explained: ShapData, output: int | None) -> str:
    if output is None:
        return "mean |SHAP value|"
    name = explained.outputs[output]
    if not explained.scale:
        return about_output("SHAP value (effect on the model output)", name)
    return f"SHAP value (effect on the {scale_of_output(explained.scale, name)})"


def _draw_stacks(ax: Axes, weight: Floats, outputs: tuple[str, ...]) -> None:
    left = np.zeros(len(weight))
    names = distinct(outputs, 24)
    for k, (name, colour) in enumerate(zip(names, class_colours(len(names)), strict=True)):
        ax.barh(range(len(weight)), weight[:, k], left=left, height=_BAR, color=colour, label=name)
        left += weight[:, k]
    ax.legend(loc="best", ncols=1 + (len(outputs) - 1) // 10)


def _draw_swarms(ax: Axes, explained: ShapData, output: int, shown: list[int]) -> bool:
    """Draw all features; whether any value is missing."""
    rows = _some_rows(explained.n_rows)
    colours = low_to_high()
    ax.axvline(0, color=FAINT, linewidth=0.8, zorder=1)
    has_missing = False
    for place, feature in enumerate(shown):
        column = explained.column(feature)
        shade, levels = (np.zeros(explained.n_rows), ()) if column is None else shades(column)
        has_missing |= bool(np.isnan(shade[rows]).any())
        _draw_swarm(ax, place, explained.values[rows, feature, output], shade[rows], colours)
        if levels:
            _draw_levels(ax, place, levels)
    if explained.data is not None:
        _draw_bar(ax, colours)
    return has_missing


def _some_rows(count: int) -> NDArray[np.intp]:
    if count <= _MOST_POINTS:
        return np.arange(count)
    return np.sort(fixed_generator().choice(count, _MOST_POINTS, replace=False))


def _draw_swarm(ax: Axes, place: int, effect: Floats, shade: Floats, colours: Any) -> None:
    known = np.isfinite(shade)
    up = place + _offsets(effect)
    points: dict[str, Any] = {"s": 14, "linewidths": 0, "rasterized": len(effect) > 500}
    ax.scatter(effect[~known], up[~known], color="#a8a8a8", zorder=2, **points)
    ax.scatter(effect[known], up[known], c=shade[known], cmap=colours, vmin=0, vmax=1, zorder=3, **points)


def _offsets(effect: Floats) -> Floats:
    """Distance of each point from the middle of its row: points of nearly equal effect spread to both sides."""
    spread = float(np.ptp(effect))
    bins = np.zeros(len(effect), dtype=np.intp)
    if spread > 0:
        bins = np.round((effect - effect.min()) / spread * _BINS).astype(np.intp)
    order = np.argsort(bins, kind="stable")
    counts = np.bincount(bins)
    rank = np.empty(len(effect), dtype=np.intp)
    rank[order] = np.arange(len(effect)) - np.repeat(np.cumsum(counts) - counts, counts)
    side = np.where(rank % 2, 1.0, -1.0)
    steps = (rank + 1) // 2
    widest = _STEP * max(1, int(counts.max()) // 2)
    return np.asarray(side * steps * _STEP * min(1.0, _SWARM / widest))


def _draw_levels(ax: Axes, place: int, levels: tuple[str, ...]) -> None:
    """Name the levels that the colours of a category stand for, from low to high, under its name."""
    text = " · ".join(levels)
    if len(text) > _LONGEST_LEVELS:
        text = " … ".join(distinct((levels[0], levels[-1]), 16))
    ax.annotate(
        text,
        (0, place),
        (-4, -1),
        xycoords=ax.get_yaxis_transform(),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=7.0,
        color=NOTE,
        annotation_clip=False,
    )
    ax.get_yticklabels()[place].set_verticalalignment("bottom")


def _draw_bar(ax: Axes, colours: Any) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    bar = colour_bar(ax, ScalarMappable(Normalize(0, 1), colours), "feature value", aspect=40)
    bar.set_ticks([0, 1], labels=["low", "high"])
    bar.ax.tick_params(length=0)
