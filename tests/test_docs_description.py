"""Each page of the site has its own description for search engines."""

from __future__ import annotations

import importlib.util
from collections import Counter

from snippets import ROOT

spec = importlib.util.spec_from_file_location("docs_description", ROOT / "docs" / "description.py")
assert spec and spec.loader
hook = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hook)


def test_description_is_the_first_paragraph_as_plain_text() -> None:
    page = "# Title\n\n```sh\nmake demo\n```\n\n- a list\n\nThe **command**\n[`trace-gym run`](run.md) runs.\n\nMore.\n"
    assert hook.description(page) == "The command trace-gym run runs."
    assert hook.description("# Title\n\n| a | b |\n|---|---|\n") == ""


def test_long_description_ends_between_two_words() -> None:
    text = hook.description("word " * 100)
    assert len(text) <= hook.LENGTH and text.endswith("word ...")


def test_every_page_has_its_own_description() -> None:
    pages = {page: hook.description(page.read_text(encoding="utf-8")) for page in (ROOT / "docs").rglob("*.md")}
    counts = Counter(pages.values())
    assert [page.name for page, text in pages.items() if not text or counts[text] > 1] == []
