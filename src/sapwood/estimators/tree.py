"""Decision trees behind scikit-learn's interface, and the trees of ensembles as such estimators.

`fit` reads the rows (`read_tree_rows`), describes them, makes the options of growth (`growth_options`), grows
the tree (`grow_tree`), prunes it and keeps it as `tree_`. The classes of the two tasks differ in their parameters only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin, is_classifier
from sklearn.utils import Bunch

from sapwood.arrays import Array, Floats, Ints
from sapwood.codes.coded import code_table
from sapwood.declaration import declared, fitted, parameter
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.methods_by_task import multi_label_tags, of_classifiers
from sapwood.estimators.settings import growth_options
from sapwood.estimators.tree_rows import CLASSES, NUMBERS, Task, read_tree_rows
from sapwood.growth.criteria import statistics_of
from sapwood.growth.grower import grow_tree
from sapwood.growth.prune import prune, pruning_path
from sapwood.growth.rules import n_features_drawn
from sapwood.model.methods import tree_model
from sapwood.model.model import Model
from sapwood.parameters import ArrayLike, MappingLike, Nothing, OneOf
from sapwood.predictor import paths
from sapwood.seed import seed_from
from sapwood.show.row_path import explain_row
from sapwood.table.schema import Unseen
from sapwood.threads import resolve_jobs
from sapwood.tree import Tree

# What trees and ensembles know of the data they were fitted to
DESCRIPTION = ("schema_", "n_features_in_", "feature_names_in_", "n_outputs_", "max_features_", "_single_output")
OF_CLASSES = ("classes_", "n_classes_")


@declared
class DecisionTree(MultiOutputMixin, Estimator):
    """What classifier and regressor share. Use one of them."""

    model_settings: ClassVar = ("tree_", "schema_", "unseen", "drift_warning")
    task: ClassVar[Task]

    criterion: str = parameter(shared.CLASS_CRITERION, default="gini")
    max_depth: int | None = parameter(shared.MAX_DEPTH, default=None)
    min_samples_split: int | float = parameter(shared.MIN_SAMPLES_SPLIT, default=2)
    min_samples_leaf: int | float = parameter(shared.MIN_SAMPLES_LEAF, default=1)
    min_weight_fraction_leaf: float = parameter(shared.MIN_WEIGHT_FRACTION_LEAF, default=0.0)
    max_features: int | float | str | None = parameter(shared.MAX_FEATURES, default=None)
    random_state: Any = parameter(shared.RANDOM_STATE, default=None)
    max_leaf_nodes: int | None = parameter(shared.MAX_LEAF_NODES, default=None)
    min_impurity_decrease: float = parameter(shared.MIN_IMPURITY_DECREASE, default=0.0)
    ccp_alpha: float = parameter(shared.CCP_ALPHA, default=0.0)
    monotonic_cst: Any = parameter(shared.MONOTONIC, default=None)
    impurity_threshold: float = parameter(shared.IMPURITY_THRESHOLD, default=0.0)
    significance: float | None = parameter(shared.SIGNIFICANCE, default=None)
    leaf: str = parameter(shared.CLASS_LEAF, default="auto")
    max_bins: int | None = parameter(shared.MAX_BINS, default=None)
    categorical_features: Any = parameter(shared.CATEGORICAL_FEATURES, default="from_dtype")
    unseen: Unseen = parameter(shared.TREE_UNSEEN, default="missing")
    splitter: str = parameter(
        OneOf("best", "random"),
        default="best",
        doc="Look for the best threshold of a column, or draw one at random between its least and its largest value.",
    )

    tree_: Tree = fitted("The fitted tree: arrays of its nodes, as in scikit-learn.")
    n_outputs_: int = fitted("Number of targets.")
    max_features_: int = fitted("Number of columns that a split may choose from.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:  # noqa: ARG002
        """Grow the tree (and prune it, if ccp_alpha is set)."""
        rows = read_tree_rows(X, y, sample_weight, self.task, self)
        self._describe(rows.table, getattr(rows.target, "classes", ()), rows.target.single)
        self.n_outputs_, self._single_output = rows.target.n_outputs, rows.target.single
        self.max_features_ = n_features_drawn(self.max_features, self.n_features_in_)
        table, statistics = rows.table, statistics_of(rows.target, rows.weights, self.criterion)
        del rows  # the statistics hold target and weights
        min_weight = self.min_weight_fraction_leaf * float(statistics.wy[:, 0].sum())
        limits = {"seed": seed_from(self.random_state), "min_child_weight": min_weight}
        tree = grow_tree(
            code_table(
                table,
                max_bins=self.max_bins,
                list_all=statistics.is_absolute,
                keep_values=self.splitter == "random",
                n_reserved=1 + statistics.n_outputs * statistics.is_absolute,
                n_jobs=resolve_jobs(self.n_jobs),
            ),
            statistics,
            n_levels=table.schema.n_levels,
            **growth_options(self, table, statistics, self.max_features_, **limits),
        )
        self.tree_ = prune(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree
        return self

    def _new_model(self, **common: Any) -> Model:
        return tree_model(self.tree_, self.criterion, **common)

    def predict(self, X: Any, check_input: bool = True) -> Array:  # noqa: ARG002 - scikit-learn's signature
        """Value of every row's leaf: the mean, or the most probable class, the first of equals."""
        return self.model_.predict(X, n_jobs=self.n_jobs)

    @of_classifiers
    def predict_proba(self, X: Any, check_input: bool = True) -> Any:  # noqa: ARG002
        """Probability of every class; a list of arrays if there are several outputs."""
        return self.model_.predict_proba(X, n_jobs=self.n_jobs)

    def apply(self, X: Any, check_input: bool = True) -> Ints:  # noqa: ARG002
        """Leaf of every row (with unseen="node", the node where an unseen level was met)."""
        return self._nodes(X).astype(np.int64)

    def _nodes(self, X: Any) -> NDArray[np.int32]:
        """Node whose value is the prediction of each row."""
        return self.model_.scorer.leaves(self.model_.new_rows(X), resolve_jobs(self.n_jobs))

    def decision_path(self, X: Any, check_input: bool = True) -> sparse.csr_matrix:  # noqa: ARG002
        """Indicator matrix (rows x nodes) of the nodes each row passes."""
        nodes = self._nodes(X)
        return paths(self.tree_, nodes)

    def explain_row(self, x: Any) -> str:
        """The path of one row through the tree, as text."""
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
    def feature_importances_(self) -> Floats:
        """Share of each column in the total decrease of impurity."""
        self._check_fitted()
        return self.tree_.compute_feature_importances()

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Alphas at which branches are pruned, and the impurity of the leaves after each; see `prune_by_cv`."""
        whole = type(self)(**self.get_params(deep=False) | {"ccp_alpha": 0.0}).fit(X, y, sample_weight)
        path = pruning_path(whole.tree_)
        return Bunch(
            ccp_alphas=np.concatenate(([0.0], np.maximum(path.alphas, 0.0))),
            impurities=np.concatenate(([path.initial_cost], path.costs)),
        )


@declared
class DecisionTreeClassifier(ClassifierMixin, DecisionTree):
    """A decision tree for classes. Parameters and attributes are scikit-learn's, and more."""

    task: ClassVar = CLASSES
    __sklearn_tags__ = multi_label_tags

    class_weight: Any = parameter(
        OneOf("balanced"),
        MappingLike(),
        ArrayLike(),
        Nothing(),
        default=None,
        doc='Weights of the classes: a dictionary from classes to weights, "balanced" for the same total weight for '
        "every class, or a list with one of these for each output.",
    )

    classes_: Any = fitted("The classes, in order; a list of arrays if there are several outputs.")
    n_classes_: Any = fitted("Number of classes, or a list of numbers if there are several outputs.")


