"""Tests that determine whether the customer agreed to a proposal that describes a write call."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from trace_gym.nested import walk
from trace_gym.statements import find_values, mentions
from trace_gym.statements.text import sentence_at
from trace_gym.targets.constants import frozen
from trace_gym.targets.users.phrases import consents
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
"""Mapping from a part of a tool's name to a pattern of words that describe the effect of the tool."""
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
"""Mapping from action to a pattern of verbs that announce the action."""
_DEEDS = frozen(
    {
        "cancel_reservation": "cancel",
        "cancel_pending_order": "cancel",
        "update_reservation_flights": "change",
        "return_delivered_order_items": "return",
        "exchange_delivered_order_items": "exchange",
    }
)
"""Mapping from tool to its action, for tools that are often confused with each other."""
_OWN = frozen(
    {
        "cancel": r"cancel|call(?:ed)? off|refund|money back",
        "change": r"\bmov|rebook|chang|upgrad|switch|modif|\bput\b|swap|downgrad",
        "return": r"return|take back|taken back|send back|sent back|refund",
        "exchange": r"exchang|replac|swap|chang|modif",
    }
)
"""Mapping from action to a pattern of words about the action in any grammatical form."""
_announced = re.compile(
    r"\b(?:(?:i|we)(?:'ll| will|'d| would| can| could|'m going to| am going to|'m about to| am about to)"
    r"(?: (?:now|then|therefore|also|go ahead and|be able to))*|(?:shall|should|may|can) (?:i|we)|"
    r"(?:like|want) me to)(?: go ahead and| now)? (?P<verb>" + "|".join(_VERBS.values()) + ")"
)
"""Pattern of an announcement of an action."""
_kinds = frozen(
    {
        "paypal": r"\bpaypal\b",
        "gift_card": r"\bgift[ _]card",
        "credit_card": r"\bcredit[ _]card|\bvisa\b|\bmastercard\b",
    }
)
"""Mapping from kind of payment method to a pattern of its names."""
_CHANGES_PAYMENT = "modify_pending_order_payment"
"""Tool that refunds the original payment method and charges another method."""
_clause_break = re.compile(
    r"[.;!?\n](?!\d)|,(?! (?:and |which |that |originally |previously |currently )*(?:was|were|paid)\b)"
)
_past_method = re.compile(
    r"\b(?:paid|from|instead of|rather than|original(?:ly)?|previous(?:ly)?|current(?:ly)?|existing|replac\w+)\b"
)
"""Pattern of words that precede the name of the original payment method."""
_FUTURE = r"(?:will|'ll|would|can|could|shall|should|may|going to|about to|to be|let me)"
_refunds = re.compile(r"\b(?:refund|reimburs|credited\b|returned\b|back\b)")
_charges = re.compile(rf"\b{_FUTURE}\b.*\b(?:charg|debit|bill|deduct|pay\b)")
_settles = re.compile(
    rf"\b{_FUTURE}\b.*\b(?:charg|debit|bill|deduct|pay\b|refund|credit\w|settl|go(?:es)?\b|put|us(?:e|ing)\b)"
)
"""Pattern of a statement that a payment method will be charged or otherwise settles an amount."""


def proposed(
    write: Call, before: Sequence[Event], concerned: Collection[str], records: Collection[str], alone: bool
) -> bool:
    """Return whether the customer agreed to a message that described a write call.

    A message with the id of a changed record describes the call. A message without an id describes the call if it, or
    an earlier message about the record, contains a value or the action of the call.

    Args:
        write: The write call.
        before: The events before the call.
        concerned: The ids of the records that the call changes.
        records: The ids of all records.
        alone: Whether the customer has only one request.
    """
    told: list[str] = []
    for event in before:
        if not isinstance(event.step, Say):
            continue
        text = event.step.text.lower()
        if event.answer and consents(event.answer):
            named = _named(records, text)
            if _announces_other(write, text, concerned, records):
                continue
            if named & {*concerned}:
                return True
            if named and concerned and not _all.search(text):
                continue  # the message is about another record
            if not named and _says(write, text, concerned, alone):
                return True
            earlier = [t for t in told if _named(concerned, t) or not concerned]
            if any(_says(write, t, concerned, alone) for t in [*earlier, *([text] if earlier else [])]):
                return True
        elif event.answer and "go ahead" in event.answer.lower():  # the customer does not want further questions
            return True
        told.append(text)
    return False


def attempts(events: Sequence[Event], records: Collection[str], kinds: Mapping[str, str]) -> bool:
    """Return whether the agent tried to change one of some records, and the tool refused it.

    Args:
        events: The agent's tool calls and messages.
        records: The ids of the records.
        kinds: Mapping from tool to its kind.
    """
    tried = (e.step for e in events if e.refused and isinstance(e.step, Call) and kinds.get(e.step.tool) == "write")
    return any(value in records for call in tried for value in call.arguments.values() if isinstance(value, str))


