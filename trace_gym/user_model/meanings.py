"""Detection of consent, refusal, requests and reasons in the words of a user.

To use another classifier of consent and refusal, replace `stance`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from trace_gym.user_model.values import normalize


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_NEUTRAL = _any(
    r"\bno (?:problems?|worries|objections?|doubt|rush|hurry|longer|more|one)\b",
    r"\b(?:do not|don't) (?:mind|worry|hesitate)\b",
    r"\bnot? (?:only|sure|quite|exactly)\b",
    r"^no,? (?:that(?:'s| is| was) (?:all|it|everything)|nothing (?:else|more))\b",
    r"^(?:yes|sure|of course|certainly|absolutely|ok|okay|right)[,!.]? (?=(?:it's|it is|my|here|i'm|i am|this is)\b)",
    r"\bwhy not\b|\bnothing (?:else|more|to add)\b|\bno,? thank(?:s| you)\b",
)
"""Words that look like a refusal or consent, but are not, as in ``Sure, it's ada_berg_1234.``"""
_REFUSES = _any(
    r"^(?:oh |well |um |sorry,? )*(?:no|nope|nah)\b|(?:[.!?;] |, )(?:no|nope)[,.!]",
    r"\b(?:do not|don't|did not|didn't|cannot|can't|won't|will not|would not|wouldn't|never) (?:really |think i )?"
    r"(?:agree|consent|accept|want (?:that|this|it|you to)|wish|approve|confirm|like (?:that|this|it)|go ahead|proceed|"
    r"do (?:that|this|it)|continue)\b",
    r"\bi(?:'d| would)? (?:refuse|decline|disagree|object|reject|rather (?:not|you did not|you didn't))\b",
    r"\bnot (?:okay|ok|fine|acceptable|all right|alright)\b|\bunacceptable\b",
    r"\b(?:stop|hold off|forget it|never ?mind|changed my mind|leave it (?:as it is|alone))\b",
)
_AGREES = _any(
    r"^(?:oh |well |ah |um |great,? |thanks?,? |thank you,? )*(?:yes|yeah|yep|yup|sure|ok|okay|certainly|absolutely|"
    r"definitely|of course|agreed|correct|right|exactly|fine|perfect|great|please do|alright|all right)\b(?! about)",
    r"\byes\b|\b(?:go (?:right )?ahead|proceed|by all means|make it happen|works for me)\b",
    r"\bi(?:'m| am)? (?:do |fully |hereby |can |also )?(?:agree|consent|confirm|approve|accept)\b",
    r"\bi(?:'m| am) (?:okay|ok|fine|happy) with\b",
    r"\b(?:that|this|it|which)(?:'s| is| all| works| sounds| looks| would be| will be| seems)* "
    r"(?:fine|ok|okay|right|correct|good|perfect|great|works?)\b",
    r"\b(?:sounds|looks) (?:good|great|fine|right|perfect)\b",
    r"\byou (?:may|have my (?:ok|okay|permission|consent))\b",
    r"\b(?:do|get|finish) (?:it|that|this)(?: done)?(?: please| now)*(?=[.!,;]|$)",
    r"\bplease (?:do|proceed|continue|carry on)\b(?! not)",
)
_CONDITION = re.compile(r"\b(?:if|unless|only|provided|as long as|in case|otherwise|except)\b")
_FORBIDS = re.compile(r"\b(?:do not|don't|must not|mustn't|may not|never|leave|keep|without|avoid|not to)\b")
_STAYS = re.compile(r"\b(?:not|never|no|leave|keep|without|avoid|alone|stay|stays|untouched|unchanged)\b|n't\b")

GROUPS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"\b(?:{words})\b")
    for name, words in {
        "to cancel": r"cancel\w*|call(?:ed|ing)? off|drop(?:ped|ping)?|scrap\w*|annul\w*",
        "to return": r"(?:take|taking|give|giving|send|sending|bring|bringing) "
        r"(?!(?:\S+ ){0,3}(?:dollars|money|\$))(?:[\w#,]+ ){0,12}back|"
        r"return(?:ing|ed)?",
        "to exchange": r"exchang\w+|swap\w*|replac\w+|trad(?:e|ing)",
        "to refund": r"refund\w*|reimburs\w+|(?:money|dollars|\$[\d.,]+) back|compensat\w+|vouchers?|certificates?",
        "to upgrade": r"upgrad\w+|business(?: class)?|first class",
        "economy class": r"economy|coach class",
        "bags": r"bags?|baggage|luggage|suitcases?",
        "insurance": r"insur\w+",
        "illness": r"ill|sick|illness|unwell|flu|hospital\w*|injur\w+|doctor|surgery|fever|health|medical",
        "weather": r"weather|storms?|snow\w*|hurricane|blizzard",
        "a mistake": r"by mistake|by accident|accident(?:al)?ly|by error|in error|unintentionally",
        "no need": r"no longer (?:need|want|require)\w*|(?:do not|don't) (?:need|want) (?:it|them|any)\w*|"
        r"have no (?:need|use)|not need\w* .{0,12}any ?more|don't need .{0,20}any ?more",
        "changed plans": r"plans?|something (?:has |'s )?(?:came|come) up",
        "a death": r"died|dead|death|funeral|passed away|bereave\w+",
        "a promise": r"promis\w+|assur\w+|guarantee\w*",
        "a manager": r"managers?|supervisors?|boss",
        "a colleague": r"colleagues?|coworkers?|another agent",
    }.items()
}
"""Mapping from each request or reason to a pattern of the words that express it.

A reworded message must contain the same requests and reasons as the original message.
"""
_ACTIONS = ("to cancel", "to return", "to exchange", "to upgrade")
"""Requests in `GROUPS` that apply to a record. A message contains at most one of them for each record."""
_CLAUSE = re.compile(r"[,;:.?!]|\b(?:and|then|also|but|while|whereas)\b")


def stance(text: str) -> frozenset[str]:
    """Return the stance of a user's message: ``agrees``, ``refuses``, both or neither.

    These patterns are provisional. The classifier of dialogue acts for the scripted users will replace them.
    """
    plain = _NEUTRAL.sub(" ", normalize(text).lower())
    found = {"refuses"} if _REFUSES.search(plain) else set()
    rest = _REFUSES.sub(" ", plain).strip()
    return frozenset(found | ({"agrees"} if _AGREES.search(rest) else set()))


def is_conditional(text: str) -> bool:
    """Return whether a message contains a condition."""
    return _CONDITION.search(normalize(text).lower()) is not None


def forbids(text: str) -> bool:
    """Return whether a message forbids an action or a change."""
    return _FORBIDS.search(normalize(text).lower()) is not None


def still_forbids(text: str) -> bool:
    """Return whether the rewording of a message that forbids an action still contains words that can forbid one."""
    return _STAYS.search(normalize(text).lower()) is not None


def groups(text: str) -> set[str]:
    """Return the requests and reasons in `GROUPS` that a message expresses."""
    plain = normalize(text).lower()
    return {name for name, pattern in GROUPS.items() if pattern.search(plain)}


def requested(text: str, ids: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the requested actions for each of the given ids that follows an action in a message.

    If the clause with the id contains no action, use the action of an earlier clause.
    """
    made: dict[str, frozenset[str]] = {}
    current: frozenset[str] = frozenset()
    for clause in _CLAUSE.split(normalize(text).lower()):
        current = frozenset(groups(clause).intersection(_ACTIONS)) or current
        for word in re.findall(r"[\w-]+", clause):
            if word in ids and current:
                made[word] = current
    return made
