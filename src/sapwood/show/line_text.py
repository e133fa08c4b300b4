"""Lines of linear leaves as text: + 0.5 * (age - 40), where age counts up to the ends of the leaf's training range."""

from __future__ import annotations

from collections.abc import Sequence

from sapwood.show.number import short_number
from sapwood.show.value import value_text
from sapwood.table.schema import Schema
from sapwood.tree import Tree


def line_texts(tree: Tree, schema: Schema, node: int, names: Sequence[str], decimals: int) -> list[str]:
    """The lines of a node, none for leaves of one value; the centre has digits that suit the range."""
    if tree.linear is None:
        return []
    found = []
    for j, slope, centre, low, high in tree.linear.of_node(node).tolist():
        text = value_text(schema.columns[j], centre, decimals, (high - low) / 100)
        sign, distance = "-" if slope < 0 else "+", f"- {text}" if not text.startswith("-") else f"+ {text[1:]}"
        found.append(f"{sign} {short_number(abs(slope), decimals)} * ({names[j]} {distance})")
    return found
