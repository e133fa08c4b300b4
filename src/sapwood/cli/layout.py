"""How a data file is laid out, as far as the user says so."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from sapwood.errors import ParameterError


@dataclass(frozen=True)
class Layout:
    """Options of CSV files; None for what is to be found out."""

    delimiter: str | None = None
    encoding: str | None = None
    has_header: bool = True
    day_first: bool | None = None

    def __post_init__(self) -> None:
        if self.encoding is None:
            return
        try:
            codecs.lookup(self.encoding)
        except LookupError as error:
            raise ParameterError(
                f"--encoding {self.encoding!r} is not known. Use one such as utf-8, cp1252, latin-1 or utf-16."
            ) from error


FOUND_OUT = Layout()


def layout_from(options: dict[str, object]) -> Layout:
    """The layout that options of a command ask for, which are taken out of them."""
    delimiter, encoding, no_header, day_first = (
        options.pop(name, None) for name in ("delimiter", "encoding", "no_header", "day_first")
    )
    return Layout(delimiter, encoding, not no_header, day_first)  # type: ignore[arg-type]
