"""Pictures in a notebook without `%matplotlib inline`: each cell that draws shows its picture."""

import matplotlib.pyplot as plt
import pytest

from notebook_run import run_cells
from sapwood.plot.style import _STYLE, style

PREPARE = """
import numpy as np
import sapwood
X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
tree = sapwood.DecisionTreeClassifier(max_depth=2).fit(X, y)
"""
PICTURES = [
    "sapwood.plot_tree(tree)",
    "sapwood.plot_importance(tree)",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])",
    "sapwood.plot_confusion_matrix(tree, X, y);",
    "plt.figure(); plt.plot([3, 2, 1]);",
    "sapwood.plot_partial_dependence(sapwood.explain.partial_dependence(tree, X, 0))",
]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    return run_cells([PREPARE, *PICTURES], tmp_path_factory.mktemp("notebook"))[1:]


@pytest.mark.parametrize("number", range(len(PICTURES)), ids=PICTURES)
def test_every_cell_that_draws_shows_one_picture(outputs, number):
    assert sum("image/png" in output.get("data", {}) for output in outputs[number]) == 1


def test_the_style_gives_back_its_own_settings_and_leaves_others_alone():
    was = plt.rcParams["interactive"], plt.rcParams["lines.linewidth"], plt.rcParams["font.size"]
    own = {name: plt.rcParams[name] for name in _STYLE}
    try:
        plt.rcParams["font.size"] = own["font.size"] = 17.0
        with style():
            assert {name: plt.rcParams[name] for name in _STYLE} == _STYLE | {"font.family": ["sans-serif"]}
            plt.rcParams.update({"interactive": not was[0], "lines.linewidth": 9.0})  # as a notebook's backend does
        assert {name: plt.rcParams[name] for name in _STYLE} == own
        assert plt.rcParams["interactive"] is not was[0]
        assert plt.rcParams["lines.linewidth"] == 9.0
    finally:
        plt.rcParams.update({"interactive": was[0], "lines.linewidth": was[1], "font.size": was[2]})


def test_the_style_gives_back_its_settings_after_an_error():
    own = {name: plt.rcParams[name] for name in _STYLE}
    with pytest.raises(ZeroDivisionError), style():
        raise ZeroDivisionError
    assert {name: plt.rcParams[name] for name in _STYLE} == own
