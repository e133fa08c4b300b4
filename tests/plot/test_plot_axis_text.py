"""What axes, legends and numbers of pictures say."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import sapwood as sw
from sapwood import explain
from sapwood.show.number import grouped_number

X = np.random.default_rng(0).normal(size=(120, 3))
Y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")


@pytest.mark.parametrize(
    ("model", "y", "scale"),
    [
        (sw.NewtonBoostingClassifier(n_estimators=2), Y, "log-odds of yes"),
        (sw.GradientBoostingClassifier(n_estimators=2), Y, "log-odds of yes"),
        (sw.NewtonBoostingRegressor(n_estimators=2, objective="poisson"), X[:, 0] ** 2, "log of the prediction"),
        (sw.NewtonBoostingRegressor(n_estimators=2), X[:, 0], "prediction"),
        (sw.RandomForestClassifier(3, random_state=0), Y, "probability of yes"),
        (sw.RandomForestRegressor(3, random_state=0), X[:, 0], "prediction"),
        (sw.NewtonBoostingClassifier(n_estimators=2), np.array(list("abc"))[np.arange(120) % 3], "score of c"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else None,
)
def test_shap_pictures_say_what_their_numbers_are(model, y, scale):
    values = explain.shap_values(model.fit(X, y), X[:9])
    chosen = {} if values.n_outputs == 1 else {"output": values.output_names[-1]}
    assert sw.plot_shap_waterfall(values, 0, **chosen).get_xlabel() == scale
    assert sw.plot_shap_summary(values, **chosen).get_xlabel() == f"SHAP value (effect on the {scale})"
    assert values.for_output(values.output_names[0]).scale == values.scale


def test_thousands_are_grouped():
    told = {11234.5: "11,234", -181300.2: "-181,300", 999.0: "999", 0.12345: "0.1235", 0.0: "0", 2e15: "2e+15"}
    assert {value: grouped_number(value, 4) for value in told} == told
    assert grouped_number(11234.5, 3, "+") == "+11,234"
    values = explain.shap_values(sw.NewtonBoostingRegressor(n_estimators=2).fit(X, 1e6 * X[:, 0]), X[:3])
    texts = [text.get_text() for text in sw.plot_shap_waterfall(values, 0).texts]
    assert any("," in text for text in texts)
    assert not any("e+" in text for text in texts)


def test_gains_of_many_digits_are_rounded():
    model = sw.NewtonBoostingRegressor(n_estimators=1, max_depth=2).fit(X, 1e6 * X[:, 0])
    dot = sw.export_graphviz(model, tree=0)
    assert "gain = " in dot
    assert all(len(line.split("\\n")[0]) < 12 for line in dot.split("gain = ")[1:])


def test_legends_of_many_classes_stand_beside_the_picture_in_columns():
    letters = np.array([chr(97 + k % 26) for k in range(len(X))])
    model = sw.DecisionTreeClassifier(max_depth=3).fit(X, letters)
    ax = sw.plot_calibration(model, X, letters)
    ax.figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert legend.x0 >= ax.get_window_extent().x1
    assert legend.height <= ax.figure.bbox.height
    assert ax.get_window_extent().width >= 0.4 * ax.figure.bbox.width
    few = sw.plot_calibration(sw.DecisionTreeClassifier(max_depth=2).fit(X, Y), X, Y)
    few.figure.canvas.draw()
    assert few.get_legend().get_window_extent().x0 < few.get_window_extent().x1
    plt.close("all")
