"""Results that show themselves: text in print, tables in notebooks, never more than a screen or two by themselves."""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from sapwood.one_line import clipped

MOST_LINES = 60
MOST_COLUMNS = 12
LONGEST_LINE = 240
LONGEST_CELL = 80

_PRE = "margin: 0.3em 0; white-space: pre-wrap; overflow-wrap: anywhere"


@dataclass(frozen=True)
class TextTable:
    """Rows of cells; `heads` may be empty. `sides` has "l" or "r" for each column, its last letter for all others."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    rest: str = ""  # what was left out, such as "3 more points"
    sides: str = "lr"
    indent: int = 0

    def lines(self) -> Iterator[str]:
        """Aligned text."""
        table = [[clipped(cell, LONGEST_CELL) for cell in row] for row in ([self.heads] if self.heads else [])]
        table += [[clipped(cell, LONGEST_CELL) for cell in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for row in table:
            cells = [
                _placed(cell, width, self.side(k)) for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            yield " " * self.indent + "  ".join(cells).rstrip()
        if self.rest:
            yield f"{' ' * self.indent}… {self.rest}"

    def side(self, column: int) -> str:
        """Where cells of a column stand."""
        return self.sides[min(column, len(self.sides) - 1)]

    def bounded(self) -> TextTable:
        """The first rows and columns."""
        rest = self.rest
        if len(self.rows) > MOST_LINES:
            rest = f"{len(self.rows) - MOST_LINES} more rows"
        rows = [_first_columns(row) for row in self.rows[:MOST_LINES]]
        return replace(self, heads=_first_columns(self.heads), rows=rows, rest=rest)

    def to_html(self) -> str:
        """A table in HTML; everything in it is escaped."""
        head = f"<thead>{self._html_row(self.heads, 'th')}</thead>" if self.heads else ""
        body = "".join(self._html_row(row, "td") for row in self.rows)
        rest = f"<div>… {_escaped(self.rest, LONGEST_LINE)}</div>" if self.rest else ""
        return f'<table border="1" class="dataframe">{head}<tbody>{body}</tbody></table>{rest}'

    def _html_row(self, cells: Sequence[str], tag: str) -> str:
        sides = ["right" if self.side(k) == "r" else "left" for k in range(len(cells))]
        texts = [_escaped(cell, LONGEST_CELL) for cell in cells]
        shown = [f'<{tag} style="text-align: {a}">{t}</{tag}>' for a, t in zip(sides, texts, strict=True)]
        return f"<tr>{''.join(shown)}</tr>"


Part = str | TextTable


class Result:
    """A result that prints its content: `str` all of it, `repr` and notebooks the beginning of what is long."""

    @abstractmethod
    def _parts(self) -> Iterable[Part]:
        """Lines and tables, from top to bottom."""

    def __str__(self) -> str:
        return "\n".join(_lines(self._parts()))

    def __repr__(self) -> str:
        lines = _lines(_bounded(part) for part in self._parts())
        shown = [clipped(line, LONGEST_LINE) for line in islice(lines, MOST_LINES + 5)]
        return "\n".join([*shown, "…"] if next(lines, None) is not None else shown)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return html_of(self._parts())


def html_of(parts: Iterable[Part]) -> str:
    """Lines and tables as HTML; text is escaped, and long parts are cut."""
    blocks: list[str] = []
    lines: list[str] = []
    for part in parts:
        if isinstance(part, str):
            lines.append(part)
        else:
            blocks += [*_preformatted(lines), part.bounded().to_html()]
            lines = []
    return f"<div>{''.join([*blocks, *_preformatted(lines)])}</div>"


def _preformatted(lines: Sequence[str]) -> list[str]:
    """One block of lines; none if there are none."""
    more = ["…"] if len(lines) > MOST_LINES else []
    text = "\n".join([*(_escaped(line, LONGEST_LINE) for line in lines[:MOST_LINES]), *more])
    return [f'<pre style="{_PRE}">{text}</pre>'] if lines else []


def _lines(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, TextTable):
            yield from part.lines()
        else:
            yield part


def _bounded(part: Part) -> Part:
    return part.bounded() if isinstance(part, TextTable) else part


def _first_columns(cells: Sequence[str]) -> Sequence[str]:
    return cells if len(cells) <= MOST_COLUMNS else [*cells[:MOST_COLUMNS], "…"]


def _placed(cell: str, width: int, side: str) -> str:
    return cell.rjust(width) if side == "r" else cell.ljust(width)


def _escaped(text: str, longest: int) -> str:
    return html.escape(clipped(text, longest))
