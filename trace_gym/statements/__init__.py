"""Detection of the facts that an agent's messages state.

A fact is a value (a number, date or time), a name or id, the status of a record, or a finished action. Verifiers use
this package to test whether the agent informed the user correctly. The agent may use any common wording.
"""

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
