"""Comparison of an agent's write calls with those of the reference solution.

Only write calls are compared, because reads and messages do not change the state. A write call acts on an *entity*
(a reservation, an order, a customer). Some of its other arguments *select records* (flights, item variants), and the
rest are *precise values* (payment ids, amounts, counts, names). The `Roles` of a target contain all information about
the target.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from trace_gym.targets.base import Roles
from trace_gym.targets.catalogue import roles_of
from trace_gym.types import Call, Trajectory

_number = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,6})?")


@dataclass(frozen=True)
class WriteAttempt:
    """Write call of the agent, with a flag that is True if the tool refused the call."""

    call: Call
    refused: bool


@dataclass(frozen=True)
class WritePair:
    """Write call of the reference with the matching call of the agent, if there is one."""

    gold: Call
    attempt: WriteAttempt | None

    @property
    def refused(self) -> bool:
        """Whether the agent made the call, but the tool never accepted it."""
        return self.attempt is not None and self.attempt.refused

    def agrees(self, which: Callable[[str], bool]) -> bool:
        """Return whether the arguments that `which` selects are equal in both calls."""
        assert self.attempt is not None
        gold = {k: v for k, v in self.gold.arguments.items() if which(k)}
        attempt = {k: _trimmed(v, gold.get(k)) for k, v in self.attempt.call.arguments.items() if which(k)}
        return bool(canonical(gold) == canonical(attempt))


@dataclass(frozen=True)
class ReferenceComparison:
    """Comparison of one trajectory with its reference."""

    trajectory: Trajectory
    pairs: tuple[WritePair, ...]
    """Write calls of the reference, in order."""
    extra_writes: tuple[Call, ...]
    """Write calls of the agent without a counterpart in the reference, which would have the same tool and entity. A
    refused call is included only if a tool result contains its entity, so that the entity exists."""
    acted: bool
    """Whether the agent made at least one write call."""
    settings: tuple[SettingsDict, SettingsDict]
    """Final settings after the calls of the reference, and those after the accepted calls of the agent."""
    refused: bool
    """Whether a tool that does not change a setting refused at least one call."""
    unresolved: bool
    """Whether the last call of such a tool was refused."""
    roles: Roles
    """Roles of the write tools and arguments of the target."""

    @property
    def attempted(self) -> tuple[WritePair, ...]:
        return tuple(p for p in self.pairs if p.attempt is not None)


SettingsDict = dict[str, Any]
"""Mapping from a tool that changes a setting to the arguments of its last call."""


def compare_with_reference(trajectory: Trajectory) -> ReferenceComparison | None:
    """Compare a trajectory with its reference.

    Return None if the trajectory has no reference, or if the kinds of its tools are unknown.
    """
    if trajectory.gold is None or not trajectory.tools:
        return None
    roles = roles_of(trajectory)
    calls = [_attempt(c, refused) for c, refused in trajectory.calls]
    writes = {tool for tool, kind in trajectory.tools.items() if kind == "write"} - roles.settings
    gold = _by_place((c for c in trajectory.gold if c.tool in writes), roles)
    made = [a for a in calls if a.call.tool in writes]
    attempts = _by_place(made, roles, lambda attempt: attempt.call)
    pairs, extra_writes = [], []
    for where, wanted in gold.items():
        tries = _without_retries(attempts.pop(where, []))
        found, left = _paired(wanted, tries if where[0] in roles.creates else _standing(tries, len(wanted)), roles)
        pairs += found
        extra_writes += [a.call for a in left if not a.refused and where[0] in roles.creates]
    rest = [a for group in attempts.values() for a in group]
    shown = shown_records(trajectory) if any(a.refused for a in rest) else ""
    extra_writes += [a.call for a in rest if not a.refused or _contains(shown, place(a.call, roles)[1])]
    others = [a for a in calls if a.call.tool not in roles.settings]
    order = {id(c): n for n, c in enumerate(trajectory.gold)}
    return ReferenceComparison(
        trajectory=trajectory,
        pairs=tuple(sorted(pairs, key=lambda p: order[id(p.gold)])),
        extra_writes=tuple(extra_writes),
        acted=bool(made),
        settings=(
            _settings(trajectory.gold, roles),
            _settings((a.call for a in calls if not a.refused), roles),
        ),
        refused=any(a.refused for a in others),
        unresolved=any({a.call.tool: a.refused for a in others}.values()),
        roles=roles,
    )


def _settings(calls: Iterable[Call], roles: Roles) -> SettingsDict:
    return {c.tool: canonical(c.arguments) for c in calls if c.tool in roles.settings}


def _contains(text: str, entity: str) -> bool:
    return bool(entity) and re.search(rf"(?<!\w){re.escape(entity)}(?!\w)", text) is not None


def shown_records(trajectory: Trajectory) -> str:
    """Return the text of all tool results except refusals."""
    results = [str(m.get("content") or "") for m in trajectory.messages if m.get("role") == "tool"]
    return "\n".join(r for r in results if not r.lower().startswith("error"))


def _attempt(call: Call, refused: bool) -> WriteAttempt:
    # A model may write any JSON as arguments, but tools accept only objects.
    return WriteAttempt(call, refused) if isinstance(call.arguments, dict) else WriteAttempt(Call(call.tool), True)


def canonical(value: Any) -> Any:
    """Normalize a value for comparison: sort lists, convert numbers to floats, and omit fields that are None."""
    if isinstance(value, dict):
        return {k: canonical(v) for k, v in sorted(value.items()) if v is not None}
    if isinstance(value, (list, tuple)):
        return sorted((canonical(v) for v in value), key=lambda v: json.dumps(v, sort_keys=True, default=str))
    if isinstance(value, str):
        value = value.strip()
        return float(value) if _number.fullmatch(value) else value
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _trimmed(attempt: Any, gold: Any) -> Any:
    """Remove fields that do not occur in the reference from a list of records, because tools ignore such fields."""
    if not (isinstance(gold, list) and isinstance(attempt, list)):
        return attempt
    known = {k for record in gold if isinstance(record, dict) for k in record}
    return [{k: v for k, v in r.items() if k in known} if isinstance(r, dict) and known else r for r in attempt]


def place(call: Call, roles: Roles) -> tuple[str, str]:
    """Return the tool and the entity of a write call."""
    entity = next((call.arguments[key] for key in roles.entities if key in call.arguments), "")
    return call.tool, str(entity).strip()


def _by_place(
    items: Iterable[Any], roles: Roles, call: Callable[[Any], Call] = lambda item: item
) -> dict[tuple[str, str], list[Any]]:
    groups: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for item in items:
        groups[place(call(item), roles)].append(item)
    return dict(groups)


def _without_retries(attempts: list[WriteAttempt]) -> list[WriteAttempt]:
    """Remove refused calls that were retried later for the same tool and entity."""
    return [a for n, a in enumerate(attempts, 1) if not a.refused or n == len(attempts)]


def _standing(attempts: list[WriteAttempt], count: int) -> list[WriteAttempt]:
    """Return the last `count` accepted calls. If there are fewer than `count`, add refused calls.

    A later call overwrites the effect of an earlier one, so only the last calls matter.
    """
    accepted = [a for a in attempts if not a.refused][-count:]
    return accepted + [a for a in attempts if a.refused][: count - len(accepted)]


def _paired(
    wanted: list[Call], attempts: list[WriteAttempt], roles: Roles
) -> tuple[list[WritePair], list[WriteAttempt]]:
    """Match the write calls of the reference and of the agent for one tool and entity.

    Calls that agree in more arguments are matched first, and accepted and later calls are preferred.
    """
    left, found = list(attempts), dict[int, WriteAttempt]()
    for close in (lambda _: True, roles.selects_records, None):
        for n, gold in enumerate(wanted):
            fits = [a for a in left if n not in found and (close is None or WritePair(gold, a).agrees(close))]
            if fits:
                # The last accepted call determines the final state.
                found[n] = max(fits, key=lambda a: (not a.refused, left.index(a)))
                left.remove(found[n])
    return [WritePair(gold, found.get(n)) for n, gold in enumerate(wanted)], left
