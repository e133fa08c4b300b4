"""The pool of histograms: slots that are lent to nodes and given back."""

from __future__ import annotations

import numpy as np

from sapwood.arrays import Ints


class Pool:
    """Histograms (slot, column and code, gradient | hessian | rows); it grows when more nodes are open at a time."""

    def __init__(self, n_cells: int, n_sums: int, n_spare: int) -> None:
        self._shape = (n_cells, n_sums)
        self.slots: Ints = np.empty((n_spare + 4, *self._shape), dtype=np.int64)
        self.spare = list(range(n_spare))  # for nodes that threads share
        self._free = list(range(n_spare + 3, n_spare - 1, -1))

    def take(self, n: int) -> list[int]:
        """Borrow n slots."""
        if len(self._free) < n:
            size = len(self.slots)
            larger = np.empty((2 * size + n, *self._shape), dtype=np.int64)
            larger[:size] = self.slots
            self.slots = larger
            self._free = [*range(len(larger) - 1, size - 1, -1), *self._free]
        return [self._free.pop() for _ in range(n)]

    def give_back(self, slots: list[int]) -> None:
        """Return slots."""
        self._free += slots

    def temporary(self, n: int) -> Ints:
        """A pool of n slots beside this one, for what another shard adds; spare slots come first."""
        return np.empty((len(self.spare) + n, *self._shape), dtype=np.int64)
