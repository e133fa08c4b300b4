"""The specification of a decision tree as plain code: every node tries every split and recomputes all from its rows.

Nothing here is fast and nothing is shared with the library. A set of rows is a row of a *membership* matrix: the
weights of the rows that belong to the set, zero for the others. A criterion turns memberships into impurities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]
Bounds = tuple[float, float]

CLASSIFICATION = ("gini", "entropy", "error")
REGRESSION = ("squared_error", "absolute_error", "poisson")
FEW_LEVELS = 8  # of a category in a node, that may be chosen among freely
LEAST_CREDIT = 1e-9
UNBOUNDED: Bounds = (-np.inf, np.inf)


@dataclass(frozen=True)
class Column:
    """One feature: numbers, or the codes of categories; NaN is missing."""

    values: Floats
    is_category: bool = False


@dataclass(frozen=True)
class Rules:
    """The options of growth, named as the estimators name them."""

    criterion: str
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    impurity_threshold: float = 0.0
    significance: float | None = None
    monotonic_cst: tuple[int, ...] | None = None

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.criterion in CLASSIFICATION


@dataclass(frozen=True)
class Split:
    """One way to divide the rows of a node; `goes_left` has an entry per row of the node."""

    feature: int
    threshold: float | None  # of a number
    left_levels: frozenset[int] | None  # of a category
    missing_left: bool
    goes_left: Mask
    gain: float = np.nan
    credit: float = 1.0  # how much of the gain counts: less than all for many levels

    @property
    def merit(self) -> float:
        """What splits are compared by."""
        return self.gain * self.credit


@dataclass
class Node:
    """A node and, unless it is a leaf, how it is split. `runner_up` is the best gain of a different partition."""

    rows: Ints
    depth: int
    bounds: Bounds
    weight: float
    impurity: float
    value: Floats  # (output, class share) or (output, 1)
    feature: int | None = None
    threshold: float | None = None
    left_levels: frozenset[int] | None = None
    missing_left: bool = False
    gain: float = np.nan
    runner_up: float = -np.inf
    left: Node | None = None
    right: Node | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows, each counted once."""
        return len(self.rows)

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no children."""
        return self.left is None

    def preorder(self) -> Iterator[Node]:
        """The node, its left subtree, its right subtree."""
        yield self
        if self.left is not None and self.right is not None:
            yield from self.left.preorder()
            yield from self.right.preorder()


@dataclass(frozen=True)
class Task:
    """Training data without rows of weight zero; classes are coded 0, 1, … per output."""

    columns: tuple[Column, ...]
    target: Floats  # (row, output)
    weight: Floats
    rules: Rules
    classes: tuple[NDArray, ...] = field(default=())

    @property
    def total_weight(self) -> float:
        """Weight of the root."""
        return float(self.weight.sum())


def make_task(columns: Sequence[Column], target: NDArray, weight: NDArray | None, rules: Rules) -> Task:
    """Drop rows of weight zero and code the classes."""
    target = np.asarray(target)
    target = target.reshape(len(target), -1)
    weights = np.ones(len(target)) if weight is None else np.asarray(weight, dtype=np.float64)
    kept = weights > 0
    target = target[kept]
    classes: tuple[NDArray, ...] = ()
    if rules.is_classification:
        pairs = [np.unique(output, return_inverse=True) for output in target.T]
        classes = tuple(levels for levels, _ in pairs)
        target = np.column_stack([codes for _, codes in pairs])
    kept_columns = tuple(Column(column.values[kept], column.is_category) for column in columns)
    return Task(kept_columns, target.astype(np.float64), weights[kept], rules, classes)


# Impurity: `member` is (sets of rows, rows), the result has an entry per set.


def class_shares(codes: Floats, member: Floats) -> Floats:
    """Weighted share of every class in every set of rows."""
    indicator = codes[:, None] == np.arange(codes.max() + 1)
    return (member @ indicator) / member.sum(axis=1, keepdims=True)


def gini(y: Floats, member: Floats) -> Floats:
    """Probability that two draws differ: 1 - sum p²."""
    return 1 - (class_shares(y, member) ** 2).sum(axis=1)


def entropy(y: Floats, member: Floats) -> Floats:
    """Bits per draw: -sum p log2 p."""
    return special.entr(class_shares(y, member)).sum(axis=1) / np.log(2)


def error(y: Floats, member: Floats) -> Floats:
    """Share of rows outside the largest class: 1 - max p."""
    return 1 - class_shares(y, member).max(axis=1)


def means(y: Floats, member: Floats) -> Floats:
    """Weighted mean of every set of rows."""
    return (member @ y) / member.sum(axis=1)


def medians(y: Floats, member: Floats) -> Floats:
    """Weighted median: halfway between the first y that reaches half the weight and the first that exceeds it."""
    order = np.argsort(y, kind="stable")
    cumulative = np.cumsum(member[:, order], axis=1)
    half = cumulative[:, -1:] / 2
    reaches = y[order][np.argmax(cumulative >= half, axis=1)]
    exceeds = y[order][np.argmax(cumulative > half, axis=1)]
    return reaches / 2 + exceeds / 2


def squared_error(y: Floats, member: Floats) -> Floats:
    """Weighted variance."""
    deviation = (y - means(y, member)[:, None]) ** 2
    return (member * deviation).sum(axis=1) / member.sum(axis=1)


def absolute_error(y: Floats, member: Floats) -> Floats:
    """Mean absolute deviation from the median."""
    deviation = np.abs(y - medians(y, member)[:, None])
    return (member * deviation).sum(axis=1) / member.sum(axis=1)


def poisson(y: Floats, member: Floats) -> Floats:
    """Half the mean Poisson deviance from the mean: mean of y log(y / mean); 0 where all y are 0."""
    mean = means(y, member)
    ratio = y / np.where(mean > 0, mean, 1)[:, None]
    return (member * special.xlogy(y, ratio)).sum(axis=1) / member.sum(axis=1)


CRITERIA: dict[str, Callable[[Floats, Floats], Floats]] = {
    "gini": gini,
    "entropy": entropy,
    "error": error,
    "squared_error": squared_error,
    "absolute_error": absolute_error,
    "poisson": poisson,
}


def membership(task: Task, rows: Ints, masks: NDArray) -> Floats:
    """Weights of the rows of each mask, zero for the other rows of the node."""
    return np.where(np.atleast_2d(masks), task.weight[rows], 0.0)


def impurities(task: Task, rows: Ints, masks: NDArray) -> Floats:
    """Impurity of every mask, averaged over the outputs."""
    criterion = CRITERIA[task.rules.criterion]
    member = membership(task, rows, masks)
    return np.mean([criterion(y, member) for y in task.target[rows].T], axis=0)


def impurity_of(task: Task, rows: Ints) -> float:
    """Impurity of one set of rows."""
    return float(impurities(task, rows, np.ones(len(rows), dtype=bool))[0])


# The values of nodes, and the single number that a monotonic constraint looks at.


def responses(task: Task, rows: Ints, masks: NDArray) -> Floats:
    """Share of class 1, median or mean of the first output, for every mask."""
    y, member = task.target[rows, 0], membership(task, rows, masks)
    return medians(y, member) if task.rules.criterion == "absolute_error" else means(y, member)


def value_of(task: Task, rows: Ints, bounds: Bounds) -> Floats:
    """What the node predicts: (output, class shares padded with zeros) or (output, 1), clipped to the bounds."""
    everyone = np.ones((1, len(rows)), dtype=bool)
    member = membership(task, rows, everyone)
    if not task.rules.is_classification:
        centre = medians if task.rules.criterion == "absolute_error" else means
        return np.clip(np.array([centre(y, member) for y in task.target[rows].T]), *bounds)
    value = np.zeros((len(task.classes), max(map(len, task.classes))))
    for output, levels in enumerate(task.classes):
        for code in range(len(levels)):
            value[output, code] = member[0, task.target[rows, output] == code].sum() / member.sum()
    if bounds != UNBOUNDED:
        value[0, 1] = np.clip(value[0, 1], *bounds)
        value[0, 0] = 1 - value[0, 1]
    return value


# Candidate splits.


def midpoint(lower: float, upper: float) -> float:
    """Threshold that separates two neighbouring values."""
    middle = lower / 2 + upper / 2
    return middle if np.isfinite(middle) and middle < upper else lower


def is_heavier(weight: Floats, left: Mask) -> bool:
    """Whether the left child has more than half of the weight."""
    return bool(2 * weight[left].sum() - weight.sum() > 1e-9 * weight.sum())


def with_missing(
    feature: int,
    threshold: float | None,
    levels: frozenset[int] | None,
    present_left: Mask,
    missing: Mask,
    weight: Floats,
) -> Iterator[Split]:
    """The split with its missing rows on the right, then on the left; the heavier child if there are none."""
    if missing.any():
        yield Split(feature, threshold, levels, False, present_left & ~missing)
        yield Split(feature, threshold, levels, True, present_left | missing)
    else:
        yield Split(feature, threshold, levels, is_heavier(weight, present_left), present_left)


def number_splits(feature: int, x: Floats, weight: Floats) -> Iterator[Split]:
    """All thresholds between neighbouring values, then all present rows against the missing ones."""
    missing = np.isnan(x)
    for lower, upper in pairwise(np.unique(x[~missing])):
        threshold = midpoint(float(lower), float(upper))
        yield from with_missing(feature, threshold, None, x <= threshold, missing, weight)
    if missing.any() and not missing.all():
        yield Split(feature, np.inf, None, False, ~missing)


def category_splits(feature: int, x: Floats, weight: Floats) -> Iterator[Split]:
    """All 2^(M-1) - 1 divisions of the levels present (the first goes left), then present against missing."""
    missing = np.isnan(x)
    levels = [int(level) for level in np.unique(x[~missing])]
    for size in range(len(levels) - 1):
        for others in combinations(levels[1:], size):
            left_levels = frozenset([levels[0], *others])
            yield from with_missing(feature, None, left_levels, np.isin(x, list(left_levels)), missing, weight)
    if missing.any() and levels:
        yield Split(feature, None, frozenset(levels), False, ~missing)


def level_profiles(task: Task, rows: Ints, x: Floats) -> dict[int, tuple[float, ...]]:
    """What a criterion sees of every level: its class shares or means, or where all of these are equal, its weight."""
    levels = np.unique(x[~np.isnan(x)])
    member = membership(task, rows, x == levels[:, None])
    shares = [class_shares(y, member) if task.classes else means(y, member)[:, None] for y in task.target[rows].T]
    profiles = np.hstack(shares).round(12)
    if (profiles == profiles[0]).all():
        profiles = member.sum(axis=1, keepdims=True)
    return {int(level): tuple(row) for level, row in zip(levels, profiles, strict=True)}


def keeps_twins_together(task: Task, rows: Ints, x: Floats, splits: list[Split]) -> list[Split]:
    """Splits that do not part levels of equal profile, so that the names of levels cannot matter.

    Two equal levels may be parted if there is nothing else: there is one way only.
    """
    if len(splits) <= 1:
        return splits
    profiles = level_profiles(task, rows, x)
    kept = []
    for split in splits:
        sides = {(profile, level in (split.left_levels or ())) for level, profile in profiles.items()}
        if len(sides) == len(set(profiles.values())):
            kept.append(split)
    return kept


def all_splits(task: Task, rows: Ints) -> list[Split]:
    """Every candidate of a node in the order that decides ties."""
    found: list[Split] = []
    for feature, column in enumerate(task.columns):
        x, weight = column.values[rows], task.weight[rows]
        candidates = list((category_splits if column.is_category else number_splits)(feature, x, weight))
        if column.is_category and task.rules.criterion != "absolute_error":
            candidates = keeps_twins_together(task, rows, x, candidates)
        found.extend(candidates)
    return found


def chance_share(x: Floats) -> float:
    """Share of the impurity that K levels explain on average if they say nothing; missing values are a level.

    (K - 1) / (n - 1): the expected decrease of squared error and Gini when targets are dealt out at random.
    """
    missing = np.isnan(x)
    n_levels = len(np.unique(x[~missing]))
    return min(1.0, (n_levels + int(missing.any()) - 1) / (len(x) - 1))


def credit_of(task: Task, rows: Ints, column: Column) -> float:
    """How much of a gain counts: of what the levels explain together, the share that chance does not explain.

    Chance is its mean and two standard deviations. The absolute error takes the levels for explaining everything.
    """
    x = column.values[rows]
    if not column.is_category or len(np.unique(x[~np.isnan(x)])) <= FEW_LEVELS:
        return 1.0
    chance = chance_share(x)
    noise = chance + 2 * np.sqrt(2 * chance * (1 - chance) / (len(x) - 1))
    if task.rules.criterion == "absolute_error":
        return float(max(0.0, 1 - noise))
    explained = share_between(task, rows, x)
    return float(max(0.0, 1 - noise / explained)) if explained > 0 else 0.0


def share_between(task: Task, rows: Ints, x: Floats) -> float:
    """Share of the node's impurity that vanishes if each level, and the missing values, are a group of their own."""
    groups = [x == level for level in np.unique(x[~np.isnan(x)])] + [np.isnan(x)] * bool(np.isnan(x).any())
    masks = np.array(groups)
    within = membership(task, rows, masks).sum(axis=1) @ impurities(task, rows, masks)
    total = task.weight[rows].sum() * impurity_of(task, rows)
    return float((total - within) / total) if total > 0 else 0.0


