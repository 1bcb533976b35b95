"""Outcome of an episode: the changed records, their payments, and the agent's reports after the first change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from trace_gym.statements.text import normalize, places_of, sentence_at
from trace_gym.targets.dialogue import acts
from trace_gym.targets.tau2.differences import moved
from trace_gym.targets.tau2.generic import Data
from trace_gym.types import Call, Event, Say

_MOST = 6
"""Maximum number of amounts whose sums are computed."""
_sentence = re.compile(r"(?<=[.!?;])\s")
_OPEN = frozenset({"proposal", "choice"})
"""Kinds of dialogue acts in messages that describe a change that the customer can still decline."""


@dataclass(frozen=True)
class RecordChanges:
    """Changes of the customer's records in an episode.

    Args:
        records: The ids of all records that messages may be about.
        moves: Mapping from the id of each changed record to the amounts of its changes. Refunds are negative.
        before: The reservations or orders at the start, by id.
        after: The reservations or orders at the end, by id.
        profile: The customer's stored payment methods by id.
    """

    records: tuple[str, ...]
    moves: Mapping[str, tuple[float, ...]]
    before: Mapping[str, Data]
    after: Mapping[str, Data]
    profile: Mapping[str, Data]

    @cached_property
    def methods(self) -> Mapping[str, tuple[tuple[str, float], ...]]:
        """Payment methods of the changes by record: the id of each method, and the amount (negative for a refund)."""
        return {key: tuple(_methods(self.before.get(key, _NEW), self.after[key])) for key in self.moves}

    @cached_property
    def past(self) -> frozenset[float]:
        """Sums of the amounts that were paid before the episode."""
        return frozenset(sums(_paid(record) for record in self.before.values() if record["payment_history"]))

    @cached_property
    def charges(self) -> frozenset[float]:
        """Sums of the charged amounts, also after the deduction of refunds."""
        return frozenset(total for total in self._totals if total > 0)

    @cached_property
    def refunds(self) -> frozenset[float]:
        """Sums of the refunded amounts, also after the deduction of charges."""
        return frozenset(-total for total in self._totals if total < 0)

    @cached_property
    def _totals(self) -> frozenset[float]:
        return frozenset(sums(m for amounts in self.moves.values() for m in amounts))


def outcome_of(
    before: Mapping[str, Data], after: Mapping[str, Data], profile: Mapping[str, Data], writes: Sequence[Call]
) -> RecordChanges:
    """Return the outcome of an episode from its records before and after.

    Args:
        before: The reservations or orders at the start, by id.
        after: The reservations or orders at the end, by id.
        profile: The customer's stored payment methods by id.
        writes: The write calls that were carried out. They may have left a record unchanged.
    """
    named = {value for write in writes for value in write.arguments.values() if isinstance(value, str)}
    changed = [key for key in after if key in named or key not in before]
    moves = {key: tuple(_moves(before.get(key, _NEW), after[key])) for key in changed}
    return RecordChanges(tuple(after), moves, before, after, profile)


_NEW: Data = {"payment_history": []}
"""Fields of a record that did not exist before the episode."""


def _paid(record: Data) -> float:
    return abs(float(record["payment_history"][0]["amount"]))


def _moves(before: Data, after: Data) -> Iterator[float]:
    """Yield the amounts that result from a change of a record, including refunds for returned items."""
    yield from moved(before, after)
    if back := _returned(before, after):
        yield -sum(float(i["price"]) for i in after["items"] if i["item_id"] in back)


def _methods(before: Data, after: Data) -> Iterator[tuple[str, float]]:
    """Yield the id of each payment method that a change of a record charges or refunds, with the amount."""
    for payment in after["payment_history"][len(before["payment_history"]) :]:
        sign = -1.0 if payment.get("transaction_type") == "refund" else 1.0
        yield str(payment.get("payment_id") or payment.get("payment_method_id")), sign * float(payment["amount"])
    if _returned(before, after):
        yield str(after["return_payment_method_id"]), -1.0
    if (difference := after.get("exchange_price_difference")) and not before.get("exchange_price_difference"):
        yield str(after["exchange_payment_method_id"]), float(difference)


def _returned(before: Data, after: Data) -> Sequence[str]:
    items: Sequence[str] = after.get("return_items") or ()
    return () if before.get("return_items") else items


def sums(amounts: Iterable[float]) -> Iterator[float]:
    """Yield the amounts and the sums of all combinations of amounts.

    If there are more than `_MOST` amounts, yield only the amounts and their total.
    """
    parts = [*amounts]
    if len(parts) > _MOST:
        yield from (*parts, round(sum(parts), 2))
        return
    for size in range(1, len(parts) + 1):
        yield from (round(sum(some), 2) for some in combinations(parts, size))


_confirms = re.compile(r"\bI can (?:now |also )?confirm that ", re.I)
"""Pattern of words that begin a report, although they sound like a question for confirmation."""


def reports(events: Sequence[Event], changed: Sequence[bool]) -> list[str]:
    """Return the normalized messages after the first change, or all messages if there is no change.

    Messages that propose a further change are skipped, because the customer can decline the proposal.

    Args:
        events: The agent's tool calls and messages.
        changed: For each event, whether it is a change that was carried out.
    """
    first = changed.index(True) if True in changed else -1
    said = [event.step.text for event in events[first + 1 :] if isinstance(event.step, Say)]
    return [normalize(text) for text in said if not _OPEN & {act.kind for act in acts(_confirms.sub("", text))}]


def lines_of(text: str, outcome: RecordChanges) -> Iterator[tuple[str, str]]:
    """Yield the parts of a text that name exactly one record, each with the id of the record.

    A part is a line, or a sentence of a line that names several records.
    """
    for line in text.split("\n"):
        named = _named(line, outcome)
        if len(named) == 1:
            yield line, named[0]
        elif named:
            sentences = (part for part in _sentence.split(line) if len(_named(part, outcome)) == 1)
            yield from ((part, _named(part, outcome)[0]) for part in sentences)


def record_at(text: str, position: int, outcome: RecordChanges) -> str:
    """Return the id of the record that the line, or else the sentence, at a position names.

    Return an empty string if it names no record or several records.
    """
    start, end = text.rfind("\n", 0, position) + 1, text.find("\n", position)
    if len(named := _named(text[start : end if end >= 0 else None], outcome)) == 1:
        return named[0]
    if len(named := _named(text[slice(*sentence_at(text, position))], outcome)) == 1:
        return named[0]
    return ""


def plain(record: str) -> str:
    """Return the id of a record as it is written in the normalized texts that `reports` returns."""
    return record.lower().lstrip("#")


def _named(text: str, outcome: RecordChanges) -> list[str]:
    return [key for key in outcome.records if places_of(plain(key), text)]


def contains(text: str, words: Iterable[str]) -> bool:
    """Return whether a text contains one of several words, possibly as part of a longer word.

    This test is much faster than a regular expression, so it is done before a search with a regular expression.
    """
    for word in words:  # noqa: SIM110 (faster than `any`)
        if word in text:
            return True
    return False
