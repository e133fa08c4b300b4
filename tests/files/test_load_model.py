"""`load_model`: the same predictions and errors as the estimator, and none of the libraries that training needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from file_cases import FORMS, assert_same_predictions, changed, same
from saved_models import NAMES, classes, matrix, numbers, saved_model
from sklearn.base import is_classifier

import sapwood as sw
from model_cases import fitted, frame, signal
from sapwood.errors import ModelFileError, ParameterError, SapwoodError
from sapwood.estimators.model_file import ESTIMATORS
from sapwood.files.families import FAMILIES
from sapwood.files.saved_estimator import SavedEstimator

FORBIDDEN = ("sklearn", "pandas", "joblib", "matplotlib", "polars", "pyarrow")
PREDICT = """
import json, sys
import numpy as np
import sapwood
path, rows, row = sys.argv[1], np.array(json.loads(sys.argv[2]), dtype=np.float64), json.loads(sys.argv[3])
model = sapwood.load_model(path)
model.predict_one(row)
if len(rows):
    model.predict(rows), list(model.predict_batches([rows, rows[:1]], proba=model.is_classifier))
print(json.dumps(sorted(sys.modules)))
"""
COMPILE = """
import json, sys
import numba
numba.njit("int64(int64)")(lambda number: number)
print(json.dumps(sorted(sys.modules)))
"""


def saved(model: Any, folder: Path, form: str = "binary") -> Path:
    sw.save(model, folder / "model", form=form)
    return folder / "model"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_it_predicts_what_the_estimator_predicts(name: str, form: str, tmp_path: Path) -> None:
    model, X = saved_model(name)
    path = saved(model, tmp_path, form)
    assert_same_predictions(sw.load(path), sw.load_model(path, mmap=form == "binary"), X)


WRONG_ROWS = {
    "fewer columns": lambda X: X.iloc[:, :3],
    "another name": lambda X: X.rename(columns={"age": "years"}),
    "no rows": lambda X: X[:0],
    "text for a number": lambda X: X.assign(age=["x"] * len(X)),
    "a vector": lambda X: X["age"].to_numpy(),
    "nothing": lambda _: None,
}


@pytest.mark.parametrize("wrong", WRONG_ROWS)
@pytest.mark.parametrize("name", ["tree classes", "forest numbers", "adaboost three", "newton numbers"])
def test_wrong_rows_give_the_errors_of_the_estimator(name: str, wrong: str, tmp_path: Path) -> None:
    path, X = saved(fitted(name), tmp_path), WRONG_ROWS[wrong](frame(12, seed=1))
    errors = []
    for model in (sw.load(path), sw.load_model(path)):
        with pytest.raises(SapwoodError) as found:
            model.predict(X)
        errors.append((found.type, str(found.value)))
    assert errors[0] == errors[1]


UNSEEN = [
    *((kind, unseen) for kind in ("tree", "forest", "bagging", "adaboost") for unseen in ("missing", "error", "node")),
    *((kind, unseen) for kind in ("newton", "gradient") for unseen in ("missing", "error")),
]


@pytest.mark.filterwarnings("ignore::sapwood.errors.DataDriftWarning")
@pytest.mark.parametrize(("kind", "unseen"), UNSEEN)
def test_unseen_levels_do_what_the_estimator_has_them_do(kind: str, unseen: str, tmp_path: Path) -> None:
    X = frame(80)
    tree = sw.DecisionTreeRegressor(max_depth=4, unseen=unseen)
    made = {
        "tree": tree,
        "forest": sw.RandomForestRegressor(3, unseen=unseen, random_state=0),
        "bagging": sw.BaggingRegressor(tree, 3, random_state=0),
        "adaboost": sw.AdaBoostRegressor(tree, n_estimators=3, random_state=0),
        "newton": sw.NewtonBoostingRegressor(n_estimators=3, unseen=unseen),
        "gradient": sw.GradientBoostingRegressor(n_estimators=3, unseen=unseen),
    }
    path = saved(made[kind].fit(X, signal(X)), tmp_path)
    other = frame(20, seed=1).assign(colour=pd.Categorical(["violet"] * 20))
    answers = [_answer(model, other) for model in (sw.load(path), sw.load_model(path))]
    assert same(*answers)
    assert isinstance(answers[0], str) is (unseen == "error")


def _answer(model: Any, X: Any) -> Any:
    try:
        return model.predict(X)
    except SapwoodError as error:
        return str(error)


@pytest.mark.parametrize("undo", [True, False])
def test_probabilities_undo_class_weights_where_the_estimator_does(undo: bool, tmp_path: Path) -> None:
    X = matrix()
    options = {"class_weight": {0: 5.0, 1: 1.0}, "undo_class_weight": undo, "n_estimators": 3}
    for estimator in (sw.NewtonBoostingClassifier(**options), sw.GradientBoostingClassifier(**options)):
        path = saved(estimator.fit(X, classes(X)), tmp_path)
        model = sw.load_model(path)
        assert (model.response.factors is not None) is undo
        assert_same_predictions(sw.load(path), model, X)


def test_settings_are_those_of_the_estimator(tmp_path: Path) -> None:
    model = sw.BaggingRegressor(
        sw.DecisionTreeRegressor(criterion="absolute_error", unseen="node"), 2, drift_warning=False
    ).fit(matrix(), numbers(matrix()))
    loaded = sw.load_model(saved(model, tmp_path))
    assert (loaded.trees.criterion, loaded.unseen, loaded.drift_warning) == ("absolute_error", "node", False)
    assert loaded.estimator == "BaggingRegressor"


@pytest.mark.parametrize("name", NAMES)
def test_the_model_has_the_attributes_of_that_of_the_estimator(name: str, tmp_path: Path) -> None:
    model = saved_model(name)[0]
    ours, theirs = sw.load_model(saved(model, tmp_path)), model.model_
    for key in ("estimator", "score_names", "single", "unseen", "drift_warning", "is_classifier"):
        assert getattr(ours, key) == getattr(theirs, key), key
    for key in ("divisor", "round_size", "criterion", "size"):
        assert getattr(ours.trees, key) == getattr(theirs.trees, key), key


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("tree numbers", "unseen", "ignore"),
        ("newton numbers", "unseen", "node"),
        ("forest classes", "criterion", "squared_error"),
        ("forest classes", "criterion", {"lost": "the function f"}),
        ("newton two", "undo_class_weight", 1),
        ("adaboost numbers", "drift_warning", None),
    ],
)
def test_parameters_that_predictions_need_are_checked(name: str, key: str, value: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError):
        changed(saved_model(name)[0], tmp_path, lambda document, _: document["parameters"].update({key: value}))
    with pytest.raises(ModelFileError, match=rf"parameters\.{key}"):
        sw.load_model(tmp_path / "given.sapwood")


def test_parameters_that_a_file_does_not_have_take_their_defaults(tmp_path: Path) -> None:
    model, X = saved_model("newton two")
    changed(model, tmp_path, lambda document, _: document.update(parameters={}))
    assert_same_predictions(model, sw.load_model(tmp_path / "given.sapwood"), X)


def test_damaged_files_and_wrong_arguments_are_refused(tmp_path: Path) -> None:
    path = saved(fitted("tree numbers"), tmp_path)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    for mmap in (True, False):
        with pytest.raises(ModelFileError, match="checksum"):
            sw.load_model(path, mmap=mmap)
    with pytest.raises(ModelFileError, match="No such file"):
        sw.load_model(tmp_path / "nothing")
    with pytest.raises(SapwoodError, match="mmap"):
        sw.load_model(path, map=True)  # type: ignore[call-arg]


def test_a_ranking_needs_a_loss_that_ranks(tmp_path: Path) -> None:
    def change(document: Any, _: Any) -> None:
        document["fitted"]["loss_"] = {"Poisson": {"name": "poisson", "options": {}}}

    with pytest.raises(ModelFileError, match="does not rank"):
        changed(fitted("newton ranks"), tmp_path, change)


def test_numbers_have_no_probabilities(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="predict_proba is for classes"):
        sw.load_model(saved(fitted("tree numbers"), tmp_path)).predict_proba(frame(3))


def test_every_estimator_has_a_family_and_the_task_that_scikit_learn_sees() -> None:
    assert set(FAMILIES) == set(ESTIMATORS)
    for name, cls in ESTIMATORS.items():
        assert SavedEstimator(name, {}).is_classifier == is_classifier(cls())


@pytest.fixture(scope="module")
def modules_of_numba() -> set[str]:
    return _modules(COMPILE)


def _modules(code: str, *arguments: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "estimator",
    [
        sw.DecisionTreeClassifier(max_depth=3),
        sw.RandomForestClassifier(n_estimators=3),
        sw.AdaBoostRegressor(n_estimators=3),
        sw.GradientBoostingClassifier(n_estimators=3),
        sw.NewtonBoostingRegressor(n_estimators=3),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_it_imports_no_library_that_only_training_needs(
    estimator: Any, modules_of_numba: set[str], tmp_path: Path
) -> None:
    X = matrix(80)
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = estimator.fit(table, classes(X) if is_classifier(estimator) else numbers(X))
    path = saved(model, tmp_path)
    rows, row = json.dumps(X[:40].tolist()), json.dumps(table.iloc[0].to_dict())
    found = _modules(PREDICT, str(path), rows, row)
    packages = {name.partition(".")[0] for name in found}
    assert not packages & set(FORBIDDEN)
    of_scipy = {name for name in found if name.startswith("scipy.")}
    assert of_scipy <= modules_of_numba  # Numba imports some of SciPy for itself
    assert not {name for name in found if name.startswith(("sapwood.estimators", "sapwood.explain", "sapwood.plot"))}


def test_a_row_of_texts_and_dates_needs_no_frame_library(tmp_path: Path) -> None:
    X = pd.DataFrame({"colour": ["red", "green", "blue"] * 20, "day": pd.date_range("2020-01-01", periods=60)})
    path = saved(sw.NewtonBoostingRegressor(n_estimators=3).fit(X, np.arange(60.0) % 7), tmp_path)
    program = PREDICT.replace("json.loads(sys.argv[3])", "{'colour': 'red', 'day': np.datetime64('2020-01-09')}")
    found = _modules(program, str(path), "[]")
    assert not {name.partition(".")[0] for name in found} & set(FORBIDDEN)
