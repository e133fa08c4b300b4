"""Where gradient boosting starts: the best constants, zeros, or what another estimator predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import _safe_indexing

from sapwood.arrays import Array, Floats
from sapwood.boosting.fitting import Rows
from sapwood.data_warnings import quiet
from sapwood.errors import InitWarning, InputError, ParameterError, warn_user
from sapwood.losses.loss import Loss
from sapwood.row_parts.rows import LocalRows

START_SHARE = 0.01  # of the mean of y: where a row starts whose prediction is not above 0
ZERO_SHARE = 1e-4  # of that start: smaller predictions are as good as 0


def take_rows(X: Any, rows: Array | None) -> Any:
    """Some rows of what the user gave, as the user's type; None takes all."""
    return X if rows is None else _safe_indexing(X.tocsr() if sparse.issparse(X) else X, rows)


def fit_init(owner: Any, X: Any, rows: Rows, held_out: Array | None, loss: Loss) -> tuple[Floats, Floats | None]:
    """Start from the parameter `init`, by the rows that are not held out; sets `init_` of the owner.

    Returns the constants to start from, and scores of each row if an estimator predicts them.
    """
    setting, n_classes = owner.init, owner.__dict__.get("n_classes_")
    own = None if held_out is None else np.setdiff1d(np.arange(len(rows.y)), held_out)
    of = slice(None) if own is None else own
    y, weight = rows.y[of], None if rows.weight is None else rows.weight[of]
    base, offset = np.zeros(loss.n_scores), None
    if setting is None:
        base, dummy = loss.start(LocalRows.of(y, weight)), np.zeros((len(y), 1))
        base = base if loss.n_scores == 1 else base - base.mean()  # scikit-learn's, which add up to 0: the same model
        if n_classes is None:
            constant = float(loss.response(base[:, None])[0, 0])
            owner.init_ = DummyRegressor(strategy="constant", constant=constant).fit(dummy, y, sample_weight=weight)
        else:
            owner.init_ = DummyClassifier(strategy="prior").fit(dummy, y.astype(np.int64), sample_weight=weight)
    elif not hasattr(setting, "fit"):
        owner.init_ = setting
    else:
        given = take_rows(X, rows.index)
        with quiet():
            owner.init_ = _fit_clone(setting, take_rows(given, own), y, weight, n_classes is not None)
        least = least_start(owner.init_, given, loss, y, weight)
        if least is not None:
            owner._init_least = least
        offset = init_scores(owner.init_, given, loss, n_classes, least)
    owner._has_init = offset is not None
    return base, offset


def _fit_clone(init: Any, X: Any, y: Floats, weight: Floats | None, is_class: bool) -> Any:
    """A fitted copy of the user's estimator; classes are numbered 0, 1, 2, ….

    Weights are passed on only if there are some, since not every estimator takes them.
    """
    estimator = clone(init, safe=False)
    target = y.astype(np.int64) if is_class else y
    if weight is None:
        return estimator.fit(X, target)
    try:
        return estimator.fit(X, target, sample_weight=weight)
    except (TypeError, ValueError) as error:
        if "unexpected keyword argument 'sample_weight'" not in str(error) and "stepname__parameter" not in str(error):
            raise
        raise ParameterError(
            f"init={type(init).__name__} does not support sample weights, which fit was given. Use an init whose fit "
            "takes sample_weight, or fit without weights."
        ) from error


@quiet()
def least_start(init: Any, X: Any, loss: Loss, y: Floats, weight: Floats | None) -> float | None:
    """Where rows start whose prediction is not above 0, if the loss needs numbers above 0; else None.

    From the smallest number, whose logarithm is far from all others, a row would not come back. A warning says if there
    are such rows.
    """
    if not loss.above_zero:
        return None
    least = START_SHARE * float(np.average(y, weights=weight))
    start = np.asarray(init.predict(X), dtype=np.float64).ravel()
    low = start <= ZERO_SHARE * least
    if low.any():
        row, name = int(np.argmax(low)), type(init).__name__
        warn_user(
            f"init={name} predicts {start[row]:.4g} for row {row}, but the loss {loss.name!r} needs numbers above 0: "
            f"{low.sum()} of {len(start)} rows start from {least:.4g}, a hundredth of the mean of y, instead. Use an "
            "init whose predictions are above 0, such as scikit-learn's PoissonRegressor, or init=None.",
            InitWarning,
        )
    return least


@quiet()
def init_scores(init: Any, X: Any, loss: Loss, n_classes: int | None, least: float | None = None) -> Floats:
    """Scores (n_scores, rows) that a fitted estimator starts with; predictions not above 0 count as `least`."""
    if n_classes is None:
        start = np.asarray(init.predict(X), dtype=np.float64).reshape(-1, 1)
    else:
        start = np.asarray(init.predict_proba(X), dtype=np.float64)
        if start.ndim != 2 or start.shape[1] != n_classes:
            raise InputError(
                f"init={type(init).__name__} predicts probabilities of shape {start.shape}, but y has {n_classes} "
                "classes. The rows it is trained on may lack a class: use more rows, or another random_state."
            )
    if not np.isfinite(start).all():
        row = int(np.argmax(~np.isfinite(start).all(axis=1)))
        raise InputError(f"init={type(init).__name__} predicts {start[row].tolist()} for row {row}. Use another init.")
    columns = start[:, 1:] if n_classes == 2 else start
    columns = columns if least is None else np.where(columns > ZERO_SHARE * least, columns, least)
    return loss.link(np.ascontiguousarray(columns.T))
