import datetime

import matplotlib.pyplot as plt
import numpy as np
import pytest

from plot.given import StandInDependence, inside, legend, nothing_overlaps, texts, ticks
from sapwood.errors import InputError, InputTypeError, ParameterError
from sapwood.plot import plot_partial_dependence

CITIES = np.array(["Amsterdam", "Dublin $x^2$", None], dtype=object)
DAYS = np.arange(np.datetime64("2024-01-01"), np.datetime64("2025-01-01"), np.timedelta64(30, "D"))


def dependence(name="bmi", kind="number", grid=None, outputs=1, rows=None, **changes):
    grid = np.linspace(18, 42, 9) if grid is None else grid
    rng = np.random.default_rng(0)
    single = None if rows is None else rng.normal(size=(outputs, rows, len(grid)))
    average = rng.normal(size=(outputs, len(grid))) if single is None else single.mean(axis=1)
    names = ("prediction",) if outputs == 1 else tuple(f"class {k}" for k in range(outputs))
    return StandInDependence((name,), (kind,), (grid,), average, single, names, **changes)


def surface(*parts):
    names, kinds, grids = zip(*parts, strict=True)
    average = np.random.default_rng(0).normal(100, 20, (1, *map(len, grids)))
    return StandInDependence(names, kinds, grids, average)


def test_the_average_is_bold_and_single_rows_are_thin():
    given = dependence(rows=30)
    ax = plot_partial_dependence(given)
    *rows, average = ax.lines
    assert len(rows) == 30
    np.testing.assert_allclose(average.get_ydata(), given.average[0])
    assert average.get_linewidth() > 2 * rows[0].get_linewidth()
    assert legend(ax) == ["single rows", "average"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("bmi", "partial dependence")


def test_single_rows_can_be_fewer_or_none():
    given = dependence(rows=30)
    assert len(plot_partial_dependence(given, most_lines=7).lines) == 8
    assert "single rows (7 of 30)" in legend(plot_partial_dependence(given, most_lines=7))
    ax = plot_partial_dependence(given, ice=False)
    assert len(ax.lines) == 1
    assert ax.get_legend() is None


@pytest.mark.parametrize(("outputs", "beside"), [(3, False), (10, True)])
def test_the_legend_of_many_outputs_hides_no_line(outputs, beside):
    ax = plot_partial_dependence(dependence(outputs=outputs))
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert (box.x0 >= ax.bbox.x1) == beside
    assert box.x1 <= ax.figure.bbox.x1


def test_several_outputs_are_told_apart_and_one_can_be_chosen():
    given = dependence(outputs=3, rows=10)
    ax = plot_partial_dependence(given)
    assert legend(ax) == ["class 0", "class 1", "class 2"]
    assert len({line.get_color() for line in ax.lines}) == len(ax.lines) == 3
    one = plot_partial_dependence(given, "class 1")
    assert one.get_ylabel() == "partial dependence: class 1"
    assert len(one.lines) == 11


@pytest.mark.parametrize("outputs", [1, 3])
def test_levels_have_names(outputs):
    given = dependence("city", "category", CITIES, outputs, rows=20)
    ax = plot_partial_dependence(given)
    assert ticks(ax.xaxis) == ["Amsterdam", "Dublin $x^2$", "missing"]
    assert not any(text.get_parse_math() for text in ax.get_xticklabels())
    assert len(ax.lines) == (2 if outputs == 1 else 3)
    ax.figure.canvas.draw()


@pytest.mark.parametrize("grid", [[False, True], [0.0, 1.0]])
def test_truth_values_have_names(grid):
    assert ticks(plot_partial_dependence(dependence("flag", "boolean", np.array(grid))).xaxis) == ["false", "true"]


@pytest.mark.parametrize("make", [lambda d: d, lambda d: d.astype(object), lambda d: d.astype("M8[s]").astype(float)])
def test_dates_are_dates(make):
    ax = plot_partial_dependence(dependence("day", "date", make(DAYS)))
    ax.figure.canvas.draw()
    assert {"2024", "Jul"} <= set(ticks(ax.xaxis))
    assert isinstance(DAYS.astype(object)[0], datetime.date)


def test_durations_have_a_unit_and_missing_numbers_no_place():
    ax = plot_partial_dependence(dependence("took", "duration", np.array([3600.0, 7200.0, np.nan])))
    assert ax.get_xlabel() == "took (h)"
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [1, 2])


