"""XGBoost's name of what a model minimises, and so of what its scores mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sapwood.interchange.targets.formula import Formula
from sapwood.losses.absolute import Absolute
from sapwood.losses.counts import Gamma, Poisson, Tweedie
from sapwood.losses.huber import Huber
from sapwood.losses.loss import Loss
from sapwood.losses.quantile import Quantile
from sapwood.losses.ranking import LambdaRank

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


def objective_of(model: Any, formula: Formula) -> dict[str, Any]:
    """The entry "objective" of the JSON; what has no name of its own is a squared error to XGBoost."""
    if formula.response == "logistic":
        return {"name": "binary:logistic", **WEIGHTED}
    if formula.response == "softmax":
        return {"name": "multi:softprob", "softmax_multiclass_param": {"num_class": str(formula.n_scores)}}
    return _of_loss(getattr(model, "loss_", None))


def _of_loss(loss: Any) -> dict[str, Any]:
    made = (make(loss) for kind, make in OF_LOSSES.items() if isinstance(loss, kind))
    return next(made, {"name": "reg:squarederror", **WEIGHTED})


OF_LOSSES: dict[type[Loss], Callable[[Any], dict[str, Any]]] = {
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
