"""Long explanations show how much is done, if asked."""

import io

import numpy as np
import pytest

import sapwood as sw
from sapwood import explain
from sapwood.errors import ParameterError
from sapwood.progress_bar import WorkBar

X = np.random.default_rng(0).normal(size=(50, 4))
MODEL = sw.RandomForestRegressor(4, random_state=0).fit(X, X[:, 0])

CALLS = {
    "shap": lambda **own: explain.shap_values(MODEL, X, **own).values,
    "background": lambda **own: explain.shap_values(MODEL, X, background=X[:5], **own).values,
    "interactions": lambda **own: explain.shap_interaction_values(MODEL, X, **own).values,
    "importance": lambda **own: explain.importance(MODEL, X, X[:, 0], **own)["permutation"],
}


@pytest.mark.parametrize("name", CALLS)
def test_progress_ends_at_100_percent_and_changes_nothing(name, capfd):
    quiet = CALLS[name](n_jobs=2)
    assert capfd.readouterr() == ("", "")
    np.testing.assert_array_equal(CALLS[name](n_jobs=2, verbose=True), quiet)
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1].startswith("100/100  ")
    with pytest.raises(ParameterError, match="verbose='yes' is not allowed"):
        CALLS[name](verbose="yes")


def test_work_is_counted_in_percent():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    with WorkBar(3, True, stream) as bar:
        assert [task() for task in bar.counted([lambda k=k: k for k in range(3)])] == [0, 1, 2]
    shown = [line.split()[1] for line in stream.getvalue().split("\r")[1:]]
    assert shown[0] == "33/100"
    assert shown[-1] == "100/100"
    assert stream.getvalue().endswith("\n")
