"""The libraries that are compared: one function for each, which fits a model with the library's defaults.

Only the seed and the number of threads are set, and what a library needs to read categories or to run at all. The
models of `lightgbm_td` and `xgboost_td` are the tuned defaults of pytabkit (Holzmüller et al., 2024), with early
stopping by the log loss or the squared error of a fifth of the training rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from accuracy.forms import (
    Pair,
    as_arrays,
    as_read,
    text_columns,
    with_categories,
    with_few_categories,
    with_indicators,
    with_text,
    with_text_categories,
)

VALIDATION_SHARE, PATIENCE = 0.2, 300  # of tuned defaults


@dataclass(frozen=True)
class Job:
    """Rows to train on, and how."""

    X: Any
    y: NDArray
    n_classes: int  # 0 for numbers
    seed: int
    threads: int

    @property
    def is_numbers(self) -> bool:
        return self.n_classes == 0


def sapwood(job: Job) -> Any:
    """Sapwood's Newton boosting."""
    return _sapwood("NewtonBoosting", job)


def sapwood_xgboost(job: Job) -> Any:
    """Sapwood's Newton boosting with XGBoost's numbers."""
    return _sapwood("NewtonBoosting", job, recipe="xgboost")


def sapwood_forest(job: Job) -> Any:
    """Sapwood's random forest."""
    return _sapwood("RandomForest", job)


def xgboost(job: Job) -> Any:
    """XGBoost, with categories."""
    return _xgboost(job).fit(job.X, job.y)


def xgboost_td(job: Job) -> Any:
    """XGBoost with the tuned defaults."""
    by_task = (
        {"learning_rate": 0.05, "max_depth": 9, "min_child_weight": 2.0, "subsample": 0.7, "colsample_bylevel": 1.0}
        if job.is_numbers
        else {"learning_rate": 0.08, "min_child_weight": 5e-6, "subsample": 0.65, "colsample_bylevel": 0.9}
    )
    X, X_valid, y, y_valid = _hold_out(job)
    model = _xgboost(job, n_estimators=1000, reg_lambda=0.0, early_stopping_rounds=PATIENCE, **by_task)
    return model.fit(X, y, eval_set=[(X_valid, y_valid)], verbose=False)


def lightgbm(job: Job) -> Any:
    """LightGBM."""
    return _lightgbm(job).fit(job.X, job.y)


def lightgbm_td(job: Job) -> Any:
    """LightGBM with the tuned defaults."""
    from lightgbm import early_stopping

    by_task = (
        {"learning_rate": 0.05, "num_leaves": 100, "min_child_samples": 3, "subsample": 0.7}
        if job.is_numbers
        else {"learning_rate": 0.04, "num_leaves": 50, "min_child_samples": 40, "subsample": 0.75}
    )
    X, X_valid, y, y_valid = _hold_out(job)
    model = _lightgbm(job, n_estimators=1000, subsample_freq=1, min_child_weight=1e-7, **by_task)
    stop = early_stopping(PATIENCE, verbose=False)
    return model.fit(X, y, eval_set=[(X_valid, y_valid)], callbacks=[stop])


def lightgbm_rf(job: Job) -> Any:
    """LightGBM's random forest, which asks for bags: 63 % of the rows for each tree."""
    return _lightgbm(job, boosting_type="rf", subsample=0.632, subsample_freq=1).fit(job.X, job.y)


def catboost(job: Job) -> Any:
    """CatBoost."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    return _kind(job, CatBoostClassifier, CatBoostRegressor)(
        cat_features=text_columns(job.X),
        random_seed=job.seed,
        thread_count=job.threads,
        allow_writing_files=False,
        verbose=0,
    ).fit(job.X, job.y)


def sklearn_hgb(job: Job) -> Any:
    """Histogram boosting of scikit-learn; it has no parameter for threads."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    kind = _kind(job, HistGradientBoostingClassifier, HistGradientBoostingRegressor)
    with threadpool_limits(job.threads):
        return kind(categorical_features="from_dtype", random_state=job.seed).fit(job.X, job.y)


