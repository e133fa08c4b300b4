"""The commands, how their errors and warnings are printed, and the two shortest commands: check and warmup."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from sapwood.cli.console import counting_bar, print_error, print_line, print_note
from sapwood.cli.cv import cv
from sapwood.cli.demo import demo
from sapwood.cli.encode import encode
from sapwood.cli.evaluate import evaluate
from sapwood.cli.explain import explain
from sapwood.cli.inspect import inspect
from sapwood.cli.options import (
    InputOptions,
    ModelFile,
    TracebackOption,
    command,
    wants_traceback,
)
from sapwood.cli.predict import predict
from sapwood.cli.train import train
from sapwood.errors import DataDriftWarning, SapwoodError


class Commands(TyperGroup):
    """A group of commands whose errors of this library are printed as one line, with exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            with warnings_as_notes():
                return super().invoke(ctx)
        except SapwoodError as error:
            if wants_traceback(ctx):
                traceback.print_exc()
            else:
                print_error(str(error))
            raise typer.Exit(1) from error


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings for users as lines of text: equal ones once, and one of drift; others as Python does."""
    printed: set[object] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, UserWarning):
            default(message, category, filename, lineno, file, line)
            return
        key: object = DataDriftWarning if isinstance(message, DataDriftWarning) else str(message)
        if key in printed:
            return
        printed.add(key)
        if isinstance(message, DataDriftWarning):
            print_note(f"{message.summary} sapwood check MODEL --input FILE shows the figures.")
        else:
            print_note(str(message))

    with warnings.catch_warnings():
        default, warnings.showwarning = warnings.showwarning, show
        warnings.simplefilter("always", DataDriftWarning)
        yield


def check(
    model: ModelFile,
    new: Annotated[Path, typer.Option("--input", help="CSV or Parquet file of new rows.")],
    options: InputOptions,
    every: Annotated[bool, typer.Option("--all", help="Show all columns, even of wide tables.")] = False,
) -> None:
    """Compare new rows with training data.

    Compares the rows column by column with those that the model was trained on. The exit code is 1 if any column
    is conspicuous.
    """
    from sapwood.cli.model_file import read_model
    from sapwood.table.comparison import SHOWN

    saved = read_model(model)
    found = saved.model.schema.compare(saved.read_rows(new, options))
    for line in found.text(None if every else SHOWN).splitlines():
        print_line(line)
    if found.is_conspicuous:
        raise typer.Exit(1)


def warmup(
    model: Annotated[
        Path | None, typer.Option("--model", help="Compile only what this model file needs to predict and refit.")
    ] = None,
    predict_only: Annotated[
        bool, typer.Option("--predict-only", help="Compile only what the model needs to predict.")
    ] = False,
    n_jobs: Annotated[
        int | None, typer.Option("--jobs", "--n-jobs", help="Number of processes. [default: one per core]")
    ] = None,
) -> None:
    """Compile kernels now.

    Later calls then need not wait for it, for example if this is run while an image is built.
    """
    from sapwood.compilation.warm import run_warmup

    start = time.perf_counter()
    with counting_bar("compiling") as show:
        run_warmup(model, n_jobs, predict_only, show)
    print_line(f"The kernels are compiled ({time.perf_counter() - start:.1f} s).")


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Tree-based machine learning on data files.",
)
for each in (demo, train, encode, predict, evaluate, explain, cv, inspect, check, warmup):
    app.command()(command(each))


def _print_version(value: bool) -> None:
    if value:
        from sapwood import __version__

        print_line(f"sapwood {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, expose_value=False, help="Show the version and exit."
        ),
    ] = False,
    _traceback: TracebackOption = False,
) -> None:
    """Tree-based machine learning on data files."""
