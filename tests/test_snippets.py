"""README and docs: what they install there is, and every library has its page.

The snippets of a library are run by its own tests.
"""

from __future__ import annotations

import re
import tomllib

from snippets import EXTRA, ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GUIDES = ROOT / "docs" / "guides"
SOURCES = [*PAGES, *sorted((ROOT / "trace_gym").rglob("*.py")), *sorted((ROOT / "tests" / "players").glob("*.py"))]


def test_every_extra_that_is_named_is_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {(name, source.name) for source in SOURCES for name in EXTRA.findall(source.read_text())}
    assert len(named) > 10
    assert [where for where in sorted(named) if where[0] not in extras] == []


def test_every_library_has_a_page() -> None:
    listed = re.findall(r"\]\(([\w/]+\.md)\)", (GUIDES / "adapters.md").read_text())
    assert len(listed) >= 8
    assert [page for page in listed if not (GUIDES / page).is_file()] == []
