"""What the clauses of a message are meant as, where their wording alone misleads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trace_gym.targets.dialogue import Act
from trace_gym.targets.dialogue.questions import FACTUAL
from trace_gym.targets.dialogue.rules import ALTERNATIVES

__all__ = ["clarified", "only_checks", "only_confirms", "whole"]

_TO = re.compile(r"To (?!.*\byour\b)")
_SO = re.compile(r"(?:so )?i(?:'ll| will| am going to)\b")
_ALTERNATIVE = re.compile(r"(?:or )?would you (?:rather|prefer) (?!not\b|wait|keep it|leave|that i)")
_bare = re.compile(
    r"^(?:what|which)(?: one| of \w+(?: two)?)?(?: would| do|'d)? (?:suits|works|is best|applies|fits|is it|"
    r"is right|you (?:prefer|like|rather))\b.{0,20}$"
)
_more = re.compile(r"\b(?:anything|something) (?:else|more|further)\b.*\?$", re.IGNORECASE)
_REPORTS = frozenset({"progress", "completion"})
_all_good = re.compile(
    r"^(?:is everything|all|everything|are we) (?:all )?(?:good|ok|okay|alright|all right|fine|"
    r"clear|settled)"
    r"(?: (?:for|with|now) ?(?:you|now|that)?)?\?$",
    re.IGNORECASE,
)
"""Asks after a report whether it is fine, which proposes nothing."""
_about_facts = re.compile(
    r"^(?:and |so |also |just to (?:check|be sure|confirm)[,:] )*(?:is|are|was|were|has|have|will|does|"
    r"do) (?:one|any|some|anyone|"
    r"anybody|either|someone|somebody|your|there|he|she|they)\b"
    r"(?!.*\b(?:ok|okay|right|correct|fine|good|acceptable|all right|alright|agreed?|work|you (?:want|mean|"
    r"meant|need|had|"
    r"asked|would)|you'd|i (?:should|can|may)|me to)\b)",
    re.IGNORECASE,
)
"""Asks yes or no about a fact, to which `yes, please` is no answer."""
_moment = re.compile(
    r"\b(?:give|allow|grant) (?:me|us) (?:just )?(?:an?|one|another|two) (?:\w+ )?(?:moments?|minutes?|"
    r"seconds?|sec|bit)\b",
    re.IGNORECASE,
)
_agreement = re.compile(
    r"\b(?:tell me|let me know|say|confirm|state) (?:whether|if) .*\b(?:agrees?|correct|right|match(?:es)?|ok|"
    r"okay|fine|"
    r"acceptable|consent|approve)(?: (?:with|for|to) [\w ']+)?[.?!]?$|\bam i (?:right|correct)\b|"
    r"\bis (?:that|this|it) (?:still |really |also |indeed )?(?:what|how|the one) (?:that )?you(?:'d|"
    r" would)? (?:want|mean|need|"
    r"like|had in mind|asked)\b(?! .*\bor\b)|"
    r"\bif (?:it|this|that)(?:'s| is) (?:all right|alright|ok|okay|fine|good) (?:with|for|by) you\b",
    re.IGNORECASE,
)
"""Asks for agreement, in whatever form."""
_fact = re.compile(
    r"\bam i (?:right|correct)\b|\b(?:whether|if) (?!you\b)(?!.*\bwith you\b)"
    r".*\b(?:agrees with|correct|right|match(?:es)?)\b",
    re.IGNORECASE,
)
_lacking = re.compile(
    r"\b(?:i|we)(?:'d|'ll| would| will)? (?:\w+ )?(?:(?:need|require)(?: to (?:know|have|ask for))?|"
    r"have to (?:know|ask for)) (?:your|the|both|an?|"
    r"his|her|their|\w+'s) .*\b(?:numbers?|e-?mail|address|names?|ids?|codes?|zip|date of birth|reason)\b"
    r"(?= (?:before|first|to|so|where|that|for|in order)\b|[.]?$)",
    re.IGNORECASE,
)
"""Says that a fact is needed, which asks for it."""
_purpose = re.compile(
    r"(?!.*\b(?:need|require|ask)\b)(?:so (?:that )?)?(?:i|we)(?:'ll| can| could| may| know)\b", re.IGNORECASE
)
_otherwise = re.compile(
    r"(?:and |or )?if (?:it's|it is|that's|this is) (?:an?other|a different|not|some other)\b", re.IGNORECASE
)
_ASKED = frozenset({"request", "choice"})


def clarified(heard: Sequence[Act]) -> tuple[Act, ...]:
    """Return the acts; a proposal that `yes` does not answer becomes a choice or a question for a fact."""
    made: list[Act] = []
    for n, act in enumerate(heard):
        after = heard[n + 1].text.lower() if n + 1 < len(heard) else ""
        if kind := _meant_as(act, heard[n - 1] if n else None):
            act = act._replace(kind=kind)
        elif act.kind == "proposal":
            if (ALTERNATIVES.search(f" {after}") and after.startswith("or ")) or _ALTERNATIVE.match(after):
                act = act._replace(kind="choice", text=f"{act.text} {heard[n + 1].text}")
            elif any(one.kind == "choice" and (one.text[-1:] == ":" or one.text[-3:] == " or") for one in made):
                act = act._replace(kind="choice")
            elif FACTUAL.match(act.text):
                act = act._replace(kind="choice" if ALTERNATIVES.search(f" {act.text.lower()}") else "request")
        elif (
            act.kind == "request" and "?" not in act.text and _SO.match(after) and _TO.match(act.text)
        ):  # `I need wifi, so I'll switch it on`
            act = act._replace(kind="inform")
        made.append(act)
    return tuple(made)


def _meant_as(act: Act, before: Act | None) -> str:
    """Return the kind of act that a clause is for the user; empty if it is what it was recognized as."""
    kind, text = act.kind, act.text
    after_report = before is not None and before.kind in _REPORTS
    after_question = before is not None and before.kind in _ASKED
    tells = kind in ("inform", "hold", "progress")
    taken: tuple[tuple[str, bool], ...] = (
        ("hold", bool(_moment.search(text))),
        ("offer", kind == "inform" and bool(_more.search(text))),
        ("offer", kind == "proposal" and after_report and bool(_all_good.match(text))),
        ("request", kind == "inform" and text.endswith("?") and len(text.split()) > 2),
        ("request", kind == "proposal" and bool(_about_facts.match(text))),
        ("proposal", (tells or kind in (*_ASKED, "completion")) and bool(_agreement.search(text))),
        ("request", tells and bool(_lacking.search(text))),
        ("inform", kind == "request" and after_question and bool(_purpose.match(text))),
        ("inform", kind == "request" and before is not None and bool(_otherwise.match(before.text))),
    )
    return next((meant for meant, holds in taken if holds), "")


def only_checks(heard: Sequence[Act], meant: Sequence[Act]) -> bool:
    """Return whether what was taken for a proposal asks whether a fact is right, and so for no consent to a change."""
    proposed = [act for act in meant if act.kind == "proposal"]
    return (
        bool(proposed) and not any(a.kind == "proposal" for a in heard) and all(_fact.search(a.text) for a in proposed)
    )


def only_confirms(heard: Sequence[Act]) -> bool:
    """Return whether all proposals only ask to confirm a choice before them: ``A or B? Please confirm.``."""
    chosen = next((n for n, act in enumerate(heard) if act.kind == "choice" and act.text.endswith("?")), len(heard))
    return not any(act.kind == "proposal" and (n < chosen or "?" in act.text) for n, act in enumerate(heard))


def whole(heard: Sequence[Act]) -> str:
    """Return the clauses that ask, with the one before them where they mean nothing without it."""
    asked = " ".join(act.text for act in heard if act.kind in _ASKED)
    first = next(n for n, act in enumerate(heard) if act.kind in _ASKED)
    before = heard[first - 1].text if first else ""
    return (
        f"{before} {asked}" if _bare.match(asked.lower()) or before.startswith(("By ", "by ", "If ", "if ")) else asked
    )