def sklearn_forest(job: Job) -> Any:
    """Random forest of scikit-learn."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = _kind(job, RandomForestClassifier, RandomForestRegressor)
    return kind(n_jobs=job.threads, random_state=job.seed).fit(job.X, job.y)


def ydf_forest(job: Job) -> Any:
    """Random forest of YDF."""
    import ydf

    ydf.verbose(0)
    task = ydf.Task.REGRESSION if job.is_numbers else ydf.Task.CLASSIFICATION
    learner = ydf.RandomForestLearner("target", task, random_seed=job.seed, num_threads=job.threads)
    return YdfModel(learner.train({**job.X, "target": job.y}))


def chimeraboost(job: Job) -> Any:
    """ChimeraBoost."""
    from chimeraboost import ChimeraBoostClassifier, ChimeraBoostRegressor

    kind = _kind(job, ChimeraBoostClassifier, ChimeraBoostRegressor)
    model = kind(cat_features=text_columns(job.X), random_state=job.seed, thread_count=job.threads)
    return model.fit(job.X, job.y)


def perpetual(job: Job) -> Any:
    """Perpetual."""
    from perpetual.sklearn import PerpetualClassifier, PerpetualRegressor

    return _kind(job, PerpetualClassifier, PerpetualRegressor)(num_threads=job.threads, seed=job.seed).fit(job.X, job.y)


class YdfModel:
    """YDF's model, called like one of scikit-learn."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, X: Any) -> NDArray:
        return self.model.predict(X)

    def predict_proba(self, X: Any) -> NDArray:
        """Probabilities in the order of the codes of classes, which is not YDF's."""
        found = np.asarray(self.model.predict(X), dtype=np.float64)
        by_label = np.column_stack([1.0 - found, found]) if found.ndim == 1 else found
        labels = [int(label) for label in self.model.label_classes()]
        shares = np.zeros((len(by_label), max(labels) + 1))
        shares[:, labels] = by_label
        return shares


@dataclass(frozen=True)
class Library:
    """A function that fits, the form of its rows, and the package it needs."""

    fit: Callable[[Job], Any]
    form: Callable[[pd.DataFrame, pd.DataFrame], Pair]
    package: str
    compiles: bool = False  # when it is first used, which is not timed

    @property
    def version(self) -> str:
        return metadata.version(self.package.replace("sklearn", "scikit-learn"))

    def why_absent(self) -> str | None:
        """The reason why it cannot take part, if there is one."""
        try:
            import_module(self.package)
        except ImportError as error:
            return str(error)
        return None


LIBRARIES = {
    "lightgbm": Library(lightgbm, with_categories, "lightgbm"),
    "xgboost": Library(xgboost, with_categories, "xgboost"),
    "sklearn_hgb": Library(sklearn_hgb, with_few_categories, "sklearn"),
    "catboost": Library(catboost, with_text, "catboost"),
    "sklearn_forest": Library(sklearn_forest, with_indicators, "sklearn"),
    "sapwood": Library(sapwood, as_read, "sapwood", compiles=True),
    "sapwood_xgboost": Library(sapwood_xgboost, as_read, "sapwood", compiles=True),
    "sapwood_forest": Library(sapwood_forest, as_read, "sapwood", compiles=True),
    "lightgbm_rf": Library(lightgbm_rf, with_categories, "lightgbm"),
    "ydf_forest": Library(ydf_forest, as_arrays, "ydf"),
    "lightgbm_td": Library(lightgbm_td, with_categories, "lightgbm"),
    "xgboost_td": Library(xgboost_td, with_categories, "xgboost"),
    "chimeraboost": Library(chimeraboost, with_text, "chimeraboost", compiles=True),
    "perpetual": Library(perpetual, with_text_categories, "perpetual"),
}


def _sapwood(name: str, job: Job, **parameters: Any) -> Any:
    import sapwood as package

    kind = _kind(job, getattr(package, f"{name}Classifier"), getattr(package, f"{name}Regressor"))
    return kind(n_jobs=job.threads, random_state=job.seed, **parameters).fit(job.X, job.y)


def _xgboost(job: Job, **parameters: Any) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    kind = _kind(job, XGBClassifier, XGBRegressor)
    return kind(enable_categorical=True, n_jobs=job.threads, random_state=job.seed, **parameters)


def _lightgbm(job: Job, **parameters: Any) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = _kind(job, LGBMClassifier, LGBMRegressor)
    return kind(n_jobs=job.threads, random_state=job.seed, verbosity=-1, **parameters)


def _kind(job: Job, classifier: Any, regressor: Any) -> Any:
    return regressor if job.is_numbers else classifier


def _hold_out(job: Job) -> Any:
    """Training and validation rows, training and validation targets."""
    stratify = None if job.is_numbers else job.y
    return train_test_split(job.X, job.y, test_size=VALIDATION_SHARE, random_state=job.seed, stratify=stratify)
