"""Random forests and extremely randomised trees behind scikit-learn's interface: what all four share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import MultiOutputMixin
from sklearn.metrics import accuracy_score, r2_score

from sapwood.errors import InputError, InputTypeError, ParameterError, warn_user
from sapwood.estimators.checkpoint import Checkpoints, take_over
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.given_bags import column_numbers, given_bags
from sapwood.estimators.settings import monotonic_signs, n_features_drawn
from sapwood.estimators.tree import DecisionTree
from sapwood.estimators.tree_rows import TreeRows, unless_equal
from sapwood.forest.bags import Bag, Bags, canonical_order, n_drawn
from sapwood.forest.forest import Forest, Vote
from sapwood.forest.growing import Growing, grow_forest
from sapwood.forest.out_of_bag import OutOfBag
from sapwood.forest.permutation import PermutationImportance, permutation_importance
from sapwood.forest.proximity import proximity
from sapwood.growth.forest_grower import ForestGrower, code_for_many
from sapwood.model.methods import forest_model
from sapwood.model.model import Model
from sapwood.packed_tree import PackedTree
from sapwood.parameters import Interval, check_parameters
from sapwood.predictor import paths
from sapwood.seed import seed_from
from sapwood.table.digest import digest_arrays
from sapwood.table.identifiers import warn_of_identifiers
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget, warn_of_column
from sapwood.threads import resolve_jobs

Floats = NDArray[np.float64]
OWN = (  # parameters that the trees of a forest do not have
    *("n_estimators", "bootstrap", "oob_score", "verbose", "warm_start", "max_samples", "voting", "feature_sampling"),
    *("oob_stop", "oob_tol", "keep_targets"),
)
DESCRIPTION = (  # what trees and forest know of the data they were fitted to
    *("schema_", "n_features_in_", "feature_names_in_", "n_outputs_", "max_features_", "_single_output"),
    *("classes_", "n_classes_"),
)


class ForestEstimator(MultiOutputMixin, Estimator):
    """What all forests share. Use one of them."""

    model_settings: ClassVar = ("forest_", "schema_", "unseen", "drift_warning")
    tree_kind: ClassVar[type[DecisionTree]]
    splitter: ClassVar[str] = "best"

    n_estimators: int
    max_features: Any
    min_weight_fraction_leaf: float
    monotonic_cst: Any
    leaf: str
    ccp_alpha: float
    max_bins: int | None
    bootstrap: bool
    oob_score: bool | Callable[..., float]
    n_jobs: int | None
    random_state: Any
    verbose: int
    warm_start: bool
    max_samples: int | float | None
    feature_sampling: Literal["split", "tree"]
    oob_stop: bool
    oob_tol: float
    keep_targets: bool
    categorical_features: Any
    unseen: Literal["missing", "error", "node"]

    forest_: Forest

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        rows: Any = None,
        features: Any = None,
        checkpoint: Any = None,
    ) -> Self:
        """Grow the forest.

        `rows` and `features` replace the draws: for each tree the rows it is grown on, any of them many times, and
        the columns it may use. `checkpoint` is a path, or a `Checkpoint`, where growth writes down how far it is: the
        same call goes on from there after a crash, and gives the same forest to the last bit.
        """
        self._check_parameters()
        self._check_sampling(rows is not None)
        warn_of_column(y)
        n_jobs = resolve_jobs(self.n_jobs)
        template = self._template()
        training = self._with_weight(template, template._read_rows(X, y, sample_weight))
        training.refuse_overflow(self.n_estimators)
        table, target = training.table, training.target
        warn_of_identifiers(table)
        before = self._trees_so_far(table, target)
        template._describe(table, target)
        self._take_description(template)
        given = given_bags(rows, features, table)
        kept = Checkpoints.of(checkpoint, self, lambda: _digests(training, given, before))
        if kept is not None and kept.is_finished:
            take_over(self, kept.found)
            return self
        if kept is not None and kept.found is not None:
            self._seed, before = kept.found._seed, kept.found.forest_.trees
            kept.begin(len(before))
        grower = self._grower(template, training, n_jobs)
        bags = self._bags_of(training, given)
        growing = Growing(
            grower,
            bags,
            table,
            self._vote(),
            n_jobs,
            self._new_out_of_bag(training),
            self.oob_tol if self.oob_stop else None,
            self.keep_targets,
            getattr(self, "class_weight", None) == "balanced_subsample",
            self._has_weights(training),
        )
        growing.trees += before
        if kept is not None:
            growing.keep = lambda: kept.after(len(growing.trees), lambda: self._so_far(growing, training))
        self._grow(growing)
        self._finish(growing, training)
        if kept is not None:
            kept.finish(self)
        return self

    def _so_far(self, growing: Growing, rows: TreeRows) -> Self:
        """The forest in the middle of its growth, without what is measured at the end."""
        forest = copy(self)
        forest.stopped_reason_ = "growth goes on"
        forest._finish(replace(growing, trees=list(growing.trees), out_of_bag=None), rows)
        return forest

    def _has_weights(self, rows: TreeRows) -> bool:
        """Whether rows weigh something in the trees; otherwise weights are for draws."""
        return rows.weight is not None and not self.bootstrap

    def _grow(self, growing: Growing) -> None:
        n_trees = self.n_estimators if growing.bags.given is None else len(growing.bags.given)
        self.stopped_reason_ = grow_forest(growing, n_trees, self.verbose)

    def _check_sampling(self, is_given: bool) -> None:
        """Options that need bootstrap samples."""
        if self.bootstrap or is_given:
            return
        if self.max_samples is not None:
            raise ParameterError(
                f"max_samples={self.max_samples!r} needs bootstrap=True: without it every tree is grown on all rows. "
                "Set bootstrap=True, or max_samples=None."
            )
        for name in ("oob_score", "oob_stop"):
            if getattr(self, name):
                raise ParameterError(
                    f"{name}={getattr(self, name)!r} needs bootstrap=True: Out of bag estimation is only available if "
                    "trees are grown on samples of the rows. Set bootstrap=True."
                )

    def _template(self) -> DecisionTree:
        """A tree with the forest's parameters."""
        own = {name: value for name, value in self.get_params(deep=False).items() if name not in OWN}
        if own.get("class_weight") == "balanced_subsample":
            own["class_weight"] = None
        if self.feature_sampling == "tree":
            own["max_features"] = None
        return self.tree_kind(splitter=self.splitter, **own)

    def _with_weight(self, template: DecisionTree, rows: TreeRows) -> TreeRows:
        """Weights of rows times weights of their classes; rows of classes of weight zero are left out."""
        plain = rows.weight is None and getattr(template, "class_weight", None) is None
        weight = None if plain else template._row_weights(rows.target, rows.weights)
        if weight is None or weight.all():
            return replace(rows, weight=unless_equal(weight), given=unless_equal(rows.weight))
        used = np.flatnonzero(weight)
        given = None if rows.weight is None else unless_equal(rows.weight[used])
        target = rows.target
        if isinstance(target, ClassTarget):  # a class of weight zero remains a class
            target = ClassTarget(target.codes[used], target.classes, target.single)
        among_all = used if rows.used is None else rows.used[used]
        return TreeRows(rows.table.take(used), target, unless_equal(weight[used]), among_all, given)

    def _trees_so_far(self, table: Table, target: Any) -> list[Any]:
        """Trees of an earlier fit that this one goes on from."""
        if not (self.warm_start and hasattr(self, "forest_")):
            self._seed = seed_from(self.random_state)
            return []
        self._check_same(table, target)
        if len(self.forest_) > self.n_estimators:
            raise ParameterError(
                f"n_estimators={self.n_estimators} must be larger or equal to the {len(self.forest_)} trees that there "
                "are when warm_start=True. Raise n_estimators, or set warm_start=False."
            )
        if len(self.forest_) == self.n_estimators:
            warn_user("Warm-start fitting without increasing n_estimators does not fit new trees.")
        return list(self.forest_.trees)

    def _check_same(self, table: Table, target: Any) -> None:
        """A fit that goes on from another has the same columns, levels, outputs and classes."""
        ours, theirs = ([(c.name, c.kind, c.levels) for c in s.columns] for s in (self.schema_, table.schema))
        if ours != theirs:
            odd = next((new[0] for old, new in zip(ours, theirs, strict=False) if old != new), theirs[-1][0])
            raise InputError(
                "warm_start=True requires the columns of the previous fit, with the same types and levels, but X "
                f"differs from {odd!r} on. Fit anew with warm_start=False."
            )
        old = [self.classes_] if self._is_classifier and self._single_output else getattr(self, "classes_", [])
        new = target.classes if isinstance(target, ClassTarget) else []
        if self.n_outputs_ != target.n_outputs or [list(c) for c in old] != [list(c) for c in new]:
            raise InputError(
                "warm_start=True requires the outputs and classes of the previous fit, but y has others. Fit anew with "
                "warm_start=False."
            )

    def _take_description(self, template: DecisionTree) -> None:
        for name in DESCRIPTION:
            if hasattr(template, name):
                setattr(self, name, getattr(template, name))
            elif hasattr(self, name):
                delattr(self, name)
        self.max_features_ = n_features_drawn(self.max_features, self.n_features_in_)

    def _grower(self, template: DecisionTree, rows: TreeRows, n_jobs: int) -> ForestGrower:
        table = rows.table
        weight = np.ones(table.n_rows) if self.bootstrap else rows.weights
        statistics = template._statistics(rows.target, weight)
        rules = template._growth_rules(table, 0.0)
        if self.feature_sampling == "tree":  # the trees' own setting refers to the columns of their bags
            rules = replace(rules, max_features=n_features_drawn(template.max_features, self.max_features_))
        draws = template.splitter == "random"
        coded = code_for_many(
            table,
            statistics,
            rules.max_features,
            max_bins=template.max_bins,
            draws=draws,
            n_jobs=n_jobs,
        )
        return ForestGrower(
            coded,
            statistics,
            rules,
            table.schema.n_levels,
            monotonic_signs(template.monotonic_cst, table.schema, statistics),
            template.leaf,
            draws,
            template.ccp_alpha,
            template.min_weight_fraction_leaf,
        )

    def _bags_of(self, rows: TreeRows, given: Sequence[Bag] | None) -> Bags:
        table = rows.table
        self._rows = rows.used
        self._bags = Bags(
            self._seed,
            self._order_of(rows),
            rows.weight if self.bootstrap else None,
            n_drawn(self.max_samples, table.n_rows) if self.bootstrap else None,
            n_features=table.n_features,
            n_chosen=self.max_features_ if self.feature_sampling == "tree" else None,
            given=given,
        )
        return self._bags

    def _order_of(self, rows: TreeRows) -> NDArray[np.uint32]:
        """The order of the rows that draws refer to."""
        numbers = rows.target.codes if isinstance(rows.target, ClassTarget) else rows.target.values
        return canonical_order(rows.table, numbers, resolve_jobs(self.n_jobs)).astype(np.uint32)

    def _new_out_of_bag(self, rows: TreeRows) -> OutOfBag | None:
        if not (self.oob_score or self.oob_stop):
            return None
        return OutOfBag(rows.target, rows.given)

    def _finish(self, growing: Growing, rows: TreeRows) -> None:
        self.forest_ = Forest(growing.trees, growing.vote)
        self._leaf_targets = growing.leaf_targets
        self._training_target = self._values_of(rows.target) if self.keep_targets else None
        for name in ("oob_score_", "oob_curve_", "oob_decision_function_", "oob_prediction_", "_oob_residuals"):
            self.__dict__.pop(name, None)
        if growing.out_of_bag is not None:
            self._set_out_of_bag(growing.out_of_bag, rows)

    def _values_of(self, target: Any) -> Floats | None:
        return None if isinstance(target, ClassTarget) else target.values.copy()

    def _set_out_of_bag(self, found: OutOfBag, rows: TreeRows) -> None:
        self.oob_curve_ = np.array(found.curve)
        if not found.counts.all():
            n_unheard = int(np.count_nonzero(found.counts == 0))
            warn_user(
                f"{'1 row was' if n_unheard == 1 else f'{n_unheard} rows were'} in the bag of every tree, without OOB "
                "prediction (NaN) and without part in oob_score_. Grow more trees."
            )
        self._set_oob_predictions(found, rows)

    def _oob_score_of(self, truth: Any, predicted: Any, weight: Floats | None) -> float:
        if not len(predicted):
            return np.nan  # no row was outside of any bag
        if callable(self.oob_score):
            return float(self.oob_score(truth, predicted))
        score = accuracy_score if self._is_classifier else r2_score
        return float(score(truth, predicted, sample_weight=weight))

    _is_classifier: ClassVar[bool]

    def _set_oob_predictions(self, found: OutOfBag, rows: TreeRows) -> None:
        raise NotImplementedError

    def _vote(self) -> Vote:
        raise NotImplementedError

    def _among_all(self, values: Floats) -> Floats:
        """Numbers of the rows used, among all rows given; NaN for rows of weight zero."""
        if self._rows is None:
            return values
        out = np.full((int(self._rows.max()) + 1, *values.shape[1:]), np.nan)
        out[self._rows] = values
        return out

    def _new_model(self, **common: Any) -> Model:
        return forest_model(self.forest_, self._template().criterion, **common)

    @property
    def estimator_(self) -> DecisionTree:
        """A tree with the parameters of the forest's trees, not fitted."""
        self._check_fitted()
        return self._template()

    @property
    def estimators_(self) -> Trees:
        """The trees as estimators, each made when it is asked for."""
        self._check_fitted()
        return Trees(self)

    def __len__(self) -> int:
        """Number of trees."""
        return len(self.estimators_)

    def __getitem__(self, t: Any) -> Any:
        """Tree t."""
        return self.estimators_[t]

    def __iter__(self) -> Iterator[Any]:
        """All trees."""
        return iter(self.estimators_)

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """For each tree, the rows it was grown on, as often as they were drawn."""
        self._check_fitted()
        drawn = (self._bags.bag(t).drawn for t in range(len(self.forest_)))
        return [own if self._rows is None else self._rows[own] for own in drawn]

    @property
    def estimators_features_(self) -> list[NDArray[np.int64]]:
        """For each tree, the columns it may use."""
        self._check_fitted()
        chosen = (self._bags.bag(t).features for t in range(len(self.forest_)))
        return [np.arange(self.n_features_in_) if own is None else own for own in chosen]

    @property
    def feature_importances_(self) -> Floats:
        """Mean decrease in impurity: share of each column in the total of a tree, averaged over the trees."""
        self._check_fitted()
        return self.forest_.importances()

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Leaf of every row in every tree, (rows, trees)."""
        table = self._new_rows(X)
        stop = self.unseen == "node"
        leaves = self.forest_.leaves(table, stop_at_unseen=stop, n_jobs=resolve_jobs(self.n_jobs))
        return leaves.T.astype(np.int64)

    def decision_path(self, X: Any) -> tuple[sparse.csr_matrix, NDArray[np.int64]]:
        """Indicator matrix (rows x nodes of all trees) of the nodes each row passes, and where each tree's begin."""
        leaves = self.apply(X).astype(np.int32)
        parts = [paths(tree, leaves[:, t]) for t, tree in enumerate(self.forest_.unpacked())]
        starts = np.concatenate([[0], np.cumsum([part.shape[1] for part in parts])])
        return sparse.hstack(parts, format="csr"), starts

    def proximity(self, X: Any, other: Any = None, *, k: int | None = None) -> sparse.csr_matrix:
        """Share of the trees in which two rows end in the same leaf, (rows of X, rows of other).

        Without `other`, between the rows of X. With k, only the k nearest of each row are kept.
        """
        if k is not None:
            check_parameters(type(self).__name__, {"k": (Interval(int, low=1),)}, {"k": k})
        mine = self.apply(X)
        theirs = mine if other is None else self.apply(other)
        return proximity(mine, theirs, k)

    def permutation_importance(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Mapping[str, Sequence[Any]] | None = None,
        n_repeats: int = 1,
        random_state: Any = 0,
    ) -> PermutationImportance:
        """Increase of each tree's error on the rows outside of its bag, once columns are shuffled among them.

        X and y are the training rows, in their order. `groups` names columns that are shuffled together; the default is
        each column by itself. The result has `mean`, `standard_error`, `z` and `increase` (trees, groups).
        """
        self._check_fitted()
        if not self.bootstrap and self._bags.given is None:
            raise ParameterError(
                "permutation_importance needs bootstrap=True: without it there are no rows outside of a tree's bag. "
                "Use sklearn.inspection.permutation_importance on other rows."
            )
        template = self._template()
        rows = self._with_weight(template, template._read_rows(X, y, sample_weight))
        order = self._order_of(rows)
        if not np.array_equal(order, self._bags.order):
            raise InputError(
                f"X and y, {rows.table.n_rows} rows, are not the {self._bags.n_rows} rows that the forest was fitted "
                "to, in the same order, so out-of-bag rows cannot be determined. Pass the training rows as they were."
            )
        table = self._match(X) if self._rows is None else self._match(X).take(self._rows)
        return permutation_importance(
            self.forest_,
            self._bags,
            table,
            rows.target,
            rows.given,
            self._groups(groups),
            seed=seed_from(random_state),
            n_repeats=n_repeats,
            n_jobs=resolve_jobs(self.n_jobs),
        )

    def _groups(self, groups: Mapping[str, Sequence[Any]] | None) -> list[tuple[str, list[int]]]:
        names = list(self.schema_.names)
        if groups is None:
            return [(name, [j]) for j, name in enumerate(names)]
        if not isinstance(groups, Mapping):
            raise InputTypeError(
                f"groups is a {type(groups).__name__}. Pass a dictionary from names to columns, such as "
                "{'size': ['length', 'width']}."
            )
        return [(name, column_numbers(columns, names).tolist()) for name, columns in groups.items()]

    def _fitted_tree(self, t: int) -> DecisionTree:
        tree = self._template().set_params(random_state=self._bags.key(t))
        for name in DESCRIPTION:
            if hasattr(self, name):
                setattr(tree, name, getattr(self, name))
        return tree._set_tree(self.forest_.tree(t))


def _digests(rows: TreeRows, given: Sequence[Bag] | None, before: Sequence[PackedTree]) -> dict[str, str]:
    """Digests of what a forest is grown on, by the names of arguments."""
    bags = [array for bag in given or () for array in (bag.rows, bag.counts, bag.features)]
    return rows.digests() | {
        "rows or features": digest_arrays(*bags),
        "forest to go on from (warm_start)": digest_arrays(*(tree.is_leaf for tree in before)),
    }


class Trees(Sequence[Any]):
    """The trees of a forest as estimators, each made when it is asked for: the forest itself keeps them packed."""

    def __init__(self, forest: ForestEstimator) -> None:
        self._forest = forest

    def __len__(self) -> int:
        """Number of trees."""
        return len(self._forest.forest_)

    def __getitem__(self, t: Any) -> Any:
        """Tree t, or a list of trees."""
        places = range(len(self))[t]
        if isinstance(places, range):
            return [self._forest._fitted_tree(place) for place in places]
        return self._forest._fitted_tree(places)
