"""Runs a notebook as a user does: a kernel of its own, with the backend that notebooks choose by themselves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def run_cells(sources: list[str], folder: Path) -> list[list[dict]]:
    """Outputs of every cell; in a process of its own, since sockets of the client are left to the collector."""
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    book = folder / "cells.json"
    book.write_text(json.dumps(sources), "utf-8")
    outside = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    done = subprocess.run(
        [sys.executable, __file__, str(book)], env=outside, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(book.read_text("utf-8"))


def _execute(book: Path) -> None:
    import nbclient
    import nbformat
    from jupyter_client import AsyncKernelManager
    from jupyter_client.kernelspec import KernelSpec

    class ThisPython(AsyncKernelManager):
        """A kernel of this interpreter, whatever kernels the machine knows."""

        @property
        def kernel_spec(self) -> KernelSpec:
            command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=command, display_name="this Python", language="python")

    cells = [nbformat.v4.new_code_cell(source) for source in json.loads(book.read_text("utf-8"))]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=250, km=ThisPython()).execute()
    book.write_text(json.dumps([cell.outputs for cell in notebook.cells]), "utf-8")


if __name__ == "__main__":
    _execute(Path(sys.argv[1]))
