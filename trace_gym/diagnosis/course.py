"""Order of the calls in a conversation: lookups before a write call, and a transfer to a human."""

from __future__ import annotations

from trace_gym.diagnosis.calls import with_results
from trace_gym.diagnosis.reference import ReferenceComparison, WritePair, place


def looked_up(pair: WritePair, seen: ReferenceComparison) -> bool:
    """Return whether the agent made a lookup that a write call needs (`Roles.lookups`) before it made the call.

    The arguments or the result of the lookup must contain the entity of the call. If the agent did not make the call,
    any such lookup is sufficient, regardless of its entity.
    """
    made = pair.attempt.call if pair.attempt is not None else None
    reads, entity = seen.roles.needed_lookups(pair.gold.tool), place(made or pair.gold, seen.roles)[1]
    for call, refused, result in with_results(seen.trajectory):
        if call == made:
            return False
        about = made is None or entity in call.arguments.values() or entity in result
        if call.tool in reads and not refused and about:
            return True
    return False


def to_hand_over(seen: ReferenceComparison) -> bool:
    """Return whether the reference ends the conversation with a tool in `Roles.endings`."""
    return any(call.tool in seen.roles.endings for call in seen.trajectory.gold or ())


def handed_over(seen: ReferenceComparison) -> bool:
    """Return whether the agent ended the conversation with a tool in `Roles.endings`."""
    return any(call.tool in seen.roles.endings and not refused for call, refused in seen.trajectory.calls)
