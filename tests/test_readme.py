"""README.md and the pages of docs/: their Python runs and prints the output they show, and their links work."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import pytest

import sapwood

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH_OWN_TEST = {"coming-from-xgboost.md"}  # tests/estimators/test_coming_from_xgboost.py
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]+)?\)")
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Python of a page, and what it prints; "" where the page does not show it."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Links to headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {"#" + re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page) and page.name not in WITH_OWN_TEST], ids=lambda page: page.name
)
def test_blocks_run_in_their_order_and_print_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    names: dict[str, object] = {}
    for code, output in blocks(page):
        lines = [line for line in code.splitlines() if ".to_shap()" not in line]  # shap is not installed everywhere
        exec(compile("\n".join(lines), page.name, "exec"), names)
        assert capsys.readouterr().out.rstrip() == output.rstrip()


def test_the_first_block_of_the_readme_shows_its_output() -> None:
    assert blocks(PAGES[0])[0][1]


@pages
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            file = page.parent / target
            assert file.exists(), target
            assert not anchor or anchor in anchors(file), target + anchor


@pages
def test_public_names_exist(page: Path) -> None:
    for name in re.findall(r"`sapwood\.([a-z]\w*)[`(]", page.read_text(encoding="utf-8")):
        assert hasattr(sapwood, name), name


def test_the_readme_links_to_every_page() -> None:
    targets = {target for target, _ in LINK.findall(PAGES[0].read_text(encoding="utf-8"))}
    assert {f"docs/{page.name}" for page in PAGES[1:]} <= targets


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_named_for_developers_exist(page: str) -> None:
    files = [f"/{file.relative_to(ROOT).as_posix()}" for file in ROOT.glob("[!.]*/**/*") if file.is_file()]
    files += [f"/{file.name}" for file in ROOT.iterdir()]
    for name in re.findall(r"`([\w/.-]+\.(?:py|md|sh|txt|toml))`", (ROOT / page).read_text(encoding="utf-8")):
        assert any(file.endswith(f"/{name}") for file in files), name
