"""One seed from any legal random_state."""

from __future__ import annotations

import numpy as np


def seed_from(random_state: int | np.random.RandomState | np.random.Generator | None) -> int:
    """A 64-bit seed for counted draws; None gives a new one each time."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63 - 1))
    return int(random_state)
