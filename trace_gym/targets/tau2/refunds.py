"""Detection of messages that state a refund for the wrong record, or for a record that gets no refund."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from trace_gym.statements.claims import attitude
from trace_gym.statements.roles import roles_of
from trace_gym.statements.text import normalize, places_of, sentence_at
from trace_gym.statements.values import Value, find_values, values_between

_part = re.compile(r",(?!\d)|(?<=total):|(?<=in all):|\||\(|\)|;|\s[-+&]\s|\b(?:and|plus|while|whereas|but|then)\b")
_total = re.compile(r"\b(?:total|together|sum|overall|combined|each|in all)\b")
_apart = re.compile(
    r"\b(?:first|second|third|other|former|latter|respectively|total|together|both|all|sum|overall|each|"
    r"in this order)\b"
)
_doubtful = re.compile(r"\b(?:not|no|never|cannot|unable|neither|nor|without|if|unless|would|only)\b|n't\b|\?")
_beside = re.compile(r" ?(?:dollars |usd )?\(((?:for |of |order |trip |reservation |from )*[#\w]+)\)")
_joins = re.compile(r"\b(?:for|of|on|from|regarding|about|to|with)\b[^$\d]*$")

_sent = re.compile(r"\bto (?:(?:your|the|this|new|other|address)\b:? )*$")
_postcode = re.compile(r"\b[a-z]{2} $")
_WINDOW = 300
_LISTED = 14
"""Number of characters before a part of a sentence that are searched for another record of the same list."""


def exchanged(
    record: str,
    refunds: Mapping[str, float],
    own: Collection[float],
    records: Iterable[str],
    said: Sequence[str],
) -> bool:
    """Return whether messages state a refund for the wrong record.

    This is the case if messages state the refund of the record only for other records, or the refund of another record
    for this record.

    Args:
        record: The id of the record.
        refunds: Mapping from id to refund for all records that get a refund, including this one.
        own: Other amounts that messages may state for the record, such as the prices of its items.
        records: The ids of all records that messages may be about.
        said: The messages.
    """
    known, amount = tuple(records), float(refunds[record])
    others = {float(a) for key, a in refunds.items() if key != record}
    wrong = others - {amount, *own}
    if not wrong and amount in others:
        return False
    stated = [refund for text in map(normalize, said) for refund in _refunds(text, known, {amount, *wrong})]
    if any(t.record == record and t.near and t.amount in wrong for t in stated):
        return True
    right = {t.record for t in stated if t.amount == amount}
    return bool(right) and amount not in others and not {"", record} & right


def invented(record: str, records: Iterable[str], said: Sequence[str]) -> bool:
    """Return whether messages claim a refund for a record that gets no refund."""
    known, name = tuple(records), normalize(record).lstrip("#")
    texts = [text for text in map(normalize, said) if name in text]
    return any(t.record == record for text in texts for t in _refunds(text, known, certain=True))


class StatedRefund(NamedTuple):
    """A refund that a message states."""

    record: str
    """Id of the record that is refunded; empty if the text does not determine the record."""
    near: bool
    """Whether the id is next to the amount, rather than elsewhere in the same sentence or in the preceding one."""
    amount: float


def _refunds(
    text: str, records: tuple[str, ...], amounts: Collection[float] | None = None, *, certain: bool = False
) -> Iterator[StatedRefund]:
    """Yield the refunds that a text states. If `amounts` is given, yield only refunds of these amounts.

    If `certain` is True, skip amounts in sentences that express doubt, and amounts that are not called a refund.
    """
    for value in find_values(text):
        if value.kind != "number" or value.unit not in ("money", ""):
            continue
        if amounts is not None and abs(float(value.value)) not in amounts:  # type: ignore[arg-type]
            continue
        if certain and _doubtful.search(text, *sentence_at(text, value.start)):
            continue
        if attitude(text, value) == "denied":
            continue
        roles = roles_of(text, value)
        if certain and ("refund" not in roles or _is_house_number(text, value)):
            continue
        if not roles - {"refund"}:
            yield StatedRefund(*_about(text, value, records), abs(float(value.value)))  # type: ignore[arg-type]


def _is_house_number(text: str, value: Value) -> bool:
    """Return whether a number without a unit is the house number or the postal code of an address.

    For example, "refund it to your card, send #W1 to 48 Elm Road" does not state a refund of 48.
    """
    start, _ = sentence_at(text, value.start)
    sent = _sent.search(text, start, value.start) or _postcode.search(text, max(start, value.start - 4), value.start)
    return value.unit == "" and sent is not None


@lru_cache(maxsize=1024)
def _about(text: str, value: Value, records: tuple[str, ...]) -> tuple[str, bool]:
    """Return the record to which an amount belongs, and whether the id of the record is next to the amount.

    Search for the id in the same part of the sentence, then in the whole sentence, and then in the preceding sentence.
    """
    start, end = sentence_at(text, value.start)
    start, end = max(start, value.start - _WINDOW), min(end, value.end + _WINDOW)
    if (beside := _beside.match(text, value.end)) and (one := _names(text, *beside.span(1), records)):
        return one[0][1], True
    opened = text.rfind("(", start, value.start)
    if opened > text.rfind(")", start, value.start) and (one := _names(text, max(start, opened - 12), opened, records)):
        return one[-1][1], True
    breaks = [start, *(m.end() for m in _part.finditer(text, start, end)), end]
    low = max(b for b in breaks if b <= value.start)
    high = min((b for b in breaks if b >= value.end), default=end)
    if (near := _names(text, low, high, records)) and len({n for _, n in near}) == 1:
        at, name = near[0]
        joined = at < value.start or _joins.search(text[value.end : at])
        several = _names(text, max(start, low - _LISTED), low, records)  # `A and B are cancelled: 24 dollars ...`
        return (name, True) if joined and not several and not _total.search(text, low, high) else ("", False)
    if _apart.search(text, start, end):
        return "", False
    inside = _names(text, start, end, records)
    if len({n for _, n in inside}) == 1 and inside[0][0] < value.start:
        return inside[0][1], False
    if inside or sum(v.unit == "money" for v in values_between(text, "number", start, end)) > 1 or not start:
        return "", False
    before = _names(text, max(sentence_at(text, start - 1)[0], start - _WINDOW), start, records)
    return (before[0][1] if len({n for _, n in before}) == 1 else ""), False


@lru_cache(maxsize=4096)
def _names(text: str, low: int, high: int, records: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """Return the position and id of each record that a part of a text names."""
    part, found = text[low:high], []
    for record in records:
        found += [(low + at, record) for at in places_of(normalize(record).lstrip("#"), part)]
    return tuple(sorted(found))
