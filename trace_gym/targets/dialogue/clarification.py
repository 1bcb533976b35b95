"""Correction of dialogue acts that can be recognized correctly only in the context of the whole message."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from trace_gym.targets.dialogue.further_wishes import asks_consent
from trace_gym.targets.dialogue.question_forms import FACTUAL
from trace_gym.targets.dialogue.recognition import Act
from trace_gym.targets.dialogue.rules import ALTERNATIVES

__all__ = [
    "asks_whether_done",
    "clarified",
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
_more = re.compile(r"\b(?:anything|something) (?:else|more|further)\b.*\?$", re.IGNORECASE)
_REPORTS = frozenset({"progress", "completion"})
_all_good = re.compile(
    r"^(?:is everything|all|everything|are we) (?:all )?(?:good|ok|okay|alright|all right|fine|"
    r"clear|settled)"
    r"(?: (?:for|with|now) ?(?:you|now|that)?)?\?$",
    re.IGNORECASE,
)
"""Pattern of a question after a report, such as ``Is everything all right?``. Such a question is not a proposal."""
_about_facts = re.compile(
    r"^(?:and |so |also |just to (?:check|be sure|confirm)[,:] )*(?:is|are|was|were|has|have|will|does|"
    r"do) (?:one|any|some|anyone|"
    r"anybody|either|someone|somebody|your|there|he|she|they|the|an?|his|her|its|their|these [a-z]+s|those [a-z]+s)\b"
    r"(?!.*\b(?:ok|okay|right|correct|fine|good|acceptable|all right|alright|agreed?|work|you (?:want|mean|"
    r"meant|need|had|"
    r"asked|would)|you'd|i (?:should|can|may)|me to)\b)",
    re.IGNORECASE,
)
"""Pattern of a yes/no question about a fact. The answer ``yes, please`` does not fit such a question."""
_moment = re.compile(
    r"\b(?:give|allow|grant) (?:me|us) (?:just )?(?:an?|one|another|two) (?:\w+ )?(?:moments?|minutes?|"
    r"seconds?|sec|bit)\b",
    re.IGNORECASE,
)
_agreement = re.compile(
    r"\b(?:need|have|wait(?:ing)? for|require) (?:a|your|the|an) (?:\w+ ){0,2}?(?:ok|okay|yes|"
    r"go-ahead|consent|"
    r"approval|confirmation|permission|agreement)\b(?! (?:numbers?|codes?|ids?|e?-?mail))|"
    r"\bgive me (?:the|a|your) (?:go|nod|word|signal|sign)\b|"
    r"\bam i (?:\w+ ){0,4}(?:right|correct)\b|"
    r"\b(?:check|see|verify|make sure) (?:that|if|whether) (?:this|that|it|these|everything|all) "
    r"(?:is|are|looks?|sounds?) (?:\w+ )?(?:right|correct|fine|ok|okay|accurate)\b|"
    r"\b(?:tell me|let me know|say|confirm|state) (?:whether|if) .*\b(?:agrees?|correct|right|match(?:es)?|ok|"
    r"okay|fine|"
    r"acceptable|consent|approve)(?: (?:with|for|to) [\w ']+)?[.?!]?$|\bam i (?:right|correct)\b|"
    r"\bis (?:that|this|it) (?:still |really |also |indeed )?(?:what|how|the one) (?:that )?you(?:'d|"
    r" would)? (?:want|mean|need|"
    r"like|had in mind|asked)\b(?! .*\bor\b)|"
    r"\bif (?:it|this|that)(?:'s| is) (?:all right|alright|ok|okay|fine|good) (?:with|for|by) you\b",
    re.IGNORECASE,
)
"""Pattern of a sentence that asks for agreement, directly or indirectly."""
_lacking = re.compile(
    r"\b(?:i|we)(?:'d|'ll| would| will)? (?:\w+ )?(?:(?:need|require)(?: to (?:know|have|ask for))?|"
    r"have to (?:know|ask for)) (?:your|the|both|an?|"
    r"his|her|their|\w+'s) .*\b(?:numbers?|e-?mail|address|names?|ids?|codes?|zip|date of birth|reason)\b"
    r"(?= (?:before|first|to|so|where|that|for|in order)\b|[.]?$)",
    re.IGNORECASE,
)
"""Pattern of a statement that the agent needs a fact. Such a statement is a request for the fact."""
_stated = re.compile(r"\bconfirm (?:the|your|this|these) [\w -]{3,40}: \S", re.IGNORECASE)
"""Pattern of a request to confirm a value that is stated after a colon."""
_long_ago = re.compile(
    r"\b(?:on the day|when you|at the time|originally|back then|in the past|last (?:week|month|year)|(?:days?|"
    r"weeks?) ago)\b",
    re.IGNORECASE,
)
"""Pattern of words that refer to a time before the conversation."""
_leaves = re.compile(r"\bleaves\b.*\b(?:to do|for me|left|to go)\b", re.IGNORECASE)
_why = re.compile(
    r"\b(?:understand|know|hear|tell me|learn|explain|see|ask|wonder\w*) (?:\w+ )?(?:why|"
    r"what) (?:\w+ )?you\b",
    re.IGNORECASE,
)
_asks_for = re.compile(r"\b(?:trouble|bother|ask) you for\b|\bi (?:ask for|borrow) your\b", re.IGNORECASE)
_purpose = re.compile(
    r"(?!.*\b(?:need|require|ask)\b)(?:so (?:that )?)?(?:i|we)(?:'ll| can| could| may| know)\b", re.IGNORECASE
)
_otherwise = re.compile(
    r"(?:and |or )?if (?:it's|it is|that's|this is) (?:an?other|a different|not|some other)\b", re.IGNORECASE
)
_ASKED = frozenset({"request", "choice"})
_looks_up = re.compile(
    r"^(?:[\w']+,? ){0,4}?(?:(?:let me|allow me to|i'll|i will|i'm going to|i am going to)(?: \w+){0,2}? "
    r"(?:check|(?:have|take|get) (?:a|another|one)(?: \w+)? (?:look|glance)|look|see (?:what|if|whether|how|which)|"
    r"pull|find|search|review|open|retrieve|fetch|go (?:over|through)|bring up|work out|figure out|double-check|"
    r"gather|get (?:the|your|all|some|what))\b|"
    r"i(?:'d like to| would like to| want to| need to| have to| must)(?: \w+){0,2}? "
    r"(?:check|(?:have|take) a(?: \w+)? look|look (?:at|into|up)|(?:make|be) sure .*\b(?:i'll|i will|so i)\b))",
    re.IGNORECASE,
)
"""Pattern of an announcement that the agent will look something up."""
_has_all = re.compile(
    r"\bi (?:now |already )?(?:have|'ve got|got) (?:all|everything|what|enough)\b.*\b(?:need|required?)\b",
    re.IGNORECASE,
)
"""Pattern of a statement that the agent has all the information that it needs."""
_not_given = re.compile(
    r"(?:n't|\bnot|\bcannot|\bnever) (?:\w+ )?(?:give|tell|show|let|send|provide|allow)s? (?:me|us)\b", re.IGNORECASE
)
"""Pattern of a statement that some information is not available to the agent."""
_own_need = re.compile(
    r"^(?:\w+,? ){0,2}i(?:'ll| will)? (?:\w+ )?need (?!.*\b(?:id|e-?mail|names?|numbers?|codes?|reason|zip|"
    r"confirmation|"
    r"consent|approval|to know|from you|you to)\b)",
    re.IGNORECASE,
)
"""Pattern of a need that the agent meets without the user, as in ``I need your location, so I will switch it on``."""
_all_done = re.compile(
    r"^(?:\W|\w+,? ){0,3}?(?:(?:is|was|will|would) (?:that|this|it)(?: then)?(?: be)? (?:all|everything|it)|"
    r"(?:have|did) (?:i|we) (?:now )?(?:cover|settle|address|do|take care of|answer)\w*(?: \w+)? (?:everything|all)|"
    r"(?:does|did) (?:that|this) (?:settle|cover|take care of|complete) (?:\w+ )?(?:everything|all|it|your \w+)|"
    r"are (?:we|you) (?:all )?(?:good|done|set|all set|finished))"
    r"(?: (?:for|from|with|on) (?:\w+ )?\w+| then| now| today| (?:that )?you (?:need|want|wish)\w*|"
    r" i can do\b.*)*\W*$",
    re.IGNORECASE,
)
"""Pattern of a question that asks whether the conversation is over."""
_happy = re.compile(
    r"^(?:and |so )?(?:are you|is everything|is all) (?:\w+ )?(?:happy|satisfied|pleased|content|clear|okay|ok|"
    r"fine|good)\b"
    r"(?! (?:to|for me|if|about|when)\b)",
    re.IGNORECASE,
)
_add = re.compile(
    r"\b(?:is|was) there (?:any )?more\b|"
    r"\b(?:anything|something|any other \w+|another (?:matter|thing|request|question|trip|order|reservation)|"
    r"any(?:thing)? other)\b.*\b(?:add|ask|look at|help|do|know|say|mention|raise)\b.*(?:\?|\w)$|"
    r"\bjust (?:say|tell me|let me know)(?: so)?\W+(?:is there|are there)\?$|^(?:\W|is there|are there)+\?$",
    re.IGNORECASE,
)
"""Pattern of an offer of further help."""
_settle = re.compile(
    r"\b(?:whether|if)\b.{3,}\bor\b (?!not\b|no\b|if\b|(?:any|some)(?:thing|one|body)?\b|more\b|less\b|so\b|two\b|"
    r"(?:refund|charge|credit)\b)|"
    r"\?*, or (?:does|do|is|are|should|shall|would|will|has|have|did|was) (?:that|this|it|they|these|those|you|i|"
    r"the|there)\b"
    r"(?!.*\b(?:else|anything|something|questions?|objections?|wrong|problems?|your mind|concerns?|hold off|wait)\b)",
    re.IGNORECASE,
)
"""Pattern of a choice between two alternatives, in a sentence that resembles a request for consent."""
_tag = re.compile(
    r", (?:right|correct|yes|(?:is|was|did|do|does|are|were|have|has|would|should)n't (?:it|you|that|they|this|i|"
    r"we))\?*$",
    re.IGNORECASE,
)
"""Pattern of a tag question after a statement: ``This is yours, isn't it?``."""
_as_known = re.compile(
    r"\b(?:if|whether) (?:that|this|it|these|those|all(?: of)? (?:that|this))(?:'s| is| are)? (?:\w+ )?"
    r"(?:as|how|what) you (?:\w+ )?(?:remember|recall|know|expect|have|had|described?|wrote|said|told|meant|see)\w*|"
    r"\bif i(?:'ve| have)? (?:got|misread|misunderst\w+|made|missed|mixed)\b|"
    r"\bif (?:any|anything|something|one)\b.{0,30}\b(?:wrong|incorrect|off|not right|amiss|mistaken|"
    r"needs correct\w+)\b",
    re.IGNORECASE,
)
"""Pattern of a request that the user check statements of the agent."""

