"""The phone assistant: a phone, a scripted user with requests, an expert, and the checks that requests imply."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar, Self

from trace_gym.start_checks import once
from trace_gym.statements.text import normalize
from trace_gym.targets.asides import BEYOND
from trace_gym.targets.clarity import clarified
from trace_gym.targets.constants import frozen
from trace_gym.targets.dialogue import Act
from trace_gym.targets.dialogue.clauses import sentences
from trace_gym.targets.dialogue.questions import unwanted
from trace_gym.targets.inquiries import is_past
from trace_gym.targets.scripted_user import ScriptedUser
from trace_gym.targets.toolsandbox import records
from trace_gym.targets.toolsandbox.expert import SKILLS, Expert
from trace_gym.targets.toolsandbox.hearing import TOPICS, reports
from trace_gym.targets.toolsandbox.matching import tidy
from trace_gym.targets.toolsandbox.records import Data
from trace_gym.targets.toolsandbox.requests import COMMON, Request, Text
from trace_gym.targets.toolsandbox.settings import LABELS, SWITCHES
from trace_gym.targets.toolsandbox.tools import Phone
from trace_gym.targets.toolsandbox.wording import about_number, between
from trace_gym.world import Call, Check, Say

__all__ = ["GREETINGS", "SKILLS", "Assistant", "Request", "records"]

GREETINGS = ("Hello, are you there?", "I need some help with my phone.", "Hi! Something has to be done.")
_TOOLS = frozen({tool: name for name, tool in SWITCHES.items()})
"""The setting that each tool switches."""
_reminder = re.compile(r"\bwhich (?:of \w+ )?(?:\w+ )?(?:reminders?|one)\b(?!.*\b(?:contact|person)\b)")
_own = re.compile(
    r"\b(?:switch|turn|leave|keep) (?:\w+ ){0,3}(?:on|off|as it is|alone)\b.* or |\bcalendar day\b|\btoday, or\b"
)
"""A choice that is the assistant's business."""
TRIES = 40
"""Problems that are drawn until one is of the kind that is sought; a broken verifier may rule out all of them."""
ONE_OF = frozen(
    {
        "contacts": ("name", "phone_number", "relationship", "is_self"),
        "messages": ("recipient_phone_number",),
        "reminders": ("latitude", "longitude"),
    }
)
"""What tells whether a new record is one that was asked for; its other fields are the requests' business."""
REST = "Is everything that I asked for done?"
_acts = re.compile(
    r"\b(?:i|me|we|shall|should|proceed|go ahead|confirm|ok|okay|right|alright|fine|good|agree\w*|approve|want|"
    r"ready|do it|"
    r"continue|like|need)\b"
)
"""Asks for consent to what the assistant does."""
_SERVICES = ("remind", "messag", "delet", "contact", "invit")
_next = re.compile(r"\bnext (\w+day)\b")
_week = re.compile(r"\bweek\b|\bcoming\b|\bday after\b|\b(?:this|which|first|second) \w+day\b")
_clock = re.compile(r"\d:\d\d|\bo'clock\b|\bat that time\b|\b(?:morning|evening|afternoon|night|noon|[ap]\.?m)\b")
_place = re.compile(r"\b(?:which|what) (?:\w+ )?(?:city|zone|place|country)\b")
_zone = re.compile(r"\b(?:utc|gmt|zone|local)\b")
_kept = re.compile(r"\b(?:left|is|stays|remains) (?:\w+ )?as (?:it|they) (?:was|were|is)\b|\bun(?:changed|touched)\b")
"""Says that something was not dealt with."""
_all = re.compile(r"\b(?:all|both|everything|neither)\b")
LEFT = "All right. And what about the rest that I asked for?"
AGREED = ("Yes, please, as I asked.", "Yes, go ahead, as I asked.")
AGREES = ("Yes, if what I asked for needs it.", "Yes, go ahead, if what I asked for needs it.")
ASKS = frozenset({"request", "choice", "proposal", "transfer", "refusal", "progress"})
"""Kinds of acts besides which a figure is no report."""
_QUESTIONS = frozenset({"request", "choice", "proposal"})
WHO = frozenset({"which", "number"})
"""Questions of which either finds a person."""


