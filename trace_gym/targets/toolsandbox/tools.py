"""The 33 tools of the phone, and their interface."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from trace_gym.targets.toolsandbox.messaging import Messaging
from trace_gym.targets.toolsandbox.reminders import Reminders
from trace_gym.targets.toolsandbox.searches import Searches
from trace_gym.targets.toolsandbox.utilities import Utilities
from trace_gym.types import Interface

HERE = Path(__file__).parent
CONVENTIONS = "You are an assistant on one person's phone, which you use through your tools. Follow the rules below."


@cache
def phone_interface() -> Interface:
    """Return the ToolSandbox interface.

    The names and types are those of the benchmark. The descriptions were written for this project.
    """
    data = json.loads((HERE / "phone.json").read_text())
    return Interface(
        name=data["name"],
        policy=(HERE / "phone_policy.md").read_text(),
        tools=tuple(data["tools"]),
        kinds=data["kinds"],
        conventions=CONVENTIONS,
        calls_per_turn=8,
    )


@dataclass(kw_only=True)
class Phone(Messaging, Reminders, Utilities, Searches):
    """State of a phone, and the tools that read and change the state."""

    @classmethod
    def interface(cls) -> Interface:
        return phone_interface()
