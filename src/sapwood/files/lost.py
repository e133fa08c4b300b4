"""What a file cannot hold: functions, and other things that only running code could bring back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from sapwood.errors import ParameterError


@dataclass(frozen=True)
class Lost:
    """Stands for a function or random state that a parameter had when its model was saved.

    Prediction does without it. Training needs it back: set the parameter first.
    """

    described: str

    def __repr__(self) -> str:
        return f"<{self.described}, which the model file does not hold>"

    def __call__(self, *_arguments: object, **_named: object) -> NoReturn:
        """Say what is missing, and what to do."""
        raise ParameterError(
            f"The model was loaded from a file, which cannot hold {self.described}. Set the parameter that it was the "
            "value of, with set_params, before training on."
        )
