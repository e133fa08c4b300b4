from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from sapwood.cli import console
from sapwood.cli.app import app

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    for stream in (console.out, console.err):
        monkeypatch.setattr(stream, "_width", 200)  # they may have been made before COLUMNS could be set
    monkeypatch.delenv("SAPWOOD_TRACEBACK", raising=False)

    def invoke(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return invoke


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """Strings with quotes, commas, line breaks and other alphabets; holes of every spelling; two classes of text."""
    colours = ['"rot, hell"', "blau", "жёлтый", '"say ""hi"""', '"two\nlines"', "NA"]
    sizes = ["1.5", "2.25", "", "?", "NaN", "null", "7"]
    lines = ["größe,colour,when,tall,kind"]
    for i in range(120):
        kind = "été" if (i % 7) in (0, 6) or i % 6 == 1 else "winter"
        when = f"2024-01-{i % 28 + 1:02d}"
        lines.append(f"{sizes[i % 7]},{colours[i % 6]},{when},{'true' if i % 2 else 'false'},{kind}")
    return write(tmp_path / "flowers.csv", "\n".join(lines) + "\n")


@pytest.fixture
def houses(tmp_path: Path) -> Path:
    """A regression target, a weight and an id."""
    random = np.random.default_rng(0)
    area, rooms = random.uniform(30, 200, 150), random.integers(1, 6, 150)
    price = 3.5 * area + 10 * rooms + random.normal(0, 5, 150)
    rows = zip(range(150), area, rooms, random.uniform(0.5, 2, 150), price, strict=True)
    lines = [f"{i};{a:.2f};{r};{w:.3f};{p:.3f}" for i, a, r, w, p in rows]
    return write(tmp_path / "houses.csv", "\n".join(["id;area;rooms;w;price", *lines]) + "\n")


@pytest.fixture
def saved(run: Run, flowers: Path, tmp_path: Path) -> Path:
    """A model of `flowers` in a file."""
    path = tmp_path / "flowers.sapwood"
    result = run("train", flowers, "--target", "kind", "--model", "boosting", "--set", "n_estimators=5", "--out", path)
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def saved_prices(run: Run, houses: Path, tmp_path: Path) -> Path:
    """A model of `houses` in a file."""
    path = tmp_path / "prices.sapwood"
    result = run("train", houses, "--target", "price", "--drop", "id", "--drop", "w", "--out", path)
    assert result.exit_code == 0, result.output
    return path


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path
