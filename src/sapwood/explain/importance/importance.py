"""Importance: all measures of the importance of columns, in one sorted table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np

from sapwood.arrays import Floats
from sapwood.data_warnings import quiet
from sapwood.errors import InputError, InputTypeError, ParameterError
from sapwood.explain.column_numbers import column_groups
from sapwood.explain.editable_rows import EditableRows
from sapwood.explain.importance.permutation import Scoring, permutation_drops
from sapwood.explain.shap.shap_values import shap_values
from sapwood.keywords import answering
from sapwood.model import Model, model_of
from sapwood.one_line import one_line
from sapwood.parameters import Flag, Interval, Nothing, OneOf, RandomState, check_parameters
from sapwood.result import Part, Result, TextTable
from sapwood.seed import seed_from
from sapwood.table.frame import make_frame
from sapwood.table.weight import check_weight
from sapwood.threads import resolve_jobs

Groups = Sequence[tuple[str, list[int]]]

ORDER = ("permutation", "oob_permutation", "mean_abs_shap", "gain", "splits", "cover")
"""Measures, the most informative first: the first one that is there sorts the table, the next ones decide ties."""

_RULES = {
    "n_repeats": (Interval(int, low=1),),
    "random_state": (RandomState(),),
    "sort_by": (OneOf(*ORDER), Nothing()),
    "verbose": (Flag(),),
}


@dataclass(frozen=True, eq=False, repr=False)
class Importance(Result):
    """A table of columns (or groups of them) by measures, the most important column first.

    | measure | meaning |
    |---|---|
    | gain | share in the total decrease of impurity or loss, as `feature_importances_` |
    | splits | number of splits |
    | cover | share in the weight of the rows that pass splits |
    | permutation, permutation_se | mean drop of the score once the values are shuffled, and its standard error |
    | oob_permutation, oob_permutation_se | mean rise of each tree's own error on rows outside of its bag |
    | mean_abs_shap | mean size of the SHAP values, summed over the outputs |
    """

    names: tuple[str, ...]
    measures: Mapping[str, Floats]
    sorted_by: str

    def __getitem__(self, measure: str) -> Floats:
        if measure in self.measures:
            return self.measures[measure]
        raise InputError(f"There is no measure {measure!r} in this table. It has {', '.join(self.measures)}.")

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self) -> Any:
        """A data frame with one line for each column, and its name under "feature"."""
        return make_frame({"feature": list(self.names), **self.measures})

    def _parts(self) -> Iterator[Part]:
        numbers = [list(map(_number, values)) for values in self.measures.values()]
        rows = list(zip(map(one_line, self.names), *numbers, strict=True))
        yield TextTable(("feature", *self.measures), rows)


class ShuffleOptions(TypedDict, total=False):
    """Keywords of `importance` for permutation importance; see there."""

    n_repeats: int
    scoring: Any
    random_state: Any


@answering
@quiet()
def importance(
    model: object,
    X: object = None,
    y: object = None,
    *,
    sample_weight: Any = None,
    groups: object = None,
    sort_by: str | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
    **shuffling: Unpack[ShuffleOptions],
) -> Importance:
    """Importance of each column for the model, by every measure that the arguments allow; see `Importance`.

    Without X there are `gain`, `splits` and `cover`; with X also `mean_abs_shap`; with X and y also `permutation`,
    and `oob_permutation` if the model draws bags and X, y are the rows that it was fitted to. A measure that the
    model does not have is left out: trees of other libraries have no structure, AdaBoost's median and linear leaves
    no SHAP values.

    The table is sorted by `sort_by` or, without it, by the first measure there is of `permutation`, `oob_permutation`,
    `mean_abs_shap`, `gain`, `splits`, `cover`. The following ones decide ties, and then the name.

    Args:
        model: any fitted model.
        X: rows; new ones show what matters for prediction, those of training what the model has learned.
        y: their targets.
        sample_weight: weights of the rows in scores and means.
        groups: mapping from names to columns that count as one: gains, splits and cover are added, values are shuffled
            together, and SHAP values are added before their size is taken. Columns in no group count by themselves.
        n_repeats: how often columns are shuffled, 5 times by default.
        scoring: a name or function of scikit-learn; None, the default, is the accuracy, or R².
        sort_by: measure to sort by.
        random_state: seed of the shuffles, 0 by default.
        n_jobs: threads; the result does not depend on it.
        verbose: whether to show the progress of the shuffling on the standard error.
    """
    n_repeats, random_state = shuffling.get("n_repeats", 5), shuffling.get("random_state", 0)
    given = {"n_repeats": n_repeats, "random_state": random_state, "sort_by": sort_by, "verbose": verbose}
    check_parameters("importance", _RULES, given)
    estimator, model = model, model_of(model)
    if X is None and y is not None:
        raise InputError("y is given without X. Pass the rows that it belongs to, or neither.")
    sets, threads, seed = column_groups(groups, model.schema), resolve_jobs(n_jobs), seed_from(random_state)
    measures: dict[str, Floats] = {}
    if model.has_trees:
        measures |= {name: _added(values, sets) for name, values in _structure(model).items()}
    if X is not None:
        n_rows = model.match(X).n_rows
        weight = check_weight(sample_weight, n_rows)
        if y is not None:
            scoring = Scoring.of(estimator, shuffling.get("scoring"), y, n_rows, weight)
            rows = EditableRows.of(model, X, keep_container=scoring.reads_rows)
            options = {"n_repeats": n_repeats, "seed": seed}
            drops = permutation_drops(rows, scoring, sets, **options, n_jobs=threads, verbose=verbose)
            measures |= dict(zip(("permutation", "permutation_se"), drops, strict=True))
            measures |= _out_of_bag(estimator, X, y, sample_weight, sets, **options)
        measures |= _shap(model, X, weight, sets)
    return _sorted([name for name, _ in sets], measures, sort_by, model.estimator)


def _structure(model: Model) -> dict[str, Floats]:
    """Measures of every column by the trees alone: gains, numbers of splits, and weight of the rows that pass them."""
    n_features = model.schema.n_features
    splits, cover = np.zeros(n_features), np.zeros(n_features)
    for term in model.trees:
        inner = np.flatnonzero(~term.tree.is_leaf)
        feature, weight = term.tree.feature[inner], term.tree.weighted_n_node_samples[inner]
        splits += np.bincount(feature, minlength=n_features)
        cover += np.bincount(feature, weights=weight, minlength=n_features)
    return {"gain": _gain(model), "splits": splits, "cover": _share(cover)}


def _gain(model: Model) -> Floats:
    """The `feature_importances_` of the estimator, from its trees."""
    if model.trees.round_size:
        splits = (term.tree for term in model.trees if term.tree.node_count > 1)
        total = sum(t.compute_feature_importances(normalize=False) * t.weighted_n_node_samples[0] for t in splits)
        return _share(total + np.zeros(model.schema.n_features))
    shares = [term.tree.compute_feature_importances() for term in model.trees]
    if not model.response.is_identity:  # AdaBoost, whose learners have weights; their votes are in proportion
        weights = model.response.weights
        weights = np.array([np.abs(term.values).max() for term in model.trees]) if weights is None else weights
        return np.asarray(np.average(shares, axis=0, weights=weights if weights.any() else None))
    if len(shares) == 1:
        return shares[0]
    return _share(np.mean([own for own in shares if own.any()] or shares, axis=0))


def _share(amounts: Floats) -> Floats:
    total = amounts.sum()
    return amounts / total if total > 0 else amounts


def _added(values: Floats, sets: Groups) -> Floats:
    return np.array([values[columns].sum() for _, columns in sets])


def _out_of_bag(
    estimator: Any, X: object, y: object, sample_weight: object, sets: Groups, n_repeats: int, seed: int
) -> dict[str, Floats]:
    """The forest's own measure, if it has one and these are its training rows."""
    if not hasattr(estimator, "permutation_importance") or not model_of(estimator).has_trees:
        return {}
    try:
        found = estimator.permutation_importance(
            X, y, sample_weight, groups=dict(sets), n_repeats=n_repeats, random_state=seed
        )
    except (InputError, ParameterError):  # other rows, or no bags
        return {}
    spread = found.standard_error if len(found.increase) > 1 else np.full(len(sets), np.nan)
    return {"oob_permutation": found.mean, "oob_permutation_se": spread}


