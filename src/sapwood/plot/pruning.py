"""The error of a pruned tree over the strength of pruning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import InputError
from sapwood.keywords import answering
from sapwood.plot.parts import require_parts
from sapwood.plot.style import ACCENT, FAINT, INK, PAPER, SIZE, draw_grid, label_axes, new_axes, style
from sapwood.show.colour import NUMBER_COLOUR

Floats = NDArray[np.float64]

_MOST_TICKS = 9
_MOST_BARS = 50  # more error bars would be a wall
_MEAN = "mean ± standard error"
_PARTS = ("alphas", "mean", "standard_error", "n_leaves", "chosen", "best", "rule", "score_name")


@answering
def plot_pruning(path: Any, ax: Any = None) -> Any:
    """Draw the cross-validated error of every pruned tree, mark the best and the chosen one, and return the Axes.

    The trees stand at equal distances, the largest on the left: alphas grow by powers, so that a true scale would crowd
    most of them at zero.
    """
    curve = _Curve.of(path)
    with style():
        ax = new_axes(ax, SIZE)
        _draw_curve(ax, curve)
        _draw_limit(ax, curve)
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


def _draw_curve(ax: Any, curve: _Curve) -> None:
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


def _draw_limit(ax: Any, curve: _Curve) -> None:
    ax.axhline(
        curve.limit, color=FAINT, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1, label="least error + 1 standard error"
    )


def _draw_marks(ax: Any, curve: _Curve) -> None:
    ax.axvline(curve.chosen, color=ACCENT, linewidth=1.0, alpha=0.5, zorder=1)
    marks = {"zorder": 4, "markersize": 9, "linestyle": "none"}
    ax.plot(
        curve.best,
        curve.mean[curve.best],
        marker="o",
        markerfacecolor=PAPER,
        markeredgecolor=INK,
        markeredgewidth=1.4,
        label=f"least error: {_tree_words(curve, curve.best)}",
        **marks,
    )
    ax.plot(
        curve.chosen,
        curve.mean[curve.chosen],
        marker="D",
        markerfacecolor=ACCENT,
        markeredgecolor=PAPER,
        label=f"chosen ({curve.rule}): {_tree_words(curve, curve.chosen)}",
        **{**marks, "markersize": 7},
    )


def _tree_words(curve: _Curve, index: int) -> str:
    leaves = int(curve.n_leaves[index])
    return f"{leaves} {'leaf' if leaves == 1 else 'leaves'}, alpha {_short(curve.alphas[index])}"


def _label(ax: Any, curve: _Curve) -> None:
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
