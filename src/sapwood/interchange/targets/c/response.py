"""From scores to numbers, in C."""

from __future__ import annotations

from collections.abc import Iterable
from math import isinf, isnan

from sapwood.interchange.targets.formula import MOST_EXPONENT, Formula


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


def c_response(formula: Formula) -> list[str]:
    """Statements that set `out` from `score`."""
    lines = _RESPONSES[formula.response](formula)
    return lines if formula.factors is None else [*lines, *_undone(formula)]


def _same(formula: Formula) -> list[str]:
    return [f"out[{place}] = score[{k}];" for place, k in enumerate(formula.kept)]


def _scaled(formula: Formula) -> list[str]:
    factor = c_number(formula.scale)
    return [] if formula.scale == 1.0 else [f"for (int k = 0; k < {formula.n_scores}; k++) score[k] *= {factor};"]


def _logistic(formula: Formula) -> list[str]:
    return [
        *_scaled(formula),
        f"out[1] = 1.0 / (1.0 + exp(score[0] < -{MOST_EXPONENT} ? {MOST_EXPONENT} : -score[0]));",
        "out[0] = 1.0 - out[1];",
    ]


def _softmax(formula: Formula) -> list[str]:
    each = f"for (int k = 0; k < {formula.n_scores}; k++)"
    return [
        *_scaled(formula),
        "double most = score[0], total = 0.0;",
        f"{each} most = score[k] > most ? score[k] : most;",
        f"{each} total += out[k] = exp(score[k] - most);",
        f"{each} out[k] /= total;",
    ]


def _exponential(formula: Formula) -> list[str]:  # noqa: ARG001 - one of several
    return [f"out[0] = exp(score[0] > {MOST_EXPONENT} ? {MOST_EXPONENT} : score[0]);"]


def _sorted(formula: Formula) -> list[str]:
    return [
        *_in_order(formula),
        f"static const int rank[] = {{{', '.join(map(str, formula.ranks))}}};",
        f"for (int k = 0; k < {formula.n_scores}; k++) out[k] = score[order[rank[k]]];",
    ]


def _median(formula: Formula) -> list[str]:
    assert formula.weights is not None
    each = f"for (int k = 0; k < {formula.n_scores}; k++)"
    return [
        *_in_order(formula),
        f"static const double weight[] = {{{c_list(formula.weights.tolist())}}};",
        "double total = 0.0, end = 0.0;",
        f"{each} total += weight[order[k]];",
        f"{each} {{",
        "    end += weight[order[k]];",
        "    out[0] = score[order[k]];",
        "    if (end >= 0.5 * total) break;",
        "}",
    ]


def _in_order(formula: Formula) -> list[str]:
    """The numbers of the scores from the least to the largest; equals in their order."""
    return [
        f"int order[{formula.n_scores}];",
        f"for (int k = 0; k < {formula.n_scores}; k++) {{",
        "    int j = k;",
        "    for (; j > 0 && score[order[j - 1]] > score[k]; j--) order[j] = order[j - 1];",
        "    order[j] = k;",
        "}",
    ]


def _undone(formula: Formula) -> list[str]:
    assert formula.factors is not None
    n = len(formula.factors)
    return [
        f"static const double factor[] = {{{c_list(formula.factors.tolist())}}};",
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
