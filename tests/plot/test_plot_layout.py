import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapwood.plot.layout import Spacing, drawn_shape, tidy_layout
from sapwood.tree import LEAF
from show.stand_in_tree import grow, number_columns

SPACE = Spacing(beside=4.0, below=10.0, hanging=3.0)
LEAVES = st.just(([1, 1],))
TREES = st.recursive(LEAVES, lambda child: st.tuples(st.just(0), st.just(1.0), child, child), max_leaves=60)


def shape_of(node, max_depth=None):
    return drawn_shape(grow(node, number_columns("x"), ["no", "yes"]).tree_, max_depth)


def full(depth):
    return ([1, 1],) if depth == 0 else (0, 1.0, full(depth - 1), full(depth - 1))


@settings(max_examples=60, deadline=None)
@given(TREES, st.integers(0, 10**6))
def test_boxes_and_edges_never_meet(node, seed):
    shape = shape_of(node)
    rng = np.random.default_rng(seed)
    widths, heights = rng.uniform(5, 60, len(shape.nodes)), rng.uniform(5, 40, len(shape.nodes))
    layout = tidy_layout(shape, widths, heights, SPACE)
    boxes = np.stack([layout.x - widths / 2, layout.y - heights / 2, layout.x + widths / 2, layout.y + heights / 2], 1)
    assert boxes.min() >= -1e-9
    assert boxes[:, 2].max() <= layout.width + 1e-9
    assert boxes[:, 3].max() <= layout.height + 1e-9
    for i in range(len(boxes)):
        for j in range(i):
            assert _apart(boxes[i], boxes[j]) >= 2.9
    for parent, child in _edges(shape):
        for box in (box for index, box in enumerate(boxes) if index not in (parent, child)):
            for piece in _pieces(layout, parent, child):
                assert _apart(piece, box) > 0


def test_many_leaves_take_half_the_width():
    shape = shape_of(full(5))
    sizes = [50.0] * len(shape.nodes)
    layout = tidy_layout(shape, sizes, sizes, SPACE)
    assert layout.width < 0.6 * 32 * 54


def test_parents_stand_between_their_children():
    shape = shape_of(full(3))
    layout = tidy_layout(shape, [10.0] * 15, [10.0] * 15, SPACE)
    assert layout.x[0] == pytest.approx((layout.x[shape.left[0]] + layout.x[shape.right[0]]) / 2)


def test_a_shape_can_be_cut():
    shape = shape_of(full(4), max_depth=1)
    assert len(shape.nodes) == 7
    assert sum(shape.cut) == 4
    assert shape.left.count(LEAF) == 4


def _apart(a, b):
    return max(a[0] - b[2], b[0] - a[2], a[1] - b[3], b[1] - a[3])


def _edges(shape):
    pairs = zip(shape.left, shape.right, strict=True)
    return [(parent, child) for parent, children in enumerate(pairs) for child in children if child != LEAF]


def _pieces(layout, parent, child):
    turn, (xp, xc), (yp, yc) = layout.turn[parent], layout.x[[parent, child]], layout.y[[parent, child]]
    yield xp, yp, xp, turn
    yield min(xp, xc), turn, max(xp, xc), turn
    yield xc, turn, xc, yc
