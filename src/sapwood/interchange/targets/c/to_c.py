"""A model as one file of C99."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from sapwood.arrays import Floats
from sapwood.counted import counted
from sapwood.errors import MissingExtraError, ModelFileError, ParameterError
from sapwood.interchange.targets.c.response import c_list, c_response
from sapwood.interchange.targets.description import column_lines, output_lines
from sapwood.interchange.targets.exported_model import exported_model, output_names, stops_at_unseen
from sapwood.interchange.targets.node_table import NodeTable
from sapwood.interchange.targets.replay import (
    Outputs,
    Precision,
    Predict,
    boundary_rows,
    check_outputs,
    write_checked,
)
from sapwood.keywords import answering
from sapwood.model import Model

COMPILERS = ("cc", "gcc", "clang")
WIDTH = 116
KEYWORDS = (
    *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern"),
    *("float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed"),
    *("sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
)


@answering
def to_c(
    model: object, path: str | os.PathLike[str] | None = None, name: str = "predict", *, check: bool = True
) -> str:
    """One file of C99 that needs nothing but math.h and allocates nothing.

    It has one function, `void predict(const double *row, double *out)`. `row` holds the columns in the order of
    training: numbers, seconds since 1970 of dates, numbers of levels, and NaN for missing values; `out` gets
    probabilities or predictions. The file's first comment describes both. Scores are added in the order of `predict`,
    so the results are the same bits unless there is an exponential in between. With unseen="error", all of `out` is
    NaN for a row with an unknown level.

    Args:
        model: a fitted estimator, or its Model.
        path: file to write; None only returns the text.
        name: name of the function, and the beginning of all other names.
        check: compile the file with the local C compiler and compare its predictions at the boundaries of the trees.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,62}", name) or name in KEYWORDS:
        raise ParameterError(f"name={name!r} is not a valid name of a C function. Use letters, digits and underscores.")
    exported = exported_model(model, "C")
    text = c_text(exported, name)
    if check:
        compiler = _compiler()
        with tempfile.TemporaryDirectory() as folder:
            predict = _compiled(compiler, text, name, Path(folder), len(output_names(exported)))
            check_outputs(exported, "C", boundary_rows(exported), predict, Precision.double(exported))
    write_checked(path, text.encode())
    return text


def c_text(model: Model, name: str) -> str:
    """The file."""
    lines = [
        "/*",
        *(f" * {_commented(line)}".rstrip() for line in _description(model, name)),
        " */",
        "#include <math.h>",
        "",
        *_tables(model, NodeTable.of(model), name),
        "",
        *_function(model, name),
    ]
    return "\n".join(lines) + "\n"


def _description(model: Model, name: str) -> list[str]:
    return [
        f"A {model.estimator} with {counted(len(model.trees), 'tree')}, written by Sapwood.",
        "",
        f"void {name}(const double *row, double *out);",
        "",
        *column_lines(model, "row", "NaN is a missing value."),
        "",
        *output_lines(model, "out"),
    ]


def _commented(line: str) -> str:
    """Text that cannot end the comment, whatever a column is called."""
    return line.replace("*/", "* /").replace("/*", "/ *")


def _tables(model: Model, nodes: NodeTable, name: str) -> Iterator[str]:
    for part, kind in (
        *(
            ("feature", "int"),
            ("right", "int"),
            ("missing_left", "unsigned char"),
            ("subset", "int"),
            ("value_row", "int"),
        ),
        *(("levels", "unsigned char"), ("roots", "int"), ("columns", "int")),
    ):
        yield from _array(f"static const {kind} {name}_{part}[]", map(str, getattr(nodes, part).tolist()))
    for part in ("threshold", "values"):
        numbers = c_list(getattr(nodes, part).ravel().tolist()).split(", ")
        yield from _array(f"static const double {name}_{part}[]", numbers)
    yield from _array(f"static const int {name}_n_levels[]", map(str, model.schema.n_levels.tolist()))
    if nodes.linear is not None:
        yield from _array(f"static const int {name}_line_start[]", map(str, nodes.linear.starts.tolist()))
        yield from _array(f"static const int {name}_line_column[]", map(str, nodes.linear.lines["column"].tolist()))
        for part in ("slope", "centre", "low", "high"):
            numbers = c_list(nodes.linear.lines[part].tolist()).split(", ")
            yield from _array(f"static const double {name}_line_{part}[]", numbers)


def _array(head: str, items: Iterable[str]) -> Iterator[str]:
    """A table, as many entries in a line as fit; an empty one has a zero, since C has no empty arrays."""
    yield f"{head} = {{"
    line = "   "
    for item in list(items) or ["0"]:
        if len(line) + len(item) + 2 > WIDTH and item:
            yield line
            line = "   "
        line += f" {item},"
    yield line
    yield "};"