def is_allowed(task: Task, rows: Ints, bounds: Bounds, splits: list[Split]) -> Mask:
    """Which candidates respect the sizes of leaves, positive Poisson means and the monotonic constraints."""
    left = np.array([split.goes_left for split in splits])
    right = ~left
    smallest = np.minimum(left.sum(axis=1), right.sum(axis=1))
    lightest = np.minimum(membership(task, rows, left).sum(axis=1), membership(task, rows, right).sum(axis=1))
    allowed = smallest >= task.rules.min_samples_leaf
    allowed &= lightest >= task.rules.min_weight_fraction_leaf * task.total_weight
    if task.rules.criterion == "poisson":
        for side in (left, right):
            allowed &= ((membership(task, rows, side) @ task.target[rows]) > 0).all(axis=1)
    if task.rules.monotonic_cst is not None:
        allowed &= is_monotonic(task, rows, bounds, splits)
    return allowed


def is_monotonic(task: Task, rows: Ints, bounds: Bounds, splits: list[Split]) -> Mask:
    """Which candidates of constrained features have children in the required order and within the bounds of the node.

    Features without a constraint are free: their children may leave the bounds, but predict clipped values.
    """
    assert task.rules.monotonic_cst is not None
    left = np.array([split.goes_left for split in splits])
    left_value, right_value = responses(task, rows, left), responses(task, rows, ~left)
    direction = np.array([task.rules.monotonic_cst[split.feature] for split in splits])
    lower, upper = bounds
    inside = (np.minimum(left_value, right_value) >= lower) & (np.maximum(left_value, right_value) <= upper)
    return (direction == 0) | (inside & ((right_value - left_value) * direction >= 0))


