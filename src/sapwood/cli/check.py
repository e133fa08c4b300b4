"""`sapwood check`: whether new rows are like those that a model was trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sapwood.cli.console import say
from sapwood.cli.options import DelimiterOption, DropOption, EncodingOption, TracebackOption


def check(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    new: Annotated[Path, typer.Option("--input", help="CSV or Parquet file of new rows.")],
    drop: DropOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    every: Annotated[bool, typer.Option("--all", help="Show all columns, also of wide tables.")] = False,
    _traceback: TracebackOption = False,
) -> None:
    """Compare new rows with the training data of a model, column by column. Exit code 1 if anything is conspicuous."""
    from sapwood.cli.layout import Layout
    from sapwood.cli.model_rows import model_rows
    from sapwood.cli.saved_model import read_model
    from sapwood.table.comparison import SHOWN

    saved = read_model(model)
    found = saved.estimator.schema_.compare(model_rows(saved, new, Layout(delimiter, encoding), drop or ()))
    for line in found.text(None if every else SHOWN).splitlines():
        say(line)
    if found.is_conspicuous:
        raise typer.Exit(1)
