"""Training: histories, the best round, and every reason to stop."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from engine_cases import Data, all_bytes, begin, fit, mixed_frame, target
from hypothesis import given
from hypothesis import strategies as st

from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.history import History, ValidationSet
from sapwood.boosting.options import TreeOptions
from sapwood.boosting.rate import learning_rate
from sapwood.boosting.rounds import Rounds
from sapwood.boosting.training import Outcome, Plan, Progress, train
from sapwood.errors import SapwoodError
from sapwood.losses import Logistic, Squared
from sapwood.metrics.metric import Metric, OfAllRows
from sapwood.metrics.names import find_metric
from strategies import examples

SMALL = TreeOptions(max_depth=2)
RATE = learning_rate(0.3)


def squared_data() -> Data:
    frame = mixed_frame(80)
    return Data.of(frame, target("squared", frame))


def rounds_of(start: Ensemble | None = None) -> Rounds:
    return begin(squared_data(), Squared(), SMALL, start=start)


@dataclass
class Scripted(OfAllRows):
    """A metric that says what it is told."""

    said: Iterator[float]

    def value(self, *_: object) -> float:
        return next(self.said)


def scripted(values: Sequence[float], larger_is_better: bool = False, name: str = "scripted") -> Metric:
    """A metric that says what it is told to say, round by round."""
    said = iter(values)
    return Metric(name, larger_is_better, Scripted(said))


def nothing_measured() -> History:
    return History((), ())


def validation(rounds: Rounds, name: str = "valid") -> ValidationSet:
    return ValidationSet(name, rounds.y, None, rounds.score)


def run(values: Sequence[float], patience: int | None = None, larger: bool = False, **plan: Any) -> Outcome:
    """Train for as many rounds as there are values."""
    rounds = rounds_of(plan.pop("start", None))
    history = History([validation(rounds)], [scripted(values, larger)])
    return train(rounds, history, Plan(len(values), RATE, early_stopping_rounds=patience, **plan))


def test_all_rounds() -> None:
    rounds = rounds_of()
    outcome = train(rounds, nothing_measured(), Plan(5, RATE))
    assert (outcome.ensemble.n_rounds, outcome.best_round) == (5, None)
    assert outcome.stopped_reason == "all rounds done"
    assert all_bytes(outcome.ensemble) == all_bytes(fit(squared_data(), Squared(), SMALL, 5).ensemble)


def test_no_rounds() -> None:
    outcome = run([])
    assert (outcome.ensemble.n_rounds, outcome.best_round) == (0, None)


@pytest.mark.parametrize(("patience", "n_rounds"), [(1, 4), (2, 5), (3, 8), (4, 8), (None, 8)])
def test_early_stopping_waits_for_a_better_round(patience: int | None, n_rounds: int) -> None:
    outcome = run([5.0, 4.0, 3.0, 3.5, 3.2, 2.9, 3.0, 3.1], patience)
    assert outcome.ensemble.n_rounds == n_rounds
    assert outcome.best_round == (2 if n_rounds < 6 else 5)
    expected = "all rounds done" if n_rounds == 8 else f"no better round for early_stopping_rounds={patience}"
    assert outcome.stopped_reason == expected


def test_early_stopping_where_larger_is_better() -> None:
    outcome = run([0.5, 0.9, 0.8, 0.7, 0.99], 2, larger=True)
    assert (outcome.best_round, outcome.ensemble.n_rounds) == (1, 4)


def test_an_equal_round_is_no_better() -> None:
    outcome = run([3.0, 2.0, 2.0, 2.0, 1.0], 2)
    assert (outcome.best_round, outcome.ensemble.n_rounds) == (1, 4)


@examples
@given(st.lists(st.integers(0, 5).map(float), min_size=1, max_size=8), st.integers(1, 4), st.booleans())
def test_early_stopping_is_that_of_a_plain_loop(values: list[float], patience: int, larger: bool) -> None:
    sign = -1 if larger else 1
    best, done = 0, len(values)
    for at, value in enumerate(values):
        best = at if sign * value < sign * values[best] else best
        if at - best >= patience:
            done = at + 1
            break
    outcome = run(values, patience, larger)
    assert (outcome.best_round, outcome.ensemble.n_rounds) == (best, done)


def test_rounds_without_a_value_are_never_the_best() -> None:
    assert run([4.0, 3.0, np.nan, 2.0, 2.5]).best_round == 3
    assert run([1.0, np.nan, np.nan, 0.5], patience=2).ensemble.n_rounds == 3


@pytest.mark.parametrize("values", [[np.nan, np.nan], [np.nan, 1.0]])
def test_a_first_round_without_a_value_does_not_break_training(values: list[float]) -> None:
    with contextlib.suppress(SapwoodError):  # a good error would do, too
        assert run(values).ensemble.n_rounds == 2


def test_the_last_metric_of_the_last_rows_decides() -> None:
    rounds = rounds_of()
    metrics = [scripted([1.0, 2.0, 3.0] * 2, name="rising"), scripted([3.0, 2.5, 2.0, 2.6, 1.0, 2.7], name="mixed")]
    history = History([validation(rounds, "first"), validation(rounds, "last")], metrics)
    outcome = train(rounds, history, Plan(3, RATE))
    assert history.curves == {
        "first": {"rising": [1.0, 3.0, 2.0], "mixed": [3.0, 2.0, 1.0]},
        "last": {"rising": [2.0, 1.0, 3.0], "mixed": [2.5, 2.6, 2.7]},
    }
    assert outcome.best_round == 0


def test_histories_are_metrics_of_the_stages() -> None:
    frame = mixed_frame(100)
    y, weight = target("logistic", frame), np.arange(1.0, 101.0)
    data = Data.of(frame, y)
    rounds = begin(data, Logistic(), SMALL)
    metrics = [find_metric("logloss"), find_metric("auc"), find_metric("loss", Logistic().losses)]
    history = History([ValidationSet("train", y, weight, rounds.score)], metrics)
    ensemble = train(rounds, history, Plan(4, RATE)).ensemble
    for t, score in enumerate(ensemble.staged_scores(data.table)):
        response = Logistic().response(score)[0]
        for metric, given_to_it in zip(metrics, (response, response, score), strict=True):
            assert history.curves["train"][metric.name][t] == metric.function(y, given_to_it, weight, None)
    np.testing.assert_allclose(history.curves["train"]["logloss"], history.curves["train"]["loss"])


@pytest.mark.parametrize("answer", [True, 1, np.True_])
def test_a_callback_may_stop(answer: Any) -> None:
    outcome = run([1.0] * 6, callbacks=[lambda told: answer if told.round == 3 else None])
    assert outcome.ensemble.n_rounds == 3
    assert outcome.stopped_reason == "a callback asked to stop"


def test_callbacks_are_told_of_every_round() -> None:
    told: list[Progress] = []
    others = []
    keep = [told.append, lambda progress: others.append(progress.round) or False]
    lengths = []
    outcome = run([3.0, 2.0, 2.5], callbacks=[*keep, lambda p: lengths.append(len(p.history["valid"]["scripted"]))])
    assert [progress.round for progress in told] == others == lengths == [1, 2, 3]
    assert [progress.n_rounds for progress in told] == [3, 3, 3]
    assert [progress.best_round for progress in told] == [0, 1, 1]
    assert told[0].seconds <= told[1].seconds <= told[2].seconds
    assert all_bytes(told[-1].ensemble) == all_bytes(outcome.ensemble)


def test_all_callbacks_are_called_even_if_one_says_stop() -> None:
    seen: list[int] = []
    run([1.0] * 3, callbacks=[lambda _: True, lambda progress: seen.append(progress.round)])
    assert seen == [1]


def test_an_error_of_a_callback_is_the_users() -> None:
    before = signal.getsignal(signal.SIGINT)

    def fail(_: Progress) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        run([1.0], callbacks=[fail])
    assert signal.getsignal(signal.SIGINT) is before


def test_max_seconds() -> None:
    outcome = run([1.0] * 99, max_seconds=0.1, callbacks=[lambda _: time.sleep(0.03)])
    assert 2 <= outcome.ensemble.n_rounds <= 10
    assert outcome.stopped_reason == "max_seconds=0.1 reached"
    assert run([1.0] * 3, max_seconds=1e9).stopped_reason == "all rounds done"
    assert run([1.0] * 3, max_seconds=1e-9).ensemble.n_rounds == 1  # a model has at least one round


def test_a_continued_model_counts_all_its_rounds() -> None:
    first = run([3.0, 2.0]).ensemble
    seen: list[tuple[int, int]] = []
    outcome = run([5.0, 4.0, 6.0], start=first, callbacks=[lambda p: seen.append((p.round, p.n_rounds))])
    assert seen == [(3, 5), (4, 5), (5, 5)]
    assert outcome.best_round == 3
    assert outcome.ensemble.n_rounds == 5
    assert all_bytes(outcome.ensemble.upto(2)) == all_bytes(first)


def test_callbacks_of_a_continued_model_are_told_its_best_round() -> None:
    first = run([3.0, 2.0]).ensemble
    seen: list[int | None] = []
    outcome = run([5.0, 4.0, 6.0], start=first, callbacks=[lambda progress: seen.append(progress.best_round)])
    assert seen[-1] == outcome.best_round


@pytest.fixture
def own_handlers() -> Iterator[None]:
    """Signals that reach the test after all are errors of the test, not of the runner."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    after = {number: signal.getsignal(number) for number in before}
    for number, handler in before.items():
        signal.signal(number, handler)
    assert after == before  # training leaves them as they were


