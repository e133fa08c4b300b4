"""The arrays of a shard, as kernels see them: records, codes, whole gradients, and the leaf of every row."""

from __future__ import annotations

import numpy as np

from sapwood.kernels.frame import Array, Layout

SHARD = Layout(
    records=Array(np.uint64, 2, "n_rows"),
    columns=Array(np.uint8, "n_columns", "n_rows"),
    n_codes=Array(np.int64, "n_columns"),
    starts=Array(np.int64, "n_starts"),  # where the codes of each column begin in a histogram
    is_category=Array(np.bool_, "n_columns"),
    # Codes of rows, eight bundles in a word:
    words=Array(np.uint64, "n_words"),
    cells=Array(np.uint8, "n_bytes"),  # the same, byte by byte
    words_of_row=np.uint64,
    sizes=Array(np.int64, "n_bundles"),  # codes of each bundle, 0 included
    bundle_starts=Array(np.uint64, "n_bundles"),  # where their wide sums begin; those of columns if each has a byte
    bundle_of=Array(np.int64, "n_columns"),
    table_of=Array(np.int64, "n_columns"),  # its row in `tables`, or -1 if the bundle is the column itself
    tables=Array(np.uint8, "n_tables", 256),  # code of the column for each code of its bundle
    # What a tree may use (`used_columns.py`):
    drawn=Array(np.int64, "n_columns"),
    places=Array(np.uint64, "n_bundles"),
    n_used=Array(np.int64, 2),
    # Gradients, and sums of bundles:
    is_packed=np.bool_,
    block_rows=np.uint64,
    quantized=Array(np.int64, "n_rows", 2),  # if not packed
    packed=Array(np.int64, "n_threads", "n_cells"),  # zero
    bundle_sums=Array(np.int64, "n_threads", "n_wide_cells", "n_sums"),  # zero; no cells if packed or not bundled
    present=Array(np.int64, "n_threads", 256),  # scratch
    # OUT: the node that each row ends in, in one of two arrays:
    is_short=np.bool_,
    short_leaf_of=Array(np.uint16, "n_rows"),
    long_leaf_of=Array(np.uint32, "n_rows"),
)
