"""Pictures in files: of a tree, or of a curve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sapwood.cli.output import check_output, whole_output
from sapwood.plot.style import pyplot

_EXTENSIONS = (".png", ".svg", ".pdf")
_MOST_LEAVES = 150
_LEVELS_OF_LARGE = 5
_DOTS_PER_INCH = 120


def check_picture(path: Path) -> None:
    """Raise before any work is done if the picture could not be written in the end."""
    check_output(path, _EXTENSIONS)
    pyplot()


def write_picture(estimator: Any, path: Path, feature_names: Any = None) -> str:
    """Draw the tree, the upper levels only of a large one, and say what was written."""
    from sapwood.plot import plot_tree

    depth = _LEVELS_OF_LARGE if estimator.get_n_leaves() > _MOST_LEAVES else None
    _save(path, lambda: plot_tree(estimator, max_depth=depth, feature_names=feature_names))
    return f"Picture of the {'tree' if depth is None else f'upper {depth} levels of the tree'}: {path}"


def write_curve(result: Any, path: Path) -> str:
    """Draw the curve of a cross-validation, and say what was written."""
    _save(path, result.plot)
    return f"Picture of the curve: {path}"


def _save(path: Path, draw: Callable[[], Any]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")  # needs no display
    plt = pyplot()
    try:
        draw()
        with whole_output(path) as temporary:
            plt.gcf().savefig(temporary, dpi=_DOTS_PER_INCH)
    finally:
        plt.close("all")
