"""A graph of ONNX under construction: each step adds a node and gives the name of its result."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sapwood.arrays import Array


class Graph:
    """Nodes and constants, in the order in which they were added."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []

    def constant(self, values: ArrayLike) -> str:
        """A tensor that is part of the model."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A step; the name of its result."""
        return self.add_several(1, operator, *inputs, **attributes)[0]

    def add_several(self, n_results: int, operator: str, *inputs: str, **attributes: Any) -> list[str]:
        """A step with several results; their names."""
        from onnx import helper

        names = [f"step_{len(self.nodes)}_{i}" for i in range(n_results)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, **{"domain": "", **attributes}))
        return names

    def trees(self, rows: str, attributes: dict[str, Array], n_targets: int) -> str:
        """The operator that adds up the values of trees; whole numbers are lists, and the others tensors."""
        from onnx import numpy_helper

        given = {
            name: values.tolist() if values.dtype == np.int64 else numpy_helper.from_array(values, name)
            for name, values in attributes.items()
        }
        options: dict[str, Any] = {"n_targets": n_targets, "aggregate_function": 1, "post_transform": 0}
        return self.add("TreeEnsemble", rows, domain="ai.onnx.ml", **given, **options)

    def output(self, name: str, result: str, kind: int, shape: list[str | int]) -> None:
        """Give a result to the caller under a name."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [result], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))
