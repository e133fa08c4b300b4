"""Meanings of the parameters of Newton boosting that take the longest to explain."""

from __future__ import annotations

from sapwood.declaration import Meaning
from sapwood.parameters import (
    ArrayLike,
    CallableRule,
    Each,
    Flag,
    Folds,
    Interval,
    MappingLike,
    Nothing,
    OneOf,
    PathRule,
    Text,
)

SHARE = Interval(float, 0, 1, closed="right")
AT_LEAST_ZERO = Interval(float, low=0)
QUANTILE = Interval(float, 0, 1, closed="neither")

RECIPE = Meaning(
    (OneOf("xgboost", "2026.1"),),
    (
        'What "auto" means. "2026.1" chooses numbers by the counts of rows, columns and classes, and the rounds by '
        "validation. Below 50 000 rows, a model for each of four folds stops by itself, its leaf values are set again "
        "by all rows, and the mean of the four is the model; up to 200 000 rows, a fifth of the rows chooses the "
        "rounds of a model that is then trained on all rows; beyond that, and below 200 rows, their number is fixed, "
        "as it is for rankings and functions as objective. "
        "With a number of rounds, eval_set, early_stopping_rounds, validation_fraction, callbacks, max_seconds, "
        "init_model or checkpoint, nothing is validated that was not asked for. "
        '"xgboost" gives XGBoost\'s numbers: 100 rounds of depth 6 with a learning rate of 0.3. '
        "A released recipe never changes. `params_` and `recipe_` tell what was chosen."
    ),
)
HUBER_DELTA = Meaning(
    (Interval(float, low=0, closed="neither"), Nothing()),
    'For objective="huber": the residual at which the loss becomes linear, and the most that a leaf may change '
    "a prediction before the learning rate. None is the 0.9 quantile of the absolute residuals in each round; a "
    "number should be of the size of the residuals, as one that is far too small stops progress.",
)
MAX_CAT_TO_ONEHOT = Meaning(
    (Interval(int, low=1),),
    "Up to so many levels in a node, splits separate one level from the rest; with more, they separate subsets "
    "in the order of their gradients.",
)
MAX_CAT_THRESHOLD = Meaning((Interval(int, low=1),), "Maximum number of levels on the smaller side of such a split.")
CAT_SMOOTH = Meaning((AT_LEAST_ZERO,), "Hessian added to each level when levels are put in order.")
CAT_L2 = Meaning((AT_LEAST_ZERO,), "Added to reg_lambda where a split separates subsets of levels.")
MIN_DATA_PER_GROUP = Meaning(
    (Interval(int, low=0),),
    "Minimum number of rows of a level in a node, if subsets of levels are separated: levels of fewer rows "
    "are one group, together with missing values. Rows are estimated by the hessian of a level.",
)
CATEGORICAL_FEATURES = Meaning(
    (
        OneOf("from_dtype"),
        ArrayLike(),
        Nothing(),
    ),
    "Columns to split as categories: names, indices or a mask. Columns of strings and categorical dtype always "
    "are. Any number of levels is split: the levels of a column of more than 255 are put in order for each tree, "
    "by their effect on its gradients as far as two halves of the rows agree on it, and cut like numbers; "
    "max_cat_to_onehot, max_cat_threshold, cat_smooth, cat_l2 and min_data_per_group do not apply to it.",
)
MAX_MEMORY = Meaning(
    (Interval(float, low=0, closed="neither"), Text(), Nothing()),
    'Memory that training on a source of rows may take, such as "8GB" or a number of bytes; None is 70 % of what is '
    "free. If they need more, codes are kept on disk, and the other arrays of the rows, too, if they must be.",
)
SCRATCH = Meaning(
    (PathRule(), Nothing()),
    "Folder for files that training on a source of rows needs, which are removed at the end; None is the system's "
    "folder for temporary files.",
)
TARGET_STATISTICS = Meaning(
    (Flag(),),
    "Beside each category of more than max_cat_to_onehot levels, add columns of the mean target of its levels: of "
    "numbers, of the second of two classes, or of each of the eight most frequent ones. While trees grow, a row has "
    "the mean of the rows of its level that come before it in random orders, so that its own target is not in it; in "
    "the model, a split on it is a subset of levels. Such columns follow the draws and constraints of theirs. With "
    "init_model, training rows begin with the model's predictions, which know their targets: use other rows.",
)
STATISTICS_OF_LEVELS = (
    "With target_statistics: for each category of more than max_cat_to_onehot levels, by name, the statistics of its "
    "levels (levels, statistics) over all training rows, levels as in `schema_`. Empty without."
)
EXTRA_TREES = Meaning(
    (
        Flag(),
        OneOf("alternate"),
    ),
    "Try one random threshold of each numeric column in a node, not all of them. With "
    '"alternate", the models of every other fold do so if rounds are validated on folds, with twice the learning rate '
    "(up to 0.5).",
)
RANDOM_STRENGTH = Meaning(
    (AT_LEAST_ZERO,),
    "Strength of the noise that is added to the scores of columns in a node, and decays as the model grows, "
    "so that columns of nearly equal gain take turns. CatBoost's default is 1.",
)
CV = Meaning(
    (
        Interval(int, low=2),
        Folds(),
        Nothing(remedy="Use cv=None for folds that are drawn."),
    ),
    "Folds that validate the number of rounds, up to n_estimators: their number (stratified for "
    "classes), a scikit-learn splitter, or a list of pairs (train, test) of rows, such as "
    "list(GroupKFold(5).split(X, y, groups)) or those of a TimeSeriesSplit. None draws them.",
)
EARLY_STOPPING_ROUNDS = Meaning(
    (
        Interval(int, low=1),
        Nothing(remedy="Use early_stopping_rounds=None to train all rounds."),
    ),
    "Stop if the last metric of the last validation set has not improved for so many rounds. Prediction then "
    "uses the rounds up to the best one, unless it is given n_rounds. Validation rows come from eval_set of fit, "
    "or from validation_fraction.",
)
VALIDATION_FRACTION = Meaning(
    (
        QUANTILE,
        Nothing(),
    ),
    "Fraction of the training rows (in rankings, of the queries) to hold out for validation if fit gets no eval_set.",
)
EVAL_METRIC = Meaning(
    (
        Text(),
        CallableRule(),
        Each((Text(), CallableRule()), "names and functions"),
        Nothing(),
    ),
    'Metrics of the validation sets: XGBoost\'s names, such as "rmse", "logloss", "auc" or "ndcg@10"; "loss" '
    "for the objective itself; scikit-learn's metric functions, scorers and scorer names, whose direction is known;"
    " or a function of (y_true, y_pred) or (y_true, y_pred, weight), which is minimised unless it has an attribute "
    "greater_is_better that is true. y_pred is what predict gives for numbers and predict_proba for classes (of "
    "two, the second), whose numbers 0, 1, 2, … are y_true. Rows are weighted by sample_weight, not class_weight. Of "
    "several targets the mean counts; by default, of each one's loss divided by that of its best constant.",
)
MULTI_STRATEGY = Meaning(
    (OneOf("one_output_per_tree", "multi_output_tree"),),
    "Trees of a round if there are more than two classes, several quantiles or several targets: one for each, or one "
    "for all, whose leaves have a value for each. One tree for all is grown on a random mixture of their gradients, "
    "new in each round.",
)
GROW_POLICY = Meaning(
    (OneOf("depthwise", "lossguide", "symmetric"),),
    "Split level by level; or the leaf of largest gain first; or find one split for all nodes of a level, as CatBoost "
    "does: the one that gains most in all of them together. A node that gains nothing by it stays as it is until the "
    "next level. Symmetric trees overfit less where few rows decide: for two classes and 1 000 to 5 000 rows, the "
    "recipe 2026.1 trains both kinds, and keeps symmetric trees if they save at least 5 % of the loss in validation.",
)
LEAF_ROWS = Meaning(
    (OneOf("drawn", "all"),),
    "Rows that set leaf values: those that subsample drew, or all, so that draws decide about splits only.",
)
LINEAR_TREE = Meaning(
    (Flag(), OneOf("validate")),
    "Leaves are linear functions of up to five numeric columns that their path splits on, the nearest to the leaf "
    "first, fitted by ridge regression on the leaf's rows. A leaf of a weight below 10 rows for its value and "
    "each slope has one value; cells count up to the range of the leaf's training rows, and missing ones add "
    'nothing. For smooth targets. "validate" trains both kinds for some rounds, where rounds are validated, and '
    "keeps the better one; so does the recipe 2026.1 for the squared error of one target, from 1 000 rows on. For "
    "losses whose leaves are Newton's steps, without monotone_constraints, with a tree for each score.",
)
LINEAR_LAMBDA = Meaning(
    (AT_LEAST_ZERO,),
    "L2 penalty of the slopes of linear leaves, for columns divided by their standard deviation in the leaf: it "
    "shrinks slopes as reg_lambda shrinks leaf values, whatever the units of the columns.",
)
SAMPLING_METHOD = Meaning(
    (OneOf("uniform", "gradient_based"),),
    "Draw all rows with the same probability, or by the size of their gradients, with weights that compensate.",
)
FEATURE_WEIGHTS = Meaning(
    (
        ArrayLike(),
        MappingLike(),
        Nothing(),
    ),
    "Weights of the columns in these draws, a list in column order or a dictionary by name.",
)