def gains(task: Task, rows: Ints, left: NDArray) -> Floats:
    """Impurity decrease of every division of the node, as a share of the root's weight."""
    left = np.atleast_2d(left)
    weight = task.weight[rows].sum()
    left_weight = membership(task, rows, left).sum(axis=1)
    right_weight = membership(task, rows, ~left).sum(axis=1)
    after = left_weight * impurities(task, rows, left) + right_weight * impurities(task, rows, ~left)
    return (weight * impurity_of(task, rows) - after) / task.total_weight


def allowed_splits(task: Task, rows: Ints, bounds: Bounds) -> list[Split]:
    """All allowed candidates of a node with their gains, in the order that decides ties."""
    splits = all_splits(task, rows)
    if not splits:
        return []
    decrease = gains(task, rows, np.array([split.goes_left for split in splits]))
    allowed = is_allowed(task, rows, bounds, splits)
    credits_ = [credit_of(task, rows, column) for column in task.columns]
    found = [
        replace(split, gain=float(gain), credit=credits_[split.feature])
        for split, gain, ok in zip(splits, decrease, allowed, strict=True)
        if ok
    ]
    return [s for s in found if s.credit == 1 or (s.credit > LEAST_CREDIT and s.merit > tolerance(task, rows))]


def same_partition(first: Mask, second: Mask) -> bool:
    """Whether two masks divide the rows into the same two sets, on whichever side."""
    return bool(np.array_equal(first, second) or np.array_equal(first, ~second))


