from __future__ import annotations

import subprocess
import sys

import pytest

import sapwood


@pytest.mark.parametrize("name", sapwood.__all__)
def test_every_public_name_exists_and_is_listed(name: str) -> None:
    assert getattr(sapwood, name) is not None
    assert name in dir(sapwood)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Forest'"):
        _ = sapwood.Forest


def test_import_alone_loads_neither_compiler_nor_scikit_learn() -> None:
    code = "import sys, sapwood; print(any(m in sys.modules for m in ('numba', 'sklearn', 'scipy')))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "False"
