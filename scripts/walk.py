"""What a reader of the estimators has to walk through, in numbers.

    python scripts/walk.py                                     all estimators, and private accesses across packages
    python scripts/walk.py --hops NewtonBoostingClassifier     the functions of one fit, in the order of first calls

| number | meaning |
|---|---|
| classes | classes of this package in the estimator's MRO |
| functions | functions and methods of `estimators/` that a fit calls |
| hops | functions of the whole package that a fit calls; kernels are compiled and count where Python enters them |
| switches | how often such a function is in another package than the one before it |
| private accesses | uses of `x._name` in one package where only another one defines `_name` |

The walk of one row through a Newton fit to its leaf, and back, is listed below by hand: what someone reads who follows
it, kernels included, without the checks and helpers that can be taken on trust. The script checks that each exists.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import sapwood

PACKAGE = Path(sapwood.__file__).parent
FIELDS_OF_TUPLES = ("_asdict", "_fields", "_make", "_replace")  # public methods of named tuples


NEWTON_WALK = """
estimators/all_or_nothing: all_or_nothing
estimators/newton_boosting: fit
estimators/newton_training: train
estimators/boosting_rows: read_boosting_rows
table/table: from_any _described
table/target: from_any
estimators/boosting_task: of weigh
estimators/newton_setup: newton_loss
estimators/estimator: _describe
estimators/newton_setup: newton_setup
estimators/boosting_task: metrics
boosting/eval_metrics: find_metrics
boosting/fitting: fit_ensemble begin_rounds
losses/logistic: start
codes/coding: code
codes/binned: find_bins
codes/bins: cut_values
codes/separation: midpoints
codes/coding: with_bins
codes/binned: bin_table code_columns
codes/bins: write
kernels/binning: code_values pack_column
boosting/rounds: __post_init__
shard/shards: local_shards shard_of
shard/shard: __init__
boosting/grower: __init__
boosting/team_growth: suits _make_room
boosting/training: train advance_until_stop
boosting/rounds: advance _begin_round
shard/shards: begin_round
shard/round_shard: begin_round
shard/row_state: differentiate _differentiate
losses/logistic: derivatives
kernels/exponential: logistic_derivatives
shard/row_state: draw prepare_trees
boosting/rounds: _batches
boosting/columns: choice
shard/shards: units
shard/gradient_units: of
boosting/grower: grow _grow_by_team
boosting/options: rules
shard/round_shard: begin_tree
shard/shard: begin
kernels/routing: write_records
boosting/team_growth: grow
shard/shard: frame
kernels/leader: lead begin_tree next_phase
kernels/phases: work_as
kernels/team_rows: sum_piece
kernels/histogram: add_block
kernels/leader: weigh_root
kernels/team_search: search_block
kernels/team_rows: add_up
kernels/team_search: part_and_search
kernels/scan: scan_column keep
kernels/leader: after_search next_by_level begin_split
kernels/branching: branch_one
kernels/team_rows: part_rows
kernels/branching: write_table
kernels/team_rows: move_rows
kernels/leader: after_move join_shares
kernels/branch_growth: place_children grow_branch expand_alone
kernels/team_search: sum_and_search
kernels/team_rows: mark_rows
boosting/rounds: _add_tree _values_of
shard/shards: leaf_sums
shard/round_shard: leaf_sums
shard/shard: leaf_sums
kernels/routing: sum_by_leaf
shard/shards: newton_steps
kernels/newton: newton_values
shard/round_shard: add_leaves
shard/shard: add_to
kernels/routing: add_by_leaf
boosting/rounds: _as_tree
boosting/trees: to_tree
kernels/nodes: preorder link_nodes
kernels/decoding: decode
boosting/history: record
estimators/boosting: _keep
estimators/estimator: model_
model/methods: boosting_model
"""


@dataclass(frozen=True)
class Hop:
    """A function that a fit calls."""

    path: Path
    name: str

    @property
    def package(self) -> str:
        """The folder of the package, or the file in its root."""
        return self.path.relative_to(PACKAGE).parts[0]


def estimators() -> list[type]:
    """All public estimators."""
    names = [name for name in sapwood.__all__ if name.endswith(("Classifier", "Regressor", "Ranker"))]
    return [getattr(sapwood, name) for name in names]


def classes_of(estimator: type) -> list[str]:
    """Classes of this package in the MRO."""
    return [cls.__name__ for cls in estimator.__mro__ if cls.__module__.startswith("sapwood.")]


def hops_of(estimator: type) -> list[Hop]:
    """Functions of the package that a small fit calls, in the order of first calls."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 4)), random.integers(2, size=200)
    options = {"group": [100, 100]} if estimator.__name__.endswith("Ranker") else {}
    model = estimator(n_estimators=2) if hasattr(estimator(), "n_estimators") else estimator()
    model.fit(X, y, **options)  # what is loaded or compiled at first is no part of the walk
    found: dict[Hop, None] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:  # noqa: ARG001 - the signature of a profiler
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE) and not frame.f_code.co_name.startswith("<"):
            found.setdefault(Hop(path, frame.f_code.co_qualname))

    watched(note, lambda: model.fit(X, y, **options))
    return list(found)


