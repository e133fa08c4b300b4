"""Files of every version of the format are read for ever, and say what they always said."""

from __future__ import annotations

import pytest
from golden import FOLDER, answers, expected, rows_from, told

import sapwood as sw
from sapwood.estimators.model_file import ESTIMATORS
from sapwood.files.content import read_content

EXPECTED = expected()
LARGEST = 20_000


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("file", EXPECTED["models"])
def test_a_golden_file_says_what_it_always_said(file: str, mmap: bool) -> None:
    model, known = sw.load(FOLDER / file, mmap=mmap), EXPECTED["models"][file]
    assert type(model).__name__ == known["estimator"]
    assert answers(model, rows_from(EXPECTED["rows"])) == known["answers"]


@pytest.mark.parametrize("file", EXPECTED["models"])
def test_load_model_of_a_golden_file_predicts_what_it_always_predicted(file: str) -> None:
    model, known, X = sw.load_model(FOLDER / file), EXPECTED["models"][file], rows_from(EXPECTED["rows"])
    assert model.estimator == known["estimator"]
    assert told(model.predict(X)) == known["answers"]["predict"]
    if "predict_proba" in known["answers"]:
        assert told(model.predict_proba(X)) == known["answers"]["predict_proba"]


@pytest.mark.parametrize("file", EXPECTED["models"])
def test_a_golden_file_has_the_fingerprint_it_always_had(file: str) -> None:
    assert sw.fingerprint(sw.load(FOLDER / file)) == EXPECTED["models"][file]["fingerprint"]


def test_there_is_a_small_golden_file_of_every_estimator() -> None:
    assert {known["estimator"] for known in EXPECTED["models"].values()} == set(ESTIMATORS)
    files = [path for path in FOLDER.iterdir() if path.name != "expected.json"]
    assert {path.name for path in files} == set(EXPECTED["models"])
    for path in files:
        assert path.stat().st_size < LARGEST
        assert read_content(path)[0]["version"] == "1"


def test_both_forms_are_among_them() -> None:
    assert {file.rpartition(".")[2] for file in EXPECTED["models"]} == {"sapwood", "json"}
