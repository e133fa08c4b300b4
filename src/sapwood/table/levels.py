"""Levels: the distinct values of a category column, in an order that depends on nothing but the values."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from sapwood.arrays import Array, Mask
from sapwood.table.column import MISSING, Codes, Column, Level


def is_missing(value: object) -> bool:
    """None, NaN, NaT and pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    if isinstance(value, str):
        return False
    try:
        unequal = operator.ne(value, value)  # only NaN and its kin differ from themselves
    except ArithmeticError:  # the signalling NaN of decimal
        return True
    return isinstance(unequal, (bool, np.bool_)) and bool(unequal)


def to_level(value: object) -> Level:
    """A plain Python value; numbers of equal value become equal levels whatever type held them."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating, Decimal)):
        return int(value) if float(value).is_integer() else float(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def sort_levels(levels: Iterable[Level]) -> tuple[Level, ...]:
    """Numbers by value, strings by their characters, a mixture by type and text."""
    unique = list(dict.fromkeys(levels))
    types = {type(level) for level in unique}
    if types <= {bool, int, float} or types == {str}:
        return tuple(sorted(unique))
    return tuple(sorted(unique, key=lambda level: (type(level).__name__, repr(level))))


def encode(codes: Array, uniques: Sequence[object]) -> Column:
    """A category column from any dictionary coding; negative codes and missing entries of `uniques` are missing."""
    found = [None if is_missing(value) else to_level(value) for value in uniques]
    found = one_type_of_number(found)
    levels = sort_levels(level for level in found if level is not None)
    code_of = {level: code for code, level in enumerate(levels)}
    return Column("category", recode(codes, found, code_of, otherwise=MISSING), levels)


def recode(codes: Array, found: Sequence[object], code_of: Mapping[Any, int], otherwise: int) -> Codes:
    """Codes into `found` as codes of the same levels elsewhere; an absent level becomes `otherwise`."""
    lookup = np.array([code_of.get(level, otherwise) for level in found] + [MISSING], dtype=np.int32)
    return lookup[np.where(codes < 0, len(found), codes)]  # the last entry stands for negative codes


def encode_array(values: Array) -> Column:
    """A category column from numbers or numpy strings."""
    uniques, codes = np.unique(values, return_inverse=True)
    return encode(codes, uniques.tolist())


def encode_booleans(values: Array) -> Column:
    """A category column from zeros, ones and NaN."""
    codes = np.where(np.isnan(values), MISSING, values).astype(np.int64)
    return drop_unobserved(encode(codes, [False, True]))


def encode_objects(values: Array, missing: Mask) -> Column:
    """A category column from hashable Python objects."""
    index: dict[object, int] = {}
    present = values[~missing].tolist()
    codes = np.full(len(values), MISSING, dtype=np.int64)
    codes[~missing] = [index.setdefault(value, len(index)) for value in present]
    return encode(codes, list(index))


def drop_unobserved(column: Column) -> Column:
    """The same category column with the levels that occur; UNSEEN stays UNSEEN."""
    observed = np.bincount(column.values[column.values >= 0], minlength=len(column.levels)) > 0
    codes = np.cumsum(observed, dtype=np.int32) - 1
    kept = tuple(level for level, here in zip(column.levels, observed, strict=True) if here)
    values = column.values.copy()
    values[values >= 0] = codes[values[values >= 0]]
    return Column("category", values, kept)


def one_type_of_number(levels: list[Level | None]) -> list[Level | None]:
    """True equals 1, so which of both stays would depend on the order of rows if they met."""
    if any(type(level) in (int, float) for level in levels):
        return [int(level) if isinstance(level, bool) else level for level in levels]
    return levels
