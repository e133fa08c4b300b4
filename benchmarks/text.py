"""Plain tables."""

from __future__ import annotations

from typing import Any


class Table:
    """Rows under headings, columns aligned to the right; `headings` are separated by blanks."""

    def __init__(self, headings: str) -> None:
        self.rows = [[heading.replace("_", " ") for heading in headings.split()]]

    def add(self, *cells: Any) -> None:
        """One more row."""
        self.rows.append([str(cell) for cell in cells])

    def print(self, title: str) -> None:
        """The table, if it has rows."""
        if len(self.rows) == 1:
            return
        widths = [max(map(len, column)) for column in zip(*self.rows, strict=True)]
        print(f"\n{title}")
        for row in self.rows:
            print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)), flush=True)
