"""From scores (rows, scores) to numbers and labels, as steps of an ONNX graph."""

from __future__ import annotations

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import ParameterError
from sapwood.interchange.targets.exported_model import MOST_EXPONENT
from sapwood.interchange.targets.onnx.graph import Graph
from sapwood.model import Model

INT64 = 7  # ONNX's number of the type
LABEL_TYPES = {str: np.object_, bool: np.bool_, int: np.int64, float: np.float64}


def add_numbers(graph: Graph, model: Model, scores: str) -> str:
    """Probabilities or predictions (rows, outputs)."""
    if model.response.scale != 1.0:
        scores = graph.add("Mul", scores, graph.constant(model.response.scale))
    numbers = _RESPONSES[model.response.kind](graph, model, scores)
    if model.response.factors is None:
        return numbers
    divided = graph.add("Div", numbers, graph.constant(model.response.factors))
    return graph.add("Div", divided, graph.add("ReduceSum", divided, graph.constant([1]), keepdims=1))


def add_label(graph: Graph, model: Model, scores: str, output: int) -> str:
    """The label (rows,) of one output: of the first of equals, or of the second class if the one score is above 0."""
    labels = graph.constant(label_array(model.classes[output].tolist()))
    if model.trees.n_columns == 1 and len(model.classes[output]) == 2:
        operator = "GreaterOrEqual" if model.response.second_of_equals else "Greater"
        chosen = graph.add(operator, scores, graph.constant(model.response.margin))
        index = graph.add("Reshape", graph.add("Cast", chosen, to=INT64), graph.constant([-1]))
    else:
        own = _columns(graph, scores, model.groups[output], model.trees.n_columns)
        least = graph.add("ReduceMax", own, graph.constant([1]), keepdims=1)
        if model.response.margin:
            least = graph.add("Sub", least, graph.constant(model.response.margin))
        near = graph.add("Cast", graph.add("GreaterOrEqual", own, least), to=INT64)
        index = graph.add("ArgMax", graph.add("Cast", near, to=1), axis=1, keepdims=0)
    return graph.add("Gather", labels, index)


def label_array(labels: list[object]) -> Array:
    """Labels as a tensor."""
    kinds = {type(label) for label in labels}
    if len(kinds) != 1 or not kinds <= set(LABEL_TYPES):
        raise ParameterError(
            f"The classes {labels[:5]!r} are not all strings or all numbers of one type, which ONNX needs. Fit "
            "the model to such labels."
        )
    if any("\ud800" <= char <= "\udfff" for label in labels for char in str(label)):
        raise ParameterError(f"A class among {labels[:5]!r} is not valid Unicode, which ONNX needs. Rename it.")
    return np.array(labels, dtype=LABEL_TYPES[kinds.pop()])


def _columns(graph: Graph, scores: str, kept: list[int], n_scores: int) -> str:
    if kept == list(range(n_scores)):
        return scores
    return graph.add("Gather", scores, graph.constant(kept), axis=1)


def _same(graph: Graph, model: Model, scores: str) -> str:
    return _columns(graph, scores, model.kept_scores, model.trees.n_columns)


def _logistic(graph: Graph, model: Model, scores: str) -> str:  # noqa: ARG001 - one of several
    second = graph.add("Sigmoid", scores)
    return graph.add("Concat", graph.add("Sub", graph.constant(1.0), second), second, axis=1)


def _softmax(graph: Graph, model: Model, scores: str) -> str:  # noqa: ARG001
    return graph.add("Softmax", scores, axis=1)


def _exponential(graph: Graph, model: Model, scores: str) -> str:  # noqa: ARG001
    return graph.add("Exp", graph.add("Min", scores, graph.constant(MOST_EXPONENT)))


def _in_order(graph: Graph, model: Model, scores: str) -> list[str]:
    """Scores from the least to the largest, and where they were."""
    count = graph.constant([model.trees.n_columns])
    return graph.add_several(2, "TopK", scores, count, axis=1, largest=0, sorted=1)


def _sorted(graph: Graph, model: Model, scores: str) -> str:
    values, _ = _in_order(graph, model, scores)
    return graph.add("Gather", values, graph.constant(list(model.response.ranks)), axis=1)


def _median(graph: Graph, model: Model, scores: str) -> str:
    """The first score up to which scores have half of the weight."""
    assert model.response.weights is not None
    values, order = _in_order(graph, model, scores)
    ends = graph.add("CumSum", graph.add("Gather", graph.constant(model.response.weights), order), graph.constant(1))
    whole = graph.add("Gather", ends, graph.constant([model.trees.n_columns - 1]), axis=1)
    reached = graph.add("GreaterOrEqual", ends, graph.add("Mul", whole, graph.constant(0.5)))
    first = graph.add("ArgMax", graph.add("Cast", reached, to=1), axis=1, keepdims=1)
    return graph.add("GatherElements", values, first, axis=1)


_RESPONSES = {
    "same": _same,
    "logistic": _logistic,
    "softmax": _softmax,
    "exponential": _exponential,
    "sorted": _sorted,
    "median": _median,
}
