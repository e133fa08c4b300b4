"""Losses by name: the library's own, scikit-learn's and XGBoost's."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from sapwood.errors import ParameterError
from sapwood.losses.absolute import Absolute
from sapwood.losses.counts import Gamma, Poisson, Tweedie
from sapwood.losses.exponential import Exponential
from sapwood.losses.huber import Huber
from sapwood.losses.logistic import Logistic
from sapwood.losses.loss import Loss
from sapwood.losses.multinomial import Multinomial
from sapwood.losses.quantile import Quantile
from sapwood.losses.ranking import LambdaRank
from sapwood.losses.squared import Squared
from sapwood.parameters import OneOf, check_names, check_parameters


def log_loss(n_classes: int = 2, prior_start: bool = True, friedman: bool = False) -> Loss:
    """The logistic loss of two classes, the multinomial loss of more."""
    return Logistic() if n_classes == 2 else Multinomial(n_classes, prior_start, friedman)


LOSSES: dict[str, Callable[..., Loss]] = {
    "squared_error": Squared,
    "absolute_error": Absolute,
    "huber": Huber,
    "quantile": Quantile,
    "log_loss": log_loss,
    "logistic": Logistic,
    "multinomial": Multinomial,
    "exponential": Exponential,
    "poisson": Poisson,
    "gamma": Gamma,
    "tweedie": Tweedie,
    "lambdarank": LambdaRank,
    "reg:squarederror": Squared,
    "reg:absoluteerror": Absolute,
    "reg:quantileerror": Quantile,
    "binary:logistic": Logistic,
    "multi:softprob": Multinomial,
    "multi:softmax": Multinomial,
    "count:poisson": Poisson,
    "reg:gamma": Gamma,
    "reg:tweedie": Tweedie,
    "rank:ndcg": LambdaRank,
}

# Names in other libraries, and the nearest equivalent
_ABSENT = {
    "reg:pseudohubererror": "'huber' with a delta; it is the Huber loss itself, not its smooth imitation",
    "deviance": "'log_loss', as scikit-learn calls it now",
    "ls": "'squared_error', as scikit-learn calls it now",
    "lad": "'absolute_error', as scikit-learn calls it now",
}


def make_loss(name: str, /, **options: object) -> Loss:
    """The loss of that name, with the options of its class."""
    if str(name) in _ABSENT:
        raise ParameterError(f"loss={name!r} is not allowed for gradient boosting. Use {_ABSENT[name]}.")
    check_parameters("gradient boosting", {"loss": (OneOf(*LOSSES),)}, {"loss": name})
    maker = LOSSES[name]
    signature = inspect.signature(maker).parameters.values()
    check_names(f"The loss {name!r}", options, [option.name for option in signature])
    missing = [option.name for option in signature if option.default is option.empty and option.name not in options]
    if missing:
        raise ParameterError(f"The loss {name!r} needs {missing[0]}. Use make_loss({name!r}, {missing[0]}=…).")
    return maker(**options)
