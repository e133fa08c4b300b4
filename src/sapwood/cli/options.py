"""Options that commands share, each declared once: fields of dataclasses, which commands take as parameters."""

from __future__ import annotations

import codecs
import inspect
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from sapwood.cli.model_kinds import KINDS
from sapwood.errors import ParameterError
from sapwood.sources.csv_format import CsvFormat

MODEL_FILES = (".sapwood", ".json")
_TRACEBACK = "sapwood.traceback"
_KIND_NAMES = ", ".join(KINDS)


class Task(StrEnum):
    """Classes, numbers, or whichever the target looks like."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


@dataclass(frozen=True, kw_only=True)
class FileFormat(CsvFormat):
    """Format of a data file; None for what is to be detected."""

    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="Delimiter of the CSV file, or tab. Detected by default.")
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            help="Encoding of the CSV file, such as cp1252. [default: utf-8, or utf-16 if so marked]",
        ),
    ] = None
    no_header: Annotated[
        bool,
        typer.Option("--no-header", help="The CSV file has no header; columns are named column1, column2 and so on."),
    ] = False
    day_first: Annotated[
        bool | None,
        typer.Option("--day-first/--month-first", help="How to read ambiguous dates such as 03/04/2024."),
    ] = None

    def option(self, name: str, value: str = "") -> str:
        """How an option is written on the command line."""
        return f"--{name.replace('_', '-')} {value}".strip()

    def __post_init__(self) -> None:
        if self.encoding is None:
            return
        try:
            codecs.lookup(self.encoding)
        except LookupError as error:
            raise ParameterError(
                f"--encoding {self.encoding!r} is not known. Use one such as utf-8, cp1252, latin-1 or utf-16."
            ) from error


DETECTED = FileFormat()

DropOption = Annotated[
    list[str],
    typer.Option("--drop", metavar="COLUMN", help="Column to ignore, or several separated by commas. Repeatable."),
]


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """Columns to ignore in a data file of new rows, and its format."""

    drop: DropOption = field(default_factory=list)
    file_format: FileFormat = DETECTED


FileOrKindOption = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="FILE|KIND",
        help=f"Model file written by sapwood train --out; or, with --train, the kind of model: {_KIND_NAMES}.",
    ),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="COLUMN", help="Column of the input to copy to the output. Repeatable."),
]
ModelFile = Annotated[Path, typer.Argument(help="Model file.", show_default=False)]
TrainFile = Annotated[Path | None, typer.Option("--train", help="CSV or Parquet file to train on.")]


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """What to train, and the roles of the columns of a data file."""

    target: Annotated[str, typer.Option("--target", help="Column to predict.")]
    model: Annotated[str, typer.Option("--model", help=f"Kind of model: {_KIND_NAMES}.")] = "tree"
    task: Annotated[Task, typer.Option("--task", help="Task; auto chooses it by the target's values.")] = Task.AUTO
    settings: Annotated[
        list[str],
        typer.Option("--set", metavar="NAME=VALUE", help="Parameter of the model, such as max_depth=4. Repeatable."),
    ] = field(default_factory=list)
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Random seed.")] = 0
    weight: Annotated[str | None, typer.Option("--weight", metavar="COLUMN", help="Column of row weights.")] = None
    drop: DropOption = field(default_factory=list)
    category: Annotated[
        list[str],
        typer.Option("--category", metavar="COLUMN", help="Numeric column to treat as categorical. Repeatable."),
    ] = field(default_factory=list)
    file_format: FileFormat = DETECTED
    drop_missing_target: Annotated[
        bool, typer.Option("--drop-missing-target", help="Ignore rows whose target is missing.")
    ] = False

    def __post_init__(self) -> None:
        if self.target in (self.weight, *self.drop, *self.category):
            raise ParameterError(
                f"--target {self.target!r} is also given to --weight, --drop or --category. Give it to one of them."
            )
        shared = next((name for name in self.category if name in (self.weight, *self.drop)), None)
        if shared is not None:
            raise ParameterError(f"--category {shared!r} is also given to --weight or --drop. Give it to one of them.")


@dataclass(frozen=True, kw_only=True)
class BatchOptions:
    """How rows are trained on that are read batch by batch."""

    max_memory: Annotated[
        str | None,
        typer.Option(
            "--max-memory",
            metavar="SIZE",
            help="Read in batches, and take no more memory than this, such as 8GB. [default: 70 % of what is free]",
        ),
    ] = None
    scratch: Annotated[
        Path | None,
        typer.Option("--scratch", metavar="FOLDER", help="Read in batches, with scratch files in this folder."),
    ] = None
    plan: Annotated[bool, typer.Option("--plan", help="Only print what training in batches would take.")] = False
    validation: Annotated[
        Path | None,
        typer.Option("--validation", metavar="FILE", help="Read in batches, and measure rounds on these rows."),
    ] = None

    @property
    def is_given(self) -> bool:
        """Whether any of them is."""
        return self != BatchOptions()


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A command for typer: dataclasses among its parameters are replaced by their fields, and --traceback is added.

    A parameter of the command itself takes the place of a field of the same name, which gets its value.
    """
    own = inspect.signature(function, eval_str=True).parameters

    @wraps(function)
    def run(**values: object) -> None:
        function(**{name: _value(each.annotation, name, values) for name, each in own.items()})

    flat = {each.name: each for each in _flat(own.values())}
    flat |= {name: each for name, each in own.items() if name in flat} | {"_traceback": _TRACEBACK_PARAMETER}
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in flat.values()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _flat(parameters: Iterable[inspect.Parameter]) -> Iterator[inspect.Parameter]:
    """Parameters, with fields in the place of dataclasses."""
    for each in parameters:
        if is_dataclass(each.annotation):
            yield from _flat(_fields(each.annotation))
        else:
            yield each


