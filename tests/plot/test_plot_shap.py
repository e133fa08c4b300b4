import datetime
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from plot.given import StandInShap, inside, legend, nothing_overlaps, shap, texts, ticks
from sapwood import DecisionTreeRegressor
from sapwood.errors import InputError, InputTypeError, ParameterError
from sapwood.explain import shap_values
from sapwood.plot import plot_shap_summary, plot_shap_waterfall


def mixed():
    data = np.empty((4, 4), dtype=object)
    data[:, 0] = ["red", "blue", None, "red"]
    data[:, 1] = [pd.Timestamp("2024-05-01"), np.datetime64("2024-05-02"), pd.NaT, datetime.date(2024, 5, 3)]
    data[:, 2] = [43, 7.25, np.nan, 1e-9]
    data[:, 3] = [True, np.False_, None, pd.Timedelta("90min")]
    values = np.array([[4.0, 3.0, 2.0, 1.0], [-4.0, 3.0, -2.0, 1.0], [4.0, 3.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0]])
    return StandInShap(values, np.full(4, 10.0), data, ("colour", "day_$d$", "age", "flag"))


def points(ax):
    return sum(len(part.get_offsets()) for part in ax.collections)


def test_every_row_is_a_point_and_the_largest_effects_are_on_top():
    given = shap()
    ax = plot_shap_summary(given, most=3)
    order = np.argsort(-np.abs(given.values).mean(axis=0))[:3]
    assert ticks(ax.yaxis) == [given.feature_names[j] for j in order]
    assert points(ax) == 3 * 40
    assert "3 other features not shown" in texts(ax)
    assert len(ax.figure.axes) == 2  # the colour bar
    assert [text.get_text() for text in ax.figure.axes[1].get_yticklabels()] == ["low", "high"]


def test_points_of_a_row_stay_in_it_and_lie_at_their_effects():
    given = shap(rows=3000, features=2)
    ax = plot_shap_summary(given)
    for place in range(2):
        offsets = np.concatenate([part.get_offsets() for part in ax.collections[2 * place : 2 * place + 2]])
        assert np.abs(offsets[:, 1] - place).max() <= 0.4
    top = int(np.argmax(np.abs(given.values).mean(axis=0)))
    drawn = np.concatenate([part.get_offsets() for part in ax.collections[:2]])[:, 0]
    np.testing.assert_allclose(np.sort(drawn), np.sort(given.values[:, top]))


def test_of_very_many_rows_some_are_drawn():
    assert points(plot_shap_summary(shap(rows=5000, features=1))) == 3000


def test_colours_follow_values_missing_ones_are_grey_and_levels_are_named():
    ax = plot_shap_summary(mixed())
    words = texts(ax)
    assert "blue · red" in words
    assert "grey: missing" in words
    missing, known = ax.collections[0], ax.collections[1]
    assert len(missing.get_offsets()) == 1
    np.testing.assert_allclose(known.get_array(), [1.0, 0.0, 1.0])
    np.testing.assert_allclose(ax.collections[5].get_array()[1], 7.25 / 43, atol=0.15)


def test_the_caller_keeps_the_data():
    given = mixed()
    before = given.values.copy(), given.data.copy()
    plot_shap_summary(given)
    plot_shap_waterfall(given)
    np.testing.assert_array_equal(given.values, before[0])
    assert given.data.tolist()[0] == before[1].tolist()[0]


def test_several_outputs_are_stacked_unless_one_is_chosen():
    given = shap(outputs=3)
    ax = plot_shap_summary(given)
    assert legend(ax) == ["class 0", "class 1", "class 2"]
    assert len(ax.patches) == 3 * 6
    total = np.abs(given.values).mean(axis=0).sum(axis=1).max()
    assert max(bar.get_x() + bar.get_width() for bar in ax.patches) == pytest.approx(total)
    for chosen in ("class 1", 1):
        one = plot_shap_summary(given, chosen)
        assert one.get_xlabel() == "SHAP value (effect on the model output): class 1"
        assert points(one) == 6 * 40


def test_an_explanation_of_shap_is_read():
    package = pytest.importorskip("shap")
    given = shap()
    plain = package.Explanation(given.values, 0.5, given.data, feature_names=list(given.feature_names))
    assert points(plot_shap_summary(plain)) == 240
    assert texts(plot_shap_waterfall(plain, 3))[-2] == "0.5"
    bare = SimpleNamespace(values=given.values[0], base_values=0.5, data=None, feature_names=None)
    assert set(ticks(plot_shap_waterfall(bare).yaxis)[1:-1]) == {f"feature {j}" for j in range(6)}
    assert len(plot_shap_summary(bare).figure.axes) == 1  # nothing to colour by


def test_the_way_from_base_to_prediction():
    given = mixed()
    ax = plot_shap_waterfall(given, 1)
    names = ["base value", "colour = blue", "day_$d$ = 2024-05-02", "age = 7.25", "flag = false", "model output"]
    assert ticks(ax.yaxis) == names
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(10, -4), (6, 3), (9, -2), (7, 1)]
    assert texts(ax) == ["−4", "+3", "−2", "+1", "10", "8"]
    assert not any(text.get_parse_math() for text in ax.get_yticklabels())


def test_missing_values_and_small_ones_are_worded():
    assert ticks(plot_shap_waterfall(mixed(), 2).yaxis)[1:5] == [
        "colour = missing",
        "day_$d$ = missing",
        "age = missing",
        "flag = missing",
    ]
    assert ticks(plot_shap_waterfall(mixed(), 3).yaxis)[2:5] == ["day_$d$ = 2024-05-03", "age = 1e-09", "flag = 1.5 h"]


