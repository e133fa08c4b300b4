"""Files with the right checksum, made by somebody with bad intentions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_cases import FORMS, changed, contents, load_bytes
from saved_models import saved_model

import sapwood as sw
from sapwood.errors import InputError, ModelFileError
from sapwood.files.container import pack

Change = Callable[[Any, dict[str, Any]], Any]
TREES = {
    "tree numbers": "fitted.tree_",
    "forest numbers": "fitted.forest_.trees",
    "newton numbers": "fitted.ensemble_.trees",
    "adaboost numbers": "fitted._members.trees",
}

ONLY_FOR_TRAINING = (  # what load_model has no need to know
    "parameters.eval is not a parameter of",
    "max_bin=1 is not allowed",
    "parameters.n_estimators is not",
)


def refused(name: str, change: Change, told: str, folder: Path, form: str = "binary") -> None:
    with pytest.raises(ModelFileError, match=told):
        changed(saved_model(name)[0], folder, change, form)
    if told not in ONLY_FOR_TRAINING:
        with pytest.raises(ModelFileError, match=told):
            sw.load_model(folder / "given.sapwood")


def with_array(name: str, make: Callable[[Any], Any]) -> Change:
    def change(document: Any, arrays: dict[str, Any]) -> None:
        arrays[name] = make(arrays[name])

    return change


def with_cell(name: str, value: Any) -> Change:
    def change(document: Any, arrays: dict[str, Any]) -> None:
        arrays[name].reshape(-1)[-1] = value

    return change


def with_fitted(name: str, value: Any) -> Change:
    def change(document: Any, arrays: dict[str, Any]) -> None:
        document["fitted"][name] = value

    return change


def with_parameter(name: str, value: Any) -> Change:
    def change(document: Any, arrays: dict[str, Any]) -> None:
        document["parameters"][name] = value

    return change


@pytest.mark.parametrize("name", TREES)
def test_a_split_of_a_column_that_is_not_there_is_refused(name: str, tmp_path: Path) -> None:
    refused(name, with_cell(f"{TREES[name]}.feature", 5), "names a column beyond 5", tmp_path)


@pytest.mark.parametrize("name", TREES)
def test_a_threshold_that_is_no_number_is_refused(name: str, tmp_path: Path) -> None:
    change = with_array(f"{TREES[name]}.threshold", lambda own: np.full(len(own), np.nan))
    refused(name, change, "threshold is NaN at a split", tmp_path)


@pytest.mark.parametrize("name", TREES)
def test_bits_that_form_no_tree_are_refused(name: str, tmp_path: Path) -> None:
    refused(name, with_array(f"{TREES[name]}.is_leaf", lambda own: own ^ 64), "is_leaf", tmp_path)

    def other_order(own: Any) -> Any:
        bits = np.unpackbits(own)
        return np.packbits(np.sort(bits)[::-1])

    refused(name, with_array(f"{TREES[name]}.is_leaf", other_order), "is_leaf does not describe a tree", tmp_path)


@pytest.mark.parametrize("name", TREES)
def test_a_level_that_the_column_does_not_have_is_refused(name: str, tmp_path: Path) -> None:
    refused(name, with_cell(f"{TREES[name]}.levels", 2**31), "levels that the column does not have", tmp_path)

    def fewer_levels(document: Any, arrays: dict[str, Any]) -> None:
        columns = document["fitted"]["schema_"]["Schema"]["columns"]["tuple"]
        columns[2]["ColumnSchema"]["levels"]["tuple"] = ["blue"]

    refused(name, fewer_levels, "levels", tmp_path)


@pytest.mark.parametrize("name", TREES)
def test_a_value_that_is_not_finite_is_refused(name: str, tmp_path: Path) -> None:
    for value in (np.nan, np.inf):
        refused(name, with_cell(f"{TREES[name]}.value.leaf", value), "numbers that nodes cannot have", tmp_path)


def test_rows_of_nodes_that_grow_on_the_way_down_are_refused(tmp_path: Path) -> None:
    def grow(document: Any, arrays: dict[str, Any]) -> None:
        inner = len(arrays["fitted.forest_.trees.feature"])
        arrays["fitted.forest_.trees.rows.inner"] = np.arange(inner, dtype=np.uint32)

    refused("large trees", grow, r"rows.inner has a node of fewer rows than its child", tmp_path)


LEAVES = "fitted._leaf_targets.0"
BAD_FORESTS: dict[str, Change] = {
    "rows beyond the table": with_cell(f"{LEAVES}.rows", 5000),
    "no rows in any leaf": with_array(f"{LEAVES}.starts", np.zeros_like),
    "starts that fall": with_array(f"{LEAVES}.starts", lambda own: own[::-1]),
    "starts beyond the end": with_cell(f"{LEAVES}.starts", 4000),
    "starts of another type": with_array(f"{LEAVES}.starts", lambda own: own.astype(np.int64)),
    "counts of zero": with_array(f"{LEAVES}.counts", np.zeros_like),
    "counts below zero": with_array(f"{LEAVES}.counts", np.negative),
    "counts that are no numbers": with_cell(f"{LEAVES}.counts", np.nan),
    "too few targets": with_array("fitted._training_target", lambda own: own[:-1]),
    "no order": with_array("fitted._bags.order", np.zeros_like),
    "order beyond the rows": with_cell("fitted._bags.order", 9999),
    "weights below zero": with_array("fitted._bags.weight", np.negative),
    "rows that do not fit": with_array("fitted._rows", lambda own: own[:-1]),
}


@pytest.mark.parametrize("what", BAD_FORESTS)
def test_rows_that_a_forest_cannot_have_are_refused(what: str, tmp_path: Path) -> None:
    refused("forest with everything", BAD_FORESTS[what], r"fitted\._(leaf_targets|training_target|bags|rows)", tmp_path)


def in_bags(name: str, value: Any) -> Change:
    def change(document: Any, arrays: dict[str, Any]) -> None:
        document["fitted"]["_bags"]["Bags"][name] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        in_bags("n_features", 7),
        in_bags("n_draws", 2**60),
        in_bags("n_draws", -1),
        in_bags("n_chosen", 0),
        in_bags("n_chosen", 2**20),
        in_bags("given", []),
        in_bags("seed", -1),
        in_bags("replace", 1),
    ],
)
def test_draws_that_a_forest_cannot_have_made_are_refused(change: Change, tmp_path: Path) -> None:
    refused("forest with everything", change, r"fitted\._bags", tmp_path)


BAD_STATES: dict[str, tuple[str, Change, str]] = {
    "an attribute of another family": ("tree numbers", with_fitted("ensemble_", None), "is not an attribute of"),
    "an unknown attribute": ("tree numbers", with_fitted("__class__", "x"), "is not an attribute of"),
    "members of bagging": ("bagging", with_fitted("_members", []), "fitted._members must be a NoneType"),
    "classes of a regressor": ("tree numbers", with_fitted("classes_", {"texts": ["a"]}), "only for classifiers"),
    "one class too few": ("tree classes", with_fitted("classes_", {"texts": ["a", "b"]}), "does not match the classes"),
    "a class twice": ("tree classes", with_fitted("classes_", {"texts": ["a", "b", "a"]}), "a label twice"),
    "two outputs": ("tree numbers", with_fitted("n_outputs_", 2), "does not match"),
    "a best round beyond the last": ("newton numbers", with_fitted("_best", 99), "fitted._best is a round"),
    "another init": ("gradient numbers", with_fitted("_has_init", True), "an estimator that no file can hold"),
    "a schema that is none": ("newton numbers", with_fitted("schema_", "x"), "fitted.schema_ must be a Schema"),
    "a tree as parameter": (
        "newton numbers",
        with_parameter("callbacks", {"Tree": {"count": 1}}),
        "must not hold a Tree",
    ),
    "an unknown parameter": ("newton numbers", with_parameter("eval", "1"), "parameters.eval is not a parameter of"),
    "a parameter that may not be": ("newton numbers", with_parameter("max_bin", 1), "max_bin=1 is not allowed"),
    "a forest inside of bagging": (
        "bagging",
        with_parameter("estimator", {"RandomForestClassifier": {}}),
        "parameters.estimator is not the tree",
    ),
    "a regressor inside of classes": (
        "adaboost three",
        with_parameter("estimator", {"DecisionTreeRegressor": {}}),
        "parameters.estimator is not the tree",
    ),
}


def in_losses(change: Callable[[dict[str, Any]], None]) -> Change:
    """Change the options of the losses of targets."""

    def apply(document: Any, arrays: dict[str, Any]) -> None:
        change(document["fitted"]["loss_"]["PerTarget"]["options"])

    return apply


BAD_TARGETS: dict[str, tuple[Change, str]] = {
    "a target too many": (in_losses(lambda own: own["targets"].append("x")), "a loss for each of its targets"),
    "one target": (in_losses(lambda own: own.update({name: own[name][:1] for name in own})), "each of its targets"),
    "more losses than scores": (in_losses(lambda own: own.update({n: own[n] * 2 for n in own})), "the scores of"),
    "a name that is no text": (in_losses(lambda own: own.update(targets=["a", 3])), "must be a string, not 3"),
    "no lists": (in_losses(lambda own: own.update(targets="ab")), "must have losses and targets"),
    "no names": (in_losses(lambda own: own.pop("targets") and None), "must have losses and targets"),
    "a loss of pairs": (in_losses(lambda own: own["losses"][0].update(name="lambdarank")), "loss of one target"),
    "losses of classes": (in_losses(lambda own: own["losses"][0].update(name="logistic")), "loss of one target"),
    "targets of targets": (in_losses(lambda own: own["losses"][1].update(name="per_target")), "loss of one target"),
    "a loss without a name": (in_losses(lambda own: own["losses"].__setitem__(1, [])), "loss of one target"),
    "other options": (in_losses(lambda own: own["losses"][1].update(options={"power": 9})), "does not take"),
    "several quantiles": (
        in_losses(lambda own: own.update(losses=[{"name": "quantile", "options": {"quantile": [0.1, 0.9]}}] * 2)),
        "does not match the losses of the other targets",
    ),
    "another loss": (
        in_losses(lambda own: own["losses"][1].update(name="absolute_error")),
        "does not match the losses of the other targets",
    ),
}


@pytest.mark.parametrize("what", BAD_TARGETS)
def test_losses_that_targets_cannot_have_are_refused(what: str, tmp_path: Path) -> None:
    change, told = BAD_TARGETS[what]
    refused("newton targets", change, told, tmp_path)


def test_only_the_regressor_has_several_targets(tmp_path: Path) -> None:
    def move(document: Any, arrays: dict[str, Any]) -> None:
        losses = [{"name": "squared_error", "options": {}}] * 3
        loss = {"name": "per_target", "options": {"losses": losses, "targets": ["a", "b", "c"]}}
        document["fitted"]["loss_"] = {"PerTarget": loss}

    refused("newton three", move, "fitted.loss_ has several targets", tmp_path)


@pytest.mark.parametrize("name", ["estimator", "n_estimators", "random_state"])
def test_a_function_is_lost_only_where_there_may_be_one(name: str, tmp_path: Path) -> None:
    change = with_parameter(name, {"lost": "the function f"})
    if name == "random_state":
        assert changed(saved_model("adaboost three")[0], tmp_path, change).random_state.described == "the function f"
    else:
        refused("adaboost three", change, f"parameters.{name} is not", tmp_path)


def test_a_class_that_only_fills_up_a_row_is_never_predicted(tmp_path: Path) -> None:
    def fill(document: Any, arrays: dict[str, Any]) -> None:
        for part in ("leaf", "inner"):
            arrays[f"fitted.tree_.value.{part}"] = arrays[f"fitted.tree_.value.{part}"].astype(np.float64)
            arrays[f"fitted.tree_.value.{part}"][:, 2] = 9.0  # the first output has two classes

    model, X = saved_model("two outputs")
    assert set(changed(model, tmp_path, fill).predict(X)[:, 0]) <= {"yes", "no"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", BAD_STATES)
def test_a_state_that_no_model_has_is_refused(what: str, form: str, tmp_path: Path) -> None:
    name, change, told = BAD_STATES[what]
    refused(name, change, told, tmp_path, form)


@pytest.mark.parametrize("part", ["schema_", "ensemble_", "loss_", "_best", "evals_result_", "learning_rates_"])
def test_a_part_that_is_missing_is_named(part: str, tmp_path: Path) -> None:
    def forget(document: Any, arrays: dict[str, Any]) -> None:
        del document["fitted"][part]

    refused("gradient numbers", forget, f"fitted.{part} is missing, but GradientBoostingRegressor", tmp_path)


def test_an_array_that_belongs_to_nothing_is_refused(tmp_path: Path) -> None:
    def add(document: Any, arrays: dict[str, Any]) -> None:
        arrays["fitted.more"] = np.ones(3)

    refused("tree numbers", add, "the array 'fitted.more' is not used by any value", tmp_path)


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("levels", [60, 600, 900])
def test_values_that_are_nested_too_deeply_are_refused(levels: int, form: str, tmp_path: Path) -> None:
    for change in (with_parameter("callbacks", deep(levels)), with_fitted("_best", deep(levels))):
        refused("newton numbers", change, "deeply|recursion", tmp_path, form)


@pytest.mark.parametrize("count", [450, 20_000])
def test_a_document_that_is_nested_for_ever_is_refused(count: int, tmp_path: Path) -> None:
    sw.save(saved_model("newton numbers")[0], tmp_path / "model.json")
    text = (tmp_path / "model.json").read_bytes()
    bad = text.replace(b'"extensions": {', b'"extensions": {"a": ' + b"[" * count + b"]" * count + b", ", 1)
    with pytest.raises(ModelFileError):
        load_bytes(bad, tmp_path)


@pytest.mark.parametrize("name", ["__metadata__", "document", "\ud800"])
def test_names_of_arrays_that_mean_something_else_are_refused(name: str, tmp_path: Path) -> None:
    sw.save(saved_model("tree numbers")[0], tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_bytes())
    content["arrays"][name] = {"dtype": "U8", "shape": [1], "data": [1]}
    with pytest.raises(ModelFileError):
        load_bytes(json.dumps(content).encode(), tmp_path)


BAD_ENTRIES: dict[str, Any] = {
    "no object": 3,
    "no numbers": {"dtype": "F64", "shape": [1], "data": ["x"]},
    "a truth value": {"dtype": "U8", "shape": [1], "data": [True]},
    "a whole number among floats": {"dtype": "F64", "shape": [1], "data": [1]},
    "a number too large": {"dtype": "U8", "shape": [1], "data": [256]},
    "a number too small": {"dtype": "U8", "shape": [1], "data": [-1]},
    "a float too large": {"dtype": "F32", "shape": [1], "data": [1e300]},
    "too few": {"dtype": "U8", "shape": [2], "data": [1]},
    "huge and empty": {"dtype": "F64", "shape": [0, 2**62], "data": []},
    "four dimensions": {"dtype": "F64", "shape": [1, 1, 1, 1], "data": [1.0]},
    "an unknown type": {"dtype": "F16", "shape": [1], "data": [1.0]},
    "a type that is no text": {"dtype": {}, "shape": [1], "data": [1.0]},
}


@pytest.mark.parametrize("what", BAD_ENTRIES)
def test_arrays_of_the_readable_form_that_are_none_are_refused(what: str, tmp_path: Path) -> None:
    sw.save(saved_model("tree numbers")[0], tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_bytes())
    content["arrays"]["fitted.tree_.feature"] = BAD_ENTRIES[what]
    with pytest.raises(ModelFileError):
        load_bytes(json.dumps(content).encode(), tmp_path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1"])
def test_a_document_has_one_encoding(encoding: str, tmp_path: Path) -> None:
    sw.save(saved_model("tree numbers")[0], tmp_path / "model")
    metadata, document, arrays = contents(tmp_path / "model")
    document["extensions"]["ä"] = 1
    text = json.dumps(document, ensure_ascii=False).encode(encoding)
    parts = pack(metadata, arrays | {"document": np.frombuffer(text, np.uint8)})
    with pytest.raises(ModelFileError, match="document cannot be read"):
        load_bytes(b"".join(bytes(part) for part in parts), tmp_path)


def test_trees_of_a_bag_that_is_not_theirs_are_refused(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    model = sw.BaggingRegressor(n_estimators=4, max_features=2, random_state=0).fit(X, X.sum(axis=1))
    model._bags = replace(model._bags, n_chosen=1)
    sw.save(model, tmp_path / "a.sapwood")
    loaded = sw.load(tmp_path / "a.sapwood")
    assert len(loaded.predict(X)) == 60
    with pytest.raises(InputError, match="splits columns that its bag does not have"):
        loaded.estimators_[0].predict(X[:, :1])


def with_width(n_values: int) -> Change:
    """Trees whose nodes have another number of values."""

    def change(document: Any, arrays: dict[str, Any]) -> None:
        trees = document["fitted"]["ensemble_"]["Ensemble"]["trees"]
        trees["outputs"], trees["classes"] = n_values, [1] * n_values
        for part in ("leaf", "inner"):
            name = f"fitted.ensemble_.trees.value.{part}"
            arrays[name] = np.resize(arrays[name], (len(arrays[name]), n_values))

    return change


@pytest.mark.parametrize("name", ["newton vectors", "newton three"])
@pytest.mark.parametrize("n_values", [2, 4])
def test_trees_of_boosting_with_another_number_of_values_are_refused(name: str, n_values: int, tmp_path: Path) -> None:
    refused(name, with_width(n_values), "neither one value nor 3 values in a node", tmp_path)


def test_trees_that_do_not_fill_their_rounds_are_refused(tmp_path: Path) -> None:
    refused("newton vectors", with_width(1), "does not have a tree for each of 3 scores", tmp_path)


def test_one_tree_for_all_scores_of_gradient_boosting_is_refused(tmp_path: Path) -> None:
    refused("gradient three", with_width(3), "ensemble_ does not have a tree for each score", tmp_path)
