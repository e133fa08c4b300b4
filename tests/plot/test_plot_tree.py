import builtins
import warnings

import matplotlib.pyplot as plt
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import sapwood
from sapwood.errors import MissingExtraError, NotFittedError, ParameterError, ParameterTypeError
from sapwood.plot import plot_tree
from show.stand_in_tree import from_sklearn, grow, number_columns, stand_in_column

HOSTILE = ['a "quoted" name', "two\nlines", "<b>&amp;</b>", "$x^2", "$\\frac{1}$", "\\alpha", "tree 🌳", "a_b^c{d}"]


def boxes_of(model, *rest, **options):
    """Annotations of the nodes, in preorder."""
    return [text for text in plot_tree(model, *rest, **options).texts if text.get_bbox_patch() is not None]


def classifier(data=None, depth=3):
    data = load_iris() if data is None else data
    model = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(data.data, data.target)
    ours = from_sklearn(model, data.feature_names)
    ours.classes_ = data.target_names
    return ours


def full_tree():
    x, y = make_classification(4000, 10, n_informative=8, n_classes=3, flip_y=0.2, random_state=0)
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(x, y)
    assert model.get_n_leaves() == 32
    return from_sklearn(model, [f"feature number {i}" for i in range(10)])


def category_tree():
    cities = tuple(f"{a} {b}" for a in ("Upper", "Lower") for b in ("Snoring-on-the-Water", "Wallop", "Missenden"))
    columns = [
        stand_in_column("municipality of first registration", "category", cities),
        stand_in_column("day", "date"),
    ]
    node = (0, set(cities[:3]), (0, {cities[0]}, ([30, 4],), ([3, 9],)), (1, 1.6e9, ([9, 30],), ([20, 1],)))
    return grow(node, columns, ["declined", "accepted & paid"])


def regressor():
    data = load_diabetes(scaled=False)
    return from_sklearn(DecisionTreeRegressor(max_depth=4).fit(data.data, data.target), data.feature_names)


TREES = {
    "iris": classifier,
    "cancer": lambda: classifier(load_breast_cancer(), 5),
    "full": full_tree,
    "category": category_tree,
    "regression": regressor,
}


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("figsize", [None, (6, 4), (25, 4), (4, 20)])
def test_boxes_lie_apart_inside_the_figure_and_hold_their_text(name, figsize):
    ax = None if figsize is None else plt.subplots(figsize=figsize)[1]
    annotations = boxes_of(TREES[name](), ax=ax)
    figure = annotations[0].figure
    figure.canvas.draw()
    boxes = [annotation.get_bbox_patch().get_window_extent() for annotation in annotations]
    page = figure.bbox
    for index, (box, annotation) in enumerate(zip(boxes, annotations, strict=True)):
        text = annotation.get_window_extent()
        assert box.x0 <= text.x0
        assert text.x1 <= box.x1
        assert page.x0 - 1 <= box.x0
        assert box.x1 <= page.x1 + 1
        assert page.y0 - 1 <= box.y0
        assert box.y1 <= page.y1 + 1
        assert not any(box.overlaps(other) for other in boxes[:index])


@pytest.mark.parametrize("name", TREES)
def test_letters_of_an_own_figure_can_be_read(name):
    annotations = boxes_of(TREES[name]())
    assert annotations[0].get_fontsize() >= 8.5
    assert annotations[0].figure.get_size_inches()[0] <= 24


def test_answers_stand_clear_of_the_boxes():
    annotations = boxes_of(full_tree())
    figure = annotations[0].figure
    figure.canvas.draw()
    answers = [text for text in figure.axes[0].texts if text.get_text() in ("True", "False")]
    assert len(answers) == 2
    for answer in answers:
        box = answer.get_window_extent()
        assert not any(box.overlaps(node.get_bbox_patch().get_window_extent()) for node in annotations)


def test_the_text_of_a_node():
    annotations = boxes_of(classifier(), node_ids=True)
    assert annotations[0].get_text() == (
        "node #0\npetal width (cm) ≤ 0.8\ngini = 0.667\nsamples = 150\nvalue = [50, 50, 50]\nclass = setosa"
    )
    assert len(annotations) == 9


def test_category_names_not_codes_are_shown():
    text = boxes_of(category_tree())[0].get_text().replace("\n", " ")
    assert text.startswith("municipality of first registration in {Upper Snoring-on-the-Water, Upper Wallop, Upper")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_as_they_are(name):
    model = grow((0, 1.0, ([3, 1],), ([1, 3],)), number_columns([name]), [name + "1", name + "2"])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)  # fonts lack emoji
        annotations = boxes_of(model)
        annotations[0].figure.canvas.draw()
    shown = name.replace("\n", "\\n")
    assert annotations[0].get_text().replace("\n", " ").startswith(shown + " ≤ 1.0")
    assert not any(annotation.get_parse_math() for annotation in annotations)


def test_a_deep_tree_can_be_cut():
    texts = [annotation.get_text() for annotation in boxes_of(full_tree(), max_depth=1)]
    assert texts.count("(...)") == 4
    assert len(texts) == 7


def test_an_own_figure_is_used_and_a_chosen_size_kept():
    figure = plt.figure(figsize=(11, 3))
    assert boxes_of(classifier())[0].figure is figure
    assert tuple(figure.get_size_inches()) == (11, 3)
    plt.close("all")
    ax = plt.subplots()[1]
    ax.plot([1, 2])
    assert boxes_of(classifier())[0].axes is ax
    assert len(ax.lines) == 8  # edges only


def test_the_font_size_can_be_chosen():
    assert {annotation.get_fontsize() for annotation in boxes_of(classifier(), fontsize=5)} == {5}


def test_purer_nodes_are_darker():
    annotations = boxes_of(grow((0, 1.0, ([9, 0],), ([5, 4],)), number_columns("x"), ["no", "yes"]))
    pure, mixed = (sum(annotations[node].get_bbox_patch().get_facecolor()[:3]) for node in (1, 2))
    assert pure < mixed
    white = boxes_of(classifier(), filled=False)
    assert {annotation.get_bbox_patch().get_facecolor() for annotation in white} == {(1.0, 1.0, 1.0, 1.0)}


def test_a_lone_root_is_drawn():
    assert len(boxes_of(grow(([1, 2],), number_columns("x"), ["no", "yes"]))) == 1


def test_settings_of_the_user_are_left_alone():
    before = dict(plt.rcParams)
    plot_tree(classifier())
    assert dict(plt.rcParams) == before


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"max_depth": -1}, ParameterError, "max_depth=-1"),
        ({"feature_names": ["a"]}, ParameterError, "feature_names has 1 names"),
        ({"class_names": ["a"]}, ParameterError, "class_names has 1 names"),
        ({"fontsize": 0}, ParameterError, "fontsize=0"),
        ({"filled": "yes"}, ParameterError, "filled='yes'"),
        ({"ax": 3}, ParameterTypeError, "ax=3"),
    ],
)
def test_bad_arguments_are_named_before_a_figure_is_made(options, error, words):
    with pytest.raises(error, match=words):
        plot_tree(classifier(), **options)
    assert not plt.get_fignums()


def test_an_estimator_must_be_fitted():
    with pytest.raises(NotFittedError):
        plot_tree(sapwood.DecisionTreeClassifier())


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    original = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"pip install 'sapwood\[plot\]'"):
        plot_tree(classifier())
