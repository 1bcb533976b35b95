"""Base world of the phone assistant, with a scripted user, an expert policy and checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Self

from trace_gym.start_checks import once
from trace_gym.targets.constants import frozen
from trace_gym.targets.toolsandbox import records
from trace_gym.targets.toolsandbox.expert import SKILLS, Expert
from trace_gym.targets.toolsandbox.false_reports import misreports
from trace_gym.targets.toolsandbox.phone_user import PhoneUser
from trace_gym.targets.toolsandbox.records import Data
from trace_gym.targets.toolsandbox.requests import PhoneRequest, Text
from trace_gym.targets.toolsandbox.settings import LABELS, SWITCHES
from trace_gym.targets.toolsandbox.tools import Phone
from trace_gym.world import Call, Check, Event, Say

__all__ = ["GREETINGS", "SKILLS", "Assistant", "PhoneRequest", "records"]

GREETINGS = ("Hello, are you there?", "I need some help with my phone.", "Hi! Something has to be done.")
_TOOLS = frozen({tool: name for name, tool in SWITCHES.items()})
"""Mapping from tool to the setting that it switches."""
TRIES = 40
"""Maximum number of random problems that `sample_with_need` tries."""
ONE_OF = frozen(
    {
        "contacts": ("name", "phone_number", "relationship", "is_self"),
        "messages": ("recipient_phone_number",),
        "reminders": ("latitude", "longitude"),
    }
)
"""Fields that identify a requested new record, by table. The requests check its other fields."""
WHO = frozenset({"which", "number"})
"""Topics of questions that identify a person."""


@dataclass(kw_only=True)
class Assistant(PhoneUser, Phone):
    """Base world of every ToolSandbox environment.

    The user states the `requests` in the first message or after a greeting, and answers questions about them. The
    conversation ends when the assistant reports that they were carried out or are impossible.
    """

    capability: ClassVar[str] = ""
    restore: bool = False
    """Whether the user wants changed settings to be restored in the end."""

    @classmethod
    def sample(cls, rng: Random, level: int) -> Self:
        """Return a random problem of a level."""
        raise NotImplementedError

    @classmethod
    def sample_with_need(cls, rng: Random, level: int, *, needed: bool) -> Self:
        """Return a random problem of a level that requires the capability (if `needed`) or does not."""
        for _ in range(TRIES):
            world = cls.sample(rng, level)
            if world.succeeds(SKILLS - {cls.capability}) is not needed:
                break
        return world

    def weather_here(self) -> list[Data]:
        """Return the forecasts for the phone's location."""
        return list(self.cities[self._city(self.latitude, self.longitude) or ""]["days"])

    def sent(self, start: Self) -> list[Data]:
        """Return the messages that were sent since the start state."""
        return [m for key, m in self.messages.items() if key not in start.messages]

    def new_reminders(self, start: Self) -> list[Data]:
        """Return the reminders that were added since the start state."""
        return [r for key, r in self.reminders.items() if key not in start.reminders]

    def violations(self, call: Call) -> list[str]:
        """Return the rules that a call would break: it must not switch a setting that the user wants left alone."""
        setting = _TOOLS.get(call.tool, "")
        if setting not in self.keep or self.settings[setting] == call.arguments.get("on"):
            return []
        return [f"the user wants {LABELS[setting]} left alone"]

    def serve(self, skills: frozenset[str]) -> Iterator[Call | Say]:
        """Yield the steps of an expert with these skills."""
        return Expert(self.copy(), skills).serve(self.requests)

    def served(self) -> Expert:
        """Return an expert with all skills after it has carried out the requests. Do not modify its phone."""
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

    def conduct(self, start: Self, events: Sequence[Event]) -> Iterator[Check]:
        said = [event.step.text for event in events if isinstance(event.step, Say)]
        heard = [start.opening(), *(event.answer for event in events if isinstance(event.step, Say))]
        wishes = [*heard, *(str(getattr(request, "content", "")) for request in self.requests)]
        contents = [message["content"] for message in self.messages.values()]
        for request in self.requests:
            if isinstance(request, Text) and request.is_ambiguous(start):
                asked = not WHO.isdisjoint(self.asked) or not self.sent(start)
                yield Check.conduct(f"the user was asked which {request.name} is meant", asked)
        yield Check.guard("nothing false was reported", not misreports(self.settings, contents, wishes, said))

    def needs(self) -> frozenset[str]:
        """Return the skills that an expert needs, found by removing one skill at a time."""
        return frozenset(s for s in SKILLS if not self.succeeds(SKILLS - {s}))

    def succeeds(self, skills: frozenset[str]) -> bool:
        """Return whether an expert with these skills passes all checks. Call it on the start state."""
        expert = Expert(self.copy(), skills)
        said = [step.text for step in expert.serve(self.requests) if isinstance(step, Say)]
        return all(check.passed for check in expert.phone.verify(self, said))

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})


def _within(now: dict[str, Data], start: dict[str, Data], want: dict[str, Data], fields: tuple[str, ...]) -> bool:
    """Return whether all old records have their start or wanted values, and all new records are wanted."""
    for key, record in start.items():
        if key not in now:
            if key in want:
                return False
        elif any(value not in (record[name], want.get(key, record)[name]) for name, value in now[key].items()):
            return False
    made, wanted = (Counter(tuple(r[f] for f in fields) for k, r in t.items() if k not in start) for t in (now, want))
    return made <= wanted
