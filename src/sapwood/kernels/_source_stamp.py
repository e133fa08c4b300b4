"""What a kernel was made from: the text of its file and of every kernel file that it imports, directly or not.

Numba looks at a kernel's own file only, and would keep using code into which an older part of another file was copied.
The stamp is made of contents, not of times, so that a copy or a new installation of equal files has equal stamps.
"""

from __future__ import annotations

import hashlib
import pkgutil
import re
from functools import cache

_PACKAGE = "sapwood.kernels"
_IMPORT = re.compile(rb"^\s*(?:from|import) sapwood\.kernels\.(\w+)", re.MULTILINE)
_OPTIONS = "_jit"  # its imports decide how kernels are stored, not what they are


def source_stamp(module: str) -> str | None:
    """The stamp of the kernels of a module, or None where there is no source to be read."""
    try:
        texts = {name: _text(name) for name in sorted(_sources(module.removeprefix(f"{_PACKAGE}.")))}
    except OSError:
        return None
    return hashlib.sha256(b"".join(b"%s\0%s\0" % (name.encode(), text) for name, text in texts.items())).hexdigest()


def _sources(name: str) -> set[str]:
    """A kernel file and those it imports, directly or not."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imports(name)
    return found


def _imports(name: str) -> list[str]:
    return [] if name == _OPTIONS else [found.decode() for found in _IMPORT.findall(_text(name))]


@cache
def _text(name: str) -> bytes:
    """The text as it was when its module was imported: an edit meanwhile must not be taken for what was compiled."""
    text = pkgutil.get_data(_PACKAGE, f"{name}.py")
    if text is None:
        raise FileNotFoundError(name)
    return text
