"""Models in files: one trip to a file and back, what must be equal after it, and files made of any content."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

import sapwood as sw
from sapwood.adaboost.members import TreeMembers
from sapwood.boosting.ensemble import Ensemble
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.model_file import DERIVED
from sapwood.explain import shap_values
from sapwood.files.container import DIGEST, pack
from sapwood.files.content import DOCUMENT, document_bytes, read_content
from sapwood.files.families import FAMILIES
from sapwood.files.json_form import digest_of, to_json
from sapwood.files.lost import Lost
from sapwood.forest.bags import Bag, Bags
from sapwood.forest.forest import Forest
from sapwood.forest.leaf_targets import LeafRows
from sapwood.losses.custom import CustomLoss
from sapwood.losses.loss import Loss
from sapwood.packed_tree import PackedTree
from sapwood.table.schema import Schema
from sapwood.tree import Tree

FORMS = ("binary", "json")
MADE_ANEW = {"_model", "_predictor", "estimators_"}  # what a model makes when it is first asked
OUTLOOKS = ("predict", "predict_proba", "decision_function", "apply", "feature_importances_")


def trip(model: Any, folder: Path, form: str = "binary", **options: Any) -> Any:
    """The model after it was saved and loaded; saving it again gives the same bytes."""
    path, again = folder / f"model.{form}", folder / f"again.{form}"
    sw.save(model, path, form=form)
    loaded = sw.load(path, **options)
    sw.save(loaded, again, form=form)
    assert again.read_bytes() == path.read_bytes()
    return loaded


def contents(path: Path) -> tuple[dict[str, str], Any, dict[str, Any]]:
    """Metadata without the checksum, document and arrays of a file, all of which may be changed."""
    metadata, document, arrays = read_content(path, mmap=False)
    return (
        {name: text for name, text in metadata.items() if name != DIGEST},
        document,
        {name: array.copy() for name, array in arrays.items()},
    )


def packed(metadata: dict[str, str], document: Any, arrays: dict[str, Any], form: str = "binary") -> bytes:
    """A file with the right checksum, whatever its content."""
    parts = pack(metadata, arrays | {DOCUMENT: document_bytes(document)})
    if form == "json":
        return to_json(metadata, document, arrays, digest_of(parts))
    return b"".join(bytes(part) for part in parts)


def load_bytes(data: bytes, folder: Path, **options: Any) -> Any:
    """The model of a file of these bytes."""
    path = folder / "given.sapwood"
    path.write_bytes(data)
    return sw.load(path, **options)


def changed(model: Any, folder: Path, change: Callable[[Any, dict[str, Any]], Any], form: str = "binary") -> Any:
    """The model of a file whose document and arrays were changed, with the right checksum."""
    sw.save(model, folder / "first.sapwood")
    metadata, document, arrays = contents(folder / "first.sapwood")
    change(document, arrays)
    return load_bytes(packed(metadata, document, arrays, form), folder)


def answers(model: Any, X: Any) -> Iterator[tuple[str, Any]]:
    """All that a model says of rows, by name."""
    for name in OUTLOOKS:
        if hasattr(model, name):
            said = getattr(model, name)
            yield name, said(X) if callable(said) else said
    if model.model_.trees.is_linear:
        return  # there are no Shapley values
    background = X[:5] if model.model_.response.weights is not None else None
    yield "shap", shap_values(model, X[:5], background=background, check_additivity=False).values


def assert_same_answers(model: Any, other: Any, X: Any) -> None:
    for (name, ours), (_, theirs) in zip(answers(model, X), answers(other, X), strict=True):
        assert same(ours, theirs), name


def assert_same_model(model: Any, other: Any, X: Any) -> None:
    """Equal bits in all that it says, equal parameters, and equal fitted attributes."""
    assert type(model) is type(other)
    assert_same_answers(model, other, X)
    ours, theirs = state(model), state(other)
    assert set(ours) == set(theirs)
    for name in ours:
        assert same(ours[name], theirs[name]), name


def assert_same_predictions(model: Any, predictor: Any, X: Any) -> None:
    """A Model predicts what the estimator predicts, bit for bit: tables, one row, batches."""
    batches = [X[:7], X[7:]]
    for method, proba in (("predict", False), ("predict_proba", True)):
        if proba and not predictor.is_classifier:
            continue
        ask = getattr(model, method)
        assert same(getattr(predictor, method)(X), ask(X)), method
        assert same(getattr(predictor, f"{method}_one")(X[:1]), getattr(model, f"{method}_one")(X[:1])), method
        assert same(list(predictor.predict_batches(batches, proba=proba)), [ask(batch) for batch in batches]), method


def state(model: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(model).items() if name not in MADE_ANEW}


def same(ours: Any, theirs: Any) -> bool:
    """Equal, part by part; functions may have become `Lost`, numbers of NumPy those of Python."""
    ours, theirs = (value.item() if isinstance(value, np.generic) else value for value in (ours, theirs))
    if isinstance(theirs, Lost):
        return callable(ours) or isinstance(ours, (Lost, np.random.RandomState, np.random.Generator))
    if type(ours) is not type(theirs):
        return False
    for kind, parts in PARTS.items():
        if isinstance(ours, kind):
            return same(parts(ours), parts(theirs))
    return SAME.get(type(ours), operator.eq)(ours, theirs)


def _same_arrays(ours: Any, theirs: Any) -> bool:
    return ours.dtype == theirs.dtype and ours.shape == theirs.shape and _same_cells(ours, theirs)


def _same_cells(ours: Any, theirs: Any) -> bool:
    if ours.dtype == object:
        return same(ours.tolist(), theirs.tolist())
    if ours.dtype.kind == "f":
        signs = np.array_equal(np.signbit(ours) | np.isnan(ours), np.signbit(theirs) | np.isnan(theirs))
        return signs and np.array_equal(ours, theirs, equal_nan=True)
    if ours.dtype.kind in "Mm":  # NaT differs from itself
        return np.array_equal(ours.view(np.int64), theirs.view(np.int64))
    return np.array_equal(ours, theirs)


def _same_items(ours: Any, theirs: Any) -> bool:
    return len(ours) == len(theirs) and all(map(same, ours, theirs))


def _same_entries(ours: Any, theirs: Any) -> bool:
    return list(ours) == list(theirs) and _same_items(list(ours.values()), list(theirs.values()))


def _same_numbers(ours: float, theirs: float) -> bool:
    return ours == theirs or bool(np.isnan(ours) and np.isnan(theirs))


SAME: dict[type, Callable[[Any, Any], bool]] = {
    **{np.ndarray: _same_arrays, list: _same_items, tuple: _same_items},
    **{dict: _same_entries, float: _same_numbers},
}


def _parts_of_tree(tree: Tree) -> Any:
    """Words of subsets stand in the order of growth, or of nodes."""
    levels = {int(node): tree.left_levels(node).tolist() for node in np.flatnonzero(tree.subset_start >= 0)}
    others = {name: array for name, array in tree.arrays().items() if not name.startswith("subset")}
    return [others, levels, tree.n_classes]


def _parts_of_loss(loss: Loss) -> Any:
    return [loss.name, loss.n_scores if isinstance(loss, CustomLoss) else loss.options()]


PARTS: dict[Any, Callable[[Any], Any]] = {
    Tree: _parts_of_tree,
    PackedTree: PackedTree.unpack,
    (Bag, Bags, LeafRows): vars,
    Schema: lambda schema: [schema.columns, schema.named, schema.sparse_absent],
    Ensemble: lambda ensemble: [ensemble.base, ensemble.rounds],
    Forest: lambda forest: [forest.trees, forest.vote.hard, forest.vote.n_classes],
    TreeMembers: lambda members: [members.fitted, members.is_class],
    Loss: _parts_of_loss,
    DummyRegressor: lambda init: init.constant_,
    DummyClassifier: lambda init: init.class_prior_,
    Estimator: lambda model: model.get_params(deep=False),
}


def is_complete(model: Any) -> bool:
    """Whether a file holds, or makes anew, every attribute that a fitted model has."""
    known = {*FAMILIES[type(model).__name__].fitted, *DERIVED, *model.get_params(deep=False)}
    return set(vars(model)) <= known
