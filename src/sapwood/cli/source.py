"""Where the model of a command comes from: a file, or training."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import typer

from sapwood.cli.models import MODELS
from sapwood.cli.saved_model import MODEL_FILES


def chosen_file(
    context: typer.Context, model: str | None, train: Path | None, of_training: Collection[str]
) -> Path | None:
    """The model file to use, or None if a model is to be trained.

    With `train`, the model is a kind unless it has the extension of a model file. Options named by `of_training` have
    no meaning for a model that is trained already, and are refused.
    """
    if train is not None:
        if model is not None and Path(model).suffix.lower() in MODEL_FILES:
            raise typer.BadParameter(
                f"Give either a model file with --model or data to train on with --train, not both. The kind of model "
                f"to train is one of {', '.join(MODELS)}."
            )
        return None
    if model is None:
        raise typer.BadParameter("Give either a model file with --model or data to train on with --train.")
    if model in MODELS:
        raise typer.BadParameter(
            f"--model {model} is a kind of model, which needs data to train on with --train. To use a model file of "
            f"that name, write ./{model}."
        )
    _refuse(context, of_training)
    return Path(model)


def _refuse(context: typer.Context, names: Collection[str]) -> None:
    given = [
        option.opts[0]
        for option in context.command.params
        if option.name in names and str(context.get_parameter_source(option.name)).endswith("COMMANDLINE")
    ]
    if given:
        raise typer.BadParameter(f"The model file is trained already. Leave out {' and '.join(given)}.")
