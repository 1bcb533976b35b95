"""Detection of cited rules: text that states when an action is allowed, as opposed to facts about a specific record."""

from __future__ import annotations

import re
from functools import lru_cache

from trace_gym.statements.text import normalize

_NOUN = r"(?:reservation|booking|trip|ticket|fare|order|flight|cancellation|refund|purchase|customer|passenger|item)"
_KIND = r"(?:basic[ -]economy |economy |business(?:[ -]class)? |insured |uninsured |pending |paid |such |other |most )*"
_TALK = r"(?!(?:\w+ )?(?:tell|inform|decline|refuse|say|admit|apologize|see|stress|add|repeat|confirm|follow|stick)\b)"
_GIVEN = (
    r"\b(?:if (?!you (?:look|check|see|like|want|wish|would)\b|i see\b|(?:it|that|this) helps)|unless|"
    r"when(?:ever)? (?!i\b|we\b)|once|whether|"
    r"provided|assuming|in case|as long as|had (?:it|this|that|you|your|the)\b)"
)
_LIMIT = (
    rf"\bonly (?:if|for|when|while|within|where|by|in|with|those)\b|\b(?:can|could|may|might|would) only {_TALK}|"
    r"\bonly (?:be|possible|allowed|permitted|available|(?:cancell?|chang|refund|modif)\w+)\b|"
    r"\b(?:reserved|limited|restricted|available|open|granted|confined) (?:only )?(?:to|for)\b|"
    rf"\bonly {_KIND}{_NOUN}s?\b|\bexcept (?:for|if|when)\b|\bnothing but\b|"
    r"\b(?:can|could)(?:not|n't| not) be (?:cancell?ed|refunded|changed) (?:without|outside)\b"
)
_ANYONE = (
    r"\b(?:anyone|anybody|whoever|(?:those|people|guests|travell?ers|passengers|customers) (?:who|with|in|flying))\b"
)
_NEED = (
    rf"\b(?:must {_TALK}|(?:needs?|needed|has|have|had) to {_TALK}|would (?:only )?(?:need|have|be|require)\b|"
    rf"requires?\b|required\b|needs\b|to (?:qualify|be eligible)\b)"
)
_NAMES = r"(?:conditions?|criteri(?:a|on)|requirements?|rules?|exceptions?|cases|circumstances|situations|grounds)"
_LISTED = (
    rf"\b(?:one|any|none|either|each|all) of (?:\w+ ){{0,3}}?(?:{_NAMES}|following|these)\b|"
    rf"\b(?:following|these|four|certain|specific|such) (?:\w+ )?{_NAMES}\b|\bconditions for\b|"
    r"(?<!not )(?<!n't )\b(?:rules?|polic(?:y|ies)|airline|we|i) (?:only )?(?:allows?|permits?|"
    r"accepts?) (?!me\b|us\b)|"
    rf"\b{_NAMES} (?:\w+ )?(?:are|is)\b|\b(?:allowed|permitted|possible|eligible) (?:only )?(?:if|when|for|in)\b"
)
_OF_KINDS = (
    rf"(?<!your )(?<!these )(?<!both )(?<!those )(?<!two )(?<!the )(?<!my )\b{_KIND}{_NOUN}s\b|"
    r"(?<!is )(?<!was )(?<!'s )(?<!as )(?<!for )(?<!of )(?<!have )(?<!made )(?<!has )(?<!with )"
    rf"\b(?:an?|any|every|each|all) (?:[\w-]+ ){{0,3}}?{_NOUN}s?\b"
)
_opens = re.compile("|".join((_GIVEN, _LIMIT, _NEED, _LISTED, _ANYONE)))
_generic = re.compile(
    rf"(?:{_OF_KINDS})(?=[^.!?\n]*\b(?:can|cannot|could|may|must|qualif\w+|allow\w*|eligible|permitted|"
    r"requires?|needs?|"
    r"(?:are|is) (?:\w+ )?(?:cancellable|refundable))\b)"
)
_turn = re.compile(
    r"(?:\b(?:but|however|so|although|though|yet|whereas|because|since|here|unfortunately|therefore|now)\b,?|;| - |\(|"
    r", and\b|: (?=in your case))"
    r" *(?:and |in your case,? |in this case,? |here,? |unfortunately,? |even |as |because |since )*$"
)
_own = re.compile(
    r"\b(?:it|this|(?:this|that|the|your) (?:\w+ )?(?:reservation|booking|trip|order|ticket|one|cabin|fare))"
    r"(?:'s| (?:is|was|has|does|had|comes|carries|includes|isn't|wasn't|got|already|remains|shows))\b"
)
_named = re.compile(
    r"(?:#?\bw\d{4,}|\b(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{6}|\byours|\bthis one|\bthis (?:order|trip|reservation|booking)|"
    r"\byour (?:\w+ )?(?:reservation|booking|trip|order)(?: #?\w*\d\w*)?)"
    r"(?:'s| (?:is|was|has|already|comes|carries|includes)\b)"
)
_bullet = re.compile(r"^[ \t]*(?:[-\u2022\u2023\u25e6+>] ?|\(?\d{1,2}[.):] ?|\(?[a-h][.)] ?)|^ +(?=\w)")
_heading = re.compile(
    r"\W*(?:[\w'-]+ ){0,3}(?:polic(?:y|ies)|rules?|conditions?|criteria|requirements?|eligibility|exceptions)\W*"
)
_end = re.compile(r"[.!?]+(?=\s|$)(?<!\b\d\.)(?<!\be\.g\.)(?<!\bi\.e\.)|\n")
_question = re.compile(
    r"^[\s\"'-]*(?:(?:and|so|sorry|but|also|just to be sure|to be sure|first)[, ]+)*"
    r"(?:is|was|were|are|did|does|do|has|had|have|could|would|can)\b"
)
_inverted = re.compile(r"(?:^|[,:;(]|\b(?:and|or)) *(?:is|was|does|did|has|had) (?:it|this|the|your)\b")

