"""A coded table on disk, as growth sees it: bins and sizes of all rows, and blocks that are mapped into memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.cached_property import cached_property
from sapwood.codes.bins import Bins, LevelBins
from sapwood.codes.bundles import spaced
from sapwood.codes.code_file import CodeFile


@dataclass(frozen=True, eq=False)
class BlockTable:
    """The blocks of a code file."""

    file: CodeFile

    @property
    def bins(self) -> tuple[Bins, ...]:
        """Bins of the columns."""
        return self.file.bins

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.file.n_rows

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.file.schema.n_features

    @cached_property
    def n_codes(self) -> NDArray[np.int64]:
        """Largest code of each column."""
        return np.array([bins.n_codes for bins in self.bins], dtype=np.int64)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the codes of each column begin in a histogram, and where the last one ends."""
        return spaced(self.n_codes + 1)

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Which columns hold categories."""
        return np.array([isinstance(bins, LevelBins) for bins in self.bins])
