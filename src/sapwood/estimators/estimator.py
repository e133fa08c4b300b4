"""Estimator: what all estimators share. Parameters have rules, a fit is all or nothing, a fitted one has a Model."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from sapwood.arrays import Array
from sapwood.declaration import declared, fitted, parameter
from sapwood.errors import AbsentNameError, NotFittedError, ParameterTypeError
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.all_or_nothing import all_or_nothing
from sapwood.estimators.fitted_facts import facts_html
from sapwood.estimators.methods_by_task import of_classifiers
from sapwood.keywords import answering_method, takes_any
from sapwood.model.model import Model
from sapwood.parameters import Rule, check_names, check_parameters
from sapwood.peer_names import ATTRIBUTES
from sapwood.table.schema import Schema
from sapwood.table.statistics import with_statistics
from sapwood.table.table import Table
from sapwood.threads import resolve_jobs

ANSWERING = (
    *("fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "apply", "score"),
    *("staged_predict", "staged_predict_proba", "staged_decision_function", "predict_quantiles", "predict_interval"),
)
"""Methods whose unknown keywords are answered with what to write instead."""


@declared
class Estimator(BaseEstimator):
    """A scikit-learn estimator whose parameters have rules and whose fitted state is a Model."""

    rules: ClassVar[Mapping[str, tuple[Rule, ...]]] = {}
    without_effect: ClassVar[Mapping[str, tuple[Rule, ...]]] = {}
    """Parameters of other packages that are taken, checked, and dropped: values that change nothing here."""
    model_settings: ClassVar[tuple[str, ...]]
    """Attributes that `model_` depends on."""

    n_jobs: int | None = parameter(shared.N_JOBS, default=None)
    drift_warning: bool = parameter(shared.DRIFT_WARNING, default=True)

    schema_: Schema = fitted("What the model knows of its columns: names, kinds, levels and statistics.")
    n_features_in_: int = fitted("Number of columns.")
    feature_names_in_: Array = fitted("Names of the columns, if X had names.")

    # Parameters

    def __init_subclass__(cls, **options: Any) -> None:
        """Every `fit` is all or nothing, and methods answer keywords that they do not have."""
        if cls.__module__.startswith("sapwood."):
            cls.__dataclass_fields__ = {}  # its own: without `declared`, it would stand for all it inherits in the MRO
        if "fit" in vars(cls):
            cls.fit = all_or_nothing(cls.fit)
        for name in ANSWERING:
            method = vars(cls).get(name)
            if inspect.isfunction(method) and not takes_any(method):
                setattr(cls, name, answering_method(method))
        super().__init_subclass__(**options)

    def __new__(cls, *unnamed: Any, **parameters: Any) -> Self:
        """Refuse unknown parameters with the nearest known name, which `__init__` could not."""
        known = cls._get_param_names()
        check_names(cls.__name__, cls._with_effect(parameters) if cls.without_effect else parameters, known)
        if unnamed:
            kinds = [one.kind for one in inspect.signature(cls.__init__).parameters.values()]
            if len(unnamed) > kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) - 1:  # one of them is self
                raise ParameterTypeError(
                    f"{cls.__name__} takes its parameters by name, but got {unnamed[-1]!r} by position. Use names, for "
                    f"example {cls.__name__}({known[0]}=…). Its parameters are {', '.join(known)}."
                )
        return super().__new__(cls)  # type: ignore[no-any-return]

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name; unknown ones are refused with the nearest known name."""
        owner = type(self).__name__
        parameters = self._with_effect(parameters)
        check_names(owner, [name.partition("__")[0] for name in parameters], self._get_param_names())
        for name in parameters:
            outer, nested, inner = name.partition("__")
            if nested and not hasattr(parameters.get(outer, getattr(self, outer)), "set_params"):
                raise ParameterTypeError(
                    f"{owner} has no parameter {name!r}: its {outer} has no parameters of its own, such as {inner!r}. "
                    f"Set {outer} itself."
                )
        if any("__" in name for name in parameters):  # the Model may depend on parameters of an estimator inside
            self.__dict__.pop("_model", None)
        return super().set_params(**parameters)  # type: ignore[no-any-return]

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Names of all parameters. scikit-learn reads them from the constructor each time."""
        return list(super()._get_param_names())

    @classmethod
    def _with_effect(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """All but those that are taken for the sake of other packages; values that mean something else are refused."""
        dropped = {n: v for n, v in parameters.items() if n in cls.without_effect and n not in cls._get_param_names()}
        check_parameters(cls.__name__, cls.without_effect, dropped)
        return {name: value for name, value in parameters.items() if name not in dropped}

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.rules, self.get_params(deep=False))

    def _describe(self, of: Table | Schema, classes: Sequence[Array] = (), single: bool = True) -> None:
        """Set the fitted attributes that follow from the training rows, or from what a model knows of their columns."""
        schema = self.schema_ = of if isinstance(of, Schema) else with_statistics(of, resolve_jobs(self.n_jobs))
        self.n_features_in_ = schema.n_features
        self.__dict__.pop("feature_names_in_", None)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        if classes:
            sizes = [len(labels) for labels in classes]
            self.classes_: Any = classes[0] if single else list(classes)
            self.n_classes_: Any = sizes[0] if single else sizes

    # The fitted model

    @abstractmethod
    def _new_model(self, **common: Any) -> Model:
        """What the fitted estimator computes, given what models of all methods have in common."""

    @property
    def model_(self) -> Model:
        """What the fitted estimator computes; prediction, explanations, plots and exports use it."""
        known = self.__dict__
        made: Model | None = known.get("_model")
        if made is None:
            if "schema_" not in known:
                self._check_fitted()
            classes = known.get("classes_", [])
            made = known["_model"] = self._new_model(
                estimator=type(self).__name__,
                schema=self.schema_,
                classes=tuple(classes if isinstance(classes, list) else [classes]),
                single=known.get("_single_output", True),
                unseen=known.get("unseen", "missing"),
                drift_warning=self.drift_warning,
            )
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; if the Model depends on it, it is made again when it is next needed."""
        if name in self.model_settings:
            self.__dict__.pop("_model", None)
        super().__setattr__(name, value)

    def _check_fitted(self) -> None:
        if not hasattr(self, "schema_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )

    # Prediction

    @answering_method
    def predict(self, X: Any) -> Array:
        """Predictions for the rows of X: numbers, or the most probable classes, the first of equals."""
        return self.model_.predict(X, n_jobs=self.n_jobs)

    @of_classifiers
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes (rows, classes); a list of arrays if there are several outputs."""
        return self.model_.predict_proba(X, n_jobs=self.n_jobs)

    @of_classifiers
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            found = self.predict_proba(X)
            return [np.log(one) for one in found] if isinstance(found, list) else np.log(found)

    def predict_one(self, row: Any) -> Any:
        """Prediction for one row: what `predict` gives for a table of this row.

        Args:
            row: a dictionary from column names to values, a list or tuple of values in the order of the columns, a
                one-dimensional array, or a table of one row. None is a missing value. Numbers, booleans and strings in
                a dictionary, list, tuple or array take microseconds; dates and tables take as long as in `predict`.
        """
        return self.model_.predict_one(row)

    @of_classifiers
    def predict_proba_one(self, row: Any) -> Any:
        """Probabilities of the classes for one row, in any form that `predict_one` takes; a list if several outputs."""
        return self.model_.predict_proba_one(row)

    def to_frame(self) -> Any:
        """Every node of every tree that prediction uses, as a data frame (pandas if installed, else polars).

        | column | meaning |
        |---|---|
        | tree; round, score | number of the tree, and for boosting its round and, unless it is for all, its score |
        | node, depth, parent, left, right | numbers of nodes in the tree; -1 for none, and the root has depth 0 |
        | is_leaf, feature, threshold, levels | the split: values up to the threshold, or these levels, go left |
        | missing_left | whether missing values go left |
        | value | value of the node; several have one column each, such as "value setosa" |
        | n_rows, weight | training rows in the node and their weight, for boosting the sum of their hessians |
        | impurity | impurity of these rows; NaN for boosting, whose nodes have none |
        | gain | by how much the split lowers weight times impurity, for boosting the objective |
        """
        from sapwood.explain.nodes import nodes_frame  # models need no explanations until they are asked for one

        self._check_fitted()
        return nodes_frame(self)

    # What Python, scikit-learn and notebooks ask for

    def __sklearn_tags__(self) -> Tags:
        """Tags: missing values, categorical and sparse input are supported, and y is required."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: the Model is made again when it is needed."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_model"}

    def __dir__(self) -> list[str]:
        """Names that there are; those of other packages are only answered."""
        own = type(self)
        return [n for n in super().__dir__() if not isinstance(inspect.getattr_static(own, n, None), _AbsentName)]

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """Scikit-learn's box, and what was fitted below it; not there if scikit-learn is set to show text."""
        box = super()._repr_html_
        return lambda: f"{box()}{facts_html(self)}"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """The same for notebooks, which ask for all forms at once."""
        forms: dict[str, str] = super()._repr_mimebundle_(**options)
        return forms | {"text/html": forms["text/html"] + facts_html(self)} if "text/html" in forms else forms


class _AbsentName:
    """A name of another package's models: whoever asks for it is told what to write instead, and `hasattr` says no.

    A `__getattr__` of the class would do the same, and make every attribute of every model slower.
    """

    def __init__(self, name: str) -> None:
        self._name, self.__doc__ = name, f"Not an attribute of this class. {ATTRIBUTES[name]}"

    def __get__(self, instance: object, owner: type) -> Any:
        raise AbsentNameError(f"{owner.__name__!r} object has no attribute {self._name!r}. {ATTRIBUTES[self._name]}")


for _name in ATTRIBUTES:
    setattr(Estimator, _name, _AbsentName(_name))
