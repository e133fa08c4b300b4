"""What is said when training goes on from a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sapwood.cli.console import say
from sapwood.counted import counted
from sapwood.errors import SapwoodError


def say_resumption(path: Path) -> None:
    """Say how far the checkpoint is; what cannot be read is left to the training to refuse."""
    from sapwood.cli.file_facts import read_facts

    try:
        facts = read_facts(path)
    except SapwoodError:
        return
    if facts.is_finished:
        say(f"Checkpoint: {path} holds the finished model, so nothing is left to train.")
    else:
        say(f"Checkpoint: resuming after {_done(facts.model)}; the time below is that of the rest.")


def _done(model: Any) -> str:
    if hasattr(model, "ensemble_"):
        return f"round {model.ensemble_.n_rounds}"
    return counted(len(model._tree_sum()), "tree")
