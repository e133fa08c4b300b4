"""A picture of a tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from sapwood.keywords import answering
from sapwood.model import model_of
from sapwood.parameters import Interval, Nothing, Rule, check_parameters
from sapwood.plot.layout import Layout, Shape, Spacing, drawn_shape, tidy_layout
from sapwood.plot.short_text import shortened, wrapped
from sapwood.plot.style import FAINT, INK, NOTE, PAPER, Axes, as_plain_text, pyplot, require_axes, style
from sapwood.show.colour import TRUNCATED_FILL, node_fills
from sapwood.show.node_label import STYLE_RULES, TRUNCATED, NodeLabels, TreeStyle
from sapwood.show.one_tree import TreeNumber, pick_tree
from sapwood.tree import LEAF, Tree

_RULES: dict[str, tuple[Rule, ...]] = {**STYLE_RULES, "fontsize": (Interval(float, low=0, closed="neither"), Nothing())}

_POINTS = 72.0  # per inch
_FONT = 9.0
_LONGEST_LINE = 400  # letters of one condition or list
_LARGEST_FONT = 11.0
_PADDING = 0.45  # inside a box, in font sizes
_MARGIN = 0.15  # inches around the tree
_TITLE = 0.3  # inches kept free for a title
_SMALLEST = (4.0, 2.5)
_LARGEST = (100.0, 60.0)  # inches; a deeper tree gets smaller letters
_LINE_WIDTHS = (0.7, 3.0)
_MOST_TRIALS = 12


@answering
def plot_tree(
    model: object,
    tree: TreeNumber = None,
    *,
    filled: bool = True,
    rounded: bool = True,
    ax: Axes | None = None,
    fontsize: float | None = None,
    **options: Unpack[TreeStyle],
) -> Axes:
    """Draw a single tree, or one tree of an ensemble, and return the Axes.

    The values of boosted trees are what they add to the score, learning rate included. Edges are as wide as their share
    of the rows. The boxes of the nodes are the annotations of the Axes, in preorder.

    Args:
        model: a fitted model.
        tree: number of a tree of a model of many, in the order of training, negative ones from the end; of boosting
            also a round and a score, such as (0, "setosa").
        filled: whether boxes have the colour of their class or value.
        rounded: whether boxes have round corners.
        ax: Axes to draw on; None makes a figure that is large enough for the tree, unless a figure of chosen size or
            with axes is current.
        fontsize: size of all text in points; by default as large as the boxes allow.
        max_depth: depth below which branches are cut off; by default there is no limit.
        feature_names: names of the columns; by default those seen in fit.
        class_names: names of the classes; by default those seen in fit, and False leaves out the class.
        label: whether "all" boxes, the "root" or "none" name their numbers; default "all".
        impurity: whether boxes show the impurity, or the gain of boosting; default True.
        node_ids: whether boxes show the number of the node; default False.
        proportion: whether rows and classes are shown as shares; default False.
        precision: decimals of numbers; default 3.
    """
    check_parameters("plot_tree", _RULES, {**options, "filled": filled, "rounded": rounded, "fontsize": fontsize})
    one = pick_tree(model_of(model), tree)
    if ax is not None:
        require_axes(ax)
    shape = drawn_shape(one.tree, options.get("max_depth"))
    labels = _labels(NodeLabels(one, options), shape)
    fills = node_fills(one) if filled else [PAPER] * one.tree.node_count
    with style():
        axes = _emptied(_current_axes(shape, labels, fontsize or _FONT) if ax is None else ax)
        as_plain_text((axes.title,))
        axes.set_title(one.title, color=NOTE, fontsize=9.0)
        picture = _fitted(axes, shape, labels, fontsize)
        _draw_edges(picture, one.tree, shape)
        _draw_boxes(picture, shape, labels, fills, rounded)
    return axes


@dataclass(frozen=True)
class _Picture:
    axes: Axes
    layout: Layout
    fontsize: float


def _labels(nodes: NodeLabels, shape: Shape) -> list[str]:
    leaves = shape.left.count(LEAF)
    width = 24 if leaves <= 8 else 20 if leaves <= 16 else 17
    return [
        TRUNCATED if cut else "\n".join(piece for line in nodes.lines(node) for piece in _wrapped(line, width))
        for node, cut in zip(shape.nodes, shape.cut, strict=True)
    ]


def _wrapped(line: str, width: int) -> list[str]:
    return wrapped(shortened(line, _LONGEST_LINE), width)


def _measured_layout(figure: Any, shape: Shape, labels: list[str], fontsize: float) -> Layout:
    """Lay the tree out in points for a font size."""
    sizes = [_size(figure, text, fontsize) for text in labels]
    space = Spacing(beside=1.1 * fontsize, below=3.4 * fontsize, hanging=1.2 * fontsize)
    return tidy_layout(shape, [width for width, _ in sizes], [height for _, height in sizes], space)


def _size(figure: Any, label: str, fontsize: float) -> tuple[float, float]:
    from matplotlib.text import Text

    text = Text(0, 0, label, fontsize=fontsize, figure=figure, parse_math=False, usetex=False)
    extent = text.get_window_extent()
    scale = _POINTS / figure.dpi
    return extent.width * scale + 2 * _PADDING * fontsize, extent.height * scale + 2 * _PADDING * fontsize


def _current_axes(shape: Shape, labels: list[str], fontsize: float) -> Any:
    """Return the current axes, or fill a figure without axes; its size is ours to choose unless the user chose it."""
    figure = pyplot().gcf()
    if figure.axes:
        return pyplot().gca()
    defaults = pyplot().rcParamsDefault["figure.figsize"], pyplot().rcParams["figure.figsize"]
    if any(np.allclose(figure.get_size_inches(), size) for size in defaults):
        layout = _measured_layout(figure, shape, labels, fontsize)
        wanted = layout.width / _POINTS + 2 * _MARGIN, layout.height / _POINTS + 2 * _MARGIN + _TITLE
        figure.set_size_inches(*np.clip(wanted, _SMALLEST, _LARGEST))
    width, height = figure.get_size_inches()
    across, down = _MARGIN / width, _MARGIN / height
    return figure.add_axes((across, down, 1 - 2 * across, 1 - 2 * down - min(_TITLE / height, 0.1)))


def _emptied(axes: Axes) -> Axes:
    axes.clear()
    axes.set_axis_off()
    return axes


def _fitted(axes: Axes, shape: Shape, labels: list[str], fontsize: float | None) -> _Picture:
    """Choose the largest letters whose boxes fit the axes, and make a point of the layout the unit of the axes."""
    layout = _measured_layout(axes.figure, shape, labels, fontsize or _FONT)
    if fontsize is None:
        fontsize = min(_LARGEST_FONT, _FONT * _room(axes, layout))
        # Widths of small letters are rounded to pixels, so boxes may come out larger than in proportion
        for _ in range(_MOST_TRIALS):
            layout = _measured_layout(axes.figure, shape, labels, fontsize)
            if _room(axes, layout) >= 1 - 1e-6:
                break
            fontsize *= 0.95
    axes.set_xlim(0, layout.width)
    axes.set_ylim(layout.height, 0)
    return _Picture(axes, layout, fontsize)


def _room(axes: Axes, layout: Layout) -> float:
    """Factor by which a layout may grow until it fills the axes in one direction."""
    extent = axes.get_window_extent()
    points = _POINTS / axes.figure.dpi
    return float(min(extent.width * points / layout.width, extent.height * points / layout.height))


def _draw_edges(picture: _Picture, tree: Tree, shape: Shape) -> None:
    """Draw edges from centre to centre; the boxes cover their ends."""
    layout = picture.layout
    rows = tree.weighted_n_node_samples
    for parent, children in enumerate(zip(shape.left, shape.right, strict=True)):
        for side, child in zip(("True", "False"), children, strict=True):
            if child == LEAF:
                continue
            turn, x, y = layout.turn[parent], layout.x, layout.y
            picture.axes.plot(
                [x[parent], x[parent], x[child], x[child]],
                [y[parent], turn, turn, y[child]],
                color=FAINT,
                linewidth=_line_width(float(rows[shape.nodes[child]] / rows[0])) * picture.fontsize / _FONT,
                solid_joinstyle="round",
                zorder=1,
                scalex=False,
                scaley=False,
            )
            if parent == 0:
                _draw_side(picture, side, (x[parent] + x[child]) / 2, turn)


def _line_width(share: float) -> float:
    return _LINE_WIDTHS[0] + (_LINE_WIDTHS[1] - _LINE_WIDTHS[0]) * math.sqrt(share)


def _draw_side(picture: _Picture, side: str, x: float, y: float) -> None:
    picture.axes.annotate(
        side,
        (x, y),
        (0, 0.25 * picture.fontsize),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=picture.fontsize,
        color=INK,
    )


def _draw_boxes(picture: _Picture, shape: Shape, labels: list[str], fills: list[str], rounded: bool) -> None:
    shape_of_box = "round" if rounded else "square"
    size = f"pad={_PADDING},rounding_size=0.4" if rounded else f"pad={_PADDING}"
    for index, text in enumerate(labels):
        picture.axes.annotate(
            text,
            (picture.layout.x[index], picture.layout.y[index]),
            ha="center",
            va="center",
            fontsize=picture.fontsize,
            color=INK,
            zorder=3,
            bbox={
                "boxstyle": f"{shape_of_box},{size}",
                "facecolor": TRUNCATED_FILL if shape.cut[index] else fills[shape.nodes[index]],
                "edgecolor": FAINT,
                "linewidth": 0.8,
            },
        )
