"""A small frame with missing values and categories, targets for it, and what every imported model must do."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sapwood.estimators.model_file import load, save
from sapwood.explain import shap_values

COLOURS = ["red", "green", "blue", "black", "white"]


def frame(n: int = 240, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "width": rng.normal(size=n),
            "height": rng.integers(-3, 4, n).astype(float),
            "colour": pd.Categorical(rng.choice([*COLOURS, None], n), categories=COLOURS),
            "size": pd.Categorical(rng.choice([10, 20, 30], n)),
            "depth": rng.normal(size=n) ** 3,
        }
    )
    X.loc[rng.random(n) < 0.2, "width"] = np.nan
    X.loc[rng.random(n) < 0.1, "depth"] = np.nan
    return X


def numbers_only(X: pd.DataFrame) -> pd.DataFrame:
    return X[["width", "height", "depth"]]


def signal(X: pd.DataFrame) -> np.ndarray:
    colour = X["colour"].isin(["red", "black"]).to_numpy() * 1.5
    return (
        X["width"].fillna(0.7).to_numpy() + 0.4 * X["height"].to_numpy() + colour + np.abs(X["depth"].fillna(2.0)) / 4
    )


def two_classes(X: pd.DataFrame) -> np.ndarray:
    return (signal(X) > np.median(signal(X))).astype(int)


def three_classes(X: pd.DataFrame) -> np.ndarray:
    return np.digitize(signal(X), np.quantile(signal(X), [0.3, 0.7]))


def positive(X: pd.DataFrame) -> np.ndarray:
    return np.exp(signal(X) / 3.0)


def assert_lives(model: Any, X: pd.DataFrame, folder: Path) -> None:
    """Everything that a fitted model can do."""
    output = model.predict(X)
    assert model.predict_one(X.iloc[3].to_dict()) == output[3]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), output)
    save(model, folder / "model.sapwood")
    np.testing.assert_array_equal(load(folder / "model.sapwood").predict(X), output)
    shap_values(model, X.iloc[:5])
    nodes = model.to_frame()
    assert len(nodes) == sum(member.tree.node_count for member in model.model_.trees)
    assert np.isfinite(model.feature_importances_).all()
    for member in model.model_.trees:
        tree = member.tree
        inner = np.flatnonzero(~tree.is_leaf)
        np.testing.assert_array_equal(tree.children_left[inner], inner + 1)
        assert np.isfinite(tree.value).all()
        assert (tree.weighted_n_node_samples > 0).all()
        assert tree.n_levels.tolist() == model.schema_.n_levels.tolist()
