"""Thousands of files that were tampered with: each is refused, or is a model that works, by `load` and `load_model`.

    python tests/files/fuzz.py --files 200000 --seed 0

File i depends on the seed and on i alone. A process of its own reads them (`tampered.py`), so that a crash is found,
too; the file that it was reading is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
IN_MEMORY = Path("/dev/shm")  # where files take no time of the disk


def run(n_files: int, seed: int = 0, keep: Path | None = None) -> dict[str, Any]:
    """Read so many files in another process; goes on behind a file that ends it."""
    total: dict[str, Any] = {"files": n_files, "counts": Counter(), "findings": [], "bytes": 0, "ratio": 0.0}
    first = 0
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as name:
        while first < n_files:
            first = _run_from(first, n_files, seed, Path(name), total, keep)
    return total


def _run_from(first: int, n_files: int, seed: int, folder: Path, total: dict[str, Any], keep: Path | None) -> int:
    report = folder / "report"
    for note in (report, folder / "at"):
        note.unlink(missing_ok=True)
    command = [sys.executable, str(HERE / "tampered.py"), str(seed), str(first), str(n_files), str(report)]
    paths = os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    code = subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": paths}).returncode
    told = json.loads(report.read_text()) if report.exists() else {"counts": {}, "findings": [], "bytes": 0, "ratio": 0}
    total["counts"].update(told["counts"])
    total["findings"] += told["findings"]
    total["bytes"], total["ratio"] = max(total["bytes"], told["bytes"]), max(total["ratio"], told["ratio"])
    if code == 0:
        return n_files
    at = int((folder / "at").read_text())  # not there if reading has not even begun
    total["counts"]["crashes"] += 1
    total["findings"].append([at, f"the process ended with {code}"])
    if keep is not None:
        shutil.copy(folder / "file", keep / f"crash-{seed}-{at}")
    return at + 1


def line(total: dict[str, Any], seed: int) -> str:
    """What came out of it, in one line."""
    counts = total["counts"]
    return (
        f"{total['files']} files (seed {seed}): {counts['refused']} refused, {counts['accepted']} accepted and used, "
        f"{counts['predictors']} more by load_model, "
        f"{len(total['findings'])} findings, {counts['crashes']} crashes; loading took at most {total['bytes']} bytes, "
        f"{total['ratio']:.1f} times the file"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    total = run(given.files, given.seed, Path.cwd())
    for number, what in total["findings"][:50]:
        print(f"file {number}: {what}")
    print(line(total, given.seed))
    sys.exit(bool(total["findings"]))


if __name__ == "__main__":
    main()
