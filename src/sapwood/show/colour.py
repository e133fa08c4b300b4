"""Colours of classes and nodes, for graphviz and for pictures alike."""

from __future__ import annotations

import colorsys

import numpy as np

from sapwood.arrays import Floats
from sapwood.show.one_tree import GAIN, OneTree
from sapwood.tree import Tree

RGB = tuple[float, float, float]

# Muted, and distinct with any kind of colour vision
PALETTE = ("#4477aa", "#ee8866", "#44aa99", "#aa4499", "#ddaa33", "#88ccee", "#882255", "#77aa44", "#bb5566", "#777777")
NUMBER_COLOUR = "#4477aa"
LOWERING, RAISING = "#4477aa", "#ee8866"  # what a prediction is lowered and raised by
TRUNCATED_FILL = "#e4e4e4"
_DARKEST = 0.62  # share of full colour in a pure node; more would swallow dark text
_LIGHTEST = 0.06
_GOLDEN = 0.618033988749895


def class_colours(count: int) -> list[str]:
    """One colour per class; beyond the palette, hues that are far from the ones before."""
    return [PALETTE[index] if index < len(PALETTE) else _spread_hue(index) for index in range(count)]


def mix(colour: str, strength: float) -> str:
    """Mix a colour with white."""
    parts = [255 + (part - 255) * strength for part in _parts(colour)]
    return "#" + "".join(f"{round(part):02x}" for part in parts)


def rgb(colour: str) -> RGB:
    """Parts of a colour between 0 and 1."""
    red, green, blue = _parts(colour)
    return red / 255, green / 255, blue / 255


def purity(shares: Floats) -> Floats:
    """How far the leading class is ahead along the last axis: 0 for a tie, 1 for a pure node."""
    if shares.shape[-1] < 2:
        return np.ones(shares.shape[:-1])
    second, first = np.moveaxis(np.sort(shares, axis=-1)[..., -2:], -1, 0)
    return np.asarray((first - second) / np.maximum(1.0 - second, 1e-12))


def node_fills(one: OneTree) -> list[str]:
    """Fill of each node: by class and purity, by value, by impurity of several outputs, or by effect on scores."""
    tree = one.tree
    if one.criterion == GAIN:
        return _score_fills(tree)
    if tree.n_outputs == 1 and one.classes:
        shares = tree.value[:, 0, :]
        colours = class_colours(shares.shape[1])
        base = [colours[index] for index in np.argmax(shares, axis=1)]
        return [mix(colour, _shade(share)) for colour, share in zip(base, purity(shares), strict=True)]
    measure = tree.value[:, 0, 0] if tree.n_outputs == 1 else -tree.impurity
    return [mix(NUMBER_COLOUR, _shade(share)) for share in _to_unit(measure)]


def _score_fills(tree: Tree) -> list[str]:
    """Fills of a tree that adds to a score: whether it raises the score, and by how much.

    If it adds to several: the one that it raises most, and by how much more than the others.
    """
    if tree.n_outputs > 1:
        lead = tree.value[:, :, 0] - tree.value[:, :, 0].mean(axis=1, keepdims=True)
        strength, colours = lead.max(axis=1), class_colours(tree.n_outputs)
        shares = strength / (float(strength.max()) or 1.0)
        return [mix(colours[k], _shade(share)) for k, share in zip(np.argmax(lead, axis=1), shares, strict=True)]
    value = tree.value[:, 0, 0]
    largest = float(np.abs(value).max()) or 1.0
    return [mix(RAISING if number > 0 else LOWERING, _shade(abs(number) / largest)) for number in value]


def _shade(share: float) -> float:
    return _LIGHTEST + (_DARKEST - _LIGHTEST) * float(share)


def _to_unit(measure: Floats) -> Floats:
    low, high = measure.min(), measure.max()
    return (measure - low) / (high - low) if high > low else np.full_like(measure, 0.5)


def _spread_hue(index: int) -> str:
    parts = colorsys.hls_to_rgb(index * _GOLDEN % 1.0, 0.45 + 0.1 * (index % 3), 0.5)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
