"""Placeholders for what a file cannot hold: functions, and other values that only code could restore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from sapwood.errors import ParameterError


@dataclass(frozen=True)
class Lost:
    """Placeholder for a function or random state that a parameter had when its model was saved.

    Prediction does not need it. Training does: set the parameter first.
    """

    described: str

    def __repr__(self) -> str:
        return f"<{self.described}, which the model file does not hold>"

    def __call__(self, *_arguments: object, **_named: object) -> NoReturn:
        """Raise an error that names the missing value and the remedy."""
        raise ParameterError(
            f"The model was loaded from a file, which cannot hold {self.described}. Set the parameter that had "
            "this value with set_params before you train."
        )
