import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import sapwood
from sapwood.errors import InputError, InputTypeError, NotFittedError, ParameterError
from sapwood.model import Model
from sapwood.plot import plot_decision_regions
from sapwood.table import Table
from show.stand_in_tree import from_sklearn, grow, number_columns, stand_in_column

CITIES = ("Amsterdam", "Berlin", "Dublin $x^2$")


def iris(columns=(2, 3)):
    data = load_iris()
    x = data.data[:, list(columns)]
    names = [data.feature_names[column] for column in columns]
    return from_sklearn(DecisionTreeClassifier(max_depth=4, random_state=0).fit(x, data.target), names), x, data.target


def mixed(library):
    rng = np.random.default_rng(0)
    n = 60
    day = np.datetime64("2020-01-01") + rng.integers(0, 500, n).astype("timedelta64[D]")
    frame = library.DataFrame(
        {
            "city": rng.choice(CITIES, n).tolist(),
            "day": day.astype("datetime64[us]"),
            "took": (rng.integers(0, 9000, n) * 1_000_000).astype("timedelta64[us]"),
            "member": rng.random(n) < 0.5,
            "income": rng.normal(size=n),
        }
    )
    schema = Table.from_any(frame).schema
    columns = [stand_in_column(c.name, c.kind, c.levels) for c in schema.columns]
    node = (0, {CITIES[0]}, (1, 1.6e9, ([30, 4],), ([3, 9],)), (2, 5000.0, ([9, 30],), (3, 0.5, ([9, 1],), ([5, 9],))))
    model = grow(node, columns, ["declined", "accepted"])
    model.schema_ = schema
    return model, frame


def test_regions_of_a_classifier():
    model, x, y = iris()
    ax = plot_decision_regions(model, x, y, class_names=["a$1", "b", "c"], resolution=50)
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == "petal length (cm)"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a$1", "b", "c"]
    image = ax.collections[0].get_array()
    assert image.shape == (50, 50, 3)
    assert sum(len(points.get_offsets()) for points in ax.collections[1:]) == 150


