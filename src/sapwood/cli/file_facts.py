"""Everything that is known of a model and its file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sapwood.cached_property import cached_property
from sapwood.cli.history import Curve, curves
from sapwood.model import model_of
from sapwood.show import export_text
from sapwood.show.one_tree import OneTree, pick_tree


@dataclass(frozen=True)
class Size:
    """Trees that prediction uses."""

    n_trees: int
    max_depth: int
    n_leaves: int


@dataclass(frozen=True, eq=False)
class FileFacts:
    """A model, and what its file says of it."""

    path: Path
    metadata: Mapping[str, str]
    document: Mapping[str, Any]
    model: Any

    @property
    def is_finished(self) -> bool:
        """Whether training had ended; False for a checkpoint on the way."""
        note = self.document["extensions"].get("checkpoint")
        return not isinstance(note, dict) or note.get("finished") is True

    @cached_property
    def size(self) -> Size:
        """Number, depth and leaves of the trees."""
        trees = [member.tree for member in self.model._tree_sum()]
        return Size(len(trees), max(tree.max_depth for tree in trees), sum(tree.n_leaves for tree in trees))

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal models."""
        from sapwood import fingerprint

        return fingerprint(self.model)

    @cached_property
    def history(self) -> list[Curve]:
        """What was measured in training."""
        return curves(self.model)

    @cached_property
    def importance(self) -> Any:
        """What each column is worth, the most important first."""
        from sapwood.explain import importance

        return importance(self.model)

    @property
    def classes(self) -> list[list[Any]]:
        """Classes of every output; none if the model predicts numbers."""
        return [labels.tolist() for labels in model_of(self.model).classes]

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters."""
        return dict(self.model.get_params(deep=False))

    @property
    def changed(self) -> dict[str, Any]:
        """Parameters that are not the defaults, by how they are written."""
        usual = type(self.model)().get_params(deep=False)
        own = {name: value for name, value in self.parameters.items() if name != "callbacks"}  # no file holds functions
        return {name: value for name, value in own.items() if repr(value) != repr(usual[name])}

    def tree(self, number: int) -> OneTree:
        """One of the trees."""
        return pick_tree(model_of(self.model), number)

    def as_json(self, tree: int, max_depth: int) -> dict[str, Any]:
        """All facts, made of what JSON knows."""
        title = self.tree(tree).title
        facts = {
            "file": str(self.path),
            "bytes": self.path.stat().st_size,
            "format_version": int(self.metadata["version"]),
            "library_version": self.metadata["library"],
            "sha256": self.metadata["sha256"],
            "fingerprint": self.fingerprint,
            "estimator": type(self.model).__name__,
            "task": self.document["task"],
            "is_finished": self.is_finished,
            "parameters": self.parameters,
            "changed_parameters": list(self.changed),
            "has_column_names": self.model.schema_.named,
            "columns": [_column(column) for column in self.model.schema_.columns],
            "classes": self.classes,
            "trees": vars(self.size),
            "rounds": getattr(self.model, "best_n_rounds_", None),
            "stopped_reason": getattr(self.model, "stopped_reason_", None),
            "history": [{**vars(curve), "best_round": curve.best_round} for curve in self.history],
            "importance": {"names": self.importance.names, **self.importance.measures},
            "tree": {"number": tree, "title": title, "text": export_text(self.model, tree=tree, max_depth=max_depth)},
        }
        return {name: _plain(value) for name, value in facts.items()}


def read_facts(path: Path) -> FileFacts:
    """The facts of a model file."""
    from sapwood.cli.data import check_exists
    from sapwood.estimators.model_file import read_content, rebuild

    check_exists(path, "model file")
    metadata, document, arrays = read_content(path)
    return FileFacts(path, metadata, document, rebuild(document, arrays))


def _column(column: Any) -> dict[str, Any]:
    names = ("name", "kind", "levels", "low", "high", "has_missing")
    return {name: getattr(column, name) for name in names}


def _plain(value: Any) -> Any:
    """What JSON knows; NaN is null, and what it does not know is written as in Python."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if value is None or isinstance(value, (str, bool, int, float)) else repr(value)
