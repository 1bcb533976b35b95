"""Facts that messages state: values with their roles, names and statuses, in the words that people use."""

from __future__ import annotations

from trace_gym.statements.assertion import tells
from trace_gym.statements.cues import ROLES
from trace_gym.statements.status import states_done, states_pattern, states_status
from trace_gym.statements.subject import mentions
from trace_gym.statements.text import normalize
from trace_gym.statements.values import Value, find_values

__all__ = [
    "ROLES",
    "Value",
    "find_values",
    "mentions",
    "normalize",
    "states_done",
    "states_pattern",
    "states_status",
    "tells",
]
