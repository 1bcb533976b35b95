"""Choice of a general answer to a question that the user's request does not answer, by the aim of the question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trace_gym.targets.dialogue import Act
from trace_gym.targets.dialogue.aims import ASKING, Aim, aims
from trace_gym.targets.dialogue.choices import content, decides
from trace_gym.targets.dialogue.further_wishes import asks_consent
from trace_gym.targets.dialogue.patterns import IDENTIFIER
from trace_gym.targets.users.patterns import ASKED
from trace_gym.targets.users.phrases import BEYOND, FIXED, MEANT, ON_FILE, UNDECIDED

__all__ = ["adds_facts", "general_aim", "is_open", "refused_aim"]

LIKELY, SURE = 0.5, 0.9
"""Minimum probabilities of an aim: to replace an answer that contains no new fact, and to replace any other answer."""
_SPECIAL = frozenset(
    line
    for form in ("another", "any", "both", "complete", "details", "entire", "only", "party", "proof", "unwanted")
    for line in BEYOND[form]
)
"""Answers to questions of a form that is recognized reliably."""
_PLAIN = frozenset({"addres", "also", "different", "instea", "number", "well"})
"""Words, shortened as by `content`, that do not make an answer or a question about something new."""
_lacking = re.compile(r"\bI (?:do not have|have no|do not know|cannot|could not)\b[^.]*\.")
"""Pattern of a sentence that states what the user does not know or have."""
_name = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_REFUSED = frozenset({"doubt", "action", "extra", "private"})
"""Aims of proposals to which a user does not consent."""


def general_aim(heard: Sequence[Act], opening: str, answer: str) -> str:
    """Return the aim of the questions in a message if a general answer fits better than the given one, else `""`.

    Args:
        heard: The dialogue acts of the message, corrected by `clarified`.
        opening: The user's first message.
        answer: The answer that the user would give otherwise. It is kept if it contains a fact that is not in the
            first message.
    """
    found = _aims(heard, opening)
    asked = [(act, aim) for act, aim in found if act.kind in ASKED]
    if len(asked) < len(found) or not asked or answer in _SPECIAL or adds_facts(answer, opening):
        return ""
    if all(aim.name == "consent" and aim.probability >= SURE and " or " not in act.text for act, aim in asked):
        return "consent"
    if any(aim.general < (SURE if aim.name in _REFUSED and not act.question else LIKELY) for act, aim in asked):
        return ""
    name = asked[0][1].name
    if name == "extra" and not any(" or " in act.text for act, _ in asked):
        return "unwanted"
    decided = (
        name == "open" and not answer.startswith(MEANT) and any(decides(a.text.lower(), opening) for a, _ in asked)
    )
    return "" if decided else name


def refused_aim(heard: Sequence[Act], opening: str) -> str:
    """Return the aim of the proposals in a message if they are about something that the user did not ask for.

    Return `""` if the user may consent to one of them.
    """
    found = _aims(heard, opening)
    proposed = [(act, aim) for act, aim in found if act.kind == "proposal"]
    if len(proposed) < len(found) or not all(_is_refused(act, aim, opening) for act, aim in proposed):
        return ""
    return proposed[0][1].name if proposed else ""


def is_open(heard: Sequence[Act], opening: str) -> bool:
    """Return whether a message asks for a choice that the request leaves open."""
    return any(aim.name == "open" and aim.probability >= LIKELY for _, aim in _aims(heard, opening))


def adds_facts(answer: str, opening: str) -> bool:
    """Return whether an answer contains a fact that is not in the user's first message."""
    for line in (*FIXED, *UNDECIDED, *ON_FILE, MEANT):
        answer = answer.replace(line, "")
    new = content(_lacking.sub("", answer).lower()) - content(opening.lower()) - _PLAIN
    return bool(new) or any(name not in opening for name in _name.findall(answer))


def _aims(heard: Sequence[Act], opening: str) -> list[tuple[Act, Aim]]:
    """Return the questions of a message, each with its aim."""
    every = [act for act in heard if act.kind in ASKING and act.plain]
    return [*zip(every, aims(tuple(heard), opening), strict=True)]


def _is_refused(act: Act, aim: Aim, opening: str) -> bool:
    """Return whether the user does not consent to a proposal, because it is surely about something else."""
    new = content(act.text.lower()) - content(opening.lower()) - _PLAIN
    named = any(name in opening for name in IDENTIFIER.findall(act.text))
    refused = aim.name in _REFUSED and aim.probability >= SURE and bool(new) and not named
    return refused and not asks_consent(act.text)
