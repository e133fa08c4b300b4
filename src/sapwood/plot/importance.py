"""How much each feature matters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.errors import InputError, InputTypeError, NotFittedError, ParameterError, SapwoodError
from sapwood.keywords import answering
from sapwood.parameters import Interval, OneOf, check_parameters
from sapwood.plot.feature_rows import features_left_out, name_rows, row_axes
from sapwood.plot.style import FAINT, INK, Axes, draw_grid, label_axes, note, style
from sapwood.show.colour import NUMBER_COLOUR, mix

_RULES = {"most": (Interval(int, low=1),)}
_LABELS = {
    "mean_abs_shap": "mean |SHAP value|",
    "permutation": "permutation importance",
    "oob_permutation": "out-of-bag permutation importance",
}
_ERROR = "_se"
_BAR = 0.62


@answering
def plot_importance(importance: Any, measure: str | None = None, most: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the importance of the features, the largest on top, with standard errors where they are known.

    Args:
        importance: what `explain.importance` or a forest's `permutation_importance` returns, or a fitted model, whose
            `feature_importances_` are drawn.
        measure: which of the measures of `explain.importance`; by default the one it is sorted by.
        most: features to draw at most.
        ax: Axes to draw on; None makes a new figure.
    """
    check_parameters("plot_importance", _RULES, {"most": most})
    found = _Importance.of(importance, measure)
    order = found.order()
    shown = order[:most]
    with style():
        ax = row_axes(ax, len(shown))
        _draw_bars(ax, found, shown)
        name_rows(ax, [found.names[j] for j in shown])
        label_axes(ax, found.label if found.error is None else f"{found.label}, mean ± standard error", "")
        draw_grid(ax, "x")
        if len(order) > len(shown):
            note(ax, f"{features_left_out(len(order) - len(shown))} not shown")
    return ax


@dataclass(frozen=True)
class _Importance:
    names: tuple[str, ...]
    value: Floats
    error: Floats | None
    label: str

    @classmethod
    def of(cls, given: Any, measure: str | None) -> _Importance:
        if isinstance(getattr(given, "measures", None), Mapping):
            return _of_measures(given, measure)
        if measure is not None:
            raise ParameterError(
                f"measure={measure!r} needs the result of explain.importance, but importance is a "
                f"{type(given).__name__}. Leave it out."
            )
        if hasattr(given, "increase") and hasattr(given, "names"):
            # One tree has no spread
            error = np.asarray(given.standard_error) if len(given.increase) > 1 else None
            return cls(tuple(given.names), np.asarray(given.mean), error, "increase of the out-of-bag error")
        return _of_model(given)

    def order(self) -> list[int]:
        """Features that were measured, the most important first."""
        known = [int(j) for j in np.argsort(-self.value, kind="stable") if np.isfinite(self.value[j])]
        if not known:
            raise InputError(f"importance has no number of {self.label} for any feature. Choose another measure.")
        return known


def _of_measures(given: Any, measure: str | None) -> _Importance:
    own = [
        name for name in given.measures if not (name.endswith(_ERROR) and name.removesuffix(_ERROR) in given.measures)
    ]
    if not own:
        raise InputError("importance has no measures. Give the result of explain.importance.")
    sorted_by: Any = getattr(given, "sorted_by", None)
    chosen: str = measure or (sorted_by if sorted_by in own else own[0])
    check_parameters("this importance", {"measure": (OneOf(*own),)}, {"measure": chosen})
    error = given.measures.get(f"{chosen}{_ERROR}")
    return _Importance(
        tuple(map(str, given.names)),
        np.asarray(given.measures[chosen], dtype=np.float64),
        None if error is None else np.asarray(error, dtype=np.float64),
        _LABELS.get(chosen, chosen.replace("_", " ")),
    )


def _of_model(model: Any) -> _Importance:
    owner = type(model).__name__
    try:
        value = np.asarray(model.feature_importances_, dtype=np.float64)
    except SapwoodError:
        raise
    except AttributeError as error:
        if hasattr(model, "fit") and not isinstance(model, type) and not hasattr(model, "n_features_in_"):
            raise NotFittedError(f"This {owner} is not fitted yet. Call fit(X, y) first.") from error
        raise InputTypeError(
            f"importance is a {owner} without importances of features. Give the result of explain.importance or of "
            "permutation_importance, or a fitted model of trees."
        ) from error
    return _Importance(_names_of(model, len(value)), value, None, "feature importance")


def _names_of(model: Any, count: int) -> tuple[str, ...]:
    if hasattr(model, "schema_"):
        return tuple(model.schema_.names)
    return tuple(map(str, getattr(model, "feature_names_in_", [f"feature {j}" for j in range(count)])))


def _draw_bars(ax: Axes, found: _Importance, shown: list[int]) -> None:
    places = np.arange(len(shown))
    ax.barh(places, found.value[shown], height=_BAR, color=mix(NUMBER_COLOUR, 0.8), zorder=2)
    if found.error is not None:
        bars = ax.errorbar(
            found.value[shown], places, xerr=found.error[shown], fmt="none", ecolor=INK, elinewidth=1.1, capsize=2.5
        )
        for part in (*bars[1], *bars[2]):
            part.set_zorder(3)
    ax.axvline(0, color=FAINT, linewidth=0.8, zorder=1)
