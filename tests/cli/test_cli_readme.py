import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands() -> list[str]:
    """Lines of shell blocks that call sapwood, without their comments."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    blocks = re.findall(r"^```bash\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line.partition("#")[0] for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("sapwood ")]


def test_the_commands_of_the_pages_exist(run):
    assert len(commands()) >= 6
    for line in commands():
        command, *arguments = line.split()[1:]
        known = run(command, "--help").output
        assert all(argument in known for argument in arguments if argument.startswith("--")), line
