"""`sapwood check`: whether new rows are like those that a model was trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sapwood.cli.console import say
from sapwood.cli.options import DelimiterOption, DropOption, TracebackOption


def check(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    new: Annotated[Path, typer.Option("--input", help="CSV or Parquet file of new rows.")],
    drop: DropOption = None,
    delimiter: DelimiterOption = None,
    every: Annotated[bool, typer.Option("--all", help="Show all columns, also of wide tables.")] = False,
    _traceback: TracebackOption = False,
) -> None:
    """Compare new rows with the training data of a model, column by column. Exit code 1 if anything is conspicuous."""
    from sapwood.cli import data
    from sapwood.cli.saved_model import known_sample, read_model, require_model_columns
    from sapwood.table.comparison import SHOWN

    estimator = read_model(model)
    rows = data.read_table(new, delimiter, text=known_sample(estimator).text_columns)
    data.require_columns(rows, drop or (), "--drop", new)
    rows = rows.drop_columns(list(drop or ()))
    require_model_columns(rows, estimator, new)
    found = estimator.schema_.compare(rows)
    for line in found.text(None if every else SHOWN).splitlines():
        say(line)
    if found.is_conspicuous:
        raise typer.Exit(1)
