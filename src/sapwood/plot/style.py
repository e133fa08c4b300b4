"""The style of all pictures, and matplotlib, which is imported only when a picture is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from sapwood.errors import MissingExtraError, ParameterTypeError

if TYPE_CHECKING:
    from matplotlib import axes
    from matplotlib.colors import Colormap

Axes: TypeAlias = "axes.Axes"

INK = "#333333"
FAINT = "#9a9a9a"
PAPER = "#ffffff"
ACCENT = "#cc4433"
GRID = "#eeeeee"
NOTE = "#777777"
SIZE = (7.5, 4.6)  # inches
DASHES = (0, (4, 3))
_MOST_IN_COLUMN = 18  # entries of a legend; more would be higher than the picture

_SEED = 0x5A9_0D  # points drawn at random must not follow those of data made with a common seed such as 0

# Low to high; the middle is sand, since grey is for what is missing
_LOW_TO_HIGH = ("#33639c", "#7fa3c7", "#dccfa6", "#dd8d6a", "#b8392e")
_PALE_TO_DEEP = ("#f3eedf", "#b5cbd0", "#6f9cbd", "#3f659a", "#27346a")

_STYLE = {
    "font.family": "sans-serif",
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.labelsize": 10.0,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "legend.fontsize": 9.0,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "axes.linewidth": 0.8,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    # Names of columns and classes are text, whatever dollar signs or backslashes they hold
    "text.parse_math": False,
    "text.usetex": False,
}


def pyplot() -> Any:
    """Import matplotlib's pyplot."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError(
            "Pictures need matplotlib, which is not installed. Install it with: pip install 'sapwood[plot]'"
        ) from error
    return plt


@contextmanager
def style() -> Iterator[None]:
    """Apply the style to everything created inside the `with` block."""
    settings = pyplot().rcParams
    # Not rc_context: it would undo what a notebook sets when its first figure is made, the backend and `interactive`
    before = {name: settings[name] for name in _STYLE}
    try:
        settings.update(_STYLE)
        yield
    finally:
        settings.update(before)


def fixed_generator() -> np.random.Generator:
    """Random numbers of a picture, the same each time."""
    return np.random.default_rng(_SEED)


def new_axes(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """Return the axes given, or those of a new figure."""
    if ax is None:
        made: Axes = pyplot().subplots(figsize=figsize, layout="constrained")[1]
        return made
    require_axes(ax)
    return ax


def require_axes(ax: object) -> None:
    """Raise unless the object can be drawn on."""
    if not hasattr(ax, "annotate") or not hasattr(ax, "figure"):
        raise ParameterTypeError(
            f"ax={ax!r} is not allowed: it must be one matplotlib Axes, or None for a new figure. "
            "Use fig, ax = plt.subplots() and pass ax."
        )


def draw_grid(ax: Axes, axis: Literal["x", "y"]) -> None:
    """Draw faint lines behind everything else."""
    ax.grid(axis=axis, color=GRID, linewidth=0.8, zorder=0)
    ax.set_axisbelow(True)


def low_to_high() -> Colormap:
    """Colours of points from low to high: both ends stand out, with any kind of colour vision."""
    return _colour_map("low to high", _LOW_TO_HIGH)


def pale_to_deep() -> Colormap:
    """Colours of areas from low to high, ever darker."""
    return _colour_map("pale to deep", _PALE_TO_DEEP)


def _colour_map(name: str, colours: tuple[str, ...]) -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(name, colours)


def colour_bar(ax: Axes, mappable: Any, label: str, aspect: float = 25.0) -> Any:
    """Add a bar that shows what the colours mean."""
    bar = ax.figure.colorbar(mappable, ax=ax, pad=0.02, aspect=aspect)
    bar.outline.set_visible(False)
    bar.set_label(label, color=INK)
    return bar


def mark_best(ax: Axes, x: float, y: float, label: str) -> None:
    """Mark the best point of a curve."""
    looks: dict[str, Any] = {"markerfacecolor": PAPER, "markeredgecolor": INK, "markeredgewidth": 1.4}
    ax.plot(x, y, marker="o", markersize=9, linestyle="none", zorder=4, label=label, **looks)


def mark_chosen(ax: Axes, x: float, y: float, label: str) -> None:
    """Mark the point of a curve that is used, by a line as well."""
    ax.axvline(x, color=ACCENT, linewidth=1.0, alpha=0.5, zorder=1)
    looks: dict[str, Any] = {"markerfacecolor": ACCENT, "markeredgecolor": PAPER}
    ax.plot(x, y, marker="D", markersize=7, linestyle="none", zorder=4, label=label, **looks)


def legend_beside(ax: Axes, gap: float = 0.2) -> None:
    """Put the legend where it hides nothing, and is not taken for data; `gap` is before its text, in letters."""
    columns = 1 + (len(ax.get_legend_handles_labels()[0]) - 1) // _MOST_IN_COLUMN
    size = {} if columns == 1 else {"ncols": columns, "fontsize": 7.5, "columnspacing": 1.0}
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, handletextpad=gap, **size)


def label_axes(ax: Axes, across: str, up: str) -> None:
    """Name both axes; axes that were given may have been made to read formulas."""
    as_plain_text((ax.xaxis.label, ax.yaxis.label))
    ax.set_xlabel(across)
    ax.set_ylabel(up)


def note(ax: Axes, text: str) -> None:
    """Write a small faint line above the top right corner of the picture; nothing if it is empty."""
    if not text:
        return
    ax.annotate(
        text,
        (1, 1),
        (0, 3),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=8.0,
        color=NOTE,
    )


def as_plain_text(texts: Any) -> None:
    """Keep texts that exist already from being read as formulas."""
    for text in texts:
        text.set_parse_math(False)
        text.set_usetex(False)
