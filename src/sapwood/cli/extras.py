"""What to install when an optional dependency is missing."""

from __future__ import annotations

from sapwood.errors import MissingExtraError

_PACKAGES = ("typer", "rich", "pyarrow")


def missing_extra(error: ModuleNotFoundError) -> ModuleNotFoundError | MissingExtraError:
    """The error to raise instead: what to install, or the same error if the module is not ours to offer."""
    package = (error.name or "").partition(".")[0]
    if package not in _PACKAGES:
        return error
    return MissingExtraError(
        f"The command line needs {package}, which is not installed. Install it with: pip install 'sapwood[cli]'"
    )
