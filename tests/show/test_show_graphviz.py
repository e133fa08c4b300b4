import io
import re

import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree import export_graphviz as sklearn_graphviz

from sapwood.errors import DataFileError, ParameterError, ParameterTypeError
from sapwood.show import export_graphviz
from show.stand_in_tree import from_sklearn, grow, number_columns, stand_in_column

HOSTILE = ['a"b', "a\\", "a\\n", "a\nb", "<b>&amp;</b>", "x];}", "$y^2$", "🌳 \u202e", "\ud800", "", "a <= b"]


def small(name="x", classes=("no", "yes")):
    return grow((0, 1.0, ([8, 2],), (0, 2.0, ([1, 4],), ([3, 0],))), number_columns([name]), list(classes))


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    model = DecisionTreeClassifier(random_state=0, max_depth=3).fit(data.data, data.target)
    ours = from_sklearn(model, data.feature_names)
    ours.classes_ = data.target_names
    return model, ours, {"feature_names": data.feature_names, "class_names": data.target_names}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_depth": 1},
        {"label": "root"},
        {"label": "none", "node_ids": True},
        {"proportion": True, "precision": 4},
        {"rotate": True, "rounded": True, "leaves_parallel": True},
        {"impurity": False, "fontname": "arial"},
    ],
)
def test_plain_trees_are_written_as_scikit_learn_writes_them(iris, options):
    model, ours, names = iris
    assert export_graphviz(ours, **options) == sklearn_graphviz(model, **names, **options)


def test_the_class_can_be_left_out(iris):
    model, ours, names = iris
    expected = sklearn_graphviz(model, feature_names=names["feature_names"])
    assert export_graphviz(ours, class_names=False) == expected


def test_html_labels_are_scikit_learns(iris):
    model, ours, names = iris
    assert export_graphviz(ours, special_characters=True) == sklearn_graphviz(model, **names, special_characters=True)


def test_nodes_are_filled_and_cut_ones_grey(iris):
    text = export_graphviz(iris[1], filled=True, max_depth=1)
    assert len(set(re.findall(r'fillcolor="(#[0-9a-f]{6})"', text))) >= 4


@pytest.mark.parametrize("name", HOSTILE)
def test_quoted_labels_end_where_they_should(name):
    text = export_graphviz(small(name, classes=[name + "1", name + "2"]))
    assert _outside_quotes(text).count("{") == 1
    assert "\n" not in "".join(_quoted_strings(text))
    text.encode("utf-8")
    shown = _unescaped(_quoted_strings(text)[2]).split("\0")[0]
    assert shown == f"{_one_line(name)} <= 1.0"


@pytest.mark.parametrize("name", HOSTILE)
def test_html_labels_hold_no_foreign_markup(name):
    text = export_graphviz(small(name, classes=[name + "1", name + "2"]), special_characters=True)
    labels = re.findall(r"label=<(.*)>\] ;", text)
    assert len(labels) == 5
    for label in labels:
        assert not re.search(r"[<>\"]", label.replace("<br/>", ""))
        assert not re.search(r"&(?!\w+;|#x?\w+;)", label)


def test_categories_are_named():
    column = stand_in_column("c", "category", ('"red"', "blue <b>"))
    text = export_graphviz(grow((0, {"blue <b>"}, ([1, 0],), ([0, 1],)), [column], ["n", "y"]))
    assert "c in {blue <b>}" in text


def test_a_file_or_an_open_file_is_written(tmp_path):
    path, stream = tmp_path / "tree.dot", io.StringIO()
    assert export_graphviz(small("🌳"), path) is None
    export_graphviz(small("🌳"), str(path))
    export_graphviz(small("🌳"), stream)
    assert path.read_text(encoding="utf-8") == stream.getvalue() == export_graphviz(small("🌳"))
    assert [item.name for item in tmp_path.iterdir()] == ["tree.dot"]


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "tree.dot"
    path.write_text("old")

    def fail(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sapwood.atomic_file.os.replace", fail)
    with pytest.raises(DataFileError, match="No space left on device"):
        export_graphviz(small(), path)
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_link_stays_a_link_and_rights_stay(tmp_path):
    path, link = tmp_path / "tree.dot", tmp_path / "link.dot"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    export_graphviz(small(), link)
    assert link.is_symlink()
    assert path.read_text().startswith("digraph")
    assert path.stat().st_mode & 0o777 == 0o640


def test_errors_name_the_argument(tmp_path):
    with pytest.raises(DataFileError, match=r"out_file=.*existing folder"):
        export_graphviz(small(), tmp_path / "no" / "tree.dot")
    with pytest.raises(DataFileError, match="out_file="):
        export_graphviz(small(), tmp_path)
    with pytest.raises(ParameterTypeError, match="out_file=3"):
        export_graphviz(small(), 3)
    with pytest.raises(ParameterError, match=r"label='al'.*Did you mean label='all'"):
        export_graphviz(small(), label="al")
    with pytest.raises(ParameterError, match="max_depth=-2"):
        export_graphviz(small(), max_depth=-2)


def _quoted_strings(text):
    return [match[1] for match in re.finditer(r'"((?:[^"\\]|\\.)*)"', text)]


def _outside_quotes(text):
    return re.sub(r'"((?:[^"\\]|\\.)*)"', "", text)


def _unescaped(text):
    return re.sub(r"\\(.)", lambda match: {"n": "\0"}.get(match[1], match[1]), text)


def _one_line(name):
    return name.replace("\n", "\\n").replace("\ud800", "\\ud800").replace("\u202e", "\\u202e")
