"""scikit-learn-intelex and daal4py: oneDAL."""

from __future__ import annotations

from typing import Any

from predictors.base import EstimatorPredictor, Predictor


class OneDal(Predictor):
    """Boosted models of others, converted by daal4py."""

    name = "oneDAL"
    package = "scikit-learn-intelex"
    sources = ("xgboost", "lightgbm", "catboost")

    def convert(self, model: Any) -> Any:
        import daal4py

        daal4py.daalinit(self.task.threads)
        return daal4py.mb.convert_model(model)

    def predict(self, X: Any) -> Any:
        return self.model.predict_proba(X)


class Intelex(EstimatorPredictor):
    """Its own forest."""

    name = "scikit-learn-intelex"
    package = "scikit-learn-intelex"
    sources = ()
    forest_sources = ("intelex",)

    def convert(self, model: Any) -> Any:
        """Without its own engine it would hand everything to scikit-learn and say nothing."""
        if not hasattr(model, "_onedal_estimator"):
            raise TypeError("the forest is scikit-learn's own")
        return model
