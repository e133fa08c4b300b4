"""Losses: the starting scores of boosting, derivatives, and the meaning of a score."""

from sapwood.losses.absolute import Absolute
from sapwood.losses.counts import Gamma, Poisson, Tweedie
from sapwood.losses.custom import CustomLoss
from sapwood.losses.exponential import Exponential
from sapwood.losses.huber import Huber
from sapwood.losses.logistic import Logistic
from sapwood.losses.loss import Loss
from sapwood.losses.multinomial import Multinomial
from sapwood.losses.names import LOSSES, make_loss
from sapwood.losses.per_target import PerTarget
from sapwood.losses.quantile import Quantile
from sapwood.losses.ranking import LambdaRank
from sapwood.losses.squared import Squared

__all__ = [
    "LOSSES",
    "Absolute",
    "CustomLoss",
    "Exponential",
    "Gamma",
    "Huber",
    "LambdaRank",
    "Logistic",
    "Loss",
    "Multinomial",
    "PerTarget",
    "Poisson",
    "Quantile",
    "Squared",
    "Tweedie",
    "make_loss",
]
