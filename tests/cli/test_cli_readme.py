import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_readme_exist(run):
    lines = [line for block in blocks("bash") for line in block.splitlines() if line.startswith("sapwood ")]
    assert len(lines) >= 6
    for line in lines:
        command, *arguments = line.partition("#")[0].split()[1:]
        known = run(command, "--help").output
        assert all(argument in known for argument in arguments if argument.startswith("--")), line
