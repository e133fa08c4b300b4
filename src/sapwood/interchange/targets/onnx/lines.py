"""Lines of linear leaves as steps of an ONNX graph, some trees at a time.

An operator with a target for each tree gives the leaf of a row in every tree. Numbers of its first line, then of its
second and so on, are looked up by leaf, and x by the line's column: slope * (clip(x) - centre), 0 if x is missing.
"""

from __future__ import annotations

from itertools import islice

import numpy as np

from sapwood.arrays import Array
from sapwood.interchange.targets.exported_model import stops_at_unseen
from sapwood.interchange.targets.onnx.graph import Graph
from sapwood.interchange.targets.onnx.trees import Shape, leaf_numbers, shape_of
from sapwood.kernels.linear_leaves import LINE, MOST_COLUMNS
from sapwood.model import Model
from sapwood.tree import Tree

INT64 = 7  # ONNX's number of the type
TREES = 64  # at a time: a row needs memory for each


def add_lines(graph: Graph, model: Model, rows: str, scores: str) -> str:
    """Scores with what the lines of all trees add."""
    for start in range(0, len(model.trees), TREES):
        terms = list(islice(model.trees, start, start + TREES))
        shapes = [shape_of(term.tree, stops_at_unseen(model)) for term in terms]
        trees = [term.tree for term in terms]
        lines = np.concatenate([_lines_of(tree, shape) for tree, shape in zip(trees, shapes, strict=True)])
        n_places = int(np.count_nonzero(lines["slope"].any(axis=0)))
        if n_places == 0:
            continue
        leaves = graph.add("Cast", graph.trees(rows, leaf_numbers(shapes), len(terms)), to=INT64)
        total = _line_values(graph, rows, leaves, lines[:, 0])
        for place in range(1, n_places):
            total = graph.add("Add", total, _line_values(graph, rows, leaves, lines[:, place]))
        of_score = np.zeros((len(terms), model.trees.n_columns))
        of_score[np.arange(len(terms)), [term.column for term in terms]] = 1.0
        scores = graph.add("Add", scores, graph.add("MatMul", total, graph.constant(of_score)))
    return scores


def _lines_of(tree: Tree, shape: Shape) -> Array:
    """Lines of the leaves of a tree in its graph, (leaves, most lines); a slope of 0 where there is none."""
    found = np.zeros((len(shape.leaves), MOST_COLUMNS), dtype=LINE)
    for leaf, node in enumerate(shape.leaves.tolist()):
        own = tree.linear.of_node(node) if tree.linear is not None else found[leaf, :0]
        found[leaf, : len(own)] = own
    return found


def _line_values(graph: Graph, rows: str, leaves: str, lines: Array) -> str:
    """What one line of each leaf adds, (rows, trees)."""
    slope, centre, low, high = (
        graph.add("Gather", graph.constant(lines[name]), leaves) for name in ("slope", "centre", "low", "high")
    )
    column = graph.add("Gather", graph.constant(lines["column"]), leaves)
    x = graph.add("GatherElements", rows, column, axis=1)
    clipped = graph.add("Min", graph.add("Max", x, low), high)
    value = graph.add("Mul", slope, graph.add("Sub", clipped, centre))
    return graph.add("Where", graph.add("IsNaN", x), graph.constant(0.0), value)