def tolerance(task: Task, rows: Ints) -> float:
    """Gains closer than this are equal: 1e-12 of the impurity of the node."""
    return 1e-12 * impurity_of(task, rows) * float(task.weight[rows].sum()) / task.total_weight


def choose(task: Task, rows: Ints, splits: list[Split]) -> tuple[Split, float]:
    """The first of the best splits, and the best gain of a split that divides the rows differently."""
    most = max(split.merit for split in splits)
    best = next(split for split in splits if split.merit >= most - tolerance(task, rows))
    others = (split.merit / best.credit for split in splits if not same_partition(split.goes_left, best.goes_left))
    return best, max(others, default=-np.inf)


def canonical(task: Task, rows: Ints, split: Split) -> Split:
    """A category split of a two-class or regression target, turned so that the lower mean goes left."""
    many_classes = bool(task.classes) and len(task.classes[0]) > 2
    if split.left_levels is None or many_classes:
        return split
    y = task.target[rows, 0]
    sides = np.array([split.goes_left, ~split.goes_left])
    left_mean, right_mean = means(y, membership(task, rows, sides))
    if left_mean <= right_mean:
        return split
    x = task.columns[split.feature].values[rows]
    right_levels = frozenset(int(level) for level in np.unique(x[~np.isnan(x)])) - split.left_levels
    is_known = np.isnan(x).any()
    missing_left = not split.missing_left if is_known else is_heavier(task.weight[rows], ~split.goes_left)
    return replace(split, left_levels=right_levels, missing_left=missing_left, goes_left=~split.goes_left)


