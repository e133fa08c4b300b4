"""Digests of rows: parts add up to the whole, and any change is seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from row_parts.part_cases import cuts
from sapwood.table.digest import RowDigest, digest_numbers, digest_table, text_of_table
from sapwood.table.table import Table
from strategies import examples


def numbers(n: int) -> np.ndarray:
    X = np.random.default_rng(n).integers(-2, 3, size=(n, 3)).astype(np.float64)
    X[::7, 1] = np.nan
    return X


@examples
@given(st.integers(0, 40), st.booleans(), st.data())
def test_digests_of_parts_add_up(n: int, is_sparse: bool, data: st.DataObject) -> None:
    X = numbers(n + 1)
    table = Table.from_any(sparse.csr_matrix(X) if is_sparse else X)
    total = RowDigest()
    for of in data.draw(cuts(n + 1)):
        if of.stop > of.start:
            total += RowDigest.of_table(table.take(np.arange(of.start, of.stop)), of.start)
    assert text_of_table(total, table) == digest_table(table)
    y = X[:, 0]
    parts = [RowDigest.of_numbers(y[of], of.start) for of in data.draw(cuts(n + 1))]
    assert sum(parts, RowDigest()) == RowDigest.of_numbers(y)


def test_threads_and_layout_do_not_matter() -> None:
    X = numbers(20_000)
    table, frame = Table.from_any(X), Table.from_any(np.asfortranarray(X))
    digest = RowDigest.of_table(table)
    assert digest == RowDigest.of_table(table, n_jobs=2) == RowDigest.of_table(frame)
    assert digest == RowDigest.of_table(Table.from_any(sparse.csr_matrix(X)))


def test_any_change_is_seen() -> None:
    X = numbers(30)
    known = {digest_table(Table.from_any(X))}
    changed = [np.roll(X, 1, axis=0), X[:, ::-1], X[:-1], np.vstack([X, X[:1]]), X[[1, 0, *range(2, 30)]]]
    for row in (0, 29):
        for value in (0.5, np.nan, -np.inf):
            changed.append(X.copy())
            changed[-1][row, 2] = value
    known |= {digest_table(Table.from_any(np.ascontiguousarray(own))) for own in changed}
    assert len(known) == 1 + len(changed)
    frames = [pd.DataFrame({"a": list(text)}, dtype="category") for text in ("xyx", "yxy", "xyy", "xyz")]
    assert len({digest_table(Table.from_any(frame)) for frame in frames}) == 4
    y = np.arange(4.0)
    given = [(y,), (y[::-1].copy(),), (y, None), (None, y), (y, y), (np.zeros(4),), (None,), (y[:, None],)]
    assert len({digest_numbers(*arrays) for arrays in given}) == len(given)


def test_rows_of_zeros_are_counted() -> None:
    assert digest_numbers(np.zeros(3)) != digest_numbers(np.zeros(4))
