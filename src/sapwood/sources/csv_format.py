"""The format of CSV files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CsvFormat:
    """Format of CSV files; None for what is to be detected.

    | name | meaning |
    |---|---|
    | delimiter | one character |
    | encoding | such as "cp1252"; UTF-8 by default, or UTF-16 if so marked |
    | no_header | the first line holds values; columns are named column1, column2 and so on |
    """

    delimiter: str | None = None
    encoding: str | None = None
    no_header: bool = False

    def option(self, name: str, value: str = "") -> str:
        """How an option is written, for errors."""
        return f"CsvFormat({name}={repr(value) if value else '…'})"

    @property
    def not_utf8(self) -> str:
        """What is wrong with text of another encoding, and the remedy."""
        return (
            f"not UTF-8 text. Use {self.option('encoding')}, such as {self.option('encoding', 'cp1252')} for files of "
            "older Western European programs, or save the file as UTF-8."
        )
