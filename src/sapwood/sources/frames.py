"""Sources that yield data frames: any re-iterable of frames, lazy frames of polars, relations of DuckDB."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from itertools import count
from typing import Any, ClassVar

import narwhals as nw

from sapwood.errors import DataFileError, InputError, InputTypeError
from sapwood.sources.source import Batch, DataSource, batch_rows


class FrameChunks(DataSource):
    """An object whose `iter()` starts anew each time, and yields frames, arrays, or (X, y) or (X, y, weight)."""

    reads_ahead: ClassVar[bool] = False  # the object may not like it

    def __init__(self, chunks: Iterable[Any]) -> None:
        if iter(chunks) is chunks:
            raise InputTypeError(
                f"X is a {type(chunks).__name__}, which can be read only once, but training reads its rows several "
                "times. Pass an object whose __iter__ starts anew, such as a class with a generator method __iter__, "
                "or write the rows to a Parquet file first."
            )
        self._chunks = chunks
        self.label = f"the {type(chunks).__name__}"
        self._n_rows: int | None = None
        first = next(iter(self.batches()), None)
        if first is None:
            raise InputError(f"{self.label} has no rows. Give a source with data.")
        self.names = list(column_names(first.frame))

    @property
    def n_rows(self) -> int | None:
        """None: the rows must be counted."""
        return None

    def batches(self, columns: Collection[str] | None = None) -> Iterator[Batch]:
        """All chunks that have rows."""
        first = 0
        for number, chunk in enumerate(self._chunks):
            parts = chunk if isinstance(chunk, tuple) else (chunk,)
            if not 1 <= len(parts) <= 3:
                raise InputTypeError(f"Batch {number} is a tuple of {len(parts)}, but must be X, (X, y) or (X, y, w).")
            frame, y, weight = (*parts, None, None)[:3]
            if not hasattr(frame, "shape") and not hasattr(frame, "__len__"):
                raise InputTypeError(
                    f"Batch {number} is a {type(frame).__name__}, but must be a data frame or an array."
                )
            batch = Batch(_some(frame, columns), y, weight, f"batch {number}", 0, first, float("nan"))
            if batch.n_rows:
                yield batch
            first += batch.n_rows
        if self._n_rows not in (None, first):
            raise DataFileError(
                f"{self.label} gave {first} rows, but {self._n_rows} before. It must give the same rows each time."
            )
        self._n_rows = first


class LazyRows(DataSource):
    """A lazy frame of polars, computed batch by batch; its order of rows is kept."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.names = frame.collect_schema().names()
        self.label = "the LazyFrame"
        self._n_rows: int | None = None

    @property
    def n_rows(self) -> int | None:
        """Number of rows, which polars counts."""
        if self._n_rows is None:
            pl = nw.dependencies.get_polars()
            self._n_rows = int(self._frame.select(pl.len()).collect().item())
        return self._n_rows

    def batches(self, columns: Collection[str] | None = None) -> Iterator[Batch]:
        """Some rows at a time."""
        frame = self._frame
        if columns is not None:
            frame = frame.select([name for name in self.names if name in set(columns)])
        first, total = 0, max(1, self.n_rows or 0)
        for part in self._parts(frame, batch_rows(len(self.names if columns is None else columns))):
            if part.height:
                share = min(1.0, (first + part.height) / total)
                yield Batch(part, None, None, self.label, first, first, share)
                first += part.height

    def _parts(self, frame: Any, rows: int) -> Iterator[Any]:
        if hasattr(frame, "collect_batches"):
            yield from frame.collect_batches(chunk_size=rows, maintain_order=True)
            return
        for start in count(0, rows):  # older versions
            part = frame.slice(start, rows).collect(engine="streaming")
            if not part.height:
                return
            yield part


class RelationRows(DataSource):
    """A relation of DuckDB, whose rows must be in a defined order."""

    reads_ahead: ClassVar[bool] = False  # a connection is for one thread

    def __init__(self, relation: Any) -> None:
        if not _is_ordered(relation):
            raise InputError(
                "X is a DuckDB relation without an order: its rows may come in another order each time, and the model "
                "depends on it. Pass relation.order(…), best by a column that differs in every row."
            )
        self._relation = relation
        self.names = list(relation.columns)
        self.label = "the DuckDB relation"
        self._n_rows: int | None = None

    @property
    def n_rows(self) -> int | None:
        """Number of rows, which DuckDB counts."""
        if self._n_rows is None:
            self._n_rows = int(self._relation.aggregate("count(*)").fetchall()[0][0])
        return self._n_rows

    def batches(self, columns: Collection[str] | None = None) -> Iterator[Batch]:
        """Some rows at a time, all columns: the order may depend on those that are not wanted."""
        first, total = 0, max(1, self.n_rows or 0)
        relation = self._relation
        read = relation.to_arrow_reader if "to_arrow_reader" in dir(relation) else relation.fetch_record_batch
        with read(batch_rows(len(self.names))) as reader:
            for part in reader:
                if part.num_rows:
                    share = min(1.0, (first + part.num_rows) / total)
                    yield Batch(_some(part, columns), None, None, self.label, first, first, share)
                    first += part.num_rows


def is_relation(X: object) -> bool:
    """Whether X is a relation of DuckDB."""
    return type(X).__name__ == "DuckDBPyRelation"


def _is_ordered(relation: Any) -> bool:
    """Whether the query of a relation ends with ORDER BY."""
    import duckdb

    if relation.type == "ORDER_RELATION":
        return True
    with duckdb.connect(":memory:") as parser:  # the connection of the relation may be in use
        found = parser.execute("select json_serialize_sql(?::varchar)", [relation.sql_query()]).fetchall()
    statements = json.loads(found[0][0]).get("statements", [])
    modifiers = statements[-1]["node"].get("modifiers", []) if statements else []
    return any(modifier["type"] == "ORDER_MODIFIER" for modifier in modifiers)


def column_names(frame: Any) -> list[str]:
    """Names of the columns of a frame; none of an array."""
    wrapped = nw.from_native(frame, pass_through=True)
    names: list[object] = list(wrapped.columns) if isinstance(wrapped, nw.DataFrame) else []
    return [name for name in names if isinstance(name, str)]


def _some(frame: Any, columns: Collection[str] | None) -> Any:
    """Some columns of a frame; a record batch of pyarrow becomes a table."""
    pa = nw.dependencies.get_pyarrow()
    if pa is not None and isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    names = column_names(frame)
    if columns is None or not names:
        return frame
    return pick(frame, [name for name in names if name in set(columns)])


def pick(frame: Any, names: list[str]) -> Any:
    """These columns of a frame."""
    return nw.from_native(frame).select(names).to_native()