def _function(model: Model, name: str) -> list[str]:
    width = model.trees.term(0).values.shape[1] if len(model.trees) else 1
    unseen = _refusal(model, name) if model.unseen == "error" and model.schema.n_levels.any() else []
    divided = f"for (int k = 0; k < {model.trees.n_columns}; k++) score[k] /= {model.trees.divisor!r};"
    body = [
        f"double score[{model.trees.n_columns}] = {{{c_list(model.trees.base.tolist())}}};",
        *unseen,
        f"for (int t = 0; t < {len(model.trees)}; t++) {{",
        f"    int node = {name}_leaf(row, {name}_roots[t]);",
        f"    for (int k = 0; k < {width}; k++)",
        f"        score[{name}_columns[t] + k] += {name}_values[{name}_value_row[node] * {width} + k];",
        *(_added_lines(name) if model.trees.is_linear else []),
        "}",
        *([] if model.trees.divisor == 1.0 else [divided]),
        *c_response(model),
    ]
    helpers = [*_walk(model, name), *(_line(name) if model.trees.is_linear else [])]
    lines = [*helpers, "", f"void {name}(const double *row, double *out)", "{"]
    return [*lines, *(f"    {line}" for line in body), "}"]


def _walk(model: Model, name: str) -> list[str]:
    """From the root to the leaf; the level of a cell outside of the known ones is that of a missing value."""
    stop = ["            if (!known && !isnan(x)) break;"] if stops_at_unseen(model) else []
    return [
        f"static int {name}_leaf(const double *row, int node)",
        "{",
        f"    while ({name}_feature[node] >= 0) {{",
        f"        double x = row[{name}_feature[node]];",
        f"        int left = {name}_missing_left[node];",
        f"        if ({name}_subset[node] >= 0) {{",
        f"            int known = x >= 0 && x < {name}_n_levels[{name}_feature[node]];",
        *stop,
        f"            if (known) left = {name}_levels[{name}_subset[node] + (int)x / 8] >> ((int)x % 8) & 1;",
        "        } else if (!isnan(x)) {",
        f"            left = x <= {name}_threshold[node];",
        "        }",
        f"        node = left ? node + 1 : {name}_right[node];",
        "    }",
        "    return node;",
        "}",
    ]


def _line(name: str) -> list[str]:
    """What a line of a linear leaf adds."""
    return [
        "",
        f"static double {name}_line(const double *row, int i)",
        "{",
        f"    double x = row[{name}_line_column[i]];",
        "    if (isnan(x)) return 0.0;",
        f"    if (x < {name}_line_low[i]) x = {name}_line_low[i];",
        f"    if (x > {name}_line_high[i]) x = {name}_line_high[i];",
        f"    return {name}_line_slope[i] * (x - {name}_line_centre[i]);",
        "}",
    ]


def _added_lines(name: str) -> list[str]:
    return [
        f"    int leaf = {name}_value_row[node];",
        f"    for (int i = {name}_line_start[leaf]; i < {name}_line_start[leaf + 1]; i++)",
        f"        score[{name}_columns[t]] += {name}_line(row, i);",
    ]


def _refusal(model: Model, name: str) -> list[str]:
    """A row with an unknown level is an error of the caller: its results are NaN."""
    n = model.schema.n_features
    return [
        f"for (int j = 0; j < {n}; j++) {{",
        f"    if ({name}_n_levels[j] == 0 || isnan(row[j]) || (row[j] >= 0 && row[j] < {name}_n_levels[j])) continue;",
        f"    for (int k = 0; k < {len(output_names(model))}; k++) out[k] = NAN;",
        "    return;",
        "}",
    ]


def _compiler() -> str:
    found = next(filter(None, map(shutil.which, COMPILERS)), None)
    if found is None:
        raise MissingExtraError(
            f"The C file is checked with a C compiler, but none of {', '.join(COMPILERS)} was found. Install one, "
            "or pass check=False to skip the check."
        )
    return found


def _compiled(compiler: str, text: str, name: str, folder: Path, n_outputs: int) -> Predict:
    """The compiled function, applied to rows."""
    source, library = folder / "model.c", folder / "model.so"
    source.write_text(text, encoding="utf-8")
    command = [compiler, "-std=c99", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ModelFileError(f"The C compiler refuses the model, so nothing was written: {done.stderr[:500]}")
    function = getattr(ctypes.CDLL(str(library)), name)
    function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_void_p], None

    def predict(cells: Floats) -> Outputs:
        cells, out = np.ascontiguousarray(cells), np.empty((len(cells), n_outputs))
        for row, numbers in zip(cells, out, strict=True):
            function(row.ctypes.data, numbers.ctypes.data)
        return Outputs(out)

    return predict
