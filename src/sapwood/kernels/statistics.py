"""All statistics. Importing a statistic's file adds its versions to the functions of `statistic.py`."""

from __future__ import annotations

from sapwood.kernels.medians import total_medians  # noqa: F401
from sapwood.kernels.pair_sums import add_pair  # noqa: F401
from sapwood.kernels.subsets import best_prefix  # noqa: F401
from sapwood.kernels.tallies import fill_tallies  # noqa: F401
from sapwood.kernels.vector_sums import add_vector  # noqa: F401
