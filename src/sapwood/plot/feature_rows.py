"""Rows of a picture: one for each feature, the first on top."""

from __future__ import annotations

from collections.abc import Sequence

from sapwood.counted import counted
from sapwood.plot.short_text import distinct
from sapwood.plot.style import Axes, as_plain_text, new_axes

LONGEST_NAME = 36
_WIDTH = 7.5
_HEIGHT = 0.3  # of a row, in inches
_AROUND = 1.0  # inches for the axis below
_FEWEST = 4


def row_axes(ax: Axes | None, count: int, height: float = _HEIGHT) -> Axes:
    """Return the axes given, or those of a figure as high as its rows."""
    return new_axes(ax, (_WIDTH, _AROUND + height * max(count, _FEWEST)))


def name_rows(ax: Axes, names: Sequence[str], longest: int = LONGEST_NAME) -> None:
    """Write the names on the left, and put the first row on top."""
    ax.set_yticks(range(len(names)), distinct(names, longest))
    ax.tick_params(axis="y", length=0)
    as_plain_text(ax.get_yticklabels())
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)


def features_left_out(count: int) -> str:
    """How many features are not shown by themselves, as text."""
    return counted(count, "other feature")
