"""Meanings of the parameters of trees, which decision trees and forests declare."""

from __future__ import annotations

from typing import Literal

from sapwood.declaration import Meaning
from sapwood.parameters import ArrayLike, Interval, MappingLike, Nothing, OneOf

Unseen = Literal["missing", "error", "node"]

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
CLASS_WEIGHT = Meaning(
    (OneOf("balanced"), MappingLike(), ArrayLike(), Nothing()),
    'Weights of the classes: a dictionary from classes to weights, "balanced" for the same total weight for every '
    "class, or a list with one of these for each output.",
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
UNSEEN = Meaning(
    (OneOf("missing", "error", "node"),),
    'What a category level that was not in the training data does at prediction: "missing" goes where missing values '
    'go, "error" raises an error, "node" predicts the value of the node that it reached.',
)
