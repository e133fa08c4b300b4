"""New rows beside the training data, column by column: the figures, and what is conspicuous about them."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Array
from sapwood.table.column import MISSING, UNSEEN
from sapwood.table.drift import FAR_SHARE, expected_unseen, far_bounds, is_new, margin
from sapwood.table.frame import make_frame
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.table.statistics import MOST_COLUMNS, SHARES, ColumnStatistics, of_numbers, sample_size
from sapwood.table.table import Table
from sapwood.table.wording import cell_text, range_text, share_text

LEAST_SHARE = 0.1  # of rows that show something new
LEAST_DISTANCE = 0.2
SHOWN = 60  # columns in print
LONGEST_NAME = 40
NO_STATISTICS = (
    "The model holds no statistics of its training data: it was saved by an older version, imported, or trained on "
    f"more than {MOST_COLUMNS} columns. Only ranges, unseen levels and missing values are compared."
)
HEADS = ("column", "verdict", "missing", "unseen", "outside", "range", "median", "distance")


@dataclass(frozen=True, eq=False)
class ColumnComparison:
    """One column now and in training; NaN stands for what is not known or has no meaning.

    | name | meaning |
    |---|---|
    | verdict | "" or what is conspicuous: "missing", "unseen levels", "outside", "shifted" |
    | missing, missing_before | share of rows without a value |
    | unseen, unseen_expected | share of rows with unseen levels, and about what it is if nothing changes |
    | outside, far_outside | share of rows beyond the trained range, and by more than its width |
    | quantiles, quantiles_before | values at the shares `SHARES` of the rows with a value |
    | distance | from 0 to 1: largest difference of the shares of rows up to a value, over the quantiles of training \
