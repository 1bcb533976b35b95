"""Consent of the customer: whether a proposal said what a write does."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from trace_gym.statements import find_values, mentions
from trace_gym.targets.constants import frozen
from trace_gym.types import Call, Event, Say

_WORDS = frozen(
    {
        "cancel": r"cancel|refund|money back",
        "bag": r"bag|luggage|suitcase",
        "flight": r"flight|mov(?:e|ing)|rebook|chang(?:e|ing)|cabin|upgrad|switch|business|economy|trip|seat",
        "passenger": r"passenger|name|birth|correct|fix|travell?er",
        "address": r"address|send|ship|deliver|redirect|street|goes? to",
        "payment": r"pay|charg|card|paypal|method",
        "item": r"item|exchang|replac|swap|modif|chang(?:e|ing)|variant|return|take back|send back|refund",
        "order": r"order",
        "return": r"return|take back|send back|refund",
        "exchange": r"exchang|replac|swap",
        "book": r"book|reserv|flight|trip",
        "certificate": r"certificate|compensat",
        "user": r"profile|address",
    }
)
"""Part of a tool's name -> words that say what it does."""
_any_action = re.compile(
    r"\b(?:cancel|refund|chang(?:e|ing)\b|updat|mov(?:e|ing)\b|upgrad|rebook|add|return|exchang|replac|send|ship|charg|"
    r"correct|modif|switch|book (?:you|the|a)\b|transfer|deliver|swap|redirect|fix|apply|put|set)"
)
_flight = re.compile(r"\bhat\d{3}\b")
_all = re.compile(r"\b(?:both|all|every\w*|each|these|those|them|everything|together|two|three|four)\b")

_VERBS = frozen(
    {
        "cancel": r"cancel|call off",
        "change": r"mov(?:e|ing)|rebook|chang(?:e|ing)|upgrad(?:e|ing)|switch|modify",
        "return": r"return|take back|send back",
        "exchange": r"exchang(?:e|ing)|replac(?:e|ing)|swap",
    }
)
"""Deed -> the verbs that announce it."""
_DEEDS = frozen(
    {
        "cancel_reservation": "cancel",
        "cancel_pending_order": "cancel",
        "update_reservation_flights": "change",
        "return_delivered_order_items": "return",
        "exchange_delivered_order_items": "exchange",
    }
)
"""Tool -> its deed, for those that are often mistaken for each other."""
_OWN = frozen(
    {
        "cancel": r"cancel|call(?:ed)? off|refund|money back",
        "change": r"\bmov|rebook|chang|upgrad|switch|modif|\bput\b|swap|downgrad",
        "return": r"return|take back|taken back|send back|sent back|refund",
        "exchange": r"exchang|replac|swap|chang|modif",
    }
)
"""Deed -> words in any form that are about it."""
_announced = re.compile(
    r"\b(?:(?:i|we)(?:'ll| will|'d| would| can| could|'m going to| am going to|'m about to| am about to)"
    r"(?: (?:now|then|therefore|also|go ahead and|be able to))*|(?:shall|should|may|can) (?:i|we)|"
    r"(?:like|want) me to)(?: go ahead and| now)? (?P<verb>" + "|".join(_VERBS.values()) + ")"
)
"""What announces a deed."""
_kinds = frozen(
    {
        "paypal": r"\bpaypal\b",
        "gift_card": r"\bgift[ _]card",
        "credit_card": r"\bcredit[ _]card|\bvisa\b|\bmastercard\b",
    }
)
"""Source of a payment method -> its names."""


def proposed(
    write: Call, before: Sequence[Event], concerned: Collection[str], records: Collection[str], alone: bool
) -> bool:
    """Return whether the customer agreed, in one of the events, to a message that said what a write does.

    The message names the record, or values or the action of the change; or it names no record, and an earlier one did.

    Args:
        concerned: The records that the write changes.
        records: The ids of all records.
        alone: Whether the customer asked for one thing only.
    """
    told: list[str] = []
    for event in before:
        if not isinstance(event.step, Say):
            continue
        text = event.step.text.lower()
        if event.answer and event.answer.startswith("Yes"):
            named = _named(records, text)
            if _announces_other(write, text):
                continue
            if named & {*concerned}:
                return True
            if named and concerned and not _all.search(text):
                continue  # another record
            if not named and _says(write, text, concerned, alone):
                return True
            earlier = [t for t in told if _named(concerned, t) or not concerned]
            if any(_says(write, t, concerned, alone) for t in [*earlier, *([text] if earlier else [])]):
                return True
        elif event.answer and "go ahead" in event.answer.lower():  # the customer wants no further question
            return True
        told.append(text)
    return False


