"""Names that attack, in every picture: it is drawn, and names are text, cut where they are too long."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pytest

import hostile_names as hostile
import sapwood as sw
from sapwood import explain

# Fonts have not every letter; that is said by matplotlib, and harmless
pytestmark = pytest.mark.filterwarnings("ignore:Glyph .* missing from:UserWarning")

NAMES = hostile.NAMES
FIRST, SECOND = hostile.ATTACKS[0], "$\\frac{1}{"


@pytest.fixture(scope="module")
def model():
    return hostile.models()["tree"]


def draw(axes):
    figure = axes.figure
    width, height = figure.get_size_inches()
    assert width <= 101
    assert height <= 101
    figure.set_dpi(40)
    for kind in ("png", "svg"):
        page = io.BytesIO()
        figure.savefig(page, format=kind, dpi=40)
        assert b"<script" not in page.getvalue()
    texts = [text.get_text() for text in figure.findobj(plt.Text)]
    assert max(map(len, texts), default=0) < 2_000
    assert not any(text.get_parse_math() and "$" in text.get_text() for text in figure.findobj(plt.Text))
    plt.close(figure)


@pytest.mark.parametrize("kind", ["tree", "forest", "newton classes", "newton numbers"])
def test_trees(kind):
    model = hostile.models()[kind][0]
    draw(sw.plot_tree(model, **({} if kind == "tree" else {"tree": 0}), max_depth=3))
    draw(sw.plot_importance(model))


def test_curves_of_features(model):
    tree, X = model
    draw(sw.plot_partial_dependence(explain.partial_dependence(tree, X, FIRST)))
    draw(sw.plot_partial_dependence(explain.partial_dependence(tree, X, "level")))
    draw(sw.plot_partial_dependence(explain.partial_dependence(tree, X, [FIRST, SECOND]), output=0))


def test_shap(model):
    tree, X = model
    values = explain.shap_values(tree, X)
    draw(sw.plot_shap_summary(values, output=0))
    draw(sw.plot_shap_waterfall(values, 0, output=0))


def test_classes(model):
    tree, X = model
    y = tree.predict(X)
    draw(sw.plot_confusion_matrix(tree, X, y))
    draw(sw.plot_calibration(tree, X, y))


def test_regions():
    _, X = hostile.models()["tree"]
    y = np.array(NAMES, dtype=object)[(X[FIRST] > 2).astype(int)]
    small = sw.DecisionTreeClassifier(max_depth=2).fit(X[[FIRST, SECOND]], y)
    draw(sw.plot_decision_regions(small, X[[FIRST, SECOND]], y))


@pytest.mark.filterwarnings("ignore::sapwood.errors.IdentifierWarning")
def test_learning_curves():
    _, X = hostile.models()["newton numbers"]
    y = X[FIRST].to_numpy()
    model = sw.NewtonBoostingRegressor(n_estimators=3).fit(X[:80], y[:80], eval_set=[(X[80:], y[80:])])
    draw(sw.plot_learning_curves(model))