def send(number: signal.Signals, at: int) -> Callable[[Progress], None]:
    def callback(progress: Progress) -> None:
        if progress.round == at:
            os.kill(os.getpid(), number)

    return callback


@pytest.mark.usefixtures("own_handlers")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_training_after_the_round(number: signal.Signals) -> None:
    with pytest.warns(UserWarning, match=f"interrupted by {number.name} after 3 rounds; the model holds the rounds"):
        outcome = run([1.0] * 9, callbacks=[send(number, 3)])
    assert outcome.stopped_reason == f"interrupted by {number.name}"
    assert outcome.ensemble.n_rounds == 3
    assert outcome.history.curves["valid"]["scripted"] == [1.0] * 3
    expected = fit(squared_data(), Squared(), SMALL, 3).ensemble
    assert all_bytes(outcome.ensemble) == all_bytes(expected)


@pytest.mark.usefixtures("own_handlers")
def test_a_second_interrupt_ends_training_at_once() -> None:
    with pytest.raises(KeyboardInterrupt):
        run([1.0] * 9, callbacks=[send(signal.SIGINT, 2), send(signal.SIGINT, 2)])


@pytest.mark.usefixtures("own_handlers")
def test_an_interrupt_is_stronger_than_other_reasons() -> None:
    with pytest.warns(UserWarning, match="interrupted by SIGINT after 2 rounds"):
        outcome = run([1.0, 2.0, 3.0], 1, callbacks=[send(signal.SIGINT, 2), lambda progress: progress.round == 2])
    assert outcome.stopped_reason == "interrupted by SIGINT"


