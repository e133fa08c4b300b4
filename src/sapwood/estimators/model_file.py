"""Fitted estimators in files: `save`, `load` and `fingerprint`. The format is specified in docs/model-format.md.

    estimator ─► document (JSON) and arrays ─► container with checksum ─► file that is complete or untouched

Reading goes the same way back and trusts nothing: checksum, header, each value, each tree, and how they fit together.
No code is looked up by name: only the estimators and records that are listed here can come out of a file.
"""

from __future__ import annotations

import json
import mmap as memory_map
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from sapwood import __version__
from sapwood.atomic_file import replace_file
from sapwood.errors import ModelFileError, ParameterError, ParameterTypeError, SapwoodError
from sapwood.estimators.adaboost import AdaBoostClassifier, AdaBoostRegressor
from sapwood.estimators.bagging import BaggingClassifier, BaggingRegressor
from sapwood.estimators.checkpoint import WITHOUT_EFFECT
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.fitted_state import EstimatorKinds, family_of, fitted_state, restore
from sapwood.estimators.forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sapwood.estimators.gradient import GradientBoostingClassifier, GradientBoostingRegressor
from sapwood.estimators.newton import NewtonBoostingClassifier, NewtonBoostingRanker, NewtonBoostingRegressor
from sapwood.estimators.row_order import SUMS, without_row_order
from sapwood.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.files.container import DIGEST, Buffer, once, pack, unpack
from sapwood.files.json_form import digest_of, from_json, repacked, to_json
from sapwood.files.lost import Lost
from sapwood.files.statistics import read_statistics, write_statistics
from sapwood.files.values import ELSEWHERE, Json, Reader, RecordKind, Writer, expect, shown
from sapwood.keywords import answering
from sapwood.parameters import CallableRule, RandomState, check_parameters

Array = NDArray[Any]
Form = Literal["binary", "json"]

FORMAT, VERSION = "sapwood", 1
DOCUMENT = "document"
UNTOLD = (*WITHOUT_EFFECT, "warm_start")  # parameters that change nothing in what a model says
FORMER = {"huber_delta": 1.0}  # defaults of earlier versions; a loss that has a delta is told of with its own
UNTOLD_FITTED = ("_seed", "_seeds", "_grown_with")  # of draws, and parameters of trees that are told by the trees
ESTIMATORS: dict[str, type[Estimator]] = {
    cls.__name__: cls
    for cls in (
        *(DecisionTreeClassifier, DecisionTreeRegressor, BaggingClassifier, BaggingRegressor),
        *(RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor),
        *(AdaBoostClassifier, AdaBoostRegressor, GradientBoostingClassifier, GradientBoostingRegressor),
        *(NewtonBoostingClassifier, NewtonBoostingRegressor, NewtonBoostingRanker),
    )
}


@answering
def save(model: Any, path: str | os.PathLike[str], *, form: Form | None = None) -> None:
    """Write a fitted estimator to a file, which is complete or, if anything goes wrong, as it was before.

    Args:
        model: any fitted estimator of the library, unless it has estimators of other libraries inside.
        path: the file, by custom with the ending ".sapwood"; a file of that name is replaced.
        form: "binary" (a safetensors file), or "json" for a readable one of the same content, some times as large. By
            default "json" for paths that end in ".json".

    Functions (a custom objective, callbacks) are not kept: their parameters must be set again before training on.
    """
    write_model(path, model, {}, form)


