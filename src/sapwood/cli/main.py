"""The entry point, which works even where the command line's own dependencies are not installed.

Exit codes: 0 all went well, 1 the input cannot be used, 2 the command was not understood.
"""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO

from sapwood import __version__
from sapwood.cli.extras import missing_extra
from sapwood.errors import MissingExtraError


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        _never_fail_to_print(stream)
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


def _load_app() -> Any:
    try:
        from sapwood.cli.app import app
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    return app


def _never_fail_to_print(stream: TextIO) -> None:
    """Data may hold characters that the terminal's encoding lacks; a question mark is better than a crash."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