# When to stop.


def is_constant(task: Task, rows: Ints) -> bool:
    """Whether every output has a single value in the node."""
    return bool((np.ptp(task.target[rows], axis=0) == 0).all())


def stops(task: Task, rows: Ints, depth: int) -> bool:
    """Whether the node is a leaf before any split is looked at."""
    rules = task.rules
    too_deep = rules.max_depth is not None and depth >= rules.max_depth
    too_small = len(rows) < max(2, rules.min_samples_split)
    pure_enough = rules.impurity_threshold > 0 and impurity_of(task, rows) <= rules.impurity_threshold
    return too_deep or too_small or pure_enough or is_constant(task, rows)


def p_value(task: Task, rows: Ints, goes_left: Mask) -> float:
    """Significance of a split: chi-squared test of classes against sides, or F-test of the two means."""
    y, weight = task.target[rows, 0], task.weight[rows]
    test = chi_squared_p_value if task.rules.is_classification else f_p_value
    return test(y, weight, goes_left)


def chi_squared_p_value(y: Floats, weight: Floats, goes_left: Mask) -> float:
    """Independence of the classes present and the side, without continuity correction."""
    present = np.unique(y)
    sides = (goes_left, ~goes_left)
    observed = np.array([[weight[side & (y == level)].sum() for level in present] for side in sides])
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum()
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, len(present) - 1))


def f_p_value(y: Floats, weight: Floats, goes_left: Mask) -> float:
    """One-way analysis of variance of two groups; the total weight counts the rows. No freedom left: no evidence."""
    freedom = weight.sum() - 2
    if freedom <= 0:
        return 1.0
    total = squared_error(y, weight[None, :])[0] * weight.sum()
    within = sum(
        float(squared_error(y[side], weight[side][None, :])[0] * weight[side].sum()) for side in (goes_left, ~goes_left)
    )
    statistic = np.inf if within == 0 else (total - within) / (within / freedom)
    return float(stats.f.sf(statistic, 1, freedom))


def is_worthwhile(task: Task, rows: Ints, split: Split) -> bool:
    """Whether the chosen split is good enough to be made."""
    rules = task.rules
    if rules.min_impurity_decrease > 0 and split.gain < rules.min_impurity_decrease:
        return False
    return rules.significance is None or p_value(task, rows, split.goes_left) <= rules.significance


# Growth.


