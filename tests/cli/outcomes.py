"""What a command came to: its error, or a number in its tables."""

from __future__ import annotations

import re

from typer.testing import Result


def error_line(result: Result) -> str:
    """The one line of an error about the input."""
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def usage_error(result: Result) -> str:
    """What is said of a command that was not understood."""
    assert result.exit_code == 2, result.output
    return " ".join(result.stderr.replace("│", " ").split())


def cell(output: str, measure: str, column: int = 1) -> float:
    """A number in the table of measures."""
    return float(re.search(rf"│ {measure} +│{' +[^│]+ │' * (column - 1)} +(\S+) │", output)[1])
