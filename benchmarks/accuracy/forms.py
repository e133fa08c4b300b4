"""Frames in the form that a library takes; made before its time starts.

Numbers stay numbers and missing ones stay missing; true and false become 1 and 0, dates become seconds. Columns get
short names, as some libraries refuse some characters, and columns without any value in the training rows are left out.
Levels of text columns are those of the training rows: another level of a test row counts as missing, except for
libraries that read text.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

MAX_LEVELS = 255  # of scikit-learn's boosting
MAX_INDICATORS = 10  # columns of so many levels become indicators for scikit-learn's forests, others codes
MISSING = "missing"


class Pair(NamedTuple):
    """Training and test rows in the same form."""

    train: Any
    test: Any


def as_read(train: pd.DataFrame, test: pd.DataFrame) -> Pair:
    """The frames as they are."""
    return Pair(train, test)


def with_categories(train: pd.DataFrame, test: pd.DataFrame) -> Pair:
    """Text as categories of pandas."""
    return _convert(train, test, _categories)


def with_few_categories(train: pd.DataFrame, test: pd.DataFrame) -> Pair:
    """Text of at most 255 levels as categories, other text as codes in alphabetical order."""
    return _convert(train, test, _few_categories)


def with_text(train: pd.DataFrame, test: pd.DataFrame) -> Pair:
    """Text as Python strings; missing text is a string, too."""
    return _convert(train, test, _text)


def with_text_categories(train: pd.DataFrame, test: pd.DataFrame) -> Pair:
    """Text as categories of pandas; missing text is a level, too."""
    return _convert(train, test, _text_categories)


def with_indicators(train: pd.DataFrame, test: pd.DataFrame) -> Pair:
    """Numbers only: text of at most 10 levels as a column for each level, other text as codes."""
    return _convert(train, test, _indicators)


def as_arrays(train: pd.DataFrame, test: pd.DataFrame) -> Pair:
    """Arrays by name; missing text is empty."""
    pair = with_text(train, test)
    return Pair(*({name: _array(frame[name]) for name in frame} for frame in pair))


def text_columns(X: pd.DataFrame) -> list[str]:
    """Names of the columns of text or categories."""
    return [name for name in X if _is_text(X[name])]


def _convert(train: pd.DataFrame, test: pd.DataFrame, convert_text: Any) -> Pair:
    columns: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for number, name in enumerate(train):
        if not train[name].notna().any():
            continue
        convert = convert_text if _is_text(train[name]) else _numbers
        for found, converted in zip(columns, convert(train[name], test[name]), strict=True):
            found.update({f"c{number}{suffix}": column for suffix, column in converted.items()})
    return Pair(*(pd.DataFrame(each) for each in columns))


def _numbers(train: pd.Series, test: pd.Series) -> Any:
    return [{"": _seconds(column)} for column in (train, test)]


def _categories(train: pd.Series, test: pd.Series) -> Any:
    levels = pd.CategoricalDtype(sorted(train.dropna().unique()))
    return [
        {"": column.astype(object).where(column.isin(levels.categories)).astype(levels)} for column in (train, test)
    ]


def _few_categories(train: pd.Series, test: pd.Series) -> Any:
    pair = _categories(train, test)
    return pair if train.nunique() <= MAX_LEVELS else [{"": _codes(each[""])} for each in pair]


def _indicators(train: pd.Series, test: pd.Series) -> Any:
    pair = _categories(train, test)
    if train.nunique() > MAX_INDICATORS:
        return [{"": _codes(each[""])} for each in pair]
    levels = range(train.nunique())
    return [{f"_{level}": (each[""].cat.codes == level).astype(np.float64) for level in levels} for each in pair]


def _text(train: pd.Series, test: pd.Series) -> Any:
    return [{"": column.astype(object).where(column.notna(), MISSING).astype(object)} for column in (train, test)]


def _text_categories(train: pd.Series, test: pd.Series) -> Any:
    return _categories(*(each[""] for each in _text(train, test)))


def _codes(column: pd.Series) -> pd.Series:
    return column.cat.codes.astype(np.float64).replace(-1, np.nan)


def _array(column: pd.Series) -> Any:
    if column.dtype != object:
        return column.to_numpy()
    return column.where(column != MISSING, "").to_numpy(str)


def _seconds(column: pd.Series) -> pd.Series:
    if not pd.api.types.is_datetime64_any_dtype(column):
        return column.astype(np.float64)
    return (column - pd.Timestamp(0)).dt.total_seconds()


def _is_text(column: pd.Series) -> bool:
    is_number = pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)
    return not is_number and not pd.api.types.is_datetime64_any_dtype(column)
