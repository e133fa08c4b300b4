"""How Shapley values lead from the base value to the prediction of one row.

Unlike the package shap, it draws on given Axes, names the scale of the values, writes dates and durations as such, and
gives numbers enough digits, so that small effects are not printed as zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.keywords import answering
from sapwood.parameters import Interval, check_parameters
from sapwood.plot.feature_rows import features_left_out, name_rows, row_axes
from sapwood.plot.output_names import scale_of_output, single_output
from sapwood.plot.shap_data import ShapData, any_value_text
from sapwood.plot.short_text import distinct, shortened
from sapwood.plot.style import FAINT, INK, Axes, draw_grid, label_axes, style
from sapwood.show.colour import LOWERING, RAISING, mix
from sapwood.show.number import grouped_number

_RULES = {"most": (Interval(int, low=1),)}
_BAR = 0.66
_LONGEST_NAME, _LONGEST_VALUE = 26, 16
_LONGEST_ROW = _LONGEST_NAME + len(" = ") + _LONGEST_VALUE
_ROOM = 0.18  # share of the width kept free on both sides for numbers


@answering
def plot_shap_waterfall(
    shap_values: Any, row: int = 0, output: object = None, most: int = 10, ax: Axes | None = None
) -> Axes:
    """Draw the steps from the base value to the prediction of one row, the largest effects first, and return the Axes.

    Args:
        shap_values: what `explain.shap_values` returns, or an Explanation of the package shap.
        row: number of the row among those that were explained.
        output: name or position of the output; needed if there are several.
        most: features to draw by themselves at most; the others are summed up.
        ax: Axes to draw on; None makes a new figure.
    """
    explained = ShapData.of(shap_values)
    rules = _RULES | {"row": (Interval(int, 0, explained.n_rows - 1),)}
    check_parameters("plot_shap_waterfall", rules, {"most": most, "row": row})
    chosen = single_output(output, explained.outputs, "a waterfall")
    steps = _Steps.of(explained, int(row), chosen, most)
    with style():
        ax = row_axes(ax, len(steps.names) + 2)
        _draw_steps(ax, steps)
        _draw_ends(ax, steps)
        name_rows(ax, ["base value", *steps.names, "model output"], _LONGEST_ROW)
        label_axes(ax, scale_of_output(explained.scale, explained.outputs[chosen]), "")
        draw_grid(ax, "x")
    return ax


@dataclass(frozen=True)
class _Steps:
    """Effects in the order they are drawn; `start` is where each of them begins."""

    names: list[str]
    effect: Floats
    start: Floats
    base: float
    end: float

    @classmethod
    def of(cls, explained: ShapData, row: int, output: int, most: int) -> _Steps:
        effects = explained.values[row, :, output]
        order = np.argsort(-np.abs(effects), kind="stable")
        # One more feature takes as much room as "1 other feature"
        shown = order if len(order) <= most + 1 else order[:most]
        names = _named(explained, row, [int(j) for j in shown])
        effect = effects[shown]
        rest = order[len(shown) :]
        if len(rest):
            names.append(f"… {features_left_out(len(rest))}")
            effect = np.append(effect, effects[rest].sum())
        base = float(explained.base[row, output])
        reached = base + np.cumsum(effect)
        return cls(names, effect, np.concatenate([[base], reached[:-1]]), base, float(reached[-1]))


def _named(explained: ShapData, row: int, features: list[int]) -> list[str]:
    names = distinct([explained.names[j] for j in features], _LONGEST_NAME)
    if explained.shown is None:
        return names
    values = [shortened(any_value_text(explained.shown[row, j]), _LONGEST_VALUE) for j in features]
    return [f"{name} = {value}" for name, value in zip(names, values, strict=True)]


def _draw_steps(ax: Axes, steps: _Steps) -> None:
    places = np.arange(1, len(steps.effect) + 1)
    colours = [mix(RAISING if effect > 0 else LOWERING, 0.9) for effect in steps.effect]
    ax.barh(places, steps.effect, left=steps.start, height=_BAR, color=colours, zorder=3)
    # From the end of a step to the beginning of the next
    stops = np.append(steps.start, steps.end)
    half = _BAR / 2
    for place, stop in enumerate(stops):
        ax.plot([stop, stop], [place + half * (place > 0), place + 1 - half], color=FAINT, linewidth=0.8, zorder=2)
    low, high = float(stops.min()), float(stops.max())
    room = _ROOM * (high - low) or abs(low) * _ROOM or 1.0
    ax.set_xlim(low - room, high + room)
    for place, (effect, start) in enumerate(zip(steps.effect, steps.start, strict=True), start=1):
        _write(ax, start + effect, place, _signed(effect), "left" if effect >= 0 else "right")


def _draw_ends(ax: Axes, steps: _Steps) -> None:
    last = len(steps.effect) + 1
    for place, value in ((0, steps.base), (last, steps.end)):
        ax.plot(value, place, marker="D" if place else "o", markersize=6, color=INK, zorder=4, linestyle="none")
        _write(ax, value, place, grouped_number(value, 4).replace("-", "−"), "left", INK)


def _write(ax: Axes, x: float, y: float, text: str, side: str, colour: str = "#555555") -> None:
    shift = 6 if side == "left" else -6
    ax.annotate(
        text, (x, y), (shift, 0), textcoords="offset points", ha=side, va="center", fontsize=8.5, color=colour, zorder=5
    )


def _signed(effect: float) -> str:
    return grouped_number(effect, 3, "+").replace("-", "−")
