"""Files that were tampered with, by the thousand."""

from __future__ import annotations

import sys

import pytest
from fuzz import line, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no limits")


def test_files_that_were_tampered_with_are_refused_or_work() -> None:
    total = run(800, seed=1)
    print(line(total, 1))
    assert total["findings"] == []
    assert total["counts"]["refused"] > 500
    assert total["counts"]["accepted"] > 80


@pytest.mark.slow
@pytest.mark.timeout(20_000)
def test_200_000_files_that_were_tampered_with_are_refused_or_work(capsys: pytest.CaptureFixture[str]) -> None:
    total = run(200_000, seed=0)
    with capsys.disabled():
        print(f"\n{line(total, 0)}")
    assert total["findings"] == []
