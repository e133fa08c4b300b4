"""Which classes are taken for which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.counted import counted
from sapwood.errors import InputTypeError, ParameterError
from sapwood.keywords import answering
from sapwood.parameters import Nothing, OneOf, check_parameters
from sapwood.plot.label import distinct
from sapwood.plot.style import INK, PAPER, as_plain_text, label_axes, new_axes, note, style
from sapwood.plot.truth import as_labels, check_length, positions, require_classifier, require_known
from sapwood.show.colour import LOWERING, RAISING, mix

Floats = NDArray[np.float64]

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
    class_names: Any = None,
    ax: Any = None,
) -> Any:
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
    found = _Confusion.of(model, X, y, class_names)
    size = len(found.names)
    side = float(np.clip(_CELL * size + 1.6, _SMALLEST, _LARGEST))
    with style():
        ax = new_axes(ax, (side + 0.6, side))
        _draw_cells(ax, found, normalize)
        _name_classes(ax, found.names)
        label_axes(ax, "predicted class", "true class")
        right, total = int(np.trace(found.counts)), int(found.counts.sum())
        words = f"{right} of {counted(total, 'row')} correct ({100 * right / total:.1f} %)"
        # Counts of many classes stand alone
        note(ax, words if normalize is None and size > _FEW else f"{words}  ·  % {_WHOLES[normalize or 'true']}")
    return ax


@dataclass(frozen=True)
class _Confusion:
    names: list[str]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, class_names: Any) -> _Confusion:
        if y is None:
            truth, said, known = _given(model, X)
        else:
            require_classifier(model, "predict")
            truth, said = as_labels("y", y), as_labels("The prediction", model.predict(X))
            check_length("y", len(truth), "X", len(said))
            known = model.classes_.tolist()
            require_known("y", truth, known)
        classes = [*known, *_in_order({*truth, *said}.difference(known))]
        counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
        np.add.at(counts, (positions(truth, classes), positions(said, classes)), 1)
        return cls(_names(class_names, classes), counts)

    def shares(self, of: str | None) -> Floats:
        """Share of each cell; 0 where there is nothing to share."""
        whole = {"pred": self.counts.sum(axis=0, keepdims=True), "all": self.counts.sum(keepdims=True)}
        return np.asarray(self.counts / np.maximum(whole.get(of or "", self.counts.sum(axis=1, keepdims=True)), 1))


def _given(truth: Any, said: Any) -> tuple[list[Any], list[Any], list[Any]]:
    if hasattr(truth, "predict") or isinstance(truth, type):
        raise InputTypeError(
            "y=None is not allowed if a model is given: the true classes are needed. Use "
            "plot_confusion_matrix(model, X, y)."
        )
    true, predicted = as_labels("y_true", truth), as_labels("y_pred", said)
    check_length("y_pred", len(predicted), "y_true", len(true))
    return true, predicted, []


def _in_order(labels: set[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # of several types
        return sorted(labels, key=str)


def _names(given: Any, classes: list[Any]) -> list[str]:
    if given is None:
        return distinct(classes, _LONGEST_NAME)
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != len(classes):
        count = len(given) if hasattr(given, "__len__") and not isinstance(given, str) else repr(given)
        raise ParameterError(
            f"class_names has {count} names, but there are {len(classes)} classes. Give one name per class, in the "
            f"order {', '.join(map(str, classes[:10]))}{', …' if len(classes) > 10 else ''}."
        )
    return distinct(list(given), _LONGEST_NAME)


def _draw_cells(ax: Any, found: _Confusion, normalize: str | None) -> None:
    size = len(found.names)
    shares = found.shares(normalize)
    largest = max(float(shares.max()), 1e-12)
    image = np.ones((size, size, 3))
    for (row, column), share in np.ndenumerate(shares):
        # Mistakes are few: their root keeps them visible
        strength = float(share / largest if row == column else np.sqrt(share / largest))
        colour = mix(LOWERING if row == column else RAISING, strength)
        image[row, column] = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        _write(ax, (column, row), int(found.counts[row, column]), float(share), strength, size, normalize is not None)
    ax.imshow(image, interpolation="nearest", aspect="equal")
    for border in np.arange(size + 1) - 0.5:
        ax.axhline(border, color=PAPER, linewidth=1.2)
        ax.axvline(border, color=PAPER, linewidth=1.2)
    ax.spines[:].set_visible(False)


def _write(
    ax: Any, place: tuple[int, int], count: int, share: float, strength: float, size: int, shares_first: bool
) -> None:
    """Write count and share of a cell; only one of them where there are many classes, nothing for an empty one."""
    if not count:
        return
    percent = f"{100 * share:.{0 if size > _FEW else 1}f}".removesuffix(".0")
    texts = [str(count), f"{percent} %" if size <= _FEW else percent]
    first, second = reversed(texts) if shares_first else texts
    colour = PAPER if strength > _DEEP and place[0] == place[1] else INK
    common = {"ha": "center", "va": "center", "color": colour, "textcoords": "offset points"}
    large = float(np.clip(14 - 0.3 * size, 7.0, 11.0))
    if size > _FEW:
        ax.annotate(first, place, (0, 0), fontsize=large, **common)
        return
    ax.annotate(first, place, (0, 5), fontsize=large, **common)
    ax.annotate(second, place, (0, -7), fontsize=7.5, **common)


def _name_classes(ax: Any, names: list[str]) -> None:
    places = range(len(names))
    ax.set_xticks(places, names)
    ax.set_yticks(places, names)
    ax.tick_params(length=0)
    as_plain_text([*ax.get_xticklabels(), *ax.get_yticklabels()])
    if max(map(len, names)) * max(len(names), 4) > 4 * _MOST_LETTERS:
        for text in ax.get_xticklabels():
            text.set(rotation=45, ha="right", rotation_mode="anchor")
