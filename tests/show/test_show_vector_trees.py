"""Text and pictures of boosting with one tree for all classes: a value for each class in every node."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw
from model_cases import fitted
from sapwood.errors import InputTypeError
from sapwood.model import model_of
from sapwood.show.colour import class_colours, node_fills
from sapwood.show.one_tree import pick_tree

MODEL = fitted("newton vectors")


def test_leaves_have_a_value_for_each_class():
    text = sw.export_text(MODEL, tree=0, decimals=2)
    (tree,) = MODEL.ensemble_.rounds[0]
    leaves = [line.split("value: ")[1] for line in text.splitlines() if "value: " in line]
    found = np.array([[float(number) for number in leaf.strip("[]").split(", ")] for leaf in leaves])
    np.testing.assert_allclose(found, tree.value[tree.is_leaf, :, 0], atol=0.006)


def test_labels_have_a_value_for_each_class():
    (tree,) = MODEL.ensemble_.rounds[1]
    text = sw.export_graphviz(MODEL, tree=1, filled=True)
    first = ", ".join(str(round(float(value), 3) + 0.0) for value in tree.value[1, :, 0])
    assert f"value = [{first}]" in text
    assert "gain = " in text


def test_the_title_names_the_round_and_the_classes():
    assert pick_tree(model_of(MODEL), 2).title == "round 2 (of 0 to 3), values for ['low', 'mid', 'top']"
    with pytest.raises(InputTypeError, match=r"Use tree=0 for the first of them\.$"):
        sw.export_text(MODEL)


def test_colours_are_those_of_the_class_that_a_node_raises_most():
    one = pick_tree(model_of(MODEL), 0)
    fills, colours = node_fills(one), class_colours(3)
    values = one.tree.value[:, :, 0]
    lead = values.max(axis=1) - values.mean(axis=1)
    strongest = int(np.argmax(lead))
    base = colours[int(np.argmax(values[strongest]))]
    parts = [int(fills[strongest][i : i + 2], 16) for i in (1, 3, 5)]
    full = [int(base[i : i + 2], 16) for i in (1, 3, 5)]
    assert parts == [round(255 + (part - 255) * 0.62) for part in full]
    assert len(fills) == one.tree.node_count


def test_the_picture():
    pytest.importorskip("matplotlib")
    drawn = sw.plot_tree(MODEL, tree=0)
    texts = [text.get_text() for text in drawn.texts]
    assert sum("[" in text and text.count(", ") >= 2 for text in texts) == MODEL.ensemble_.rounds[0][0].node_count
    assert "round 0" in drawn.get_title()
