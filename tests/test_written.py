"""Tests of the environments that a language model wrote: recorded answers, manifests and documentation agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded_modules import WRITTEN, recorded

from trace_gym import registry
from trace_gym.llm.recordings import Recordings
from trace_gym.synthesis.recorded import FOLDER
from trace_gym.types import Manifest, sha256
from trace_gym.validation import PROPERTIES

ROOT = Path(__file__).resolve().parents[1]
CHARACTERS = 4
"""About as many make a token."""


def test_eight_environments_or_more_are_a_language_models() -> None:
    assert len(WRITTEN) >= 8


@pytest.mark.parametrize("name", WRITTEN)
def test_recorded_answers_reproduce_first_admitted_module(name: str) -> None:
    card, made = registry.manifest(name), recorded(name)
    assert card.origin is not None
    assert (made.spec, made.spec.sha256) == (card.spec, card.spec_sha256)
    assert sha256(made.text.encode()) == (card.origin.module_sha256 or card.module_sha256)
    assert (made.author, made.requests) == (card.author, card.origin.requests)


@pytest.mark.parametrize("name", WRITTEN)
def test_manifest_matches_committed_module(name: str) -> None:
    card, path = registry.manifest(name), registry.module_path(name)
    assert card.module_sha256 == sha256(path.read_bytes())
    assert card.fingerprint == registry.fingerprint(registry.load_world(name))
    assert card.report.passed and card.report.profile == "gate"
    assert {f.code for f in card.report.findings} == PROPERTIES.keys()


@pytest.mark.parametrize("name", WRITTEN)
def test_documentation_matches_origins_in_manifests(name: str) -> None:
    page = (ROOT / "docs" / "reference" / "written.md").read_text()
    assert row(registry.manifest(name)) in page, "docs/reference/written.md: put in the row above"


def row(card: Manifest) -> str:
    """Return the table row of an environment in the documentation."""
    assert card.origin is not None
    asked, told = spoken(card.id, card.origin.rounds)
    failed = ", ".join(card.origin.failed_first) or "nothing"
    lines = len(recorded(card.id).text.splitlines())
    tokens = round((asked + told) / CHARACTERS)
    return f"| `{card.id}` | {card.origin.rounds} | {failed} | {asked} | {told} | {tokens} | {lines} |"


def spoken(name: str, rounds: int) -> tuple[int, int]:
    """Return the number of characters, in thousands, that the model read and wrote for an environment."""
    purposes = {f"plan {name}", f"write {name}", *(f"repair {n} {name}" for n in range(1, rounds))}
    own = [r for r in Recordings(FOLDER).read_all() if r.request.purpose in purposes]
    asked = sum(len(str(m["content"])) for r in own for m in r.request.messages)
    return round(asked / 1000), round(sum(len(r.completion.text) for r in own) / 1000)
