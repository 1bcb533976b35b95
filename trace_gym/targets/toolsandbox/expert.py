"""The expert: works on a copy of the phone, meets refusals as an agent does, and may lack skills."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from trace_gym.targets.toolsandbox.settings import LABELS, LOW_BATTERY, SWITCHES
from trace_gym.world import Call, Say, ToolError, call_tool

if TYPE_CHECKING:
    from trace_gym.targets.toolsandbox.assistant import Assistant
    from trace_gym.targets.toolsandbox.requests import Request

RECOVERY = "permission_error_recovery"
DATES = "datetime_reasoning"
DEPENDENCIES = "state_dependency_resolution"
ASKING = "insufficient_information"
SKILLS = frozenset({RECOVERY, DATES, DEPENDENCIES, ASKING})
"""The capabilities of the phone assistant."""

Step = Call | Say
Plan = Generator[Step, None, Any]
"""Steps, and what they come to."""

_off = re.compile("|".join(f"(?P<{name}>{label} is off$)" for name, label in LABELS.items()))
_blocked = re.compile("in low battery mode$")


class Stuck(Exception):
    """A request that cannot be served: why, and words of which the user must hear one."""

    def __init__(self, why: str, *names: str) -> None:
        super().__init__(why, names)
        self.why, self.names = why, names


def cure(error: str) -> tuple[str, bool] | None:
    """The setting that a refusal asks for, and how it must stand; None where no setting is at fault."""
    if _blocked.search(error):
        return LOW_BATTERY, False
    found = _off.search(error)
    return (str(found.lastgroup), True) if found else None


class Expert:
    """Serves requests. Afterwards `phone` is what she leaves, and `refused` what she could not do."""

    def __init__(self, phone: Assistant, skills: frozenset[str]) -> None:
        self.phone = phone
        self.skills = skills
        self.refused: dict[int, Stuck] = {}
        self.changed: list[tuple[str, bool]] = []
        """Settings that were in the way, and how they stood."""

    def serve(self, requests: Sequence[Request]) -> Plan:
        """Every request in an order in which none undoes what another needs, then the closing words."""
        if self.phone.greeting:
            yield from self.ask("What can I do for you?")
        order = list(range(len(requests)))
        if DEPENDENCIES in self.skills:
            order.sort(key=lambda n: requests[n].last)
        words = []
        for n in order:
            try:
                words.append((yield from requests[n].perform(self)))
            except Stuck as why:
                self.refused[n] = why
                words.append(f"I cannot {requests[n].wish}: {why.why}.")
        if self.phone.restore and DEPENDENCIES in self.skills:
            yield from self._put_back()
        yield Say(" ".join(words))

    def do(self, tool: str, **arguments: Any) -> Plan:
        """Call a tool; with the skill, change the setting that is in the way and call it again.

        Raises:
            Stuck: It was refused for good.
        """
        yield Call(tool, arguments)
        try:
            return call_tool(self.phone, tool, arguments)
        except ToolError as error:
            refusal = str(error)
        wanted = cure(refusal)
        if wanted is None or RECOVERY not in self.skills:
            raise Stuck(refusal.partition(": ")[2])
        setting, on = wanted
        if setting in self.phone.keep:
            label = LABELS[setting]
            raise Stuck(f"{label} is {'off' if on else 'on'} and has to stay so", label)
        before = self.phone.settings[setting]
        yield from self.do(SWITCHES[setting], on=on)
        if self.phone.settings[setting] == before:
            raise Stuck(refusal.partition(": ")[2])
        self.changed.append((setting, before))
        return (yield from self.do(tool, **arguments))

    def ask(self, question: str) -> Plan:
        """Ask the user, and hear the answer."""
        yield Say(question)
        self.phone.reply(question)

    def _put_back(self) -> Plan:
        """Switch what was in the way back, the last first."""
        for setting, on in reversed(self.changed):
            if self.phone.settings[setting] != on:
                yield from self.do(SWITCHES[setting], on=on)
