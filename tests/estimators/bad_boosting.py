"""What tests of mistakes with Newton boosting share: data, short calls, and what a good error is."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sapwood import NewtonBoostingClassifier, NewtonBoostingRanker, NewtonBoostingRegressor, SapwoodError
from test_bad_input import REMEDY

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
Y = (X[:, 0] > 0).astype(int)
NUMBERS = X[:, 0] ** 2 + 0.5
GRADES = np.arange(30) % 3
FRAME = pd.DataFrame({"age": X[:, 0], "speed": X[:, 1], "colour": ["red", "blue", "green"] * 10})
Classifier, Regressor, Ranker = NewtonBoostingClassifier, NewtonBoostingRegressor, NewtonBoostingRanker
QUERIES = [10, 20]

Case = tuple[Callable[[], Any], type[Exception], str]


def fit(X: Any = X, y: Any = Y, *, given: Any = None, kind: Any = Classifier, **parameters: Any) -> Any:
    """Fit two rounds; `given` are further arguments of `fit`."""
    return kind(n_estimators=2, n_jobs=1, **parameters).fit(X, y, **(given or {}))


def regress(y: Any = NUMBERS, **parameters: Any) -> Any:
    return fit(y=y, kind=Regressor, **parameters)


def rank(**given: Any) -> Any:
    return fit(y=GRADES, kind=Ranker, given=given)


def watch(*eval_set: Any, kind: Any = Classifier, **parameters: Any) -> Any:
    return fit(y=Y if kind is Classifier else NUMBERS, kind=kind, given={"eval_set": list(eval_set)}, **parameters)


def returning(answer: Any) -> Callable[[Any, Any], Any]:
    def objective(y: Any, score: Any) -> Any:
        return answer(y, score) if callable(answer) else answer

    return objective


def check(attempt: Callable[[], Any], kind: Any, words: str) -> None:
    """The attempt fails as it should, and leaves the data as it was."""
    before = copy.deepcopy((X, Y, NUMBERS)), FRAME.copy(deep=True)
    with pytest.raises(kind, match="(?s)" + words) as caught:
        attempt()
    assert isinstance(caught.value, SapwoodError), f"{type(caught.value).__name__}: {caught.value}"
    message = " ".join(str(caught.value).split())
    assert REMEDY.search(message) or re.search(r"\b(Return|End it with|Look for)\b", message), message
    assert len(message) < 1000, message  # the names of all parameters take 750
    for array, copied in zip((X, Y, NUMBERS), before[0], strict=True):
        assert array.tobytes() == copied.tobytes()
    pd.testing.assert_frame_equal(FRAME, before[1])
