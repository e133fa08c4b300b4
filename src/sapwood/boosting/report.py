"""Reports of training while it goes on: a line now and then."""

from __future__ import annotations

import sys

from sapwood.boosting.training import Callback, Progress


def reporter(every: int) -> Callback:
    """A callback that prints the metrics after every so many rounds, and after the last one."""

    def report(progress: Progress) -> None:
        if progress.round % every and progress.round != progress.n_rounds:
            return
        curves = [(f"{rows}-{name}", curve) for rows, own in progress.history.items() for name, curve in own.items()]
        words = [f"{name} {curve[-1]:.5f}" for name, curve in curves]
        line = "  ".join([f"[{progress.round}/{progress.n_rounds}]", *words, f"{progress.seconds:.1f} s"])
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    return report
