"""scikit-learn."""

from __future__ import annotations

from predictors.base import EstimatorPredictor


class ScikitLearn(EstimatorPredictor):
    """Histogram boosting, whose threads OMP_NUM_THREADS sets; or its forest, whose `n_jobs` does."""

    name = "scikit-learn"
    package = "scikit-learn"
    sources = ("sklearn",)
    forest_sources = ("sklearn",)
