"""What a node predicts, as values and as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.show.number import number_text, short_number
from sapwood.tree import Tree

_NOISE = 1e-12  # what is smaller than this share of the largest value is rounding error of a zero


def predicted(tree: Tree, classes: Sequence[Array], node: int) -> Any:
    """The class or number a node predicts, a tuple of them if there are several outputs."""
    value = tree.value[node]
    if classes:
        answers = [labels[int(np.argmax(row[: len(labels)]))] for labels, row in zip(classes, value, strict=True)]
    else:
        answers = [float(number) for number in value[:, 0]]
    plain = [answer.item() if isinstance(answer, np.generic) else answer for answer in answers]
    return plain[0] if len(plain) == 1 else tuple(plain)


def class_text(tree: Tree, node: int, class_names: list[list[str]]) -> str:
    """The class of greatest share, one per output."""
    return ", ".join(
        names[int(np.argmax(row[: len(names)]))] for names, row in zip(class_names, tree.value[node], strict=True)
    )


def class_weights(tree: Tree, node: int) -> list[Floats]:
    """Weight of the rows of each class, one array per output."""
    value = tree.value[node] * tree.weighted_n_node_samples[node]
    return [row[:count] for row, count in zip(value, tree.n_classes, strict=True)]


def class_shares(tree: Tree, node: int) -> list[Floats]:
    """Share of each class, one array per output."""
    return [row[:count] for row, count in zip(tree.value[node], tree.n_classes, strict=True)]


def numbers(tree: Tree, node: int) -> list[float]:
    """Regression values, rounding errors of zero removed."""
    value = tree.value[node, :, 0]
    noise = _NOISE * np.abs(tree.value).max()
    return [0.0 if abs(number) <= noise else float(number) for number in value]


def impurity_text(tree: Tree, node: int, precision: int) -> str:
    """The impurity, rounding errors of zero removed."""
    impurity = float(tree.impurity[node])
    return short_number(0.0 if abs(impurity) <= _NOISE * abs(tree.impurity[0]) else impurity, precision)


def bracketed(values: list[float], decimals: int) -> str:
    """Numbers as `[1.00, 2.00]`."""
    return f"[{', '.join(number_text(value, decimals) for value in values)}]"


def counts_text(weights: Floats, precision: int) -> str:
    """Class weights, as integers if they all are."""
    whole = np.round(weights)
    if np.allclose(weights, whole, rtol=1e-9, atol=1e-9):
        return f"[{', '.join(str(int(count)) for count in whole)}]"
    return f"[{', '.join(short_number(float(weight), precision) for weight in weights)}]"


def shares_text(shares: Floats, precision: int) -> str:
    """Class shares: `[0.25, 0.75]`."""
    return f"[{', '.join(str(round(float(share), precision)) for share in shares)}]"