def test_the_colour_under_a_point_is_that_of_its_prediction():
    model, x, y = iris()
    ax = plot_decision_regions(model, x, y, resolution=80)
    mesh = ax.collections[0]
    image, corners = np.asarray(mesh.get_array()), mesh.get_coordinates()
    columns = (corners[0, :-1, 0] + corners[0, 1:, 0]) / 2
    rows = (corners[:-1, 0, 1] + corners[1:, 0, 1]) / 2
    across, up = np.meshgrid(columns, rows)
    predicted = model.predict(np.stack([across.ravel(), up.ravel()], axis=1)).reshape(image.shape[:2])
    colours = {label: {tuple(np.argsort(pixel)) for pixel in image[predicted == label]} for label in range(3)}
    assert all(len(order) == 1 for order in colours.values())


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, lambda x: pl.DataFrame(x, schema=list("abcd"))])
def test_other_features_stay_at_their_median(make, monkeypatch):
    data = load_diabetes(scaled=False)
    x = data.data[:, :4]
    ours = from_sklearn(DecisionTreeRegressor(max_depth=4, random_state=0).fit(x, data.target), "abcd")
    frame = make(x)
    if isinstance(frame, pd.DataFrame):
        frame.columns = list("abcd")
    seen = []
    monkeypatch.setattr(
        Model, "predict", lambda self, rows: seen.append(self.match(rows).block(0, 400)) or np.zeros(400)
    )
    ax = plot_decision_regions(ours, frame, data.target, features=("c", 0), resolution=20)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "a")
    assert np.unique(seen[0][:, 1]).tolist() == [np.sort(x[:, 1])[(len(x) - 1) // 2]]
    assert len(np.unique(seen[0][:, 0])) == 20
    assert len(ax.figure.axes) == 2  # the colour bar


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize(
    "features", [("city", "day"), ("took", "member"), ("member", "city"), ("income", "took"), ("day", "income")]
)
def test_every_kind_of_column_has_its_axis(library, features):
    model, frame = mixed(library)
    ax = plot_decision_regions(model, frame, model.predict(frame), features=features, resolution=30)
    ax.figure.canvas.draw()
    labels = {
        "city": [*CITIES],
        "member": ["false", "true"],
    }
    for name, axis in zip(features, (ax.xaxis, ax.yaxis), strict=True):
        ticks = [text.get_text() for text in axis.get_ticklabels()]
        assert ticks == labels.get(name, ticks)
        assert name not in labels or not any(text.get_parse_math() for text in axis.get_ticklabels())
        assert axis.get_label_text() == ("took (h)" if name == "took" else name)


def test_an_array_of_objects_works():
    columns = [stand_in_column("city", "category", CITIES), stand_in_column("x")]
    model = grow((0, {CITIES[0]}, ([3, 1],), (1, 0.0, ([2, 2],), ([0, 3],))), columns, ["no", "yes"])
    x = np.array([[city, value] for city in CITIES for value in (-1.0, 1.0)], dtype=object)
    ax = plot_decision_regions(model, x, model.predict(x), resolution=10)
    assert ax.collections[0].get_array().shape == (10, 3, 3)


def test_an_axes_can_be_given_and_constant_or_missing_values_are_borne():
    ax = plt.subplots()[1]
    model = grow((0, 1.0, ([3, 1],), ([1, 3],)), number_columns("xy"), ["no", "yes"])
    x = np.array([[1.0, 5.0], [np.nan, 5.0], [np.inf, 5.0]])
    assert plot_decision_regions(model, x, ["no", "yes", "no"], ax=ax, resolution=5) is ax
    assert sum(len(points.get_offsets()) for points in ax.collections[1:]) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "features=None is not allowed for a model of 3 features"),
        ({"features": ("a",)}, "two names"),
        ({"features": ("a", "b", "c")}, "two names"),
        ({"features": "ab"}, "two names"),
        ({"features": (0, 3)}, "contains 3: .* from 0 to 2"),
        ({"features": (0, "petal lenght (cm)")}, r"Did you mean 'petal length \(cm\)'"),
        ({"features": (1, 1)}, "one feature twice"),
        ({"features": (0, 1), "resolution": 1}, "resolution=1"),
        ({"features": (0, 1), "feature_names": ["a"]}, "feature_names has 1 names"),
    ],
)
def test_bad_arguments_are_named(options, words):
    model, x, y = iris((1, 2, 3))
    with pytest.raises(ParameterError, match=words):
        plot_decision_regions(model, x, y, **options)
    assert not plt.get_fignums()


def test_bad_targets_are_named():
    model, x, y = iris()
    with pytest.raises(InputError, match="y has 149 values, but X has 150 rows"):
        plot_decision_regions(model, x, y[1:])
    with pytest.raises(InputError, match=r"y=None is not allowed.*Give one value per row"):
        plot_decision_regions(model, x, None)
    with pytest.raises(InputError, match=r"y has classes that the model does not know: \[5, 6, 7\]"):
        plot_decision_regions(model, x, y + 5)
    with pytest.raises(NotFittedError):
        plot_decision_regions(sapwood.DecisionTreeClassifier(), x, y)
    with pytest.raises(InputTypeError, match=r"estimator is a sklearn\.tree\.DecisionTreeClassifier, .* of Sapwood"):
        plot_decision_regions(DecisionTreeClassifier(), x, y)


def test_points_of_levels_are_spread_around_them_whatever_the_seed_of_the_data():
    rng = np.random.default_rng(0)
    n = 300
    rng.uniform(size=n)
    codes = np.digitize(rng.uniform(size=n), [0.4, 0.8])
    columns = [stand_in_column("x"), stand_in_column("city", "category", CITIES)]
    model = grow((0, 0.5, ([3, 1],), ([0, 3],)), columns, ["no", "yes"])
    x = np.array([[float(k), CITIES[code]] for k, code in enumerate(codes)], dtype=object)
    ax = plot_decision_regions(model, x, model.predict(x), resolution=5)
    up = np.concatenate([points.get_offsets()[:, 1] for points in ax.collections[1:]])
    for code in range(3):
        own = up[np.round(up) == code] - code
        assert abs(own.mean()) < 0.07
        assert np.ptp(own) > 0.45
