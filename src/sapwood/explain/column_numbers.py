"""What explanations ask of a model, and the check that it is one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import InputError, InputTypeError
from sapwood.show.fitted import classes_by_output
from sapwood.show.names import one_line
from sapwood.table.names import nearest_name, shorten
from sapwood.table.schema import Schema, Unseen
from sapwood.table.table import Table
from sapwood.tree import Tree
from sapwood.tree_sum import TreeSum

_X = re.compile(r"(?<![\w'\"])X(?![\w'\"])")  # the argument, not a column of that name, which is in quotes


class Model(Protocol):
    """A fitted model: a sum of trees behind scikit-learn's interface."""

    schema_: Schema

    @property
    def _unseen_policy(self) -> Unseen: ...

    @property
    def _answers_in_scores(self) -> bool: ...

    @property
    def _is_all_trees(self) -> bool: ...

    def _tree_sum(self) -> TreeSum: ...

    def _match(self, X: Any, /) -> Table: ...

    def _score_names(self) -> list[Any]: ...

    def _row_starts(self, X: Any, /) -> NDArray[np.float64] | None: ...

    def _median_weights(self) -> NDArray[np.float64] | None: ...

    def predict(self, X: Any, /) -> Any:
        """Predictions of rows."""


def is_sum(model: Model) -> bool:
    """Whether predictions follow from the sums of the trees, not from the median of its columns."""
    return model._median_weights() is None


def match_background(model: Model, background: Any) -> Table:
    """Rows of a background in the columns of the training table; errors say that they are about it."""
    try:
        return model._match(background)
    except (InputError, InputTypeError) as error:
        raise type(error)(_X.sub("background", str(error))) from error


def has_trees(model: Model) -> bool:
    """Whether the members are trees of this library."""
    try:
        model._tree_sum()
    except InputTypeError:
        return False
    return True


def scores_per_round(model: Any) -> int | None:
    """Trees in a round of boosting; None for models without rounds."""
    ensemble = getattr(model, "ensemble_", None)
    return None if ensemble is None else int(ensemble.n_scores)


def score_title(model: Any, k: int) -> str:
    """What column k of the scores is called: "score", "score 1" or "score of setosa"."""
    name = one_line(model._score_names()[k])
    return f"score of {name}" if hasattr(model, "classes_") else name


def classes_of_tree(model: Any, tree: Tree) -> list[NDArray[Any]]:
    """Classes of every output, if the nodes of the tree hold shares of classes; else none."""
    labels = classes_by_output(model)
    return labels if tuple(map(len, labels)) == tree.n_classes else []


def plain(value: Any) -> Any:
    """A number or label of Python instead of NumPy."""
    return value.item() if isinstance(value, np.generic) else value


def column_number(column: Any, schema: Schema, argument: str) -> int:
    """Number of a column given by name or number."""
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
        if -schema.n_features <= column < schema.n_features:
            return int(column) % schema.n_features
    elif column in schema.names:
        return schema.names.index(column)
    hint = nearest_name(column, schema.names) if isinstance(column, str) else ""
    raise InputError(
        f"{argument} names {column!r}, which is no column of the model.{hint} Its columns are "
        f"{shorten(schema.names)}; numbers count from 0."
    )


def column_numbers(columns: Any, schema: Schema, argument: str) -> list[int]:
    """Numbers of several columns, each once; one name alone is a list of one."""
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    if isinstance(columns, Mapping) or not isinstance(columns, Iterable):
        raise InputTypeError(f"{argument}={columns!r} must be a list of columns, by name or number.")
    found = [column_number(column, schema, argument) for column in columns]
    if not found:
        raise InputError(f"{argument} is empty. Name at least one column of {shorten(schema.names)}.")
    return sorted(set(found))


def groups_of(groups: Any, schema: Schema) -> list[tuple[str, list[int]]]:
    """Named sets of columns; a column in none of them stands for itself, and without groups all do."""
    if groups is None:
        groups = {}
    if not isinstance(groups, Mapping):
        raise InputTypeError(
            f"groups is a {type(groups).__name__}. Pass a dictionary from names to columns, such as "
            "{'size': ['length', 'width']}."
        )
    given = [(str(name), column_numbers(own, schema, f"groups[{name!r}]")) for name, own in groups.items()]
    taken = {j for _, own in given for j in own}
    alone = [(name, [j]) for j, name in enumerate(schema.names) if j not in taken]
    _refuse_same_names([name for name, _ in given], [name for name, _ in alone])
    return [*given, *alone]


def _refuse_same_names(given: Sequence[str], alone: Sequence[str]) -> None:
    both = [name for name in given if name in alone]
    if both:
        raise InputError(
            f"groups calls a set of columns {both[0]!r}, which is the name of a column that is in no group. Choose "
            "another name, or put the column into the group."
        )
