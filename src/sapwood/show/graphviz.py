"""A tree in graphviz's dot language."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.keywords import answering
from sapwood.parameters import Flag, Rule, check_parameters
from sapwood.show.card import CARD_RULES, TRUNCATED, CardOptions, CardWriter
from sapwood.show.colour import TRUNCATED_FILL, tree_fills
from sapwood.show.file import write_text
from sapwood.show.names import one_line
from sapwood.show.picked import picked_tree
from sapwood.tree import LEAF, Tree

_RULES: dict[str, tuple[Rule, ...]] = {
    **CARD_RULES,
    "leaves_parallel": (Flag(),),
    "rotate": (Flag(),),
    "special_characters": (Flag(),),
}


@answering
def export_graphviz(
    decision_tree: Any,
    out_file: Any = None,
    *,
    tree: Any = None,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = False,
    leaves_parallel: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rotate: bool = False,
    rounded: bool = False,
    special_characters: bool = False,
    precision: int = 3,
    fontname: str = "helvetica",
) -> str | None:
    """Write a tree as a dot file, or return it as a string if `out_file` is None.

    An existing file is replaced only once the new one is complete. Names default to those seen in fit;
    `class_names=False` leaves out the class.

    Of a model of many trees, `tree` is the number of one of them, from 0 on; of boosting also a round and a score, such
    as (0, "setosa"). The values of a boosted tree are what it adds to its score.
    """
    arguments = {name: value for name, value in locals().items() if name in _RULES}
    check_parameters("export_graphviz", _RULES, arguments)
    one = picked_tree(decision_tree, tree, "decision_tree").estimator
    options = CardOptions(feature_names, class_names, label, impurity, node_ids, proportion, precision)
    head = _head(filled, rounded, leaves_parallel, rotate, _quoted(fontname))
    body = _tree_lines(one, options, max_depth, (filled, leaves_parallel, rotate, special_characters))
    text = "".join([*head, *body, "}"])
    if out_file is None:
        return text
    write_text(out_file, text)
    return None


def _tree_lines(
    estimator: Any, options: CardOptions, max_depth: int | None, looks: tuple[bool, bool, bool, bool]
) -> Iterator[str]:
    """Nodes and edges, and their ranks if leaves are parallel."""
    filled, leaves_parallel, rotate, special_characters = looks
    tree, cards = estimator.tree_, CardWriter(estimator, options)
    shown = _shown_depths(tree, max_depth)
    label_of = _html_label if special_characters else _quoted_label
    fills = tree_fills(estimator) if filled else None
    yield from _body(tree, shown, max_depth, lambda node: label_of(cards.lines(node)), fills, rotate)
    if leaves_parallel:
        yield from _ranks(tree, shown, max_depth)


def _shown_depths(tree: Tree, max_depth: int | None) -> dict[int, int]:
    """Depth of every node that is drawn, the first one cut off included; the root has 0."""
    depths: NDArray[np.int64] = tree.compute_node_depths() - 1
    limit = tree.node_count if max_depth is None else max_depth + 1
    return {int(node): int(depths[node]) for node in np.flatnonzero(depths <= limit)}


def _head(filled: bool, rounded: bool, leaves_parallel: bool, rotate: bool, font: str) -> Iterator[str]:
    styles = [name for name, wanted in (("filled", filled), ("rounded", rounded)) if wanted]
    style = f', style="{", ".join(styles)}", color="black"' if styles else ""
    yield "digraph Tree {\n"
    yield f"node [shape=box{style}, fontname={font}] ;\n"
    if leaves_parallel:
        yield "graph [ranksep=equally, splines=polyline] ;\n"
    yield f"edge [fontname={font}] ;\n"
    if rotate:
        yield "rankdir=LR ;\n"


def _body(
    tree: Tree,
    shown: dict[int, int],
    max_depth: int | None,
    label_of: Callable[[int], str],
    fills: list[str] | None,
    rotate: bool,
) -> Iterator[str]:
    parents = tree.parents()
    for node, depth in shown.items():
        cut = max_depth is not None and depth > max_depth
        text = f'"{TRUNCATED}"' if cut else label_of(node)
        fill = "" if fills is None else f', fillcolor="{TRUNCATED_FILL if cut else fills[node]}"'
        yield f"{node} [label={text}{fill}] ;\n"
        if node:
            yield f"{parents[node]} -> {node}{'' if cut else _edge_label(tree, int(parents[node]), node, rotate)} ;\n"


def _edge_label(tree: Tree, parent: int, node: int, rotate: bool) -> str:
    if parent != 0:
        return ""
    is_left = node == tree.children_left[0]
    angle = 45 if is_left != rotate else -45
    return f' [labeldistance=2.5, labelangle={angle}, headlabel="{is_left}"]'


def _ranks(tree: Tree, shown: dict[int, int], max_depth: int | None) -> Iterator[str]:
    """Put nodes of one depth side by side, and all leaves at the bottom."""
    ranks: dict[str, list[str]] = {}
    for node, depth in shown.items():
        at_bottom = tree.children_left[node] == LEAF or (max_depth is not None and depth > max_depth)
        ranks.setdefault("leaves" if at_bottom else str(depth), []).append(str(node))
    for rank in sorted(ranks):
        yield "{rank=same ; " + "; ".join(ranks[rank]) + "} ;\n"


def _quoted_label(lines: list[str]) -> str:
    return '"' + "\\n".join(_escaped(line) for line in lines) + '"'


def _html_label(lines: list[str]) -> str:
    texts = [html.escape(line, quote=True).replace(" &lt;= ", " &le; ") for line in lines]
    return f"<{'<br/>'.join(texts)}>"


def _quoted(text: str) -> str:
    return f'"{_escaped(one_line(text))}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
