"""The four forests: random forests and extremely randomised trees, for classes and for numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

from sklearn.base import ClassifierMixin, RegressorMixin

from sapwood.arrays import Array, Floats
from sapwood.declaration import Meaning, declared, fitted, parameter
from sapwood.errors import ParameterError
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.forest import ForestEstimator
from sapwood.estimators.methods_by_task import multi_label_tags
from sapwood.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.estimators.tree_rows import CLASSES, NUMBERS, TreeRows
from sapwood.forest.bags import Bag, Bags, n_drawn
from sapwood.forest.forest import Forest
from sapwood.parameters import ArrayLike, CallableRule, Flag, Interval, MappingLike, Nothing, OneOf
from sapwood.table.schema import Unseen

CLASS_WEIGHT = Meaning(
    (OneOf("balanced", "balanced_subsample"), MappingLike(), ArrayLike(), Nothing()),
    'Weights of the classes: a dictionary from classes to weights, "balanced" for the same total weight for every '
    'class, "balanced_subsample" for the same within the rows of each tree, or a list with one for each output.',
)
VOTING = Meaning(
    (OneOf("soft", "hard"),), "Average the probabilities that the trees predict, or count the classes they vote for."
)
PRIOR_WEIGHT = Meaning(
    (Interval(float, low=0),),
    "How many trees the shares of the classes among all rows count for when probabilities are averaged, so that no "
    "class has a probability of zero; 0 averages the trees alone. Hard votes are counted without it.",
)
KEEP_TARGETS = Meaning(
    (Flag(),), "Keep the training rows of each leaf, 8 bytes for each row and tree, for predict_quantiles."
)
OUT_OF_BAG = "Out of bag estimation is only available if trees are grown on samples of the rows. Set bootstrap=True."
NEEDS_SAMPLES = {
    "max_samples": "without it every tree is grown on all rows. Set bootstrap=True, or max_samples=None.",
    "oob_score": OUT_OF_BAG,
    "oob_stop": OUT_OF_BAG,
}


@declared
class RandomizedForest(ForestEstimator):
    """What the four share. Use one of them."""

    splitter: ClassVar[str] = "best"

    criterion: str = parameter(shared.CLASS_CRITERION, default="gini")
    max_depth: int | None = parameter(shared.MAX_DEPTH, default=None)
    min_samples_split: int | float = parameter(shared.MIN_SAMPLES_SPLIT, default=2)
    min_samples_leaf: int | float = parameter(shared.MIN_SAMPLES_LEAF, default=1)
    min_weight_fraction_leaf: float = parameter(shared.MIN_WEIGHT_FRACTION_LEAF, default=0.0)
    max_features: int | float | str | None = parameter(
        Interval(int, low=1),
        Interval(float, 0, 1, closed="right", integers=False),
        OneOf("sqrt", "log2", "third"),
        Nothing(remedy="Use max_features=None for all columns."),
        default=0.5,
        doc="Columns that are drawn for each split (or each tree, see feature_sampling): a number, a fraction, the "
        "square root, the binary logarithm or a third of the number of columns, or None for all of them.",
    )
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
    n_estimators: int = parameter(Interval(int, low=1), default=100, doc="Number of trees.", kw_only=False)
    bootstrap: bool = parameter(
        Flag(), default=True, doc="Grow each tree on rows drawn with replacement; False grows it on all rows."
    )
    oob_score: bool | Callable[..., float] = parameter(
        Flag(),
        CallableRule(),
        default=False,
        doc="Measure the forest on out-of-bag rows: oob_score_ (accuracy or R², or a function of y_true and y_pred) "
        "and oob_curve_. Needs bootstrap=True.",
    )
    verbose: int = parameter(shared.VERBOSE, default=0)
    warm_start: bool = parameter(shared.WARM_START, default=False)
    max_samples: int | float | None = parameter(shared.MAX_SAMPLES, default=None)
    feature_sampling: Literal["split", "tree"] = parameter(
        OneOf("split", "tree"), default="split", doc="Draw columns anew for each split, or once for each tree."
    )
    oob_stop: bool = parameter(
        Flag(),
        default=False,
        doc="Stop growing before n_estimators trees once the out-of-bag error is flat: once its mean over the last 25 "
        "trees is less than a fraction oob_tol below that of the 25 before; see stopped_reason_.",
    )
    oob_tol: float = parameter(
        Interval(float, low=0),
        default=0.005,
        doc="Relative decrease of the out-of-bag error below which it counts as flat.",
    )

    forest_: Forest = fitted("The trees, packed; estimators_ gives them as estimators.")
    n_outputs_: int = fitted("Number of targets.")
    max_features_: int = fitted("Number of columns that a split, or a tree, may choose from.")
    stopped_reason_: str = fitted("Why no more trees were grown.")
    oob_curve_: Floats = fitted("Out-of-bag error after each tree, with oob_score or oob_stop.")
    oob_score_: float = fitted("Out-of-bag accuracy or R², with oob_score or oob_stop.")

    def _tree(self) -> RandomizedForest:
        return self

    @property
    def estimator_(self) -> Any:
        """A tree with the parameters of the forest's trees, not fitted."""
        self._check_fitted()
        kind: Any = DecisionTreeClassifier if self.task is CLASSES else DecisionTreeRegressor
        known = {name: getattr(self, name) for name in kind._get_param_names()}
        if self.feature_sampling == "tree":
            known["max_features"] = None
        elif self.max_features == "third":  # a name that single trees do not have
            known["max_features"] = self.max_features_
        if str(known.get("class_weight")) == "balanced_subsample":
            known["class_weight"] = None
        return kind(**known)

    def _draws(self, training: TreeRows, order: Array, given: Sequence[Bag] | None) -> Bags:
        for name, reason in NEEDS_SAMPLES.items():
            if getattr(self, name) and not self.bootstrap and given is None:
                raise ParameterError(f"{name}={getattr(self, name)!r} needs bootstrap=True: {reason}")
        return Bags(
            self._seed,
            order,
            training.weight if self.bootstrap else None,
            n_drawn(self.max_samples, training.table.n_rows) if self.bootstrap else None,
            n_features=training.table.n_features,
            n_chosen=self.max_features_ if self.feature_sampling == "tree" else None,
            given=given,
        )


