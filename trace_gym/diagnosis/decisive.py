"""Search for the turn of a conversation that determines the label of a capability."""

from __future__ import annotations

import json
from collections.abc import Callable

from trace_gym.diagnosis.behavior import repeated_call, unrecovered_call
from trace_gym.diagnosis.evidence import differences, specific
from trace_gym.diagnosis.grounding import ungrounded_call, unseen_write
from trace_gym.diagnosis.reference import ReferenceComparison, compare_with_reference
from trace_gym.types import Call, Trajectory

STATED = frozenset(
    {"permitted_action_completion", "lookup_before_action", "information_communication", "handover_judgement"}
)
"""Capabilities that an agent lacks if it says something instead of acting, or does not say what is needed."""
WRITES = frozenset({"precondition_verification", "adversarial_policy_compliance", "insufficient_information"})
"""Capabilities that an agent lacks if it makes a write that the reference does not contain."""
SYMPTOMS: dict[str, Callable[[Trajectory], Call | None]] = {
    "error_recovery": unrecovered_call,
    "permission_error_recovery": unrecovered_call,
    "grounded_arguments": ungrounded_call,
    "loop_avoidance": repeated_call,
}
"""Functions that find the call which shows a symptom."""


def decisive_turn(trajectory: Trajectory, capability: str, quote: str = "") -> str | None:
    """Return an excerpt from the turn that determines a label, or None if no single turn does.

    Without a quote, this is the call that shows a symptom or differs from the reference. If an action is missing, it is
    the agent's last write that matches the reference, or its last message, after which the action was necessary.

    Args:
        trajectory: The trajectory.
        capability: Name of the capability.
        quote: Words of the trajectory that the analyst quoted. If not empty, they are returned.
    """
    if quote:
        return quote.partition("] ")[2] if quote.startswith("[") else quote
    if capability == "lookup_before_action" and trajectory.gold is None:
        call = unseen_write(trajectory)
    else:
        call = None if capability in STATED else _decisive_call(trajectory, capability)
    if call is None and capability in SYMPTOMS:
        return None
    return _last_message(trajectory) if call is None else f"{call.tool} {json.dumps(call.arguments, sort_keys=True)}"


def _decisive_call(trajectory: Trajectory, capability: str) -> Call | None:
    if capability in SYMPTOMS:
        return SYMPTOMS[capability](trajectory)
    seen = compare_with_reference(trajectory)
    if seen is None:
        calls = trajectory.calls
        return calls[-1][0] if calls else None
    if capability in WRITES and seen.extra_writes:
        return seen.extra_writes[0]
    wrong = None if capability == "multi_step_completion" else _wrong(seen, capability)
    return wrong or _right(seen) or next(iter(seen.extra_writes), None)


def _last_message(trajectory: Trajectory) -> str | None:
    said = [str(m["content"]) for m in trajectory.messages if m.get("role") == "assistant" and m.get("content")]
    return said[-1] if said else None


def _wrong(seen: ReferenceComparison, capability: str) -> Call | None:
    """Return the first write call that differs from the reference, if possible in an argument of the capability."""
    wrong = [p for p in seen.pairs if p.attempt is not None and differences(p)]
    own = [p for p in wrong if any(specific(p.gold.tool, n, seen) == capability for n in differences(p))]
    return next((p.attempt.call for p in own or wrong if p.attempt is not None), None)


def _right(seen: ReferenceComparison) -> Call | None:
    """Return the agent's last write call that matches the reference. The first missing write call comes after it."""
    order = [call for call, _ in seen.trajectory.calls]
    made = [p.attempt.call for p in seen.pairs if p.attempt is not None]
    return max(made, key=order.index, default=None)
