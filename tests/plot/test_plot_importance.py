import matplotlib.pyplot as plt
import numpy as np
import pytest

from plot.given import StandInImportance, inside, nothing_overlaps, texts, ticks
from sapwood import BaggingClassifier, DecisionTreeClassifier
from sapwood.errors import InputError, InputTypeError, NotFittedError, ParameterError
from sapwood.forest.permutation import PermutationImportance
from sapwood.plot import plot_importance


def measured(**changes):
    values = {
        "gain": np.array([3.0, 1.0, 2.0]),
        "permutation": np.array([0.1, -0.02, np.nan]),
        "permutation_se": np.array([0.01, 0.02, np.nan]),
    }
    return StandInImportance(("a", "b_$x^2$", "c"), values | changes, "gain")


def test_the_measure_it_is_sorted_by_is_drawn_the_largest_on_top():
    ax = plot_importance(measured())
    assert ticks(ax.yaxis) == ["a", "c", "b_$x^2$"]
    assert [bar.get_width() for bar in ax.patches] == [3.0, 2.0, 1.0]
    assert ax.get_xlabel() == "gain"
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert not any(text.get_parse_math() for text in ax.get_yticklabels())


def test_long_names_that_differ_in_their_middle_have_different_labels():
    names = tuple(f"a rather long column name, number {k} of many, per hour (measured)" for k in range(3))
    ax = plot_importance(StandInImportance(names, {"gain": np.arange(3.0)}))
    assert len(set(ticks(ax.yaxis))) == 3


def test_error_bars_are_drawn_and_what_was_not_measured_is_left_out():
    ax = plot_importance(measured(), "permutation")
    assert ticks(ax.yaxis) == ["a", "b_$x^2$"]
    bars = ax.collections[0].get_segments()
    np.testing.assert_allclose([segment[:, 0] for segment in bars], [[0.09, 0.11], [-0.04, 0.0]])
    assert ax.get_xlabel() == "permutation importance, mean ± standard error"


def test_a_forests_permutation_importance_has_error_bars():
    increase = np.array([[0.1, 0.3], [0.2, 0.5]])
    ax = plot_importance(PermutationImportance(("x", "y"), increase))
    assert ticks(ax.yaxis) == ["y", "x"]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [0.4, 0.15])
    assert len(ax.collections[0].get_segments()) == 2
    assert not plot_importance(PermutationImportance(("x", "y"), increase[:1])).collections


def test_a_model_and_most():
    x = np.random.default_rng(0).normal(size=(60, 30))
    tree = DecisionTreeClassifier().fit(x, x[:, 3] + x[:, 7] > 0)
    ax = plot_importance(tree, most=4)
    assert len(ax.patches) == 4
    assert "26 other features not shown" in texts(ax)


def test_many_long_names_stay_apart_and_inside():
    names = tuple(f"a very long name of a feature, which nobody can read at once, number {j}" for j in range(30))
    ax = plot_importance(StandInImportance(names, {"gain": np.arange(30.0)}), most=30)
    texts(ax)
    assert nothing_overlaps(ax.get_yticklabels())
    assert inside(ax, ax.get_yticklabels())
    assert len(set(ticks(ax.yaxis))) == 30


def test_given_axes_are_used():
    ax = plt.subplots()[1]
    assert plot_importance(measured(), ax=ax) is ax
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize(
    ("given", "options", "error", "words"),
    [
        (measured(), {"measure": "gian"}, ParameterError, "Did you mean measure='gain'"),
        (measured(), {"measure": "permutation_se"}, ParameterError, "measure='permutation_se'"),
        (measured(), {"most": 0}, ParameterError, "most=0"),
        (StandInImportance(("a",), {}), {}, InputError, "no measures"),
        (measured(gain=np.full(3, np.nan)), {}, InputError, "no number of gain"),
        ({}, {}, InputTypeError, "importance is a dict without importances"),
        (DecisionTreeClassifier(), {}, NotFittedError, "not fitted"),
        (DecisionTreeClassifier(), {"measure": "gain"}, ParameterError, "needs the result of explain.importance"),
    ],
)
def test_bad_arguments_are_named(given, options, error, words):
    with pytest.raises(error, match=words):
        plot_importance(given, **options)
    assert not plt.get_fignums()


def test_a_model_without_importances_is_refused():
    from sklearn.neighbors import KNeighborsClassifier

    x = np.arange(20.0)[:, None]
    model = BaggingClassifier(KNeighborsClassifier(), n_estimators=2).fit(x, x[:, 0] > 9)
    with pytest.raises((InputTypeError, InputError)):
        plot_importance(model)
