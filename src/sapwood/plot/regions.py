"""A map of what a model predicts over two features."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.data_warnings import quiet
from sapwood.errors import InputError, ParameterError
from sapwood.keywords import answering
from sapwood.parameters import Interval, check_parameters
from sapwood.plot.axis import Axis, label_axis, make_axis
from sapwood.plot.draws import new_draws
from sapwood.plot.grid import encoded, grid_table, row_count
from sapwood.plot.style import INK, PAPER, colour_bar, legend_beside, new_axes, pale_to_deep, style
from sapwood.plot.truth import positions, require_known
from sapwood.show.colour import class_colours, purity, rgb
from sapwood.show.fitted import is_classifier, require_model
from sapwood.show.names import class_names_for, feature_names_for

Floats = NDArray[np.float64]

_RULES = {"resolution": (Interval(int, low=2, high=5000),)}
_SIZE = (7.0, 5.0)
_PALEST, _DEEPEST = 0.12, 0.5  # share of colour where classes tie and where one is certain
_MOST_POINTS = 5000
_JITTER = 0.28


@answering
@quiet()
def plot_decision_regions(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    features: Any = None,
    feature_names: Any = None,
    class_names: Any = None,
    resolution: int = 300,
    ax: Any = None,
) -> Any:
    """Draw predictions over two features, with the rows of X as points, and return the Axes.

    A model of more than two features needs `features`, two names or positions; the others stay at the median, or the
    most frequent level, of X. Classes are paler where the model is less certain.
    """
    check_parameters("plot_decision_regions", _RULES, {"resolution": resolution})
    require_model(estimator, "estimator")
    schema = estimator.schema_
    names = feature_names_for(feature_names, schema)
    classes = class_names_for(class_names, estimator)
    chosen = _two_features(features, [column.name for column in schema.columns], names)
    target = _target(estimator, y, row_count(X))
    rows = encoded(schema, X)
    across, up = (make_axis(j, schema.columns[j], names[j], rows[:, j], resolution) for j in chosen)
    grid = grid_table(X, schema, rows, across, up)
    with style():
        ax = new_axes(ax, _SIZE)
        if is_classifier(estimator):
            _draw_classes(ax, estimator.predict_proba(grid), across, up, target, classes[0])
        else:
            _draw_numbers(ax, np.asarray(estimator.predict(grid), dtype=np.float64), across, up, target)
        label_axis(ax, across, horizontal=True)
        label_axis(ax, up, horizontal=False)
    return ax


def _two_features(features: Any, columns: list[str], names: list[str]) -> tuple[int, int]:
    if features is None:
        if len(columns) == 2:
            return 0, 1
        raise ParameterError(
            f"features=None is not allowed for a model of {len(columns)} features: a map has two axes. "
            f"Give two names or positions, for example features={tuple(columns[:2]) if len(columns) > 1 else '(0, 1)'}."
        )
    if isinstance(features, (str, bytes)) or not hasattr(features, "__len__") or len(features) != 2:
        raise ParameterError(f"features={features!r} is not allowed: it must be two names or positions of features.")
    first, second = (_feature(feature, columns, names) for feature in features)
    if first == second:
        raise ParameterError(f"features={features!r} names one feature twice. Give two different features.")
    return first, second


def _feature(feature: Any, columns: list[str], names: list[str]) -> int:
    if isinstance(feature, str):
        for known in (columns, names):
            if feature in known:
                return known.index(feature)
        near = difflib.get_close_matches(feature, columns, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"The features are {', '.join(map(repr, columns[:10]))}."
        raise ParameterError(f"features names {feature!r}, which is no feature of the model. {hint}")
    if isinstance(feature, (int, np.integer)) and not isinstance(feature, bool) and 0 <= feature < len(columns):
        return int(feature)
    raise ParameterError(
        f"features contains {feature!r}: it must be the name of a feature, or a position from 0 to {len(columns) - 1}."
    )


def _target(estimator: Any, y: Any, rows: int) -> NDArray[Any]:
    """Class positions, or numbers, of the rows."""
    count = int(getattr(estimator, "n_outputs_", 1))
    if count != 1:
        raise InputError(f"A map shows one target, but the model predicts {count}. Fit a model to one of them.")
    if y is None:
        raise InputError("y=None is not allowed: the rows are drawn by their target. Give one value per row of X.")
    target = np.asarray(y).ravel()
    if len(target) != rows:
        raise InputError(f"y has {len(target)} values, but X has {rows} rows. Give one value per row.")
    if not is_classifier(estimator):
        return target.astype(np.float64)
    classes, labels = estimator.classes_.tolist(), target.tolist()
    require_known("y", labels, classes)
    return positions(labels, classes)


def _draw_classes(ax: Any, shares: Floats, across: Axis, up: Axis, target: NDArray[Any], names: list[str]) -> None:
    shares = np.asarray(shares, dtype=np.float64)
    colours = np.array([rgb(colour) for colour in class_colours(shares.shape[1])])
    strength = _PALEST + (_DEEPEST - _PALEST) * purity(shares)[:, None]
    image = 1 - strength * (1 - colours[np.argmax(shares, axis=1)])
    ax.pcolormesh(across.edges, up.edges, image.reshape(len(up.centres), len(across.centres), 3), rasterized=True)
    places, shown = _points(across, up)
    for index, name in enumerate(names):
        here = shown[target[shown] == index]
        ax.scatter(*places[here].T, s=18, color=[colours[index]], edgecolors=PAPER, linewidths=0.5, label=name)
    legend_beside(ax)


def _draw_numbers(ax: Any, values: Floats, across: Axis, up: Axis, target: Floats) -> None:
    places, shown = _points(across, up)
    both = np.concatenate([values, target[shown]])
    limits = {"vmin": float(np.nanmin(both)), "vmax": float(np.nanmax(both)), "cmap": pale_to_deep()}
    image = values.reshape(len(up.centres), len(across.centres))
    mesh = ax.pcolormesh(across.edges, up.edges, image, rasterized=True, **limits)
    ax.scatter(*places[shown].T, s=18, c=target[shown], edgecolors=INK, linewidths=0.6, **limits)
    colour_bar(ax, mesh, "prediction; points: y")


def _points(across: Axis, up: Axis) -> tuple[Floats, NDArray[np.intp]]:
    """Places of the rows, levels spread out, and the rows that have a place; of very many rows some."""
    rng = new_draws()
    count = len(across.places)
    spread = [rng.uniform(-_JITTER, _JITTER, count) * axis.is_discrete for axis in (across, up)]
    places = np.stack([across.places + spread[0], up.places + spread[1]], axis=1)
    shown = np.flatnonzero(np.isfinite(places).all(axis=1))
    if len(shown) > _MOST_POINTS:
        shown = np.sort(rng.choice(shown, _MOST_POINTS, replace=False))
    return places, shown
