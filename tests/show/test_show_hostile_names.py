"""Names that attack, in print, in graphviz, in pages and in Markdown."""

import re
from html.parser import HTMLParser

import pytest

import hostile_names as hostile
import sapwood as sw
from sapwood import explain
from sapwood.one_line import one_line

KINDS = ("tree", "forest", "newton classes", "newton numbers")
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
WORDS = {"digraph", "Tree", "node", "edge", "shape", "box", "fontname", "style", "color", "label", "fillcolor"}
WORDS |= {"labeldistance", "labelangle", "headlabel"}


def case(kind):
    model, X = hostile.models()[kind]
    return model, X, {} if kind == "tree" else {"tree": 0}


@pytest.mark.parametrize("kind", KINDS)
def test_text(kind):
    model, X, tree = case(kind)
    for text in (sw.export_text(model, **tree), str(explain.trees_as_rules(model))):
        text.encode("utf-8")
        assert not CONTROLS.search(text)
    lines = sw.export_text(model, max_depth=1000, **tree).splitlines()
    assert all(line.startswith("|") for line in lines)
    path = explain.decision_path(model, X.iloc[[0]])
    assert not CONTROLS.search(str(path))
    if hasattr(model, "classes_"):
        assert not CONTROLS.search(str(explain.counterfactual(model, X.iloc[[0]])))


@pytest.mark.parametrize("kind", KINDS)
def test_graphviz(kind, tmp_path):
    model, _, tree = case(kind)
    text = sw.export_graphviz(model, filled=True, rounded=True, **tree)
    assert not CONTROLS.search(text)
    outside = STRING.sub("", text)
    assert '"' not in outside
    assert set(re.findall(r"[A-Za-z_]+", outside)) <= WORDS
    sw.export_graphviz(model, tmp_path / "tree.dot", **tree)
    assert (tmp_path / "tree.dot").read_text("utf-8")
    page = sw.export_graphviz(model, special_characters=True, **tree)
    for label in re.findall(r"label=<(.*)>\] ;", page):
        assert set(re.findall(r"<[^>]*>", label)) <= {"<br/>"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize("kind", KINDS)
def test_pages_of_results_and_models(kind):
    model, X, _ = case(kind)
    facts = model._repr_html_().rpartition('<div><table border="1"')
    shown = [explain.importance(model), explain.trees_as_rules(model), model.schema_, explain.shap_values(model, X[:3])]
    shown.append(explain.partial_dependence(model, X, "level"))
    for html in ("".join(facts[1:]), *(result._repr_html_() for result in shown)):
        page = Page()
        page.feed(html)
        assert page.tags <= {"div", "pre", "table", "thead", "tbody", "tr", "th", "td"}
        assert page.attributes <= {"style", "class", "border"}
        assert not CONTROLS.search("".join(page.text))
        assert len(html) < 100_000


def test_parameters_in_the_box_of_a_model_are_escaped():
    script = hostile.ATTACKS[8]
    page = sw.NewtonBoostingRegressor(monotone_constraints={script: 1})._repr_html_()
    assert script not in page


@pytest.mark.parametrize("kind", KINDS)
def test_markdown(kind):
    model, _, _ = case(kind)
    lines = explain.trees_as_rules(model).to_markdown().splitlines()
    for line in lines:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 6
        assert not re.search(r"<[A-Za-z/!?]", line)
        assert not re.search(r"(?<!\\)(?:\\\\)*[`*\[]", line)


@pytest.mark.parametrize("kind", KINDS)
def test_frames_hold_every_name(kind, tmp_path):
    model, X, _ = case(kind)
    for frame in (model.to_frame(), explain.trees_as_rules(model).to_frame(), explain.importance(model).to_frame()):
        frame.to_csv(tmp_path / "frame.csv")
        assert (tmp_path / "frame.csv").read_bytes().decode("utf-8")
    shap = explain.shap_values(model, X.iloc[:3])
    assert shap.feature_names == (*hostile.NAMES, "level")


@pytest.mark.parametrize("name", hostile.NAMES, ids=ascii)
def test_one_line(name):
    line = one_line(name)
    line.encode("utf-8")
    assert not CONTROLS.search(line)
    assert "\t" not in line
    if name.isprintable() and name.isascii():
        assert line == name
