"""A user's own objective: what it gets, and what it may return."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loss_cases import Rows

from sapwood import NewtonBoostingRegressor, load, save
from sapwood.errors import ParameterError
from sapwood.losses import CustomLoss, Multinomial, Squared
from sapwood.row_parts.rows import LocalRows

Y, SCORE = np.array([1.0, 2.0, 4.0]), np.array([[0.5, 2.0, 5.0]])


def squared(y_true: Any, y_score: Any) -> tuple[Any, Any]:
    assert y_score.shape == y_true.shape
    return y_score - y_true, np.ones_like(y_true)


def test_one_score() -> None:
    ours, theirs = (Rows(loss, Y, None, SCORE).derivatives() for loss in (Squared(), CustomLoss(squared)))
    np.testing.assert_array_equal(ours, theirs)


def test_several_scores() -> None:
    def softmax(y_true: Any, y_score: Any) -> tuple[Any, Any]:
        assert y_score.shape == (50, 3)
        p = np.exp(y_score) / np.exp(y_score).sum(axis=1, keepdims=True)
        return p - (y_true[:, None] == np.arange(3)), p * (1 - p)

    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 3, size=50), rng.normal(size=(3, 50))
    ours, theirs = (Rows(loss, y, None, score).derivatives() for loss in (Multinomial(3), CustomLoss(softmax, 3)))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n_scores", [1, 2])
def test_start_and_response(n_scores: int) -> None:
    loss = CustomLoss(squared, n_scores)
    np.testing.assert_array_equal(loss.start(LocalRows.of(Y, None)), np.zeros(n_scores))
    np.testing.assert_array_equal(loss.response(SCORE), SCORE)
    assert loss.whole
    with pytest.raises(ParameterError, match=r"'squared' gives derivatives, not the loss itself.*eval_metric"):
        loss.losses(Y, SCORE)


def test_lists_and_integers_will_do() -> None:
    gradient, hessian = Rows(CustomLoss(lambda y, s: [[1, 2, 3], [True, True, True]]), Y, None, SCORE).derivatives()
    assert gradient.tolist() == [[1, 2, 3]]
    assert hessian.tolist() == [[1, 1, 1]]


def test_scores_are_a_copy_and_targets_are_read_only() -> None:
    def careless(y_true: Any, y_score: Any) -> tuple[Any, Any]:
        y_score += 1
        with pytest.raises(ValueError, match="read-only"):
            y_true += 1
        return y_score, y_score

    score = SCORE.copy()
    Rows(CustomLoss(careless), Y, None, score).derivatives()
    np.testing.assert_array_equal(score, SCORE)
    assert Y.flags.writeable


def strange(y_true: Any, y_score: Any) -> Any:
    return strange.answer  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.ones(3), "The objective 'strange' returned ndarray of length 3: it must return two arrays"),
        (None, "returned NoneType: it must return two arrays"),
        ((np.ones(3),) * 3, "returned tuple of length 3"),
        ((np.ones(2), np.ones(3)), r"a gradient of shape \(2,\): it must be \(3,\)"),
        ((np.ones(3), np.ones((3, 1))), r"a hessian of shape \(3, 1\): it must be \(3,\)"),
        ((np.ones(3), 1.0), r"a hessian of shape \(\)"),
        ((np.array(["a", "b", "c"]), np.ones(3)), "a gradient of dtype <U1: it must hold numbers"),
        ((np.ones(3), np.ones(3, dtype=complex)), "a hessian of dtype complex128"),
        ((np.array([0, np.nan, np.inf]), np.ones(3)), "returned nan as the gradient of row 1: it must be finite"),
        ((np.ones(3), np.array([1, 1, -np.inf])), "returned -inf as the hessian of row 2"),
        ((np.ones(3), np.array([1, -0.5, 1])), "returned -0.5 as the hessian of row 1: it must not be negative"),
    ],
    ids=str,
)
def test_strange_answers(answer: Any, message: str) -> None:
    strange.answer = answer  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match=message):
        Rows(CustomLoss(strange), Y, None, SCORE).derivatives()


def test_the_row_of_several_scores_is_named() -> None:
    bad = np.ones((3, 2))
    bad[2, 1] = np.nan
    with pytest.raises(ParameterError, match="nan as the hessian of row 2"):
        Rows(CustomLoss(lambda y, s: (np.ones((3, 2)), bad), 2), Y, None, np.zeros((2, 3))).derivatives()


def test_bad_options() -> None:
    with pytest.raises(ParameterError, match="function='squared' is not allowed for CustomLoss"):
        CustomLoss("squared")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="n_scores=0 is not allowed"):
        CustomLoss(squared, 0)


def test_a_rowwise_function_gets_blocks_of_rows(tmp_path: Path) -> None:
    sizes: list[int] = []

    def noted(y_true: Any, y_score: Any) -> tuple[Any, Any]:
        sizes.append(len(y_true))
        return y_score - y_true, np.ones_like(y_true)

    X = np.random.default_rng(0).normal(size=(40_000, 2))
    whole = NewtonBoostingRegressor(objective=noted, n_estimators=2, n_jobs=2, random_state=0).fit(X, X[:, 0])
    assert set(sizes) == {40_000}
    sizes.clear()
    noted.rowwise = True  # type: ignore[attr-defined]
    model = NewtonBoostingRegressor(objective=noted, n_estimators=2, n_jobs=2, random_state=0).fit(X, X[:, 0])
    assert max(sizes) < 40_000
    assert not model.loss_.whole
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    save(model, tmp_path / "model")
    assert not load(tmp_path / "model").loss_.whole
    assert CustomLoss(**model.loss_.options()).options() == model.loss_.options()
    with pytest.raises(ParameterError, match="rowwise"):
        CustomLoss(squared, rowwise="yes")  # type: ignore[arg-type]
