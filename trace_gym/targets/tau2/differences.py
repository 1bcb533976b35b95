"""Amounts of changes that messages misstate: none has to be told, but what is told must be right."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations

from trace_gym.statements.assertion import Statement
from trace_gym.statements.text import normalize
from trace_gym.statements.values import find_values
from trace_gym.targets.tau2.generic import Data

_MOVES = frozenset({"refund", "charge", "difference", "fee"})
"""Roles of an amount that a change moves."""
_ASIDE = frozenset({"fare", "each", "limit", "balance", "percent"})
"""Roles of prices and limits, which are told beside such an amount."""
_settled = re.compile(
    r"\b(?:settl\w+|put|goes|go|going|gone|went|appl(?:y|ied|ies)|processed|handled|posted)\b(?! back)(?: up)? "
    r"(?:with|using|by|via|through|on|onto|to|against)\b"
)
"""Words for the way of an amount that do not say who gets it, as in `settled with your gift card`."""
_MOST = 6
"""Changes whose sums are known."""
_LARGEST = 100_000.0
"""Larger numbers are ids of items."""
_PRECISE = 0.005


def misstated(
    moves: Collection[float], shown: Collection[float], others: Collection[float], said: Iterable[str]
) -> bool:
    """Return whether messages tell a wrong amount of a change, or the right one in the wrong direction.

    Args:
        moves: What the changes move: what is charged is positive, what comes back negative.
        shown: Other amounts that records show or that follow from them.
        others: Amounts of the changes that were not chosen; they may be told beside the right ones.
    """
    sums = _sums(moves)
    told = [*_told(said)]
    if any(_opposite(way, amount, sums, shown) for way, amount in told):
        return True
    plain = {abs(total) for total in sums} | {abs(part) for part in shown}
    unknown = [amount for _, amount in told if not _among(amount, plain)]
    if any(not _among(amount, map(abs, others)) for amount in unknown):
        return True
    return bool(unknown) and bool(sums) and not any(_among(amount, map(abs, sums)) for _, amount in told)


def moved(before: Data, after: Data) -> list[float]:
    """Return what a change of a record moves: its new payments, and the difference of an exchange."""
    signs = {"refund": -1.0}
    new = after["payment_history"][len(before["payment_history"]) :]
    found = [signs.get(p.get("transaction_type", ""), 1.0) * float(p["amount"]) for p in new]
    exchange = after.get("exchange_price_difference")
    return found + ([float(exchange)] if exchange and "exchange_price_difference" not in before else [])


def neutral(text: str) -> str:
    """Return a text in small letters with one verb for those that leave open who gets an amount: `settled with`."""
    return _settled.sub("concerns", normalize(text))


def _told(said: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Yield the amounts of money that messages claim to move, with the direction; empty where it is left open."""
    for text in map(neutral, said):
        for value in find_values(text):
            statement = Statement(text, value)
            amount = abs(float(value.value)) if value.unit == "money" else _LARGEST  # type: ignore[arg-type]
            if amount >= _LARGEST or statement.attitude != "claimed":
                continue
            roles = statement.roles
            ways = roles & {"refund", "charge"}
            if len(ways) > 1 or not roles & _MOVES or roles & _ASIDE or (not ways and "paid" in roles):
                continue
            yield next(iter(ways), ""), amount


def _opposite(way: str, amount: float, sums: Sequence[float], shown: Collection[float]) -> bool:
    """Whether an amount of a change is told with the other direction."""
    if not way or _among(amount, shown):
        return False
    sign = 1 if way == "charge" else -1
    return _among(-sign * amount, sums) and not _among(sign * amount, sums)


def _sums(moves: Collection[float]) -> list[float]:
    """Return the amounts and their sums."""
    parts = [m for m in moves if m][:_MOST]
    return [sum(some) for size in range(1, len(parts) + 1) for some in combinations(parts, size)]


def _among(amount: float, known: Iterable[float]) -> bool:
    return any(abs(amount - other) < _PRECISE for other in known)