@dataclass(kw_only=True)
class Assistant(ScriptedUser, Phone):
    """Base world of every ToolSandbox environment.

    The user makes `requests` in the opening, or after a greeting, answers questions about them, lets the assistant
    go on, and ends the conversation when told that something is done, found or impossible.
    """

    capability: ClassVar[str] = ""
    questions: ClassVar[Mapping[str, re.Pattern[str]]] = TOPICS

    requests: list[Request] = field(default_factory=list)
    greeting: str = ""
    """What the user says first, where the requests come with the second message."""
    keep: tuple[str, ...] = ()
    """Settings that the user wants left alone."""
    restore: bool = False
    """Whether the user wants settings that were in the way put back."""
    asked: list[str] = field(default_factory=list)
    """What the user was asked for, each topic once."""
    heard: list[int] = field(default_factory=list)
    """The requests that reports and refusals were about."""

    @classmethod
    def drawn(cls, rng: Random, level: int) -> Self:
        """A problem of a level, of whatever kind."""
        raise NotImplementedError

    @classmethod
    def sought(cls, rng: Random, level: int, *, needed: bool) -> Self:
        """A problem of a level in which the capability is needed, or is not."""
        for _ in range(TRIES):
            world = cls.drawn(rng, level)
            if world.succeeds(SKILLS - {cls.capability}) is not needed:
                break
        return world

    def opening(self) -> str:
        return self.greeting or self.wording

    def _answer(self, text: str, heard: tuple[Act, ...]) -> str | None:
        kinds = {act.kind for act in clarified(heard)}
        if self.greeting:
            self.greeting = ""
            return self.wording
        if kinds.isdisjoint(ASKS) and "hold" not in kinds and reports(heard):
            return self.concludes(text)
        return super()._answer(text, heard)

    def topics(self, heard: Sequence[Act]) -> list[str]:
        """Return the topics that a message asks for; a choice between people is about nothing else."""
        requests = vars(self).get("requests", ())  # without a state there are none
        people = [r.meant for r in requests if isinstance(r, Text)]
        choices = [act for act in heard if act.kind in _QUESTIONS and any(between(act.text.lower(), p) for p in people)]
        if not choices and any(between(" ".join(act.text.lower() for act in heard), p) for p in people):
            choices = [act for act in heard if act.kind in ("request", "choice")]
        rest = [act._replace(text=about_number(act.text.lower())) for act in heard if act not in choices]
        found = super().topics(rest) if any(act.kind in _QUESTIONS for act in rest) else []
        found = [*(["which"] if choices else []), *found]
        people_meant = any(getattr(r, "stated", {}).get("which") for r in requests)
        if not people_meant and any(_reminder.search(act.text.lower()) for act in rest):
            found = ["reminder" if topic == "which" else topic for topic in found]
        return list(dict.fromkeys(found))

    def tells(self, topic: str) -> str:
        facts = {topic: fact for r in reversed(self.requests) for topic, fact in r.facts.items()}
        if topic in facts and topic not in self.asked:
            self.asked.append(topic)
        stated = (fact for r in self.requests if (fact := r.stated.get(topic, "")))
        return facts.get(topic) or ("" if self.greeting else next(stated, ""))

    def recalls(self, text: str, asked: str, kind: str, choice: bool) -> str:
        """Tell which day and time is meant where a question offers several; otherwise recall what any user does."""
        lower = asked.lower()
        due = next((s for r in self.requests if (s := r.stated.get("time", "")).startswith("I want")), "")
        day = _next.search(due)
        if due and day and (choice or " or " in lower) and _week.search(text.lower()):
            return f"The first {day[1]} after today."
        if "zone" in due and _place.search(lower):
            return due
        if due and (choice or " or " in lower) and _clock.search(lower) and not _zone.search(lower):
            return due
        return super().recalls(text, asked, kind, choice)

    def unfamiliar(self, asked: str) -> bool:
        return is_past(asked)

    def rest(self, heard: Sequence[Act], told: Sequence[str]) -> Sequence[str]:
        return ()

    def does_not_know(self, topics: list[str]) -> str:
        return super().does_not_know(topics) if "number" in topics else self.beyond("unrelated", "")

    def beyond(self, kind: str, asked: str) -> str:
        """Leave a choice about settings or about the order of work to the assistant; nobody has papers of a phone."""
        if kind == "fact":
            return self.varied(tuple(line for line in BEYOND["fact"] if "file" not in line and "system" not in line))
        return super().beyond("either" if kind == "wish" and _own.search(asked.lower()) else kind, asked)

    def agrees(self, text: str) -> str:
        """Agree, unless the message names a person who only shares the first name with the one who is meant."""
        asked = next((s for s in reversed([*sentences(text)]) if s.rstrip().endswith("?")), "").lower()
        for request in self.requests:
            meant = str(getattr(request, "meant", ""))
            people = [c["name"] for c in self.contacts.values() if c["name"].split()[0] == meant.partition(" ")[0]]
            named = [n for n in people if n.lower() in asked] or [n for n in people if n.lower() in text.lower()]
            if named and meant not in named:
                return f"No. {request.facts['which']}"
        if asked and unwanted(asked, self.opening()) and not self._settings(text):
            return self.beyond("unwanted", asked)
        if asked and not _acts.search(asked) and not self._wanted(text):
            return "Yes, as far as I know."
        alone = [f"Leave {LABELS[s]} alone." for s in self.keep]
        return " ".join([self.varied(AGREED if self._wanted(text) else AGREES), *alone])

    def _settings(self, text: str) -> list[str]:
        """Return the settings that a message names and the user did not."""
        said, wished = normalize(text), normalize(" ".join(r.wish for r in self.requests))
        return [label for label in map(normalize, LABELS.values()) if label in said and label not in wished]

    def _wanted(self, text: str) -> bool:
        """Return whether a proposal is about what was asked for, and about no setting that was not."""
        said, wished = normalize(text), normalize(" ".join(r.wish for r in self.requests))
        settings = self._settings(text)
        settings += [
            word
            for word in _SERVICES
            if word in said and word not in wished and not (word == "messag" and "text" in wished)
        ]
        words = [{w[:6] for w in tidy(r.wish).split() if len(w) > 3} - {c[:6] for c in COMMON} for r in self.requests]
        return not settings and any(own and 2 * sum(w in said for w in own) >= len(own) for own in words)

    def concludes(self, text: str, refusal: bool = False) -> str | None:
        """End the conversation, but ask once whether all is done where a message concerns only a part of it."""
        said = normalize(" ".join(s for s in sentences(text) if not _kept.search(s.lower())))
        self.heard += [n for n, r in enumerate(self.requests) if n not in self.heard and r.named(said)]
        missing = len(self.heard) < len(self.requests) and not _all.search(said)
        if (self.heard or refusal) and len(self.requests) > 1 and missing and not self.reminded:
            self.reminded = 1
            return LEFT if refusal else REST
        return super().concludes(text, refusal)

    def weather_here(self) -> list[Data]:
        """The forecasts for where the phone is."""
        return list(self.cities[self._city(self.latitude, self.longitude) or ""]["days"])

    def sent(self, start: Self) -> list[Data]:
        """The messages that were sent since."""
        return [m for key, m in self.messages.items() if key not in start.messages]

    def new_reminders(self, start: Self) -> list[Data]:
        """The reminders that were set since."""
        return [r for key, r in self.reminders.items() if key not in start.reminders]

    def violations(self, call: Call) -> list[str]:
        """The rules that a call would break: a setting that the user wants left alone is not switched."""
        setting = _TOOLS.get(call.tool, "")
        if setting not in self.keep or self.settings[setting] == call.arguments.get("on"):
            return []
        return [f"the user wants {LABELS[setting]} left alone"]

    def serve(self, skills: frozenset[str]) -> Iterator[Call | Say]:
        """The plan of an expert who has `skills`."""
        return Expert(self.copy(), skills).serve(self.requests)

    def served(self) -> Expert:
        """An expert with every skill, after all that she does. Do not change her phone."""
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
        """The skills without which an otherwise perfect expert fails: found by leaving each one out."""
        return frozenset(s for s in SKILLS if not self.succeeds(SKILLS - {s}))

    def succeeds(self, skills: frozenset[str]) -> bool:
        """Whether an expert with `skills` does all that was asked for, and no harm. Called on the start state."""
        expert = Expert(self.copy(), skills)
        said = [step.text for step in expert.serve(self.requests) if isinstance(step, Say)]
        return all(check.holds for check in expert.phone.verify(self, said))

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
