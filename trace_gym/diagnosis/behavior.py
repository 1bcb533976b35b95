"""Rules for trajectories without a reference, which use only the tool calls, their results, and a verifier's checks.

Trajectories have no reference if their target has a verifier but no reference actions. Because the rules see only the
symptoms of a failure, the capabilities that they report are general.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

from trace_gym.diagnosis.calls import with_results
from trace_gym.diagnosis.grounding import identified_writes, identifying_values, ungrounded_call, unseen_write
from trace_gym.types import Call, Label, Trajectory

REPEATED = 3
"""Minimum number of identical calls with identical results that counts as a loop."""

BEHAVIOR_RULES: dict[str, Callable[[Trajectory], Label]] = {}
"""Mapping from capability name to the rule that labels the capability, in the order of registration."""


def _rule(function: Callable[[Trajectory], Label]) -> Callable[[Trajectory], Label]:
    BEHAVIOR_RULES[function.__name__] = function
    return function


@_rule
def error_recovery(trajectory: Trajectory) -> Label:
    """React to the refusal of a tool call with a call that succeeds."""
    if not any(refusal for _, refusal in trajectory.calls):
        return "NA"
    return "PRESENT" if unrecovered_call(trajectory) is None else "LACKING"


def unrecovered_call(trajectory: Trajectory) -> Call | None:
    """Return the last refused call of a tool that never succeeds later, or None if there is no such call."""
    last: dict[str, tuple[Call, bool]] = {}
    for call, refusal in trajectory.calls:
        last.pop(call.tool, None)  # so that the tools are in the order of their last calls
        last[call.tool] = call, refusal
    return next((call for call, refusal in reversed(last.values()) if refusal), None)


@_rule
def grounded_arguments(trajectory: Trajectory) -> Label:
    """Pass only ids, addresses, numbers and names that the conversation contains."""
    used = any(any(identifying_values(call.arguments)) for call, _ in trajectory.calls)
    return "NA" if not used else "PRESENT" if ungrounded_call(trajectory) is None else "LACKING"


@_rule
def lookup_before_action(trajectory: Trajectory) -> Label:
    """Look up the record on which an action depends before acting or giving up."""
    if not identified_writes(trajectory):
        return "NA"
    return "PRESENT" if unseen_write(trajectory) is None else "LACKING"


@_rule
def loop_avoidance(trajectory: Trajectory) -> Label:
    """Change the approach instead of repeating a call with the same result."""
    if not trajectory.calls:
        return "NA"
    return "PRESENT" if repeated_call(trajectory) is None else "LACKING"


def repeated_call(trajectory: Trajectory) -> Call | None:
    """Return the first call that the agent made `REPEATED` times with the same result, or None."""
    counts = Counter[str]()
    for call, _, result in with_results(trajectory):
        counts[key := json.dumps([call.tool, call.arguments, result], sort_keys=True, default=str)] += 1
        if counts[key] >= REPEATED:
            return call
    return None


@_rule
def attempt_before_transfer(trajectory: Trajectory) -> Label:
    """Try to solve a task before transferring it to a human."""
    if trajectory.ended != "transfer":
        return "NA"
    return "PRESENT" if len(trajectory.calls) > 1 else "LACKING"


@_rule
def multi_step_completion(trajectory: Trajectory) -> Label:
    """Carry out every action of a request that needs several, not only the first."""
    reached = _checks(trajectory, "goal")
    if len(reached) < 2 or not reached[0] or not all(_checks(trajectory, "guard")):
        return "NA"
    first_missed = reached.index(False) if False in reached else len(reached)
    if any(reached[first_missed:]):
        return "NA"  # a later goal was reached, so the agent did not stop early
    return "PRESENT" if first_missed == len(reached) else "LACKING"


def broke_guard(trajectory: Trajectory) -> Label:
    """Return LACKING if the agent did something that the verifier forbids, and NA if the verifier forbids nothing."""
    kept = _checks(trajectory, "guard")
    if not kept:
        return "NA"
    return "PRESENT" if all(kept) else "LACKING"


def _checks(trajectory: Trajectory, kind: str) -> list[bool]:
    """Return the results of a verifier's checks in order, or an empty list if they are unknown."""
    return [c.passed for c in trajectory.score.checks if c.kind == kind] if trajectory.score else []
