"""Environments that a language model wrote: its answers give the committed modules, and the page the figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from trace_gym import registry
from trace_gym.llm.recordings import Recordings, Replay
from trace_gym.synthesize.llm_author import LlmAuthor
from trace_gym.synthesize.slots import Unwritable
from trace_gym.types import Capability, Manifest, sha256
from trace_gym.validate import PROPERTIES

ROOT = Path(__file__).resolve().parents[1]
CHARACTERS = 4
"""About as many make a token."""
COMPLETIONS = ROOT / "tests" / "data" / "completions"
WRITTEN = [n for n in registry.names() if registry.manifest(n).author.startswith("llm:")]


@pytest.fixture(scope="module")
def model() -> Replay:
    return Replay(COMPLETIONS, by_purpose=True)


def test_eight_environments_or_more_are_a_language_models() -> None:
    assert len(WRITTEN) >= 8


@pytest.mark.parametrize("name", WRITTEN)
def test_the_committed_module_is_what_the_model_answered(name: str, model: Replay) -> None:
    card, author = registry.manifest(name), LlmAuthor(model)
    assert card.origin is not None
    capability = Capability(
        name=card.capability, description="", coverage=0, er_failed=None, er_passed=None, gap=None, analyst="given"
    )
    spec, text = author.plan(capability, card.target), ""
    assert (spec, spec.sha256) == (card.spec, card.spec_sha256)
    for number in range(card.origin.rounds):
        try:
            text = author.revise(spec, text, "checks", (), number) if number else author.write(spec)
        except Unwritable as error:
            text = error.text
    assert text == registry.module_path(name).read_text()
    assert author.name == card.author
    assert len(author.spent) == card.origin.requests


@pytest.mark.parametrize("name", WRITTEN)
def test_the_manifest_is_of_the_committed_module_and_says_what_was_found(name: str) -> None:
    card, path = registry.manifest(name), registry.module_path(name)
    assert card.module_sha256 == sha256(path.read_bytes())
    assert card.fingerprint == registry.fingerprint(registry.load(name))
    assert card.report.passed and card.report.profile == "gate"
    assert {f.code for f in card.report.findings} == PROPERTIES.keys()


@pytest.mark.parametrize("name", WRITTEN)
def test_the_page_states_what_it_took(name: str) -> None:
    page = (ROOT / "docs" / "written.md").read_text()
    assert row(registry.manifest(name)) in page, "docs/written.md: put in the row above"


def row(card: Manifest) -> str:
    """The row of an environment on the page."""
    assert card.origin is not None
    asked, told = spoken(card.id, card.origin.rounds)
    failed = ", ".join(card.origin.failed_first) or "nothing"
    lines = len(registry.module_path(card.id).read_text().splitlines())
    tokens = round((asked + told) / CHARACTERS)
    return f"| `{card.id}` | {card.origin.rounds} | {failed} | {asked} | {told} | {tokens} | {lines} |"


def spoken(name: str, rounds: int) -> tuple[int, int]:
    """How many thousand characters the model read and wrote for an environment."""
    purposes = {f"plan {name}", f"write {name}", *(f"repair {n} {name}" for n in range(1, rounds))}
    own = [r for r in Recordings(COMPLETIONS).read_all() if r.request.purpose in purposes]
    asked = sum(len(str(m["content"])) for r in own for m in r.request.messages)
    return round(asked / 1000), round(sum(len(r.completion.text) for r in own) / 1000)
