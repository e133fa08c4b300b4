"""The entry point, which works even if the dependencies of the command line are not installed.

Exit codes: 0 success, 1 unusable input, 2 wrong usage.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from sapwood import __version__
from sapwood.errors import MissingExtraError

if TYPE_CHECKING:
    from typer import Typer

_PACKAGES = ("typer", "rich", "pyarrow")


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        _replace_unprintable(stream)
    if sys.argv[1:] == ["--version"]:
        print(f"sapwood {__version__}")
        return
    try:
        app = _load_app()
    except MissingExtraError as error:
        if os.environ.get("SAPWOOD_TRACEBACK", "0") not in ("", "0"):
            raise
        sys.exit(f"Error: {error}")
    app()


def _load_app() -> Typer:
    try:
        from sapwood.cli.app import app
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    return app


def _replace_unprintable(stream: TextIO) -> None:
    """Print a question mark for characters that the terminal's encoding lacks."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def missing_extra(error: ModuleNotFoundError) -> ModuleNotFoundError | MissingExtraError:
    """The error to raise instead, which names what to install; the same error for packages that are not ours."""
    package = (error.name or "").partition(".")[0]
    if package not in _PACKAGES:
        return error
    return MissingExtraError(
        f"The command line needs {package}, which is not installed. Install it with: pip install 'sapwood[cli]'"
    )
