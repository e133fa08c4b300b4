"""Puts compiled kernels into a wheel: those below the folder that SAPWOOD_KERNELS names, a folder for each level.

Without the variable the wheel is pure Python, and an editable installation always is: kernels are then compiled when
they are first used. `scripts/build_wheel.sh` sets it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import sys_tags

VARIABLE = "SAPWOOD_KERNELS"
TARGET = "sapwood/kernels/compiled"
# Compiled kernels call no function of the system by its version, so they run on the oldest one that Numba supports.
OLDEST = ((r"^(many)?linux(_2_\d+)?_(?=[a-z])", "manylinux_2_17_"), (r"macosx_\d+_\d+", "macosx_11_0"))


class CompiledKernels(BuildHookInterface[Any]):
    """Adds the files, and names the version of Python and the platform that they are for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatch before it writes a wheel."""
        folder = os.environ.get(VARIABLE)
        if not folder or version == "editable":
            return
        kernels = sorted(Path(folder).glob("*/*.nbc"))
        if not kernels:
            raise FileNotFoundError(f"{VARIABLE}={folder} has no compiled kernels: there are no files */*.nbc.")
        build_data["pure_python"] = False
        build_data["tag"] = _tag()
        for path in kernels:
            build_data["force_include"][str(path)] = f"{TARGET}/{path.parent.name}/{path.name}"


def _tag() -> str:
    """The tag of wheels for this Python on this platform."""
    tag = next(sys_tags())
    platform = tag.platform
    for newer, oldest in OLDEST:
        platform = re.sub(newer, oldest, platform)
    return f"{tag.interpreter}-{tag.abi}-{platform}"
