"""Text that fits a box: lines broken at sensible places."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TIE = "\u00a0"  # a space at which a line is broken only if it must be
# After a space; after a tie; after an underscore, a slash, or a hyphen within a word
_BREAKS = tuple(re.compile(pattern) for pattern in (r"(?<= )", rf"(?<={_TIE})", r"(?<=[_/])|(?<=[^\W\d]-)"))
_LABEL = re.compile(r" = (?=[^ ]+$)")
_SET = re.compile(r"\{.*\}$")
_LIST = re.compile(r"(?P<label>\w+ =) (?P<list>\[.*\])")
_LIST_ROOM = 4  # characters a list may be wider than other text before it is broken


def wrapped(line: str, width: int) -> list[str]:
    """Break a line into pieces of about `width` characters; operands, levels and lists are kept whole if possible."""
    values = _LIST.fullmatch(line)
    if len(line) > width and values:
        return [values["label"], *_filled(values["list"], width + _LIST_ROOM)]
    name, at_most, threshold = line.rpartition(" <= ")
    if at_most:
        return _filled(f"{name} ≤{_TIE}{threshold.replace(' ', _TIE)}", width)
    return _filled(_LABEL.sub(f" ={_TIE}", _SET.sub(_tie_levels, line)), width)


def _tie_levels(levels: re.Match[str]) -> str:
    return re.sub(r"(?<!,) ", _TIE, levels[0])


def _filled(text: str, width: int) -> list[str]:
    lines = [""]
    for word in _pieces(text, width, _BREAKS):
        if lines[-1] and len((lines[-1] + word).rstrip()) > width:
            lines.append("")
        lines[-1] += word
    return [line.strip().replace(_TIE, " ") for line in lines]


def _pieces(text: str, width: int, breaks: Sequence[re.Pattern[str]]) -> list[str]:
    """Break at the first kind of place; what is still too long at the next kind, at last anywhere."""
    if not breaks:
        return [text[start : start + width] for start in range(0, len(text), width)]
    words = [word for word in breaks[0].split(text) if word]
    fits = [[word] if len(word.rstrip()) <= width else _pieces(word, width, breaks[1:]) for word in words]
    return [piece for pieces in fits for piece in pieces]
