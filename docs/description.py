"""MkDocs hook: describes each page for search engines by its first paragraph, not by the text about the whole site."""

from __future__ import annotations

import html
import re
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

FENCE = re.compile(r"^```.*?^```$", flags=re.S | re.M)
PARAGRAPH = re.compile(r"^(?=[\w`*\[]).+?(?=\n\s*\n|\Z)", flags=re.S | re.M)
LENGTH = 200


def on_page_markdown(markdown: str, page: Page, **_: Any) -> None:
    """Set the description of a page that sets none itself."""
    if text := description(markdown):
        page.meta.setdefault("description", html.escape(text))


def description(markdown: str) -> str:
    """Return the first paragraph of a page as plain text, shortened to `LENGTH`; empty if the page has none."""
    if (found := PARAGRAPH.search(FENCE.sub("", markdown))) is None:
        return ""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found[0])
    return textwrap.shorten(re.sub(r"[`*]", "", text), LENGTH, placeholder=" ...")
