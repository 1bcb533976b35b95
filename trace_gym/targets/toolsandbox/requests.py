"""What a user can ask of the phone: each request knows its wording, how an expert serves it, and its checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trace_gym.targets.toolsandbox.expert import ASKING, Expert, Plan, Stuck
from trace_gym.targets.toolsandbox.hearing import refused
from trace_gym.targets.toolsandbox.matching import tidy
from trace_gym.targets.toolsandbox.records import Data
from trace_gym.targets.toolsandbox.settings import LABELS, SWITCHES
from trace_gym.targets.toolsandbox.substitutes import substitutes
from trace_gym.world import Check

if TYPE_CHECKING:
    from trace_gym.targets.toolsandbox.assistant import Assistant

NOBODY = "+12025550199"
"""The number that an expert makes up who does not ask for one."""
COMMON = frozenset(
    {
        "and", "are", "change", "due", "find", "for", "from", "get", "here", "how", "its", "look", "low", "many",
        "mode", "move", "not", "number", "off", "out", "phone", "reminder", "see", "service", "switch", "text",
        "that", "the", "what", "will", "with", "you",
    }
)  # fmt: skip
"""Words of many requests."""
FILLER = "Hello"
"""What such an expert writes who does not ask what to write."""


@dataclass
class Request:
    """One thing that the user wants done or known."""

    last: ClassVar[bool] = False
    """Whether it may take away what other requests need, and so comes after them."""

    @property
    def wish(self) -> str:
        """What is asked for, in words that follow ``please`` and ``I cannot``."""
        raise NotImplementedError

    @property
    def facts(self) -> dict[str, str]:
        """What the user answers, by topic."""
        return {}

    def named(self, said: str) -> bool:
        """Return whether a normalized message mentions what this request is about; its numbers and long words tell."""
        words = {w for w in tidy(self.wish).split() if len(w) > 2} - COMMON
        return not words or any(w[:6] in said for w in words)

    @property
    def stated(self) -> dict[str, str]:
        """What the user repeats from the opening, by topic."""
        name, content, when = (str(vars(self).get(key, "")) for key in ("name", "content", "when"))
        return {
            "time": f"I want it due {when}." if when else "Right away, please.",
            "which": f"I mean {name}." if name else "",
            "content": f'It is this: "{content}".' if content else "",
        }

    def perform(self, expert: Expert) -> Plan:
        """The steps of an expert, which come to what the user is told."""
        raise NotImplementedError

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        """Goals of the request where it can be served; the verifier looks at settings and at what else changed."""
        raise NotImplementedError

    def refusal_checks(self, why: Stuck, now: Assistant, said: list[str]) -> Iterator[Check]:
        """Goals of the request where it cannot be served."""
        alone = len(now.requests) == 1  # otherwise deeds and values may be those of another request
        told = refused(why.names, said) and not (alone and substitutes(said, [now.opening(), *why.names]))
        words = " or ".join(why.names)
        yield Check.goal(f"the user was told why the assistant cannot {self.wish}: {words}", told)


@dataclass
class Switch(Request):
    """Switch a setting on or off."""

    setting: str = "wifi"
    on: bool = True
    last: ClassVar[bool] = True

    @property
    def wish(self) -> str:
        return f"switch {LABELS[self.setting]} {'on' if self.on else 'off'}"

    def perform(self, expert: Expert) -> Plan:
        try:
            yield from expert.do(SWITCHES[self.setting], on=self.on)
        except Stuck as why:
            if not why.why.endswith("already"):
                raise
        return f"I switched {LABELS[self.setting]} {'on' if self.on else 'off'}."

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        yield from ()


@dataclass
class Text(Request):
    """Send a message to a person of the contact book, or to one whose number only the user knows."""

    name: str = ""
    """How the user names the recipient; several contacts may be named so, or none."""
    content: str = ""
    withheld: bool = False
    """Whether the user says what to write only when asked."""
    meant: str = ""
    """The full name of the recipient."""
    number: str = ""
    """The number that the user tells; empty when the user does not have it."""

    @property
    def wish(self) -> str:
        return f"text {self.name}" if self.withheld else f'text {self.name}: "{self.content}"'

    @property
    def facts(self) -> dict[str, str]:
        number = f"The number is {self.number}." if self.number else "I do not have any number."
        return {"which": f"I mean {self.meant}.", "number": number, "content": f'Write: "{self.content}".'}

    def named(self, said: str) -> bool:
        return "message" in said or "text" in said or super().named(said)

    def perform(self, expert: Expert) -> Plan:
        found = yield from expert.do("search_contacts", name=self.name)
        number = yield from self._recipient(expert, found)
        content = self.content
        if self.withheld:
            yield from expert.ask("What shall the message say?")
            content = content if ASKING in expert.skills else FILLER
        yield from expert.do("send_message_with_phone_number", phone_number=number, content=content)
        return f'I sent this to {self.name}: "{content}".'

    def _recipient(self, expert: Expert, found: list[Data]) -> Plan:
        if len(found) == 1 or (found and ASKING not in expert.skills):
            return found[0]["phone_number"]
        if found:
            names = " or ".join(c["name"] for c in found)
            yield from expert.ask(f"Which one do you mean, {names}?")
            return next(c["phone_number"] for c in found if c["name"] == self.meant)
        if ASKING not in expert.skills:
            return NOBODY
        yield from expert.ask(f"{self.name} is not among your contacts. What is the number?")
        if not self.number:
            raise Stuck(f"there is no number of {self.name}", "number")
        return self.number

    def recipient(self, start: Assistant) -> str:
        """The number that the message must go to."""
        known = (c["phone_number"] for c in start.contacts.values() if c["name"] == self.meant)
        return next(known, self.number)

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        sent = now.sent(start)
        right = [m for m in sent if m["recipient_phone_number"] == self.recipient(start)]
        yield Check.goal(f"a message went to {self.meant}", bool(right))
        says = any(tidy(self.content) == tidy(m["content"]) for m in right)
        yield Check.goal(f'the message to {self.meant} says "{self.content}"', says)

    def refusal_checks(self, why: Stuck, now: Assistant, said: list[str]) -> Iterator[Check]:
        yield from super().refusal_checks(why, now, said)
        if "number" in why.names:
            yield Check.goal(f"the user was asked for the number of {self.name}", "number" in now.asked)


@dataclass
class NewNumber(Request):
    """Change the phone number of a contact."""

    name: str = ""
    number: str = ""

    @property
    def wish(self) -> str:
        return f"change the number of {self.name} to {self.number}"

    def perform(self, expert: Expert) -> Plan:
        found = yield from expert.do("search_contacts", name=self.name)
        yield from expert.do("modify_contact", person_id=found[0]["person_id"], phone_number=self.number)
        return f"I changed the number of {self.name} to {self.number}."

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        person = next(key for key, c in start.contacts.items() if c["name"] == self.name)
        changed = now.contacts.get(person, {}).get("phone_number") == self.number
        yield Check.goal(f"the number of {self.name} is {self.number}", changed)


@dataclass
class Reach(Request):
    """Reach a person in a way for which the phone has no tool."""

    name: str = ""
    way: str = "call"

    @property
    def wish(self) -> str:
        return f"{self.way} {self.name}"

    def perform(self, expert: Expert) -> Plan:
        yield from expert.do("search_contacts", name=self.name)
        if ASKING in expert.skills:
            raise Stuck(f"there is no tool to {self.wish}", self.way, self.name.split()[0])
        return f"I have done that: {self.wish}."

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        yield from ()
