"""From the content of a file to a SavedEstimator. Reading trusts nothing: each value is checked, and how they fit.

No code is looked up by name: only the estimators and records that are listed in this package can come out of a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sapwood.arrays import Array
from sapwood.errors import ModelFileError, SapwoodError
from sapwood.files.content import DOCUMENT
from sapwood.files.families import FAMILIES, check_fitted
from sapwood.files.records import ModelKinds
from sapwood.files.saved_estimator import SavedEstimator
from sapwood.files.statistics import read_statistics
from sapwood.files.values import Json, Reader, RecordKind, Writer, expect, shown

PARTS = {"estimator", "task", "parameters", "fitted", "extensions"}
ODD = (SapwoodError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


@contextmanager
def refusing_misfits() -> Iterator[None]:
    """Turn what goes wrong while parts are put together into a ModelFileError."""
    try:
        yield
    except ModelFileError:
        raise
    except ODD as error:
        raise ModelFileError(f"The model file cannot be used: its parts do not match ({error}).") from error


def read_estimator(document: Json, arrays: Mapping[str, Array]) -> SavedEstimator:
    """The estimator that a document and its arrays describe, checked."""
    with refusing_misfits():
        return _read_estimator(document, arrays)


def _read_estimator(document: Json, arrays: Mapping[str, Array]) -> SavedEstimator:
    expect(isinstance(document, dict) and set(document) == PARTS, DOCUMENT, f"must have the entries {sorted(PARTS)}")
    for part in ("parameters", "fitted", "extensions"):
        expect(isinstance(document[part], dict), part, "must be an object")
    name = document["estimator"]
    expect(isinstance(name, str) and name in FAMILIES, "estimator", f"is the unknown {shown(name)}")
    reader = Reader(saved_kinds(), {key: array for key, array in arrays.items() if not key.startswith("extensions.")})
    parameters = {key: reader.read(value, f"parameters.{key}") for key, value in document["parameters"].items()}
    saved = SavedEstimator(name, parameters)
    expect(document["task"] == saved.task, "task", f"is not what {name} is for")
    saved = SavedEstimator(name, parameters, _read_fitted(saved, document["fitted"], reader))
    check_fitted(saved)
    schema = read_statistics(saved.schema, document["extensions"], arrays)
    expect(not reader.arrays, f"the array {min(reader.arrays, default='')!r}", "is not used by any value")
    return SavedEstimator(name, parameters, {**saved.fitted, "schema_": schema})


def _read_fitted(saved: SavedEstimator, found: Mapping[str, Json], reader: Reader) -> dict[str, object]:
    """Fitted attributes, each of which is checked when it is read."""
    family = FAMILIES[saved.name]
    needed = family.needed | ({"classes_"} if saved.is_classifier else set())
    for name in sorted(needed - set(found)):
        expect(False, f"fitted.{name}", f"is missing, but {saved.name} needs it")
    for name in sorted(set(found) - set(family.fitted)):
        expect(False, f"fitted.{name}", f"is not an attribute of {saved.name}")
    values = {}
    for name, check in family.fitted.items():  # the schema comes first
        if name in found:
            values[name] = reader.read(found[name], f"fitted.{name}")
            check(values[name], f"fitted.{name}")
    return values


def saved_kinds(classes: Mapping[str, type] = MappingProxyType({})) -> dict[str, RecordKind]:
    """All records, estimators inside of estimators (not fitted) among them; for writing, by classes of scikit-learn."""
    kinds = ModelKinds().by_name() | {name: _estimator_kind(name) for name in FAMILIES}
    return {name: replace(kind, cls=classes.get(name, kind.cls)) for name, kind in kinds.items()}


def _estimator_kind(name: str) -> RecordKind:
    def write(estimator: Any, writer: Writer, where: str) -> Json:
        return {key: writer.write(value, f"{where}.{key}") for key, value in estimator.get_params(deep=False).items()}

    def read(found: Json, reader: Reader, where: str) -> SavedEstimator:
        expect(isinstance(found, dict), where, "must be an object")
        return SavedEstimator(name, {key: reader.read(value, f"{where}.{key}") for key, value in found.items()})

    return RecordKind(SavedEstimator, write, read, "parameters.estimator")
