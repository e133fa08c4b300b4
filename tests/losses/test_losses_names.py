"""Losses by name, and their options."""

from __future__ import annotations

from typing import Any

import pytest

from sapwood import losses
from sapwood.errors import ParameterError, ParameterTypeError
from sapwood.losses import LOSSES, make_loss

NEEDED: dict[str, dict[str, Any]] = {
    "multinomial": {"n_classes": 3},
    "multi:softprob": {"n_classes": 3},
    "multi:softmax": {"n_classes": 3},
    "lambdarank": {"group_sizes": [2, 1]},
    "rank:ndcg": {"group_sizes": [2, 1]},
}


@pytest.mark.parametrize("name", LOSSES)
def test_every_name_makes_a_loss(name: str) -> None:
    assert isinstance(make_loss(name, **NEEDED.get(name, {})), losses.Loss)


@pytest.mark.parametrize("name", losses.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(losses, name).__doc__


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("reg:squarederror", "squared_error"),
        ("reg:absoluteerror", "absolute_error"),
        ("reg:quantileerror", "quantile"),
        ("binary:logistic", "logistic"),
        ("log_loss", "logistic"),
        ("count:poisson", "poisson"),
        ("reg:gamma", "gamma"),
        ("reg:tweedie", "tweedie"),
        ("multi:softprob", "multinomial"),
        ("multi:softmax", "multinomial"),
        ("rank:ndcg", "lambdarank"),
    ],
)
def test_aliases(alias: str, name: str) -> None:
    assert make_loss(alias, **NEEDED.get(alias, {})).name == name


def test_options_reach_the_loss() -> None:
    assert make_loss("huber", quantile=0.8).quantile == 0.8
    assert make_loss("quantile", quantile=[0.1, 0.9]).n_scores == 2
    assert make_loss("tweedie", power=1.3).power == 1.3
    assert make_loss("log_loss", n_classes=2).name == "logistic"
    assert make_loss("log_loss", n_classes=4, friedman=True).step_factor == 0.75
    assert make_loss("multinomial", n_classes=4).n_scores == 4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("squared_eror", "loss='squared_eror' is not allowed .* Did you mean loss='squared_error'"),
        ("binary:logistik", "Did you mean loss='binary:logistic'"),
        ("reg:pseudohubererror", "Use 'huber' with a delta"),
        ("ls", "Use 'squared_error'"),
        (3, "loss=3 is not allowed"),
        (["huber"], "is not allowed"),
    ],
    ids=str,
)
def test_unknown_names(name: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_loss(name)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("huber", {"delta": 0}, "delta=0 is not allowed for the loss 'huber'"),
        ("huber", {"quantile": 1.0}, "quantile=1.0 is not allowed"),
        ("quantile", {"quantile": 0.0}, "quantile=0.0 .* a number above 0 and below 1, or a sequence of such numbers"),
        ("quantile", {"quantile": (0.5, 2)}, "is not allowed"),
        ("quantile", {"quantile": ()}, "is not allowed"),
        ("tweedie", {"power": 2}, "power=2 is not allowed"),
        ("multinomial", {"n_classes": 1}, "n_classes=1 is not allowed"),
        ("multinomial", {}, "needs n_classes"),
        ("rank:ndcg", {}, "needs group_sizes"),
    ],
    ids=str,
)
def test_bad_options(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_loss(name, **options)


def test_unknown_options() -> None:
    with pytest.raises(ParameterTypeError, match=r"The loss 'huber' has no parameter 'detla'. Did you mean 'delta'"):
        make_loss("huber", detla=2)
