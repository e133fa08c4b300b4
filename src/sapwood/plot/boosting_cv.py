"""The curves of a cross-validation of boosting over its rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.plot.parts import require_parts
from sapwood.plot.style import ACCENT, FAINT, INK, PAPER, SIZE, draw_grid, label_axes, new_axes, style
from sapwood.show.colour import NUMBER_COLOUR
from sapwood.show.number import grouped_number

Floats = NDArray[np.float64]

_PARTS = ("test_curve", "train_curve", "best_round", "top_round", "rule", "metric", "larger_is_better")


def plot_boosting_cv(result: Any, ax: Any = None) -> Any:
    """Draw the mean metric of held-out and training rows over the rounds, mark the best round, and return the Axes."""
    require_parts("result", result, _PARTS, "Give what cross_validate_boosting returns.")
    test, train = _Line.of(result.test_curve), _Line.of(result.train_curve)
    with style():
        ax = new_axes(ax, SIZE)
        _draw_line(ax, train, FAINT, "training rows, mean ± standard error")
        _draw_line(ax, test, NUMBER_COLOUR, "held-out rows, mean ± standard error")
        _draw_choice(ax, test, result)
        label_axes(ax, "rounds", f"cross-validated {result.metric}")
        draw_grid(ax, "y")
        ax.legend(loc="best")
    return ax


@dataclass(frozen=True)
class _Line:
    rounds: NDArray[np.int64]
    mean: Floats
    error: Floats

    @classmethod
    def of(cls, curve: Any) -> _Line:
        return cls(np.arange(1, len(curve.mean) + 1), curve.mean, curve.standard_error)


def _draw_line(ax: Any, line: _Line, colour: str, label: str) -> None:
    marker = "o" if len(line.mean) == 1 else None  # a single point makes no line
    ax.fill_between(
        line.rounds, line.mean - line.error, line.mean + line.error, color=colour, alpha=0.2, linewidth=0, zorder=1
    )
    ax.plot(line.rounds, line.mean, color=colour, linewidth=1.6, marker=marker, label=label, zorder=2)


def _draw_choice(ax: Any, line: _Line, result: Any) -> None:
    top, best = int(result.top_round), int(result.best_round)
    marks = {"zorder": 4, "linestyle": "none"}
    if result.rule == "1se":
        sign = -1 if result.larger_is_better else 1
        label = f"best mean {'−' if sign < 0 else '+'} 1 standard error"
        limit = line.mean[top] + sign * line.error[top]
        ax.axhline(limit, color=FAINT, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1, label=label)
        ax.plot(
            line.rounds[top],
            line.mean[top],
            marker="o",
            markersize=9,
            markerfacecolor=PAPER,
            markeredgecolor=INK,
            markeredgewidth=1.4,
            label=f"best mean: {_rounds(top)}",
            **marks,
        )
    ax.axvline(line.rounds[best], color=ACCENT, linewidth=1.0, alpha=0.5, zorder=1)
    ax.plot(
        line.rounds[best],
        line.mean[best],
        marker="D",
        markersize=7,
        markerfacecolor=ACCENT,
        markeredgecolor=PAPER,
        label=f"chosen ({result.rule}): {_rounds(best)}, {grouped_number(line.mean[best], 4)}",
        **marks,
    )


def _rounds(index: int) -> str:
    return f"{index + 1} {'round' if index == 0 else 'rounds'}"
