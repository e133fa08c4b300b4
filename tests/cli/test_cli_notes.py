"""Warnings on the command line are notes, without lines of code."""

from __future__ import annotations

import pytest


@pytest.mark.filterwarnings("always")
def test_a_warning_is_a_note(run, flowers) -> None:
    options = ("--model", "boosting", "--set", "min_child_weight=1000000.0", "--set", "n_estimators=2")
    result = run("train", flowers, "--target", "kind", *options)
    assert result.exit_code == 0, result.output
    assert result.output.count("No tree has a split") == 1
    assert "typer" not in result.output
