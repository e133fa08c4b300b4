"""Holds a fitted tree (Sapwood's or scikit-learn's arrays) against the brute-force specification.

`check_tree` follows the fitted tree from its root. At every node it asks the specification for all candidate splits of
the rows that arrive there; the split made must be one of the best of them. It then goes on with the rows as the fitted
tree divided them, so a tie does not end the comparison. `check_same_tree` compares with a tree grown independently.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle import brute_force as bf

RELATIVE = 1e-9  # of the impurity of a node: gains closer than this are equal
EXACT = 1e-13  # differences below this are rounding


@dataclass
class Visit:
    """A node of the fitted tree seen by the specification."""

    at: int
    node: bf.Node
    splits: list[bf.Split]  # empty: must be a leaf
    gain: float = -np.inf  # of the best split
    merit: float = -np.inf  # the same, as far as it counts


def is_leaf(tree: Any, at: int) -> bool:
    """Whether the fitted node has no children."""
    return bool(tree.children_left[at] < 0)


def leaves_under(tree: Any, at: int) -> list[int]:
    """Leaves of the fitted subtree."""
    if is_leaf(tree, at):
        return [at]
    return leaves_under(tree, tree.children_left[at]) + leaves_under(tree, tree.children_right[at])


def scale(task: bf.Task, node: bf.Node) -> float:
    """Largest gain a node could have."""
    return node.impurity * node.weight / task.total_weight


def check_tree(
    tree: Any,
    leaf_of_row: NDArray,
    task: bf.Task,
    classes: list[NDArray] | None = None,
    *,
    strict: bool = True,
) -> None:
    """Check a fitted tree; `leaf_of_row` is the leaf of each row of the task, `classes` the classes of `value`.

    With `strict` equal splits must be decided by feature, then threshold, then missing to the right, and splits of gain
    zero must be made; scikit-learn takes any of the best, and rounding may keep it from a split of gain zero.
    """
    checker = _Checker(tree, np.asarray(leaf_of_row), task, classes, strict)
    checker.run()


class _Checker:
    """One comparison; `run` walks, the other methods each check one thing."""

    def __init__(
        self, tree: Any, leaf_of_row: NDArray, task: bf.Task, classes: list[NDArray] | None, strict: bool
    ) -> None:
        self.tree, self.leaf_of_row, self.task, self.strict = tree, leaf_of_row, task, strict
        self.classes = classes
        self.root_impurity = bf.impurity_of(task, np.arange(len(task.weight)))

    def run(self) -> None:
        """Expand nodes in the order of best-first growth; without a limit on leaves the order has no effect."""
        rows = np.arange(len(self.task.weight))
        self._walk(self._visit(0, bf.new_node(self.task, rows, 0, bf.UNBOUNDED)), 1)

    def _walk(self, open_visits: list[Visit], n_leaves: int) -> None:
        """Expand the open nodes; if some are tied, in any order in which the fitted tree can have split them."""
        limit = self.task.rules.max_leaf_nodes or np.inf
        if not open_visits or n_leaves >= limit:
            for visit in open_visits:
                assert is_leaf(self.tree, visit.at), f"node {visit.at} is split although the leaves are used up"
            return
        tied = self._next(open_visits)[: None if np.isfinite(limit) else 1]
        for visit in tied:
            others = [other for other in open_visits if other is not visit]
            try:
                self._walk(others + self._expand(visit), n_leaves + 1)
            except AssertionError:
                if visit is tied[-1]:
                    raise
            else:
                return

    def _next(self, open_visits: list[Visit]) -> list[Visit]:
        """Open nodes of the largest gain that the fitted tree splits."""
        largest = max(visit.gain for visit in open_visits)
        slack = RELATIVE * self.root_impurity
        tied = [visit for visit in open_visits if visit.gain >= largest - slack]
        split = [visit for visit in tied if not is_leaf(self.tree, visit.at)]
        assert split, f"node {tied[0].at} is a leaf but has a split of gain {tied[0].gain}: {describe(tied[0])}"
        return split

    def _visit(self, at: int, node: bf.Node) -> list[Visit]:
        """Compare what the node holds; return it if it is to be split, and check that it is a leaf if it is not."""
        self._check_content(at, node)
        visit = self._decide(at, node)
        if visit is None:
            assert is_leaf(self.tree, at), f"node {at} (n={node.n_rows}) is split but must be a leaf"
            return []
        return [visit]

    def _check_content(self, at: int, node: bf.Node) -> None:
        tree, where = self.tree, f"node {at}: "
        assert tree.n_node_samples[at] == node.n_rows, where + f"{tree.n_node_samples[at]} rows, not {node.n_rows}"
        np.testing.assert_allclose(tree.weighted_n_node_samples[at], node.weight, rtol=1e-9, err_msg=where + "weight")
        slack = 1e-9 * max(self.root_impurity, 1e-300)
        np.testing.assert_allclose(tree.impurity[at], node.impurity, rtol=1e-9, atol=slack, err_msg=where + "impurity")
        size = np.abs(node.value).max()
        expected = self._as_fitted(node.value)
        np.testing.assert_allclose(tree.value[at], expected, rtol=1e-9, atol=1e-9 * size, err_msg=where + "value")

    def _as_fitted(self, value: NDArray) -> NDArray:
        """Class shares in the order of the fitted classes (which may know classes of rows without weight)."""
        if self.classes is None:
            return value
        full = np.zeros((len(self.classes), max(map(len, self.classes))))
        for output, (known, fitted) in enumerate(zip(self.task.classes, self.classes, strict=True)):
            full[output, np.searchsorted(fitted, known)] = value[output, : len(known)]
        return full

    def _decide(self, at: int, node: bf.Node) -> Visit | None:
        """Whether the node is to be split; where rounding could decide, the fitted tree is believed."""
        task, rules = self.task, self.task.rules
        fitted_leaf = is_leaf(self.tree, at)
        near_limit = rules.impurity_threshold > 0 and abs(node.impurity - rules.impurity_threshold) < 1e-9
        if bf.stops(task, node.rows, node.depth) and not (near_limit and not fitted_leaf):
            return None
        splits = bf.allowed_splits(task, node.rows, node.bounds)
        if not splits or (near_limit and fitted_leaf):
            return None
        merit = max(split.merit for split in splits)
        best = [split for split in splits if split.merit >= merit - RELATIVE * scale(task, node)]
        verdicts = {self._is_worthwhile(node, split) for split in best}
        if verdicts == {False} or (verdicts != {True} and fitted_leaf):
            return None
        return Visit(at, node, splits, best[0].gain, merit)

    def _is_worthwhile(self, node: bf.Node, split: bf.Split) -> bool | None:
        """As the specification, but None where rounding could decide."""
        rules = self.task.rules
        slack = RELATIVE * scale(self.task, node)
        if (not self.strict or split.left_levels is not None) and split.gain <= slack:
            return (
                None  # levels that are alike are not parted by their numbers, so a split without gain may be passed by
            )
        if rules.min_impurity_decrease > 0 and abs(split.gain - rules.min_impurity_decrease) <= slack:
            return None
        if rules.significance is not None:
            probability = bf.p_value(self.task, node.rows, split.goes_left)
            if abs(probability - rules.significance) < 1e-9:
                return None
        return bf.is_worthwhile(self.task, node.rows, split)

    def _expand(self, visit: Visit) -> list[Visit]:
        """Check the split of a node and visit its children."""
        tree, node, at = self.tree, visit.node, visit.at
        left, right = int(tree.children_left[at]), int(tree.children_right[at])
        goes_left = np.isin(self.leaf_of_row[node.rows], leaves_under(tree, left))
        made = self._check_split(visit, goes_left)
        left_bounds, right_bounds = bf.child_bounds(self.task, node, made)
        left_node = bf.new_node(self.task, node.rows[goes_left], node.depth + 1, left_bounds)
        right_node = bf.new_node(self.task, node.rows[~goes_left], node.depth + 1, right_bounds)
        return self._visit(left, left_node) + self._visit(right, right_node)

    def _check_split(self, visit: Visit, goes_left: NDArray) -> bf.Split:
        """The split made is allowed, as good as the best, decided by the rules of ties, and stored correctly."""
        tree, node, at = self.tree, visit.node, visit.at
        feature, where = int(tree.feature[at]), f"node {at}: "
        assert 0 < goes_left.sum() < len(goes_left), where + "apply() sends all rows to one child"
        gain = float(bf.gains(self.task, node.rows, goes_left)[0])
        slack = RELATIVE * scale(self.task, node)
        found = f"feature {feature} threshold {tree.threshold[at]} gain {gain}, best {describe(visit)}"
        matching = [
            split
            for split in visit.splits
            if split.feature == feature and bf.same_partition(split.goes_left, goes_left)
        ]
        assert matching, where + "divides its rows as no allowed candidate does: " + found
        assert abs(gain * matching[0].credit - visit.merit) <= slack, where + found
        self._check_tie(visit, feature, matching[0], found)
        self._check_stored(at, node, matching[0], goes_left)
        made = matching[0]
        return replace(made, goes_left=goes_left)

    def _check_tie(self, visit: Visit, feature: int, made: bf.Split, found: str) -> None:
        """Without a tie the partition is the best one; with a clean tie it is the first."""
        unit = scale(self.task, visit.node)
        if unit == 0:
            return
        behind = np.array([(visit.merit - split.merit) / unit for split in visit.splits])
        tied = [split for split, gap in zip(visit.splits, behind, strict=True) if gap <= RELATIVE]
        if all(bf.same_partition(split.goes_left, tied[0].goes_left) for split in tied):
            assert bf.same_partition(made.goes_left, tied[0].goes_left), (
                f"node {visit.at}: not the best partition: {found}"
            )
        unclear = ((behind > EXACT) & (behind < RELATIVE)).any()
        unclear |= visit.gain <= RELATIVE * unit and any(split.left_levels is not None for split in tied)
        if self.strict and not unclear:
            first = tied[0]
            assert feature == first.feature, f"node {visit.at}: tie not decided by lower feature: {found}"
            if first.threshold is not None:
                expected = (first.threshold, first.missing_left)
                assert made is first, (
                    f"node {visit.at}: tie not decided for (threshold, missing left) {expected}: {found}"
                )

    def _check_stored(self, at: int, node: bf.Node, split: bf.Split, goes_left: NDArray) -> None:
        """Threshold and direction of missing values."""
        tree, where = self.tree, f"node {at}: "
        x = self.task.columns[split.feature].values[node.rows]
        if split.threshold is not None:
            assert np.array_equal(split.goes_left, goes_left), where + "children of a number are swapped"
            wrong = f"threshold {tree.threshold[at]!r}, not {split.threshold!r}"
            assert close(tree.threshold[at], split.threshold), where + wrong
        missing = np.isnan(x)
        expected = bf.is_heavier(self.task.weight[node.rows], goes_left)
        if not self.strict:  # scikit-learn counts rows
            expected = bool(2 * goes_left.sum() > len(goes_left))
        if missing.any():
            expected = bool(goes_left[missing][0])
        assert bool(tree.missing_go_to_left[at]) == expected, where + f"missing_go_to_left is not {expected}"


def close(first: float, second: float) -> bool:
    """Equal to within two units in the last place; infinities must agree."""
    return bool(first == second or abs(first - second) <= 2 * np.spacing(max(abs(first), abs(second))))


def describe(visit: Visit) -> str:
    """The best splits of a node, for messages."""
    best = [split for split in visit.splits if split.merit == visit.merit]
    return "; ".join(
        f"feature {s.feature} "
        f"{'<= ' + repr(s.threshold) if s.left_levels is None else 'in ' + str(set(s.left_levels))} "
        f"missing {'left' if s.missing_left else 'right'} gain {s.gain}"
        for s in best[:3]
    )


def fitted_node(tree: Any, at: int = 0) -> bf.Node:
    """A fitted tree as nodes of the specification (without rows)."""
    node = bf.Node(
        rows=np.arange(tree.n_node_samples[at]),
        depth=0,
        bounds=bf.UNBOUNDED,
        weight=float(tree.weighted_n_node_samples[at]),
        impurity=float(tree.impurity[at]),
        value=np.asarray(tree.value[at]),
    )
    if not is_leaf(tree, at):
        node.feature, node.threshold = int(tree.feature[at]), float(tree.threshold[at])
        node.missing_left = bool(tree.missing_go_to_left[at])
        node.left = fitted_node(tree, int(tree.children_left[at]))
        node.right = fitted_node(tree, int(tree.children_right[at]))
    return node


def check_same_tree(found: bf.Node, expected: bf.Node) -> None:
    """Two trees of numeric features agree node for node."""
    pairs = list(zip(found.preorder(), expected.preorder(), strict=True))
    for at, (one, other) in enumerate(pairs):
        where = f"node {at} in preorder: "
        assert one.is_leaf == other.is_leaf, where + "leaf or not"
        assert one.n_rows == other.n_rows, where + "rows"
        np.testing.assert_allclose(one.weight, other.weight, rtol=1e-9, err_msg=where + "weight")
        np.testing.assert_allclose(one.impurity, other.impurity, rtol=1e-7, atol=1e-12, err_msg=where + "impurity")
        np.testing.assert_allclose(one.value, other.value, rtol=1e-9, atol=1e-12, err_msg=where + "value")
        if not other.is_leaf:
            assert one.feature == other.feature, where + f"feature {one.feature}, not {other.feature}"
            assert close(one.threshold, other.threshold), where + f"threshold {one.threshold}, not {other.threshold}"
            if children_agree(other):
                assert one.missing_left == other.missing_left, where + "missing_left"


def children_agree(node: bf.Node) -> bool:
    """Whether the child with more rows has more weight: only then a side without missing rows is the peer's, too."""
    assert node.left is not None
    assert node.right is not None
    by_rows, by_weight = node.left.n_rows - node.right.n_rows, node.left.weight - node.right.weight
    return (by_rows > 0) == (by_weight > 1e-9 * node.weight)
