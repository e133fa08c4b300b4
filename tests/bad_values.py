"""Tables, targets, weights, parameters and options that no estimator can use; all made from a seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4)).round(1)
X[::9, 1] = np.nan
NUMBERS = np.nan_to_num(X[:, 0] - X[:, 1]).round(2)
CLASSES = np.digitize(NUMBERS, [-0.5, 0.5])
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(colour=np.array(["red", "blue", "green", None] * 10, dtype=object))
Make = Callable[[np.random.Generator], Any]


class Raising:
    """Fails whatever it is asked, as some wrappers of remote data do."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            raise OSError(f"no connection for {name}")
        raise AttributeError(name)

    def __len__(self) -> int:
        raise OSError("no connection for len")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise OSError("no connection for cells")


class Lying:
    """Says that it has other rows than its array."""

    shape = (N, 4)

    def __len__(self) -> int:
        return N

    def __array__(self, *_: Any, **__: Any) -> Any:
        return np.zeros((2, 2, 2))


class Endless:
    """A sequence without end or length."""

    def __getitem__(self, i: int) -> Any:
        return float(i)


def cell(value: Any) -> Make:
    """The table with one cell replaced."""

    def make(rng: np.random.Generator) -> Any:
        cells = X.astype(object)
        cells[rng.integers(N), rng.integers(4)] = value
        return cells

    return make


def row(values: Any, at: Any) -> Make:
    """A vector with some entry replaced."""

    def make(rng: np.random.Generator) -> Any:
        out = np.array(values, dtype=object if isinstance(at, (str, list, type(None))) else np.float64)
        out[rng.integers(len(out))] = at
        return out

    return make


def always(value: Any) -> Make:
    return lambda _: value


TABLES: dict[str, Make] = {
    "None": always(None),
    "text": always("table.csv"),
    "number": always(3.5),
    "object": always(object()),
    "type": always(np.ndarray),
    "vector": lambda rng: X[:, rng.integers(4)],
    "cube": always(X.reshape(N, 2, 2)),
    "scalar array": always(np.array(3.0)),
    "no rows": always(X[:0]),
    "no columns": always(X[:, :0]),
    "complex": always(X.astype(complex)),
    "ragged": always([[1.0, 2.0, 3.0, 4.0], [1.0]] * (N // 2)),
    "dictionary": always({"a": [1] * N}),
    "list cell": cell([1]),
    "dictionary cell": cell({}),
    "huge cell": cell(10**400),
    "object cell": cell(object()),
    "structured": always(np.zeros(N, dtype=[("a", "f8"), ("b", "f8")])),
    "raw": always(np.zeros((N, 4), dtype="V8")),
    "generator": lambda _: (line for line in X),
    "set": always({1.0, 2.0}),
    "repeated names": always(FRAME.set_axis(list("aabcd"), axis=1)),
    "mixed names": always(FRAME.set_axis(["a", 1, "b", 2, "c"], axis=1)),
    "lazy frame": always(pl.LazyFrame({"a": [1.0] * N})),
    "complex sparse": always(sparse.csr_array(np.eye(N, 4)).astype(complex)),
    "raising": always(Raising()),
    "raising columns": always(Raising("columns", "shape", "dtype")),
    "lying": always(Lying()),
    "endless": always(Endless()),
    "series": always(FRAME["a"]),
    "lists in a frame": lambda _: FRAME.assign(a=[[1]] * N),
}
TARGETS: dict[str, Make] = {
    "None": always(None),
    "text": always("abc"),
    "number": always(1.0),
    "short": lambda rng: CLASSES[: rng.integers(1, N)],
    "long": always(np.arange(N + 3)),
    "empty": always([]),
    "cube": always(np.zeros((N, 1, 1))),
    "sparse": always(sparse.csr_array(np.eye(N))),
    "missing": row(NUMBERS, np.nan),
    "infinite": row(NUMBERS, np.inf),
    "None inside": row(CLASSES, None),
    "list inside": row(CLASSES, [1, 2]),
    "mixed": row(CLASSES, "one"),
    "complex": always(CLASSES.astype(complex)),
    "dictionary": always({"y": 1}),
    "object": always(object()),
    "raw": always(np.zeros(N, dtype="V4")),
    "structured": always(np.zeros(N, dtype=[("a", "f8")])),
    "raising": always(Raising()),
    "endless": always(Endless()),
    "generator": lambda _: (one for one in CLASSES),
    "ragged": always([[1], [1, 2]] * (N // 2)),
}
WEIGHTS: dict[str, Make] = {
    "short": lambda rng: np.ones(rng.integers(2, N)),
    "negative": row(np.ones(N), -1.0),
    "missing": row(np.ones(N), np.nan),
    "infinite": row(np.ones(N), np.inf),
    "None inside": row(np.ones(N), None),
    "text inside": row(np.ones(N), "much"),
    "list inside": row(np.ones(N), [1, 2]),
    "zero": always(np.zeros(N)),
    "matrix": always(np.ones((N, 2))),
    "text": always("balanced"),
    "too large": always(np.full(N, 1e308)),
    "complex": always(np.ones(N, dtype=complex)),
    "dictionary": always({0: 1.0}),
    "object": always(object()),
    "raising": always(Raising()),
    "raw": always(np.zeros(N, dtype="V4")),
    "sparse": always(sparse.csr_array(np.eye(N))),
}
PARAMETERS: Sequence[Any] = (
    *(-1, -0.5, np.nan, np.inf, "nonsense", "3", b"x", object(), {}, [], (), {1}, np.array([1.0, 2.0]), [[]]),
    *([object()], {"no such column": 1}, ["no such column"], {"a": "b"}, pd.DataFrame(), np.array("x"), Raising()),
    *(1.5, True, None, 1 + 2j, [None], [np.nan], {"a": np.nan}, range(3), [-1, 10**9], np.datetime64("NaT")),
)
OPTIONS: dict[str, Sequence[Any]] = {  # of fit
    "rows": (
        *([[10**9]], [[-1]], [[]], [], "x", 3, [[0.5]], [["a"]], [None], [[[0]]], {}, object(), [[True]], [[0], 1]),
        *([[0], [1, [2]]], [[0, 10**30]]),
    ),
    "features": ([[10**9]], [[]], "x", 3, [[-1]], [["no such column"]], [None, None], object(), [3, 4], [[None], [0]]),
    "eval_set": (
        *(3, "x", [3], [(X,)], [(X, NUMBERS[:3])], [(X[:, :1], NUMBERS)], [(None, None)], object(), [("a", "b")]),
        *({}, [(X, NUMBERS, NUMBERS, NUMBERS)], [None], [object()]),
    ),
    "sample_weight_eval_set": ([np.ones(3)], 3, "x", [None] * 5, object(), [[-1.0] * N]),
    "init_model": (3, "nowhere.sapwood", object(), [], b"x", int),
    "checkpoint": (3, object(), "/no/such/folder/model.sapwood", [], b"x"),
    "group": ([1], [N, 1], [-1, N + 1], "x", 3, [0.5] * N, [[N]], [None], object(), [0, N]),
    "qid": ([1], np.arange(N) % 2, "x", 3, [None] * N, np.zeros((N, 2)), object()),
    "query_weight": ([-1.0], [np.nan], "x", [1.0, 2.0, 3.0], object()),
    "monitor": (3, "x", object()),
}
ROUNDS: Sequence[Any] = (0, -1, 99, 1.5, "x", np.nan, [1], True, object())