_fact = re.compile(
    rf"{_as_known.pattern}|{_tag.pattern}|\bam i (?:right|correct)\b|\b(?:whether|if) (?!you\b)(?!.*\bwith you\b)"
    r".*\b(?:agrees with|correct|right|match(?:es)?)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def clarified(heard: tuple[Act, ...]) -> tuple[Act, ...]:
    """Return the corrected dialogue acts of a message.

    For example, a proposal that the user cannot answer with ``yes`` becomes a choice.
    """
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
            act.kind == "request"
            and "?" not in act.text
            and _SO.match(after)
            and (_TO.match(act.text) or _own_need.match(act.text))
        ):  # `I need wifi, so I'll switch it on`
            act = act._replace(kind="inform")
        made.append(act)
    return tuple(made)


def _meant_as(act: Act, before: Act | None) -> str:
    """Return the corrected kind of a dialogue act, or `""` if the recognized kind is right.

    Args:
        act: The dialogue act.
        before: The preceding dialogue act of the message, if any.
    """
    kind, text = act.kind, act.text
    after_report = before is not None and before.kind in _REPORTS
    after_question = before is not None and before.kind in _ASKED
    tells = kind in ("inform", "hold", "progress")
    asks = kind in _ASKED or kind == "proposal"
    taken: tuple[tuple[str, bool], ...] = (
        ("hold", bool(_moment.search(text))),
        ("proposal", kind == "offer" and asks_consent(text, after_report)),
        ("hold", asks and "?" not in text and bool(_looks_up.match(text))),
        ("inform", asks and "?" not in text and bool(_has_all.search(text))),
        ("refusal", asks and "?" not in text and bool(_not_given.search(text))),
        ("offer", kind not in _REPORTS and bool(_all_done.match(text))),
        ("offer", asks and after_report and bool(_happy.match(text))),
        ("offer", asks and bool(_add.search(text))),
        ("choice", kind == "proposal" and bool(_settle.search(text))),
        ("proposal", (kind in ("inform", *_ASKED)) and bool(_tag.search(text) or _as_known.search(text))),
        ("offer", kind == "inform" and bool(_more.search(text))),
        ("offer", kind == "proposal" and after_report and bool(_all_good.match(text))),
        ("request", kind == "inform" and text.endswith("?") and len(text.split()) > 2),
        ("request", kind == "proposal" and bool(_about_facts.match(text))),
        ("proposal", (tells or kind in (*_ASKED, "completion")) and bool(_agreement.search(text))),
        ("proposal", kind == "request" and bool(_stated.search(text))),
        ("request", tells and bool(_lacking.search(text))),
        ("inform", kind == "completion" and bool(_long_ago.search(text))),
        ("progress", kind == "completion" and bool(_leaves.search(text))),
        ("request", kind == "refusal" and bool(_why.search(text))),
        ("request", kind == "proposal" and "permission" not in text and bool(_asks_for.search(text))),
        ("inform", kind == "request" and after_question and bool(_purpose.match(text))),
        ("inform", kind == "request" and before is not None and bool(_otherwise.match(before.text))),
    )
    return next((meant for meant, holds in taken if holds), "")


def asks_whether_done(heard: Sequence[Act]) -> bool:
    """Return whether a message asks if the conversation is over, as in ``Is that all?``."""
    return any(act.kind == "offer" and _all_done.match(act.text) for act in heard)


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
    asked = " ".join(act.text for act in heard if act.kind in _ASKED)
    first = next(n for n, act in enumerate(heard) if act.kind in _ASKED)
    before = heard[first - 1].text if first else ""
    return (
        f"{before} {asked}" if _bare.match(asked.lower()) or before.startswith(("By ", "by ", "If ", "if ")) else asked
    )
