from itertools import pairwise
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sapwood.errors import InputError, InputTypeError, ParameterTypeError
from sapwood.plot import plot_pruning


def path(count=30, **changes):
    mean = 0.12 + 0.1 * np.linspace(-0.6, 1.2, count) ** 2
    best = int(mean.argmin())
    values = {
        "alphas": np.r_[0.0, np.geomspace(1e-5, 0.1, count - 1)],
        "mean": mean,
        "standard_error": np.full(count, 0.012),
        "n_leaves": np.linspace(90, 1, count).astype(int),
        "best": best,
        "chosen": int(np.flatnonzero(mean <= mean[best] + 0.012)[-1]),
        "rule": "1-SE",
        "score_name": "cost in $",
    }
    return SimpleNamespace(**values | changes)


def test_minimum_limit_and_choice_are_marked():
    curve = path()
    ax = plot_pruning(curve)
    ax.figure.canvas.draw()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[0] == "mean ± standard error"
    assert texts[2].startswith(f"least error: {curve.n_leaves[curve.best]} leaves, alpha")
    assert texts[3].startswith("chosen (1-SE): ")
    level = [line.get_ydata()[0] for line in ax.lines if len(set(line.get_ydata())) == 1 and len(line.get_ydata()) == 2]
    assert pytest.approx(curve.mean[curve.best] + 0.012) in level
    assert ax.get_ylabel() == "cross-validated cost in $"


@pytest.mark.parametrize("count", [1, 2, 30, 400])
def test_labels_of_the_ticks_do_not_run_into_each_other(count):
    ax = plot_pruning(path(count))
    ax.figure.canvas.draw()
    for axis in (ax.xaxis, ax.child_axes[0].xaxis):
        boxes = [text.get_window_extent() for text in axis.get_ticklabels() if text.get_text()]
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))


def test_axes_can_be_given():
    ax = plt.subplots()[1]
    assert plot_pruning(path(), ax) is ax
    assert plot_pruning(path(), ax=ax) is ax


def test_bad_paths_are_refused():
    with pytest.raises(InputTypeError, match="path is a dict without alphas, mean"):
        plot_pruning({})
    with pytest.raises(InputError, match=r"lengths \[30, 2, 30, 30\]"):
        plot_pruning(path(mean=[1, 2]))
    with pytest.raises(ParameterTypeError, match="ax='x'"):
        plot_pruning(path(), "x")
