"""The ToolSandbox target, a phone assistant."""

from __future__ import annotations

from trace_gym.targets.base import Reader, Roles, Target
from trace_gym.targets.constants import frozen
from trace_gym.targets.toolsandbox.needs import DESCRIPTIONS
from trace_gym.targets.toolsandbox.results import is_summary, read_summary

ROLES = Roles(
    entities=("person_id", "reminder_id"),  # messages have neither argument, so they share one entity
    selectors=frozenset({"phone_number", "latitude", "longitude"}),
    creates=frozenset({"add_contact", "add_reminder", "send_message_with_phone_number"}),
    routine=frozenset(
        {"add_contact", "modify_contact", "remove_contact", "add_reminder", "modify_reminder", "remove_reminder"}
    ),  # these tools depend on no setting of the phone
    settings=frozenset(
        {
            "set_cellular_service_status",
            "set_location_service_status",
            "set_low_battery_mode_status",
            "set_wifi_status",
        }
    ),
    times=frozenset({"reminder_timestamp"}),
    lookups=(
        (frozenset({"modify_contact", "remove_contact"}), frozenset({"search_contacts"})),
        (frozenset({"modify_reminder", "remove_reminder"}), frozenset({"search_reminder"})),
    ),
    restricted=False,
)
"""Roles of the phone's tools and of their arguments."""


TOOLSANDBOX = Target(
    name="toolsandbox",
    prefix="toolsandbox",
    package="trace_gym.targets.toolsandbox",
    base="Assistant",
    open=("assistant", "random_requests", "requests", "lookups", "schedule", "settings"),
    whole=("records",),
    read=("phone_user", "expert", "message_analysis"),
    example="toolsandbox_permission_recovery",
    benchmark="toolsandbox",
    roles=ROLES,
    descriptions=frozen(DESCRIPTIONS),
    readers=(
        Reader(
            "the folder of a ToolSandbox run",
            is_summary,
            read_summary,
            main_file="result_summary.json",
            parts="trajectories",
            records="per_scenario_results",
        ),
    ),
    user_rules="trace_gym.targets.toolsandbox.user_rules:RULES",
)
TARGETS = (TOOLSANDBOX,)
