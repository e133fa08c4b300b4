"""What every source offers: its rows in order, batch by batch, as often as they are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from typing import Any, ClassVar, NamedTuple

BATCH, FEWEST, CELLS = 1 << 17, 1 << 10, 1 << 22  # rows of a batch, the fewest of a wide one, and its cells


def batch_rows(n_columns: int) -> int:
    """Rows that are read at a time."""
    return min(BATCH, max(FEWEST, CELLS // max(1, n_columns)))


class Batch(NamedTuple):
    """Some consecutive rows, at least one.

    | name | meaning |
    |---|---|
    | frame | a data frame, pyarrow table or array with all columns, or only those that were asked for |
    | y, weight | where the source gives them beside the columns |
    | name | the file that the rows are from, or "batch 3" |
    | first_in_file, first | number of the first row in its file, and among all rows |
    | share | how much of the source has been read, 0 to 1; NaN if that is unknown |
    """

    frame: Any
    y: Any
    weight: Any
    name: str
    first_in_file: int
    first: int
    share: float

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.frame.shape[0]) if hasattr(self.frame, "shape") else len(self.frame)

    def place(self, row: int) -> str:
        """Where one of the rows is, for errors."""
        return f"in row {self.first_in_file + row} of {self.name!r}"


class DataSource(ABC):
    """Rows that are read again and again, always the same ones in the same order."""

    names: list[str]  # of all columns; empty if they have none
    label: str
    n_bytes: int | None = None
    reads_ahead: ClassVar[bool] = True  # whether another thread may read

    @property
    @abstractmethod
    def n_rows(self) -> int | None:
        """Number of rows, None if that is known only after reading them."""

    @abstractmethod
    def batches(self, columns: Collection[str] | None = None) -> Iterator[Batch]:
        """All rows from the first on, with all columns or some, in the order of the source."""