_WINDOW = 600


@lru_cache(maxsize=2048)
def cites_rule(text: str, position: int) -> bool:
    """Return whether the words at a position of a normalized text belong to a condition, a rule or a question.

    For example, ``we can only cancel trips that are in business class`` is a rule, not a statement about the customer's
    trip. List items after an introduction such as ``one of these holds:`` also belong to a rule. A rule ends at words
    about the record itself, such as ``but yours is insured``.
    """
    start, end = _sentence(text, position)
    sentence = text[start:end]
    asked = _question.match(sentence) or _inverted.search(sentence[: position - start + 1])
    if sentence.rstrip().endswith("?") and asked:
        return True
    if _is_cited(sentence, position - start):
        return True
    line = text.rfind("\n", 0, position) + 1
    return _bullet.match(text[line:]) is not None and _intro_cites(text[:line])


def without_rules(text: str) -> str:
    """Return the normalized text without the sentences that cite a rule."""
    plain, kept, start = normalize(text), "", 0
    for end in (*(m.end() for m in _end.finditer(plain)), len(plain)):
        part = plain[start:end]
        kept += "" if _is_cited(part, len(part)) else part
        start = end
    return kept


def _is_cited(sentence: str, position: int) -> bool:
    """Return whether a rule starts before a position and still continues at this position."""
    starts = (m.end() for pattern in (_opens, _generic) for m in [pattern.search(sentence)] if m)
    opened = min(starts, default=position + 1)
    return opened <= position and not _turns(sentence[opened : position + 12], position - opened)


def _turns(rest: str, position: int) -> bool:
    """Return whether words before a position end a rule: a word such as ``but``, or the id of the record."""
    if any(m.start() < position for m in _named.finditer(rest)):
        return True
    rest = rest if ":" not in rest else rest.replace(";", ",")  # the items of a list
    return any(_turn.search(rest[: m.start()]) for m in _own.finditer(rest) if m.start() <= position)


def _sentence(text: str, position: int) -> tuple[int, int]:
    """Return the start and end of the sentence at a position. A semicolon does not end the sentence."""
    start = 0
    for match in _end.finditer(text, max(0, position - _WINDOW), position + _WINDOW):
        if match.end() > position:
            return max(start, position - _WINDOW), match.end()
        start = match.end()
    return max(start, position - _WINDOW), min(len(text), position + _WINDOW)


def _intro_cites(above: str) -> bool:
    """Return whether the last list introduction in a text begins a rule.

    Args:
        above: Text before the current list item.
    """
    for line in reversed(above.split("\n")):
        if line.strip() and (line.rstrip().endswith(":") or not _bullet.match(line)):
            intro = re.split(r"[.!?]\s", line.strip())[-1]
            return bool(_heading.fullmatch(intro)) or (intro.endswith(":") and _is_cited(intro, len(intro)))
    return False
