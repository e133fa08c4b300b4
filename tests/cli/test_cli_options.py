"""Options that are fields of dataclasses."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from sapwood.cli.options import FileFormat, TrainingOptions, command
from sapwood.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class Inner:
    size: Annotated[int, typer.Option("--size")] = 1


@dataclass(frozen=True, kw_only=True)
class Outer:
    name: Annotated[str, typer.Option("--name")]
    inner: Inner = field(default_factory=Inner)
    kind: Annotated[str, typer.Option("--kind")] = "plain"


def test_fields_are_options_and_the_command_gets_the_dataclass() -> None:
    got = []

    def run(options: Outer, kind: Annotated[str, typer.Option("--kind", help="Own.")] = "own") -> None:
        got.append((options, kind))

    app = typer.Typer()
    app.command()(command(run))
    assert CliRunner().invoke(app, ["--name", "a", "--size", "3"]).exit_code == 0
    assert CliRunner().invoke(app, ["--name", "b", "--kind", "other"]).exit_code == 0
    assert got == [
        (Outer(name="a", inner=Inner(size=3), kind="own"), "own"),
        (Outer(name="b", kind="other"), "other"),
    ]
    assert CliRunner().invoke(app, []).exit_code == 2
    assert list(inspect.signature(command(run)).parameters) == ["name", "size", "kind", "_traceback"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": "y"}, "--target 'y'"),
        ({"category": ["a"], "drop": ["b", "a"]}, "--category 'a'"),
        ({"category": ["a"], "weight": "a"}, "--category 'a'"),
    ],
)
def test_a_column_has_one_role(options, message) -> None:
    with pytest.raises(ParameterError, match=message):
        TrainingOptions(target="y", **options)


def test_the_encoding_must_be_known() -> None:
    with pytest.raises(ParameterError, match="klingon"):
        FileFormat(encoding="klingon")


def test_files_without_a_header_can_be_explained_and_checked(run, tmp_path) -> None:
    data, model = tmp_path / "data.csv", tmp_path / "model.sapwood"
    data.write_text("".join(f"{i},{i % 5},{'yes' if i > 30 else 'no'}\n" for i in range(60)))
    result = run("train", data, "--no-header", "--target", "column3", "--out", model)
    assert result.exit_code == 0, result.output
    result = run("explain", model, "--input", data, "--no-header", "--row", 59)
    assert result.exit_code == 0, result.output
    assert "column1" in result.output
    assert run("check", model, "--input", data, "--no-header").exit_code == 0
