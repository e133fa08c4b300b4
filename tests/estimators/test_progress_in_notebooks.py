"""Verbose training in a notebook: one line that is drawn over and over, the same for every kind of model."""

import io
import re

import numpy as np
import pytest

import sapwood as sw
from notebook_run import run_cells
from sapwood.progress_bar import ProgressBar, Shown

PREPARE = """
import numpy as np
import sapwood as sw
X = np.random.default_rng(0).normal(size=(60, 3))
y = X[:, 0]
"""
CELLS = {
    "newton": "sw.NewtonBoostingRegressor(n_estimators=4, verbose=1).fit(X, y);",
    "forest": "sw.RandomForestRegressor(4, random_state=0, verbose=1).fit(X, y);",
    "adaboost": "sw.AdaBoostRegressor(n_estimators=4, verbose=1).fit(X, y);",
    "folds": "sw.cross_validate_boosting(sw.NewtonBoostingRegressor(n_estimators=4), X, y, cv=2, verbose=1);",
    "shown": "sw.cross_validate_boosting(sw.NewtonBoostingRegressor(n_estimators=4), X, y, cv=2)",
    "model": "sw.NewtonBoostingRegressor(n_estimators=4).fit(X, y)",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    cells = run_cells([PREPARE, *CELLS.values()], tmp_path_factory.mktemp("notebook"))
    return dict(zip(CELLS, cells[1:], strict=True))


@pytest.mark.parametrize("name", ["newton", "forest", "adaboost", "folds"])
def test_a_bar_is_drawn_in_one_line(outputs, name):
    streams = [output for output in outputs[name] if output["output_type"] == "stream"]
    assert {stream["name"] for stream in streams} == {"stderr"}
    text = "".join(stream["text"] for stream in streams)
    assert text.count("\n") == 1
    assert text.endswith("\n")
    last = text.rstrip("\n").rpartition("\r")[2]
    assert re.match(r"█{30} 4/4  .*\d\.\d s", last)


def test_results_and_models_are_pages(outputs):
    for name, words in {"shown": "BoostingCV(rmse", "model": "greatest depth"}.items():
        data = next(output["data"] for output in outputs[name] if "data" in output)
        assert words in data["text/html"]
        assert data["text/plain"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_last_round_is_shown_when_training_ends_early():
    stream = Terminal()
    with ProgressBar(1, stream) as bar:
        for k in range(1, 8):
            bar(Shown(k, 100, 0.001 * k, {}))
    lines = stream.getvalue().split("\r")
    assert [line.split()[1] for line in lines[1:]] == ["1/100", "7/100"]
    assert stream.getvalue().endswith("\n")


def test_a_verbose_fit_that_stops_early_ends_its_line(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    X = np.random.default_rng(0).normal(size=(80, 3))
    noise = np.random.default_rng(1).normal(size=80)
    model = sw.NewtonBoostingRegressor(n_estimators=200, early_stopping_rounds=2, learning_rate=1.0, verbose=1)
    model.fit(X[:40], noise[:40], eval_set=[(X[40:], noise[40:])])
    assert stream.getvalue().endswith("\n")
    assert f"{model.n_estimators_}/200" in stream.getvalue().rpartition("\r")[2]