def write_model(
    path: str | os.PathLike[str], model: Any, extensions: Mapping[str, Json], form: Form | None = None
) -> None:
    """Write a model and what extensions add to it."""
    form = form or ("json" if _path_of(path).suffix == ".json" else "binary")
    if form not in ("binary", "json"):
        raise ParameterError(f"form={form!r} is not allowed for save: it must be 'binary' or 'json'.")
    document, arrays = describe(model)
    statistics, more = write_statistics(model.schema_)
    document["extensions"], arrays = {**statistics, **extensions}, arrays | more
    metadata = {"format": FORMAT, "version": str(VERSION), "library": __version__, "estimator": type(model).__name__}
    parts = pack(metadata, arrays | {DOCUMENT: _as_bytes(document)})
    data = parts if form == "binary" else [to_json(metadata, document, arrays, digest_of(parts))]
    try:
        replace_file(path, data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(
            f"path={os.fspath(path)!r} cannot be written: {reason}. What was there is as it was."
        ) from error


def _path_of(path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise ParameterTypeError(f"path={path!r} is not allowed: it must be a text or a Path, that of a model file.")
    return Path(path)


def describe(model: Any) -> tuple[dict[str, Json], dict[str, Array]]:
    """The content of a model's file: a document, and the arrays that it refers to."""
    name = type(model).__name__
    if ESTIMATORS.get(name) is not type(model):
        remedy = "If it is the path of a file, load it first." if isinstance(model, str) else ELSEWHERE
        raise ParameterTypeError(
            f"model={model!r} is not allowed: it must be a fitted estimator of Sapwood, not a {name}. {remedy}"
        )
    model._check_fitted()
    if not model._is_all_trees:
        raise ModelFileError(
            f"This {name} has estimators of other libraries inside, which a model file cannot hold. {ELSEWHERE}"
        )
    writer = Writer(_kinds())
    parameters = model.get_params(deep=False)
    state = fitted_state(model)
    document = {
        "estimator": name,
        "task": _task(model),
        "parameters": {key: writer.write(value, f"parameters.{key}") for key, value in parameters.items()},
        "fitted": {key: writer.write(state[key], f"fitted.{key}") for key in family_of(model).fitted if key in state},
    }
    return document, writer.arrays


def parameter_texts(model: Any) -> dict[str, str]:
    """Each parameter as text that is equal for equal values; functions are told apart by name."""
    texts = {}
    for key, value in model.get_params(deep=False).items():
        writer = Writer(_kinds())
        told = writer.write(value, key)
        texts[key] = json.dumps([told, {name: array.tolist() for name, array in writer.arrays.items()}])
    return texts


def _task(model: Any) -> str:
    if is_classifier(model):
        return "classification"
    return "ranking" if isinstance(model, NewtonBoostingRanker) else "regression"


@answering
def load(path: str | os.PathLike[str], *, mmap: bool = True) -> Any:
    """The fitted estimator that a file holds, ready to predict, to explain and to train on.

    Reading runs no code from the file and checks all of it first; a file that is damaged, foreign or malicious is
    refused with a `ModelFileError`.

    Args:
        path: a file that `save` wrote, in either form.
        mmap: use the file where it lies instead of copying it: trees are read when they are needed, and processes that
            load the same file share its memory. Set False if others may change the file in place while it is in use.
    """
    _, document, arrays = read_content(path, mmap=mmap)
    return rebuild(document, arrays)


def read_content(
    path: str | os.PathLike[str], *, mmap: bool = True
) -> tuple[dict[str, str], dict[str, Json], dict[str, Array]]:
    """Metadata, document and arrays of a file with the right checksum and a version that can be read."""
    data = _read(_path_of(path), mmap)
    try:
        return _content(data)
    except (ModelFileError, RecursionError) as error:
        raise ModelFileError(f"{os.fspath(path)!r} cannot be loaded. {error}") from error


def _content(data: Buffer) -> tuple[dict[str, str], dict[str, Json], dict[str, Array]]:
    if bytes(data[:1]) == b"{" and bytes(data[8:9]) != b"{":
        return _json_content(bytes(data))
    metadata, arrays = unpack(data, _check_version)
    text = arrays.pop(DOCUMENT, None)
    expect(text is not None and text.dtype == np.uint8 and text.ndim == 1, DOCUMENT, "is not there")
    assert text is not None
    try:
        return metadata, json.loads(text.tobytes().decode("utf-8", "surrogatepass"), object_pairs_hook=once), arrays
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The document cannot be read: {error}.") from error


def _json_content(data: bytes) -> tuple[dict[str, str], dict[str, Json], dict[str, Array]]:
    metadata, document, arrays = from_json(data, _check_version)
    if repacked(metadata, arrays | {DOCUMENT: _as_bytes(document)}) != metadata.get(DIGEST):
        raise ModelFileError("The checksum is wrong: the file was changed after it was written. Save the model anew.")
    return metadata, document, arrays


def _read(path: Path, mmap: bool) -> Buffer:
    try:
        if not mmap or path.stat().st_size == 0:
            return path.read_bytes()
        with path.open("rb") as file:
            return memoryview(memory_map.mmap(file.fileno(), 0, access=memory_map.ACCESS_READ))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"path={str(path)!r} cannot be read: {reason}. Give the path of a model file.") from error


def _check_version(metadata: Mapping[str, str]) -> None:
    if metadata.get("format") != FORMAT:
        raise ModelFileError("This is a safetensors file, but not a model of Sapwood.")
    version = metadata.get("version", "")
    if not (version.isascii() and version.isdecimal()) or len(version) > 9 or int(version) < 1:
        raise ModelFileError(f"The format version {version!r} is no number.")
    expect("library" in metadata, "metadata", "does not say which version of the library wrote the file")
    if int(version) > VERSION:
        raise ModelFileError(
            f"The file has the format version {version}, written by Sapwood {metadata['library']}; this is Sapwood "
            f"{__version__}, which reads versions up to {VERSION}. Install Sapwood {metadata['library']} or newer."
        )


def rebuild(document: Json, arrays: Mapping[str, Array]) -> Any:
    """The estimator that a document and its arrays describe."""
    try:
        return _rebuild(document, dict(arrays))
    except ModelFileError:
        raise
    except (SapwoodError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise ModelFileError(f"The model file cannot be used: its parts do not fit together ({error}).") from error


def _rebuild(document: Json, arrays: dict[str, Array]) -> Any:
    parts = {"estimator", "task", "parameters", "fitted", "extensions"}
    expect(isinstance(document, dict) and set(document) == parts, DOCUMENT, f"must have the entries {sorted(parts)}")
    for name in ("parameters", "fitted", "extensions"):
        expect(isinstance(document[name], dict), name, "must be an object")
    reader = Reader(_kinds(), {name: array for name, array in arrays.items() if not name.startswith("extensions.")})
    model = _with_parameters(document["estimator"], document["parameters"], reader, "parameters")
    expect(document["task"] == _task(model), "task", f"is not what {type(model).__name__} is for")
    restore(model, document["fitted"], reader)
    model.schema_ = read_statistics(model.schema_, document["extensions"], arrays)
    expect(not reader.arrays, f"the array {min(reader.arrays, default='')!r}", "belongs to nothing")
    return model


def _with_parameters(name: Json, found: Json, reader: Reader, where: str) -> Any:
    """An estimator that is not fitted; its parameters follow its own rules."""
    expect(isinstance(name, str) and name in ESTIMATORS, "estimator", f"is the unknown {shown(name)}")
    expect(isinstance(found, dict), where, "must be an object")
    cls = ESTIMATORS[name]
    for key in set(found) - set(cls._get_param_names()):
        expect(False, f"{where}.{key}", f"is no parameter of {name}")
    values = {key: reader.read(value, f"{where}.{key}") for key, value in found.items()}
    for key in [key for key, value in values.items() if isinstance(value, Lost)]:
        admits = any(isinstance(rule, (CallableRule, RandomState)) for rule in cls.rules.get(key, ()))
        expect(admits, f"{where}.{key}", "is no parameter that a function can be given for")
    known = {key: value for key, value in values.items() if key in cls.rules and not isinstance(value, Lost)}
    check_parameters(name, {key: cls.rules[key] for key in known}, known)
    return cls(**values)


def _kinds() -> dict[str, RecordKind]:
    """All records, estimators inside of estimators (not fitted) among them."""

    def write(estimator: Any, writer: Writer, where: str) -> Json:
        return {key: writer.write(value, f"{where}.{key}") for key, value in estimator.get_params(deep=False).items()}

    def reader_of(name: str) -> Any:
        return lambda found, reader, where: _with_parameters(name, found, reader, where)

    nested = {name: RecordKind(cls, write, reader_of(name), "parameters.estimator") for name, cls in ESTIMATORS.items()}
    return EstimatorKinds().by_name() | nested


def _as_bytes(document: Json) -> NDArray[np.uint8]:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return np.frombuffer(text, dtype=np.uint8)


@answering
def fingerprint(model: Any) -> str:
    """A stable hash of what a fitted model is: equal models have equal ones, on any machine and in any version.

    Parameters that change nothing in what a model says, such as n_jobs, are left out, and so are those that have their
    default: a later version may have more of them. The order of the training rows does not matter either.
    """
    document, arrays = describe(without_row_order(model))
    document["parameters"] = _telling(type(model).__name__, document["parameters"])
    for name in UNTOLD_FITTED:
        document["fitted"].pop(name, None)
    told = {name: array for name, array in arrays.items() if name not in SUMS}
    return digest_of(pack({"format": FORMAT}, told | {DOCUMENT: _as_bytes(document)}))


def _telling(estimator: str, parameters: Mapping[str, Json]) -> dict[str, Json]:
    """Parameters that tell a model from others, those of an estimator inside of it included."""
    usual, writer = ESTIMATORS[estimator]().get_params(deep=False), Writer(_kinds())
    kept = {name: value for name, value in parameters.items() if name not in UNTOLD}
    kept = {name: value for name, value in kept.items() if value != writer.write(usual[name], name)}
    kept = {name: value for name, value in kept.items() if name not in FORMER or value != FORMER[name]}
    for name, value in kept.items():
        inner = next(iter(value), None) if isinstance(value, dict) else None
        if inner in ESTIMATORS:
            kept[name] = {inner: _telling(inner, value[inner])}
    return kept
