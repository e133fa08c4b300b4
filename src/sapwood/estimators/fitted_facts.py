"""What is known of a fitted model, in a few lines: for the box that a notebook shows."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

from sapwood.one_line import clipped
from sapwood.result import TextTable, html_of
from sapwood.table.schema_text import schema_title

SHOWN_CLASSES = 8
LONGEST_CLASS = 20
MOST_TREES = 100  # that are unpacked to count their leaves


def facts_html(model: Any) -> str:
    """A table of facts in HTML; nothing if the model is not fitted."""
    return html_of([TextTable((), list(_facts(model)), sides="l")]) if hasattr(model, "schema_") else ""


def _facts(model: Any) -> Iterator[tuple[str, str]]:
    """Names of facts and what they are."""
    yield "columns", schema_title(model.schema_).removeprefix("Schema: ")
    for labels in model.model_.classes:
        shown = ", ".join(clipped(label, LONGEST_CLASS) for label in labels[:SHOWN_CLASSES].tolist())
        yield "classes", f"{len(labels)}: {shown}{_rest(labels)}"
    targets = getattr(model, "target_names_", ())
    if targets:
        shown = ", ".join(clipped(name, LONGEST_CLASS) for name in targets[:SHOWN_CLASSES])
        yield "targets", f"{len(targets)}: {shown}{_rest(targets)}"
    yield from _trees(model)
    score = getattr(model, "best_score_", None)
    if score is not None:
        yield "best score", f"{score:.6g} in round {model.best_iteration_}"
    if getattr(model, "oob_score_", None) is not None:
        yield "out-of-bag score", f"{model.oob_score_:.6g}"
    if getattr(model, "stopped_reason_", None):
        yield "training ended", str(model.stopped_reason_)


def _rest(names: Sized) -> str:
    return f", … +{len(names) - SHOWN_CLASSES} more" if len(names) > SHOWN_CLASSES else ""


def _trees(model: Any) -> Iterator[tuple[str, str]]:
    if not model.model_.is_all_trees:
        yield "estimators", str(len(model.estimators_))
        return
    rounds = getattr(model, "best_n_rounds_", None)
    if rounds is not None:
        yield "rounds", str(rounds)
    tree_sum = model.model_.trees
    yield "trees", str(len(tree_sum))
    looked_at = min(len(tree_sum), MOST_TREES)
    trees = [tree_sum.term(t).tree for t in range(looked_at)]
    if trees:
        of = "" if looked_at == len(tree_sum) else f" in the first {looked_at} trees"
        yield "leaves", f"{sum(tree.n_leaves for tree in trees)}{of}"
        yield "greatest depth", f"{max(tree.max_depth for tree in trees)}{of}"
