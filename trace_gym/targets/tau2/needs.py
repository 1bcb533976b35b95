"""Which capabilities a problem of the airline desk needs, derived by leaving each one out."""

from __future__ import annotations

from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk
from trace_gym.types import Call

DESCRIPTIONS = {
    "precondition_verification": "check the rules before cancelling and refuse what they forbid",
    "multi_step_completion": "carry out every part of a request with several parts",
    "structured_data_reasoning": "find the best record among search results",
    "tool_precision": "charge exactly the payment method that the customer names",
}
"""What the router and the reports say about each capability."""


def needed(desk: AirlineDesk) -> frozenset[str]:
    """The capabilities without which an otherwise perfect expert writes something else.

    Args:
        desk: The state at the start.
    """
    gold = writes(desk, SKILLS)
    return frozenset(s for s in SKILLS if writes(desk, SKILLS - {s}) != gold)


def writes(desk: AirlineDesk, skills: frozenset[str]) -> list[Call]:
    """The writes and hand-overs of an expert with `skills`."""
    kinds = desk.interface().kinds
    plan = [s for s in desk.serve(skills) if isinstance(s, Call)]
    return [c for c in plan if kinds[c.tool] == "write" or c.tool == "transfer_to_human_agents"]
