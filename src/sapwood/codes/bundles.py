"""Bundles: columns of few values share a byte, so that a row of many flags is summed up by a few additions.

A code of a bundle stands for one of the combinations of codes that occur in the table. Forty flags of which one is set
have forty combinations. Sums of a column follow from those of its bundle: add up the combinations with the same code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sapwood.kernels.binning import join_codes, mark_pairs
from sapwood.threads import blocks, run_all

FEW = 16  # codes of a column that may share a byte
LEAST_ROWS = 4096  # a table of fewer rows is summed up quickly anyway
LINE = 4  # sums of codes in a line of the cache
BLOCK = 1 << 16
Codes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Bundles:
    """Where columns are: `codes[bundle_of[j]]` holds column j itself, or combinations, which `meanings` decodes."""

    codes: Sequence[Codes]  # of each bundle, (rows,)
    sizes: NDArray[np.int64]  # codes of each bundle, 0 included
    bundle_of: NDArray[np.int64]
    meaning_of: NDArray[np.int64]  # of each column: its row in `meanings`, or -1
    meanings: Codes  # (columns that share a byte, 256)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the sums of each begin, and where the last ones end."""
        return spaced(self.sizes)


@dataclass(eq=False)
class _Bundle:
    """Some columns, and the combination that each row has."""

    columns: list[int]
    codes: Codes
    meanings: list[Codes]  # code of each column in every combination


def spaced(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where histograms of these sizes begin, and where the last one ends: each has an odd number of lines of 4 cells.

    With a power of two, cells of the same code would share the lines of a cache, and a load would wait for stores to
    the column before. Most cells of some tables have the same code: their histograms took ten times as long.
    """
    lines = -(-sizes // LINE) | 1
    return np.concatenate([[0], np.cumsum(LINE * lines)]).astype(np.int64)


def separate(columns: Codes, n_codes: NDArray[np.int64]) -> Bundles:
    """Every column by itself."""
    n = len(columns)
    return Bundles(list(columns), n_codes + 1, np.arange(n), np.full(n, -1), np.empty((0, 256), dtype=np.uint8))


def find_bundles(columns: Codes, n_codes: NDArray[np.int64], n_jobs: int = 1) -> Bundles:
    """Put columns of few codes together, one after the other, as long as their combinations fit into a byte."""
    bundles = [_Bundle([j], columns[j], []) for j in np.flatnonzero(n_codes > FEW).tolist()]
    last: _Bundle | None = None
    for j in np.flatnonzero(n_codes <= FEW).tolist():
        joined = None if last is None else _join(last, j, columns[j], n_jobs)
        if joined is None:
            last = _Bundle([j], columns[j], [np.arange(256, dtype=np.uint8)])
            bundles.append(last)
        else:
            bundles[-1] = last = joined
    if len(bundles) == len(columns):
        return separate(columns, n_codes)  # in the order of the columns, which others rely on where no byte is shared
    return _described(bundles, n_codes)


def is_worth_it(n_rows: int, n_codes: NDArray[np.int64]) -> bool:
    """Whether a table has enough rows, and columns of few codes, to look for bundles."""
    return n_rows >= LEAST_ROWS and int((n_codes <= FEW).sum()) > 1


def _join(bundle: _Bundle, j: int, column: Codes, n_jobs: int) -> _Bundle | None:
    """The bundle with one more column, or None if there are too many combinations."""
    seen = np.zeros((256, 256), dtype=np.uint8)
    pieces = blocks(len(column), BLOCK)
    first = mark_pairs(bundle.codes, column, *pieces[0], seen)
    if first > 256:
        return None
    run_all([partial(mark_pairs, bundle.codes, column, *piece, seen) for piece in pieces[1:]], n_jobs)
    pairs = np.flatnonzero(seen)
    if len(pairs) > 256:
        return None
    new_code = np.zeros(256 * 256, dtype=np.uint8)
    new_code[pairs] = np.arange(len(pairs), dtype=np.uint8)
    codes = np.empty_like(column)
    run_all([partial(join_codes, bundle.codes, column, *piece, new_code, codes) for piece in pieces], n_jobs)
    old, own = (pairs >> 8), (pairs & 255).astype(np.uint8)
    meanings = [*(_padded(meaning[old]) for meaning in bundle.meanings), _padded(own)]
    return _Bundle([*bundle.columns, j], codes, meanings)


def _padded(meaning: Codes) -> Codes:
    return np.concatenate([meaning, np.zeros(256 - len(meaning), dtype=np.uint8)])


def _described(bundles: Sequence[_Bundle], n_codes: NDArray[np.int64]) -> Bundles:
    bundle_of, meaning_of = np.empty(len(n_codes), dtype=np.int64), np.full(len(n_codes), -1)
    sizes: list[object] = []
    meanings: list[Codes] = []
    for number, bundle in enumerate(bundles):
        bundle_of[bundle.columns] = number
        if len(bundle.columns) == 1:
            sizes.append(n_codes[bundle.columns[0]] + 1)
            continue
        sizes.append(int(bundle.codes.max()) + 1)
        meaning_of[bundle.columns] = len(meanings) + np.arange(len(bundle.columns))
        meanings += bundle.meanings
    table = np.array(meanings, dtype=np.uint8).reshape(-1, 256)
    return Bundles([bundle.codes for bundle in bundles], np.array(sizes, dtype=np.int64), bundle_of, meaning_of, table)
