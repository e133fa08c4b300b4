"""A model in XGBoost's JSON format."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ParameterError
from sapwood.interchange.targets.formula import Formula, formula_of
from sapwood.interchange.targets.replay import Precision, boundary_rows, check_answers, has_unseen, write_checked
from sapwood.interchange.targets.xgboost.objective import objective_of
from sapwood.interchange.targets.xgboost.replay import has_xgboost, xgboost_answers
from sapwood.interchange.targets.xgboost.tree import numbers_of_float32, xgboost_tree
from sapwood.keywords import answering
from sapwood.table.schema import Schema
from sapwood.tree import Tree
from sapwood.tree_sum import Term

Floats = NDArray[np.float64]

VERSION = [3, 2, 0]
FEATURE_TYPES = {"number": "float", "boolean": "i", "date": "float", "duration": "float", "category": "c"}
LOG_ODDS = (-15.0, 2.0)  # that survive as a probability of float32


@answering
def to_xgboost(model: Any, path: str | os.PathLike[str] | None = None) -> bytes:
    """A model for XGBoost 3: the JSON that `Booster.load_model` reads. XGBoost itself is not needed.

    Boosting, regression forests, bagging, single regression trees and AdaBoost for classes can be written: models
    whose predictions are sums of trees, or a logistic, softmax or exponential function of them. The same rows of
    float32 reach the same leaves; sums are XGBoost's, in float32. Categories are numbers of levels, in the order of
    `schema_.columns[j].levels`; an unknown level goes where missing values go, with unseen="error", too. Names of
    columns with [, ] or <, which XGBoost refuses, are left out; columns are then found by their places.

    Args:
        model: a fitted estimator.
        path: file to write, ending in .json; None only returns the bytes.
    """
    formula = formula_of(model, "XGBoost")
    _refuse(formula)
    if path is not None and not str(path).endswith(".json"):
        raise ParameterError(f"path={str(path)!r} must end in .json: XGBoost takes other files for binary ones.")
    data = json.dumps(xgboost_json(model, formula), separators=(",", ":")).encode()
    answer = xgboost_answers(data, [FEATURE_TYPES[column.kind] for column in formula.schema.columns])
    check_answers(model, formula, "XGBoost", _float32_rows(formula), answer, _precision(formula))
    write_checked(path, data)
    return data


def _refuse(formula: Formula) -> None:
    """Refuse what XGBoost's format cannot say."""
    can = (
        "XGBoost's format holds sums of trees and logistic, softmax or exponential functions of them: boosting, "
        "regression trees and forests, and AdaBoost for classes. Use to_onnx, to_c, to_sql or to_python for this one."
    )
    if formula.classes and formula.response == "same":
        raise ParameterError(f"This {formula.kind} averages probabilities. {can}")
    if formula.response == "median":
        raise ParameterError(f"This {formula.kind} predicts a weighted median. {can}")
    if formula.response == "sorted":
        raise ParameterError(f"This {formula.kind} predicts several quantiles, put into their order. {can}")
    if formula.stops_at_unseen:
        raise ParameterError(f"With unseen='node', rows of this {formula.kind} may end at inner nodes. {can}")


def xgboost_json(model: Any, formula: Formula) -> dict[str, Any]:
    """The whole document."""
    sums = _Sums.of(formula)
    trees = [tree for tree, _, _ in sums.trees]
    schema, n_outputs = formula.schema, formula.n_scores
    has_classes = bool(formula.classes)
    booster = {
        "model": {
            "cats": {"enc": [], "feature_segments": [], "sorted_idx": []},
            "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
            "iteration_indptr": list(range(0, len(trees) + 1, n_outputs)),
            "tree_info": [column for _, _, column in sums.trees],
            "trees": [xgboost_tree(tree, words, t) for t, (tree, words, _) in enumerate(sums.trees)],
        },
        "name": "gbtree",
    }
    start = ",".join(repr(x) for x in numbers_of_float32(sums.start))
    return {
        "learner": {
            "attributes": {},
            "feature_names": _names(schema),
            "feature_types": [FEATURE_TYPES[column.kind] for column in schema.columns],
            "gradient_booster": booster,
            "learner_model_param": {
                "base_score": f"[{start}]",
                "boost_from_average": "1",
                "num_class": str(n_outputs) if has_classes and formula.response == "softmax" else "0",
                "num_feature": str(schema.n_features),
                "num_target": "1" if has_classes else str(n_outputs),
            },
            "objective": objective_of(model, formula),
        },
        "version": VERSION,
    }


def _names(schema: Schema) -> list[str]:
    """Names of columns, if training had them and XGBoost admits all of them; otherwise it goes by places."""
    admitted = schema.named and not any(char in name for name in schema.names for char in "[]<")
    return list(schema.names) if admitted else []


@dataclass(frozen=True, eq=False)
class _Sums:
    """Trees of one word each, in the order of rounds, and XGBoost's base score."""

    trees: list[tuple[Tree, Floats, int]]  # what its nodes say, and the score it is added to
    start: Floats

    @classmethod
    def of(cls, formula: Formula) -> _Sums:
        """Scales and divisors are part of the leaves; weights of classes shift the start."""
        factor = formula.scale / formula.tree_sum.divisor
        parts = [part for term in formula.terms for part in _one_word(term, factor)]
        start, rest = _start(formula, formula.tree_sum.base * factor)
        first = [next(t for t, part in enumerate(parts) if part[2] == k) for k in range(len(rest)) if rest[k] != 0.0]
        for t in first:
            tree, words, k = parts[t]
            parts[t] = tree, words + rest[k], k
        return cls(parts, start)


def _one_word(term: Term, factor: float) -> list[tuple[Tree, Floats, int]]:
    return [(term.tree, words * factor, term.column + k) for k, words in enumerate(term.values.T)]


def _start(formula: Formula, base: Floats) -> tuple[Floats, Floats]:
    """The base score on the scale that XGBoost has it on, and what is left for the first trees."""
    rest = np.zeros_like(base)
    if formula.factors is not None:  # dividing shares by weights is the same as shifting their logarithms
        logs = np.log(formula.factors)
        base = base - (logs[1:] - logs[0] if formula.response == "logistic" else logs)
    if formula.response == "logistic":
        inside = np.clip(base, *LOG_ODDS)
        return 1.0 / (1.0 + np.exp(-inside)), base - inside
    return (np.exp(base), rest) if formula.response == "exponential" else (base, rest)


def _float32_rows(formula: Formula) -> Floats:
    """Rows as XGBoost sees them; infinite numbers it refuses."""
    with np.errstate(over="ignore", under="ignore"):
        cells = boundary_rows(formula, is_slow=not has_xgboost()).astype(np.float32).astype(np.float64)
    known = ~has_unseen(formula, cells) | (formula.unseen != "error")
    return cells[~np.isinf(cells).any(axis=1) & known]


def _precision(formula: Formula) -> Precision:
    """What sums of so many numbers of this size are good for in float32."""
    factor = formula.scale / formula.tree_sum.divisor
    size = float(np.abs(formula.tree_sum.base).max(initial=0.0)) * factor
    size += sum(float(np.abs(term.values).max()) for term in formula.terms) * abs(factor)
    error = 8.0 * float(np.finfo(np.float32).eps) * math.sqrt(len(formula.tree_sum) + 1.0) * max(size, 1.0)
    return Precision(error, error if formula.response != "exponential" else 0.0)
