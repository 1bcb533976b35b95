"""Classification of questions by aim, which determines a general answer if the user's request does not contain one.

A customer does not repeat the request if the agent asks about something else. The aim tells what a question is about:
something beyond the request, circumstances of the user, a choice that the request leaves open, and so on. A linear
classifier determines it from the words of the question, the preceding clause, and the words that the question shares
with the request (`aim_weights.json`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from trace_gym.targets.dialogue.choices import content
from trace_gym.targets.dialogue.classifier import Classifier, features, words_of
from trace_gym.targets.dialogue.patterns import IDENTIFIER
from trace_gym.targets.dialogue.recognition import Act

__all__ = ["AIMS", "WEIGHTS", "Aim", "aims", "asking", "in_request", "trained"]

WEIGHTS = Path(__file__).with_name("aim_weights.json")
AIMS = {
    "K": "fact", "C": "consent", "E": "extra", "P": "private", "O": "open", "T": "doubt", "A": "alternative",
    "D": "action",
}  # fmt: skip
"""Mapping from the letters of the corpus to aims. A question asks for a fact or for the wish (`fact`), for consent or
confirmation, whether the user wants something beyond the request (`extra`), about circumstances of the user that do not
matter for the request (`private`), for a choice that the request does not contain (`open`), whether the user's words
are wrong (`doubt`), for an alternative to something that is impossible, or for an action of the user (`action`)."""
ASKING = frozenset({"request", "choice", "proposal"})
"""Kinds of dialogue acts that have an aim."""
_LONG = 4
"""Minimum length of the words of the preceding clause that are features."""
DIRECT = 2
"""Number of aims at the beginning of `AIMS` that a user answers from the request: `fact` and `consent`."""


class Aim(NamedTuple):
    """Aim of a question, and its probability."""

    name: str
    """The most probable aim. It is none of `DIRECT` if these have a lower probability than the others together."""
    probability: float
    general: float
    """Probability that the aim is none of `DIRECT`, so that a general answer fits."""


def asking(heard: Sequence[Act]) -> list[int]:
    """Return the indices of the dialogue acts that have an aim."""
    return [n for n, act in enumerate(heard) if act.kind in ASKING and act.plain]


def in_request(heard: Sequence[Act], n: int, opening: str) -> list[str]:
    """Return the features of a question in the context of its message and of the user's request.

    Args:
        heard: The dialogue acts of the message, corrected by `clarification.clarified`.
        n: Index of the question.
        opening: The user's first message.
    """
    act, kinds = heard[n], {act.kind for act in heard}
    own, known = content(act.text.lower()), content(opening.lower())
    named = IDENTIFIER.findall(act.text)
    return [
        *features(act.plain, act.question, last=False),
        *(f"<{word}" for word in (words_of(heard[n - 1].plain) if n else ()) if len(word) >= _LONG),
        *(f"~{kind}" for kind in ("refusal", "completion", "progress") if kind in kinds),
        *(["~or"] if " or " in act.text.lower() else ()),
        f"~known{min(len(own & known), 3)}",
        f"~new{min(len(own - known), 3)}",
        "~all" if own and own <= known else "~none" if not own & known else "~some",
        *([f"~named{any(name in opening for name in named):d}"] if named else ()),
    ]


@lru_cache(maxsize=4096)
def aims(heard: tuple[Act, ...], opening: str) -> tuple[Aim, ...]:
    """Return the most probable aim of each question in a message.

    Args:
        heard: The dialogue acts of the message, corrected by `clarification.clarified`.
        opening: The user's first message.
    """
    return tuple(_aim(trained().score(in_request(heard, n, opening))) for n in asking(heard))


def _aim(scores: Sequence[float]) -> Aim:
    """Return the aim of a question, given the score of each aim."""
    odds = [math.exp(score - max(scores)) for score in scores]
    general = sum(odds[DIRECT:])
    among = range(DIRECT, len(odds)) if 2 * general >= sum(odds) else range(DIRECT)
    best = max(among, key=odds.__getitem__)
    return Aim(tuple(AIMS.values())[best], odds[best] / sum(odds), general / sum(odds))


@cache
def trained() -> Classifier:
    """Return the classifier with the trained weights that this package contains."""
    return Classifier(json.loads(WEIGHTS.read_text()), len(AIMS))


trained()  # load the weights at import, because sandboxed environments cannot open files
