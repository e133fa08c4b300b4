"""An estimator as its file describes it: a name, parameters, and what fitting made, as checked values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sapwood.arrays import Array
from sapwood.table.schema import Schema


@dataclass(frozen=True, eq=False)
class SavedEstimator:
    """Parameters and fitted attributes by name; one that is a parameter of another is not fitted."""

    name: str
    parameters: Mapping[str, Any]
    fitted: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_classifier(self) -> bool:
        """Whether it predicts classes."""
        return self.name.endswith("Classifier")

    @property
    def task(self) -> str:
        """What it is for."""
        if self.is_classifier:
            return "classification"
        return "ranking" if self.name.endswith("Ranker") else "regression"

    @property
    def schema(self) -> Schema:
        """Its columns."""
        schema: Schema = self.fitted["schema_"]
        return schema

    @property
    def classes(self) -> tuple[Array, ...]:
        """Labels of each output; empty if it predicts numbers."""
        found = self.fitted.get("classes_", ())
        return tuple(found) if isinstance(found, (list, tuple)) else (found,)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return int(self.fitted.get("n_outputs_", 1))

    @property
    def single(self) -> bool:
        """Whether there is one output, for which predictions have no dimension."""
        return bool(self.fitted.get("_single_output", True))

    @property
    def tree_parameters(self) -> Mapping[str, Any]:
        """Parameters of its trees, which bagging and AdaBoost keep in `estimator`; none if this is the default."""
        if not self.name.startswith(("Bagging", "AdaBoost")):
            return self.parameters
        member = self.parameters.get("estimator")
        return member.parameters if isinstance(member, SavedEstimator) else {}
