"""docs/guides/llm.md names the stages that ask a language model, and no others."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_page_names_exactly_the_stages_that_ask_a_language_model() -> None:
    page = (ROOT / "docs" / "guides" / "llm.md").read_text()
    intro = page.partition("\n## ")[0].partition("|")[0]
    rooms = [p for p in (ROOT / "trace_gym").iterdir() if p.is_dir() and p.name not in ("llm", "cli", "pipeline")]
    imported = re.compile(
        r"^\s*(from|import) trace_gym\.llm\b(?!\.(?:quoting|model_uri|dialect|retries|ledger|budget|opening|request))"
        r"|from trace_gym import .*\bllm\b",
        re.MULTILINE,
    )
    asking = {room.name for room in rooms if any(imported.search(p.read_text()) for p in room.rglob("*.py"))}
    pages = {
        "synthesis": "synthesize",
        "diagnosis": "diagnose_with_a_model",
        "review": "validate",
    }  # packages are nouns, and guides have the names of commands
    assert {pages.get(name, name) for name in asking} == set(re.findall(r"\(([a-z_]+)\.md\)", intro))
