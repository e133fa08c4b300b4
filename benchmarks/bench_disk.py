"""Training on rows larger than memory: seconds of a tree and peak memory, beside other libraries.

    python benchmarks/bench_disk.py [--rows 20000000] [--memory 1GB] [--rounds 6] [--cases memory disk]

Rows of 28 columns (float32) and two classes are made block by block and written to Parquet files in a temporary folder
(`--folder` keeps them). Each case runs in a process of its own: "memory" trains in memory, "disk" within `--memory`,
"cold" the same with the scratch files dropped from the system's cache after each round. XGBoost trains by
ExtMemQuantileDMatrix, LightGBM from mapped files by Sequence; neither can be told how much memory to take. All train
trees of depth 6 on 255 bins with two threads. A tree is the median of the rounds after the first; setup is everything
before them. Memory is the peak beyond what the process had before it began to read.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.lib.format import open_memmap

FEATURES, FILE_ROWS, GROUP_ROWS = 28, 1_000_000, 131_072
CASES = {
    "memory": ("sapwood", "-", "warm"),
    "disk": ("sapwood", "", "warm"),
    "cold": ("sapwood", "", "cold"),
    "xgboost": ("xgboost", "-", "warm"),
    "lightgbm": ("lightgbm", "-", "warm"),
}
"""Library, memory ("": what the option says), and whether files are dropped from the cache."""


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="bench-disk-"))
    try:
        write_rows(folder, options.rows, "lightgbm" in options.cases)
        race(folder, options)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


def write_rows(folder: Path, n_rows: int, with_arrays: bool) -> None:
    """Files of rows, unless they are there."""
    (folder / "scratch").mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=FEATURES)
    for number, start in enumerate(range(0, n_rows, FILE_ROWS)):
        n, path = min(FILE_ROWS, n_rows - start), folder / f"part-{number:03d}.parquet"
        block = np.random.default_rng(number).normal(size=(n, FEATURES)).astype(np.float32)
        score = block @ weights / 3.0 + np.sin(3.0 * block[:, 0]) + block[:, 1] * block[:, 2]
        y = (score + np.random.default_rng([number, 1]).logistic(size=n) > 0).astype(np.int8)
        if not path.exists():
            names = [*(f"x{j}" for j in range(FEATURES)), "y"]
            pq.write_table(pa.table([*block.T, y], names=names), path, row_group_size=GROUP_ROWS, compression="none")
        if with_arrays and not path.with_suffix(".npy").exists():
            open_memmap(path.with_suffix(".npy"), "w+", block.dtype, block.shape)[:] = block


def race(folder: Path, options: argparse.Namespace) -> None:
    """Run every case and print it."""
    size = sum(path.stat().st_size for path in folder.glob("*.parquet")) / 1e9
    print(f"{options.rows:,} x {FEATURES}, Parquet of {size:.2f} GB, {options.rounds} rounds, two threads")
    print(f"{'case':10s} {'setup s':>8s} {'tree s':>8s} {'of memory':>9s} {'peak GB':>8s}  fingerprint")
    base = None
    for case in options.cases:
        library, memory, cache = CASES[case]
        arguments = [library, str(folder), str(options.rounds), memory or options.memory, cache]
        worker = [sys.executable, str(Path(__file__).with_name("disk_worker.py")), *arguments]
        done = subprocess.run(worker, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{case:10s} failed: {(done.stderr.strip().splitlines() or [done.returncode])[-1]}", flush=True)
            continue
        found = json.loads(done.stdout.strip().splitlines()[-1])
        base = found["tree"] if base is None else base
        mark = done.stderr.strip().splitlines()[-1][:12] if library == "sapwood" else ""
        print(
            f"{case:10s} {found['setup']:8.1f} {found['tree']:8.3f} {found['tree'] / base:9.2f} "
            f"{found['peak'] / 1e9:8.2f}  {mark}",
            flush=True,
        )


if __name__ == "__main__":
    main()
