"""Tool calls of a trajectory with their results."""

from __future__ import annotations

from trace_gym.types import Call, Trajectory


def with_results(trajectory: Trajectory) -> list[tuple[Call, bool, str]]:
    """Return each call, whether the tool refused it, and its result. Omit calls whose arguments are not an object."""
    results = {
        message.get("tool_call_id"): str(message.get("content") or "")
        for message in trajectory.messages
        if message.get("role") == "tool"
    }
    ids = [call.get("id") for message in trajectory.messages for call in message.get("tool_calls") or ()]
    made = zip(trajectory.calls, ids, strict=True)
    return [(call, refused, results.get(i, "")) for (call, refused), i in made if isinstance(call.arguments, dict)]
