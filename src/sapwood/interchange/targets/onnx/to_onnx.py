"""A model in ONNX, for ONNX Runtime and other programs."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.errors import MissingExtraError, ModelFileError
from sapwood.interchange.boundary import MOST_ROWS
from sapwood.interchange.cells import has_unseen
from sapwood.interchange.optional import installed
from sapwood.interchange.targets.exported_model import exported_model, output_names
from sapwood.interchange.targets.onnx.graph import Graph
from sapwood.interchange.targets.onnx.lines import add_lines
from sapwood.interchange.targets.onnx.response import add_label, add_numbers, label_array
from sapwood.interchange.targets.onnx.trees import tree_attributes
from sapwood.interchange.targets.replay import LINK, Outputs, Precision, boundary_rows, check_outputs, write_checked
from sapwood.keywords import answering
from sapwood.model import Model
from sapwood.threads import blocks

OPSET, ML_OPSET, IR_VERSION = 21, 5, 10
ROWS = 1 << 14  # that are checked at a time
MOST_WITH_LINES = 100_000  # of linear leaves, which take the runtime ten times as long


@answering
def to_onnx(model: object, path: str | os.PathLike[str] | None = None) -> Any:
    """A model in ONNX (an `onnx.ModelProto`), which computes in double precision.

    The input "X" is a matrix (rows, columns) of doubles in the order of training: numbers, 0 and 1, seconds since 1970
    of dates, numbers of levels in the order of `schema_.columns[j].levels`, and NaN for missing values. Outputs are
    "label" and "probabilities" for classes ("label_0", "probabilities_0", … if there are several outputs), and
    "variable" (rows, outputs) for numbers. An unknown level, such as -2, is treated according to the model's
    `unseen`; with "error" it goes where missing values go. Columns and levels are also in the model's metadata.

    It takes the operator TreeEnsemble of ai.onnx.ml 5, which ONNX Runtime has from 1.20 on. Needs the extra "onnx".

    Args:
        model: a fitted estimator, or its Model.
        path: file to write; None only returns the model.
    """
    for package in ("onnx", "onnxruntime"):
        if installed(package) is None:
            raise MissingExtraError(f"to_onnx needs {package}. Install it with: pip install 'sapwood[onnx]'")
    exported = exported_model(model, "ONNX")
    proto = onnx_model(exported)
    data = proto.SerializeToString()
    cells = boundary_rows(exported, most=MOST_WITH_LINES if exported.trees.is_linear else MOST_ROWS)
    if exported.unseen == "error":
        cells = cells[~has_unseen(cells, exported.schema)]
    precision = Precision.reordered(exported) if exported.trees.is_linear else Precision(LINK, LINK)
    check_outputs(exported, "ONNX", cells, lambda rows: _runtime_outputs(data, exported, rows), precision)
    write_checked(path, data)
    return proto


def onnx_model(model: Model) -> Any:
    """The whole model."""
    from onnx import TensorProto, helper

    graph = Graph()
    scores = graph.trees("X", tree_attributes(model), model.trees.n_columns)
    if model.trees.is_linear:
        scores = add_lines(graph, model, "X", scores)
    if model.trees.divisor != 1.0:
        scores = graph.add("Div", scores, graph.constant(float(model.trees.divisor)))
    numbers = add_numbers(graph, model, scores)
    _add_outputs(graph, model, scores, numbers)
    rows = helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["rows", model.schema.n_features])
    made = helper.make_graph(graph.nodes, model.estimator, [rows], graph.outputs, initializer=graph.constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    proto = helper.make_model(made, opset_imports=opsets, ir_version=IR_VERSION, producer_name="sapwood")
    columns = [{"name": c.name, "kind": c.kind, "levels": list(c.levels)} for c in model.schema.columns]
    helper.set_model_props(proto, {"columns": json.dumps(columns)})
    return proto


def _add_outputs(graph: Graph, model: Model, scores: str, numbers: str) -> None:
    from onnx import TensorProto, helper

    if not model.classes:
        graph.output("variable", numbers, TensorProto.DOUBLE, ["rows", len(output_names(model))])
        return
    first = 0
    for output, labels in enumerate(model.classes):
        tail, stop = ("" if len(model.classes) == 1 else f"_{output}"), first + len(labels)
        own = graph.add("Gather", numbers, graph.constant(np.arange(first, stop)), axis=1) if tail else numbers
        kind = helper.np_dtype_to_tensor_dtype(label_array(labels.tolist()).dtype)
        graph.output(f"label{tail}", add_label(graph, model, scores, output), kind, ["rows"])
        graph.output(f"probabilities{tail}", own, TensorProto.DOUBLE, ["rows", len(labels)])
        first = stop


def _runtime_outputs(data: bytes, model: Model, cells: Floats) -> Outputs:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        parts = [session.run(None, {"X": cells[slice(*block)]}) for block in blocks(len(cells), ROWS)]
    except Exception as error:  # ONNX Runtime has no class of its own for them
        raise ModelFileError(f"ONNX Runtime refuses the model, so nothing was written: {error}") from error
    found = [np.concatenate(own) for own in zip(*parts, strict=True)]
    if not model.classes:
        return Outputs(found[0])
    return Outputs(np.concatenate(found[1::2], axis=1), np.stack(found[::2], axis=1).astype(object))
