"""XGBoost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from predictors.base import Call, OwnPredictor, as_is


class XGBoost(OwnPredictor):
    """Straight from the array, its fastest way."""

    name = "XGBoost inplace"
    package = "xgboost"
    sources = ("xgboost",)

    def convert(self, model: Any) -> Any:
        booster = model.copy()
        booster.set_param({"nthread": self.task.threads})
        return booster

    def predict(self, X: Any) -> Any:
        return self.model.inplace_predict(X)

    def calls(self) -> Sequence[Call]:
        import xgboost

        path = self.task.folder / "xgboost.json"
        self.model.save_model(path)
        classifier = xgboost.XGBClassifier(n_jobs=self.task.threads)
        classifier.load_model(path)
        return [
            Call("inplace_predict", as_is, self.predict),
            Call("XGBClassifier.predict", as_is, classifier.predict, gives_label=True),
        ]


class XGBoostMatrix(XGBoost):
    """By way of its own kind of data set, which a user has to make of new rows each time."""

    name = "XGBoost DMatrix"

    def predict(self, X: Any) -> Any:
        import xgboost

        return self.model.predict(xgboost.DMatrix(X, enable_categorical=True, nthread=self.task.threads))

    def calls(self) -> Sequence[Call]:
        return [Call("predict(DMatrix)", as_is, self.predict)]
