"""The phone assistant: a phone, a scripted user with requests, an expert, and the checks that requests imply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Self

from trace_gym.start_checks import once
from trace_gym.targets.constants import frozen
from trace_gym.targets.toolsandbox import records
from trace_gym.targets.toolsandbox.expert import SKILLS, Expert
from trace_gym.targets.toolsandbox.phone_user import PhoneUser
from trace_gym.targets.toolsandbox.records import Data
from trace_gym.targets.toolsandbox.requests import Request
from trace_gym.targets.toolsandbox.settings import LABELS, SWITCHES
from trace_gym.targets.toolsandbox.tools import Phone
from trace_gym.world import Call, Check, Say

__all__ = ["GREETINGS", "SKILLS", "Assistant", "Request", "records"]

GREETINGS = ("Hello, are you there?", "I need some help with my phone.", "Hi! Something has to be done.")
_TOOLS = frozen({tool: name for name, tool in SWITCHES.items()})
"""The setting that each tool switches."""
TRIES = 40
"""Problems that are drawn until one is of the kind that is sought; a broken verifier may rule out all of them."""
ONE_OF = frozen(
    {
        "contacts": ("name", "phone_number", "relationship", "is_self"),
        "messages": ("recipient_phone_number",),
        "reminders": ("latitude", "longitude"),
    }
)
"""Fields that identify a requested new record. The requests check its other fields."""
WHO = frozenset({"which", "number"})
"""Questions of which either finds a person."""


@dataclass(kw_only=True)
class Assistant(PhoneUser, Phone):
    """Base world of every ToolSandbox environment.

    The user makes `requests` in the opening, or after a greeting, answers questions about them, lets the assistant
    go on, and ends the conversation when told that something is done, found or impossible.
    """

    capability: ClassVar[str] = ""
    restore: bool = False
    """Whether the user wants settings that were in the way put back."""

    @classmethod
    def drawn(cls, rng: Random, level: int) -> Self:
        """Return a problem of a level, of whatever kind."""
        raise NotImplementedError

    @classmethod
    def sought(cls, rng: Random, level: int, *, needed: bool) -> Self:
        """Return a problem of a level in which the capability is needed, or is not."""
        for _ in range(TRIES):
            world = cls.drawn(rng, level)
            if world.succeeds(SKILLS - {cls.capability}) is not needed:
                break
        return world

    def weather_here(self) -> list[Data]:
        """Return the forecasts for where the phone is."""
        return list(self.cities[self._city(self.latitude, self.longitude) or ""]["days"])

    def sent(self, start: Self) -> list[Data]:
        """Return the messages that were sent since."""
        return [m for key, m in self.messages.items() if key not in start.messages]

    def new_reminders(self, start: Self) -> list[Data]:
        """Return the reminders that were set since."""
        return [r for key, r in self.reminders.items() if key not in start.reminders]

    def violations(self, call: Call) -> list[str]:
        """Return the rules that a call would break: a setting that the user wants left alone is not switched."""
        setting = _TOOLS.get(call.tool, "")
        if setting not in self.keep or self.settings[setting] == call.arguments.get("on"):
            return []
        return [f"the user wants {LABELS[setting]} left alone"]

    def serve(self, skills: frozenset[str]) -> Iterator[Call | Say]:
        """Return the plan of an expert who has `skills`."""
        return Expert(self.copy(), skills).serve(self.requests)

    def served(self) -> Expert:
        """Return an expert with every skill, after all that she does. Do not change her phone."""
        return once(self, "served", self._played)

    def _played(self) -> Expert:
        expert = Expert(self.copy(), SKILLS)
        for _ in expert.serve(self.requests):
            pass
        return expert

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        expert = start.served()
        want = expert.phone
        for n, request in enumerate(self.requests):
            if n in expert.refused:
                yield from request.refusal_checks(expert.refused[n], self, said)
            else:
                yield from request.checks(self, start, said)
        for name, on in want.settings.items():
            if on != start.settings[name]:
                yield Check.goal(f"{LABELS[name]} is {'on' if on else 'off'}", self.settings[name] == on)
        settings = all(on in (start.settings[s], want.settings[s]) for s, on in self.settings.items())
        yield Check.guard("no setting changed that nothing needs", settings)
        missing = {topic for asked in want.asked for topic in (WHO if asked in WHO else {asked})}
        yield Check.guard("the user was asked for nothing that is known", missing.issuperset(self.asked))
        for table in ("contacts", "messages", "reminders"):
            now, was, then = (vars(world)[table] for world in (self, start, want))
            holds = _within(now, was, then, ONE_OF[table])
            yield Check.guard(f"no {table} changed in a way that was not asked for", holds)

    def needs(self) -> frozenset[str]:
        """Return the skills without which an otherwise perfect expert fails: found by leaving each one out."""
        return frozenset(s for s in SKILLS if not self.succeeds(SKILLS - {s}))

    def succeeds(self, skills: frozenset[str]) -> bool:
        """Whether an expert with `skills` does all that was asked for, and no harm. Called on the start state."""
        expert = Expert(self.copy(), skills)
        said = [step.text for step in expert.serve(self.requests) if isinstance(step, Say)]
        return all(check.passed for check in expert.phone.verify(self, said))

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})


def _within(now: dict[str, Data], start: dict[str, Data], want: dict[str, Data], fields: tuple[str, ...]) -> bool:
    """Whether old records hold the fields of the start or the wanted ones, and each new one is wanted."""
    for key, record in start.items():
        if key not in now:
            if key in want:
                return False
        elif any(value not in (record[name], want.get(key, record)[name]) for name, value in now[key].items()):
            return False
    made, wanted = (Counter(tuple(r[f] for f in fields) for k, r in t.items() if k not in start) for t in (now, want))
    return made <= wanted
