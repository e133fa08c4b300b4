"""Stand-ins for results that pictures are drawn of."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class StandInShap:
    values: Any
    base_values: Any
    data: Any
    feature_names: Any
    output_names: Any = ("score",)


@dataclass(frozen=True)
class StandInImportance:
    names: tuple[str, ...]
    measures: dict[str, Any]
    sorted_by: str | None = None


@dataclass(frozen=True)
class StandInDependence:
    feature_names: tuple[str, ...]
    kinds: tuple[str, ...]
    grid: tuple[Any, ...]
    average: Any
    individual: Any = None
    output_names: tuple[str, ...] = ("prediction",)
    centred: bool = False
    method: str = "brute"


def shap(rows=40, features=6, outputs=None, seed=0):
    rng = np.random.default_rng(seed)
    shape = (rows, features) if outputs is None else (rows, features, outputs)
    scale = np.arange(features, 0, -1).reshape((1, -1) if outputs is None else (1, -1, 1))
    values = rng.normal(size=shape) * scale
    base = np.full(rows, 0.5) if outputs is None else np.tile(np.arange(outputs) * 1.0, (rows, 1))
    names = tuple(f"feature {j}" for j in range(features))
    kinds = ("score",) if outputs is None else tuple(f"class {k}" for k in range(outputs))
    return StandInShap(values, base, rng.normal(size=(rows, features)), names, kinds)


def texts(ax):
    """Everything that is written, drawn once so that all of it exists."""
    ax.figure.canvas.draw()
    return [text.get_text() for text in ax.texts]


def ticks(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def nothing_overlaps(labels):
    """Whether the boxes of the labels of an axis lie apart."""
    boxes = [text.get_window_extent() for text in labels if text.get_text()]
    return not any(box.overlaps(other) for index, box in enumerate(boxes) for other in boxes[:index])


def inside(ax, labels):
    """Whether labels lie on the figure."""
    page = ax.figure.bbox
    boxes = [text.get_window_extent() for text in labels if text.get_text()]
    return all(box.x0 >= -1 and box.y0 >= -1 and box.x1 <= page.x1 + 1 and box.y1 <= page.y1 + 1 for box in boxes)
