"""Which columns of a source are the target, weights and queries, as users name them in `fit`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sapwood.arrays import Ints
from sapwood.codes.code_file import CodeFile, is_code_file
from sapwood.errors import InputError, ParameterError
from sapwood.estimators.boosting_rows import GivenRows
from sapwood.sources.open import is_source
from sapwood.sources.rows import Roles
from sapwood.sources.survey import Survey


@dataclass(frozen=True)
class SourceColumns:
    """The columns of a source that are not features."""

    target: str | None = None  # None: that of a code file, or of batches (X, y)
    weight: str | None = None
    query: str | None = None

    @property
    def roles(self) -> Roles:
        """As they are read."""
        return Roles(target=self.target, weight=self.weight, query=self.query)

    def known_to(self, X: Any) -> SourceColumns:
        """With those that a survey or a code file has."""
        codes = open_codes(X)
        if codes is not None:
            known = codes.contents.roles
            return SourceColumns(known["target"], known["weight"], known["query"])
        return SourceColumns(X.roles.target, X.roles.weight, X.roles.query) if isinstance(X, Survey) else self


def is_training_source(X: Any) -> bool:
    """Whether rows are read batch by batch: a path or another source, or a code file."""
    return isinstance(X, (CodeFile, Survey)) or (type(X) is not np.ndarray and is_source(X))


def open_codes(X: Any) -> CodeFile | None:
    """A code file, or the one of this path; None if it is anything else."""
    if isinstance(X, (str, os.PathLike)) and is_code_file(Path(os.fspath(X))):
        return CodeFile.open(X)
    return X if isinstance(X, CodeFile) else None


def given_rows(
    X: Any,
    y: Any,
    weight: Any,
    weight_name: str,
    target: str | None,
    queries: Callable[[int], Ints] | None = None,
    qid: Any = None,
) -> GivenRows:
    """Rows to train on, as they were given: a table with arrays, or a source with names of columns."""
    if is_training_source(X):
        return GivenRows(X, source_columns(y, target, weight, weight_name, qid))
    if target is not None:
        raise ParameterError(f"target={target!r} names a column of a source, but X is a table. Pass y instead.")
    return GivenRows(X, y, weight, queries)


def source_columns(y: Any, target: Any, weight: Any, weight_name: str, query: Any = None) -> SourceColumns:
    """The names of columns that the user gave, of which y may be one."""
    if isinstance(y, str) and target is None:
        target, y = y, None
    if y is not None:
        raise ParameterError("y is not allowed with a source of rows. Name the column of the target: target='price'.")
    if isinstance(target, (list, tuple)):
        raise ParameterError(
            f"target={target!r} names {len(target)} columns, but a source has one target. Fit one model for each."
        )
    for name, value in (("target", target), (weight_name, weight), ("qid", query)):
        if value is not None and not isinstance(value, str):
            kind = type(value).__name__
            raise ParameterError(f"{name} of a source of rows must be the name of a column, not a {kind}.")
    return SourceColumns(target, weight, query)


def validation_columns(one: GivenRows, columns: SourceColumns, weight_name: str) -> GivenRows:
    """A validation set; if it is a source, with its columns, which are those of training unless others are named."""
    if not is_training_source(one.X):
        return one
    if open_codes(one.X) is not None:
        raise InputError(
            f"{one.argument} is a code file, whose cells cannot be scored. Pass the data files it was made of."
        )
    own = source_columns(one.y, None, one.weight, weight_name)
    own = SourceColumns(own.target or columns.target, own.weight or columns.weight, columns.query)
    return GivenRows(one.X, own, name=one.name, argument=one.argument)
