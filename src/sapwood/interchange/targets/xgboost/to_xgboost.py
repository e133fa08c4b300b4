"""A model in XGBoost's JSON format."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.errors import ParameterError
from sapwood.interchange.cells import has_unseen
from sapwood.interchange.optional import installed
from sapwood.interchange.targets.exported_model import exported_model, stops_at_unseen
from sapwood.interchange.targets.replay import Precision, boundary_rows, check_outputs, write_checked
from sapwood.interchange.targets.xgboost.replay import xgboost_outputs
from sapwood.interchange.targets.xgboost.tree import numbers_of_float32, xgboost_tree
from sapwood.keywords import answering
from sapwood.losses.absolute import Absolute
from sapwood.losses.counts import Gamma, Poisson, Tweedie
from sapwood.losses.huber import Huber
from sapwood.losses.loss import Loss
from sapwood.losses.per_target import PerTarget
from sapwood.losses.quantile import Quantile
from sapwood.losses.ranking import LambdaRank
from sapwood.model import Model
from sapwood.table.schema import Schema
from sapwood.tree_sum import Term

VERSION = [3, 2, 0]
FEATURE_TYPES = {"number": "float", "boolean": "i", "date": "float", "duration": "float", "category": "c"}
LOG_ODDS = (-15.0, 2.0)  # that survive as a probability of float32
WEIGHTED = {"reg_loss_param": {"scale_pos_weight": "1"}}
RANKING = {
    "lambdarank_bias_norm": "1",
    "lambdarank_normalization": "1",
    "lambdarank_num_pair_per_sample": "4294967295",
    "lambdarank_pair_method": "topk",
    "lambdarank_score_normalization": "1",
    "lambdarank_unbiased": "0",
    "ndcg_exp_gain": "1",
}
OBJECTIVES: dict[type[Loss], Callable[[Any], dict[str, object]]] = {
    Absolute: lambda _: {"name": "reg:absoluteerror"},
    Quantile: lambda loss: {
        "name": "reg:quantileerror",
        "quantile_loss_param": {"quantile_alpha": f"[{loss.quantiles[0]!r}]"},
    },
    Huber: lambda _: {"name": "reg:pseudohubererror", "pseudo_huber_param": {"huber_slope": "1"}},
    Poisson: lambda _: {"name": "count:poisson", "poisson_regression_param": {"max_delta_step": "0.699999988"}},
    Gamma: lambda _: {"name": "reg:gamma", **WEIGHTED},
    Tweedie: lambda loss: {
        "name": "reg:tweedie",
        "tweedie_regression_param": {"tweedie_variance_power": repr(loss.power)},
    },
    LambdaRank: lambda _: {"name": "rank:ndcg", "lambdarank_param": RANKING},
}


@answering
def to_xgboost(model: object, path: str | os.PathLike[str] | None = None) -> bytes:
    """A model for XGBoost 3: the JSON that `Booster.load_model` reads. XGBoost itself is not needed.

    Boosting, regression forests, bagging, single regression trees and AdaBoost for classes can be written: models
    whose predictions are sums of trees, or a logistic, softmax or exponential function of them. The same rows of
    float32 reach the same leaves; sums are XGBoost's, in float32. Categories are numbers of levels, in the order of
    `schema_.columns[j].levels`; an unknown level goes where missing values go, even with unseen="error". Names of
    columns with [, ] or <, which XGBoost refuses, are left out; columns are then found by position.

    Args:
        model: a fitted estimator, or its Model, which lacks its loss: XGBoost's objective is then one with the
            same link, such as the squared error.
        path: file to write, ending in .json; None only returns the bytes.
    """
    exported = exported_model(model, "XGBoost", has_lines=False)
    _refuse(exported)
    if path is not None and not str(path).endswith(".json"):
        raise ParameterError(f"path={str(path)!r} must end in .json: XGBoost takes other files for binary ones.")
    document = xgboost_json(exported, getattr(model, "loss_", None))
    data = json.dumps(document, separators=(",", ":")).encode()
    predict = xgboost_outputs(data, [FEATURE_TYPES[column.kind] for column in exported.schema.columns])
    check_outputs(exported, "XGBoost", _float32_rows(exported), predict, _precision(exported))
    write_checked(path, data)
    return data


def _refuse(model: Model) -> None:
    """Refuse what XGBoost's format cannot express."""
    can = (
        "XGBoost's format holds sums of trees and logistic, softmax or exponential functions of them: boosting, "
        "regression trees and forests, and AdaBoost for classes. Use to_onnx, to_c, to_sql or to_python for this one."
    )
    if model.classes and model.response.kind == "same":
        raise ParameterError(f"This {model.estimator} averages probabilities. {can}")
    if model.response.kind == "median":
        raise ParameterError(f"This {model.estimator} predicts a weighted median. {can}")
    if model.response.kind == "sorted":
        raise ParameterError(f"This {model.estimator} predicts several quantiles, which it sorts. {can}")
    if stops_at_unseen(model):
        raise ParameterError(f"With unseen='node', rows of this {model.estimator} may end at inner nodes. {can}")


