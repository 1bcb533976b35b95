"""Detection of the roles of values: the meaning of a number, date or time (such as ``refund``) in its clause.

The words that indicate a role are called cues.
"""

from __future__ import annotations

import re
from functools import lru_cache

from trace_gym.statements.cues import ANY_CUE, CUES, NEUTRAL, UNAVAILABLE
from trace_gym.statements.directions import (
    is_charged_behind,
    is_paid_behind,
    is_refunded_behind,
    is_settled_before,
)
from trace_gym.statements.operands import is_compared, is_factor, is_left_over, is_price
from trace_gym.statements.text import sentence_at
from trace_gym.statements.values import Value, values_between

_WINDOW = 120
"""Number of characters before and after a value in which cues for its role are searched."""
_LIST = 20
"""Maximum number of values in a list that share the cues in front of the first value."""

_break = re.compile(
    r"[,:()]|\s-\s|\band(?! (?:is|was|will|has|have|had|are|were|goes|go|comes?|gets?)\b)|"
    r"\bbut\b(?! (?:(?:is|was|it|it's|has|have|only|already|now|unfortunately) )*(?:full|sold|no|not|too|booked|"
    r"fully|unavailable)\b)|"
    r"\b(?:while|whereas|although|though|because|since|so|then|which|plus|for which|after|before|once|(?:back )?when)\b"
)
_passive = re.compile(
    r"\b(?:is|are|was|were|be|been|being|get|gets|gone|goes|go|comes?|will|have|has|had|i(?:'ll| will| have|'ve)?|"
    r"we(?:'ll| will| have|'ve| are)?|you(?:'ve| have| had)?)(?: (?:now|also|then|already|being|been|be|going to be|"
    r"have been|fully))* $"
)
_new_subject = re.compile(
    r",?\s(?:and|but|so|while|whereas) "
    r"(?P<subject>(?:the|your|that|this|it|there)(?= (?:full |remaining |\w+ (?:is|are|of) )?$))"
)
_no_cue = re.compile(r"(?:\bnothing|\bno|\bnot|\bcannot|n't|\bnever|\bwithout)(?: \w+){0,2} $")
_of_nothing = re.compile(r"(?:[\w']+ ){1,3}nothing\b")
_full_behind = re.compile(
    rf"[^,;.]{{0,25}},? (?:but|which|and|yet|however|though)(?: [\w']+){{0,3}}? ?(?:{UNAVAILABLE})"
)
_weak = re.compile(r"(?:flights?|trips?|travel\w*|hat\d+)\b")
"""Cues of dates and times that are used only if there is no other cue.

For example, `Arrival of the next flight is at 10:14` is an arrival time, although it also contains the word `flight`.
"""
_dash = re.compile(r"\s*(?:-+>?|to|until)\s*")
_changed_from = re.compile(
    r"\b(?:mov|chang|shift|reschedul|switch|updat|increas|decreas|drop|went|go|ris|fell|cut|rais|lower|correct|"
    r"modif)\w*\b"
    r".{0,50}\b(?P<from>from)(?: \w+){0,2} [$-]?$"
)
LIST_WORDS = (
    r"\W|\b(?:and|for|on|to|the|a|of|trip|order|reservation|booking|first|second|third|other|one|plus|from|card|"
    r"gift|paypal|visa|"
    r"mastercard|ending|in|your|[a-z_]*\d\w*|\w{1,2})\b"
)
"""Pattern of the text between the values of a list."""
_list_gap = re.compile(rf"(?:{LIST_WORDS}){{0,40}}")


@lru_cache(maxsize=4096)
def roles_of(text: str, value: Value) -> frozenset[str]:
    """Return the roles of a value in a normalized text, or an empty set if the words of its clause indicate no role.

    A list value without its own cues has the roles of the previous value, as in ``refunds: 120 for A, 80 for B``.
    """
    found, before = _own_roles(text, value)
    if found - NEUTRAL:
        return found
    if value.kind == "time" and (end := _end_of_flight(text, value)):
        return frozenset({end})
    for _ in range(_LIST):
        if before is None or not _list_gap.fullmatch(text, before.end, value.start):
            break
        value = before
        other, before = _own_roles(text, value)
        if other - NEUTRAL:
            return found | (other - ({"total", "each", "fare", "fee"} if found else {"total", "each"}))
    return found


@lru_cache(maxsize=4096)
def _own_roles(text: str, value: Value) -> tuple[frozenset[str], Value | None]:
    """Return the roles that the words next to a value indicate, and the previous value of this kind in the sentence."""
    start, end, before = _bounds(text, value)
    if value.unit == "money" and is_left_over(text, value.start, value.end):
        return frozenset({"balance"}), before
    left, right = _left(text, start, value.start, before is not None), _right(text, value.end, end)
    found = _from_left(value.kind, text, left, value.start)
    if _is_refund(value.kind, text, value.end, right):
        return (found & {"total"}) | {"refund"}, before
    if value.kind == "number" and is_refunded_behind(text, value.end):
        return (found & {"total", "paid"}) | {"refund"}, before
    to_new = value.kind != "number" and before and text[before.end : value.start].strip() == "to"
    if before and to_new and _changed_from.search(text, max(0, before.start - _WINDOW), before.start):
        return _own_roles(text, before)
    if _full_behind.match(text, value.end, end) and ANY_CUE[value.kind].search(text, value.end, end):
        found |= {"unavailable"}
    found |= _from_right(value.kind, text, value.end, right, alone=not found - NEUTRAL)
    if value.kind == "number" and not found & {"refund", "charge", "paid"} and is_charged_behind(text, value.end):
        found |= {"paid"} if is_paid_behind(text, value.end) else {"charge"}
    if {"charge", "paid"} <= found and is_settled_before(text, start, end):
        found -= {"charge"}
    if value.unit == "money" and is_factor(text, value.end):
        found |= {"each"}
    if value.kind == "number" and not found - NEUTRAL:
        compared = value.unit in ("money", "") and is_compared(text, value.start, value.end)
        if compared or (value.unit == "money" and is_price(text, value.start, value.end)):
            found |= {"fare"}
    return found, before