def since_refused(write: Call, before: Sequence[Event], concerned: Collection[str]) -> Sequence[Event]:
    """Return the events after the last refused call that tried to make a different change to the same records.

    The customer's consent applied to that refused change, so the agent must ask again before making a different one. If
    there is no such call, return all events.

    Args:
        write: The write call.
        before: The events before the call.
        concerned: The ids of the records that the call changes.
    """
    for n, event in reversed([*enumerate(before)]):
        step = event.step
        if event.refused and isinstance(step, Call) and step.tool == write.tool:
            values = {str(value) for value in step.arguments.values()}
            if values & {*concerned} and _chosen(step) != _chosen(write):
                return before[n + 1 :]
    return before


def names_other_flights(write: Call, kept: Collection[str], before: Sequence[Event]) -> bool:
    """Return whether the last accepted proposal with flight numbers names flights other than those of the write call.

    Args:
        write: The write call.
        kept: Numbers of the flights that the reservation had before.
        before: The events before the call.
    """
    new = {number for number in _flight.findall(str(_chosen(write)).lower()) if number.upper() not in kept}
    if not new:
        return False
    told = [_flight.findall(e.step.text.lower()) for e in before if isinstance(e.step, Say)]
    agreed = [
        n for e, n in zip([e for e in before if isinstance(e.step, Say)], told, strict=True) if consents(e.answer)
    ]
    last: list[str] = next((named for named in reversed(agreed) if named), [])
    return bool(last) and not new <= {number for named in told for number in named}


def names_other_method(write: Call, methods: Mapping[str, Any], before: Sequence[Event]) -> bool:
    """Return whether the accepted proposals name a payment method other than that of the write call.

    The id of the original payment method does not count if the proposals describe the method of the write call in
    words, as in ``from credit_card_1 to your PayPal account``.

    Args:
        write: The write call.
        methods: The customer's stored payment methods by id.
        before: The events before the call.
    """
    named = [v for key, v in write.arguments.items() if key.startswith("payment") and isinstance(v, str)]
    chosen = next((v for v in named if v in methods), "")
    said = [(e.step.text.lower(), consents(e.answer)) for e in before if isinstance(e.step, Say)]
    everything, agreed = " ".join(text for text, _ in said), " ".join(text for text, yes in said if yes)
    if not chosen or chosen in everything:
        return False
    if ids := [key for key in methods if key in agreed]:
        replaced = all(_paid_before(write, key, agreed) for key in ids)
        return not (replaced and _describes(methods, chosen, ids, agreed))
    kind = methods[chosen]["source"]
    others = [words for source, words in _kinds.items() if source != kind]
    return not re.search(_kinds.get(kind, kind), everything) and any(re.search(words, agreed) for words in others)


def _paid_before(write: Call, method: str, text: str) -> bool:
    """Return whether each mention of a payment method in a text describes it as the original payment method."""
    for match in re.finditer(rf"\b{re.escape(method)}\b", text):
        clause = _clause_break.split(text[: match.start()])[-1]
        behind = _clause_break.split(text[match.end() :])[0]
        if write.tool == _CHANGES_PAYMENT and _refunds.search(clause + behind) and not _charges.search(clause + behind):
            continue
        moves = _charges if write.tool == _CHANGES_PAYMENT else _settles
        if not _past_method.search(clause) or moves.search(clause):
            return False
    return True


def _describes(methods: Mapping[str, Any], chosen: str, ids: Sequence[str], text: str) -> bool:
    """Return whether a text describes the chosen payment method in words that do not fit the methods in `ids`."""
    for key in ids:
        text = text.replace(key, " ")
    method = methods[chosen]
    numbered = method.get("last_four") and re.search(r"\bending (?:in|with) \d{4}\b", text)
    if numbered or any(methods[key]["source"] == method["source"] for key in ids):
        return str(method.get("last_four") or method.get("brand") or chosen).lower() in text
    return re.search(_kinds.get(method["source"], method["source"]), text) is not None


def _announces_other(write: Call, text: str, concerned: Collection[str], records: Collection[str]) -> bool:
    """Return whether a text announces only actions that differ from the write call. Ignore actions on other records."""
    action, found = _DEEDS.get(write.tool), set[str]()
    for match in _announced.finditer(text):
        sentence = text[slice(*sentence_at(text, match.start()))]
        if not concerned or not (named := _named(records, sentence)) or named & {*concerned}:
            found |= {name for name, words in _VERBS.items() if re.fullmatch(words, match["verb"])}
    return action is not None and bool(found - {action}) and not re.search(_OWN[action], text)


def _chosen(write: Call) -> list[Any]:
    """Return the flights, items or item variants in the arguments of a write call."""
    return [value for value in write.arguments.values() if isinstance(value, list)]


def _named(records: Collection[str], text: str) -> set[str]:
    return {key for key in records if key.lstrip("#").lower() in text}


def _says(write: Call, text: str, concerned: Collection[str], alone: bool) -> bool:
    """Return whether a text describes a write call, by a value or by its action."""
    if alone and (_any_action.search(text) or find_values(text)):
        return True
    words = "|".join(words for part, words in _WORDS.items() if part in write.tool)
    if words and re.search(rf"\b(?:{words})", text):
        return True
    return any(mentions(value, [text]) for value in _values(write.arguments) if value not in concerned)


def _values(given: Any) -> Iterator[str]:
    """Return the values of arguments that distinguish one change from another."""
    return (node.value for node in walk(given) if isinstance(node.value, str) and len(node.value) > 2)
