"""A tree as a CASE expression that is not nested beyond a few levels: databases allow only so much depth.

Below that, leaves are listed from left to right, so that a leaf need only name where its path goes *left*: a row that
goes left elsewhere has met its leaf before. Where both NULL and a comparison lead left, the condition names both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sapwood.arrays import Floats
from sapwood.errors import ParameterError
from sapwood.linear_leaves import LinearLeaves
from sapwood.table.schema import Schema
from sapwood.tree import Tree

LARGEST = float(np.finfo(np.float64).max)
MOST_DEPTH = 8  # of nested cases
FEW_NODES = 8  # in the left branch: a list of cases is short enough
NEAR = Fraction(2, 5)  # of the distance to the next number: readers that round twice still find the right one


@lru_cache(maxsize=100_000)
def sql_number(x: float) -> str:
    """A double that databases read back exactly; with an exponent, since otherwise some take it for a decimal.

    SQLite may err in the last bit where the decimal lies half way between two doubles. Short texts are used only if
    they do not, and otherwise 18 digits, which lie next to the number itself. (Of numbers below 1e-280 it still errs.)
    """
    text = repr(float(x))
    if abs(Fraction(text) - Fraction(x)) > NEAR * Fraction(math.ulp(x)):
        text = f"{x:.17e}"
    return text if "e" in text else f"{text}e0"


def sql_text(value: object) -> str:
    """A level as a literal; quotes are doubled, and a backslash means nothing."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return sql_number(value)
    return "'" + storable(str(value)).replace("'", "''") + "'"


def sql_name(name: str) -> str:
    """A name of a column or table in double quotes."""
    return '"' + storable(name).replace('"', '""') + '"'


def storable(text: str) -> str:
    """The same text, if a database can hold it."""
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise ParameterError(f"{text!r} holds a character that text in SQL cannot hold. Use another name or level.")
    return text


def sql_tree(tree: Tree, schema: Schema, stops_at_unseen: bool) -> Callable[[Floats], str]:
    """From values of the nodes to an expression for that of a row's leaf; cells of column j are called cj."""
    goes_left = {int(node): _goes_left(tree, int(node), schema) for node in np.flatnonzero(~tree.is_leaf)}
    guarded = np.flatnonzero(tree.subset_start >= 0).tolist() if stops_at_unseen else []
    is_unseen = {node: _is_unseen(tree, node, schema) for node in guarded}
    text = _Text(tree, goes_left, is_unseen)
    lines = [_lines(tree.linear, node) for node in range(tree.node_count)]
    return lambda values: text.of(0, 0, [sql_number(x) + more for x, more in zip(values.tolist(), lines, strict=True)])


def _lines(linear: LinearLeaves | None, node: int) -> str:
    """What follows the value of a linear leaf; nothing is added where the cell is missing."""
    found = [] if linear is None else linear.of_node(node).tolist()
    return "".join(_line(f"c{j}", *map(sql_number, numbers)) for j, *numbers in found)


def _line(cell: str, slope: str, centre: str, low: str, high: str) -> str:
    clipped = f"CASE WHEN {cell} < {low} THEN {low} WHEN {cell} > {high} THEN {high} ELSE {cell} END"
    return f" + COALESCE({slope} * ({clipped} - {centre}), 0e0)"


@dataclass(frozen=True, eq=False)
class _Text:
    """Conditions of the nodes, to be put together."""

    tree: Tree
    goes_left: dict[int, str]
    is_unseen: dict[int, str]  # where rows with unseen levels stop

    def of(self, node: int, depth: int, values: list[str]) -> str:
        """The expression of a branch: large ones are divided in two, small or deep ones are lists of cases."""
        left, right = int(self.tree.children_left[node]), int(self.tree.children_right[node])
        if left < 0:
            return values[node]
        if depth == MOST_DEPTH or right - left < FEW_NODES:
            *cases, (_, last) = self._cases(node)
            listed = " ".join(f"WHEN {' AND '.join(conditions)} THEN {values[end]}" for conditions, end in cases)
            return f"CASE {listed} ELSE {values[last]} END"
        stop = f"WHEN {self.is_unseen[node]} THEN {values[node]} " if node in self.is_unseen else ""
        branches = [self.of(child, depth + 1, values) for child in (left, right)]
        return f"CASE {stop}WHEN {self.goes_left[node]} THEN {branches[0]} ELSE {branches[1]} END"

    def _cases(self, root: int) -> Iterator[tuple[list[str], int]]:
        """For each node where rows may end, from left to right, what must hold if nothing before it did."""
        waiting: list[tuple[int, list[str]]] = [(root, [])]
        while waiting:
            node, path = waiting.pop()
            if node not in self.goes_left:
                yield path, node
                continue
            if node in self.is_unseen:
                yield [*path, self.is_unseen[node]], node
            waiting.append((int(self.tree.children_right[node]), path))
            waiting.append((int(self.tree.children_left[node]), [*path, self.goes_left[node]]))


def _is_unseen(tree: Tree, node: int, schema: Schema) -> str:
    j = int(tree.feature[node])
    return f"c{j} NOT IN ({', '.join(map(sql_text, schema.columns[j].levels))})"


def _goes_left(tree: Tree, node: int, schema: Schema) -> str:
    """A condition that is true where a row goes left, and false or NULL where it does not."""
    j, missing = int(tree.feature[node]), bool(tree.missing_go_to_left[node])
    if tree.is_subset_split(node):
        return _is_among(tree, node, schema.columns[j].levels, missing)
    condition = _at_most(f"c{j}", float(tree.threshold[node]))
    return f"({condition} OR c{j} IS NULL)" if missing else condition


def _at_most(cell: str, threshold: float) -> str:
    """Infinite thresholds need no infinite literal, which databases spell differently."""
    if threshold == math.inf:
        return f"{cell} IS NOT NULL"
    return f"{cell} < -{sql_number(LARGEST)}" if threshold == -math.inf else f"{cell} <= {sql_number(threshold)}"


def _is_among(tree: Tree, node: int, levels: tuple[object, ...], missing: bool) -> str:
    """Levels that go left; or, where missing values and unseen levels do, those that do not go right."""
    left = set(tree.left_levels(node).tolist())
    named = [sql_text(level) for code, level in enumerate(levels) if (code in left) != missing]
    cell = f"c{int(tree.feature[node])}"
    if not missing:
        return f"{cell} IN ({', '.join(named)})" if named else "1 = 0"
    return f"({cell} IS NULL OR {cell} NOT IN ({', '.join(named)}))" if named else "1 = 1"