def test_small_effects_are_summed_up_but_never_one_alone():
    given = shap(features=12)
    ax = plot_shap_waterfall(given, 5, most=4)
    assert len(ax.patches) == 5
    assert ticks(ax.yaxis)[5] == "… 8 other features"
    assert ax.patches[-1].get_x() + ax.patches[-1].get_width() == pytest.approx(0.5 + given.values[5].sum())
    assert len(plot_shap_waterfall(given, most=11).patches) == 12


def test_one_output_of_several_must_be_chosen():
    given = shap(outputs=3)
    with pytest.raises(ParameterError, match="a waterfall shows one output, but there are 3: \\['class 0'"):
        plot_shap_waterfall(given)
    ax = plot_shap_waterfall(given, output="class 2")
    assert ax.get_xlabel() == "model output: class 2"
    assert ax.patches[0].get_x() == 2.0


@pytest.mark.parametrize("draw", [plot_shap_summary, plot_shap_waterfall])
def test_long_names_and_constant_effects_are_borne(draw):
    names = tuple(f"a very long name of a feature, which nobody can read at once, number {j}" for j in range(15))
    ax = draw(StandInShap(np.zeros((3, 15)), np.zeros(3), np.ones((3, 15)), names))
    texts(ax)
    assert nothing_overlaps(ax.get_yticklabels())
    assert inside(ax, ax.get_yticklabels())
    one = draw(StandInShap(np.array([[-2.0]]), np.array([1.0]), np.array([[np.inf]]), ("x",)))
    one.figure.canvas.draw()


@pytest.mark.parametrize("draw", [plot_shap_summary, plot_shap_waterfall])
def test_long_names_that_differ_in_their_middle_have_different_labels(draw):
    names = tuple(f"a rather long column name, number {k} of many, per hour (measured)" for k in range(3))
    ax = draw(StandInShap(np.ones((2, 3)), np.zeros(2), np.ones((2, 3)), names))
    written = [text for text in ticks(ax.yaxis) if text.startswith("a ra")]
    assert len(set(written)) == 3


def times():
    """Durations and dates whose words sort otherwise than their values; truth values; one cell is missing."""
    hours = [20, 30, 3, np.nan, 100]
    table = pd.DataFrame({"stay": pd.to_timedelta(hours, unit="h"), "day": pd.Timestamp("2024-05-01")})
    table["day"] += table["stay"] * 1000
    table["weekend"] = [True, False, False, True, False]
    return table


def test_times_are_coloured_by_their_length_and_worded():
    table = times()
    given = shap_values(DecisionTreeRegressor().fit(table, np.arange(5.0)), table)
    ax = plot_shap_summary(given)
    swarms = dict(zip(ticks(ax.yaxis), zip(ax.collections[::2], ax.collections[1::2], strict=False), strict=False))
    for name in ("stay", "day"):
        missing, known = swarms[name]
        assert len(missing.get_offsets()) == 1
        assert np.argsort(known.get_array()).tolist() == [2, 0, 1, 3]
    assert set(texts(ax)) == {"grey: missing"}  # times are no levels
    assert set(ticks(plot_shap_waterfall(given, 1).yaxis)[1:4]) == {
        "stay = 1.25 d",
        "day = 2027-10-03",
        "weekend = false",
    }


def test_words_of_times_survive_the_way_through_shap():
    pytest.importorskip("shap")
    given = shap_values(DecisionTreeRegressor().fit(times(), np.arange(5.0)), times())
    assert ticks(plot_shap_waterfall(given.to_shap(), 1).yaxis) == ticks(plot_shap_waterfall(given, 1).yaxis)


def test_a_time_beyond_all_dates_is_a_level():
    data = np.array([[datetime.timedelta(hours=20)], ["1e+12 d"]], dtype=object)
    assert "1e+12 d · 20 h" in texts(plot_shap_summary(StandInShap(np.ones((2, 1)), 0.0, data, ("stay",))))


@pytest.mark.parametrize("draw", [plot_shap_summary, plot_shap_waterfall])
def test_given_axes_are_used(draw):
    ax = plt.subplots()[1]
    assert draw(shap(), ax=ax) is ax
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("draw", [plot_shap_summary, plot_shap_waterfall])
@pytest.mark.parametrize(
    ("given", "options", "error", "words"),
    [
        ({}, {}, InputTypeError, "shap_values is a dict without base_values, data, feature_names"),
        (shap(), {"output": "x"}, ParameterError, "output='x' is not allowed: it must be one of \\['score'\\]"),
        (shap(), {"output": 1}, ParameterError, "output=1"),
        (shap(), {"most": 0}, ParameterError, "most=0"),
        (StandInShap(np.zeros((2, 0)), 0.0, None, None), {}, InputError, r"shape \(2, 0\)"),
        (StandInShap(np.zeros((2, 3)), np.zeros(5), None, None), {}, InputError, r"base_values has the shape \(5,\)"),
        (StandInShap(np.zeros((2, 3)), 0.0, np.zeros((2, 2)), None), {}, InputError, r"data has the shape \(2, 2\)"),
        (StandInShap(np.zeros((2, 3)), 0.0, None, ("a",)), {}, InputError, "feature_names has 1 names"),
        (StandInShap(np.zeros((2, 3, 2)), 0.0, None, None, ("a",)), {}, InputError, "output_names has 1 names"),
    ],
)
def test_bad_arguments_are_named(draw, given, options, error, words):
    with pytest.raises(error, match=words):
        draw(given, **options)
    assert not plt.get_fignums()


def test_a_row_must_exist():
    with pytest.raises(ParameterError, match=r"row=40 .* from 0 to 39"):
        plot_shap_waterfall(shap(), 40)
