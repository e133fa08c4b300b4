"""Base class of fitted estimators: a sum of trees plus a schema."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from sapwood.declaration import declared, fitted, parameter
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.base import RuledEstimator
from sapwood.estimators.row_reader import RowReader
from sapwood.grove import Grove
from sapwood.predictor import Scorer
from sapwood.show.row import as_one_row
from sapwood.table.drift import warn_of_drift
from sapwood.table.schema import Schema, Unseen
from sapwood.table.table import Table
from sapwood.threads import resolve_jobs

Floats = NDArray[np.float64]


@declared
class TreeModel(RuledEstimator):
    """An estimator made of trees: what prediction, explanations and pictures know of it.

    Scores are (columns, rows); what they mean is the business of the classes below.
    """

    n_jobs: int | None = parameter(shared.N_JOBS, default=None)
    drift_warning: bool = parameter(shared.DRIFT_WARNING, default=True)

    schema_: Schema = fitted("What the model knows of its columns: names, kinds, levels and statistics.")
    n_features_in_: int = fitted("Number of columns.")
    feature_names_in_: NDArray[Any] = fitted("Names of the columns, if X had names.")

    @abstractmethod
    def _grove(self) -> Grove:
        """The trees that prediction uses, and what they say."""

    @abstractmethod
    def _scorer(self) -> Scorer:
        """What turns rows into scores; made once for a fitted model."""

    @abstractmethod
    def _score_names(self) -> list[Any]:
        """What each column of the scores is about, such as a class; None for one that is always zero."""

    @abstractmethod
    def _answers(self, scores: Floats) -> NDArray[Any]:
        """What `predict` says of rows with these scores."""

    def _row_starts(self, X: Any) -> Floats | None:  # noqa: ARG002 - a hook
        """Scores (columns, rows) that rows have before the grove's, if it does not start alike for all of them."""
        return None

    def _median_weights(self) -> Floats | None:
        """Weights of the columns if the prediction is their weighted median; None if they are the scores."""
        return None

    @property
    def _is_all_trees(self) -> bool:
        """Whether scores come from the grove alone, not also from other estimators."""
        return True

    @property
    def _answers_in_scores(self) -> bool:
        """Whether the scores are the answer itself, shares of classes or numbers, without a response in between."""
        return True

    @property
    def _n_trees(self) -> int | None:
        """How many of the scorer's trees prediction uses; None for all."""
        return None

    @property
    def _unseen_policy(self) -> Unseen:
        """What an unknown category does at prediction."""
        policy: Unseen = self.unseen
        return policy

    def _match(self, X: Any) -> Table:
        """New rows in the columns of the training table; a table that is matched already stays as it is."""
        self._check_fitted()
        if isinstance(X, Table) and X.schema is self.schema_:
            return X
        return self.schema_.match(X, unseen=self._unseen_policy, owner=type(self).__name__)

    def _new_rows(self, X: Any) -> Table:
        """As `_match`, for rows that the caller asks about: a warning tells if they are not like the training data."""
        table = self._match(X)
        if self.drift_warning and table is not X and table.n_rows > 1:
            warn_of_drift(self.schema_, table)
        return table

    def predict_one(self, row: Any) -> Any:
        """Prediction for one row: what `predict` gives for a table of this row.

        Args:
            row: a dictionary from column names to values, a list or tuple of values in the order of the columns, a
                one-dimensional array, or a table of one row. None is a missing value. Numbers, booleans and strings in
                a dictionary, list, tuple or array take microseconds; dates and tables take as long as in `predict`.
        """
        self._check_fitted()
        if not self._is_all_trees:
            return self.predict(as_one_row(row, self.schema_)[0])[0]
        return self._answers(self._scores_of_row(row))[0]

    def _scores(self, X: Any) -> Floats:
        """Scores (columns, rows) of a table in any form."""
        scores = self._scores_of_single(X)
        if scores is not None:
            return scores
        table, n_jobs = self._new_rows(X), resolve_jobs(self.n_jobs)
        return self._scorer().scores(table, n_trees=self._n_trees, begin=self._row_starts(X), n_jobs=n_jobs)

    def _scores_of_row(self, row: Any) -> Floats:
        """Scores (columns, 1) of one row in any form."""
        reader = RowReader(self.schema_, self._unseen_policy, type(self).__name__)
        return self._scorer().score_row(reader.read(row), self._n_trees)[:, None]

    def _scores_of_single(self, X: Any) -> Floats | None:
        """Scores (columns, 1) of a matrix of one row that needs no conversion; None for anything else."""
        if type(X) is not np.ndarray or len(X.shape) != 2 or X.shape[0] != 1 or not self._is_all_trees:
            return None
        self._check_fitted()
        if X.shape[1] != self.schema_.n_features or X.dtype not in PLAIN or not self.schema_.is_plain:
            return None
        return self._scorer().score_row(X[0].astype(np.float64), self._n_trees)[:, None]

    def __sklearn_tags__(self) -> Tags:
        """Tags: missing values, categorical and sparse input are supported, and y is required."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags

    def to_frame(self) -> Any:
        """Every node of every tree that prediction uses, as a data frame (pandas if installed, else polars).

        | column | meaning |
        |---|---|
        | tree; round, score | number of the tree, and for boosting its round and what its score is about |
        | node, depth, parent, left, right | numbers of nodes in the tree; -1 for none, and the root has depth 0 |
        | is_leaf, feature, threshold, levels | the split: values up to the threshold, or these levels, go left |
        | missing_left | whether missing values go left |
        | value | what the node says; with several words one column each, such as "value setosa" |
        | n_rows, weight | training rows in the node and their weight, for boosting the sum of their hessians |
        | impurity | impurity of these rows; NaN for boosting, whose nodes have none |
        | gain | by how much the split lowers weight times impurity, for boosting the objective |
        """
        from sapwood.explain.nodes import nodes_frame  # models need no explanations until they are asked for one

        self._check_fitted()
        return nodes_frame(self)


class OneRowProbabilities(TreeModel):
    """Classifiers have probabilities of one row, too."""

    @abstractmethod
    def _shares(self, scores: Floats) -> Any:
        """What `predict_proba` says of rows with these scores."""

    def predict_proba_one(self, row: Any) -> Any:
        """Probabilities of the classes for one row, in any form that `predict_one` takes; a list if several outputs."""
        self._check_fitted()
        if self._is_all_trees:
            found = self._shares(self._scores_of_row(row))
        else:
            found = self.predict_proba(as_one_row(row, self.schema_)[0])
        return [one[0] for one in found] if isinstance(found, list) else found[0]


PLAIN = (np.dtype(np.float32), np.dtype(np.float64))
