"""From scores to numbers, in SQL, step by step: score k is called sk, and result k of step t is called pt_k."""

from __future__ import annotations

from sapwood.interchange.targets.exported_model import MOST_EXPONENT
from sapwood.interchange.targets.sql.tree import sql_number
from sapwood.model import Model

LEAST = "-7e2"  # of the exponents
Steps = list[list[str]]  # expressions of the columns of each step


def result(step: int, k: int) -> str:
    """The name of a column that a step makes."""
    return f"p{step}_{k}"


def sql_response(model: Model) -> Steps:
    """Expressions of the numbers; a later step refers to the results of the one before."""
    steps = _RESPONSES[model.response.kind](model)
    return steps if model.response.factors is None else [*steps, *_undone(model, len(steps))]


def _same(model: Model) -> Steps:
    return [[f"s{k}" for k in model.kept_scores]]


def _scaled(model: Model, k: int) -> str:
    return f"s{k}" if model.response.scale == 1.0 else f"{sql_number(model.response.scale)} * s{k}"


def _logistic(model: Model) -> Steps:
    return [[f"-({_scaled(model, 0)})"], [f"1e0 / (1e0 + {_exp('p0_0')})"], ["1e0 - p1_0", "p1_0"]]


def _softmax(model: Model) -> Steps:
    scores = [_scaled(model, k) for k in range(model.trees.n_columns)]
    below = [f"{score} - (SELECT MAX(v) FROM ({_rows(scores)}) AS r)" for score in scores]
    return [below, [_exp(result(0, k)) for k in range(len(scores))], _shared(1, len(scores))]


def _exponential(model: Model) -> Steps:
    return [[_exp(f"s{k}") for k in range(model.trees.n_columns)]]


def _exp(x: str) -> str:
    """The exponential, which PostgreSQL refuses where it is too large or too small for a double."""
    most = sql_number(MOST_EXPONENT)
    return f"EXP(CASE WHEN {x} > {most} THEN {most} WHEN {x} < {LEAST} THEN {LEAST} ELSE {x} END)"


def _sorted(model: Model) -> Steps:
    rows = _rows([f"s{k}" for k in range(model.trees.n_columns)])
    return [[f"(SELECT v FROM ({rows}) AS r ORDER BY v LIMIT 1 OFFSET {rank})" for rank in model.response.ranks]]


def _median(model: Model) -> Steps:
    """The least score up to which scores have half of the weight."""
    assert model.response.weights is not None
    weights = [f"CAST({sql_number(weight)} AS DOUBLE PRECISION)" for weight in model.response.weights.tolist()]
    parts = [f"SELECT {k} AS i, s{k} AS v, {weight} AS w" for k, weight in enumerate(weights)]
    order = "ORDER BY v, i ROWS BETWEEN UNBOUNDED PRECEDING AND"
    ends = (
        f"SELECT v, SUM(w) OVER ({order} CURRENT ROW) AS part, "
        f"SUM(w) OVER ({order} UNBOUNDED FOLLOWING) AS whole FROM ({' UNION ALL '.join(parts)}) AS r"
    )
    return [[f"(SELECT MIN(v) FROM ({ends}) AS e WHERE part >= 5e-1 * whole)"]]


def _undone(model: Model, step: int) -> Steps:
    assert model.response.factors is not None
    factors = enumerate(model.response.factors.tolist())
    divided = [f"{result(step - 1, k)} / {sql_number(factor)}" for k, factor in factors]
    return [divided, _shared(step, len(divided))]


def _shared(step: int, n: int) -> list[str]:
    """Each result of a step as a share of all of them."""
    total = " + ".join(result(step, k) for k in range(n))
    return [f"{result(step, k)} / ({total})" for k in range(n)]


def _rows(values: list[str]) -> str:
    """A table of one column; aggregates of rows are the same in all databases, those of arguments are not."""
    return " UNION ALL ".join(f"SELECT {value} AS v" for value in values)


_RESPONSES = {
    "same": _same,
    "logistic": _logistic,
    "softmax": _softmax,
    "exponential": _exponential,
    "sorted": _sorted,
    "median": _median,
}
