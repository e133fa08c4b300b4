"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from sapwood.cli.task import Task

_TRACEBACK = "sapwood.traceback"


def wants_traceback(context: Any) -> bool:
    """Whether the option or the environment asks for tracebacks."""
    return bool(context.meta.get(_TRACEBACK)) or os.environ.get("SAPWOOD_TRACEBACK", "0") not in ("", "0")


def _remember_traceback(context: typer.Context, value: bool) -> None:
    if value:
        context.meta[_TRACEBACK] = True


TracebackOption = Annotated[
    bool,
    typer.Option(
        "--traceback",
        callback=_remember_traceback,
        expose_value=False,
        help="Show where an error arose. SAPWOOD_TRACEBACK=1 does the same.",
    ),
]
TrainFile = Annotated[Path | None, typer.Option("--train", help="CSV or Parquet file to train on.")]
TargetOption = Annotated[str, typer.Option("--target", help="Column to predict.")]
_KINDS = "tree, forest, extra-trees, bagging, adaboost, boosting or gradient-boosting"
ModelOption = Annotated[str, typer.Option("--model", help=f"Kind of model: {_KINDS}.")]
SourceOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="FILE|KIND",
        help=f"Model file that sapwood train --out wrote; or with --train, the kind of model: {_KINDS}. "
        "[default: tree]",
    ),
]
TaskOption = Annotated[Task, typer.Option("--task", help="What the target is; auto looks at it.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the model, such as max_depth=4. Repeatable."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of everything random.")]
WeightOption = Annotated[str | None, typer.Option("--weight", metavar="COLUMN", help="Column of row weights.")]
DropOption = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Column to leave out, or several between commas. Repeatable."),
]
CategoryOption = Annotated[
    list[str] | None,
    typer.Option("--category", metavar="COLUMN", help="Column of numbers that are categories. Repeatable."),
]
DelimiterOption = Annotated[
    str | None, typer.Option("--delimiter", help="Character between the values of a CSV file; guessed if not given.")
]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", help="Encoding of a CSV file, such as cp1252. [default: utf-8, or what its mark says]"),
]
NoHeaderOption = Annotated[
    bool,
    typer.Option("--no-header", help="The CSV file has no line of column names; they are column1, column2 and so on."),
]
DayFirstOption = Annotated[
    bool | None,
    typer.Option(
        "--day-first/--month-first", help="What comes first in dates such as 03/04/2024, where no value shows it."
    ),
]
DropMissingOption = Annotated[
    bool, typer.Option("--drop-missing-target", help="Leave out rows whose target is missing.")
]
