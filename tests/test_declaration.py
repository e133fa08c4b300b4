"""Parameters are declared once; constructor, rules and documentation follow from the declarations."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone, is_regressor

import sapwood
from sapwood.declaration import Meaning, declared, fitted, parameter
from sapwood.parameters import Interval, OneOf

ESTIMATORS = [
    kind
    for name in sorted(sapwood.__all__)
    if isinstance(kind := getattr(sapwood, name), type) and issubclass(kind, BaseEstimator)
]
DEPTH = Meaning((Interval(int, low=1),), "Depth of a tree.")


@declared
class Tree(BaseEstimator):
    """A tree."""

    depth: int = parameter(DEPTH, default=3)
    leaf: str = parameter(OneOf("mean", "median"), default="mean", doc="Value of a leaf.", kw_only=False)
    nodes_: int = fitted("Number of nodes.")


@declared
class Stump(Tree):
    """A tree of one split."""

    depth: int = 1


def test_the_constructor_is_made_of_the_declarations() -> None:
    assert str(inspect.signature(Tree)) == "(leaf: 'str' = 'mean', *, depth: 'int' = 3) -> None"
    assert clone(Tree("median", depth=2)).get_params() == {"leaf": "median", "depth": 2}
    assert not hasattr(Tree(), "nodes_")


def test_a_class_may_change_a_default_alone() -> None:
    assert Stump().get_params() == {"leaf": "mean", "depth": 1}
    assert Stump.rules == Tree.rules == {"depth": DEPTH.rules, "leaf": (OneOf("mean", "median"),)}  # type: ignore[attr-defined]
    assert "depth : an integer of at least 1, default=1" in (Stump.__doc__ or "")
    assert "depth : an integer of at least 1, default=3" in (Tree.__doc__ or "")


def test_the_docstring_has_numpydocs_sections() -> None:
    assert inspect.cleandoc(Tree.__doc__ or "") == inspect.cleandoc("""A tree.

        Parameters
        ----------
        depth : an integer of at least 1, default=3
            Depth of a tree.
        leaf : 'mean' or 'median', default='mean'
            Value of a leaf.

        Attributes
        ----------
        nodes_
            Number of nodes.
        """)


def test_docstrings_may_be_stripped() -> None:
    """Under python -OO there are none."""
    assert declared(type("Bare", (Tree,), {"__doc__": None})).__doc__ is None


def test_a_name_without_a_declaration_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Odd\.size is not declared"):
        declared(type("Odd", (Tree,), {"size": 3, "__annotations__": {"size": "int"}}))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_parameter_of_an_estimator_has_a_rule_and_a_text(kind: Any) -> None:
    names = set(inspect.signature(kind).parameters)
    assert names == set(kind.rules)
    assert all(kind.rules.values())
    texts = {one.name: one.metadata["doc"] for one in fields(kind)}
    assert [name for name in names if len(texts[name]) < 10] == []
    assert [name for name in names if f"\n    {name} : " not in kind.__doc__] == []


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_nearest_declaration_sets_the_default(kind: Any) -> None:
    for one in fields(kind):
        owner = next(base for base in kind.__mro__ if one.name in vars(base).get("__annotations__", ()))
        declared_here = owner.__dataclass_fields__.get(one.name)
        assert declared_here is None or one.default == declared_here.default, one.name


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_default_is_allowed(kind: Any) -> None:
    kind()._check_parameters()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_public_method_is_documented(kind: Any) -> None:
    methods = [name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name, None))]
    assert [name for name in methods if not inspect.getdoc(getattr(kind, name))] == []


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_every_fitted_attribute_is_documented(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] if is_regressor(kind()) else X[:, 0] > 0
    wanted = {"oob_score": True, "bootstrap": True, "subsample": 0.5, "n_iter_no_change": 2, "n_estimators": 5}
    wanted |= {"early_stopping_rounds": 2, "validation_fraction": 0.2}
    given = {"group": [10] * 6} if kind is sapwood.NewtonBoostingRanker else {}
    model = kind(**{name: value for name, value in wanted.items() if name in kind.rules}).fit(X, y, **given)
    attributes = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    assert [name for name in attributes if f"\n    {name}\n" not in kind.__doc__] == []


def test_a_subclass_of_an_estimator_keeps_its_fields() -> None:
    class Mine(sapwood.RandomForestClassifier):
        pass

    @dataclass(kw_only=True)
    class Own(sapwood.RandomForestClassifier):
        more: int = 1

    assert {one.name for one in fields(Mine) if one.init} == set(sapwood.RandomForestClassifier().get_params())
    assert "more=2" in repr(Own(more=2))
    assert clone(Own(more=2, max_depth=3)).get_params()["more"] == 2