@declared
class RandomForestClassifier(ClassifierMixin, RandomizedForest):
    """A random forest for classes: trees on bootstrap samples, each split from half of the columns, drawn anew.

    Rows are drawn by the order of a hash of their contents, so the forest does not depend on their order. Weights of
    rows and classes are probabilities of the draws, and as many rows are drawn as there are: weights times a constant
    give the same forest. With oob_score or oob_stop, `oob_curve_` has the error after each tree: the share of wrong
    classes, or the mean squared error, weighted by sample_weight.
    """

    task: ClassVar = CLASSES
    __sklearn_tags__ = multi_label_tags

    max_bins: int | None = 255
    class_weight: Any = parameter(CLASS_WEIGHT, default=None)
    voting: Literal["soft", "hard"] = parameter(VOTING, default="soft")
    prior_weight: float = parameter(PRIOR_WEIGHT, default=0.1)

    classes_: Any = fitted("The classes, in order; a list of arrays if there are several outputs.")
    n_classes_: Any = fitted("Number of classes, or a list of numbers if there are several outputs.")
    oob_decision_function_: Any = fitted("Out-of-bag probabilities of the training rows, with oob_score or oob_stop.")


@declared
class RandomForestRegressor(RegressorMixin, RandomizedForest):
    """A random forest for numbers: trees on bootstrap samples, each split from 70 % of the columns, drawn anew.

    See `RandomForestClassifier` for how rows are drawn.
    """

    task: ClassVar = NUMBERS

    criterion: str = parameter(shared.NUMBER_CRITERION, default="squared_error")
    leaf: str = parameter(shared.NUMBER_LEAF, default="auto")
    max_features: int | float | str | None = 0.7
    max_bins: int | None = 255
    keep_targets: bool = parameter(KEEP_TARGETS, default=False)

    oob_prediction_: Floats = fitted("Out-of-bag predictions of the training rows, with oob_score or oob_stop.")


@declared
class ExtraTreesClassifier(ClassifierMixin, RandomizedForest):
    """Extremely randomised trees for classes: all rows, and for half of the columns one threshold each, drawn anew.

    Thresholds are drawn between the least and the largest value in the node; with max_bins they are moved to the border
    of a bin.
    """

    task: ClassVar = CLASSES
    __sklearn_tags__ = multi_label_tags
    splitter: ClassVar = "random"

    bootstrap: bool = False
    class_weight: Any = parameter(CLASS_WEIGHT, default=None)
    voting: Literal["soft", "hard"] = parameter(VOTING, default="soft")
    prior_weight: float = parameter(PRIOR_WEIGHT, default=0.1)

    classes_: Any = fitted("The classes, in order; a list of arrays if there are several outputs.")
    n_classes_: Any = fitted("Number of classes, or a list of numbers if there are several outputs.")
    oob_decision_function_: Any = fitted("Out-of-bag probabilities of the training rows, with oob_score or oob_stop.")


@declared
class ExtraTreesRegressor(RegressorMixin, RandomizedForest):
    """Extremely randomised trees for numbers; see `ExtraTreesClassifier`."""

    task: ClassVar = NUMBERS
    splitter: ClassVar = "random"

    criterion: str = parameter(shared.NUMBER_CRITERION, default="squared_error")
    leaf: str = parameter(shared.NUMBER_LEAF, default="auto")
    max_features: int | float | str | None = 1.0
    bootstrap: bool = False
    keep_targets: bool = parameter(KEEP_TARGETS, default=False)

    oob_prediction_: Floats = fitted("Out-of-bag predictions of the training rows, with oob_score or oob_stop.")
