"""Damaged and hostile files of other libraries are refused with a clear word, whatever is wrong with them."""

from __future__ import annotations

import copy
import json
import re
import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from import_cases import frame, signal, three_classes

from sapwood.errors import ModelFileError
from sapwood.interchange import from_lightgbm, from_xgboost
from sapwood.interchange.sources import source_tree
from sapwood.interchange.sources.xgboost.ubjson import read_ubjson

xgb = pytest.importorskip("xgboost")
lgb = pytest.importorskip("lightgbm")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the other libraries: what they make of damaged files is their own affair."""
    monkeypatch.setattr("sapwood.interchange.optional.find_spec", lambda name: None)


@cache
def booster() -> Any:
    X = frame(120)
    data = xgb.DMatrix(X, three_classes(X), enable_categorical=True)
    parameters = {"objective": "multi:softprob", "num_class": 3, "max_depth": 3, "max_cat_to_onehot": 1, "nthread": 1}
    return xgb.train(parameters | {"booster": "dart", "rate_drop": 0.5}, data, 2)


@cache
def json_bytes() -> bytes:
    return bytes(booster().save_raw("json"))


@cache
def ubjson_bytes() -> bytes:
    return bytes(booster().save_raw("ubj"))


@cache
def text() -> str:
    X = frame(120)
    options = {"num_leaves": 5, "verbose": -1, "num_threads": 1, "min_data_in_leaf": 3, "max_cat_to_onehot": 1}
    options |= {"min_data_per_group": 2, "cat_smooth": 1.0}
    return str(lgb.train(options, lgb.Dataset(X, signal(X)), 3).model_to_string())


Change = Callable[[dict[str, Any]], None]


def trees_of(model: dict[str, Any]) -> list[dict[str, Any]]:
    return model["learner"]["gradient_booster"]["gbtree"]["model"]["trees"]


def put(*way: Any, value: Any) -> Change:
    """Set a field of the model, or of its first tree if the way begins there; delete it if the value is ...."""

    def change(model: dict[str, Any]) -> None:
        at: Any = trees_of(model)[0] if way[0] == "tree" else model
        for step in way[1:-1] if way[0] == "tree" else way[:-1]:
            at = at[step]
        if value is ...:
            del at[way[-1]]
        else:
            at[way[-1]] = value

    return change


def names_a_category_twice(model: dict[str, Any]) -> None:
    cats = model["learner"]["gradient_booster"]["gbtree"]["model"]["cats"]["enc"]
    cats[3]["values"] = [10, 10, 30]


LEARNER = ("learner", "learner_model_param")
MODEL = ("learner", "gradient_booster", "gbtree", "model")
CHANGES: list[tuple[Change, str]] = [
    (put("learner", value=...), "learner is missing"),
    (put("version", value=[9, 0, 0]), "written by XGBoost 9.0.0"),
    (put(*LEARNER, "num_feature", value="99999999999"), "num_feature should be a whole number"),
    (put(*LEARNER, "num_feature", value="2"), "split_indices names column"),
    (put(*LEARNER, "num_class", value="2000000000"), "base_score holds 3 numbers"),
    (put(*LEARNER, "base_score", value="[1,2"), "base_score holds 2 numbers"),
    (put(*LEARNER, "base_score", value="nan"), "base_score should be a finite number"),
    (put("learner", "feature_names", value=["a"]), "feature_names should hold a different name"),
    (put("learner", "feature_types", value=["q"]), "feature_types should hold a type"),
    (put("learner", "gradient_booster", "name", value="gbforest"), "'gbforest'"),
    (put("learner", "gradient_booster", "weight_drop", value=[1.0]), "weight_drop should hold 6 numbers"),
    (put("learner", "attributes", value={"best_iteration": "77"}), "best_iteration is 77"),
    (put(*MODEL, "trees", value=[]), "no trees"),
    (put(*MODEL, "trees", value=7), "should be a list"),
    (put(*MODEL, "trees", value=[7]), "tree 0 should be an object"),
    (put(*MODEL, "tree_info", value=[0, 1, 2, 0, 1, 3]), "tree_info holds 3"),
    (put(*MODEL, "tree_info", value=[0, 1, 1, 0, 1, 1]), "0 trees for one of its 3 scores"),
    (put(*MODEL, "iteration_indptr", value=[0, 7]), "iteration_indptr holds 7"),
    (put(*MODEL, "iteration_indptr", value=[0, 0, 6]), "does not rise"),
    (put("tree", "left_children", 0, value=0), "node 0 can be reached in two ways"),
    (put("tree", "left_children", 0, value=99999), "names the node 99999"),
    (put("tree", "left_children", 0, value=-7), "left_children holds -7"),
    (put("tree", "left_children", 0, value=-1), "one child only"),
    (put("tree", "left_children", 0, value=1.5), "left_children should be a list of whole numbers"),
    (put("tree", "left_children", value=[[1]]), "left_children should be a list of whole numbers"),
    (put("tree", "left_children", value=["x"]), "left_children should be a list of whole numbers"),
    (put("tree", "left_children", value=[[1], [2, 3]]), "left_children should be a list of whole numbers"),
    (put("tree", "left_children", value=None), "left_children should be a list of whole numbers"),
    (put("tree", "split_indices", 0, value=99), "names column 99"),
    (put("tree", "split_indices", 0, value=10**30), "split_indices should be a list of whole numbers"),
    (put("tree", "split_conditions", 0, value=float("nan")), "split_conditions holds nan"),
    (put("tree", "split_conditions", -1, value=1e300), "value of a leaf that is not finite"),
    (put("tree", "sum_hessian", 0, value=1e300), "too large for float32"),
    (put("tree", "default_left", 0, value=2), "default_left holds 2"),
    (put("tree", "tree_param", "num_nodes", value="4000000000"), "num_nodes should be a whole number"),
    (put("tree", "tree_param", "num_nodes", value="1999999999"), "should hold 1999999999 whole numbers"),
    (put("tree", "tree_param", "size_leaf_vector", value="3"), "leaves of several values"),
    (put("tree", "loss_changes", value=[1.0]), "loss_changes should hold"),
    (put(*MODEL, "cats", "enc", value=[{}]), "enc should hold the categories"),
    (names_a_category_twice, "same category twice"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=[message for _, message in CHANGES])
def test_what_is_wrong_with_a_model_of_xgboost_is_reported(change: Change, message: str) -> None:
    model = json.loads(json_bytes())
    change(model)
    with pytest.raises(ModelFileError, match=re.escape(message)):
        from_xgboost(json.dumps(model).encode())


def category_tree(model: dict[str, Any]) -> dict[str, Any]:
    return next(tree for tree in trees_of(model) if tree["categories_nodes"])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("categories_nodes", [], "lacks node"),
        ("categories_sizes", 10**6, "categories_sizes holds 1000000"),
        ("categories_segments", 10**6, "categories_segments holds 1000000"),
        ("categories", 2**25, "categories holds 33554432"),
        ("categories", 77, "which has"),
    ],
)
def test_categories_stay_within_their_lists(name: str, value: Any, message: str) -> None:
    model = json.loads(json_bytes())
    tree = category_tree(model)
    if value == []:
        tree["categories_segments"] = tree["categories_sizes"] = []
        tree[name] = value
    else:
        tree[name][0] = value
    with pytest.raises(ModelFileError, match=message):
        from_xgboost(json.dumps(model).encode())


def test_huge_categories_without_names_do_not_take_huge_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    model = json.loads(json_bytes())
    model["learner"]["gradient_booster"]["gbtree"]["model"]["cats"]["enc"] = []
    tree = category_tree(model)
    tree["categories"][0] = 2**24 - 1
    with pytest.raises(ModelFileError, match="at most 1048576 categories"):
        from_xgboost(json.dumps(model).encode())
    tree["categories"][0] = 2**20 - 1
    monkeypatch.setattr(source_tree, "MOST_WORDS", 1000)
    with pytest.raises(ModelFileError, match="GiB"):
        from_xgboost(json.dumps(model).encode())


@pytest.mark.parametrize("whole", [json_bytes, ubjson_bytes], ids=["json", "ubjson"])
def test_truncated_files_of_xgboost(whole: Callable[[], bytes]) -> None:
    data = whole()
    assert from_xgboost(data).n_estimators_ == 2
    for end in [0, 1, 2, 5, *np.linspace(10, len(data) - 1, 40).astype(int).tolist()]:
        with pytest.raises(ModelFileError):
            from_xgboost(data[:end])


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"learner":' * 100_000, b"{L" + b"\0" * 7 + b"\x01aS"])
def test_deep_and_odd_files(data: bytes) -> None:
    with pytest.raises(ModelFileError):
        from_xgboost(data)


def edits(size: int) -> st.SearchStrategy[list[tuple[int, bytes]]]:
    return st.lists(st.tuples(st.integers(0, size - 1), st.binary(min_size=1, max_size=3)), min_size=1, max_size=4)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutated_files_of_xgboost_are_read_or_refused(data: st.DataObject) -> None:
    original = data.draw(st.sampled_from([json_bytes(), ubjson_bytes()]))
    broken = bytearray(original)
    for at, new in data.draw(edits(len(original))):
        broken[at : at + len(new)] = new
    assert_read_or_refused(from_xgboost, bytes(broken))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutated_fields_of_xgboost_are_read_or_refused(data: st.DataObject) -> None:
    model = json.loads(json_bytes())
    tree = data.draw(st.sampled_from(trees_of(model)))
    names = [name for name in tree if isinstance(tree[name], list) and tree[name]]
    field = tree[data.draw(st.sampled_from(names))]
    place = data.draw(st.integers(0, len(field) - 1))
    field[place] = data.draw(st.one_of(st.integers(), st.floats(), st.integers(-2, 20), st.none(), st.booleans()))
    assert_read_or_refused(from_xgboost, json.dumps(model).encode())


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutated_files_of_lightgbm_are_read_or_refused(data: st.DataObject) -> None:
    broken = list(text())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(broken) - 1))
        broken[at] = data.draw(st.sampled_from(["", "-", "9", "0", " ", "\n", "=", "e", "."]))
    assert_read_or_refused(from_lightgbm, "".join(broken).encode())


def assert_read_or_refused(read: Callable[[bytes], Any], data: bytes) -> None:
    try:
        model = read(data)
    except ModelFileError:
        return
    assert np.isfinite(model.predict(np.full((1, model.n_features_in_), np.nan))).all()


def line(name: str, new: str, tree: int = 0) -> Callable[[str], str]:
    """Replace what stands in a line of a tree."""

    def change(whole: str) -> str:
        head, *trees = re.split(r"(?=^Tree=)", whole, flags=re.MULTILINE)
        trees[tree] = re.sub(rf"^{name}=.*$", f"{name}={new}", trees[tree], count=1, flags=re.MULTILINE)
        return head + "".join(trees)

    return change


def head(name: str, new: str) -> Callable[[str], str]:
    return lambda whole: re.sub(rf"^{name}=.*$", f"{name}={new}", whole, count=1, flags=re.MULTILINE)


LIGHTGBM_CHANGES: list[tuple[Callable[[str], str], str]] = [
    (lambda whole: whole.replace("tree\n", "forest\n", 1), "does not begin with a line 'tree'"),
    (lambda whole: whole.replace("end of trees", ""), "no line 'end of trees'"),
    (lambda whole: whole.replace("Tree=1", "Tree=7"), "lacks tree 1"),
    (lambda whole: whole.replace("num_leaves=", "num_leaves=1\nnum_leaves=", 1), "two lines 'num_leaves'"),
    (head("version", "v9"), "version is 'v9'"),
    (head("max_feature_idx", "99999999999"), "max_feature_idx should be a whole number"),
    (head("max_feature_idx", "5"), "each of the 6 columns"),
    (head("num_tree_per_iteration", "2"), "each iteration adds 2"),
    (head("tree_sizes", "1 2"), "tree_sizes should hold"),
    (head("objective", "binary"), "sigmoid above 0"),
    (head("objective", "unheard_of"), "'unheard_of'"),
    (head("objective", ""), "a custom objective"),
    (head("objective", "multiclass num_class:3"), "1 scores with the objective 'multiclass'"),
    (head("feature_names", "a a b c d"), "same name twice"),
    (head("feature_infos", "[0:1] [0:1] x:y 0:1 [0:1]"), "holds 'x', which is not a category"),
    (head("feature_infos", "[0:z] [0:1] 0:1 0:1 [0:1]"), "which is not a range"),
    (line("num_leaves", "99999999999"), "num_leaves should be a whole number"),
    (line("num_leaves", "4000"), "leaf_value should hold 4000 numbers"),
    (line("left_child", "0 1 2 3"), "can be reached in two ways"),
    (line("left_child", "-99 1 2 3"), "left_child holds -99"),
    (line("left_child", "1 x 2 3"), "left_child should hold numbers"),
    (line("left_child", "1"), "left_child should hold 4 whole numbers"),
    (line("split_feature", "77 0 0 0"), "split_feature holds 77"),
    (line("threshold", "nan 0 0 0"), "threshold holds nan"),
    (line("decision_type", "12 0 0 0"), "unknown kind of missing values"),
    (line("leaf_value", "inf 0 0 0 0"), "leaf_value holds inf"),
    (line("is_linear", "1"), "linear models"),
    (lambda whole: re.sub("pandas_categorical:.*", "pandas_categorical:[[", whole), "pandas_categorical is not JSON"),
    (lambda whole: re.sub("pandas_categorical:.*", "pandas_categorical:{}", whole), "should be a list of lists"),
    (lambda whole: re.sub("pandas_categorical:.*", 'pandas_categorical:[["a"], ["b"]]', whole), "names 1 of them"),
]


@pytest.mark.parametrize(("change", "message"), LIGHTGBM_CHANGES, ids=[message for _, message in LIGHTGBM_CHANGES])
def test_what_is_wrong_with_a_model_of_lightgbm_is_reported(change: Callable[[str], str], message: str) -> None:
    broken = change(text())
    assert broken != text()
    with pytest.raises(ModelFileError, match=re.escape(message)):
        from_lightgbm(broken.encode())


def test_sets_of_categories_stay_within_their_lists() -> None:
    found = re.search(r"^cat_boundaries=(.*)$", text(), flags=re.MULTILINE)
    assert found is not None
    n = found.group(1).count(" ")
    for name, new, message in [
        ("cat_boundaries", " ".join(["0"] + ["99"] * n), "cat_boundaries holds 99"),
        ("cat_threshold", "-1", "cat_threshold holds -1"),
        ("cat_boundaries", "0", "sets? .*of categories|names set"),
    ]:
        broken = re.sub(rf"^{name}=.*$", f"{name}={new}", text(), flags=re.MULTILINE)
        with pytest.raises(ModelFileError, match=message):
            from_lightgbm(broken.encode())


def test_truncated_files_of_lightgbm() -> None:
    whole = text()
    end = whole.index("end of trees")
    for cut in [0, 3, 5, *np.linspace(10, end, 40).astype(int).tolist()]:
        with pytest.raises(ModelFileError):
            from_lightgbm(whole[:cut].encode())


def long(n: int) -> bytes:
    return b"L" + struct.pack(">q", n)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "1 bytes are announced, but 0 are left"),
        (b"[$d#" + long(2**60), "are announced, but 0 are left"),
        (b"[#" + long(2**60), "announced"),
        (b"[$T#" + long(2**60), "items that take no bytes"),
        (b"{$Z#" + long(2**60), "items that take no bytes"),
        (b"[$[#" + long(2**60), "announced"),
        (b"S" + long(-1), "a length is -1"),
        (b"Sd\0\0\0\0", "a length is expected"),
        (b"S" + long(1) + b"\xff", "not UTF-8"),
        (b"[$d]", "but not their number"),
        (b"?", "is not a type"),
        (b"[" * 100, "more than 64 deep"),
        (b"TT", "1 bytes follow"),
        (b"{" + (long(1) + b"aT") * 2 + b"}", "stands twice"),
    ],
    ids=str,
)
def test_hostile_ubjson(data: bytes, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        read_ubjson(data)


def test_ubjson_of_every_type() -> None:
    numbers = b"i\xffU\xffI\xff\xfel\xff\xff\xff\xfd" + long(-4) + b"d" + struct.pack(">f", 0.5)
    data = b"{" + long(1) + b"a[" + numbers + b"D" + struct.pack(">d", 0.1) + b"TFZCxNS" + long(1) + b"y]"
    data += long(1) + b"b[$I#" + long(2) + struct.pack(">hh", 1, -2) + long(1) + b"c{#i\x01" + long(1) + b"dT}"
    found = read_ubjson(data)
    assert found["a"] == [-1, 255, -2, -3, -4, 0.5, 0.1, True, False, None, "x", "y"]
    assert found["b"].tolist() == [1, -2]
    assert found["c"] == {"d": True}


def test_ubjson_and_json_give_the_same() -> None:
    plain, binary = json.loads(json_bytes()), read_ubjson(ubjson_bytes())

    def same(a: Any, b: Any) -> bool:
        if isinstance(a, dict):
            return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
        if isinstance(a, list):
            return len(a) == len(b) and all(map(same, a, list(b)))
        return a == b or np.float32(a) == np.float32(b)

    assert same(plain, binary)
    assert same(copy.deepcopy(plain), plain)
