"""A model in ONNX, for ONNX Runtime and other programs."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import MissingExtraError, ModelFileError
from sapwood.interchange.targets.formula import Formula, formula_of
from sapwood.interchange.targets.onnx.graph import Graph
from sapwood.interchange.targets.onnx.response import add_label, add_numbers, label_array
from sapwood.interchange.targets.onnx.trees import tree_attributes
from sapwood.interchange.targets.replay import (
    LINK,
    Answers,
    Precision,
    boundary_rows,
    check_answers,
    has_unseen,
    write_checked,
)
from sapwood.keywords import answering

Floats = NDArray[np.float64]

OPSET, ML_OPSET, IR_VERSION = 21, 5, 10


@answering
def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """A model in ONNX (an `onnx.ModelProto`), which computes in double precision from rows to answers.

    The input "X" is a matrix (rows, columns) of doubles in the order of training: numbers, 0 and 1, seconds since 1970
    of dates, numbers of levels in the order of `schema_.columns[j].levels`, and NaN for missing values. Outputs are
    "label" and "probabilities" for classes ("label_0", "probabilities_0", … if there are several outputs), and
    "variable" (rows, outputs) for numbers. An unknown level, such as -2, does what the model says; with
    unseen="error" it goes where missing values go. Columns and levels are also in the model's metadata.

    It takes the operator TreeEnsemble of ai.onnx.ml 5, which ONNX Runtime has from 1.20 on. Needs the extra "onnx".

    Args:
        model: a fitted estimator.
        path: file to write; None only returns the model.
    """
    for package in ("onnx", "onnxruntime"):
        if find_spec(package) is None:
            raise MissingExtraError(f"to_onnx needs {package}. Install it with: pip install 'sapwood[onnx]'")
    formula = formula_of(model, "ONNX")
    proto = onnx_model(formula)
    data = proto.SerializeToString()
    cells = boundary_rows(formula)
    if formula.unseen == "error":
        cells = cells[~has_unseen(formula, cells)]
    precision = Precision(LINK, LINK)
    check_answers(model, formula, "ONNX", cells, lambda rows: _answers_of_runtime(data, formula, rows), precision)
    write_checked(path, data)
    return proto


def onnx_model(formula: Formula) -> Any:
    """The whole model."""
    from onnx import TensorProto, helper

    graph = Graph()
    scores = graph.trees("X", tree_attributes(formula), formula.n_scores)
    if formula.tree_sum.divisor != 1.0:
        scores = graph.add("Div", scores, graph.constant(float(formula.tree_sum.divisor)))
    numbers = add_numbers(graph, formula, scores)
    _add_outputs(graph, formula, scores, numbers)
    rows = helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["rows", formula.schema.n_features])
    made = helper.make_graph(graph.nodes, formula.kind, [rows], graph.outputs, initializer=graph.constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    proto = helper.make_model(made, opset_imports=opsets, ir_version=IR_VERSION, producer_name="sapwood")
    helper.set_model_props(proto, {"columns": json.dumps(_columns(formula))})
    return proto


def _columns(formula: Formula) -> list[dict[str, Any]]:
    columns = formula.schema.columns
    return [{"name": column.name, "kind": column.kind, "levels": list(column.levels)} for column in columns]


def _add_outputs(graph: Graph, formula: Formula, scores: str, numbers: str) -> None:
    from onnx import TensorProto, helper

    if not formula.classes:
        graph.output("variable", numbers, TensorProto.DOUBLE, ["rows", len(formula.names)])
        return
    first = 0
    for output, labels in enumerate(formula.classes):
        tail, stop = ("" if len(formula.classes) == 1 else f"_{output}"), first + len(labels)
        own = graph.add("Gather", numbers, graph.constant(np.arange(first, stop)), axis=1) if tail else numbers
        kind = helper.np_dtype_to_tensor_dtype(label_array(labels).dtype)
        graph.output(f"label{tail}", add_label(graph, formula, scores, output), kind, ["rows"])
        graph.output(f"probabilities{tail}", own, TensorProto.DOUBLE, ["rows", len(labels)])
        first = stop


def _answers_of_runtime(data: bytes, formula: Formula, cells: Floats) -> Answers:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        said = session.run(None, {"X": cells})
    except Exception as error:  # ONNX Runtime has no class of its own for them
        raise ModelFileError(f"ONNX Runtime refuses the model, so nothing was written: {error}") from error
    if not formula.classes:
        return Answers(said[0])
    return Answers(np.concatenate(said[1::2], axis=1), np.stack(said[::2], axis=1).astype(object))
