"""A sum of trees: the common form of all models for prediction and explanation.

Each term of the sum is a tree, a value (one or more numbers) for each of its nodes, and the column of the scores that
the first of these numbers is added to:

    scores(row) = base + sum over terms of values[leaf of the row]  (in the order of the terms), all / divisor

| model | value of a node | columns |
|---|---|---|
| single tree, forest, bagging | class shares, votes or means | one for each output and class; divisor: trees + prior |
| boosting | the leaf value, or one for each score | tree k of a round adds to score k; a tree of all scores to each |
| AdaBoost, classes | ± the learner's weight | one per class, or one for the second of two; divisor: sum of weights |
| AdaBoost, numbers | the leaf value | one for each learner: the prediction is their weighted median, not their sum |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Term:
    """A tree, the values of its nodes (nodes, width), and the column of the scores where the first of them goes."""

    tree: Tree
    values: Floats
    column: int = 0


@dataclass(frozen=True, eq=False)
class TreeSum:
    """Terms are made on access, since a forest keeps its trees packed."""

    base: Floats  # scores before the first term
    size: int
    term: Callable[[int], Term]
    divisor: float = 1.0
    round_size: int = 0  # trees of a round of boosting; 0 for models without rounds
    criterion: str = ""  # of the impurities of the nodes; none for boosting
    is_linear: bool = False  # whether there are linear leaves, which add more than their values

    def __len__(self) -> int:
        """Number of terms."""
        return self.size

    def __iter__(self) -> Iterator[Term]:
        """All terms, one at a time."""
        return map(self.term, range(self.size))

    @property
    def n_columns(self) -> int:
        """Number of scores of a row."""
        return len(self.base)
