"""`sapwood warmup`: compile kernels now, so that no later call has to."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from sapwood.cli.console import count, say
from sapwood.cli.options import TracebackOption


def warmup(
    model: Annotated[
        Path | None, typer.Option("--model", help="Compile only what this model needs, to predict and to fit again.")
    ] = None,
    predict_only: Annotated[
        bool, typer.Option("--predict-only", help="Compile only what the model needs to predict.")
    ] = False,
    n_jobs: Annotated[int | None, typer.Option("--n-jobs", help="Processes; by default one for each core.")] = None,
    _traceback: TracebackOption = False,
) -> None:
    """Compile kernels now, so that no later call has to wait for it."""
    from sapwood.compilation.warm import run_warmup

    start = time.perf_counter()
    with count("compiling") as told:
        run_warmup(model, n_jobs, predict_only, told)
    say(f"The kernels are compiled ({time.perf_counter() - start:.1f} s).")
