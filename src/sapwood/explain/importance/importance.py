"""Importance: everything that is known of what columns are worth to a model, in one sorted table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.data_warnings import quiet
from sapwood.errors import InputError, InputTypeError, ParameterError
from sapwood.explain.column_numbers import groups_of, has_trees
from sapwood.explain.importance.permuted import permuted
from sapwood.explain.importance.permutation import Scoring
from sapwood.explain.shap.shap_values import shap_values
from sapwood.explain.importance.structure import structure
from sapwood.keywords import answering
from sapwood.parameters import Flag, Interval, Nothing, OneOf, RandomState, check_parameters
from sapwood.result import Part, Result, TextTable
from sapwood.seed import seed_from
from sapwood.show.fitted import require_model
from sapwood.show.names import one_line
from sapwood.table.frame import make_frame
from sapwood.table.weight import check_weight
from sapwood.threads import resolve_jobs

Floats = NDArray[np.float64]
Groups = Sequence[tuple[str, list[int]]]

ORDER = ("permutation", "oob_permutation", "mean_abs_shap", "gain", "splits", "cover")
"""Measures by how much they say: the first one there is sorts the table, the next ones decide ties."""

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


@answering
@quiet()
def importance(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    n_repeats: int = 5,
    scoring: Any = None,
    sort_by: str | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Importance:
    """What each column is worth to the model, by every measure that the arguments allow; see `Importance`.

    Without X there are `gain`, `splits` and `cover`; with X also `mean_abs_shap`; with X and y also `permutation`, and
    `oob_permutation` if the model draws bags and X, y are the rows that it was fitted to. A measure that the model does
    not have is left out: trees of other libraries have no structure, and AdaBoost's median has no SHAP values.

    The table is sorted by `sort_by` or, without it, by the first measure there is of `permutation`, `oob_permutation`,
    `mean_abs_shap`, `gain`, `splits`, `cover`. The following ones decide ties, and then the name.

    Args:
        model: any fitted model.
        X: rows; new ones tell what matters for prediction, those of training what the model has learned.
        y: their truth.
        sample_weight: weights of the rows in scores and means.
        groups: mapping from names to columns that count as one: gains, splits and cover are added, values are shuffled
            together, and SHAP values are added before their size is taken. Columns in no group stand for themselves.
        n_repeats: how often columns are shuffled.
        scoring: a name or function of scikit-learn; None is the accuracy, or R².
        sort_by: measure to sort by.
        random_state: seed of the shuffles.
        n_jobs: threads; the result does not depend on it.
        verbose: whether to show on the standard error how much of the shuffling is done.
    """
    given = {"n_repeats": n_repeats, "random_state": random_state, "sort_by": sort_by, "verbose": verbose}
    check_parameters("importance", _RULES, given)
    require_model(model)
    if X is None and y is not None:
        raise InputError("y is given without X. Pass the rows that it belongs to, or neither.")
    sets, threads, seed = groups_of(groups, model.schema_), resolve_jobs(n_jobs), seed_from(random_state)
    measures: dict[str, Floats] = {}
    if has_trees(model):
        measures |= {name: _added(values, sets) for name, values in structure(model).items()}
    if X is not None:
        n_rows = model._match(X).n_rows
        weight = check_weight(sample_weight, n_rows)
        if y is not None:
            chosen = Scoring.of(model, scoring, y, n_rows, weight)
            drops = permuted(model, X, chosen, sets, n_repeats=n_repeats, seed=seed, n_jobs=threads, verbose=verbose)
            measures |= dict(zip(("permutation", "permutation_se"), drops, strict=True))
            measures |= _out_of_bag(model, X, y, sample_weight, sets, n_repeats, seed)
        measures |= _shap(model, X, weight, sets)
    return _sorted([name for name, _ in sets], measures, sort_by, type(model).__name__)


def _added(values: Floats, sets: Groups) -> Floats:
    return np.array([values[columns].sum() for _, columns in sets])


def _out_of_bag(
    model: Any, X: Any, y: Any, sample_weight: Any, sets: Groups, n_repeats: int, seed: int
) -> dict[str, Floats]:
    """The forest's own measure, if it has one and these are its training rows."""
    if not hasattr(model, "permutation_importance") or not has_trees(model):
        return {}
    try:
        found = model.permutation_importance(
            X, y, sample_weight, groups=dict(sets), n_repeats=n_repeats, random_state=seed
        )
    except (InputError, ParameterError):  # other rows, or no bags
        return {}
    spread = found.standard_error if len(found.increase) > 1 else np.full(len(sets), np.nan)
    return {"oob_permutation": found.mean, "oob_permutation_se": spread}


def _shap(model: Any, X: Any, weight: Floats | None, sets: Groups) -> dict[str, Floats]:
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
        raise InputError(f"Nothing is known of this {owner} without rows. Pass X and y for the permutation importance.")
    check_parameters("these arguments", {"sort_by": (OneOf(*known), Nothing())}, {"sort_by": sort_by})
    first = sort_by or known[0]
    deciding = [measures[name] for name in [first, *(name for name in known if name != first)]]
    order = sorted(range(len(names)), key=lambda g: (*(_descending(float(values[g])) for values in deciding), names[g]))
    return Importance(tuple(names[g] for g in order), {k: values[order] for k, values in measures.items()}, first)


def _descending(value: float) -> float:
    return math.inf if math.isnan(value) else -value


def _number(value: float) -> str:
    return f"{int(value)}" if float(value).is_integer() else f"{value:.4g}"
