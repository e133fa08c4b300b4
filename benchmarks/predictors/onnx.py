"""ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from predictors.base import Predictor


class OnnxRuntime(Predictor):
    """Models of others, converted by onnxmltools, forests by skl2onnx."""

    name = "ONNX Runtime"
    package = "onnxruntime"
    sources = ("xgboost", "lightgbm")
    forest_sources = ("sklearn",)
    call = "run"

    def convert(self, model: Any) -> Any:
        import onnxruntime

        if self.source == "xgboost" and self.task.has_categories:
            raise NotImplementedError("onnxmltools does not know XGBoost's categories (it recurses for minutes)")
        graph = CONVERTERS[self.source](model, self.task.n_columns)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.task.threads, 1
        # Its threads would otherwise keep a core busy after their work, at the cost of whoever comes next.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        return onnxruntime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def predict(self, X: Any) -> Any:
        return self.model.run(["probabilities"], {"x": X})[0]


def _from_xgboost(model: Any, n_columns: int) -> Any:
    from onnxmltools.convert import convert_xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType

    return convert_xgboost(model, initial_types=[("x", FloatTensorType([None, n_columns]))])


def _from_lightgbm(model: Any, n_columns: int) -> Any:
    from onnxmltools.convert import convert_lightgbm
    from onnxmltools.convert.common.data_types import FloatTensorType

    return convert_lightgbm(model, initial_types=[("x", FloatTensorType([None, n_columns]))], zipmap=False)


def _from_sklearn(model: Any, n_columns: int) -> Any:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    inputs = [("x", FloatTensorType([None, n_columns]))]
    return convert_sklearn(model, initial_types=inputs, options={"zipmap": False})


CONVERTERS: dict[str, Callable[[Any, int], Any]] = {
    "xgboost": _from_xgboost,
    "lightgbm": _from_lightgbm,
    "sklearn": _from_sklearn,
}
