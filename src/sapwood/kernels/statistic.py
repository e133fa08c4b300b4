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

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from numba.core.errors import TypingError
from numba.extending import overload

from sapwood.kernels._jit import LEAN

if TYPE_CHECKING:  # a kernel that calls a function below contains its versions, so their files are sources of it
    from sapwood.kernels.statistics import total_node as _  # noqa: F401 - see `_source_stamp.py`


class Pairs(NamedTuple):
    """Weight and sum."""

    frame: Any


class PairTallies(NamedTuple):
    """Weight and sum, both whole numbers."""

    frame: Any


class Vectors(NamedTuple):
    """Weight and a vector of sums."""

    frame: Any


class VectorTallies(NamedTuple):
    """Weight and a vector of sums, all whole numbers."""

    frame: Any


class Medians(NamedTuple):
    """Rows in order of their targets."""

    frame: Any


def per_statistic(function: Callable[..., Any]) -> Any:
    """A function of which every statistic has a version.

    `@function.of(Pairs)` adds one, and `@function.of_frame(Pairs)` a kernel that takes the statistic's frame instead.
    """
    versions: dict[type, Callable[..., Any]] = {}

    @wraps(function)
    def call(stat: Any, *arguments: Any) -> Any:
        return versions[type(stat)](stat, *arguments)

    @overload(call, strict=False, jit_options=LEAN)
    def pick(stat: Any, *_arguments: Any) -> Any:
        kind = getattr(stat, "instance_class", None)
        if kind not in versions:
            raise TypingError(f"{function.__name__} has no version for {kind.__name__ if kind else stat}.")
        return versions[kind]

    def of(*kinds: type) -> Callable[..., Any]:
        def add(version: Callable[..., Any]) -> Callable[..., Any]:
            versions.update(dict.fromkeys(kinds, version))
            return version

        return add

    def of_frame(*kinds: type) -> Callable[..., Any]:
        def add(kernel: Callable[..., Any]) -> Callable[..., Any]:
            of(*kinds)(lambda stat, *arguments: kernel(stat.frame, *arguments))
            return kernel

        return add

    call.of, call.of_frame = of, of_frame  # type: ignore[attr-defined]
    return call


@per_statistic
def total_node(stat, at, node):
    """Fill the totals of a node, whose rows are those of slot `at`; returns whether its target is constant."""


@per_statistic
def total_sibling(stat, at, parent, known, node):
    """The same for the sibling of a node whose totals are known."""


@per_statistic
def node_value(stat, node):
    """The value of a node that monotonic constraints compare: the mean, the share of class 1, or the median."""


@per_statistic
def begin_node(stat, at):
    """Prepare the search of the node in a slot; returns its `Totals`."""


@per_statistic
def collect(stat, codes, column, totals, at):
    """Groups of a column in a node: fills the sums up to each group, and returns `Groups`."""


@per_statistic
def collect_drawn(stat, gathered, totals, n_missing, threshold, at):
    """Fill two groups, of gathered values up to a threshold and above it; returns weight and sum of missing rows."""


@per_statistic
def recentred(stat, column, totals, groups):
    """The totals as this column's groups add them up, so that rounding of the centre does not favour one side."""


@per_statistic
def best_cut(stat, totals, groups, bounds, first, last, floor):
    """The best `Cut` after one of the groups first…last-1 whose decrease is above `floor`.

    The first of equal candidates wins: the lower group, then missing rows to the right. A cut after the last group
    sends all present rows left and the missing ones right.
    """


@per_statistic
def best_subset(stat, totals, groups, at, floor):
    """The best subset of levels to send left; marks frame.goes_left; returns its decrease and where missing rows go."""


@per_statistic
def mass_between(stat, totals, groups):
    """How much all levels together, each by itself, take from the mass of a node."""


@per_statistic
def chi_squared(stat, node, left, right):
    """Statistic and degrees of freedom of the independence of side and class, summed over the targets."""
