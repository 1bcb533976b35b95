"""README.md works as printed in a clean directory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from snippets import ROOT, blocks, python, shell

from trace_gym import registry

README = (ROOT / "README.md").read_text(encoding="utf-8")
PLAY, TRL, SKYRL = blocks("README.md", "python")
"""The third block runs in test_skyrl.py."""


@pytest.mark.parametrize("block", blocks("README.md", "bash"))
def test_commands_run_in_a_clean_directory(block: str, tmp_path: Path) -> None:
    assert shell(block, tmp_path).strip()


def test_python_example_plays_a_turn(tmp_path: Path) -> None:
    assert python(PLAY + "\nprint(observation)", tmp_path).strip()


def test_trl_example_trains_a_step(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    python(TRL, tmp_path)


def test_links_lead_to_files() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M)):
            if not link.startswith(("https://", "http://", "#")):
                assert (page.parent / link.partition("#")[0]).exists(), f"{page.name}: {link}"


def test_links_to_a_heading_lead_to_one() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for path, anchor in re.findall(r"\]\(([\w/.]*)#([\w-]+)\)", page.read_text()):
            text = (page.parent / path if path else page).read_text()
            headings = {
                re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)
            }
            assert anchor in headings or f'id="{anchor}"' in text, f"{page.name}: {path}#{anchor}"


def test_environments_of_the_table_exist_with_their_levels() -> None:
    rows = re.findall(r"^\| `trace/([a-z0-9-]+)-v0`[^|]*\|[^|]*\| (\d) \|", README, flags=re.M)
    assert len(rows) >= 10
    for name, levels in rows:
        assert registry.level_count(name.replace("-", "_")) == int(levels)


def test_terms_are_defined_before_they_are_used() -> None:
    text = " ".join(re.sub(r"^```.*?^```$", "", README, flags=re.S | re.M).split())
    for term in ("capability", "scenario", "oracle", "ablated expert", "adapter", "router", "target"):
        assert text.lower().index(term) == text.index(f"**{term}**") + 2, f"{term} is used before it is defined"


def test_results_are_those_of_the_page_about_the_toy_model() -> None:
    table = README[README.index("| condition |") : README.index("**How to read this table:**")]
    page = (ROOT / "docs" / "lab.md").read_text(encoding="utf-8")
    cells = re.findall(r"\d+\.\d \(\d+\.\d to \d+\.\d\)", table.replace("*", ""))
    assert len(cells) == 14, "seven conditions on two levels"
    assert [cell for cell in cells if cell not in page] == []
    for condition in ("base", "single adapter", "random", "routed by", "oracle", "mixture", "GRPO on the target"):
        assert condition in table
