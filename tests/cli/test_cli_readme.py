import re
from pathlib import Path
from typing import Any

README = Path(__file__).parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_the_readme_says(capsys):
    (code, *_), (text,) = blocks("python"), blocks("text")
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == text


def test_the_example_of_boosting_runs_on_a_file_with_strings_and_holes(tmp_path, monkeypatch):
    lines = [
        f"{'AB'[i % 2]},{'' if i % 7 == 0 else i % 24},{'yes' if i % 24 > 14 or i % 10 == 0 else 'no'}"
        for i in range(200)
    ]
    (tmp_path / "flights.csv").write_text("\n".join(["carrier,hour,late", *lines]))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    (code,) = [block for block in blocks("python") if "flights.csv" in block]
    exec(compile(code, "README.md", "exec"), names)
    assert names["model"].score(names["X"], names["y"]) > 0.7
    assert names["result"].test_curve.values.shape == (5, 200)


def test_the_commands_of_the_readme_exist(run):
    lines = [line for block in blocks("bash") for line in block.splitlines() if line.startswith("sapwood ")]
    assert len(lines) >= 6
    for line in lines:
        command, *arguments = line.partition("#")[0].split()[1:]
        known = run(command, "--help").output
        assert all(argument in known for argument in arguments if argument.startswith("--")), line
