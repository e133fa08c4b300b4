"""The four forests: random forests and extremely randomised trees, for classes and for numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

from sapwood.estimators.forest_kinds import ForestClassifier, ForestRegressor
from sapwood.estimators.tree import Unseen


class RandomForestClassifier(ForestClassifier):
    """A random forest for classes: trees on bootstrap samples, each split from a few columns drawn anew.

    Parameters are scikit-learn's and those of `DecisionTreeClassifier`, and beyond them:

    max_bins : int or None
        Look at the borders of so many quantile bins of each column (a column with no more distinct values loses
        nothing by it); None looks at every distinct value.
    feature_sampling : {"split", "tree"}
        Columns are drawn anew for each split, or once for each tree.
    oob_stop : bool
        Grow trees until the out-of-bag error is flat, and n_estimators at most: once the mean error after each of the
        last 25 trees is lower than that of the 25 before by less than oob_tol of it. `stopped_reason_` tells.
    oob_tol : float
        See oob_stop.
    voting : {"soft", "hard"}
        Average the trees' probabilities, or count the classes they vote for.

    Rows are drawn by the order of a hash of their contents, so the forest does not depend on their order. Weights of
    rows and classes are probabilities of the draws, and as many rows are drawn as there are: weights times a constant
    give the same forest. With oob_score or oob_stop, `oob_curve_` has the error after each tree: the share of wrong
    classes, or the mean squared error, weighted by sample_weight.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        drift_warning: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        impurity_threshold: float = 0.0,
        significance: float | None = None,
        leaf: str = "auto",
        max_bins: int | None = 255,
        voting: Literal["soft", "hard"] = "soft",
        feature_sampling: Literal["split", "tree"] = "split",
        oob_stop: bool = False,
        oob_tol: float = 0.005,
        categorical_features: Any = "from_dtype",
        unseen: Unseen = "missing",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.drift_warning = drift_warning
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.impurity_threshold = impurity_threshold
        self.significance = significance
        self.leaf = leaf
        self.max_bins = max_bins
        self.voting = voting
        self.feature_sampling = feature_sampling
        self.oob_stop = oob_stop
        self.oob_tol = oob_tol
        self.categorical_features = categorical_features
        self.unseen = unseen


class RandomForestRegressor(ForestRegressor):
    """A random forest for numbers. A split looks at a third of the columns, max_features="third".

    Parameters are those of `RandomForestClassifier`, but for voting and class_weight, and:

    keep_targets : bool
        Keep what `predict_quantiles` needs: the training rows in each leaf, 8 bytes for a row and tree.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "third",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        drift_warning: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        impurity_threshold: float = 0.0,
        significance: float | None = None,
        leaf: str = "auto",
        max_bins: int | None = 255,
        feature_sampling: Literal["split", "tree"] = "split",
        oob_stop: bool = False,
        oob_tol: float = 0.005,
        keep_targets: bool = False,
        categorical_features: Any = "from_dtype",
        unseen: Unseen = "missing",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.drift_warning = drift_warning
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.impurity_threshold = impurity_threshold
        self.significance = significance
        self.leaf = leaf
        self.max_bins = max_bins
        self.feature_sampling = feature_sampling
        self.oob_stop = oob_stop
        self.oob_tol = oob_tol
        self.keep_targets = keep_targets
        self.categorical_features = categorical_features
        self.unseen = unseen


class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomised trees for classes: all rows, and for each column drawn one threshold drawn.

    Parameters are those of `RandomForestClassifier`. By default every tree is grown on all rows, and thresholds are
    drawn between the least and the largest value in the node; with max_bins they are moved to the border of a bin.
    """

    splitter: ClassVar = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        drift_warning: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        impurity_threshold: float = 0.0,
        significance: float | None = None,
        leaf: str = "auto",
        max_bins: int | None = None,
        voting: Literal["soft", "hard"] = "soft",
        feature_sampling: Literal["split", "tree"] = "split",
        oob_stop: bool = False,
        oob_tol: float = 0.005,
        categorical_features: Any = "from_dtype",
        unseen: Unseen = "missing",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.drift_warning = drift_warning
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.impurity_threshold = impurity_threshold
        self.significance = significance
        self.leaf = leaf
        self.max_bins = max_bins
        self.voting = voting
        self.feature_sampling = feature_sampling
        self.oob_stop = oob_stop
        self.oob_tol = oob_tol
        self.categorical_features = categorical_features
        self.unseen = unseen


class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomised trees for numbers.

    Parameters are those of `RandomForestClassifier` and `RandomForestRegressor`; see `ExtraTreesClassifier`.
    """

    splitter: ClassVar = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        drift_warning: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        impurity_threshold: float = 0.0,
        significance: float | None = None,
        leaf: str = "auto",
        max_bins: int | None = None,
        feature_sampling: Literal["split", "tree"] = "split",
        oob_stop: bool = False,
        oob_tol: float = 0.005,
        keep_targets: bool = False,
        categorical_features: Any = "from_dtype",
        unseen: Unseen = "missing",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.drift_warning = drift_warning
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.impurity_threshold = impurity_threshold
        self.significance = significance
        self.leaf = leaf
        self.max_bins = max_bins
        self.feature_sampling = feature_sampling
        self.oob_stop = oob_stop
        self.oob_tol = oob_tol
        self.keep_targets = keep_targets
        self.categorical_features = categorical_features
        self.unseen = unseen
