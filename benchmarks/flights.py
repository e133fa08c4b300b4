"""Flights that left New York in 2013: will this one arrive more than a quarter of an hour late?

Only what is known before departure takes part: the timetable, the aircraft, and how late the aircraft was on its flight
before (it must have arrived, or it could not leave again), which is missing for 3 % of the flights. The delay of the
departure itself is left out: it would decide nearly everything, and the categories nothing. Left out as well: times of
what happened (leaks), `year` (constant), `hour`, `minute` and `time_hour` (in the timetable). Flights that were
cancelled or diverted have no answer and are dropped.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from data import DATA_FOLDER, Split

LATE = 15.0  # minutes
NUMBERS = ("month", "day", "weekday", "sched_dep_time", "sched_arr_time", "flight", "distance", "delay_before")
CATEGORIES = ("carrier", "tailnum", "origin", "dest")  # of 16, 4 037, 3 and 104 levels


def flights_split() -> Split | None:
    """Frames instead of arrays, from the folder that SAPWOOD_DATA names, a random fifth for testing; None without it.

    Numbers are float32 like everywhere else, categories are those of pandas and have the same levels in both parts.
    """
    folder = os.environ.get(DATA_FOLDER)
    if not folder:
        return None
    frame = _with_history(pd.read_parquet(Path(folder) / "nycflights13.parquet"))
    frame = frame[frame["arr_delay"].notna()]
    y = (frame["arr_delay"].to_numpy() > LATE).astype(np.int64)
    kinds = {**dict.fromkeys(NUMBERS, "float32"), **dict.fromkeys(CATEGORIES, "category")}
    X = frame[list(kinds)].astype(kinds)
    order = np.random.default_rng(0).permutation(len(y))
    test, train = np.split(order, [len(y) // 5])
    return Split(_rows(X, train), y[train], _rows(X, test), y[test])


def _with_history(frame: pd.DataFrame) -> pd.DataFrame:
    """The day of the week, and the delay of the same aircraft on its flight before."""
    frame = frame.sort_values(["time_hour", "sched_dep_time"], kind="stable")
    days = pd.to_datetime(frame[["year", "month", "day"]]).dt.dayofweek
    return frame.assign(weekday=days, delay_before=frame.groupby("tailnum")["arr_delay"].shift())


def _rows(X: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    return X.iloc[rows].reset_index(drop=True)
