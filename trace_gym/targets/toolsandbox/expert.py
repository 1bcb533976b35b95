"""Expert policy of ToolSandbox worlds: it acts on a copy of the phone and can be run without selected skills."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from trace_gym.targets.toolsandbox.settings import LABELS, LOW_BATTERY, SWITCHES
from trace_gym.world import Call, Say, ToolError, call_tool

if TYPE_CHECKING:
    from trace_gym.targets.toolsandbox.assistant import Assistant
    from trace_gym.targets.toolsandbox.requests import PhoneRequest

RECOVERY = "permission_error_recovery"
DATES = "datetime_reasoning"
DEPENDENCIES = "state_dependency_resolution"
ASKING = "insufficient_information"
SKILLS = frozenset({RECOVERY, DATES, DEPENDENCIES, ASKING})
"""Capabilities that the ToolSandbox environments test."""

Step = Call | Say
Plan = Generator[Step, None, Any]
"""Generator of steps that returns their result, such as a tool result or a sentence."""

_off = re.compile("|".join(f"(?P<{name}>{label} is off$)" for name, label in LABELS.items()))
_blocked = re.compile("in low battery mode$")


class RequestBlocked(Exception):
    """Exception for a request that cannot be carried out.

    Args:
        reason: Reason in the words of the agent.
        names: Words of which the agent's refusal must contain at least one.
    """

    def __init__(self, reason: str, *names: str) -> None:
        super().__init__(reason, names)
        self.reason, self.names = reason, names


def remedy_for(error: str) -> tuple[str, bool] | None:
    """Return the setting that caused a tool error and its required value, or None if no setting caused it."""
    if _blocked.search(error):
        return LOW_BATTERY, False
    found = _off.search(error)
    return (str(found.lastgroup), True) if found else None


class Expert:
    """Expert policy that carries out requests. It changes `phone`, and records failed requests in `refused`."""

    def __init__(self, phone: Assistant, skills: frozenset[str]) -> None:
        self.phone = phone
        self.skills = skills
        self.refused: dict[int, RequestBlocked] = {}
        self.changed: list[tuple[str, bool]] = []
        """Changed settings with their previous values."""

    def serve(self, requests: Sequence[PhoneRequest]) -> Plan:
        """Yield the steps of all requests, and the final message. Requests that may disable services come last."""
        if self.phone.greeting:
            yield from self.ask("What can I do for you?")
        order = list(range(len(requests)))
        if DEPENDENCIES in self.skills:
            order.sort(key=lambda n: requests[n].last)
        words = []
        for n in order:
            try:
                words.append((yield from requests[n].perform(self)))
            except RequestBlocked as blocked:
                self.refused[n] = blocked
                words.append(f"I cannot {requests[n].wish}: {blocked.reason}.")
        if self.phone.restore and DEPENDENCIES in self.skills:
            yield from self._restore_settings()
        yield Say(" ".join(words))

    def do(self, tool: str, **arguments: Any) -> Plan:
        """Call a tool and return its result.

        An expert with the skill `RECOVERY` changes the setting that caused an error and repeats the call.

        Raises:
            RequestBlocked: The tool fails, and no permitted change of a setting helps.
        """
        yield Call(tool, arguments)
        try:
            return call_tool(self.phone, tool, arguments)
        except ToolError as error:
            refusal = str(error)
        wanted = remedy_for(refusal)
        if wanted is None or RECOVERY not in self.skills:
            raise RequestBlocked(refusal.partition(": ")[2])
        setting, on = wanted
        if setting in self.phone.keep:
            label = LABELS[setting]
            raise RequestBlocked(f"{label} is {'off' if on else 'on'} and has to stay so", label)
        before = self.phone.settings[setting]
        yield from self.do(SWITCHES[setting], on=on)
        if self.phone.settings[setting] == before:
            raise RequestBlocked(refusal.partition(": ")[2])
        self.changed.append((setting, before))
        return (yield from self.do(tool, **arguments))

    def ask(self, question: str) -> Plan:
        """Ask the user a question, and let the world process the answer."""
        yield Say(question)
        self.phone.reply(question)

    def _restore_settings(self) -> Plan:
        """Restore the changed settings in reverse order."""
        for setting, on in reversed(self.changed):
            if self.phone.settings[setting] != on:
                yield from self.do(SWITCHES[setting], on=on)
