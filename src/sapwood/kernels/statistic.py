"""Statistics: the sums of targets that criteria are computed from, as types, and the functions that each one defines.

    Pairs          one target, a number or two classes: weight and sum
    PairTallies    the same for two classes whose weights are whole numbers: exact sums, a quarter of the memory
    Vectors        several targets, or more than two classes: a vector of sums
    VectorTallies  more than two classes whose weights are whole numbers
    Medians        the absolute error: rows in order of their targets

Kernels get a statistic as a tuple that holds the frame (`tree_frame.py`), and the compiler picks the versions of the
functions below by its type. A new statistic is a type here and a file with its versions; see `pair_sums.py`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import wraps
from typing import Any

from numba.core import types
from numba.core.errors import TypingError
from numba.extending import overload

from sapwood.kernels._jit import LEAN, Kernel

Pairs = namedtuple("Pairs", ["frame"])
PairTallies = namedtuple("PairTallies", ["frame"])
Vectors = namedtuple("Vectors", ["frame"])
VectorTallies = namedtuple("VectorTallies", ["frame"])
Medians = namedtuple("Medians", ["frame"])


def per_statistic(function: Kernel) -> Any:
    """A function of which statistics have versions: `@function.of(Pairs)` adds one.

    The function itself is the version of the others, unless it says that it is not implemented.
    """
    versions: dict[type, Kernel] = {}

    def version_of(kind: type) -> Kernel:
        # A kernel that calls the function contains its versions, so their files are sources of it: `_source_stamp.py`
        import sapwood.kernels.statistics  # noqa: F401 - which import this file

        return versions.get(kind, function)

    @wraps(function)
    def call(stat: object, *arguments: object) -> object:
        return version_of(type(stat))(stat, *arguments)

    @overload(call, strict=False, jit_options=LEAN)
    def pick(stat: types.Type, *_arguments: types.Type) -> Kernel:
        kind = getattr(stat, "instance_class", None)
        if kind is None or "NotImplementedError" in version_of(kind).__code__.co_names:
            raise TypingError(f"{function.__name__} has no version for {kind.__name__ if kind else stat}.")
        return version_of(kind)

    def of(*kinds: type) -> Callable[[Kernel], Kernel]:
        def add(version: Kernel) -> Kernel:
            versions.update(dict.fromkeys(kinds, version))
            return version

        return add

    call.of, call.version_of = of, version_of  # type: ignore[attr-defined]
    return call


@per_statistic
def total_node(stat, at, node):
    """Fill the totals of a node, whose rows are those of slot `at`; returns whether its target is constant."""
    raise NotImplementedError


@per_statistic
def subtract_sibling(stat, parent, known, node):  # noqa: ARG001 - only differences of whole numbers are exact
    """Fill the totals of a node from those of its parent and its sibling; returns whether it is pure, -1: not done."""
    return -1


@per_statistic
def node_value(stat, node):
    """The value of a node that monotonic constraints compare: the mean, the share of class 1, or the median."""
    return stat.frame.sums[node, 0] / stat.frame.nodes[node].weight


@per_statistic
def begin_node(stat, at, totals):
    """Prepare the search of the node in a slot: lay what all columns need of its rows side by side."""


@per_statistic
def sorted_groups(stat, column, totals, at):
    """Groups of a sorted column in a node: fills the sums up to each group, and returns `Groups`."""
    raise NotImplementedError


@per_statistic
def coded_groups(stat, codes, column, at):
    """The same for a coded column."""
    raise NotImplementedError


@per_statistic
def drawn_groups(stat, gathered, totals, n_missing, threshold, at):  # noqa: ARG001 - not for all statistics
    """Fill two groups, of gathered values up to a threshold and above it; returns weight and sum of missing rows."""
    return 0.0, 0.0


@per_statistic
def best_cut(stat, totals, groups, bounds, first, last, floor):
    """The best `Cut` after one of the groups first…last-1 whose decrease is above `floor`.

    The first of equal candidates wins: the lower group, then missing rows to the right. A cut after the last group
    sends all present rows left and the missing ones right.
    """
    raise NotImplementedError


@per_statistic
def best_subset(stat, totals, groups, at, floor):
    """The best subset of levels to send left; marks frame.goes_left; returns its decrease and where missing rows go."""
    raise NotImplementedError


@per_statistic
def mass_between(stat, totals, groups):  # noqa: ARG001
    """How much all levels together, each by itself, take from the mass of a node; all of it where there are no sums."""
    return totals.mass


@per_statistic
def chi_squared(stat, node, left, right):  # noqa: ARG001 - for classes only
    """Statistic and degrees of freedom of the independence of side and class, summed over the targets."""
    return 0.0, 0.0
