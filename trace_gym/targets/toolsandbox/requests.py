"""Requests of a phone user. Each class defines its wording, the steps of an expert, and the checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trace_gym.targets.toolsandbox.expert import ASKING, Expert, Plan, RequestBlocked
from trace_gym.targets.toolsandbox.matching import tidy
from trace_gym.targets.toolsandbox.message_analysis import refused
from trace_gym.targets.toolsandbox.records import Data
from trace_gym.targets.toolsandbox.settings import LABELS, SWITCHES
from trace_gym.targets.toolsandbox.substitutes import substitutes
from trace_gym.world import Check

if TYPE_CHECKING:
    from trace_gym.targets.toolsandbox.assistant import Assistant

NOBODY = "+12025550199"
"""Phone number that an expert without the skill `ASKING` invents."""
COMMON = frozenset(
    {
        "and", "are", "change", "due", "find", "for", "from", "get", "here", "how", "its", "look", "low", "many",
        "mode", "move", "not", "number", "off", "out", "phone", "reminder", "see", "service", "switch", "text",
        "that", "the", "what", "will", "with", "you",
    }
)  # fmt: skip
"""Words that do not identify a request, because they are common."""
FILLER = "Hello"
"""Message text that an expert without the skill `ASKING` invents."""


@dataclass
class PhoneRequest:
    """Base class of a user's request for an action or for information."""

    last: ClassVar[bool] = False
    """Whether the request may disable services that other requests need, so that it must come last."""

    @property
    def wish(self) -> str:
        """Wording of the request, which can follow ``please`` and ``I cannot``."""
        raise NotImplementedError

    @property
    def facts(self) -> dict[str, str]:
        """Mapping from topic to the user's answer to a question about it."""
        return {}

    def named(self, said: str) -> bool:
        """Return whether a normalized message contains a number or characteristic word of this request."""
        words = {w for w in tidy(self.wish).split() if len(w) > 2} - COMMON
        return not words or any(w[:6] in said for w in words)

    @property
    def stated(self) -> dict[str, str]:
        """Mapping from topic to the part of the request that the user repeats when asked about it."""
        name, content, when = (str(vars(self).get(key, "")) for key in ("name", "content", "when"))
        return {
            "time": f"I want it due {when}." if when else "Right away, please.",
            "which": f"I mean {name}." if name else "",
            "content": f'It is this: "{content}".' if content else "",
        }

    def perform(self, expert: Expert) -> Plan:
        """Yield the steps of an expert, and return the sentence for the final message."""
        raise NotImplementedError

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        """Yield the goals of a request that is possible. The world itself checks all other changes."""
        raise NotImplementedError

    def refusal_checks(self, blocked: RequestBlocked, now: Assistant, said: list[str]) -> Iterator[Check]:
        """Yield the goals of a request that is not possible."""
        alone = len(now.requests) == 1  # otherwise, claimed actions and values may belong to another request
        explained = refused(blocked.names, said) and not (alone and substitutes(said, [now.opening(), *blocked.names]))
        words = " or ".join(blocked.names)
        yield Check.goal(f"the user was told why the assistant cannot {self.wish}: {words}", explained)


@dataclass
class Switch(PhoneRequest):
    """Request to switch a setting on or off."""

    setting: str = "wifi"
    on: bool = True
    last: ClassVar[bool] = True

    @property
    def wish(self) -> str:
        return f"switch {LABELS[self.setting]} {'on' if self.on else 'off'}"

    def perform(self, expert: Expert) -> Plan:
        try:
            yield from expert.do(SWITCHES[self.setting], on=self.on)
        except RequestBlocked as blocked:
            if not blocked.reason.endswith("already"):
                raise
        return f"I switched {LABELS[self.setting]} {'on' if self.on else 'off'}."

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        yield from ()


@dataclass
class Text(PhoneRequest):
    """Request to send a message to a contact, or to a person whose number only the user knows."""

    name: str = ""
    """Name of the recipient in the request; it may match several contacts or none."""
    content: str = ""
    withheld: bool = False
    """Whether the user states the text only when asked."""
    meant: str = ""
    """Full name of the recipient."""
    number: str = ""
    """Phone number that the user states when asked; empty if the user does not know the number."""

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
            raise RequestBlocked(f"there is no number of {self.name}", "number")
        return self.number

    def recipient(self, start: Assistant) -> str:
        """Return the phone number to which the message must be sent."""
        known = (c["phone_number"] for c in start.contacts.values() if c["name"] == self.meant)
        return next(known, self.number)

    def is_ambiguous(self, start: Assistant) -> bool:
        """Return whether several contacts have the first name with which the user names the recipient."""
        names = [str(contact["name"]) for contact in start.contacts.values()]
        return sum(name.partition(" ")[0] == self.name for name in names) > 1

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        sent = now.sent(start)
        right = [m for m in sent if m["recipient_phone_number"] == self.recipient(start)]
        yield Check.goal(f"a message went to {self.meant}", bool(right))
        message = any(tidy(self.content) == tidy(m["content"]) for m in right)
        yield Check.goal(f'the message to {self.meant} says "{self.content}"', message)

    def refusal_checks(self, blocked: RequestBlocked, now: Assistant, said: list[str]) -> Iterator[Check]:
        yield from super().refusal_checks(blocked, now, said)
        if "number" in blocked.names:
            yield Check.goal(f"the user was asked for the number of {self.name}", "number" in now.asked)


@dataclass
class NewNumber(PhoneRequest):
    """Request to change the phone number of a contact."""

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
class UnsupportedContact(PhoneRequest):
    """Request to contact a person in a way that no tool of the phone supports, such as a call."""

    name: str = ""
    way: str = "call"

    @property
    def wish(self) -> str:
        return f"{self.way} {self.name}"

    def perform(self, expert: Expert) -> Plan:
        yield from expert.do("search_contacts", name=self.name)
        if ASKING in expert.skills:
            raise RequestBlocked(f"there is no tool to {self.wish}", self.way, self.name.split()[0])
        return f"I have done that: {self.wish}."

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        yield from ()