def test_deciles_are_drawn_if_they_are_known():
    given = dependence()
    known = type("Known", (), {**vars(given), "deciles": (np.linspace(20, 40, 9),)})
    ax = plot_partial_dependence(known)
    assert "deciles of the rows" in legend(ax)
    assert len(ax.lines[-1].get_xdata()) == 9


def test_centred_curves_say_so():
    assert plot_partial_dependence(dependence(centred=True)).get_ylabel() == "partial dependence, centred"


def test_a_map_of_two_numbers():
    ax = plot_partial_dependence(surface(("a", "number", np.arange(5.0)), ("b", "number", np.arange(4.0))))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    assert ax.figure.axes[1].get_ylabel() == "partial dependence"
    assert ax.get_xlim() == (0, 4)


def test_a_map_of_levels_has_names_and_numbers():
    given = surface(("city", "category", CITIES), ("flag", "boolean", np.array([False, True])))
    ax = plot_partial_dependence(given)
    assert (ticks(ax.xaxis), ticks(ax.yaxis)) == (["Amsterdam", "Dublin $x^2$", "missing"], ["false", "true"])
    assert texts(ax)[0] == f"{given.average[0, 0, 0]:.3g}"
    assert texts(ax)[1] == f"{given.average[0, 1, 0]:.3g}"
    np.testing.assert_allclose(ax.collections[0].get_array(), given.average[0].T)


def test_a_map_of_dates_and_levels_is_within_its_limits():
    ax = plot_partial_dependence(surface(("day", "date", DAYS), ("city", "category", CITIES)))
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    assert low < DAYS[0].astype(float) < DAYS[-1].astype(float) < high
    assert ax.get_ylim() == (-0.5, 2.5)


def test_one_point_and_a_constant_map_are_drawn():
    plot_partial_dependence(dependence(grid=np.array([1.0]), rows=3)).figure.canvas.draw()
    flat = StandInDependence(("a", "b"), ("number",) * 2, (np.arange(3.0),) * 2, np.ones((1, 3, 3)))
    plot_partial_dependence(flat).figure.canvas.draw()
    plot_partial_dependence(surface(("a", "number", [1.0]), ("b", "number", [1.0, 2.0]))).figure.canvas.draw()


@pytest.mark.parametrize("count", [5, 12, 30, 200])
def test_many_long_levels_stay_apart(count):
    levels = np.array([f"municipality of a long name, number {j}" for j in range(count)], dtype=object)
    ax = plot_partial_dependence(dependence("city", "category", levels))
    ax.figure.canvas.draw()
    assert inside(ax, ax.get_xticklabels())
    if count > 14:
        assert nothing_overlaps(ax.get_xticklabels())


def test_given_axes_are_used():
    ax = plt.subplots()[1]
    assert plot_partial_dependence(dependence("$x^2$"), ax=ax) is ax
    assert not ax.xaxis.label.get_parse_math()


@pytest.mark.parametrize(
    ("given", "options", "error", "words"),
    [
        ([], {}, InputTypeError, "result is a list without feature_names"),
        (dependence(), {"ice": 1.5}, ParameterError, "ice=1.5"),
        (dependence(), {"most_lines": 0}, ParameterError, "most_lines=0"),
        (dependence(outputs=2), {"output": "class 9"}, ParameterError, "output='class 9'"),
        (StandInDependence(("a",), ("number",), ([1.0],), np.ones((1, 2))), {}, InputError, r"shape \(1, 2\)"),
        (StandInDependence((), (), (), np.ones(1)), {}, InputError, "grids of no points"),
        (dependence(grid=np.array([np.nan])), {}, InputError, "no point that is not missing"),
    ],
)
def test_bad_arguments_are_named(given, options, error, words):
    with pytest.raises(error, match=words):
        plot_partial_dependence(given, **options)
    assert not plt.get_fignums()


def test_a_map_shows_one_output():
    grids = (np.arange(3.0), np.arange(4.0))
    given = StandInDependence(("a", "b"), ("number",) * 2, grids, np.ones((2, 3, 4)), None, ("no", "yes"))
    with pytest.raises(ParameterError, match="a map of two features shows one output"):
        plot_partial_dependence(given)
    assert plot_partial_dependence(given, "yes").figure.axes[1].get_ylabel() == "partial dependence: yes"
