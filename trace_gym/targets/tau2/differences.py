"""Detection of messages that state a wrong cost or refund of a change. A message without amounts is not wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations

from trace_gym.statements.assertion import Statement
from trace_gym.statements.text import normalize
from trace_gym.statements.values import find_values
from trace_gym.targets.tau2.generic import Data

_MOVES = frozenset({"refund", "charge", "difference", "fee"})
"""Roles of an amount (see `trace_gym.statements.roles`) that a change charges or refunds."""
_ASIDE = frozenset({"fare", "each", "limit", "balance", "percent"})
"""Roles of prices and limits, which messages may state in addition to the amounts that a change charges or refunds."""
_settled = re.compile(
    r"\b(?:settl\w+|put|goes|go|going|gone|went|appl(?:y|ied|ies)|processed|handled|posted)\b(?! back)(?: up)? "
    r"(?:with|using|by|via|through|on|onto|to|against)\b"
)
"""Pattern of verbs that do not indicate who receives an amount, as in ``settled with your gift card``."""
_whole = re.compile(r"\d(?: dollars)? (?:out )?of (?:the|your|all|these|those) (?:total (?:of )?)?\$? ?$")
"""Pattern of the words before an amount of which another amount is a part, as in ``791 of the 3605 dollars``."""
_MOST = 6
"""Maximum number of amounts whose sums are computed."""
_LARGEST = 100_000.0
"""Smallest number that counts as the id of an item instead of an amount."""
_PRECISE = 0.005


def misstated(
    moves: Collection[float], shown: Collection[float], others: Collection[float], said: Iterable[str]
) -> bool:
    """Return whether messages state a wrong amount of a change, or the right amount in the wrong direction.

    Args:
        moves: Amounts of the changes. Charges are positive, refunds are negative.
        shown: Other amounts that occur in records or follow from records.
        others: Amounts of alternative changes. Messages may state them in addition to the right amounts.
        said: The messages.
    """
    sums = _sums(moves)
    stated = [*stated_amounts(said)]
    if any(_opposite(way, amount, sums, shown) for way, amount in stated):
        return True
    plain = {abs(total) for total in sums} | {abs(part) for part in shown}
    unknown = [amount for _, amount in stated if not _among(amount, plain)]
    if any(not _among(amount, map(abs, others)) for amount in unknown):
        return True
    return bool(unknown) and bool(sums) and not any(_among(amount, map(abs, sums)) for _, amount in stated)


def moved(before: Data, after: Data) -> list[float]:
    """Return the amounts that result from a change of a record: new payments, and the price difference of an exchange.

    Args:
        before: The record before the change.
        after: The record after the change.
    """
    signs = {"refund": -1.0}
    new = after["payment_history"][len(before["payment_history"]) :]
    found = [signs.get(p.get("transaction_type", ""), 1.0) * float(p["amount"]) for p in new]
    exchange = after.get("exchange_price_difference")
    return found + ([float(exchange)] if exchange and not before.get("exchange_price_difference") else [])


@lru_cache(maxsize=1024)
def neutral(text: str) -> str:
    """Return a lowercase text in which ``concerns`` replaces verbs that do not indicate who receives an amount."""
    return _settled.sub("concerns", normalize(text))


def stated_amounts(said: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Yield the direction and the value of each charged or refunded amount in messages.

    The direction is empty if the message does not state it.
    """
    for text in map(neutral, said):
        for value in find_values(text):
            statement = Statement(text, value)
            amount = abs(float(value.value)) if value.unit == "money" else _LARGEST  # type: ignore[arg-type]
            if _whole.search(text, 0, value.start):
                continue
            if amount >= _LARGEST or statement.attitude != "claimed":
                continue
            roles = statement.roles
            if not amount and "fee" in roles:  # a change may be free
                continue
            ways = roles & {"refund", "charge"}
            if len(ways) > 1 or not roles & _MOVES or roles & _ASIDE or (not ways and "paid" in roles):
                continue
            yield next(iter(ways), ""), amount


def _opposite(way: str, amount: float, sums: Sequence[float], shown: Collection[float]) -> bool:
    """Return whether an amount of a change is stated with the wrong direction, such as a charge as a refund."""
    if not way or _among(amount, shown):
        return False
    sign = 1 if way == "charge" else -1
    return _among(-sign * amount, sums) and not _among(sign * amount, sums)


def _sums(moves: Collection[float]) -> list[float]:
    """Return the amounts and the sums of all combinations of amounts."""
    parts = [m for m in moves if m][:_MOST]
    return [sum(some) for size in range(1, len(parts) + 1) for some in combinations(parts, size)]


def _among(amount: float, known: Iterable[float]) -> bool:
    return any(abs(amount - other) < _PRECISE for other in known)
