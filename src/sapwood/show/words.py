"""The former name of `row_path`, for packages that still use it."""

from sapwood.show.row_path import Step
from sapwood.show.row_path import follow_row as walk
from sapwood.show.row_path import path_lines as told

__all__ = ["Step", "told", "walk"]
