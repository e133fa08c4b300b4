"""Any text on one line, without characters that break lines, files or the order of what is read."""

from __future__ import annotations

import unicodedata

# Controls, line and paragraph separators, lone surrogates: they would break a line or a file
_UNSAFE = {"Cc", "Zl", "Zp", "Cs"}
# These turn the text after them around, so that what is read is not what is written
_TURNS = {*"\u061c\u200e\u200f", *"\u202a\u202b\u202c\u202d\u202e", *"\u2066\u2067\u2068\u2069"}


def one_line(text: object) -> str:
    """Text with line breaks, other control characters and marks of direction shown as escapes."""
    line = str(text)
    return line if line.isascii() and line.isprintable() else "".join(map(_visible, line))


def clipped(text: object, longest: int) -> str:
    """The beginning of a text on one line of at most `longest` characters."""
    start = one_line(str(text)[: longest + 1])  # an escape is longer than what it stands for
    return start if len(start) <= longest else f"{start[: longest - 1]}…"


def _visible(char: str) -> str:
    if unicodedata.category(char) not in _UNSAFE and char not in _TURNS:
        return char
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
