"""A tree in graphviz's dot language."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO, Unpack

import numpy as np

from sapwood.atomic_file import replace_file
from sapwood.errors import DataFileError, ParameterTypeError
from sapwood.keywords import answering
from sapwood.model import model_of
from sapwood.one_line import one_line
from sapwood.parameters import Flag, check_parameters
from sapwood.show.colour import TRUNCATED_FILL, node_fills
from sapwood.show.node_label import STYLE_RULES, TRUNCATED, NodeLabels, TreeStyle
from sapwood.show.one_tree import TreeNumber, pick_tree
from sapwood.tree import LEAF, Tree

_RULES = {**STYLE_RULES, **{name: (Flag(),) for name in ("leaves_parallel", "rotate", "special_characters")}}


@answering
def export_graphviz(
    decision_tree: object,
    out_file: str | os.PathLike[str] | TextIO | None = None,
    *,
    tree: TreeNumber = None,
    filled: bool = False,
    leaves_parallel: bool = False,
    rotate: bool = False,
    rounded: bool = False,
    special_characters: bool = False,
    fontname: str = "helvetica",
    **options: Unpack[TreeStyle],
) -> str | None:
    """Write a tree as a dot file, or return it as a string.

    The values of a boosted tree are what it adds to its score.

    Args:
        decision_tree: a fitted model.
        out_file: path or open text file; None returns a string. An existing file is replaced only once the new one is
            complete.
        tree: number of a tree of a model of many, from 0, negative ones from the end; of boosting also a round and a
            score, such as (0, "setosa").
        filled: whether boxes have the colour of their class or value.
        leaves_parallel: whether all leaves are at the bottom.
        rotate: whether the tree grows from left to right.
        rounded: whether boxes have round corners.
        special_characters: whether labels are HTML, with ≤ in place of <=.
        fontname: font of all text.
        max_depth: depth below which branches are cut off; by default there is no limit.
        feature_names: names of the columns; by default those seen in fit.
        class_names: names of the classes; by default those seen in fit, and False leaves out the class.
        label: whether "all" boxes, the "root" or "none" name their numbers; default "all".
        impurity: whether boxes show the impurity, or the gain of boosting; default True.
        node_ids: whether boxes show the number of the node; default False.
        proportion: whether rows and classes are shown as shares; default False.
        precision: decimals of numbers; default 3.
    """
    looks = {"leaves_parallel": leaves_parallel, "rotate": rotate, "special_characters": special_characters}
    check_parameters("export_graphviz", _RULES, {**options, **looks, "filled": filled, "rounded": rounded})
    one = pick_tree(model_of(decision_tree, "decision_tree"), tree)
    labels, max_depth = NodeLabels(one, options), options.get("max_depth")
    shown = _shown_depths(one.tree, max_depth)
    write = _html_label if special_characters else _quoted_label
    fills = node_fills(one) if filled else None
    lines = [
        *_head(filled, rounded, leaves_parallel, rotate, _quoted(fontname)),
        *_body(one.tree, shown, max_depth, lambda node: write(labels.lines(node)), fills, rotate),
        *(_ranks(one.tree, shown, max_depth) if leaves_parallel else ()),
        "}",
    ]
    return _written("".join(lines), out_file)


def _written(text: str, out_file: object) -> str | None:
    """The text itself, or None once it is in a file that is complete."""
    if out_file is None:
        return text
    if isinstance(out_file, (str, os.PathLike)):
        _write_path(Path(os.fspath(out_file)), text)
    elif hasattr(out_file, "write"):
        out_file.write(text)
    else:
        raise ParameterTypeError(
            f"out_file={out_file!r} is not allowed: it must be a path, an open text file, or None for a string."
        )
    return None


def _write_path(path: Path, text: str) -> None:
    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise DataFileError(
            f"out_file={str(path)!r} cannot be written: {error.strerror or error}. "
            "Give a path in an existing folder that you may write to."
        ) from error


def _shown_depths(tree: Tree, max_depth: int | None) -> dict[int, int]:
    """Depth of each node that is drawn, with one level more that stands for what is cut off; the root has 0."""
    depths = tree.compute_node_depths() - 1
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
