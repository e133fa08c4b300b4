"""Text that fits: lines broken at sensible places, names that are too long without their middle."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from sapwood.one_line import one_line

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


def shortened(text: object, longest: int) -> str:
    """Put a name on one line of at most `longest` letters; both ends stay, since long names often differ there."""
    line = one_line(text)
    if len(line) <= longest:
        return line
    end = (longest - 1) // 2
    return f"{line[: longest - 1 - end]}…{line[len(line) - end :]}"


def distinct(names: Sequence[object], longest: int) -> list[str]:
    """Shorten the names of one picture; different ones stay different, if need be by their middle or a number."""
    lines = [one_line(name) for name in names]
    labels = {line: shortened(line, longest) for line in lines}
    for alike in _alike(labels):
        labels |= _distinguished(sorted(alike), longest)
    for alike in _alike(labels):
        for line in alike:
            end = f" #{lines.index(line) + 1}"
            labels[line] = f"{shortened(labels[line], longest - len(end))}{end}"
    return [labels[line] for line in lines]


def _alike(labels: Mapping[str, str]) -> list[list[str]]:
    """Lines that share a label with others."""
    groups: dict[str, list[str]] = {}
    for line, label in labels.items():
        groups.setdefault(label, []).append(line)
    return [group for group in groups.values() if len(group) > 1]


def _distinguished(alike: Sequence[str], longest: int) -> dict[str, str]:
    """The beginning of each line, and what comes after all that it shares with any other; lines are sorted."""
    shared = [0, *(_shared(line, other) for line, other in pairwise(alike)), 0]
    room = longest - longest // 4 - 1
    # A few letters before the difference show where it is
    differing = [line[max(both) - longest // 8 :] for line, both in zip(alike, pairwise(shared), strict=True)]
    return {line: f"{line[: longest // 4]}…{shortened(end, room)}" for line, end in zip(alike, differing, strict=True)}


def _shared(line: str, other: str) -> int:
    """Number of letters with which both begin."""
    pairs = enumerate(zip(line, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(line), len(other)))


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