def watched(note: Callable[[FrameType, str, Any], None], call: Callable[[], Any]) -> None:
    """Call with a profiler."""
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)


def n_switches(hops: list[Hop]) -> int:
    """How often a function is in another package than the one before it."""
    return sum(one.package != other.package for one, other in pairwise(hops))


def private_accesses() -> Iterator[tuple[Path, int, str]]:
    """File, line and expression of each use of another package's private name."""
    trees = {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}
    defined: dict[str, set[str]] = {}
    for path, tree in trees.items():
        defined.setdefault(Hop(path, "").package, set()).update(_definitions(tree))
    for path, tree in trees.items():
        package = Hop(path, "").package
        elsewhere = set().union(*(names for other, names in defined.items() if other != package)) - defined[package]
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in elsewhere and _is_private(node):
                yield path.relative_to(PACKAGE), node.lineno, ast.unparse(node)


def _definitions(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_own(node.value):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _is_private(node: ast.Attribute) -> bool:
    is_hidden = node.attr.startswith("_") and not node.attr.startswith("__") and node.attr not in FIELDS_OF_TUPLES
    return is_hidden and not _is_own(node.value)


def _is_own(node: ast.expr) -> bool:
    """Whether it is self, cls or super()."""
    if isinstance(node, ast.Call):
        node = node.func
    return isinstance(node, ast.Name) and node.id in ("self", "cls", "super")


def listed_walk(text: str) -> list[Hop]:
    """The functions of a walk that is listed by hand, each of which must exist."""
    hops = []
    for line in text.split("\n"):
        place, _, names = line.partition(": ")
        if place:
            path = PACKAGE / f"{place}.py"
            known = {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}
            absent = set(names.split()) - known
            if absent:
                raise SystemExit(f"{place}.py has no {', '.join(sorted(absent))}. Correct NEWTON_WALK.")
            hops += [Hop(path, name) for name in names.split()]
    return hops


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hops", metavar="ESTIMATOR", help="print the functions of one fit")
    chosen = parser.parse_args().hops
    if chosen is not None:
        for hop in hops_of(getattr(sapwood, chosen)):
            print(f"{hop.path.relative_to(PACKAGE)}: {hop.name}")
        return
    print(f"{'':28}{'classes':>9}{'functions':>11}{'hops':>6}{'switches':>10}")
    for estimator in estimators():
        hops = hops_of(estimator)
        own = [hop for hop in hops if hop.package == "estimators"]
        sizes = f"{len(classes_of(estimator)):>9}{len(own):>11}{len(hops):>6}{n_switches(hops):>10}"
        print(f"{estimator.__name__:28}{sizes}")
    walk = listed_walk(NEWTON_WALK)
    print(f"\nOne row through a Newton fit to its leaf: {len(walk)} hops, {n_switches(walk)} package switches")
    found = list(private_accesses())
    print(f"\n{len(found)} private accesses across packages")
    for path, line, text in found:
        print(f"  {path}:{line}: {text}")


if __name__ == "__main__":
    main()
