from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from scipy.stats import binomtest
from sklearn.datasets import load_iris

from plot.given import inside, legend, nothing_overlaps, texts, ticks
from sapwood import DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.errors import InputError, InputTypeError, NotFittedError, ParameterError, ParameterTypeError
from sapwood.plot import plot_calibration, plot_confusion_matrix

TRUE = ["cat", "cat", "cat", "dog $x^2$", "dog $x^2$"]
SAID = ["cat", "cat", "dog $x^2$", "dog $x^2$", "dog $x^2$"]


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    y = data.target_names[data.target]
    return DecisionTreeClassifier(max_depth=2, min_samples_leaf=40).fit(data.data, y), data.data, y


class Certain:
    """Says what it is told."""

    def __init__(self, said, classes=("no", "yes")):
        self.said, self.classes_ = np.asarray(said, dtype=float), np.array(classes)

    def predict_proba(self, X):
        return np.stack([1 - self.said, self.said], axis=1)


def test_counts_and_shares_of_every_cell():
    ax = plot_confusion_matrix(TRUE, SAID)
    assert texts(ax) == [
        "2",
        "66.7 %",
        "1",
        "33.3 %",
        "2",
        "100 %",
        "4 of 5 rows correct (80.0 %)  ·  % of each true class",
    ]
    assert ticks(ax.xaxis) == ticks(ax.yaxis) == ["cat", "dog $x^2$"]
    assert not any(text.get_parse_math() for text in ax.get_xticklabels())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted class", "true class")
    assert ax.get_ylim() == (1.5, -0.5)


@pytest.mark.parametrize(
    ("normalize", "shares"),
    [
        ("true", ["66.7 %", "33.3 %", "100 %"]),
        ("pred", ["100 %", "33.3 %", "66.7 %"]),
        ("all", ["40 %", "20 %", "40 %"]),
    ],
)
def test_shares_can_come_first(normalize, shares):
    written = texts(plot_confusion_matrix(TRUE, SAID, normalize=normalize))
    assert written[:6:2] == shares
    assert written[1:6:2] == ["2", "1", "2"]


def test_correct_rows_and_mistakes_have_different_colours():
    image = plot_confusion_matrix(TRUE, SAID).images[0].get_array()
    assert to_hex(image[1, 1]) == "#4477aa"
    assert image[0, 1, 0] > image[0, 1, 2]  # orange
    assert to_hex(image[1, 0]) == "#ffffff"


def test_a_model_and_its_classes(iris):
    model, x, y = iris
    ax = plot_confusion_matrix(model, x, y)
    assert ticks(ax.xaxis) == ["setosa", "versicolor", "virginica"]
    assert "50" in texts(ax)
    named = plot_confusion_matrix(model, x, y, class_names=["A", "B", "C"])
    assert ticks(named.yaxis) == ["A", "B", "C"]


@pytest.mark.parametrize("draw", [plot_confusion_matrix, plot_calibration])
def test_classes_that_the_model_does_not_know_are_named(iris, draw):
    model, x, _ = iris
    words = r"y has classes that the model does not know: \['tulip', 3\]. Its classes are \['setosa', 'versicolor', "
    with pytest.raises(InputError, match=words):
        draw(model, x[:4], np.array(["setosa", "tulip", 3, "tulip"], dtype=object))
    assert not plt.get_fignums()


def test_numbers_are_classes_in_their_order():
    assert ticks(plot_confusion_matrix([10, 9, 2], np.array([[2], [9], [10]])).xaxis) == ["2", "9", "10"]
    assert ticks(plot_confusion_matrix([1, "a"], [1, "a"]).xaxis) == ["1", "a"]
    assert len(plot_confusion_matrix(["a"], ["a"]).images) == 1


@pytest.mark.parametrize("count", [6, 20])
def test_many_classes_of_long_names_can_be_read(count):
    names = np.array([f"a class of a long name, number {k}" for k in range(count)])
    rng = np.random.default_rng(0)
    ax = plot_confusion_matrix(rng.choice(names, 5000), rng.choice(names, 5000))
    texts(ax)
    assert nothing_overlaps(ax.get_yticklabels())
    assert inside(ax, [*ax.get_xticklabels(), *ax.get_yticklabels()])
    assert nothing_overlaps([text for text in ax.texts if "%" not in text.get_text()])


def test_bad_predictions_are_named(iris):
    model, x, y = iris
    several = SimpleNamespace(predict=None, classes_=[model.classes_, model.classes_[:2]])
    cases = [
        (lambda: plot_confusion_matrix(TRUE, SAID, normalize="row"), ParameterError, "normalize='row'"),
        (lambda: plot_confusion_matrix(TRUE, SAID[1:]), InputError, "y_pred has 4 values, but y_true has 5"),
        (lambda: plot_confusion_matrix(model, x), InputTypeError, "true classes are needed"),
        (lambda: plot_confusion_matrix(model, x, y[1:]), InputError, "y has 149 values"),
        (lambda: plot_confusion_matrix([], []), InputError, r"shape \(0,\)"),
        (lambda: plot_confusion_matrix(TRUE, SAID, class_names=["a"]), ParameterError, "class_names has 1 names"),
        (lambda: plot_confusion_matrix(TRUE, SAID, class_names="ab"), ParameterTypeError, "class_names='ab'"),
        (lambda: plot_confusion_matrix(DecisionTreeClassifier(), x, y), NotFittedError, "not fitted"),
        (lambda: plot_confusion_matrix(DecisionTreeClassifier, x, y), InputTypeError, "is the class"),
        (lambda: plot_confusion_matrix(DecisionTreeRegressor().fit(x, x[:, 0]), x, y), InputTypeError, "classifier"),
        (lambda: plot_confusion_matrix(several, x, y), InputError, "predicts 2 targets"),
    ]
    for call, error, words in cases:
        with pytest.raises(error, match=words):
            call()
    assert not plt.get_fignums()


