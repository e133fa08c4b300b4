"""`sapwood.warmup`: compile kernels now, so that no later call has to wait for it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from sapwood.compilation.model_use import model_uses
from sapwood.compilation.uses import uses
from sapwood.compilation.workers import share_out
from sapwood.errors import ParameterError
from sapwood.kernels._cache import can_store
from sapwood.parameters import check_parameters
from sapwood.progress_bar import ProgressBar, Shown
from sapwood.threads import JOBS, available_cores, resolve_jobs

MOST_PROCESSES = 8  # each takes about a gigabyte

Report = Callable[[str, int, int], None]


def warmup(model: object = None, *, n_jobs: int | None = None, predict_only: bool = False) -> None:
    """Compile kernels now and keep them on disk, so that no later call, in this process or another, has to wait.

    Args:
        model: a fitted estimator of the library or the path of a model file. Only what this model needs to predict,
            and to be fitted again on such data, is compiled. Without a model, the kernels of all estimators are: each
            option with each kind of target, though not with every other option.
        n_jobs: processes that compile; None is one for each core, at most 8. A single model is compiled in this
            process.
        predict_only: compile only what the model needs to predict.

    Kernels depend on the processor: run it on the kind of machine that will use them, for example when an image is
    built. A bar on the standard error shows how far it is, unless SAPWOOD_QUIET=1.
    """
    with ProgressBar(os.environ.get("SAPWOOD_QUIET", "0") in ("", "0")) as bar:
        start = time.perf_counter()
        run_warmup(
            model,
            n_jobs,
            predict_only,
            lambda _, done, wanted: bar(Shown(done, wanted, time.perf_counter() - start, {})),
        )


def run_warmup(model: object, n_jobs: int | None, predict_only: bool, report: Report) -> None:
    """Compile; `report` gets the name of each use that is done, the number done and the total."""
    check_parameters("warmup", {"n_jobs": JOBS}, {"n_jobs": n_jobs})
    if model is not None:
        _run_here(model_uses(model, predict_only), report)
        return
    if predict_only:
        raise ParameterError(
            "predict_only=True needs a model, whose kernels of prediction are then compiled. Give model=… (on the "
            "command line --model FILE), or leave out predict_only."
        )
    wanted = uses()
    jobs = min(available_cores(), MOST_PROCESSES) if n_jobs is None else resolve_jobs(n_jobs)
    if jobs > 1 and can_store():
        share_out(list(wanted), jobs, report)
    else:  # what other processes compile could not be kept for this one
        _run_here(wanted, report)


def _run_here(wanted: Mapping[str, Callable[[], None]], report: Report) -> None:
    for done, (name, use) in enumerate(wanted.items(), start=1):
        use()
        report(name, done, len(wanted))