def xgboost_json(model: Model, loss: object) -> dict[str, object]:
    """The whole document."""
    terms, base = _single_terms(model)
    schema, n_outputs = model.schema, model.trees.n_columns
    has_classes = bool(model.classes)
    booster = {
        "model": {
            "cats": {"enc": [], "feature_segments": [], "sorted_idx": []},
            "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(terms))},
            "iteration_indptr": list(range(0, len(terms) + 1, n_outputs)),
            "tree_info": [term.column for term in terms],
            "trees": [xgboost_tree(term.tree, term.values, t) for t, term in enumerate(terms)],
        },
        "name": "gbtree",
    }
    start = ",".join(repr(x) for x in numbers_of_float32(base))
    return {
        "learner": {
            "attributes": {},
            "feature_names": _names(schema),
            "feature_types": [FEATURE_TYPES[column.kind] for column in schema.columns],
            "gradient_booster": booster,
            "learner_model_param": {
                "base_score": f"[{start}]",
                "boost_from_average": "1",
                "num_class": str(n_outputs) if has_classes and model.response.kind == "softmax" else "0",
                "num_feature": str(schema.n_features),
                "num_target": "1" if has_classes else str(n_outputs),
            },
            "objective": _objective(model, loss),
        },
        "version": VERSION,
    }


def _objective(model: Model, loss: object) -> dict[str, object]:
    """The entry "objective" of the JSON; `loss` is what training minimised, if it is known.

    Losses that XGBoost does not have become one with the same link: the squared error, or that of gamma.
    """
    if model.response.kind == "logistic":
        return {"name": "binary:logistic", **WEIGHTED}
    if model.response.kind == "softmax":
        return {"name": "multi:softprob", "softmax_multiclass_param": {"num_class": str(model.trees.n_columns)}}
    loss = loss.each if isinstance(loss, PerTarget) else loss
    made = (make(loss) for kind, make in OBJECTIVES.items() if isinstance(loss, kind))
    name = "reg:gamma" if model.response.kind == "exponential" else "reg:squarederror"
    return next(made, {"name": name, **WEIGHTED})


def _names(schema: Schema) -> list[str]:
    """Names of columns, if training had them and XGBoost admits all of them; otherwise none."""
    admitted = schema.named and not any(char in name for name in schema.names for char in "[]<")
    return list(schema.names) if admitted else []


def _single_terms(model: Model) -> tuple[list[Term], Floats]:
    """Terms of one value for each node, in the order of rounds, and XGBoost's base score.

    Scales and divisors are part of the leaves; weights of classes shift the start.
    """
    factor = model.response.scale / model.trees.divisor
    terms = [
        Term(term.tree, values * factor, term.column + k)
        for term in model.trees
        for k, values in enumerate(term.values.T)
    ]
    base, rest = _start(model, model.trees.base * factor)
    for k in np.flatnonzero(rest).tolist():
        t = next(t for t, term in enumerate(terms) if term.column == k)
        terms[t] = replace(terms[t], values=terms[t].values + rest[k])
    return terms, base


def _start(model: Model, base: Floats) -> tuple[Floats, Floats]:
    """The base score on the scale that XGBoost has it on, and what is left for the first trees."""
    rest = np.zeros_like(base)
    if model.response.factors is not None:  # dividing shares by weights is the same as shifting their logarithms
        logs = np.log(model.response.factors)
        base = base - (logs[1:] - logs[0] if model.response.kind == "logistic" else logs)
    if model.response.kind == "logistic":
        inside = np.clip(base, *LOG_ODDS)
        return 1.0 / (1.0 + np.exp(-inside)), base - inside
    return (np.exp(base), rest) if model.response.kind == "exponential" else (base, rest)


def _float32_rows(model: Model) -> Floats:
    """Rows as XGBoost sees them; infinite numbers it refuses."""
    with np.errstate(over="ignore", under="ignore"):
        cells = boundary_rows(model, is_slow=installed("xgboost") is None).astype(np.float32).astype(np.float64)
    known = ~has_unseen(cells, model.schema) | (model.unseen != "error")
    return cells[~np.isinf(cells).any(axis=1) & known]


def _precision(model: Model) -> Precision:
    """The rounding error of sums of so many numbers of this size in float32."""
    factor = model.response.scale / model.trees.divisor
    size = float(np.abs(model.trees.base).max(initial=0.0)) * factor
    size += sum(float(np.abs(term.values).max()) for term in model.trees) * abs(factor)
    error = 8.0 * float(np.finfo(np.float32).eps) * math.sqrt(len(model.trees) + 1.0) * max(size, 1.0)
    return Precision(error, error if model.response.kind != "exponential" else 0.0)
