"""A graph of ONNX under construction: each step adds a node and gives the name of its result."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Graph:
    """Nodes and constants, in the order in which they were added."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []

    def constant(self, values: Any) -> str:
        """A tensor that is part of the model."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, operator: str, *inputs: str, n_results: int = 1, domain: str = "", **attributes: Any) -> Any:
        """A step; the name of its result, or a list of names if there are several."""
        from onnx import helper

        names = [f"step_{len(self.nodes)}_{i}" for i in range(n_results)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, domain=domain, **attributes))
        return names[0] if n_results == 1 else names

    def trees(self, rows: str, attributes: dict[str, NDArray[Any]], n_targets: int) -> str:
        """The operator that adds up what trees say; whole numbers are lists, and the others tensors."""
        from onnx import numpy_helper

        given = {
            name: values.tolist() if values.dtype == np.int64 else numpy_helper.from_array(values, name)
            for name, values in attributes.items()
        }
        options: dict[str, Any] = {"n_targets": n_targets, "aggregate_function": 1, "post_transform": 0}
        found: str = self.add("TreeEnsemble", rows, domain="ai.onnx.ml", **given, **options)
        return found

    def output(self, name: str, result: str, kind: int, shape: list[Any]) -> None:
        """Give a result to the caller under a name."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [result], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))
