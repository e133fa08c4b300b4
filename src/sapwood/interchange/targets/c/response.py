"""From scores to numbers, in C."""

from __future__ import annotations

from collections.abc import Iterable
from math import isinf, isnan

from sapwood.interchange.targets.exported_model import MOST_EXPONENT
from sapwood.model import Model


def c_number(x: float) -> str:
    """A double that C reads back exactly."""
    if isnan(x):
        return "NAN"
    if isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    return "0.0" if x == 0.0 and str(x) == "0.0" else float(x).hex()


def c_list(numbers: Iterable[float]) -> str:
    """Doubles for a list in braces."""
    return ", ".join(map(c_number, numbers))


def c_response(model: Model) -> list[str]:
    """Statements that set `out` from `score`."""
    lines = _RESPONSES[model.response.kind](model)
    return lines if model.response.factors is None else [*lines, *_undone(model)]


def _same(model: Model) -> list[str]:
    return [f"out[{place}] = score[{k}];" for place, k in enumerate(model.kept_scores)]


def _scaled(model: Model) -> list[str]:
    factor = c_number(model.response.scale)
    return (
        []
        if model.response.scale == 1.0
        else [f"for (int k = 0; k < {model.trees.n_columns}; k++) score[k] *= {factor};"]
    )


def _logistic(model: Model) -> list[str]:
    return [
        *_scaled(model),
        f"out[1] = 1.0 / (1.0 + exp(score[0] < -{MOST_EXPONENT} ? {MOST_EXPONENT} : -score[0]));",
        "out[0] = 1.0 - out[1];",
    ]


def _softmax(model: Model) -> list[str]:
    each = f"for (int k = 0; k < {model.trees.n_columns}; k++)"
    return [
        *_scaled(model),
        "double most = score[0], total = 0.0;",
        f"{each} most = score[k] > most ? score[k] : most;",
        f"{each} total += out[k] = exp(score[k] - most);",
        f"{each} out[k] /= total;",
    ]


def _exponential(model: Model) -> list[str]:
    each, bounded = (
        f"for (int k = 0; k < {model.trees.n_columns}; k++)",
        f"score[k] > {MOST_EXPONENT} ? {MOST_EXPONENT}",
    )
    return [f"{each} out[k] = exp({bounded} : score[k]);"]


def _sorted(model: Model) -> list[str]:
    return [
        *_in_order(model),
        f"static const int rank[] = {{{', '.join(map(str, model.response.ranks))}}};",
        f"for (int k = 0; k < {model.trees.n_columns}; k++) out[k] = score[order[rank[k]]];",
    ]


def _median(model: Model) -> list[str]:
    assert model.response.weights is not None
    each = f"for (int k = 0; k < {model.trees.n_columns}; k++)"
    return [
        *_in_order(model),
        f"static const double weight[] = {{{c_list(model.response.weights.tolist())}}};",
        "double total = 0.0, end = 0.0;",
        f"{each} total += weight[order[k]];",
        f"{each} {{",
        "    end += weight[order[k]];",
        "    out[0] = score[order[k]];",
        "    if (end >= 0.5 * total) break;",
        "}",
    ]


def _in_order(model: Model) -> list[str]:
    """The numbers of the scores from the least to the largest; equals in their order."""
    return [
        f"int order[{model.trees.n_columns}];",
        f"for (int k = 0; k < {model.trees.n_columns}; k++) {{",
        "    int j = k;",
        "    for (; j > 0 && score[order[j - 1]] > score[k]; j--) order[j] = order[j - 1];",
        "    order[j] = k;",
        "}",
    ]


def _undone(model: Model) -> list[str]:
    assert model.response.factors is not None
    n = len(model.response.factors)
    return [
        f"static const double factor[] = {{{c_list(model.response.factors.tolist())}}};",
        "double sum = 0.0;",
        f"for (int k = 0; k < {n}; k++) sum += out[k] /= factor[k];",
        f"for (int k = 0; k < {n}; k++) out[k] /= sum;",
    ]


_RESPONSES = {
    "same": _same,
    "logistic": _logistic,
    "softmax": _softmax,
    "exponential": _exponential,
    "sorted": _sorted,
    "median": _median,
}
