"""The library in a read-only folder, used by another user without a home: the script that checks it runs through."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "container_check.sh"


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can be another user")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
def test_a_container_fits_predicts_and_runs_the_command_line() -> None:
    done = subprocess.run(["bash", str(SCRIPT), sys.executable], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all went well" in done.stdout
