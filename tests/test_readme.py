"""README.md works as printed in a clean directory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from snippets import ROOT, blocks, python, shell

from trace_gym import registry

README = (ROOT / "README.md").read_text(encoding="utf-8")
PLAY, VALIDATE, TRL = blocks("README.md", "python")
LIMITS = (ROOT / "docs" / "explanation" / "limits.md").read_text(encoding="utf-8")


BASH = [*blocks("README.md", "bash"), *blocks("docs/guides/index.md", "bash")]


# The commands for a real model run in test_afternoon, with another model in its place.
@pytest.mark.parametrize("block", [block for block in BASH if "name: Qwen" not in block])
def test_commands_run_in_a_clean_directory(block: str, tmp_path: Path) -> None:
    assert shell(block, tmp_path).strip()


def test_python_example_plays_a_turn(tmp_path: Path) -> None:
    assert python(PLAY + "\nprint(observation)", tmp_path).strip()


def test_validation_example_passes(tmp_path: Path) -> None:
    assert python(VALIDATE, tmp_path) == "True []\n"


def test_trl_example_trains_a_step(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    python(TRL, tmp_path)


GENERATED = re.findall(r'yield f?"(reference/[^"]+)"', (ROOT / "docs" / "generate.py").read_text(encoding="utf-8"))
"""Pages that exist only in the site; its strict build checks the links to them."""


def test_links_lead_to_files() -> None:
    assert len(GENERATED) >= 6
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M)):
            if not link.startswith(("https://", "http://", "#")):
                target = (page.parent / link.partition("#")[0]).resolve()
                generated = target in [ROOT / "docs" / path for path in GENERATED]
                assert generated or target.exists(), f"{page.name}: {link}"


def test_links_to_a_heading_lead_to_one() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for path, anchor in re.findall(r"\]\(([\w/.]*)#([\w-]+)\)", page.read_text()):
            text = (page.parent / path if path else page).read_text()
            headings = {
                re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)
            }
            assert anchor in headings or f'id="{anchor}"' in text, f"{page.name}: {path}#{anchor}"


def test_environments_of_the_table_exist_with_their_levels() -> None:
    page = (ROOT / "docs" / "reference" / "environments.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `trace/([a-z0-9-]+)-v0`[^|]*\|[^|]*\| (\d) \|", page, flags=re.M)
    assert len(rows) >= 10
    for name, levels in rows:
        assert registry.level_count(name.replace("-", "_")) == int(levels)


def test_terms_are_defined_before_they_are_used() -> None:
    text = " ".join(re.sub(r"^```.*?^```$", "", README, flags=re.S | re.M).split())
    for term in ("capability", "scenario", "oracle", "ablated expert", "adapter", "router", "target"):
        assert text.lower().index(term) == text.index(f"**{term}**") + 2, f"{term} is used before it is defined"


def test_results_are_those_of_the_page_about_the_toy_model() -> None:
    table = LIMITS[LIMITS.index("| condition |") : LIMITS.index("**How to read this table:**")]
    page = (ROOT / "docs" / "notes" / "lab.md").read_text(encoding="utf-8")
    assert len(cells(table)) == 14, "seven conditions on two levels"
    assert [cell for cell in cells(table) if cell not in page] == []
    for condition in ("base", "single adapter", "random", "routed by", "oracle", "mixture", "GRPO on the target"):
        assert condition in table


def test_short_results_of_the_readme_have_the_strongest_baseline_and_a_random_control() -> None:
    table = README[README.index("| condition |") : README.index("## Documentation")]
    assert len(cells(table)) == 8, "four conditions on two levels"
    assert [cell for cell in cells(table) if cell not in cells(LIMITS)] == []
    for condition in ("base", "random", "routed by", "GRPO on the target"):
        assert condition in table


def cells(text: str) -> list[str]:
    """Return the rates with intervals in a table."""
    return re.findall(r"\d+\.\d \(\d+\.\d to \d+\.\d\)", text.replace("*", ""))
