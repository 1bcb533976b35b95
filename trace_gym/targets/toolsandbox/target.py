"""The target ToolSandbox, a phone assistant."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from trace_gym.errors import ReadError
from trace_gym.targets.base import Reader, Roles, Target
from trace_gym.targets.constants import frozen
from trace_gym.targets.toolsandbox.needs import DESCRIPTIONS

ROLES = Roles(
    entities=("person_id", "reminder_id"),  # messages have neither argument, so they share one entity
    selectors=frozenset({"phone_number", "latitude", "longitude"}),
    creates=frozenset({"add_contact", "add_reminder", "send_message_with_phone_number"}),
    routine=frozenset(
        {"add_contact", "modify_contact", "remove_contact", "add_reminder", "modify_reminder", "remove_reminder"}
    ),  # these tools depend on no setting of the phone
)
"""Roles of the tools and arguments of the phone."""


def _is_summary(data: Any) -> bool:
    return isinstance(data, dict) and "per_scenario_results" in data


def _refuse_summary(data: Any, path: Path, where: str, model: str) -> NoReturn:
    raise ReadError(
        f"{where} is a result_summary.json of ToolSandbox: found scores without conversations, expected trajectories. "
        "ToolSandbox scores milestones and has no reference calls, so its results cannot be diagnosed by rules. "
        "Record trajectories of the target's environments instead: trace-gym rollout toolsandbox_permission_recovery "
        "--policy openai:MODEL --out agent.jsonl"
    )


TOOLSANDBOX = Target(
    name="toolsandbox",
    prefix="toolsandbox",
    package="trace_gym.targets.toolsandbox",
    base="Assistant",
    open=("assistant", "errands", "requests", "lookups", "schedule", "settings"),
    whole=("records",),
    read=("phone_user", "expert", "hearing"),
    example="toolsandbox_permission_recovery",
    benchmark="toolsandbox",
    roles=ROLES,
    descriptions=frozen(DESCRIPTIONS),
    readers=(Reader("", _is_summary, _refuse_summary, "result_summary.json"),),
    user_rules="trace_gym.targets.toolsandbox.user_rules:RULES",
)
TARGETS = (TOOLSANDBOX,)
