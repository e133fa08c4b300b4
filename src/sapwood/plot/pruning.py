"""The error of a pruned tree over the strength of pruning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats
from sapwood.counted import counted
from sapwood.errors import InputError
from sapwood.keywords import answering
from sapwood.plot.checks import require_parts
from sapwood.plot.style import DASHES, FAINT, SIZE, Axes, draw_grid, label_axes, mark_best, mark_chosen, new_axes, style
from sapwood.show.colour import NUMBER_COLOUR

_MOST_TICKS = 9
_MOST_BARS = 50  # more error bars would be a wall
_MEAN = "mean ± standard error"
_PARTS = ("alphas", "mean", "standard_error", "n_leaves", "chosen", "best", "rule", "score_name")


@answering
def plot_pruning(path: Any, ax: Axes | None = None) -> Axes:
    """Draw the cross-validated error of every pruned tree, mark the best and the chosen one, and return the Axes.

    The trees are at equal distances, the largest on the left: alphas grow by powers, so most of them would be at zero
    on a linear scale.
    """
    curve = _Curve.of(path)
    with style():
        ax = new_axes(ax, SIZE)
        _draw_curve(ax, curve)
        _draw_marks(ax, curve)
        _label(ax, curve)
    return ax


@dataclass(frozen=True)
class _Curve:
    alphas: Floats
    mean: Floats
    error: Floats
    n_leaves: NDArray[Any]
    chosen: int
    best: int
    rule: str
    score_name: str

    @classmethod
    def of(cls, path: Any) -> _Curve:
        require_parts("path", path, _PARTS, "Give the result of prune_by_cv.")
        alphas, mean, error, leaves = (np.asarray(getattr(path, name), dtype=np.float64) for name in _PARTS[:4])
        lengths = [len(alphas), len(mean), len(error), len(leaves)]
        if len(set(lengths)) != 1 or lengths[0] == 0:
            raise InputError(
                f"alphas, mean, standard_error and n_leaves of path have lengths {lengths}, but each needs one entry "
                "per tree. Give the result of prune_by_cv."
            )
        return cls(alphas, mean, error, leaves, int(path.chosen), int(path.best), str(path.rule), str(path.score_name))

    @property
    def limit(self) -> float:
        """Largest error within one standard error of the least."""
        return float(self.mean[self.best] + self.error[self.best])


def _draw_curve(ax: Axes, curve: _Curve) -> None:
    places = np.arange(len(curve.mean))
    if len(places) > _MOST_BARS:
        low, high = curve.mean - curve.error, curve.mean + curve.error
        ax.fill_between(places, low, high, color=NUMBER_COLOUR, alpha=0.2, linewidth=0, zorder=1)
        ax.plot(places, curve.mean, color=NUMBER_COLOUR, linewidth=1.6, label=_MEAN, zorder=2)
        return
    bars = ax.errorbar(
        places,
        curve.mean,
        curve.error,
        color=NUMBER_COLOUR,
        ecolor=NUMBER_COLOUR,
        linewidth=1.4,
        elinewidth=0.9,
        capsize=2,
        marker="o",
        markersize=4.0,
        label=_MEAN,
        zorder=2,
    )
    for part in bars[2]:
        part.set_alpha(0.45)


def _draw_marks(ax: Axes, curve: _Curve) -> None:
    label = "least error + 1 standard error"
    ax.axhline(curve.limit, color=FAINT, linewidth=1.0, linestyle=DASHES, zorder=1, label=label)
    mark_best(ax, curve.best, curve.mean[curve.best], f"least error: {_describe(curve, curve.best)}")
    label = f"chosen ({curve.rule}): {_describe(curve, curve.chosen)}"
    mark_chosen(ax, curve.chosen, curve.mean[curve.chosen], label)


def _describe(curve: _Curve, index: int) -> str:
    return f"{counted(int(curve.n_leaves[index]), 'leaf')}, alpha {_short(curve.alphas[index])}"


def _label(ax: Axes, curve: _Curve) -> None:
    ticks = _ticks(len(curve.mean))
    ax.set_xticks(ticks, [_short(curve.alphas[tick]) for tick in ticks])
    label_axes(ax, "alpha (stronger pruning to the right)", f"cross-validated {curve.score_name}")
    draw_grid(ax, "y")
    ax.margins(x=0.03)
    top = ax.secondary_xaxis("top")
    top.set_xticks(ticks, [str(int(curve.n_leaves[tick])) for tick in ticks])
    top.set_xlabel("leaves")
    top.spines["top"].set_visible(False)
    handles, labels = ax.get_legend_handles_labels()
    # matplotlib lists error bars last
    order = sorted(range(len(labels)), key=lambda k: labels[k] != _MEAN)
    ax.legend([handles[k] for k in order], [labels[k] for k in order], loc="best")


def _ticks(count: int) -> list[int]:
    """Evenly spread positions, both ends among them."""
    return sorted({round(place) for place in np.linspace(0, count - 1, min(count, _MOST_TICKS))})


def _short(alpha: float) -> str:
    """Two digits, without a power of ten where it can be helped."""
    return f"{float(f'{alpha:.2g}'):g}"