@declared
class DecisionTreeRegressor(RegressorMixin, DecisionTree):
    """A decision tree for numbers. Parameters and attributes are scikit-learn's, and more."""

    task: ClassVar = NUMBERS

    criterion: str = parameter(shared.NUMBER_CRITERION, default="squared_error")
    leaf: str = parameter(shared.NUMBER_LEAF, default="auto")


class LazyTrees(Sequence[DecisionTree]):
    """Trees, each made when it is asked for: ensembles keep them packed."""

    def __init__(self, n_trees: int, make: Callable[[int], DecisionTree]) -> None:
        self._n_trees, self._make = n_trees, make

    def __len__(self) -> int:
        """Number of trees."""
        return self._n_trees

    def __getitem__(self, t: Any) -> Any:
        """Tree t, or a list of trees."""
        places = range(self._n_trees)[t]
        return [self._make(place) for place in places] if isinstance(places, range) else self._make(places)


def fitted_tree(template: DecisionTree, owner: Estimator, tree: Tree) -> DecisionTree:
    """A tree of an ensemble; the template, which is not fitted yet, is changed."""
    template.n_outputs_, template._single_output = 1, True
    template.max_features_ = n_features_drawn(template.max_features, owner.n_features_in_)
    known = (*DESCRIPTION, *OF_CLASSES) if is_classifier(template) else DESCRIPTION
    template.__dict__.update({name: value for name, value in vars(owner).items() if name in known})
    template.tree_ = tree
    return template