def since_refused(write: Call, before: Sequence[Event], concerned: Collection[str]) -> Sequence[Event]:
    """Return the events after the last attempt at another change of the same records that a tool refused.

    The customer agreed to that change, and has to be asked again about the one that takes its place.
    """
    for n, event in reversed([*enumerate(before)]):
        step = event.step
        if event.refused and isinstance(step, Call) and step.tool == write.tool:
            values = {str(value) for value in step.arguments.values()}
            if values & {*concerned} and _chosen(step) != _chosen(write):
                return before[n + 1 :]
    return before


def names_other_flights(write: Call, kept: Collection[str], before: Sequence[Event]) -> bool:
    """Return whether the last proposal that names flights names other ones than those that are written.

    Args:
        kept: Numbers of flights that the reservation had before.
    """
    new = {number for number in _flight.findall(str(_chosen(write)).lower()) if number.upper() not in kept}
    if not new:
        return False
    told = [_flight.findall(e.step.text.lower()) for e in before if isinstance(e.step, Say)]
    agreed = [
        n
        for e, n in zip([e for e in before if isinstance(e.step, Say)], told, strict=True)
        if e.answer.startswith("Yes")
    ]
    last: list[str] = next((named for named in reversed(agreed) if named), [])
    return bool(last) and not new <= {number for named in told for number in named}


def names_other_method(write: Call, methods: Mapping[str, Any], before: Sequence[Event]) -> bool:
    """Return whether the proposals that were agreed to name another payment method than the one that is written.

    Args:
        methods: The stored methods of the customer, by their ids.
    """
    named = [v for key, v in write.arguments.items() if key.startswith("payment") and isinstance(v, str)]
    chosen = next((v for v in named if v in methods), "")
    said = [(e.step.text.lower(), e.answer.startswith("Yes")) for e in before if isinstance(e.step, Say)]
    everything, agreed = " ".join(text for text, _ in said), " ".join(text for text, yes in said if yes)
    if not chosen or chosen in everything:
        return False
    if any(key in agreed for key in methods):
        return True
    kind = methods[chosen]["source"]
    others = [words for source, words in _kinds.items() if source != kind]
    return not re.search(_kinds.get(kind, kind), everything) and any(re.search(words, agreed) for words in others)


def _announces_other(write: Call, text: str) -> bool:
    """Whether a text announces only deeds that the write is not."""
    deed = _DEEDS.get(write.tool)
    verbs = {match["verb"] for match in _announced.finditer(text)}
    found = {name for name, words in _VERBS.items() for verb in verbs if re.fullmatch(words, verb)}
    return deed is not None and bool(found - {deed}) and not re.search(_OWN[deed], text)


def _chosen(write: Call) -> list[Any]:
    """Return what a write chooses: flights, items or variants."""
    return [value for value in write.arguments.values() if isinstance(value, list)]


def _named(records: Collection[str], text: str) -> set[str]:
    return {key for key in records if key.lstrip("#").lower() in text}


def _says(write: Call, text: str, concerned: Collection[str], alone: bool) -> bool:
    """Whether a text says what a write does, by a value or by its action."""
    if alone and (_any_action.search(text) or find_values(text)):
        return True
    words = "|".join(words for part, words in _WORDS.items() if part in write.tool)
    if words and re.search(rf"\b(?:{words})", text):
        return True
    return any(mentions(value, [text]) for value in _values(write.arguments) if value not in concerned)


def _values(given: Any) -> Iterator[str]:
    """Yield the values of arguments that tell one change from another."""
    if isinstance(given, dict):
        for value in given.values():
            yield from _values(value)
    elif isinstance(given, list):
        for value in given:
            yield from _values(value)
    elif isinstance(given, str) and len(given) > 2:
        yield given
