"""All rows of a data file, with the columns of a saved model and read as those of its training."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from sapwood.cli.data import Table, arrow, named_columns, require_columns
from sapwood.cli.layout import Layout
from sapwood.cli.rows_to_predict import Rows
from sapwood.cli.saved_model import SavedModel, known_sample, require_model_columns


def model_rows(model: SavedModel, path: Path, layout: Layout, drop: Collection[str]) -> Table:
    """The rows as one table; columns to drop may be named in one text, with commas."""
    rows = Rows(path, layout, known_sample(model), ())
    left_out = named_columns(drop, rows.names)
    require_columns(rows.names, left_out, "--drop", path)
    names = [name for name in rows.names if name not in left_out]
    require_model_columns(names, model.estimator, path)
    schema = model.estimator.schema_
    wanted = schema.names if schema.named else names
    return arrow().concat_tables([part for part, _, _ in rows.parts(wanted)])
