"""Model: what a fitted estimator computes, as data.

    scores   = (base + the leaf values of all trees, tree by tree) / divisor     `trees`
    numbers  = response(scores)                                                  probabilities or predictions
    label    = the class of largest score                                        classifiers only

Every fitted estimator has one, `estimator.model_`; `sapwood.load_model` reads one from a file without scikit-learn.
Explanations, plots and exports take it, or the estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats
from sapwood.cached_property import cached_property
from sapwood.counted import counted
from sapwood.errors import InputTypeError, ParameterError
from sapwood.model.response import Response
from sapwood.model.row_reader import PLAIN_KINDS, RowReader
from sapwood.predictor import Scorer
from sapwood.result import Part, Result
from sapwood.sources.open import is_source, open_source
from sapwood.sources.read_ahead import read_ahead
from sapwood.table.drift import warn_of_drift
from sapwood.table.one_row import as_one_row
from sapwood.table.schema import Schema, Unseen
from sapwood.table.table import Table
from sapwood.threads import resolve_jobs
from sapwood.tree_sum import TreeSum

Begin = Callable[[Any], Floats]


@dataclass(frozen=True, eq=False, repr=False)
class Model(Result):
    """A fitted model without the estimator that trained it: `predict`, `predict_proba`, one row, batches of rows.

    Attributes:
        estimator: name of the estimator's class.
        schema: the columns of the training table.
        trees: the trees that prediction uses, and the values of their nodes.
        response: how numbers follow from scores.
        score_names: what each column of the scores is about, such as a class; None for one that is always zero.
        classes: labels of each output; empty for models of numbers.
        single: whether there is one output, for which predictions have no dimension.
        unseen: what an unknown level of a category does.
        begin: scores that estimators of other libraries give to rows before the trees add theirs.
        drift_warning: whether rows that do not look like the training data give a warning.
    """

    estimator: str
    schema: Schema
    trees: TreeSum
    response: Response
    score_names: tuple[Any, ...]
    classes: tuple[Array, ...] = ()
    single: bool = True
    unseen: Unseen = "missing"
    begin: Begin | None = None
    drift_warning: bool = True

    def __getstate__(self) -> dict[str, Any]:
        """What is made when it is first needed is not pickled."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def _parts(self) -> Iterator[Part]:
        kinds = "".join(f", {counted(len(labels), 'class')}" for labels in self.classes)
        columns = counted(self.schema.n_features, "column")
        yield f"Model({self.estimator}, {counted(len(self.trees), 'tree')}, {columns}{kinds})"

    @property
    def is_classifier(self) -> bool:
        """Whether the model predicts classes."""
        return bool(self.classes)

    @property
    def is_all_trees(self) -> bool:
        """Whether scores come from trees of this library alone."""
        return self.begin is None

    @property
    def has_trees(self) -> bool:
        """Whether there are trees of this library, beside estimators of others."""
        return len(self.trees) > 0 or self.is_all_trees

    @property
    def is_sum(self) -> bool:
        """Whether predictions follow from sums over the trees, not from the median of their predictions."""
        return self.response.kind != "median"

    @property
    def kept_scores(self) -> list[int]:
        """Columns of the scores that are not there just to fill up a row."""
        return [k for k, name in enumerate(self.score_names) if name is not None]

    @property
    def groups(self) -> list[list[int]]:
        """For each output of a classifier the columns of the scores of its classes."""
        if len(self.classes) == 1:
            return [list(range(self.trees.n_columns))]
        width = self.trees.n_columns // max(len(self.classes), 1)
        return [list(range(o * width, o * width + len(labels))) for o, labels in enumerate(self.classes)]

    def require_trees(self) -> TreeSum:
        """The trees, or an error if other estimators take their place."""
        if self.has_trees:
            return self.trees
        raise InputTypeError(
            f"This {self.estimator} has estimators of another library, so there are no trees to show. Use "
            "estimator=None or a DecisionTree of Sapwood."
        )

    def match(self, X: Any) -> Table:
        """Rows in the columns of the training table; a table that is matched already stays as it is."""
        if isinstance(X, Table) and X.schema is self.schema:
            return X
        return self.schema.match(X, unseen=self.unseen, owner=self.estimator)

    def new_rows(self, X: Any) -> Table:
        """As `match`, for rows to predict, with a warning if they are not like the training data."""
        table = self.match(X)
        if self.drift_warning and table is not X and table.n_rows > 1:
            warn_of_drift(self.schema, table)
        return table

    def scores(self, X: Any, *, n_jobs: int | None = None) -> Floats:
        """Scores (columns, rows) of rows in any form."""
        if type(X) is not np.ndarray and is_source(X):
            return np.concatenate([self.scores(rows, n_jobs=n_jobs) for rows in self._batches(X)], axis=1)
        found = self._scores_of_matrix(X)
        if found is not None:
            return found
        table = self.new_rows(X)
        begin = None if self.begin is None else self.begin(X)
        return self.scorer.scores(table, begin=begin, n_jobs=resolve_jobs(n_jobs))

    def predict(self, X: Any, *, n_jobs: int | None = None) -> Array:
        """Predictions of rows in any form: classes or numbers, (rows,), or (rows, outputs).

        The path of a data file, a folder, a pattern, a LazyFrame, an ordered DuckDB relation or any other source of
        rows is read and predicted batch by batch.
        """
        if type(X) is not np.ndarray and is_source(X):
            return np.concatenate([self.predict(rows, n_jobs=n_jobs) for rows in self._batches(X)])
        scores = self._scores_of_matrix(X)
        if scores is None and len(self.trees) == 1 and self.begin is None and not self.trees.is_linear:
            return self._node_predictions[self.scorer.leaves(self.new_rows(X), resolve_jobs(n_jobs))]
        return self.predictions(self.scores(X, n_jobs=n_jobs) if scores is None else scores)

    def _batches(self, X: Any) -> Iterator[Any]:
        """The columns of the model in the rows of a source, batch by batch."""
        source = open_source(X)
        wanted = [name for name in self.schema.names if name in source.names] if self.schema.named else None
        batches = source.batches(wanted or None)
        return (batch.frame for batch in (read_ahead(batches) if source.reads_ahead else batches))

    @cached_property
    def _node_predictions(self) -> Array:
        """What is predicted at each node of a single tree."""
        return self.predictions(self.trees.base[:, None] + self.trees.term(0).values.T)

    def predict_proba(self, X: Any, *, n_jobs: int | None = None) -> Any:
        """Probabilities of the classes, (rows, classes); a list of arrays if there are several outputs."""
        self._require_classes()
        return self.probabilities(self.scores(X, n_jobs=n_jobs))

    def predict_one(self, row: Any) -> Any:
        """Prediction for one row: what `predict` gives for a table of this row.

        Args:
            row: a dictionary from column names to values, a list or tuple of values in the order of the columns, a
                one-dimensional array, or a table of one row. None is a missing value. Numbers, booleans and strings in
                a dictionary, list, tuple or array take microseconds; dates and tables take as long as in `predict`.
        """
        return self.predictions(self._scores_of_row(row))[0]

    def predict_proba_one(self, row: Any) -> Any:
        """Probabilities of the classes for one row, in any form that `predict_one` takes; a list if several outputs."""
        self._require_classes()
        found = self.probabilities(self._scores_of_row(row))
        return found[0] if self.single else [one[0] for one in found]

    def predict_batches(
        self, batches: Iterable[Any], *, proba: bool = False, n_jobs: int | None = None
    ) -> Iterator[Any]:
        """Predictions, or probabilities, of one table of rows after the other, computed lazily."""
        if hasattr(batches, "shape"):
            raise InputTypeError("batches is one table. Pass a list or an iterator of tables, or use predict.")
        predict = self.predict_proba if proba else self.predict
        return (predict(X, n_jobs=n_jobs) for X in batches)

    def predictions(self, scores: Floats) -> Array:
        """What `predict` returns for rows with these scores (columns, rows)."""
        if not self.classes:
            numbers = scores if self.response.kind == "same" else self.response(scores)
            return numbers[0] if self.single else numbers.T
        if self.single:
            return self.classes[0][self._chosen(scores)]
        pairs = zip(self.classes, self.groups, strict=True)
        chosen = [labels[scores[own].argmax(axis=0)] for labels, own in pairs]
        return np.stack(chosen, axis=1)

    def _chosen(self, scores: Floats) -> NDArray[np.intp]:
        if len(self.classes[0]) == 1:
            return np.zeros(scores.shape[1], dtype=np.intp)
        return self.response.choose(scores)

    def probabilities(self, scores: Floats) -> Any:
        """What `predict_proba` returns for rows with these scores (columns, rows)."""
        shares = self.response(scores)
        return shares.T if self.single else [shares[own].T for own in self.groups]

    @cached_property
    def scorer(self) -> Scorer:
        """What turns rows into scores."""
        return Scorer(self.trees, self.unseen == "node")

    @cached_property
    def _reader(self) -> RowReader:
        return RowReader(self.schema, self.unseen, self.estimator)

    def _scores_of_row(self, row: Any) -> Floats:
        """Scores (columns, 1) of one row in any form."""
        if self.begin is not None:
            return self.scores(as_one_row(row, self.schema)[0])
        return self.scorer.score_row(self._reader.read(row))[:, None]

    def _scores_of_matrix(self, X: Any) -> Floats | None:
        """Scores (columns, 1) of a matrix of one row that needs no conversion; None for anything else."""
        if type(X) is not np.ndarray or X.shape != self._plain_shape or X.dtype.kind not in PLAIN_KINDS:
            return None
        return self.scorer.score_row(X[0].astype(np.float64))[:, None]

    @cached_property
    def _plain_shape(self) -> tuple[int, int] | None:
        """The shape of a matrix of one row that needs no conversion; None if there is none."""
        return (1, self.schema.n_features) if self.schema.is_plain and self.begin is None else None

    def _require_classes(self) -> None:
        if not self.classes:
            raise ParameterError(f"predict_proba is for classes, but {self.estimator} predicts numbers. Use predict.")


def model_of(model: Any, argument: str = "model") -> Model:
    """The Model of a fitted estimator, or the Model itself; errors name the argument."""
    if isinstance(model, Model):
        return model
    if isinstance(model, type):
        raise InputTypeError(
            f"{argument} is the class {model.__name__}, not a fitted model. Fit {model.__name__}() first."
        )
    owner = class_name(model)
    if not hasattr(type(model), "model_"):
        hint = " Pass its last step, and X as that step gets it." if hasattr(model, "steps") else ""
        raise InputTypeError(
            f"{argument} is a {owner}, but must be a fitted model of Sapwood, such as "
            f"sapwood.RandomForestClassifier.{hint}"
        )
    if not hasattr(model, "schema_"):
        from sapwood.errors import NotFittedError  # which imports scikit-learn

        raise NotFittedError(f"This {owner} is not fitted yet. Call fit(X, y) first.")
    found: Model = model.model_
    return found


def class_name(thing: Any) -> str:
    """Name of an object's class; that of another library with its module, since many share their names with ours."""
    kind = type(thing)
    public = [part for part in kind.__module__.split(".") if not part.startswith("_")]
    return kind.__name__ if public[:1] in (["builtins"], ["sapwood"]) else ".".join([*public, kind.__name__])
