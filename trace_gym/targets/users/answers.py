"""Answers of a scripted user that environments can override to describe a custom user."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from trace_gym.targets.constants import frozen
from trace_gym.targets.dialogue import acts
from trace_gym.targets.dialogue.patterns import IDENTIFIER, split_sentences
from trace_gym.targets.users.patterns import ALTERNATIVES, ASKED, GREETING, INTRODUCTION
from trace_gym.targets.users.phrases import CHANGED, LACKS, REVISED
from trace_gym.world import World

__all__ = ["UserAnswers"]


@dataclass(kw_only=True)
class UserAnswers(World):
    """Part of `ScriptedUser` with the user's first message and the answers that depend on the environment."""

    questions: ClassVar[Mapping[str, re.Pattern[str]]] = frozen({})
    """Mapping from topic to a lowercase pattern of questions about the topic. Only clauses that ask something are
    searched."""

    wording: str = ""
    """The user's first message, which `generate` sets."""
    last_answer: str = ""
    """The user's last message."""

    def opening(self) -> str:
        return self.wording

    def tells(self, topic: str) -> str:
        """Return the answer to a question about a topic; empty if the user knows nothing about the topic."""
        return ""

    def restated(self) -> str:
        """Return the request in the user's words, which `chooses` repeats.

        By default, this is the user's first message without its introduction.
        """
        sentences = split_sentences(GREETING.sub("", self.opening()))
        wanted = " ".join(s for s in sentences if not INTRODUCTION.search(s)) or self.opening()
        return wanted[:1].upper() + wanted[1:]

    def chooses(self, text: str) -> str:
        """Return the answer to a choice between options, or to a question that is not about a known topic."""
        asked = " ".join(act.text for act in acts(text) if act.kind in ASKED)
        named, opening = {*IDENTIFIER.findall(asked)}, self.opening()
        known = {v for v in named if v in opening}
        wish = self.restated()
        if CHANGED in wish:
            return f"{REVISED}{wish[:1].lower()}{wish[1:]}"
        if len(known) == 1 and (len(named) > 1 or not ALTERNATIVES.search(asked)):
            return f"I mean {known.pop()}."
        return wish

    def personal(self, asked: str, topics: Sequence[str]) -> Sequence[str]:
        """Return the facts about the user that a question asks for and that no topic of `questions` covers."""
        return ()

    def does_not_know(self, topics: list[str]) -> str:
        """Return the answer to a question about topics that the user knows nothing about."""
        return self.varied(LACKS)

    def varied(self, lines: tuple[str, ...]) -> str:
        """Return the first wording in `lines` that differs from the user's last message."""
        return next((line for line in lines if line != self.last_answer), lines[0])
