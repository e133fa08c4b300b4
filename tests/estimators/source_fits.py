"""Fits on sources with arrays where a test wants them, and in blocks of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sapwood.boosting.memory_plan import Keep, TrainingPlan
from sapwood.estimators import source_rows

N_ROWS = 320
KEEPS = {"memory": Keep.MEMORY, "codes": Keep.CODES_ON_DISK, "all": Keep.ALL_ON_DISK}


class _GivenPlan(TrainingPlan):
    """A plan with blocks of a given size."""

    rows_of_block = 100_000
    is_table = False  # however few rows there are

    @property
    def block_rows(self) -> int:
        """Rows of a block."""
        return min(self.size.n_rows, self.rows_of_block)


def force(monkeypatch: pytest.MonkeyPatch, keep: Keep, block_rows: int) -> None:
    """Keep arrays there, in such blocks, however few rows there are."""
    plan_of = source_rows.plan_of

    def forced(*given: Any) -> TrainingPlan:
        found = plan_of(*given)
        limit = found.limit if block_rows > N_ROWS else 1  # copies of samples take memory that is left
        made = _GivenPlan(found.size, keep, limit, found.source)
        object.__setattr__(made, "rows_of_block", block_rows)
        return made

    monkeypatch.setattr(source_rows, "plan_of", forced)


def sales(n: int = N_ROWS, seed: int = 0) -> pd.DataFrame:
    """Ties, gaps, a category of few and one of more than 255 levels, targets, weights and queries."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    frame["b"] = frame["b"].round(1)
    frame.loc[rng.random(n) < 0.2, "c"] = np.nan
    frame["shop"] = pd.Categorical(rng.choice([None, *"stuvw"], n))
    frame["many"] = pd.Categorical([f"m{k}" for k in rng.permutation(np.arange(n) % 280)])
    signal = frame["a"] + np.abs(frame["b"]) + frame["c"].fillna(1.5) + 0.3 * rng.normal(size=n)
    frame["price"] = signal
    frame["count"] = rng.poisson(np.exp(0.4 * signal))
    frame["late"] = np.where(signal > 1.5, "yes", "no")
    frame["kind"] = np.array(["x", "y", "z"])[np.digitize(signal, [1.0, 2.0])]
    frame["grade"] = np.digitize(signal, [1.0, 2.0, 3.0])
    frame["w"] = rng.integers(0, 4, n) / 2
    frame["query"] = np.sort(rng.integers(0, max(1, n // 6), n))
    frame["query_w"] = frame["query"] % 3 + 1.0
    return frame


FEATURES = ["a", "b", "c", "shop", "many"]


def file_of(frame: pd.DataFrame, folder: Path, *others: str, name: str = "rows.parquet") -> str:
    """A Parquet file with the features, and the other columns in front."""
    path = folder / name
    frame[[*others, *FEATURES]].to_parquet(path, row_group_size=90)
    return str(path)


def shown(model: Any) -> Any:
    """Everything that two trainings must have in common."""
    import sapwood as sw

    return sw.fingerprint(model), model.evals_result_, model.stopped_reason_, model.n_estimators_


def of_table(model: Any, frame: pd.DataFrame, target: str, weight: str | None = None, **options: Any) -> Any:
    """The model that memory gives, with the same recipe and no need for cells."""
    return model.fit(frame[FEATURES], frame[target], None if weight is None else frame[weight], **options)
