"""Search for the turn of a conversation that determines the label of a capability."""

from __future__ import annotations

import json

from trace_gym.diagnosis.evidence import differences
from trace_gym.diagnosis.reference import ReferenceComparison, compare_with_reference
from trace_gym.types import Call, Trajectory

STATED = frozenset(
    {"permitted_action_completion", "lookup_before_action", "information_communication", "handover_judgement"}
)
"""Capabilities that an agent lacks if it says something instead of acting, or does not say what is needed."""
REFUSED = frozenset({"error_recovery", "permission_error_recovery"})
"""Capabilities that an agent lacks if it does not react to the refusal of a call."""


def decisive_turn(trajectory: Trajectory, capability: str, quote: str = "") -> str | None:
    """Return an excerpt from the turn that determines a label, or None if the agent did and said nothing.

    Without a quote, this is the turn in which the agent made a wrong write, its last write that matches the reference,
    or its last message, after which the missing action was necessary.

    Args:
        trajectory: The trajectory.
        capability: Name of the capability.
        quote: Words of the trajectory that the analyst quoted. If not empty, they are returned.
    """
    if quote:
        return quote.partition("] ")[2] if quote.startswith("[") else quote
    call = None if capability in STATED else _decisive_call(trajectory, capability)
    return _last_message(trajectory) if call is None else f"{call.tool} {json.dumps(call.arguments, sort_keys=True)}"


def _decisive_call(trajectory: Trajectory, capability: str) -> Call | None:
    calls = trajectory.calls
    if capability in REFUSED:
        return next((call for call, refused in reversed(calls) if refused), None)
    seen = compare_with_reference(trajectory)
    if seen is not None:
        return _wrong(seen) or _right(seen)
    return calls[-1][0] if calls else None


def _last_message(trajectory: Trajectory) -> str | None:
    said = [str(m["content"]) for m in trajectory.messages if m.get("role") == "assistant" and m.get("content")]
    return said[-1] if said else None


def _wrong(seen: ReferenceComparison) -> Call | None:
    """Return the first write call that the reference lacks, or that differs from the reference."""
    if seen.extra_writes:
        return seen.extra_writes[0]
    return next((p.attempt.call for p in seen.pairs if p.attempt is not None and differences(p)), None)


def _right(seen: ReferenceComparison) -> Call | None:
    """Return the agent's last write call that matches the reference. The first missing write call comes after it."""
    return next((p.attempt.call for p in reversed(seen.pairs) if p.attempt is not None), None)
