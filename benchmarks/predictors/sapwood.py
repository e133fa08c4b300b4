"""Sapwood."""

from __future__ import annotations

from collections.abc import Sequence

from predictors.base import Call, EstimatorPredictor

_ONE_BAR = 15.0  # microseconds


class Sapwood(EstimatorPredictor):
    """The library all others are here for."""

    name = "Sapwood"
    sources = ("sapwood",)
    forest_sources = ("sapwood",)

    @property
    def version(self) -> str:
        import sapwood

        return sapwood.__version__

    def calls(self) -> Sequence[Call]:
        calls = [call._replace(bar=_ONE_BAR) for call in super().calls()]
        if not hasattr(self.model, "predict_one"):
            print("Sapwood: predict_one is not available", flush=True)
            return calls
        names = self.model.schema_.names
        forms = {
            "list": lambda row: row[0].tolist(),
            "dict": lambda row: dict(zip(names, row[0].tolist(), strict=True)),
            "array": lambda row: row[0].copy(),
        }
        for kind, form in forms.items():
            calls.append(Call(f"predict_one({kind})", form, self.model.predict_one, gives_label=True, bar=_ONE_BAR))
        for kind, form in forms.items():
            calls.append(Call(f"predict_proba_one({kind})", form, self.model.predict_proba_one))
        return calls
