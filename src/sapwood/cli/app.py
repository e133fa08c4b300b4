"""The commands, and how errors end them."""

from __future__ import annotations

import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sapwood.cli.check import check
from sapwood.cli.console import complain, say
from sapwood.cli.cv import cv
from sapwood.cli.demo import demo
from sapwood.cli.evaluate import evaluate
from sapwood.cli.explain import explain
from sapwood.cli.inspect import inspect
from sapwood.cli.notes import warnings_as_notes
from sapwood.cli.options import TracebackOption, wants_traceback
from sapwood.cli.predict import predict
from sapwood.cli.train import train
from sapwood.cli.warmup import warmup
from sapwood.errors import SapwoodError


class Commands(TyperGroup):
    """A group of commands in which an error raised on purpose is one line and exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            with warnings_as_notes():
                return super().invoke(ctx)
        except SapwoodError as error:
            if wants_traceback(ctx):
                traceback.print_exc()
            else:
                complain(str(error))
            raise typer.Exit(1) from error


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Tree-based machine learning on data files.",
)
for command in (demo, train, predict, evaluate, explain, cv, inspect, check, warmup):
    app.command()(command)


def _show_version(value: bool) -> None:
    if value:
        from sapwood import __version__

        say(f"sapwood {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, expose_value=False, help="Show the version."),
    ] = False,
    _traceback: TracebackOption = False,
) -> None:
    """Tree-based machine learning on data files."""
