"""Meanings of parameters that several estimators share."""

from __future__ import annotations

from sapwood.declaration import Meaning
from sapwood.parameters import (
    ArrayLike,
    CallableRule,
    Each,
    EstimatorRule,
    Flag,
    Interval,
    MappingLike,
    Nothing,
    OneOf,
    RandomState,
)
from sapwood.threads import JOBS

RANDOM_STATE = Meaning(
    (RandomState(),),
    "Seed of all random draws. The same seed gives the same model, bit for bit, whatever n_jobs is; None draws a seed.",
)
N_JOBS = Meaning(
    JOBS,
    "Number of threads; -1 uses every core, None the number of joblib's active backend, or one. The model does not "
    "depend on it.",
)
DRIFT_WARNING = Meaning(
    (Flag(),),
    "Warn (DataDriftWarning) when rows to predict do not look like the training data; see schema_.compare.",
)
VERBOSE = Meaning((Interval(int, low=0), Flag()), "Show a progress bar.")
WARM_START = Meaning((Flag(),), "Keep the trees of the previous fit and add more, instead of starting over.")

MAX_DEPTH = Meaning(
    (Interval(int, low=1), Nothing(remedy="Use max_depth=None for no limit.")),
    "Maximum depth of a tree; a tree with one split has depth 1. None means no limit.",
)
MIN_SAMPLES_SPLIT = Meaning(
    (Interval(int, low=2), Interval(float, 0, 1, closed="right", integers=False)),
    "Minimum number of rows of a node that may be split; a float is a fraction of the rows, rounded up.",
)
MIN_SAMPLES_LEAF = Meaning(
    (Interval(int, low=1), Interval(float, 0, 1, closed="neither", integers=False)),
    "Minimum number of rows of a leaf; a float is a fraction of the rows, rounded up.",
)
MIN_WEIGHT_FRACTION_LEAF = Meaning(
    (Interval(float, 0, 0.5),), "Minimum fraction of the total weight of the rows in a leaf."
)
MAX_LEAF_NODES = Meaning(
    (Interval(int, low=2), Nothing(remedy="Use max_leaf_nodes=None for no limit.")),
    "Maximum number of leaves. With a limit, the leaf whose split gains most is split first.",
)
MIN_IMPURITY_DECREASE = Meaning(
    (Interval(float, low=0),),
    "Minimum decrease of the tree's impurity by a split: of the node's impurity, times its fraction of the weight.",
)
CCP_ALPHA = Meaning(
    (Interval(float, low=0),),
    "Price of a leaf in minimal cost-complexity pruning: branches that are not worth it are cut off.",
)
MAX_FEATURES = Meaning(
    (
        Interval(int, low=1),
        Interval(float, 0, 1, closed="right", integers=False),
        OneOf("sqrt", "log2"),
        Nothing(remedy="Use max_features=None for all columns."),
    ),
    "Columns that are drawn for each split: a number, a fraction, the square root or the binary logarithm of their "
    "number, or None for all of them.",
)
MONOTONIC = Meaning(
    (ArrayLike(), MappingLike(), Nothing()),
    "Monotonic constraints: 1 if predictions must not fall as the column rises, -1 if they must not rise, 0 for none; "
    "a list in column order or a dictionary by column name. For one output, and at most two classes.",
)
CATEGORICAL_FEATURES = Meaning(
    (OneOf("from_dtype"), ArrayLike(), Nothing()),
    "Columns to split as categories: names, indices or a mask. Columns of strings and categorical dtype always are.",
)
UNSEEN = Meaning(
    (OneOf("missing", "error"),),
    'What a category level that was not in the training data does at prediction: "missing" goes where missing values '
    'go, "error" raises an error.',
)
CLASS_WEIGHT = Meaning(
    (OneOf("balanced"), MappingLike(), Nothing()),
    'Weights of the classes: a dictionary from classes to weights, or "balanced" for the same total weight for every '
    "class. Weights shift the predicted base rate; see undo_class_weight.",
)
UNDO_CLASS_WEIGHT = Meaning(
    (Flag(),),
    "Let predict_proba undo the shift of the base rate by class weights; predict uses the weighted scores either way.",
)
CALLBACKS = Meaning(
    (Each((CallableRule(),), "functions of a Progress", may_be_empty=True), Nothing()),
    "Functions that are called after every round with a Progress (round, n_rounds, history, best_round, seconds, "
    "ensemble). Training stops when one returns True.",
)
MAX_SECONDS = Meaning(
    (Interval(float, low=0, closed="neither"), Nothing()),
    "Stop training after this time. A time limit, Ctrl-C or SIGTERM leaves a usable model; see stopped_reason_.",
)
MEMBER = Meaning(
    (EstimatorRule(), Nothing(remedy="Use estimator=None for trees of this library.")),
    "The estimator to fit many times; None is a decision tree of this library, which takes missing values, categories "
    "and strings.",
)
MAX_SAMPLES = Meaning(
    (
        Interval(int, low=1),
        Interval(float, low=0, closed="neither", integers=False),
        Nothing(remedy="Use max_samples=None for as many draws as there are rows."),
    ),
    "Rows drawn for each tree; a float is a fraction of the rows, and None draws as many as there are.",
)
TWEEDIE_POWER = Meaning(
    (Interval(float, 1, 2, closed="neither"),),
    "Power of the variance of the Tweedie loss, between 1 (Poisson) and 2 (gamma).",
)

# Of decision trees and forests

CLASS_CRITERION = Meaning(
    (OneOf("gini", "entropy", "log_loss", "error"),),
    'What a split decreases: the Gini impurity, the entropy ("log_loss" is another name for it), or the '
    'misclassification error 1 - max p_k ("error").',
)
NUMBER_CRITERION = Meaning(
    (OneOf("squared_error", "friedman_mse", "absolute_error", "poisson"),),
    'What a split decreases: the squared error ("friedman_mse" is another name for it), the absolute error, or the '
    "Poisson deviance.",
)
CLASS_LEAF = Meaning(
    (OneOf("auto", "share", "softmax"),),
    'Probabilities of a leaf: the class shares of its weight ("auto", "share"), or the softmax of the class weights.',
)
NUMBER_LEAF = Meaning(
    (OneOf("auto", "mean", "median"),),
    'Value of a leaf; "auto" is the median for the absolute error, and the mean otherwise.',
)
IMPURITY_THRESHOLD = Meaning((Interval(float, low=0),), "A node is split only if its impurity is above this.")
SIGNIFICANCE = Meaning(
    (Interval(float, 0, 1, closed="neither"), Nothing(remedy="Use significance=None for no test.")),
    "Significance level of a test of every split: chi-squared of side and class, or F between the means of both "
    "sides. A split whose p-value is above the level is dropped; None means no test.",
)
MAX_BINS = Meaning(
    (Interval(int, 2, 2**31 - 2), Nothing(remedy="Use max_bins=None to look at every distinct value.")),
    "Number of quantile bins of a column, whose borders are the candidate thresholds. A column with no more distinct "
    "values is split exactly; None splits every column exactly.",
)
TREE_UNSEEN = Meaning(
    (OneOf("missing", "error", "node"),),
    'What a category level that was not in the training data does at prediction: "missing" goes where missing values '
    'go, "error" raises an error, "node" predicts the value of the node that it reached.',
)
