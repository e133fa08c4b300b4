"""treelite, and tl2cgen, which compiles its models."""

from __future__ import annotations

from typing import Any

from predictors.base import Predictor, silence


class Treelite(Predictor):
    """Its interpreter, GTIL."""

    name = "treelite"
    package = "treelite"
    sources = ("xgboost", "lightgbm")
    forest_sources = ("sklearn",)
    call = "gtil.predict"

    def convert(self, model: Any) -> Any:
        return _as_treelite(self.source, model)

    def predict(self, X: Any) -> Any:
        import treelite

        return treelite.gtil.predict(self.model, X, nthread=self.task.threads)


class Tl2cgen(Predictor):
    """C code for one model, made by gcc. Forests of full depth are too much for it.

    Thresholds stay numbers: with `quantize` it took longer.
    """

    name = "tl2cgen"
    package = "tl2cgen"
    sources = ("xgboost", "lightgbm")
    call = "predict(DMatrix)"
    is_compiled = True
    tries_all = False

    def convert(self, model: Any) -> Any:
        import tl2cgen

        path = self.task.folder / f"tl2cgen_{self.source}.so"
        if not path.exists():
            with silence():
                trees = _as_treelite(self.source, model)
                tl2cgen.export_lib(trees, toolchain="gcc", libpath=path, params={"parallel_comp": 8, "quantize": 0})
        return tl2cgen.Predictor(str(path), nthread=self.task.threads)

    def predict(self, X: Any) -> Any:
        import tl2cgen

        return self.model.predict(tl2cgen.DMatrix(X))


def _as_treelite(source: str, model: Any) -> Any:
    import treelite

    if source == "xgboost":
        return treelite.frontend.from_xgboost(model)
    if source == "lightgbm":
        return treelite.frontend.from_lightgbm(model)
    return treelite.sklearn.import_model(model)
