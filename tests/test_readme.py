"""The Python of the README runs, one block after the other, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_the_first_block_prints_what_the_readme_says(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(BLOCKS[0], "README", "exec"), {})
    told = re.search(r"prints\n\n```text\n(.*?)```", README, flags=re.DOTALL)
    assert told is not None
    assert capsys.readouterr().out.strip() == told[1].strip()


def test_all_blocks_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx")
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    names: dict[str, object] = {}
    for block in BLOCKS:
        lines = [line for line in block.splitlines() if ".to_shap()" not in line]  # shap is not installed everywhere
        exec(compile("\n".join(lines), "README", "exec"), names)
