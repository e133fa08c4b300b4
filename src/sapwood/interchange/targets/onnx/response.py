"""From scores (rows, scores) to numbers and labels, as steps of an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ParameterError
from sapwood.interchange.targets.formula import MOST_EXPONENT, Formula
from sapwood.interchange.targets.onnx.graph import Graph

INT64 = 7  # ONNX's number of the type
LABEL_TYPES = {str: np.object_, bool: np.bool_, int: np.int64, float: np.float64}


def add_numbers(graph: Graph, formula: Formula, scores: str) -> str:
    """Probabilities or predictions (rows, outputs)."""
    if formula.scale != 1.0:
        scores = graph.add("Mul", scores, graph.constant(formula.scale))
    numbers = _RESPONSES[formula.response](graph, formula, scores)
    if formula.factors is None:
        return numbers
    divided = graph.add("Div", numbers, graph.constant(formula.factors))
    return str(graph.add("Div", divided, graph.add("ReduceSum", divided, graph.constant([1]), keepdims=1)))


def add_label(graph: Graph, formula: Formula, scores: str, output: int) -> str:
    """The label (rows,) of one output: of the first of equals, or of the second class if its score says so."""
    labels = graph.constant(label_array(formula.classes[output]))
    if formula.n_scores == 1 and len(formula.classes[output]) == 2:
        operator = "GreaterOrEqual" if formula.second_of_equals else "Greater"
        chosen = graph.add(operator, scores, graph.constant(formula.margin))
        index = graph.add("Reshape", graph.add("Cast", chosen, to=INT64), graph.constant([-1]))
    else:
        own = _columns(graph, scores, formula.groups[output], formula.n_scores)
        least = graph.add("ReduceMax", own, graph.constant([1]), keepdims=1)
        if formula.margin:
            least = graph.add("Sub", least, graph.constant(formula.margin))
        near = graph.add("Cast", graph.add("GreaterOrEqual", own, least), to=INT64)
        index = graph.add("ArgMax", graph.add("Cast", near, to=1), axis=1, keepdims=0)
    return str(graph.add("Gather", labels, index))


def label_array(labels: tuple[Any, ...]) -> NDArray[Any]:
    """Labels as a tensor."""
    kinds = {type(label) for label in labels}
    if len(kinds) != 1 or not kinds <= set(LABEL_TYPES):
        raise ParameterError(
            f"The classes {list(labels)[:5]!r} are not all strings or all numbers of one type, which ONNX needs. Fit "
            "the model to such labels."
        )
    kind = kinds.pop()
    if kind is str and any("\ud800" <= char <= "\udfff" for label in labels for char in label):
        raise ParameterError(f"A class among {list(labels)[:5]!r} is not valid Unicode, which ONNX needs. Rename it.")
    return np.array(labels, dtype=LABEL_TYPES[kind])


def _columns(graph: Graph, scores: str, kept: tuple[int, ...], n_scores: int) -> str:
    if kept == tuple(range(n_scores)):
        return scores
    return str(graph.add("Gather", scores, graph.constant(list(kept)), axis=1))


def _same(graph: Graph, formula: Formula, scores: str) -> str:
    return _columns(graph, scores, formula.kept, formula.n_scores)


def _logistic(graph: Graph, formula: Formula, scores: str) -> str:  # noqa: ARG001 - one of several
    second = graph.add("Sigmoid", scores)
    return str(graph.add("Concat", graph.add("Sub", graph.constant(1.0), second), second, axis=1))


def _softmax(graph: Graph, formula: Formula, scores: str) -> str:  # noqa: ARG001
    return str(graph.add("Softmax", scores, axis=1))


def _exponential(graph: Graph, formula: Formula, scores: str) -> str:  # noqa: ARG001
    return str(graph.add("Exp", graph.add("Min", scores, graph.constant(MOST_EXPONENT))))


def _in_order(graph: Graph, formula: Formula, scores: str) -> list[str]:
    """Scores from the least to the largest, and where they were."""
    count = graph.constant([formula.n_scores])
    found: list[str] = graph.add("TopK", scores, count, n_results=2, axis=1, largest=0, sorted=1)
    return found


def _sorted(graph: Graph, formula: Formula, scores: str) -> str:
    values, _ = _in_order(graph, formula, scores)
    return str(graph.add("Gather", values, graph.constant(list(formula.ranks)), axis=1))


def _median(graph: Graph, formula: Formula, scores: str) -> str:
    """The first score up to which scores have half of the weight."""
    values, order = _in_order(graph, formula, scores)
    ends = graph.add("CumSum", graph.add("Gather", graph.constant(formula.weights), order), graph.constant(1))
    whole = graph.add("Gather", ends, graph.constant([formula.n_scores - 1]), axis=1)
    reached = graph.add("GreaterOrEqual", ends, graph.add("Mul", whole, graph.constant(0.5)))
    first = graph.add("ArgMax", graph.add("Cast", reached, to=1), axis=1, keepdims=1)
    return str(graph.add("GatherElements", values, first, axis=1))


_RESPONSES = {
    "same": _same,
    "logistic": _logistic,
    "softmax": _softmax,
    "exponential": _exponential,
    "sorted": _sorted,
    "median": _median,
}
