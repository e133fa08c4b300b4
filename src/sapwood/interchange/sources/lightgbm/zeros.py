"""LightGBM's trees as this library's, whose nodes treat NaN alone as missing, and zero as a number.

For LightGBM all numbers x with |x| <= z = 1e-35 are 0. Where zeros are missing values too, they may go against their
side of the threshold, and one split becomes three:

    default left, threshold below zero          default right, threshold above zero

      left | right | left | right                 left | right | left | right
           t      -z      z                           -z       z      t

The branches are then there twice, each with half of the rows, since it is not known how many were zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats, Ints
from sapwood.errors import ModelFileError
from sapwood.interchange.sources.lightgbm.tree import NAN_IS_ZERO, ZERO, ZERO_IS_MISSING, LightGBMTree
from sapwood.interchange.sources.source_tree import Links, SourceTree, least_weight, row_counts, subset_of
from sapwood.tree import LEAF

Codes = Mapping[int, Mapping[int, int]]  # column, to category, to number of its level

MOST_NODES = 200_000  # of a tree
BEFORE_ZERO = float(np.nextafter(-ZERO, -np.inf))


@dataclass(eq=False)
class _Nodes:
    """Nodes of the new tree."""

    links: list[list[int]] = field(default_factory=list)  # left, right
    source: list[int] = field(default_factory=list)  # node that it comes from, if that is a leaf or a first split
    threshold: list[float] = field(default_factory=list)
    missing_left: list[bool] = field(default_factory=list)
    share: list[float] = field(default_factory=list)  # of the source's rows
    is_first: list[bool] = field(default_factory=list)

    def add(self, source: int, threshold: float, missing_left: bool, share: float, is_first: bool = True) -> int:
        if len(self.links) >= MOST_NODES:
            raise ModelFileError(
                f"The model treats zeros as missing values (zero_as_missing=True), and a tree would need more than "
                f"{MOST_NODES} nodes for that here. Train with zero_as_missing=False, or with fewer leaves."
            )
        self.links.append([LEAF, LEAF])
        self.source.append(source)
        self.threshold.append(threshold)
        self.missing_left.append(missing_left)
        self.share.append(share)
        self.is_first.append(is_first)
        return len(self.links) - 1


def to_source(tree: LightGBMTree, codes: Codes, scale: float) -> SourceTree:
    """The tree without missing zeros; `scale` is what its values are multiplied by."""
    nodes = _grown(tree)
    links = Links(tree.links.where, *np.array(nodes.links, dtype=np.int64).T)
    source, share, is_leaf = np.array(nodes.source), np.array(nodes.share), links.is_leaf
    feature = np.zeros(len(source), dtype=np.int64)
    feature[~is_leaf] = tree.feature[source[~is_leaf]]
    own_leaf = source[is_leaf] - tree.n_inner

    def sums(of_leaves: Floats | Ints) -> Floats:
        found = np.zeros(len(source))
        found[is_leaf] = of_leaves[own_leaf] * share[is_leaf]
        return links.sums(found)

    weight = least_weight(sums(tree.weight))
    values, is_first = tree.value[source], np.array(nodes.is_first)
    if not is_first.all():
        values = links.means(values, weight)
    gain, splits = np.zeros(len(source)), ~is_leaf & is_first
    gain[splits] = tree.gain[source[splits]] * share[splits]
    return SourceTree(
        links,
        feature,
        np.array(nodes.threshold),
        np.array(nodes.missing_left),
        (scale * values)[:, None, None],
        weight,
        row_counts(sums(tree.count)),
        links.impurity(gain, weight),
        {at: _subset(tree, node, codes) for at, node in enumerate(nodes.source) if node in tree.categories},
    )


def _subset(tree: LightGBMTree, node: int, codes: Codes) -> NDArray[np.uint32]:
    known = codes[int(tree.feature[node])]
    goes_left = np.zeros(len(known), dtype=np.bool_)
    goes_left[[known[category] for category in tree.categories[node].tolist()]] = True
    return subset_of(goes_left)


def _grown(tree: LightGBMTree) -> _Nodes:
    """All nodes, the root first."""
    nodes = _Nodes()
    waiting = [(0, 1.0, -1, 0)]  # node, share of its rows, and the link that leads to it
    while waiting:
        node, share, parent, side = waiting.pop()
        if node >= tree.n_inner or node in tree.categories:
            cuts, missing_left = [np.nan], [False]
        else:
            cuts, missing_left = _cuts(tree, node)
        chain = [
            nodes.add(node, cut, to_left, share, is_first=k == 0)
            for k, (cut, to_left) in enumerate(zip(cuts, missing_left, strict=True))
        ]
        if parent >= 0:
            nodes.links[parent][side] = chain[0]
        if node < tree.n_inner:
            own = share if len(chain) == 1 else share / 2.0
            for k, at in enumerate(chain):  # left, right, left and right again
                waiting.append((int((tree.links.left, tree.links.right)[k % 2][node]), own, at, 0))
                if k + 1 < len(chain):
                    nodes.links[at][1] = chain[k + 1]
            waiting.append((int(tree.links.right[node]), own, chain[-1], 1))
    return nodes


def _cuts(tree: LightGBMTree, node: int) -> tuple[list[float], list[bool]]:
    """Thresholds of the nodes that replace one, and whether they send NaN left."""
    t, to_left, missing = float(tree.threshold[node]), bool(tree.default_left[node]), int(tree.missing[node])
    if abs(t) <= ZERO:  # all that counts as zero is on the same side
        t = ZERO if t >= 0.0 else BEFORE_ZERO
    if missing == NAN_IS_ZERO:
        return [t], [t >= 0.0]
    if missing != ZERO_IS_MISSING:
        return [t], [to_left]
    if to_left:
        return ([max(t, ZERO)], [True]) if t >= BEFORE_ZERO else ([t, BEFORE_ZERO, ZERO], [True, False, False])
    return ([min(t, BEFORE_ZERO)], [False]) if t <= ZERO else ([BEFORE_ZERO, ZERO, t], [False, True, False])
