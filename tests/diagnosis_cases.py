"""Helpers for the tests of diagnosis."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trace_gym.targets.tau2.log_format import KINDS
from trace_gym.types import Call, Trajectory


def tools_for(calls: Sequence[Call]) -> dict[str, Any]:
    """Return the tools of the first domain that has all the tools that are called."""
    return next((kinds for kinds in KINDS.values() if {c.tool for c in calls} <= kinds.keys()), {})


def cancel(reservation: str) -> Call:
    return Call("cancel_reservation", {"reservation_id": reservation})


def update(reservation: str, *flights: str, **changed: Any) -> Call:
    legs = [{"flight_number": f, "date": "2024-05-20"} for f in flights]
    return Call(
        "update_reservation_flights",
        {"reservation_id": reservation, "cabin": "economy", "flights": legs, "payment_id": "card_1"} | changed,
    )


class Refused(Call):
    """Call that the tool refuses."""


def episode(
    gold: Sequence[Call] | None,
    *steps: Call | str,
    success: bool | None = False,
    outputs: Sequence[str] = (),
    name: str = "t/0",
    task: str = "",
    tools: Mapping[str, Any] | None = None,
    request: str = "Hello.",
) -> Trajectory:
    messages: list[dict[str, Any]] = [{"role": "user", "content": request}]
    for n, step in enumerate(steps):
        if isinstance(step, str):
            messages.append({"role": "assistant", "content": step})
            continue
        function = {"name": step.tool, "arguments": json.dumps(step.arguments)}
        messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": f"c{n}", "function": function}]})
        answer = "Error: no" if isinstance(step, Refused) else json.dumps(step.arguments)
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "name": step.tool, "content": answer})
    return Trajectory(
        id=name,
        task=task or name,
        messages=tuple(messages),
        success=success,
        gold=None if gold is None else tuple(gold),
        outputs=tuple(outputs),
        tools=dict(tools_for([*(gold or ()), *(s for s in steps if isinstance(s, Call))]) if tools is None else tools),
    )
