"""Sets of levels that go left, for splits of categories with more levels than a node has room for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NO_SETS: NDArray[np.uint32] = np.empty((0, 1), dtype=np.uint32)


class LevelSets:
    """Bits of codes, a row for each set; it grows with the tree."""

    def __init__(self, n_codes: int) -> None:
        self._words = np.empty((16, n_codes // 32 + 1), dtype=np.uint32)
        self._n_sets = 0

    @property
    def n_words(self) -> int:
        """Words of a set."""
        return self._words.shape[1]

    @property
    def words(self) -> NDArray[np.uint32]:
        """All sets so far."""
        return self._words[: self._n_sets]

    def clear(self) -> None:
        """Begin another tree; the sets of the last one stay as they are for those who hold them."""
        self._words = np.empty((16, self.n_words), dtype=np.uint32)
        self._n_sets = 0

    def add(self, sets: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Append sets; returns their numbers."""
        first, last = self._n_sets, self._n_sets + len(sets)
        if last > len(self._words):
            larger = np.empty((2 * last, self.n_words), dtype=np.uint32)
            larger[:first] = self.words
            self._words = larger
        self._words[first:last] = sets
        self._n_sets = last
        return np.arange(first, last)