def segments(ax):
    """Ends of the error bars of the first curve."""
    return np.array([segment[:, 1] for segment in ax.collections[0].get_segments()])


def test_shares_and_intervals_of_groups():
    y = np.array(["no"] * 6 + ["yes"] * 4 + ["no"] * 2 + ["yes"] * 8)
    ax = plot_calibration(Certain([0.25] * 10 + [0.75] * 10), np.zeros((20, 1)), y)
    said, shares = ax.lines[1].get_data()
    assert list(said) == pytest.approx([0.25, 0.75])
    assert list(shares) == pytest.approx([0.4, 0.8])
    wanted = [binomtest(k, 10).proportion_ci(method="wilson") for k in (4, 8)]
    np.testing.assert_allclose(segments(ax), wanted, rtol=1e-5)
    brier = np.mean(((y == "yes") - np.repeat([0.25, 0.75], 10)) ** 2)
    assert legend(ax) == ["perfect", f"yes, Brier score {brier:.3f}"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted probability of yes", "observed share of yes")
    assert len(ax.patches) == 50  # the histogram


@pytest.mark.parametrize(("strategy", "groups"), [("quantile", 4), ("uniform", 1)])
def test_groups_of_equal_size_or_width(strategy, groups):
    said = np.linspace(0.01, 0.2, 40)
    ax = plot_calibration(Certain(said), np.zeros((40, 1)), ["no", "yes"] * 20, n_bins=4, strategy=strategy)
    assert len(ax.lines[1].get_xdata()) == groups


def test_every_class_or_one_of_them(iris):
    model, x, y = iris
    ax = plot_calibration(model, x, y)
    assert [text.partition(",")[0] for text in legend(ax)] == [
        "perfect",
        "setosa",
        "versicolor",
        "virginica",
    ]
    assert ax.get_xlabel() == "predicted probability of the class"
    for output in ("virginica", 2):
        assert plot_calibration(model, x, y, output=output).get_xlabel() == "predicted probability of virginica"


def test_several_models_are_compared(iris):
    model, x, y = iris
    two = {"first $1": Certain([0.2, 0.8]), "second": Certain([0.5, 0.5])}
    assert [text.partition(",")[0] for text in legend(plot_calibration(two, x[:2], ["no", "yes"]))] == [
        "perfect",
        *two,
    ]
    with pytest.raises(ParameterError, match=r"several models of 3 classes\. Use output='setosa'"):
        plot_calibration({"a": model, "b": model}, x, y)
    assert len(legend(plot_calibration({"a": model, "b": model}, x, y, output=0))) == 3


def test_certain_models_of_one_class_are_borne():
    ax = plot_calibration(Certain([1.0, 1.0, 1.0]), np.zeros((3, 1)), ["yes"] * 3)
    ax.figure.canvas.draw()
    assert ax.lines[1].get_ydata().tolist() == [1.0]


def test_bad_calibrations_are_named(iris):
    model, x, y = iris
    good = Certain([0.2, 0.8])
    cases = [
        (lambda: plot_calibration(model, x, y, n_bins=0), ParameterError, "n_bins=0"),
        (lambda: plot_calibration(model, x, y, strategy="width"), ParameterError, "strategy='width'"),
        (lambda: plot_calibration(model, x, y, output="tulip"), ParameterError, "output='tulip'"),
        (lambda: plot_calibration(model, x, y[1:]), InputError, "y has 149 values"),
        (lambda: plot_calibration(model, x, None), InputError, "y=None is not allowed"),
        (lambda: plot_calibration({}, x, y), InputError, "empty dictionary"),
        (lambda: plot_calibration(DecisionTreeClassifier(), x, y), NotFittedError, "not fitted"),
        (lambda: plot_calibration({"a": good, "b": Certain([0, 1], "ab")}, x[:2], "no"), InputError, r"shape \(\)"),
        (lambda: plot_calibration({"a": good, "b": Certain([0, 1], "ab")}, x[:2], ["no", "no"]), InputError, "differ"),
    ]
    for call, error, words in cases:
        with pytest.raises(error, match=words):
            call()
    assert not plt.get_fignums()


def test_a_model_is_drawn_as_its_estimator(iris):
    model, x, y = iris
    assert texts(plot_confusion_matrix(model.model_, x, y)) == texts(plot_confusion_matrix(model, x, y))
    assert legend(plot_calibration(model.model_, x, y)) == legend(plot_calibration(model, x, y))
    with pytest.raises(InputTypeError, match="model is a Model, but must be a fitted classifier"):
        plot_calibration(DecisionTreeRegressor().fit(x, x[:, 0]).model_, x, y)


def test_given_axes_are_used(iris):
    ax = plt.subplots()[1]
    assert plot_confusion_matrix(TRUE, SAID, ax=ax) is ax
    assert plot_calibration(*iris, ax=ax) is ax
    assert len(plt.get_fignums()) == 1