@pytest.mark.usefixtures("own_handlers")
def test_an_interrupt_in_the_last_round_is_reported() -> None:
    with pytest.warns(UserWarning, match="after 2 rounds"):
        outcome = run([1.0, 2.0], callbacks=[send(signal.SIGINT, 2)])
    assert outcome.ensemble.n_rounds == 2


@pytest.mark.usefixtures("own_handlers")
def test_other_threads_do_not_listen_to_signals() -> None:
    before = signal.getsignal(signal.SIGINT)
    found: list[Outcome] = []
    seen: list[Any] = []
    callback = [lambda _: seen.append(signal.getsignal(signal.SIGINT))]
    worker = threading.Thread(target=lambda: found.append(run([1.0, 2.0], callbacks=callback)))
    worker.start()
    worker.join()
    assert found[0].ensemble.n_rounds == 2
    assert all(handler is before for handler in seen)


@pytest.mark.usefixtures("own_handlers")
def test_handlers_of_the_user_are_kept() -> None:
    heard: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: heard.append(number))
    mine = signal.getsignal(signal.SIGTERM)
    with pytest.warns(UserWarning, match="SIGTERM"):
        run([1.0] * 4, callbacks=[send(signal.SIGTERM, 2), send(signal.SIGTERM, 2)])  # the second one is the user's
    assert heard == [signal.SIGTERM]
    assert signal.getsignal(signal.SIGTERM) is mine
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
