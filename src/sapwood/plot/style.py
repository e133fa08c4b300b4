"""One quiet style for every picture, and matplotlib, which is imported only when a picture is drawn."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from sapwood.errors import MissingExtraError, ParameterTypeError

INK = "#333333"
FAINT = "#9a9a9a"
PAPER = "#ffffff"
ACCENT = "#cc4433"

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


def style() -> AbstractContextManager[None]:
    """Apply the style to everything created inside the `with` block."""
    context: AbstractContextManager[None] = pyplot().rc_context(_STYLE)
    return context


def new_axes(ax: Any, figsize: tuple[float, float]) -> Any:
    """Return the axes given, or those of a new figure."""
    if ax is None:
        return pyplot().subplots(figsize=figsize, layout="constrained")[1]
    require_axes(ax)
    return ax


def require_axes(ax: Any) -> None:
    """Raise unless the object can be drawn on."""
    if not hasattr(ax, "annotate") or not hasattr(ax, "figure"):
        raise ParameterTypeError(
            f"ax={ax!r} is not allowed: it must be one matplotlib Axes, or None for a new figure. "
            "Use fig, ax = plt.subplots() and pass ax."
        )


def as_plain_text(texts: Any) -> None:
    """Keep texts that exist already from being read as formulas."""
    for text in texts:
        text.set_parse_math(False)
        text.set_usetex(False)
