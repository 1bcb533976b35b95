"""Patterns that a scripted user recognizes in the agent's messages and in the user's own first message."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trace_gym.targets.constants import frozen
from trace_gym.targets.dialogue.patterns import NEGATED

__all__ = [
    "ABOUT_REASON", "ALTERNATIVES", "ASKED", "CONTINUES", "ENDING", "GREETING", "IDENTITY_TOPICS",
    "INTRODUCTION", "NEEDED_TOPICS", "OFFERS_MEANINGS", "ONE_BY_ONE", "ON_A_DAY", "OTHER_HELPER", "OWN_WORK",
    "PAYMENT_METHOD", "PERSONAL_FACT", "PROFILE", "REQUIREMENT", "SETTLED", "STORED_METHOD", "TOPIC_WORDINGS",
    "TOTAL", "VERIFIES", "WHICH_APPLIES", "WHO_IS_ASKING", "is_same_thing", "only_not_found", "repeats_value",
    "rules_out_others",
]  # fmt: skip

ASKED = frozenset({"request", "choice"})
"""Kinds of dialogue acts that ask for a fact or for a choice."""
IDENTITY_TOPICS = ("user_id", "identity")
NEEDED_TOPICS = (*IDENTITY_TOPICS, "reason", "reservation", "order")
"""Topics that a refusal may name as missing, as in ``I cannot open it without your id``."""

WHO_IS_ASKING = re.compile(
    r"\b(?:codes?|characters?|full number|reference|ids?|identifier|account|profile|customer|user)\b"
)
"""Pattern of a question that asks who the user is or which record is meant. Separate rules answer such questions."""
WHICH_APPLIES = re.compile(r"\bwhich (?:one )?(?:applies|fits|is (?:it|right|true|correct))\b", re.IGNORECASE)
ONE_BY_ONE = re.compile(
    r"\bor (?:\w+ )?(?:separately|one by one|one after)\b|\b(?:separately|one by one),? or\b", re.IGNORECASE
)
PAYMENT_METHOD = re.compile(r"\b(?:card|paypal|certificate)\b", re.IGNORECASE)
TOTAL = re.compile(
    r"\b(?:total|sum|amount|figure)\b.*\b(?:include|contain|cover|count)\b|\bwith or without\b", re.IGNORECASE
)
"""Pattern of a question about the parts of a total."""
STORED_METHOD = re.compile(r"_\d{6,}\b")
"""Pattern of the number in the id of a stored payment method."""
SETTLED = re.compile(
    r"\b(?:everything|all(?: that)?) (?:that )?(?:you|is|has been|was|'s)\b.{0,40}\b(?:done|carried out|completed?|"
    r"finished|taken care of|settled)\b|"
    r"^(?:\W|ok(?:ay)?|great|perfect)*(?:that's |it's |we're )?all (?:is )?(?:done|set|finished)\b",
    re.IGNORECASE,
)
"""Pattern of a statement that all parts of the request are done."""
OWN_WORK = re.compile(
    r"\b(?:i'll|i will|i shall|i'm (?!sorry|afraid)|i am (?!sorry|afraid)|i'd|i can|let me|"
    r"now (?:i|we|on|for|to|comes?|the)|then|comes?|follows?|remain\w*|left|turn|one more|second|"
    r"other (?:one|part|\w*order|request|trip|reservation|item)|up next|proceed\w*|moving|\w+ing next)\b"
)
"""Pattern of an announcement of further work by the agent."""
CONTINUES = re.compile(
    r"\b(?:i'll|i will|i'm|i am|let me)(?: \w+){0,3} (?:finish\w*|start\w*|begin\w*|do|doing|carry\w*|continu\w+|"
    r"handl\w+|"
    r"process\w*|tackl\w+|turn\w*|work\w*|proceed\w*|get to|complet\w+) (?:\w+ ){0,3}"
    r"(?:other|others|second|next|rest|remaining|third|last)\b|\b(?:other|second|next)\b.*\bturn\b"
)
"""Pattern of an announcement of the next part of the request, in lowercase."""
GREETING = re.compile(r"^(?:hello|hi|hey|good (?:day|morning|afternoon|evening))[,.!]? ", re.IGNORECASE)
INTRODUCTION = re.compile(r"^(?:\S+ ){0,8}\S*(?:[a-z]_[0-9]|@|zip code)\S*(?: \S+){0,2}$")
"""Pattern of a sentence in which the user states only their name, id or email address."""
ALTERNATIVES = re.compile(
    r"\b(?:cabin|flights?|date|day|class|travell?ers?|passengers?|who)\b|"
    r"\bor (?!another|an other|a different|some|any|is it)"
)
PERSONAL_FACT = re.compile(
    r"\b(?:(?<!by )(?<!via )(?<!an )e-?mail|e-?mail address|date of birth|birth ?date|birthday|pass(?:word|code|"
    r"port)|username|ssn|social security|cvv|pin|"
    r"zip|postal|security (?:code|question|answer|word)|"
    r"(?:account|card|passport|license|membership|loyalty|phone|mobile|cell) (?:number|id)|"
    r"(?:home|mailing|billing|postal|your) address)\b"
)
"""Pattern of personal data. A user without a corresponding topic does not know such data."""
VERIFIES = re.compile(
    r"\b(?:right|correct|match(?:es)?|agrees with|as expected|what you|your (?:records?|papers|trip|order)|"
    r"the (?:trip|one|order|flight))\b"
    r"(?!.*\b(?:proceed|go ahead|go on|me to|shall i|should i|may i)\b)",
    re.IGNORECASE,
)
"""Pattern of a question that asks whether something is right."""
ENDING = re.compile(r"\bending in (\d{4})\b")
"""Pattern of the last digits of a card."""
REQUIREMENT = re.compile(
    r"\b(?:without (?:knowing|having|seeing|a|an|your)|(?:until|unless|before) (?:i (?:know|have|see|get)|"
    r"you (?:tell|give|send))) (.*)"
)
"""Pattern of the part of a refusal that names a missing requirement, such as the user's id."""
PROFILE = re.compile(r"\b(?:profile|account|who you are|identi\w+|customer id|e-?mail)\b")

