"""How predictions depend on one feature or two, all others being equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.keywords import answering
from sapwood.parameters import Flag, Interval, check_parameters
from sapwood.plot.axis import Axis, label_axis
from sapwood.plot.dependence import Dependence
from sapwood.plot.output_names import about_output, chosen_output, single_output
from sapwood.plot.short_text import distinct
from sapwood.plot.style import (
    FAINT,
    INK,
    PAPER,
    SIZE,
    Axes,
    colour_bar,
    draw_grid,
    fixed_generator,
    label_axes,
    legend_beside,
    new_axes,
    pale_to_deep,
    style,
)
from sapwood.show.colour import class_colours
from sapwood.show.number import grouped_number

_RULES = {"ice": (Flag(),), "most_lines": (Interval(int, low=1),)}
_CONTOURS = 14
_MOST_NUMBERS = 60  # cells of a map up to which their numbers are written
_JITTER = 0.16
_LONGEST_OUTPUT = 30
_MOST_INSIDE = 6  # entries of a legend for which there is room among the lines


@answering
def plot_partial_dependence(
    result: Any, output: Any = None, ice: bool = True, most_lines: int = 100, ax: Axes | None = None
) -> Any:
    """Draw the average prediction over the values of one feature, or of two as a map, and return the Axes.

    Args:
        result: what `explain.partial_dependence` returns.
        output: name or position of one output; several are drawn together as averages, but a map shows one.
        ice: whether to draw single rows (individual conditional expectations), if the result has them.
        most_lines: single rows to draw at most.
        ax: Axes to draw on; None makes a new figure.
    """
    check_parameters("plot_partial_dependence", _RULES, {"ice": ice, "most_lines": most_lines})
    found = Dependence.of(result)
    is_map = len(found.axes) == 2
    if is_map:
        output = single_output(output, found.outputs, "a map of two features")
    elif output is not None:
        output = chosen_output(output, found.outputs)
    with style():
        ax = new_axes(ax, SIZE)
        if is_map:
            _draw_map(ax, found, output)
        else:
            _draw_lines(ax, found, output, most_lines if ice else 0)
        for axis, horizontal in zip(found.axes, (True, False), strict=False):
            label_axis(ax, axis, horizontal)
    return ax


def _label(found: Dependence, output: int | None) -> str:
    text = "partial dependence" + (", centred" if found.centred else "")
    if output is None and len(found.outputs) > 1:
        return text
    return about_output(text, found.outputs[output or 0])


def _draw_lines(ax: Axes, found: Dependence, output: int | None, most_lines: int) -> None:
    axis = found.axes[0]
    shown = list(range(len(found.outputs))) if output is None else [output]
    # Single rows of several outputs would hide each other
    if found.individual is not None and most_lines and len(shown) == 1:
        _draw_rows(ax, axis, found.individual[shown[0]], most_lines)
    shifts = np.linspace(-0.2, 0.2, len(shown)) if axis.is_discrete and len(shown) > 1 else np.zeros(len(shown))
    names = distinct(found.outputs, _LONGEST_OUTPUT)
    for k, colour, shift in zip(shown, class_colours(len(shown)), shifts, strict=True):
        name = names[k] if len(shown) > 1 else "average"
        _draw_average(ax, axis, found.average[k], colour, name, float(shift))
    if found.deciles is not None:
        _draw_deciles(ax, found.deciles)
    label_axes(ax, "", _label(found, output))
    draw_grid(ax, "y")
    entries = len(ax.get_legend_handles_labels()[0])
    if entries == 1:
        return
    if axis.is_discrete or entries > _MOST_INSIDE:
        legend_beside(ax, gap=0.2 if axis.is_discrete else 0.6)  # lines reach further than points
    else:
        ax.legend(loc="best")


def _draw_average(ax: Axes, axis: Axis, average: Floats, colour: str, name: str, shift: float) -> None:
    if axis.is_discrete:
        marks: dict[str, Any] = {"marker": "o", "markersize": 8, "markeredgecolor": PAPER, "linestyle": "none"}
        ax.plot(axis.places + shift, average, color=colour, label=name, zorder=4, **marks)
        ax.set_xlim(-0.5, len(axis.places) - 0.5)
    else:
        marker = "o" if len(average) == 1 else None  # a single point makes no line
        ax.plot(axis.places, average, color=colour, linewidth=2.4, marker=marker, label=name, zorder=4)


def _draw_rows(ax: Axes, axis: Axis, rows: Floats, most: int) -> None:
    rng = fixed_generator()
    some = rows if len(rows) <= most else rows[np.sort(rng.choice(len(rows), most, replace=False))]
    label = "single rows" if len(some) == len(rows) else f"single rows ({len(some)} of {len(rows)})"
    if axis.is_discrete:
        across = axis.places + rng.uniform(-_JITTER, _JITTER, some.shape)
        ax.plot(across.ravel(), some.ravel(), "o", markersize=2.5, color=FAINT, alpha=0.5, label=label, zorder=2)
        return
    strength = float(np.clip(20 / len(some), 0.28, 0.6))
    for number, row in enumerate(some):
        name = label if number == 0 else "_"
        ax.plot(axis.places, row, color="#777777", linewidth=0.7, alpha=strength, label=name, zorder=2)


def _draw_deciles(ax: Axes, deciles: Floats) -> None:
    ax.plot(
        deciles,
        np.zeros(len(deciles)),
        linestyle="none",
        marker=2,  # a tick that points up
        markersize=7,
        color=INK,
        transform=ax.get_xaxis_transform(),
        label="deciles of the rows",
        zorder=3,
    )


def _draw_map(ax: Axes, found: Dependence, output: int) -> None:
    across, up = found.axes
    values = found.average[output].T
    discrete = across.is_discrete or up.is_discrete
    shades: Any
    if discrete or min(values.shape) < 2 or float(np.ptp(values)) == 0.0:
        shades = ax.pcolormesh(across.edges, up.edges, values, cmap=pale_to_deep(), rasterized=True)
    else:
        shades = ax.contourf(across.places, up.places, values, levels=_CONTOURS, cmap=pale_to_deep())
    if across.is_discrete and up.is_discrete and values.size <= _MOST_NUMBERS:
        _write_numbers(ax, values)
    colour_bar(ax, shades, _label(found, output))


def _write_numbers(ax: Axes, values: Floats) -> None:
    deep = values.min() + 0.6 * (values.max() - values.min())
    for (row, column), value in np.ndenumerate(values):
        colour = PAPER if value > deep else INK
        text = grouped_number(value, 3).replace("-", "−")
        ax.text(column, row, text, ha="center", va="center", color=colour, fontsize=9.0)
