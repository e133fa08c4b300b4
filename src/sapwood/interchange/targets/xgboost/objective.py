"""XGBoost's name of the loss, which implies the link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sapwood.losses.absolute import Absolute
from sapwood.losses.counts import Gamma, Poisson, Tweedie
from sapwood.losses.huber import Huber
from sapwood.losses.loss import Loss
from sapwood.losses.quantile import Quantile
from sapwood.losses.ranking import LambdaRank
from sapwood.model import Model

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


def objective_of(model: Model, loss: object) -> dict[str, object]:
    """The entry "objective" of the JSON; `loss` is what training minimised, if it is known.

    Losses that XGBoost does not have become one with the same link: the squared error, or that of gamma.
    """
    if model.response.kind == "logistic":
        return {"name": "binary:logistic", **WEIGHTED}
    if model.response.kind == "softmax":
        return {"name": "multi:softprob", "softmax_multiclass_param": {"num_class": str(model.trees.n_columns)}}
    made = (make(loss) for kind, make in OBJECTIVES.items() if isinstance(loss, kind))
    name = "reg:gamma" if model.response.kind == "exponential" else "reg:squarederror"
    return next(made, {"name": name, **WEIGHTED})


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