def new_node(task: Task, rows: Ints, depth: int, bounds: Bounds) -> Node:
    """A leaf for now."""
    weight = float(task.weight[rows].sum())
    return Node(rows, depth, bounds, weight, impurity_of(task, rows), value_of(task, rows, bounds))


def child_bounds(task: Task, node: Node, split: Split) -> tuple[Bounds, Bounds]:
    """Bounds of the children: a constrained feature divides the bounds halfway between the children's values."""
    direction = 0 if task.rules.monotonic_cst is None else task.rules.monotonic_cst[split.feature]
    if direction == 0:
        return node.bounds, node.bounds
    left_value, right_value = responses(task, node.rows, np.array([split.goes_left, ~split.goes_left]))
    middle = float(left_value / 2 + right_value / 2)
    below, above = (node.bounds[0], middle), (middle, node.bounds[1])
    return (below, above) if direction > 0 else (above, below)


def best_split(task: Task, node: Node) -> Split | None:
    """The split to make at a node, or None for a leaf; notes gain and runner-up on the node."""
    if stops(task, node.rows, node.depth):
        return None
    splits = allowed_splits(task, node.rows, node.bounds)
    if not splits:
        return None
    best, node.runner_up = choose(task, node.rows, splits)
    node.gain = best.gain
    return canonical(task, node.rows, best) if is_worthwhile(task, node.rows, best) else None


def make_split(task: Task, node: Node, split: Split) -> tuple[Node, Node]:
    """Write the split into the node and return its children."""
    left_bounds, right_bounds = child_bounds(task, node, split)
    node.feature, node.threshold, node.left_levels = split.feature, split.threshold, split.left_levels
    node.missing_left = split.missing_left
    node.left = new_node(task, node.rows[split.goes_left], node.depth + 1, left_bounds)
    node.right = new_node(task, node.rows[~split.goes_left], node.depth + 1, right_bounds)
    return node.left, node.right


def grow(columns: Sequence[Column], target: NDArray, weight: NDArray | None, rules: Rules) -> Node:
    """Grow a tree: split the open node of largest gain, the oldest of several, until none is left or allowed.

    Without a limit on leaves the order makes no difference, so there is one procedure for both kinds of growth.
    """
    task = make_task(columns, target, weight, rules)
    root = new_node(task, np.arange(len(task.weight)), 0, UNBOUNDED)
    open_nodes = [(root, split)] if (split := best_split(task, root)) else []
    n_leaves = 1
    while open_nodes and (rules.max_leaf_nodes is None or n_leaves < rules.max_leaf_nodes):
        largest = max(range(len(open_nodes)), key=lambda at: open_nodes[at][0].gain)  # the first of equals
        for child in make_split(task, *open_nodes.pop(largest)):
            if split := best_split(task, child):
                open_nodes.append((child, split))
        n_leaves += 1
    return root


# Pruning.


def leaves_below(node: Node, pruned: set[int]) -> list[Node]:
    """Leaves of the subtree at `node` once the nodes whose ids are in `pruned` have become leaves."""
    if node.left is None or node.right is None or id(node) in pruned:
        return [node]
    return leaves_below(node.left, pruned) + leaves_below(node.right, pruned)


def inner_nodes(node: Node, pruned: set[int]) -> list[Node]:
    """Nodes of the pruned subtree that still have children, in preorder."""
    if node.left is None or node.right is None or id(node) in pruned:
        return []
    return [node, *inner_nodes(node.left, pruned), *inner_nodes(node.right, pruned)]


def pruning_path(root: Node) -> tuple[list[float], list[float]]:
    """Alphas and total leaf impurities of the weakest-link sequence, one entry per collapsed node."""

    def risk(node: Node) -> float:
        return node.impurity * node.weight / root.weight

    def link(node: Node) -> float:
        leaves = leaves_below(node, pruned)
        return (risk(node) - sum(map(risk, leaves))) / (len(leaves) - 1)

    pruned: set[int] = set()
    alphas, total = [0.0], [sum(map(risk, leaves_below(root, pruned)))]
    while inner := inner_nodes(root, pruned):
        weakest = min(inner, key=link)
        alphas.append(link(weakest))
        pruned.add(id(weakest))
        total.append(sum(map(risk, leaves_below(root, pruned))))
    return alphas, total
