"""A map of what a model predicts over two features."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats
from sapwood.data_warnings import quiet
from sapwood.errors import InputError, ParameterError
from sapwood.keywords import answering
from sapwood.model import Model, model_of
from sapwood.parameters import Interval, check_parameters
from sapwood.plot.axis import Axis, label_axis, make_axis
from sapwood.plot.checks import check_length, positions, require_known
from sapwood.plot.grid import grid_table
from sapwood.plot.style import (
    INK,
    PAPER,
    Axes,
    colour_bar,
    fixed_generator,
    legend_beside,
    new_axes,
    pale_to_deep,
    style,
)
from sapwood.show.colour import class_colours, purity, rgb
from sapwood.show.names import class_names_for, feature_names_for

_RULES = {"resolution": (Interval(int, low=2, high=5000),)}
_SIZE = (7.0, 5.0)
_PALEST, _DEEPEST = 0.12, 0.5  # share of colour where classes tie and where one is certain
_MOST_POINTS = 5000
_JITTER = 0.28


@answering
@quiet()
def plot_decision_regions(
    estimator: object,
    X: Any,
    y: Any,
    *,
    features: object = None,
    feature_names: object = None,
    class_names: object = None,
    resolution: int = 300,
    ax: Axes | None = None,
) -> Axes:
    """Draw predictions over two features, with the rows of X as points, and return the Axes.

    Classes are paler where the model is less certain. scikit-learn's DecisionBoundaryDisplay draws models of exactly
    two columns of numbers; here they may be any two of many columns, and of any kind.

    Args:
        estimator: a fitted model.
        X: rows.
        y: their classes or numbers.
        features: names or positions of two features; the others stay at the median, or the most frequent level, of X.
        feature_names: names of the columns; by default those seen in fit.
        class_names: names of the classes; by default those seen in fit.
        resolution: cells along each axis.
        ax: Axes to draw on; None makes a new figure.
    """
    check_parameters("plot_decision_regions", _RULES, {"resolution": resolution})
    model = model_of(estimator, "estimator")
    schema = model.schema
    names, classes = feature_names_for(feature_names, schema), class_names_for(class_names, model.classes)
    chosen = _two_features(features, schema.names, names)
    table = schema.match(X)
    target = _target(model, y, table.n_rows)
    rows = np.asarray(table.block(0, table.n_rows), dtype=np.float64)
    across, up = (make_axis(j, schema.columns[j], names[j], rows[:, j], resolution) for j in chosen)
    grid = grid_table(X, schema, rows, across, up)
    with style():
        ax = new_axes(ax, _SIZE)
        if model.is_classifier:
            _draw_classes(ax, model.predict_proba(grid), across, up, target, classes[0])
        else:
            _draw_numbers(ax, model.predict(grid), across, up, target)
        label_axis(ax, across, horizontal=True)
        label_axis(ax, up, horizontal=False)
    return ax


def _two_features(features: object, columns: Sequence[str], names: Sequence[str]) -> tuple[int, int]:
    if features is None:
        if len(columns) == 2:
            return 0, 1
        raise ParameterError(
            f"features=None is not allowed for a model of {len(columns)} features: a map has two axes. "
            f"Give two names or positions, for example features={tuple(columns[:2]) if len(columns) > 1 else '(0, 1)'}."
        )
    if isinstance(features, (str, bytes)) or not hasattr(features, "__len__") or len(features) != 2:
        raise ParameterError(f"features={features!r} is not allowed: it must be two names or positions of features.")
    first, second = (_feature(feature, columns, names) for feature in list(features))  # type: ignore[call-overload]
    if first == second:
        raise ParameterError(f"features={features!r} names one feature twice. Give two different features.")
    return first, second


def _feature(feature: object, columns: Sequence[str], names: Sequence[str]) -> int:
    if isinstance(feature, str):
        for known in (columns, names):
            if feature in known:
                return known.index(feature)
        near = difflib.get_close_matches(feature, columns, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"The features are {', '.join(map(repr, columns[:10]))}."
        raise ParameterError(f"features names {feature!r}, which is not a feature of the model. {hint}")
    if isinstance(feature, (int, np.integer)) and not isinstance(feature, bool) and 0 <= feature < len(columns):
        return int(feature)
    raise ParameterError(
        f"features contains {feature!r}: it must be the name of a feature, or a position from 0 to {len(columns) - 1}."
    )


def _target(model: Model, y: Any, n_rows: int) -> Array:
    """Class positions, or numbers, of the rows."""
    if not model.single:
        count = len(model.classes or model.score_names)
        raise InputError(f"A map shows one target, but the model predicts {count}. Fit a model to one of them.")
    if y is None:
        raise InputError("y=None is not allowed: the rows are drawn by their target. Give one value per row of X.")
    target = np.asarray(y).ravel()
    check_length("y", len(target), "X", n_rows)
    if not model.is_classifier:
        return target.astype(np.float64)
    classes, labels = model.classes[0].tolist(), target.tolist()
    require_known("y", labels, classes)
    return positions(labels, classes)


def _draw_classes(ax: Axes, shares: Floats, across: Axis, up: Axis, target: Array, names: list[str]) -> None:
    colours = np.array([rgb(colour) for colour in class_colours(shares.shape[1])])
    strength = _PALEST + (_DEEPEST - _PALEST) * purity(shares)[:, None]
    image = 1 - strength * (1 - colours[np.argmax(shares, axis=1)])
    ax.pcolormesh(across.edges, up.edges, image.reshape(len(up.centres), len(across.centres), 3), rasterized=True)
    places, shown = _points(across, up)
    for index, name in enumerate(names):
        here = shown[target[shown] == index]
        x, y = places[here].T
        ax.scatter(x, y, s=18, color=[colours[index]], edgecolors=PAPER, linewidths=0.5, label=name)
    legend_beside(ax)


def _draw_numbers(ax: Axes, values: Floats, across: Axis, up: Axis, target: Floats) -> None:
    places, shown = _points(across, up)
    both = np.concatenate([values, target[shown]])
    limits: dict[str, Any] = {"vmin": float(np.nanmin(both)), "vmax": float(np.nanmax(both)), "cmap": pale_to_deep()}
    image = values.reshape(len(up.centres), len(across.centres))
    mesh = ax.pcolormesh(across.edges, up.edges, image, rasterized=True, **limits)
    x, y = places[shown].T
    ax.scatter(x, y, s=18, c=target[shown], edgecolors=INK, linewidths=0.6, **limits)
    colour_bar(ax, mesh, "prediction; points: y")


def _points(across: Axis, up: Axis) -> tuple[Floats, NDArray[np.intp]]:
    """Places of the rows, spread out along levels, and the rows to draw: those with a place, of very many some."""
    rng = fixed_generator()
    count = len(across.places)
    spread = [rng.uniform(-_JITTER, _JITTER, count) * axis.is_discrete for axis in (across, up)]
    places = np.stack([across.places + spread[0], up.places + spread[1]], axis=1)
    shown = np.flatnonzero(np.isfinite(places).all(axis=1))
    if len(shown) > _MOST_POINTS:
        shown = np.sort(rng.choice(shown, _MOST_POINTS, replace=False))
    return places, shown
