"""What an agent wrote, held against what the reference writes.

Only writes count: reads and talk leave no trace in the state. A write acts on an *entity* (a reservation,
an order, a customer); of its other arguments some *select records* (flights, item variants) and the rest
are *precise values* (payment ids, amounts, counts, names). These tables are all that is known of a domain.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from trace_gym.types import Call, Trajectory

ENTITIES = ("reservation_id", "order_id", "user_id")
"""Arguments that name the entity; the first that a call has, so a booking acts on its customer."""
SELECTORS = frozenset({"flights", "cabin", "origin", "destination", "item_ids", "new_item_ids"})
"""Arguments that select records out of what the tools show."""
CREATES = frozenset({"book_reservation", "send_certificate"})
"""Writes that add a record each time; the others set an entity to a state, so a repetition replaces."""
ROUTINE = frozenset(
    {"book_reservation", "modify_user_address", "update_reservation_baggages", "update_reservation_passengers"}
)
"""Writes that the policies leave to the customer; every other write is gated by a condition on the record."""

_number = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,6})?")


@dataclass(frozen=True)
class Attempt:
    """A write as it ended: the last call of a chain of refused retries."""

    call: Call
    refused: bool


@dataclass(frozen=True)
class Pair:
    """A write of the reference, and the agent's attempt at it, if there was one."""

    gold: Call
    done: Attempt | None

    @property
    def refused(self) -> bool:
        """It was attempted and the tool never accepted it."""
        return self.done is not None and self.done.refused

    def agrees(self, which: Callable[[str], bool]) -> bool:
        """Whether the attempt's arguments chosen by `which` are the reference's."""
        assert self.done is not None
        gold = {k: v for k, v in self.gold.arguments.items() if which(k)}
        done = {k: _trimmed(v, gold.get(k)) for k, v in self.done.call.arguments.items() if which(k)}
        return bool(canonical(gold) == canonical(done))


@dataclass(frozen=True)
class Contrast:
    """One trajectory against its reference."""

    trajectory: Trajectory
    pairs: tuple[Pair, ...]
    """Each write of the reference, in its order."""
    beyond: tuple[Call, ...]
    """Accepted writes of a kind, on an entity, that the reference never makes."""
    acted: bool
    """At least one write was attempted."""

    @property
    def attempted(self) -> tuple[Pair, ...]:
        return tuple(p for p in self.pairs if p.done is not None)


def contrast(trajectory: Trajectory) -> Contrast | None:
    """Hold a trajectory against its reference; None when there is no reference or no kind of its tools is known."""
    if trajectory.gold is None or not trajectory.tools:
        return None
    gold = _by_place(c for c in trajectory.gold if trajectory.tools.get(c.tool) == "write")
    made = [_attempt(c, refused) for c, refused in trajectory.calls if trajectory.tools.get(c.tool) == "write"]
    attempts = _by_place(made, lambda attempt: attempt.call)
    pairs, beyond = [], []
    for where, wanted in gold.items():
        tries = _without_retries(attempts.pop(where, []))
        found, left = _paired(wanted, tries if where[0] in CREATES else _standing(tries, len(wanted)))
        pairs += found
        beyond += [a.call for a in left if not a.refused and where[0] in CREATES]
    beyond += [a.call for rest in attempts.values() for a in rest if not a.refused]
    order = {id(c): n for n, c in enumerate(trajectory.gold)}
    return Contrast(
        trajectory=trajectory,
        pairs=tuple(sorted(pairs, key=lambda p: order[id(p.gold)])),
        beyond=tuple(beyond),
        acted=bool(made),
    )


def _attempt(call: Call, refused: bool) -> Attempt:
    # A model may write any JSON for arguments; no tool takes anything but an object.
    return Attempt(call, refused) if isinstance(call.arguments, dict) else Attempt(Call(call.tool), True)


def selects(argument: str) -> bool:
    """Whether an argument selects records."""
    return argument in SELECTORS


def precise(argument: str) -> bool:
    """Whether an argument is a precise value."""
    return argument not in SELECTORS and argument not in ENTITIES


def canonical(value: Any) -> Any:
    """A value in which only what matters differs: no order in lists, numbers as numbers, no missing optionals."""
    if isinstance(value, dict):
        return {k: canonical(v) for k, v in sorted(value.items()) if v is not None}
    if isinstance(value, (list, tuple)):
        return sorted((canonical(v) for v in value), key=lambda v: json.dumps(v, sort_keys=True, default=str))
    if isinstance(value, str):
        value = value.strip()
        return float(value) if _number.fullmatch(value) else value
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _trimmed(done: Any, gold: Any) -> Any:
    """A list of records without the fields that the reference leaves out: tools ignore them."""
    if not (isinstance(gold, list) and isinstance(done, list)):
        return done
    known = {k for record in gold if isinstance(record, dict) for k in record}
    return [{k: v for k, v in r.items() if k in known} if isinstance(r, dict) and known else r for r in done]


def place(call: Call) -> tuple[str, str]:
    """The tool and the entity that a write is about."""
    entity = next((call.arguments[key] for key in ENTITIES if key in call.arguments), "")
    return call.tool, str(entity).strip()


def _by_place(
    items: Iterable[Any], call: Callable[[Any], Call] = lambda item: item
) -> dict[tuple[str, str], list[Any]]:
    groups: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for item in items:
        groups[place(call(item))].append(item)
    return dict(groups)


def _without_retries(attempts: list[Attempt]) -> list[Attempt]:
    """An attempt that follows a refused one at the same place retries it; the last of a chain stands for it."""
    return [a for n, a in enumerate(attempts, 1) if not a.refused or n == len(attempts)]


def _standing(attempts: list[Attempt], count: int) -> list[Attempt]:
    """Where writes replace each other, the last `count` accepted ones; refused ones only fill up."""
    accepted = [a for a in attempts if not a.refused][-count:]
    return accepted + [a for a in attempts if a.refused][: count - len(accepted)]


def _paired(wanted: list[Call], attempts: list[Attempt]) -> tuple[list[Pair], list[Attempt]]:
    """Match reference writes with attempts at one place, the closest first, later attempts before earlier ones."""
    left, found = list(attempts), dict[int, Attempt]()
    for close in (lambda _: True, selects, None):
        for n, gold in enumerate(wanted):
            fits = [a for a in left if n not in found and (close is None or Pair(gold, a).agrees(close))]
            if fits:
                # The state at the end is what the last one left.
                found[n] = max(fits, key=lambda a: (not a.refused, left.index(a)))
                left.remove(found[n])
    return [Pair(gold, found.get(n)) for n, gold in enumerate(wanted)], left
