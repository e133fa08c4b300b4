"""`python -m sapwood.compilation.helper PART …`: compile large kernels for the process that has started this one.

It compiles others at the same time (`sapwood.kernels._helper`). This process ends when its work is done, or when its
standard input does, because the other process has ended.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from threading import Thread
from typing import Any

import numpy as np
from numba import from_dtype
from numba.core import types

from sapwood.kernels.boosting_records import NODE, RULES
from sapwood.kernels.leader import lead
from sapwood.kernels.round_frame import ROUNDS, TREES
from sapwood.kernels.team_frame import TEAM
from sapwood.kernels.whole_rounds import advance_all

_N_ROWS, _N_COLUMNS = 300, 8

Kinds = tuple[types.Type, ...]


def kinds_of_growth() -> Kinds:
    """Types of the arguments of `lead`."""
    slots, stacks = types.Array(types.int64, 1, "C"), types.Array(types.int64, 2, "C")
    root = types.uint64, types.int64, slots, stacks
    splits = types.Array(types.boolean, 1, "C")
    return types.Array(from_dtype(NODE), 1, "C"), splits, *root, from_dtype(TEAM.dtype), from_dtype(RULES)


def kinds_of_rounds() -> Kinds:
    """Types of the arguments of `advance_all`."""
    rules = types.Array(from_dtype(RULES), 1, "C")
    return from_dtype(ROUNDS.dtype), types.Array(types.float64, 1, "C"), rules, rules, from_dtype(TREES.dtype)


def _use_trees() -> None:
    """Grow, prune and use a tree of two classes; and add up the values of two such trees."""
    from sapwood import DecisionTreeClassifier
    from sapwood.predictor.scorer import Scorer
    from sapwood.table import Table

    X = np.arange(_N_ROWS * _N_COLUMNS).reshape(_N_ROWS, _N_COLUMNS) * 389 % 601 / 7.0
    model = DecisionTreeClassifier(ccp_alpha=0.01).fit(X, np.arange(_N_ROWS) * 7 % 11 % 2)
    model.predict_proba(X)
    one = model.model_.trees
    Scorer(replace(one, size=2, term=lambda _: one.term(0))).scores(Table.from_any(X))


def _compile(kernel: Any, kinds: Kinds) -> None:
    kernel.compile(kinds)


PARTS: dict[str, Callable[[], None]] = {
    "growth": lambda: _compile(lead, kinds_of_growth()),
    "rounds": lambda: _compile(advance_all, kinds_of_rounds()),
    "trees": _use_trees,
}


def main() -> None:
    """Compile the parts that the command line names."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the other process
    Thread(target=_end_with_input, daemon=True).start()
    for name in sys.argv[1:]:
        PARTS[name]()


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
