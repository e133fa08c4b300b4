"""Rows of a data set to train on and to test on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from accuracy.dropped import DATES, dropped_columns
from accuracy.sets import DataSet, Task, test_rows, training_rows

MIN_CLASS_ROWS = 10  # among the rows for training and testing, if the class keeps its share


@dataclass(frozen=True)
class Table:
    """A data set as it is read: columns as they are in the file, classes as codes from 0."""

    task: Task
    X: pd.DataFrame
    y: NDArray
    n_classes: int  # 0 for numbers


@dataclass(frozen=True)
class Rows:
    """Rows to train on and to test on."""

    task: Task
    X: pd.DataFrame
    y: NDArray
    X_test: pd.DataFrame
    y_test: NDArray
    n_classes: int


def read_table(data_set: DataSet) -> Table:
    """The rows that have a target, without the dropped columns and without classes of too few rows."""
    frame = pd.read_parquet(data_set.path)
    frame = frame[frame[data_set.target].notna()]
    if data_set.task != "numbers":
        frame = frame[_is_frequent(frame[data_set.target])]
    X = frame.drop(columns=[data_set.target, *dropped_columns(data_set.name)])
    for column in DATES.get(data_set.name, ()):
        X[column] = pd.to_datetime(X[column]).dt.tz_localize(None)
    if data_set.task == "numbers":
        return Table("numbers", X, frame[data_set.target].to_numpy(np.float64), 0)
    classes, codes = np.unique(frame[data_set.target].to_numpy(), return_inverse=True)
    return Table(data_set.task, X, codes, len(classes))


def split_table(table: Table, seed: int) -> Rows:
    """A quarter for testing, the others for training, at most 20 000 rows each; classes keep their shares."""
    train, test = train_test_split(
        np.arange(len(table.y)),
        train_size=training_rows(len(table.y)),
        test_size=test_rows(len(table.y)),
        random_state=seed,
        stratify=table.y if table.n_classes else None,
    )
    return Rows(table.task, _take(table.X, train), table.y[train], _take(table.X, test), table.y[test], table.n_classes)


def rare_classes(target: pd.Series) -> dict[str, int]:
    """The classes that have too few rows to take part, with their numbers of rows."""
    counts = target.value_counts()
    n_rows = int(counts.sum())
    share = (training_rows(n_rows) + test_rows(n_rows)) / n_rows
    return {name: int(count) for name, count in counts.items() if count * share < MIN_CLASS_ROWS}


def _is_frequent(target: pd.Series) -> pd.Series:
    return ~target.isin(list(rare_classes(target)))


def _take(X: pd.DataFrame, rows: NDArray) -> pd.DataFrame:
    return X.iloc[rows].reset_index(drop=True)
