"""Decision trees behind scikit-learn's interface."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import Bunch, Tags

from sapwood.codes.coded import code_table
from sapwood.declaration import declared, fitted, parameter
from sapwood.errors import InputError
from sapwood.estimators.settings import class_weights, monotonic_signs, n_features_drawn, rows_at_least
from sapwood.estimators.tree_parameters import CLASS_WEIGHT, NUMBER_CRITERION, NUMBER_LEAF, TreeParameters
from sapwood.estimators.tree_rows import Target, TreeRows
from sapwood.growth.criteria import Statistics, class_statistics, number_statistics
from sapwood.growth.grower import grow_tree
from sapwood.growth.prune import prune, pruning_path
from sapwood.growth.rules import UNLIMITED, GrowthRules
from sapwood.model.methods import tree_model
from sapwood.model.model import Model
from sapwood.parameters import OneOf
from sapwood.predictor import Predictor, paths
from sapwood.seed import seed_from
from sapwood.show.row_path import explain_row
from sapwood.table.identifiers import warn_of_identifiers
from sapwood.table.statistics import with_statistics
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget, NumberTarget
from sapwood.table.text_warning import warn_of_classes
from sapwood.threads import resolve_jobs
from sapwood.tree import Tree

Floats = NDArray[np.float64]


@declared
class DecisionTree(MultiOutputMixin, TreeParameters):
    """What classifier and regressor share. Use one of them."""

    model_settings: ClassVar = ("tree_", "schema_", "unseen", "drift_warning")

    splitter: str = parameter(
        OneOf("best", "random"),
        default="best",
        doc="Look for the best threshold of a column, or draw one at random between its least and its largest value.",
    )

    tree_: Tree = fitted("The fitted tree: arrays of its nodes, as in scikit-learn.")
    n_outputs_: int = fitted("Number of targets.")
    max_features_: int = fitted("Number of columns that a split may choose from.")

    def _fit_tree(self, X: Any, y: Any, sample_weight: Any, ccp_alpha: float) -> Tree:
        """Table, target and weights in; a pruned tree out. Sets the fitted attributes that describe the data."""
        self._check_parameters()
        n_jobs = resolve_jobs(self.n_jobs)
        rows = self._read_rows(X, y, sample_weight)
        warn_of_identifiers(rows.table)
        table, target, weight = rows.table, rows.target, self._row_weights(rows.target, rows.weights)
        grown_on, statistics = table, self._statistics(target, weight)
        if not weight.all():  # a class of weight zero remains a class, but its rows count for nothing
            used = np.flatnonzero(weight)
            grown_on, statistics = table.take(used), replace(statistics, wy=statistics.wy[used])
        del rows, weight  # the statistics hold them
        tree = self._grow(grown_on, statistics, n_jobs)
        self._describe(grown_on, target)
        return prune(tree, ccp_alpha) if ccp_alpha > 0 else tree

    def _read_rows(self, X: Any, y: Any, sample_weight: Any) -> TreeRows:
        table = Table.from_any(X, categorical_features=self.categorical_features)
        return TreeRows.of(table, self._read_target(y, table.n_rows), sample_weight)

    def _grow(self, table: Table, statistics: Statistics, n_jobs: int) -> Tree:
        rules = self._growth_rules(table, float(statistics.wy[:, 0].sum()))
        signs = monotonic_signs(self.monotonic_cst, table.schema, statistics)
        absolute = statistics.is_absolute
        return grow_tree(
            code_table(
                table,
                max_bins=self.max_bins,
                list_all=absolute,
                keep_values=self.splitter == "random",
                n_reserved=1 + statistics.n_outputs * absolute,
                n_jobs=n_jobs,
            ),
            statistics,
            rules,
            n_levels=table.schema.n_levels,
            monotonic=signs,
            leaf=self.leaf,
            draw_thresholds=self.splitter == "random",
        )

    def _growth_rules(self, table: Table, total_weight: float) -> GrowthRules:
        n_rows = table.n_rows
        min_leaf = rows_at_least(self.min_samples_leaf, n_rows, 1)
        return GrowthRules(
            max_depth=UNLIMITED if self.max_depth is None else min(int(self.max_depth), UNLIMITED),
            max_leaves=0 if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            min_split_rows=max(rows_at_least(self.min_samples_split, n_rows, 2), 2 * min_leaf),
            min_child_rows=min_leaf,
            min_child_weight=self.min_weight_fraction_leaf * total_weight,
            min_decrease=self.min_impurity_decrease,
            impurity_threshold=self.impurity_threshold,
            significance=self.significance,
            max_features=n_features_drawn(self.max_features, table.n_features),
            seed=seed_from(self.random_state),
        )

    def _describe(self, table: Table, target: Target) -> None:
        self.schema_ = with_statistics(table)
        self.n_features_in_ = table.n_features
        if table.schema.named:
            self.feature_names_in_ = np.array(table.schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_outputs_ = target.n_outputs
        self.max_features_ = n_features_drawn(self.max_features, table.n_features)
        self._single_output = target.single

    def _set_tree(self, tree: Tree) -> Self:
        self.tree_ = tree
        self._predictor = Predictor(tree)
        return self

    def _new_model(self, **common: Any) -> Model:
        return tree_model(self.tree_, self.criterion, **common)

    def _read_target(self, y: Any, n_rows: int) -> Target:
        raise NotImplementedError

    def _row_weights(self, target: Any, weight: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        """Weights of the rows, those of their classes included."""
        return weight

    def _statistics(self, target: Any, weight: NDArray[np.float64]) -> Statistics:
        raise NotImplementedError

    def _leaves(self, X: Any, *, stop_at_unseen: bool) -> NDArray[np.int32]:
        table = self._new_rows(X)
        return self._predictor.leaves(table, stop_at_unseen=stop_at_unseen, n_jobs=resolve_jobs(self.n_jobs))

    def _nodes(self, X: Any) -> NDArray[np.int32]:
        """Node whose value is the prediction of each row."""
        return self._leaves(X, stop_at_unseen=self.unseen == "node")

    def apply(self, X: Any, check_input: bool = True) -> NDArray[np.int64]:  # noqa: ARG002 - scikit-learn's signature
        """Leaf of every row (with unseen="node", the node where an unseen level was met)."""
        return self._nodes(X).astype(np.int64)

    def decision_path(self, X: Any, check_input: bool = True) -> sparse.csr_matrix:  # noqa: ARG002
        """Indicator matrix (rows x nodes) of the nodes each row passes."""
        nodes = self._nodes(X)
        return paths(self.tree_, nodes)

    def explain_row(self, x: Any) -> str:
        """The way of one row through the tree, in words."""
        self._check_fitted()
        return explain_row(self, x)

    def get_depth(self) -> int:
        """Depth of the tree; a lone leaf has depth 0."""
        self._check_fitted()
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        self._check_fitted()
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in the total decrease of impurity."""
        self._check_fitted()
        return self.tree_.compute_feature_importances()

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Alphas at which branches are pruned, and the impurity of the leaves after each; see `prune_by_cv`."""
        other = type(self)(**self.get_params(deep=False))
        path = pruning_path(other._fit_tree(X, y, sample_weight, ccp_alpha=0.0))
        return Bunch(
            ccp_alphas=np.concatenate(([0.0], np.maximum(path.alphas, 0.0))),
            impurities=np.concatenate(([path.initial_cost], path.costs)),
        )


@declared
class DecisionTreeClassifier(ClassifierMixin, DecisionTree):
    """A decision tree for classes. Parameters and attributes are scikit-learn's, and more."""

    class_weight: Any = parameter(CLASS_WEIGHT, default=None)

    classes_: Any = fitted("The classes, in order; a list of arrays if there are several outputs.")
    n_classes_: Any = fitted("Number of classes, or a list of numbers if there are several outputs.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:  # noqa: ARG002
        """Grow the tree (and prune it, if ccp_alpha is set)."""
        return self._set_tree(self._fit_tree(X, y, sample_weight, self.ccp_alpha))

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:  # noqa: ARG002
        """Most probable class of every row; the first of equals."""
        return self.model_.predict(X, n_jobs=self.n_jobs)

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:  # noqa: ARG002
        """Probability of every class; a list of arrays if there are several outputs."""
        return self.model_.predict_proba(X, n_jobs=self.n_jobs)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            probabilities = self.predict_proba(X)
            return np.log(probabilities) if self._single_output else [np.log(p) for p in probabilities]

    def _read_target(self, y: Any, n_rows: int) -> ClassTarget:
        target = ClassTarget.from_any(y, n_rows)
        warn_of_classes(target)
        return target

    def _row_weights(self, target: ClassTarget, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        weight = weight * class_weights(self.class_weight, target, type(self).__name__)
        if not weight.any():
            raise InputError(
                f"class_weight={self.class_weight!r} gives every row a weight of zero. Give at least one class that "
                "occurs in y a weight above zero."
            )
        return weight

    def _statistics(self, target: ClassTarget, weight: NDArray[np.float64]) -> Statistics:
        return class_statistics(target, weight, self.criterion)

    def _describe(self, table: Table, target: Any) -> None:
        super()._describe(table, target)
        self.classes_ = target.classes[0] if target.single else target.classes
        sizes = [len(labels) for labels in target.classes]
        self.n_classes_ = sizes[0] if target.single else sizes

    def __sklearn_tags__(self) -> Tags:
        """Classes of several outputs are fine."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


@declared
class DecisionTreeRegressor(RegressorMixin, DecisionTree):
    """A decision tree for numbers. Parameters and attributes are scikit-learn's, and more."""

    criterion: str = parameter(NUMBER_CRITERION, default="squared_error")
    leaf: str = parameter(NUMBER_LEAF, default="auto")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:  # noqa: ARG002
        """Grow the tree (and prune it, if ccp_alpha is set)."""
        return self._set_tree(self._fit_tree(X, y, sample_weight, self.ccp_alpha))

    def predict(self, X: Any, check_input: bool = True) -> NDArray[np.float64]:  # noqa: ARG002
        """Value of every row's leaf."""
        return self.model_.predict(X, n_jobs=self.n_jobs)

    def _read_target(self, y: Any, n_rows: int) -> NumberTarget:
        return NumberTarget.from_any(y, n_rows)

    def _statistics(self, target: NumberTarget, weight: NDArray[np.float64]) -> Statistics:
        if self.criterion == "poisson":
            _check_counts(target)
        return number_statistics(target, weight, self.criterion)


def _check_counts(target: NumberTarget) -> None:
    bad = np.argwhere(target.values < 0)
    if len(bad):
        row, output = bad[0]
        raise InputError(
            f"y has the negative value {target.values[row, output]} in row {row}, but criterion='poisson' is for "
            "counts and rates. Use criterion='squared_error', or remove negative values."
        )
    if not target.values.sum(axis=0).all():
        raise InputError(
            "Sum of y is not strictly positive, which criterion='poisson' needs. Use criterion='squared_error' for a "
            "target that is always zero."
        )
