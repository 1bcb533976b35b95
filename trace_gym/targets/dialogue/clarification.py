"""Correction of dialogue acts that can be recognized correctly only in the context of the whole message."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from trace_gym.targets.dialogue.corrections import ALL_DONE, AS_KNOWN, ASKED, TAG, corrected_kind, is_listed
from trace_gym.targets.dialogue.question_forms import FACTUAL
from trace_gym.targets.dialogue.recognition import Act
from trace_gym.targets.dialogue.rules import ALTERNATIVES
from trace_gym.targets.dialogue.statements import labeled

__all__ = [
    "announces_work",
    "asks_whether_done",
    "clarified",
    "may_end",
    "only_checks",
    "only_confirms",
    "questions_with_context",
]

_TO = re.compile(r"To (?!.*\byour\b)")
_SO = re.compile(r"(?:so )?i(?:'ll| will| am going to)\b")
_ALTERNATIVE = re.compile(r"(?:or )?would you (?:rather|prefer) (?!not\b|wait|keep it|leave|that i)")
_bare = re.compile(
    r"^(?:what|which)(?: one| of \w+(?: two)?)?(?: would| do|'d)? (?:suits|works|is best|applies|fits|is it|"
    r"is right|you (?:prefer|like|rather))\b.{0,20}$"
)
_own_need = re.compile(
    r"^(?:\w+,? ){0,2}i(?:'ll| will)? (?:\w+ )?need (?!.*\b(?:id|e-?mail|names?|numbers?|codes?|reason|zip|"
    r"confirmation|"
    r"consent|approval|to know|from you|you to)\b)",
    re.IGNORECASE,
)
"""Pattern of a need that the agent meets without the user, as in ``I need your location, so I will switch it on``."""
_clear_refusal = re.compile(
    r"\b(?:sorry|afraid|unfortunately|cannot|can't|won't|unable|not (?:able|possible|allowed)|impossible|declin\w+|"
    r"refus\w+|(?:do|does)(?:n't| not) (?:allow|permit|let))\b",
    re.IGNORECASE,
)
_fact = re.compile(
    rf"{AS_KNOWN.pattern}|{TAG.pattern}|\bam i (?:right|correct)\b|\b(?:whether|if) (?!you\b)(?!.*\bwith you\b)"
    r".*\b(?:agrees with|correct|right|match(?:es)?)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def clarified(recognized: tuple[Act, ...]) -> tuple[Act, ...]:
    """Return the dialogue acts of a message with their labels in the context of the message, and with corrections.

    For example, a proposal that the user cannot answer with ``yes`` becomes a choice.
    """
    heard = labeled(recognized)
    made: list[Act] = []
    heading = ""
    for n, act in enumerate(heard):
        if act.kind in ("request", "transfer") and is_listed(act, heading):
            act = act._replace(kind="inform")
        heading = act.text if act.text.endswith(":") else heading
        after = heard[n + 1].text.lower() if n + 1 < len(heard) else ""
        if kind := corrected_kind(act, heard[n - 1] if n else None):
            act = act._replace(kind=kind)
        elif act.kind == "proposal":
            if (ALTERNATIVES.search(f" {after}") and after.startswith("or ")) or _ALTERNATIVE.match(after):
                act = act._replace(kind="choice", text=f"{act.text} {heard[n + 1].text}")
            elif any(one.kind == "choice" and (one.text[-1:] == ":" or one.text[-3:] == " or") for one in made):
                act = act._replace(kind="choice")
            elif FACTUAL.match(act.text):
                act = act._replace(kind="choice" if ALTERNATIVES.search(f" {act.text.lower()}") else "request")
        elif (
            act.kind == "request"
            and "?" not in act.text
            and _SO.match(after)
            and (_TO.match(act.text) or _own_need.match(act.text))
        ):  # `I need wifi, so I'll switch it on`
            act = act._replace(kind="inform")
        made.append(act)
    return tuple(made)


def asks_whether_done(heard: Sequence[Act]) -> bool:
    """Return whether a message asks if the conversation is over, as in ``Is that all?``."""
    return any(act.kind == "offer" and ALL_DONE.match(act.text) for act in heard)


def announces_work(meant: Sequence[Act]) -> bool:
    """Return whether a message ends with an announcement of work, so that the conversation is not over.

    Args:
        meant: The dialogue acts of the message, corrected by `clarified`.
    """
    kinds = [act.kind for act in meant if act.kind not in ("greeting", "inform")]
    return bool(kinds) and kinds[-1] == "hold"


def may_end(meant: Sequence[Act]) -> bool:
    """Return whether a message may end a conversation in which the user has just given consent.

    This is the case if it reports that something was done, says goodbye, or clearly refuses the request.

    Args:
        meant: The dialogue acts of the message, corrected by `clarified`.
    """
    ends = ("completion", "closing", "progress", "offer")
    return any(act.kind in ends or (act.kind == "refusal" and _clear_refusal.search(act.text)) for act in meant)


def only_checks(heard: Sequence[Act], meant: Sequence[Act]) -> bool:
    """Return whether the proposals of a message only ask if a fact is right, and do not ask for consent.

    Args:
        heard: Dialogue acts of the message as recognized.
        meant: The same dialogue acts, corrected by `clarified`.
    """
    proposed = [act for act in meant if act.kind == "proposal"]
    return (
        bool(proposed) and not any(a.kind == "proposal" for a in heard) and all(_fact.search(a.text) for a in proposed)
    )


def only_confirms(heard: Sequence[Act]) -> bool:
    """Return whether all proposals only ask to confirm a preceding choice, as in ``A or B? Please confirm``."""
    chosen = next((n for n, act in enumerate(heard) if act.kind == "choice" and act.text.endswith("?")), len(heard))
    return not any(act.kind == "proposal" and (n < chosen or "?" in act.text) for n, act in enumerate(heard))


def questions_with_context(heard: Sequence[Act]) -> str:
    """Return the questions of a message as one text, with the preceding clause if the questions depend on it."""
    asked = " ".join(act.text for act in heard if act.kind in ASKED)
    first = next(n for n, act in enumerate(heard) if act.kind in ASKED)
    before = heard[first - 1].text if first else ""
    return (
        f"{before} {asked}" if _bare.match(asked.lower()) or before.startswith(("By ", "by ", "If ", "if ")) else asked
    )
