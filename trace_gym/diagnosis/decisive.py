"""Search for the turn of a conversation that determines the label of a capability."""

from __future__ import annotations

import json

from trace_gym.diagnosis.evidence import differences
from trace_gym.diagnosis.reference import ReferenceComparison, compare_with_reference
from trace_gym.types import Call, Trajectory


def decisive_turn(trajectory: Trajectory, capability: str, quote: str = "") -> str | None:
    """Return an excerpt from the turn that determines a label, or None if no single turn does.

    Args:
        trajectory: The trajectory.
        capability: Name of the capability.
        quote: Words of the trajectory that the analyst quoted. If not empty, they are returned.
    """
    if quote:
        return quote.partition("] ")[2] if quote.startswith("[") else quote
    seen = compare_with_reference(trajectory)
    call = None if seen is None else _wrong(seen) or _right(seen)
    return None if call is None else f"{call.tool} {json.dumps(call.arguments, sort_keys=True)}"


def _wrong(seen: ReferenceComparison) -> Call | None:
    """Return the first write call that the reference lacks, or that differs from the reference."""
    if seen.extra_writes:
        return seen.extra_writes[0]
    return next((p.attempt.call for p in seen.pairs if p.attempt is not None and differences(p)), None)


def _right(seen: ReferenceComparison) -> Call | None:
    """Return the agent's last write call that matches the reference. The first missing write call comes after it."""
    return next((p.attempt.call for p in reversed(seen.pairs) if p.attempt is not None), None)