def _fields(options: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(options, include_extras=True)
    for each in fields(options):
        default = inspect.Parameter.empty if each.default is MISSING else each.default
        if each.default_factory is not MISSING:
            default = each.default_factory()
        yield inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[each.name])


def _value(kind: Any, name: str, values: Mapping[str, object]) -> object:
    """The value of a parameter: as typer gives it, or a dataclass of such values."""
    if not is_dataclass(kind):
        return values[name]
    new: Callable[..., object] = kind  # type: ignore[assignment]
    return new(**{each.name: _value(each.annotation, each.name, values) for each in _fields(kind)})


def _remember_traceback(context: typer.Context, value: bool) -> None:
    if value:
        context.meta[_TRACEBACK] = True


TracebackOption = Annotated[
    bool,
    typer.Option(
        "--traceback",
        callback=_remember_traceback,
        expose_value=False,
        help="Show the traceback of an error, as SAPWOOD_TRACEBACK=1 does.",
    ),
]
_TRACEBACK_PARAMETER = inspect.Parameter(
    "_traceback", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=TracebackOption
)


def wants_traceback(context: Any) -> bool:
    """Whether the option or the environment requests tracebacks."""
    return bool(context.meta.get(_TRACEBACK)) or os.environ.get("SAPWOOD_TRACEBACK", "0") not in ("", "0")


def chosen_file(context: typer.Context, model: str, train: Path | None, of_training: Collection[str]) -> Path | None:
    """The model file to use, or None if a model is to be trained.

    With `train`, the model is a kind unless it has the extension of a model file. Parameters named by `of_training`
    have no meaning for a model file, and are refused.
    """
    if train is not None:
        if Path(model).suffix.lower() in MODEL_FILES:
            raise typer.BadParameter(
                "Give either a model file with --model or data to train on with --train, not both. The kind of model "
                f"to train is one of {_KIND_NAMES}."
            )
        return None
    if not given_options(context, ["model"]):
        raise typer.BadParameter("Give either a model file with --model or data to train on with --train.")
    if model in KINDS:
        raise typer.BadParameter(
            f"--model {model} is a kind of model, which needs data to train on with --train. To use a model file of "
            f"that name, write ./{model}."
        )
    refused = given_options(context, of_training)
    if refused:
        raise typer.BadParameter(f"The model file is trained already. Leave out {' and '.join(refused)}.")
    return Path(model)


def given_options(context: typer.Context, names: Collection[str]) -> list[str]:
    """Options among these parameters that were given on the command line."""
    return [
        option.opts[0]
        for option in context.command.params
        if option.name in names and str(context.get_parameter_source(option.name)).endswith("COMMANDLINE")
    ]
