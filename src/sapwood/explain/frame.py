"""Results as a data frame of whichever library is installed."""

from sapwood.table.frame import make_frame

__all__ = ["make_frame"]
