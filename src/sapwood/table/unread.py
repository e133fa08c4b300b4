"""Storage of a table whose cells are elsewhere: its schema and rows are known, and codes of the cells are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import ParameterError


class UnreadStorage:
    """Cells that are in no memory; `label` names where they are."""

    def __init__(self, n_rows: int, label: str) -> None:
        self.n_rows, self.label = n_rows, label
        self.dtype = np.dtype(np.float64)

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            f"This needs the cells of all rows in memory, but those of {self.label!r} are coded from disk. Use other "
            'parameters (tree_method="hist", linear_tree=False, target_statistics=False), or pass the rows as a table.'
        )

    def column(self, j: int) -> Array:  # noqa: ARG002
        """Refused, as everything below."""
        self._refuse()

    def cells(self, j: int, rows: Array | slice) -> Array:  # noqa: ARG002, D102
        self._refuse()

    def explicit(self, j: int) -> tuple[Array, Array] | None:  # noqa: ARG002, D102
        self._refuse()

    def block(self, start: int, stop: int) -> Array:  # noqa: ARG002, D102
        self._refuse()

    def take(self, rows: Array) -> NoReturn:  # noqa: ARG002, D102
        self._refuse()

    def arrange(self, order: Sequence[int]) -> NoReturn:  # noqa: ARG002, D102
        self._refuse()

    def replace(self, columns: Mapping[int, Array]) -> NoReturn:  # noqa: ARG002, D102
        self._refuse()

    def ranges(self) -> NoReturn:  # noqa: D102
        self._refuse()

    def levels(self) -> NoReturn:  # noqa: D102
        self._refuse()
