"""CatBoost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from predictors.base import Call, OwnPredictor, as_is


class CatBoost(OwnPredictor):
    """Symmetric trees, what it is built for; where leaves are limited, its leaf-wise ones."""

    name = "CatBoost"
    package = "catboost"
    sources = ("catboost",)

    def predict(self, X: Any) -> Any:
        return self.model.predict_proba(X, thread_count=self.task.threads)

    def calls(self) -> Sequence[Call]:
        return [
            Call("predict_proba(X[:1])", as_is, self.predict),
            Call("predict_proba(list)", lambda row: row[0].tolist(), self.predict),
        ]
