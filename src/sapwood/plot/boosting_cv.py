"""The curves of a cross-validation of boosting over its rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.counted import counted
from sapwood.plot.checks import require_parts
from sapwood.plot.style import DASHES, FAINT, SIZE, Axes, draw_grid, label_axes, mark_best, mark_chosen, new_axes, style
from sapwood.show.colour import NUMBER_COLOUR
from sapwood.show.number import grouped_number

_PARTS = ("test_curve", "train_curve", "best_round", "top_round", "rule", "metric", "larger_is_better")


def plot_boosting_cv(result: Any, ax: Axes | None = None) -> Axes:
    """Draw the mean metric of held-out and training rows over the rounds, mark the best round, and return the Axes."""
    require_parts("result", result, _PARTS, "Give what cross_validate_boosting returns.")
    with style():
        ax = new_axes(ax, SIZE)
        _draw_line(ax, result.train_curve, FAINT, "training rows, mean ± standard error")
        _draw_line(ax, result.test_curve, NUMBER_COLOUR, "held-out rows, mean ± standard error")
        _draw_choice(ax, result)
        label_axes(ax, "rounds", f"cross-validated {result.metric}")
        draw_grid(ax, "y")
        ax.legend(loc="best")
    return ax


def _draw_line(ax: Axes, curve: Any, colour: str, label: str) -> None:
    mean, error = curve.mean, curve.standard_error
    rounds = np.arange(1, len(mean) + 1)
    marker = "o" if len(mean) == 1 else None  # a single point makes no line
    ax.fill_between(rounds, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0, zorder=1)
    ax.plot(rounds, mean, color=colour, linewidth=1.6, marker=marker, label=label, zorder=2)


def _draw_choice(ax: Axes, result: Any) -> None:
    mean, error = result.test_curve.mean, result.test_curve.standard_error
    top, best = int(result.top_round), int(result.best_round)
    if result.rule == "1se":
        sign = -1 if result.larger_is_better else 1
        label = f"best mean {'−' if sign < 0 else '+'} 1 standard error"
        limit = mean[top] + sign * error[top]
        ax.axhline(limit, color=FAINT, linewidth=1.0, linestyle=DASHES, zorder=1, label=label)
        mark_best(ax, top + 1, mean[top], f"best mean: {counted(top + 1, 'round')}")
    label = f"chosen ({result.rule}): {counted(best + 1, 'round')}, {grouped_number(mean[best], 4)}"
    mark_chosen(ax, best + 1, mean[best], label)