def _bounds(text: str, value: Value) -> tuple[int, int, Value | None]:
    """Return the start and end of the words about a value, and the previous value of this kind in the sentence."""
    start, end = sentence_at(text, value.start)
    start, end = max(start, value.start - _WINDOW), min(end, value.end + _WINDOW)
    before: Value | None = None
    for other in values_between(text, value.kind, start, end):
        if not _alike(other, value):
            continue
        if other.end <= value.start:
            before = other
        elif other.start >= value.end:
            end = other.start - (text[other.start - 1] == " ")
            break
    return before.end if before else start, end, before


def _alike(one: Value, other: Value) -> bool:
    """Return whether two values are so similar that a word between them can be about only one of them.

    Two numbers with different units, such as an amount and a duration, can share the words between them.
    """
    return one.kind != "number" or one.unit == other.unit or not (one.unit and other.unit)


def _left(text: str, start: int, end: int, shared: bool) -> int:
    """Return the start of the words before a value that are not about the previous value."""
    found = _break.search(text, start, end) if shared else None
    start = found.end() if found else start
    return max((m.start("subject") for m in _new_subject.finditer(text, start, end)), default=start)


def _right(text: str, start: int, end: int) -> int:
    """Return the end of the words after a value that are about this value."""
    found = _break.search(text, start, end)
    if found and found[0] == "(":  # ``350 (refund)``
        return found.start() if (closing := text.find(")", start, end)) < 0 else closing
    return found.start() if found else end


def _end_of_flight(text: str, value: Value) -> str:
    """Return ``departure`` or ``arrival`` for a time in a pair such as ``14:05 - 16:20``, else ``""``."""
    near = values_between(text, "time", value.start - _WINDOW, value.end + _WINDOW)
    at = near.index(value) if value in near else len(near)
    for one, other, role in ((at, at + 1, "departure"), (at - 1, at, "arrival")):
        if one >= 0 and other < len(near) and _dash.fullmatch(text, near[one].end, near[other].start):
            return role
    return ""


def _from_left(kind: str, text: str, start: int, end: int) -> frozenset[str]:
    """Return the roles of the cues before a value. Only the clause with the nearest cue is used."""
    if text.find("from", start, end) >= 0 and (change := _changed_from.search(text, start, end)):
        end = change.start("from")
    cues = [(at, role) for at, role in _cues(kind, text, start, end) if not _is_negated(text, start, at)]
    if not cues:
        return frozenset()
    if kind != "number":  # a date or time has one role, that of the nearest words
        cues = [cue for cue in cues if not _weak.match(text, cue[0])] or cues
        return frozenset(role for at, role in cues if at == cues[-1][0])
    if len(cues) > 1:
        clause = [m.end() for m in _break.finditer(text, start, cues[-1][0])]
        cues = [cue for cue in cues if not clause or cue[0] >= clause[-1]]
    return _settled(cues, -1)


def _is_negated(text: str, start: int, at: int) -> bool:
    """Return whether a cue is negated: ``no charge``, ``you pay nothing``."""
    return _no_cue.search(text, max(start, at - 24), at) is not None or _of_nothing.match(text, at) is not None


def _from_right(kind: str, text: str, start: int, end: int, alone: bool) -> frozenset[str]:
    """Return the roles of the cues after a value.

    If `alone` is False, the words before the value already indicate a role. In this case, only neutral roles, the role
    ``unavailable``, and verbs whose subject is the value are used.
    """
    cues = _cues(kind, text, start, end)
    if kind == "number":
        cues = [(at, role) for at, role in cues if not _is_negated(text, start, at)]
    if not alone:
        cues = [
            (at, role)
            for at, role in cues
            if role in NEUTRAL or role == "unavailable" or _passive.search(text, max(start, at - 40), at)
        ]
    return _settled(cues, 1)


def _is_refund(kind: str, text: str, start: int, end: int) -> bool:
    """Return whether the word directly after an amount identifies it as a refund, as in ``$493 refund``."""
    at = start + (text[start : start + 1] == " ")
    return kind == "number" and CUES[kind]["refund"].match(text, at, end) is not None


def _cues(kind: str, text: str, start: int, end: int) -> list[tuple[int, str]]:
    """Return the position and role of each cue in a part of a text, in order."""
    places = [m.start() for m in ANY_CUE[kind].finditer(text, start, end)]
    return [(at, role) for at in places for role, p in CUES[kind].items() if p.match(text, at, end)]


def _settled(cues: list[tuple[int, str]], nearest: int) -> frozenset[str]:
    """Return the roles of cues. If there are cues for both a refund and a charge, use only the nearer one.

    Args:
        cues: Position and role of each cue.
        nearest: 1 if the value is before the cues, -1 if it is after them.
    """
    ordered = sorted(cues)[::nearest]
    found = frozenset(role for _, role in ordered)
    if {"refund", "charge"} <= found:
        first = next(role for _, role in ordered if role in ("refund", "charge"))
        found -= {"charge" if first == "refund" else "refund"}
    return found
