"""docs/coming-from-xgboost.md is true: its recipes give XGBoost's model, and its names exist."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost

import sapwood as sw

PAGE = (Path(__file__).parents[2] / "docs" / "coming-from-xgboost.md").read_text(encoding="utf-8")

rng = np.random.default_rng(3)
X = rng.normal(size=(400, 3)).round(2)
SCORE = X[:, 0] + np.sin(2 * X[:, 1])
SETTINGS: dict[str, Any] = {
    "n_estimators": 12,
    "learning_rate": 0.3,
    "max_depth": 4,
    "reg_lambda": 1.5,
    "reg_alpha": 0.2,
    "min_child_weight": 2.0,
    "gamma": 0.4,
    "tree_method": "exact",
}


def test_several_classes() -> None:
    y = np.digitize(SCORE, [-0.5, 0.5])
    theirs = xgboost.XGBClassifier(base_score=0.5, **SETTINGS).fit(X, y)
    own = SETTINGS | {"learning_rate": 0.15, "reg_lambda": 0.75, "min_child_weight": 1.0}
    ours = sw.NewtonBoostingClassifier(recipe="xgboost", base_score=0.5, **own).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-6)


def test_counts() -> None:
    y = rng.poisson(np.exp(SCORE))
    factor = math.exp(-0.7)
    settings = SETTINGS | {"reg_alpha": 0.0}  # XGBoost's gain of limited leaves takes alpha otherwise
    theirs = xgboost.XGBRegressor(objective="count:poisson", base_score=1.0, **settings).fit(X, y)
    own = settings | {
        "learning_rate": 0.3 * factor,
        "reg_lambda": 1.5 * factor,
        "min_child_weight": 2.0 * factor,
        "max_delta_step": 0.7 / factor,
        "gamma": 0.4 / 2 / factor,
    }
    ours = sw.NewtonBoostingRegressor(recipe="xgboost", objective="count:poisson", base_score=1.0, **own).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=2e-5)


def test_gamma() -> None:
    theirs = xgboost.XGBRegressor(base_score=0.5, **SETTINGS).fit(X, SCORE)
    ours = sw.NewtonBoostingRegressor(recipe="xgboost", base_score=0.5, **SETTINGS | {"gamma": 0.2}).fit(X, SCORE)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)


def test_every_parameter_of_xgboost_is_on_the_page_or_the_same() -> None:
    ours = set(sw.NewtonBoostingClassifier(recipe="xgboost").get_params())
    for name in xgboost.XGBClassifier().get_params():
        assert name in ours or f"`{name}`" in PAGE or f"`{name}=" in PAGE, name


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`sapwood\.(\w+)", PAGE))))
def test_names_of_the_page_exist(name: str) -> None:
    assert hasattr(sw, name)


def test_blocks_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    y = (SCORE > 0).astype(int)
    names = {"X": X, "y": y, "X_valid": X[:50], "y_valid": y[:50], "X_new": X[:5]}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, names)
