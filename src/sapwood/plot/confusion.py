"""The confusion matrix of a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.counted import counted
from sapwood.errors import InputTypeError
from sapwood.keywords import answering
from sapwood.parameters import Nothing, OneOf, check_parameters
from sapwood.plot.checks import as_labels, check_length, classes_of, positions, require_known
from sapwood.plot.short_text import distinct
from sapwood.plot.style import INK, PAPER, Axes, as_plain_text, label_axes, new_axes, note, style
from sapwood.show.colour import LOWERING, RAISING, mix, rgb
from sapwood.show.names import class_names_for

_RULES = {"normalize": (OneOf("true", "pred", "all"), Nothing())}
_WHOLES = {"true": "of each true class", "pred": "of each predicted class", "all": "of all rows"}
_CELL = 0.62  # inches, in a figure of few classes
_SMALLEST, _LARGEST = 4.2, 9.0  # inches of a side
_FEW = 8  # classes up to which a cell has room for two numbers
_DEEP = 0.55  # share of colour from which letters are white
_LONGEST_NAME = 22
_MOST_LETTERS = 9  # of a name that stands upright under its column


@answering
def plot_confusion_matrix(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    normalize: str | None = None,
    class_names: object = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how many rows of each class are predicted as which, and return the Axes.

    Correct rows are blue, mistakes orange, the deeper the larger their share. Call it as
    `plot_confusion_matrix(model, X, y)` or, with predictions, as `plot_confusion_matrix(y_true, y_pred)`.

    Args:
        model: a fitted classifier, or the true classes.
        X: rows, or the predicted classes.
        y: true classes of the rows of X.
        normalize: what shares are of: the rows of a true class ("true"), of a predicted class ("pred"), or all ("all");
            they are then written larger than the counts. None is "true" with larger counts.
        class_names: names to write instead of the classes.
        ax: Axes to draw on; None makes a new figure.
    """
    check_parameters("plot_confusion_matrix", _RULES, {"normalize": normalize})
    found = _Confusion.of(model, X, y, normalize, class_names)
    size = len(found.names)
    side = float(np.clip(_CELL * size + 1.6, _SMALLEST, _LARGEST))
    with style():
        ax = new_axes(ax, (side + 0.6, side))
        _draw_cells(ax, found, normalize is not None)
        label_axes(ax, "predicted class", "true class")
        right, total = int(np.trace(found.counts)), int(found.counts.sum())
        text = f"{right} of {counted(total, 'row')} correct ({100 * right / total:.1f} %)"
        # Cells of many classes have no room for shares
        note(ax, text if normalize is None and size > _FEW else f"{text}  ·  % {_WHOLES[normalize or 'true']}")
    return ax


@dataclass(frozen=True)
class _Confusion:
    """Rows of each true class (down) and predicted class (across): their number, and their share."""

    names: list[str]
    counts: Ints
    shares: Floats

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, normalize: str | None, class_names: object) -> _Confusion:
        if y is None:
            true, predicted = _given(model, X)
            classes = _in_order({*true, *predicted})
        else:
            classes = classes_of(model, "predict")
            true, predicted = as_labels("y", y), as_labels("The prediction", model.predict(X))
            check_length("y", len(true), "X", len(predicted))
            require_known("y", true, classes)
        names = distinct(class_names_for(class_names, [classes])[0], _LONGEST_NAME)
        size = len(classes)
        # Not scikit-learn's confusion_matrix, which takes no labels of several types and warns of a single one
        cells = positions(true, classes) * size + positions(predicted, classes)
        counts = np.bincount(cells, minlength=size * size).reshape(size, size)
        sums = {"pred": counts.sum(axis=0, keepdims=True), "all": counts.sum(keepdims=True)}
        whole = sums.get(normalize or "true", counts.sum(axis=1, keepdims=True))
        return cls(names, counts, counts / np.maximum(whole, 1))


def _given(true: Any, predicted: Any) -> tuple[list[Any], list[Any]]:
    if hasattr(true, "predict") or isinstance(true, type):
        raise InputTypeError(
            "y=None is not allowed if a model is given: the true classes are needed. Use "
            "plot_confusion_matrix(model, X, y)."
        )
    labels = as_labels("y_true", true), as_labels("y_pred", predicted)
    check_length("y_pred", len(labels[1]), "y_true", len(labels[0]))
    return labels


def _in_order(labels: set[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # of several types
        return sorted(labels, key=str)


def _draw_cells(ax: Axes, found: _Confusion, shares_first: bool) -> None:
    """Draw scikit-learn's picture, which has one colour and one number for each cell, with ours in their place."""
    from sklearn.metrics import ConfusionMatrixDisplay

    size = len(found.names)
    display = ConfusionMatrixDisplay(found.counts, display_labels=found.names)
    display.plot(include_values=False, colorbar=False, ax=ax)
    largest = max(float(found.shares.max()), 1e-12)
    image = np.ones((size, size, 3))
    for (row, column), share in np.ndenumerate(found.shares):
        # Mistakes are few: their root keeps them visible
        strength = float(share / largest if row == column else np.sqrt(share / largest))
        image[row, column] = rgb(mix(LOWERING if row == column else RAISING, strength))
        _write(ax, (column, row), int(found.counts[row, column]), float(share), strength, size, shares_first)
    display.im_.set_data(image)
    for border in np.arange(size + 1) - 0.5:
        ax.axhline(border, color=PAPER, linewidth=1.2)
        ax.axvline(border, color=PAPER, linewidth=1.2)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    as_plain_text([*ax.get_xticklabels(), *ax.get_yticklabels()])
    if max(map(len, found.names)) * max(size, 4) > 4 * _MOST_LETTERS:
        for text in ax.get_xticklabels():
            text.set(rotation=45, ha="right", rotation_mode="anchor")


def _write(
    ax: Axes, place: tuple[int, int], count: int, share: float, strength: float, size: int, shares_first: bool
) -> None:
    """Write count and share of a cell; only one of them where there are many classes, nothing for an empty one."""
    if not count:
        return
    percent = f"{100 * share:.{0 if size > _FEW else 1}f}".removesuffix(".0")
    texts = [str(count), f"{percent} %" if size <= _FEW else percent]
    first, second = reversed(texts) if shares_first else texts
    colour = PAPER if strength > _DEEP and place[0] == place[1] else INK
    common: dict[str, Any] = {"ha": "center", "va": "center", "color": colour, "textcoords": "offset points"}
    large = float(np.clip(14 - 0.3 * size, 7.0, 11.0))
    if size > _FEW:
        ax.annotate(first, place, (0, 0), fontsize=large, **common)
        return
    ax.annotate(first, place, (0, 5), fontsize=large, **common)
    ax.annotate(second, place, (0, -7), fontsize=7.5, **common)
