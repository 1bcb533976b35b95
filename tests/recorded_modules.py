"""Modules as a language model answered them, from the recorded completions."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from trace_gym import registry
from trace_gym.llm.recordings import ReplayModel
from trace_gym.synthesis.llm_author import LlmAuthor
from trace_gym.synthesis.recorded import FOLDER
from trace_gym.synthesis.slots import InvalidModuleError
from trace_gym.types import Capability, Spec

WRITTEN = [n for n in registry.list_environments() if registry.manifest(n).author.startswith("llm:")]
"""Environments that a language model wrote."""


class Recorded(NamedTuple):
    """Recorded answer of a language model for an environment."""

    spec: Spec
    text: str
    author: str
    requests: int


@cache
def recorded(name: str) -> Recorded:
    """Return the module that the recorded answers give, before anybody edited it."""
    card, author = registry.manifest(name), LlmAuthor(ReplayModel(FOLDER, by_purpose=True))
    assert card.origin is not None
    capability = Capability(
        name=card.capability, description="", coverage=0, er_failed=None, er_passed=None, gap=None, analyst="given"
    )
    spec, text = author.plan(capability, card.target), ""
    for number in range(card.origin.rounds):
        try:
            text = author.revise(spec, text, "checks", (), number) if number else author.write(spec)
        except InvalidModuleError as error:
            text = error.text
    return Recorded(spec, text, author.name, len(author.completions))
