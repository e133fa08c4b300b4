"""Forests behind scikit-learn's interface: what random forests, extremely randomised trees and bagging share.

`fit` reads the rows (`read_tree_rows`), describes them, decides how the rows of each tree are drawn (`_draws`),
grows the trees (`_train`, `grow_forest`) and keeps them (`_keep`). A kind of forest gives the tree whose parameters its
trees have, and how rows and columns are drawn; bagging can train other estimators in place of trees.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import MultiOutputMixin

from sapwood.arrays import Array, Floats, Ints
from sapwood.data_warnings import quiet
from sapwood.errors import InputError, ParameterError, warn_user
from sapwood.estimators.checkpoint import Checkpoints, take_over
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.forest_arguments import column_groups, fractions, given_bags, require_same_bags
from sapwood.estimators.methods_by_task import of_regressors
from sapwood.estimators.settings import growth_options
from sapwood.estimators.tree import DecisionTree, LazyTrees, fitted_tree
from sapwood.estimators.tree_rows import Score, Task, TreeRows, read_tree_rows, require_same
from sapwood.forest.bags import Bag, Bags, canonical_order
from sapwood.forest.forest import Forest, Vote
from sapwood.forest.growing import Growing, grow_forest
from sapwood.forest.leaf_targets import forest_quantiles
from sapwood.forest.out_of_bag import residual_bounds
from sapwood.forest.permutation import PermutationImportance, permutation_importance
from sapwood.forest.proximity import proximity
from sapwood.growth.criteria import statistics_of
from sapwood.growth.forest_grower import ForestGrower
from sapwood.growth.rules import n_features_drawn
from sapwood.model.methods import forest_model
from sapwood.model.model import Model
from sapwood.packed_tree import PackedTree
from sapwood.parameters import Interval, check_parameters
from sapwood.predictor import paths
from sapwood.seed import seed_from
from sapwood.table.digest import digest_arrays
from sapwood.threads import resolve_jobs

MEASURED = ("oob_score_", "oob_curve_", "oob_decision_function_", "oob_prediction_")  # on the training rows


class ForestEstimator(MultiOutputMixin, Estimator):
    """What all forests share. Use one of them."""

    model_settings: ClassVar[tuple[str, ...]] = ("forest_", "schema_", "unseen", "drift_warning", "prior_weight")
    task: ClassVar[Task]

    n_estimators: int
    max_features: int | float | str | None
    bootstrap: bool
    oob_score: Score
    random_state: Any
    verbose: int
    warm_start: bool
    unseen: Any

    voting: str = "soft"  # this and the next four are parameters of some kinds only
    prior_weight: float = 0.0
    oob_stop: bool = False
    oob_tol: float = 0.0
    keep_targets: bool = False

    forest_: Forest
    _bags: Bags
    _seed: int
    _train_members: Callable[..., None]  # of kinds that may have estimators of another library

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

        `rows` and `features` replace the draws: for each tree its rows, any of them many times, and its columns.
        `checkpoint` is a path, or a `Checkpoint`, where growth saves its progress: the same call resumes from there.
        """
        tree = self._tree()
        training = read_tree_rows(X, y, sample_weight, self.task, tree, n_members=self.n_estimators, relative=True)
        before = self._trained_before(training) if self.warm_start else []
        self._seed = self._seed if before else seed_from(self.random_state)
        for name in (*MEASURED, "_oob_residuals"):
            self.__dict__.pop(name, None)
        self._describe(training.table, getattr(training.target, "classes", ()), training.target.single)
        self.n_outputs_, self._single_output = training.target.n_outputs, training.target.single
        self.max_features_ = n_features_drawn(self.max_features, self.n_features_in_)
        given = None if rows is None and features is None else given_bags(rows, features, training.table)
        order = canonical_order(training.table, training.target.numbers, resolve_jobs(self.n_jobs)).astype(np.uint32)
        bags, measures = self._draws(training, order, given), self.oob_score or self.oob_stop or self.keep_targets
        if before and (measures or given is not None):
            require_same_bags(self._bags, bags, len(before))
        self._rows, self._bags = training.used, bags
        if tree is not None:
            self._train(tree, training, before, checkpoint)
        else:
            self._train_members(X, training, before, checkpoint)
        return self

    @abstractmethod
    def _tree(self) -> Any:
        """What has the parameters of the trees; None if there are estimators of another library in their place."""

    @abstractmethod
    def _draws(self, training: TreeRows, order: Array, given: Sequence[Bag] | None) -> Bags:
        """How the rows and columns of each tree are drawn, unless they are given."""

    def _trained_before(self, training: TreeRows) -> list[Any]:
        """What the previous fit trained, which this one adds to; columns, outputs and classes must be the same."""
        before = self._previous()
        if before:
            require_same(self.model_, training)
        if len(before) > self.n_estimators:
            raise ParameterError(
                f"n_estimators={self.n_estimators} must be larger or equal to the {len(before)} estimators of the "
                "previous fit when warm_start=True. Raise n_estimators, or set warm_start=False."
            )
        if len(before) == self.n_estimators:
            warn_user("Warm-start fitting without increasing n_estimators does not fit new trees.")
        return before

    def _previous(self) -> list[Any]:
        """What the previous fit trained, if there was one."""
        return list(self.forest_.trees) if hasattr(self, "forest_") else []

    def _train(self, tree: Any, training: TreeRows, before: list[Any], checkpoint: Any) -> None:
        """Grow trees, after those that were grown before, and keep them."""
        table, n_jobs = training.table, resolve_jobs(self.n_jobs)
        kept = None if checkpoint is None else Checkpoints.of(checkpoint, self, lambda: self._digests(training, before))
        if kept is not None and kept.is_finished:
            take_over(self, kept.found)
            return
        if kept is not None and kept.found is not None:
            before, self._seed = kept.found.forest_.trees, kept.found._seed
            self._bags = replace(self._bags, seed=self._seed)
            kept.begin(len(before))
        weight = np.ones(table.n_rows) if self.bootstrap else training.weights
        statistics = statistics_of(training.target, weight, tree.criterion)
        n_chosen = self.max_features_ if tree is self else n_features_drawn(tree.max_features, self.max_features_)
        options = growth_options(tree, table, statistics, n_chosen)
        options |= {"ccp_alpha": tree.ccp_alpha, "min_weight_share": tree.min_weight_fraction_leaf}
        growing = Growing(
            ForestGrower.of(table, statistics, max_bins=tree.max_bins, n_jobs=n_jobs, **options),
            self._bags,
            table,
            Vote(self.voting == "hard", training.target.n_classes),
            n_jobs,
            self.task.out_of_bag(self, training) if self.oob_score or self.oob_stop else None,
            self.oob_tol if self.oob_stop else None,
            self.keep_targets,
            str(getattr(tree, "class_weight", None)) == "balanced_subsample",
            training.weight is not None and self._bags.n_draws is None,
        )
        growing.trees += before
        if kept is not None:
            growing.keep = lambda: kept.after(len(growing.trees), lambda: self._so_far(growing, training))
        n_trees = self.n_estimators if self._bags.given is None else len(self._bags.given)
        self.stopped_reason_ = grow_forest(growing, n_trees, self.verbose)
        self._keep(growing, training)
        if kept is not None:
            kept.finish(self)

    def _digests(self, training: TreeRows, before: Sequence[PackedTree]) -> dict[str, str]:
        """Digests of what a forest is grown on, by the names of arguments."""
        bags = [array for bag in self._bags.given or () for array in (bag.rows, bag.counts, bag.features)]
        return training.digests() | {
            "rows or features": digest_arrays(*bags),
            "forest to go on from (warm_start)": digest_arrays(*(tree.is_leaf for tree in before)),
        }

    def _so_far(self, growing: Growing, training: TreeRows) -> Self:
        """The forest in the middle of its growth, without what is measured at the end."""
        forest = copy(self)
        forest.stopped_reason_ = "growth continues"
        forest._keep(replace(growing, trees=list(growing.trees), out_of_bag=None), training)
        return forest

    def _keep(self, growing: Growing, training: TreeRows) -> None:
        self.forest_ = Forest(growing.trees, growing.vote)
        self._leaf_targets = growing.leaf_targets
        self._training_target = training.target.values.copy() if self.keep_targets else None
        if growing.out_of_bag is not None:
            self.__dict__.update(self.task.measure(growing.out_of_bag, training, self.oob_score))

    def _new_model(self, **common: Any) -> Model:
        return forest_model(self.forest_, self._tree().criterion, self.prior_weight, **common)

    @property
    @abstractmethod
    def estimator_(self) -> Any:
        """A tree with the parameters of the forest's trees, not fitted."""

    @property
    def estimators_(self) -> Sequence[Any]:
        """The trees as estimators, each made when it is asked for."""
        self._check_fitted()
        return LazyTrees(len(self.forest_), self._fitted_tree)

    def _fitted_tree(self, t: int) -> DecisionTree:
        template = self.estimator_.set_params(random_state=self._bags.key(t))
        return fitted_tree(template, self, self.forest_.tree(t))

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
    def estimators_samples_(self) -> list[Ints]:
        """For each tree, the rows it was grown on, as often as they were drawn."""
        drawn = (self._bags.bag(t).drawn for t in range(len(self)))
        return [own if self._rows is None else self._rows[own] for own in drawn]

    @property
    def estimators_features_(self) -> list[Ints]:
        """For each tree, the columns it may use."""
        chosen = (self._bags.bag(t).features for t in range(len(self)))
        return [np.arange(self.n_features_in_) if own is None else own for own in chosen]

    @property
    def feature_importances_(self) -> Floats:
        """Mean decrease in impurity: share of each column in the total of a tree, averaged over the trees."""
        self._check_fitted()
        return self.forest_.importances()

    def apply(self, X: Any) -> Ints:
        """Leaf of every row in every tree, (rows, trees)."""
        table, stop = self.model_.new_rows(X), self.unseen == "node"
        return self.forest_.leaves(table, stop_at_unseen=stop, n_jobs=resolve_jobs(self.n_jobs)).T.astype(np.int64)

    def decision_path(self, X: Any) -> tuple[sparse.csr_matrix, Ints]:
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
        return proximity(mine, mine if other is None else self.apply(other), k)

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
        with quiet():  # fit has warned
            rows = read_tree_rows(X, y, sample_weight, self.task, self._tree(), relative=True)
        n_jobs = resolve_jobs(self.n_jobs)
        if not np.array_equal(canonical_order(rows.table, rows.target.numbers, n_jobs), self._bags.order):
            raise InputError(
                f"X and y, {rows.table.n_rows} rows, are not the {self._bags.n_rows} rows that the forest was fitted "
                "to, in the same order, so out-of-bag rows cannot be determined. Pass the training rows as they were."
            )
        table = self.model_.match(X)
        return permutation_importance(
            self.forest_,
            self._bags,
            table if self._rows is None else table.take(self._rows),
            rows.target,
            rows.given,
            column_groups(groups, self.schema_.names),
            seed=seed_from(random_state),
            n_repeats=n_repeats,
            n_jobs=n_jobs,
        )

    @of_regressors
    def predict_quantiles(self, X: Any, quantiles: float | Sequence[float] = (0.1, 0.5, 0.9)) -> Floats:
        """Quantiles of the training targets in the leaves of each row, (rows, quantiles).

        Each tree spreads a weight of 1 over the rows of the leaf; the mean of this distribution is what `predict`
        gives. Several outputs: (rows, outputs, quantiles). A single quantile gives (rows,). Needs keep_targets=True.
        """
        table = self.model_.new_rows(X)
        if not self._leaf_targets or self._training_target is None:
            raise ParameterError(
                "predict_quantiles needs the training targets of each leaf, which this forest has not kept. Fit it "
                "with keep_targets=True."
            )
        wanted, n_jobs = fractions(quantiles, "quantiles"), resolve_jobs(self.n_jobs)
        leaves = self.forest_.leaves(table, n_jobs=n_jobs)
        columns = [forest_quantiles(self._leaf_targets, leaves, y, wanted, n_jobs) for y in self._training_target.T]
        found = columns[0] if self._single_output else np.stack(columns, axis=1)
        return found[..., 0] if np.ndim(quantiles) == 0 else found

    @of_regressors
    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Interval that holds the target with this probability, (rows, 2): prediction plus out-of-bag residuals.

        Residuals of rows predicted by trees that did not see them are those of new rows: their lower and upper
        quantiles, widened for the finite number of rows, are added to every prediction. Several outputs: (rows,
        outputs, 2). Needs oob_score=True (or oob_stop=True).
        """
        self._check_fitted()
        if not hasattr(self, "_oob_residuals"):
            raise ParameterError(
                "predict_interval needs out-of-bag residuals, which this forest does not have. Fit it with "
                "oob_score=True."
            )
        (share,) = fractions(coverage, "coverage")
        bounds = residual_bounds(self._oob_residuals, float(share))
        found: Floats = self.model_.scores(X, n_jobs=self.n_jobs).T[:, :, None] + bounds.T[None]
        return found[:, 0] if self._single_output else found
