"""Peak memory of one fit, in MB: a program that `measure.peak_megabytes` starts.

Linux only. The high-water mark is that of the address space (VmHWM), reset right before the fit: `ru_maxrss` would
begin with the peak of the process that started this one.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from models import make_model

HIGHEST, PRESENT = "VmHWM", "VmRSS"


def main(library: str, task: str, folder: str, *settings: str) -> None:
    """Print the difference between the peak during the fit and the memory held before it."""
    pairs = dict(setting.split("=") for setting in settings)
    parameters = {name: None if value == "None" else int(value) for name, value in pairs.items()}
    X, y = (np.load(Path(folder) / f"{name}.npy") for name in "Xy")
    make_model(library, task, **parameters).fit(X[:1000], y[:1000])  # all of the compiled code is loaded here
    Path("/proc/self/clear_refs").write_text("5")
    before = status(PRESENT)
    model = make_model(library, task, **parameters).fit(X, y)
    print((status(HIGHEST) - before) / 1024)
    del model


def status(name: str) -> int:
    """A figure of this process in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


if __name__ == "__main__":
    main(*sys.argv[1:])