ABOUT_REASON = re.compile(r"\b(?:because|cause|reasons?|why)\b")
OFFERS_MEANINGS = re.compile(r"\bor\b(?! not\b)|\btwo (?:ways|meanings)\b")
"""Pattern of a message that offers several meanings of the user's words."""
TOPIC_WORDINGS: Mapping[str, tuple[re.Pattern[str], bool]] = frozen(
    {
        "user_id": (
            re.compile(
                r"\b(?:which|what|your) ids?\b(?! (?:of|for|on) )|\bid\b.{0,30}\bregistered\b|\bname you go by\b"
            ),
            False,
        ),
        "reason": (
            re.compile(
                r"\bwhat(?:'s| is| has| have| had| was)? (?:\w+ )?(?:led|brought|kept|keeps?|keeping|prevent\w*|"
                r"stop\w*|"
                r"going on|happen\w*|made|makes|caus\w+|dr(?:ives?|iving|ove)|mak\w+) "
                r"(?!(?:you )?(?:the (?:booking|reservation|order)|it possible))|\bwhat(?:'s| is|"
                r" was) (?:going on|the matter|wrong)\b|"
                r"\bwhat brought\b|\b(?:on )?what grounds\b|\bgrounds (?:are|for)\b|"
                r"\b(?:explain|describe) (?:why|what happened)\b|\bwhat (?:should|shall|can) i (?:put|note|enter|"
                r"write)\b|"
                r"\bsomething happen\w*\b|\b(?:ma(?:de|kes?)|keeps?) you\b|\bwhy you\b"
            ),
            False,
        ),
        "reservation": (
            re.compile(
                r"\b(?:what|which|name the|name your) (?:reservation|booking|trip)\b|\b[a-z]+-character code\b|"
                r"\b(?:its|the|what|which|that|a|right|exact) "
                r"(?:numbers?|codes?|reference|identifier)\b(?! (?:of|on|for) (?!it\b|the (?:one|trip|reservation|"
                r"booking)\b))"
            ),
            True,
        ),
        "order": (
            re.compile(
                r"\b[a-z]+-character code\b|\border code\b|\bname (?:the|your) order\b|\b(?:what|"
                r"which) order\b(?! (?:should|shall|do) (?:i|we|you))|\b(?:its|the|what|which|that|a|"
                r"right|exact) "
                r"(?:numbers?|codes?|reference|identifier)\b(?! (?:of|on|for) (?!it\b|the (?:one|order)\b))"
            ),
            True,
        ),
        "address": (
            re.compile(
                r"\bwhere (?:should|shall|do|would|can|may|will) .*\b(?:send|sent|ship|shipped|deliver\w*|go|"
                r"goes)\b(?!.*\brefund)"
            ),
            True,
        ),
        "content": (re.compile(r"\bwhat (?:\w+ ){0,4}(?:to|should) (?:say|tell|write)\b"), False),
    }
)
"""Mapping from topic to a pattern of questions about it, which applies to all domains, and a flag. If the flag is True,
the pattern is used only if no other topic matches."""
OTHER_HELPER = re.compile(
    r"\b(?:colleagues?|humans?|agents?|supervisors?|representatives?|managers?|staff|team|persons?|any(?:one|body)|"
    r"some(?:one|body)|nobody|no one|others|who(?:ever)? you ask|transfer\w*|hand(?:ing)?[- ](?:\w+ )?over|"
    r"hand-?over|escalat\w+|"
    r"(?:pass|connect|hand|put) you)\b",
    re.IGNORECASE,
)
"""Pattern of words about a transfer, or about a person other than the agent who might help."""
ON_A_DAY = re.compile(r"\bif (?:that|\d{4}-\d\d-\d\d)\b.*\bdays?\b")
"""Pattern of a condition about a day in an answer to a proposal."""
_not_found = re.compile(
    r"\b(?:find|found|any(?:one|body) (?:called|named|by)|search\w*|look(?:ed|ing)? (?:for|up)|turn(?:ed|s)? up|"
    r"c(?:a|o)me(?:s)? (?:up|back)|"
    r"appear\w*|match\w*|results?|contacts?|saved|listed|no (?:one|body)|nobody|there(?:'s| is| are|'re| seems))\b",
    re.IGNORECASE,
)
_refused = re.compile(
    r"\b(?:cannot|can't|could(?:n't| not)|unable to|not able to|won't|will not|not possible|impossible|"
    r"not allowed|decline\w*|"
    r"refus\w+|so (?:i|no|nothing|there|it)|therefore|sent|without (?:a|an|the|his|her|their)|nothing (?:was|has))\b"
    r"(?! (?:find|locate|see|identify|spot))",
    re.IGNORECASE,
)
_same = re.compile(
    r"\b(?:same|bound by|no more|no other|(?:also|even) (?:for|to)|(?:for|to) .* too|rules? .* out)\b", re.IGNORECASE
)
_able = re.compile(
    r"\b(?:but|only|however)\b.*\b(?:colleagues?|humans?|agents?|supervisors?|representatives?|someone|somebody|"
    r"they|one)\b"
    r"(?: \w+){0,2}? (?:can|could|may|might|will|is able)\b(?!n't| not)|\b(?:let me|i'll|i will|"
    r"i can) (?:transfer|connect|hand|put)\b",
    re.IGNORECASE,
)
_same_thing = re.compile(
    r"^(?:\W|\w+,? ){0,3}?is (?:the|your|that|this|it)\b.*\b(?:you (?:mean|meant|mention\w*|named?|refer\w*|"
    r"talk\w*|want\w*)|the one|the same)\b"
    r"(?!.*\bor\b)",
    re.IGNORECASE,
)
_value = re.compile(r"\d{4,}|\w+_\w+")
_SHORT = 35
"""Maximum number of words of a message that reports only a failed search, without further explanation."""


def is_same_thing(asked: str, opening: str) -> bool:
    """Return whether a message asks if two names mean the same thing and the user's request contains one of them."""
    return _same_thing.search(asked) is not None and any(value in opening for value in _value.findall(asked))


def rules_out_others(text: str) -> bool:
    """Return whether a message states that nobody else can help either, or that a transfer is not possible."""
    found = [s for s in re.split(r"(?<=[.!?;:])\s+|\n", text) if OTHER_HELPER.search(s)]
    return any((NEGATED.search(s) or _same.search(s)) and not _able.search(s) for s in found)


def only_not_found(text: str) -> bool:
    """Return whether a message only reports that something was not found, without refusing the request."""
    return _not_found.search(text) is not None and not _refused.search(text) and len(text.split()) <= _SHORT


def repeats_value(asked: str, answer: str) -> bool:
    """Return whether a question contains a value of its answer, as in ``Is the card ending in 3157 on file?``."""
    return not {*_value.findall(asked)}.isdisjoint(_value.findall(answer))