(as Kolmogorov-Smirnov's); for categories half the sum of the differences of the shares of levels |
    | distance_by_chance | what the distance may reach if nothing has changed |
    """

    column: ColumnSchema
    verdict: str
    missing: float
    missing_before: float
    unseen: float
    unseen_expected: float
    outside: float
    far_outside: float
    quantiles: tuple[float, ...]
    quantiles_before: tuple[float, ...]
    distance: float
    distance_by_chance: float

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.column.name


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """New rows compared with the training data; print it, look at `columns`, or use `to_frame()`."""

    n_rows: int
    n_rows_before: int | None
    columns: tuple[ColumnComparison, ...]

    @property
    def has_statistics(self) -> bool:
        """Whether the model stores more of its training data than ranges, levels and whether values were missing."""
        return self.n_rows_before is not None

    @property
    def conspicuous(self) -> tuple[ColumnComparison, ...]:
        """Columns that are not as in training."""
        return tuple(column for column in self.columns if column.verdict)

    @property
    def is_conspicuous(self) -> bool:
        """Whether any column is not as in training."""
        return bool(self.conspicuous)

    def to_frame(self) -> Any:
        """All figures as a data frame (pandas if installed, else polars), a row for each column."""
        figures = ("missing", "missing_before", "unseen", "unseen_expected", "outside", "far_outside", "distance")
        frame: dict[str, object] = {"column": [one.name for one in self.columns]}
        frame["kind"] = [one.column.kind for one in self.columns]
        frame["verdict"] = [one.verdict for one in self.columns]
        frame |= {name: [getattr(one, name) for one in self.columns] for name in (*figures, "distance_by_chance")}
        for k, share in enumerate(SHARES):
            for name, title in (("quantiles", ""), ("quantiles_before", "_before")):
                parts = [getattr(one, name) for one in self.columns]
                frame[f"q{100 * share:g}{title}"] = [part[k] if part else math.nan for part in parts]
        return make_frame(frame)

    @property
    def summary(self) -> str:
        """One sentence, and another if statistics are missing."""
        before = f"{self.n_rows_before} rows of training" if self.has_statistics else "the training data"
        found = self.conspicuous
        verdict = f"{len(found)} of {len(self.columns)} columns are conspicuous" if found else "nothing is conspicuous"
        note = "" if self.has_statistics else f" {NO_STATISTICS}"
        return f"{self.n_rows} rows compared with {before}: {verdict}.{note}"

    def cells(self) -> Iterator[list[str]]:
        """The table as text, `HEADS` above it: conspicuous columns first; "a → b" is training → now."""
        for one in sorted(self.columns, key=lambda one: not one.verdict):
            yield [
                _visible(one.name),
                one.verdict or "as in training",
                _change(share_text(one.missing_before), share_text(one.missing)),
                share_text(one.unseen),
                share_text(one.outside),
                _change(_span(one, one.quantiles_before), _span(one, one.quantiles)),
                _change(_middle(one, one.quantiles_before), _middle(one, one.quantiles)),
                "" if math.isnan(one.distance) else f"{one.distance:.2f}",
            ]

    def text(self, most: int | None = SHOWN) -> str:
        """A line for each column; of many columns the first `most` and all that are conspicuous."""
        cells = list(self.cells())
        kept = cells if most is None else cells[: max(most, len(self.conspicuous))]
        rows = [list(HEADS), *kept]
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEADS))]
        lines = ("  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)) for row in rows)
        more = len(cells) - len(kept)
        rest = [f"… and {more} more columns, as in training"] if more else []
        return "\n".join([self.summary, *(line.rstrip() for line in lines), *rest])

    def __str__(self) -> str:
        """The text of the most conspicuous columns."""
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        head = "".join(f"<th>{name}</th>" for name in HEADS)
        rows = ("".join(f"<td>{html.escape(text)}</td>" for text in row) for row in self.cells())
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<p>{html.escape(self.summary)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def compare_rows(schema: Schema, X: object) -> Comparison:
    """All columns of new rows beside those of training."""
    table = X if isinstance(X, Table) and X.schema is schema else schema.match(X)
    columns = tuple(_compared(table, j) for j in range(table.n_features))
    first = schema.columns[0].statistics
    return Comparison(table.n_rows, None if first is None or not schema.has_statistics else first.n_rows, columns)


def _compared(table: Table, j: int) -> ColumnComparison:
    column, values = table.schema.columns[j], table.values(j)
    if column.kind == "category":
        return _compared_levels(column, values, table.n_features)
    return _compared_numbers(column, values, table.n_features)


def _compared_numbers(column: ColumnSchema, values: Array, d: int) -> ColumnComparison:
    m, kept = len(values), column.statistics
    present, (low, high), edges = _alike(values[~np.isnan(values)], column)
    far_low, far_high = far_bounds(column)
    n_outside = int(np.count_nonzero((present < low) | (present > high)))
    n_far = int(np.count_nonzero((present < far_low) | (present > far_high)))
    missing, distance, chance = 1 - len(present) / m, math.nan, math.nan
    found = [*_missing_verdict(kept, missing, column.has_missing, m, d)]
    if kept is not None:
        n = math.ceil(kept.n_present * min(1.0, sample_size(d) / kept.n_rows))  # that quantiles are from
        far = n_far > FAR_SHARE * m and is_new(kept.n_rows, n_far, m, d)
        found += ["outside"] if far or n_outside / m > max(LEAST_SHARE, margin(n, m, d)) else []
        if len(present) and len(edges):
            upto = np.searchsorted(np.sort(present), edges, side="right") / len(present)
            distance, chance = float(np.abs(upto - kept.upto).max()), margin(n, len(present), d)
            found += ["shifted"] if distance > max(LEAST_DISTANCE, chance) else []
    now = tuple(of_numbers(present, m, 0).quantiles.tolist())
    before = () if kept is None else tuple(kept.quantiles.tolist())
    unknown = math.isnan(column.low)
    outside, far_outside = (math.nan if unknown else part / m for part in (n_outside, n_far))
    known = (missing, _missing_before(kept, column), math.nan, math.nan, outside, far_outside, now, before)
    return ColumnComparison(column, ", ".join(found), *known, distance, chance)


def _alike(values: Array, column: ColumnSchema) -> tuple[Array, Array, Array]:
    """Values, range and quantiles in the precision that both sides have: 0.7 of float32 is another number."""
    edges = np.empty(0) if column.statistics is None else column.statistics.quantiles
    bounds = np.array([column.low, column.high])
    marks = np.concatenate([bounds, edges])
    with np.errstate(over="ignore"):
        short = marks.astype(np.float32)
        if values.dtype == np.float32 or bool((short == marks).all()):
            return values.astype(np.float32), short[:2], short[2:]
    return values, bounds, edges


def _compared_levels(column: ColumnSchema, codes: Array, d: int) -> ColumnComparison:
    m, kept = len(codes), column.statistics
    n_missing, n_unseen = np.count_nonzero(codes == MISSING), np.count_nonzero(codes == UNSEEN)
    missing, unseen, expected = float(n_missing) / m, float(n_unseen) / m, math.nan
    found = [*_missing_verdict(kept, missing, column.has_missing, m, d)]
    distance = chance = math.nan
    if kept is not None:
        expected = expected_unseen(column)
        excess = unseen - expected
        found += ["unseen levels"] if excess > LEAST_SHARE and is_new(kept.n_rows, excess * m, m, d) else []
        distance = _level_distance(kept, codes[codes != MISSING], expected)
        chance = margin(kept.n_present, m - int(n_missing), d, len(kept.codes) + 2)
        found += ["shifted"] if distance > max(LEAST_DISTANCE, chance) else []
    known = (missing, _missing_before(kept, column), unseen, expected, math.nan, math.nan, (), ())
    return ColumnComparison(column, ", ".join(found), *known, distance, chance)


def _level_distance(kept: ColumnStatistics, codes: Array, expected: float) -> float:
    """Half the sum of differences of shares: of the levels that are kept, of all others, and of unseen ones.

    Fewer unseen levels than expected do not count as a difference: the training rows themselves have none.
    """
    if not len(codes) or not kept.n_present:
        return math.nan
    now = np.bincount(codes - UNSEEN, minlength=int(kept.codes.max(initial=0)) - UNSEEN + 1) / len(codes)
    unseen, now = float(now[0]), now[kept.codes - UNSEEN]
    expected = min(expected, unseen)
    before = kept.counts / kept.n_present * (1 - expected)
    rest_now, rest_before = 1 - unseen - now.sum(), 1 - expected - before.sum()
    return float(np.abs(now - before).sum() + abs(unseen - expected) + abs(rest_now - rest_before)) / 2


def _missing_verdict(kept: ColumnStatistics | None, missing: float, has_missing: bool, m: int, d: int) -> Sequence[str]:
    """Whether more or fewer values are missing than chance explains."""
    if kept is None:
        return ["missing"] if missing > LEAST_SHARE and not has_missing else []
    new = kept.n_missing == 0 and missing > LEAST_SHARE and is_new(kept.n_rows, missing * m, m, d)
    change = abs(missing - kept.n_missing / kept.n_rows)
    return ["missing"] if new or change > max(LEAST_SHARE, margin(kept.n_rows, m, d)) else []


def _missing_before(kept: ColumnStatistics | None, column: ColumnSchema) -> float:
    if kept is None:
        return math.nan if column.has_missing else 0.0
    return kept.n_missing / kept.n_rows


def _change(before: str, now: str) -> str:
    return now if before == now else f"{before or '?'} → {now or 'none'}"


def _span(one: ColumnComparison, quantiles: tuple[float, ...]) -> str:
    return range_text(one.column, quantiles[0], quantiles[-1]) if quantiles else ""


def _middle(one: ColumnComparison, quantiles: tuple[float, ...]) -> str:
    return cell_text(one.column, quantiles[len(SHARES) // 2]) if quantiles else ""


def _visible(name: str) -> str:
    """A name on one line, the beginning of a long one."""
    line = name if name.isprintable() else name.encode("unicode_escape", "surrogatepass").decode("ascii")
    return line if len(line) <= LONGEST_NAME else f"{line[: LONGEST_NAME - 1]}…"