def _shap(model: Model, X: object, weight: Floats | None, sets: Groups) -> dict[str, Floats]:
    """Mean size of the summed SHAP values of each group, if the model has such values."""
    try:
        values = shap_values(model, X).values
    except (InputError, InputTypeError, ParameterError):  # X has passed, so it is the model
        return {}
    together = [np.abs(values[:, columns].sum(axis=1)) for _, columns in sets]
    return {"mean_abs_shap": np.array([np.average(own, axis=0, weights=weight).sum() for own in together])}


def _sorted(names: list[str], measures: dict[str, Floats], sort_by: str | None, owner: str) -> Importance:
    known = [name for name in ORDER if name in measures]
    if not known:
        raise InputError(f"This {owner} has no measures without rows. Pass X and y for the permutation importance.")
    check_parameters("these arguments", {"sort_by": (OneOf(*known), Nothing())}, {"sort_by": sort_by})
    first = sort_by or known[0]
    deciding = [measures[name] for name in [first, *(name for name in known if name != first)]]
    order = sorted(range(len(names)), key=lambda g: (*(_descending(float(values[g])) for values in deciding), names[g]))
    return Importance(tuple(names[g] for g in order), {k: values[order] for k, values in measures.items()}, first)


def _descending(value: float) -> float:
    return math.inf if math.isnan(value) else -value


def _number(value: float) -> str:
    return f"{int(value)}" if float(value).is_integer() else f"{value:.4g}"
