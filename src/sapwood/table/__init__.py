"""Any input becomes columns: tables, schemas, targets and weights."""

from sapwood.table.column import MISSING, UNSEEN, Kind
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget, NumberTarget
from sapwood.table.weight import check_weight

__all__ = [
    "MISSING",
    "UNSEEN",
    "ClassTarget",
    "ColumnSchema",
    "Kind",
    "NumberTarget",
    "Schema",
    "Table",
    "check_weight",
]
