"""Peak memory of one fit of boosted trees, in MB: a program that `Contender.peak` starts. Linux only."""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace
from pathlib import Path

from boosters import first_rows
from peak_memory import HIGHEST, PRESENT, status

_FEW_ROWS, _FEW_ROUNDS = 70_000, 2  # enough rows for the kernels that the fit itself uses


def main(path: str) -> None:
    """Print the difference between the peak during the fit and the memory held before it."""
    with Path(path).open("rb") as file:
        booster, settings, X, y = pickle.load(file)
    # all of the compiled code is loaded here
    booster.fit(*first_rows(X, y, _FEW_ROWS), replace(settings, rounds=_FEW_ROUNDS))
    Path("/proc/self/clear_refs").write_text("5")
    before = status(PRESENT)
    model = booster.fit(X, y, settings)
    print((status(HIGHEST) - before) / 1024)
    del model


if __name__ == "__main__":
    main(*sys.argv[1:])
