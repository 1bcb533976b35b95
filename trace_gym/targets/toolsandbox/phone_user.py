"""Scripted user of the ToolSandbox environments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from trace_gym.statements.text import normalize
from trace_gym.targets.dialogue import Act
from trace_gym.targets.dialogue.alternatives import offers_after_refusal, offers_alternative
from trace_gym.targets.dialogue.clarification import clarified
from trace_gym.targets.dialogue.clauses import sentences
from trace_gym.targets.dialogue.question_forms import unwanted
from trace_gym.targets.dialogue.question_parts import is_past
from trace_gym.targets.toolsandbox.matching import tidy
from trace_gym.targets.toolsandbox.message_analysis import TOPICS, reports
from trace_gym.targets.toolsandbox.requests import COMMON, PhoneRequest, Switch, Text
from trace_gym.targets.toolsandbox.restoring import asks_to_restore, changes_first, is_later, meant_setting
from trace_gym.targets.toolsandbox.settings import LABELS, SERVICES
from trace_gym.targets.toolsandbox.wording import about_number, between
from trace_gym.targets.users import ScriptedUser
from trace_gym.targets.users.patterns import CONTINUES
from trace_gym.targets.users.phrases import BEYOND

if TYPE_CHECKING:
    from trace_gym.targets.toolsandbox.records import Data

__all__ = ["LEFT", "REST", "PhoneUser"]

REST = "Is everything that I asked for done?"
_reminder = re.compile(r"\bwhich (?:of \w+ )?(?:\w+ )?(?:reminders?|one)\b(?!.*\b(?:contact|person)\b)")
_own = re.compile(
    r"\b(?:switch|turn|leave|keep) (?:\w+ ){0,3}(?:on|off|as it is|alone)\b.* or |\bcalendar day\b|\btoday, or\b"
)
"""Pattern of a choice that the user leaves to the assistant."""
_acts = re.compile(
    r"\b(?:i|me|we|shall|should|proceed|go ahead|confirm|ok|okay|right|alright|fine|good|agree\w*|approve|want|"
    r"ready|do it|"
    r"continue|like|need)\b"
)
"""Pattern of words that ask for consent to an action."""
_SERVICES = ("remind", "messag", "delet", "contact", "invit")
_next = re.compile(r"\bnext (\w+day)\b")
_week = re.compile(r"\bweek\b|\bcoming\b|\bday after\b|\b(?:this|which|first|second) \w+day\b")
_clock = re.compile(r"\d:\d\d|\bo'clock\b|\bat that time\b|\b(?:morning|evening|afternoon|night|noon|[ap]\.?m)\b")
_place = re.compile(r"\b(?:which|what) (?:\w+ )?(?:city|zone|place|country)\b")
_zone = re.compile(r"\b(?:utc|gmt|zone|local)\b")
_kept = re.compile(r"\b(?:left|is|stays|remains) (?:\w+ )?as (?:it|they) (?:was|were|is)\b|\bun(?:changed|touched)\b")
"""Pattern of a statement that something remains unchanged."""
_all = re.compile(r"\b(?:all|both|everything|neither)\b")
LEFT = "All right. And what about the rest that I asked for?"
AGREED = ("Yes, please, as I asked.", "Yes, go ahead, as I asked.")
AGREES = ("Yes, if what I asked for needs it.", "Yes, go ahead, if what I asked for needs it.")
PUT_BACK = ("As I asked, please.", "The way I asked, please.")
IF_NEEDED = ("Only if what I asked for needs it.", "Only where what I asked for needs it.")
LEAVE_IT = ("Please leave it as it is.", "Leave it as it is, please.")
"""Answers to a question whether to restore a setting."""
ASKS = frozenset({"request", "choice", "proposal", "transfer", "refusal", "progress"})
"""Kinds of dialogue acts. In a message that contains one of them, a number does not count as a report."""
_QUESTIONS = frozenset({"request", "choice", "proposal"})
_happened = re.compile(
    r"\b(?:did|had|were|was|have|has) (?:you|it|he|she|they)\b"
    r"(?! (?:\w+ )?(?:want\w*|mean\w*|have in mind|say|said|ask\w*|prefer\w*|like|think|supposed|due|got)\b)|"
    r"\b(?:when|that|where) you (?:were|called|wrote|bought|booked|paid|fell|started|noticed)\b|\byou (?:paid|"
    r"bought|fell)\b"
)
"""Pattern of a question about the past."""
_thing = re.compile(
    r"\b(?:which|what) (?:\w+ )?(?:settings?|service|mode|options?|switch|app|feature|value|unit|format|city|"
    r"company|stock|"
    r"currency|exchange|market|symbol|source|language|calendar|account|place|of the two is)\b(?!.*\b(?:contact|"
    r"person)\b)"
)
"""Pattern of a question that asks which thing, not which person, is meant."""
_for_whom = re.compile(
    r"\bwho(?:m)? (?:is|are|was|should|shall|will|does)\b.*\b(?:for|remind\w*|get it|receive)\b|\bfor whom\b|"
    r"\b(?:you|yourself|own)\b.* or (?:for |is it |do you |rather )*(?:some(?:one|body)|any(?:one|body)|another|"
    r"other|others)\b|"
    r"\b(?:some(?:one|body)) else\b.* or .*\b(?:you|yourself)\b"
)
_several_numbers = re.compile(
    r"\b(?:two|several|more than one|both|multiple|0|different) (?:\w+ )?numbers\b|"
    r"\b(?:work|home|mobile|landline)\b.* or "
)


@dataclass(kw_only=True)
class PhoneUser(ScriptedUser):
    """Mixin class of `Assistant` with the scripted user's answers to the agent's messages."""

    questions: ClassVar[Mapping[str, re.Pattern[str]]] = TOPICS

    requests: list[PhoneRequest] = field(default_factory=list)
    greeting: str = ""
    """First message of a user who states the requests in the second message."""
    keep: tuple[str, ...] = ()
    """Settings that the user wants left alone."""
    asked: list[str] = field(default_factory=list)
    """Topics about which the agent asked the user, without duplicates."""
    heard: list[int] = field(default_factory=list)
    """Indices of the requests that reports and refusals mentioned."""
    if TYPE_CHECKING:
        contacts: dict[str, Data]
        """Contacts on the phone by id."""

    def opening(self) -> str:
        return self.greeting or self.wording

    def _answer(self, text: str, heard: tuple[Act, ...]) -> str | None:
        kinds = {act.kind for act in clarified(heard)}
        if self.greeting:
            self.greeting = ""
            return self.wording
        if answer := self._on_restoring(text, clarified(heard)):
            return answer
        if kinds.isdisjoint(ASKS) and "hold" not in kinds and reports(heard) and not CONTINUES.search(text.lower()):
            return self.concludes(text)
        return super()._answer(text, heard)

    def _on_restoring(self, text: str, heard: Sequence[Act]) -> str:
        """Return the answer to a question whether to restore settings, or `""` for other messages.

        The user agrees only if the first message requests it.
        """
        acts = [act for act in heard if act.kind in _QUESTIONS]
        asked = " ".join(act.text for act in acts)
        if not acts or not all(asks_to_restore(act.text) for act in acts):
            return ""
        setting, on = meant_setting(asked, text)
        if vars(self).get("restore") or (setting, on) in [
            (r.setting, r.on) for r in self.requests if isinstance(r, Switch)
        ]:
            return self.varied(AGREED if acts[-1].kind == "proposal" else PUT_BACK)
        if changes_first(asked):
            return f"{self.varied(AGREES)} Nothing has to be put back."
        if setting in SERVICES and on and not is_later(asked):  # the task may need the service
            return self.varied(IF_NEEDED)
        return self.beyond("unwanted", asked) if acts[-1].kind == "proposal" else self.varied(LEAVE_IT)

    def topics(self, heard: Sequence[Act]) -> list[str]:
        """Return the topics that a message asks about. A choice between people is only about the person."""
        requests = vars(self).get("requests", ())  # without a state there are none
        people = [r.meant for r in requests if isinstance(r, Text)]
        choices = [act for act in heard if act.kind in _QUESTIONS and any(between(act.text.lower(), p) for p in people)]
        choices = choices or [act for act in heard if act.kind in _QUESTIONS and self._namesakes(act.text, people)]
        if not choices and any(between(" ".join(act.text.lower() for act in heard), p) for p in people):
            choices = [act for act in heard if act.kind in ("request", "choice")]
        rest = [act._replace(text=about_number(act.text.lower())) for act in heard if act not in choices]
        found = super().topics(rest) if any(act.kind in _QUESTIONS for act in rest) else []
        found = [*(["which"] if choices else []), *found]
        people_meant = any(getattr(r, "stated", {}).get("which") for r in requests)
        if not people_meant and any(_reminder.search(act.text.lower()) for act in rest):
            found = ["reminder" if topic == "which" else topic for topic in found]
        if any(_thing.search(act.text.lower()) for act in rest if act.kind in _QUESTIONS):
            found = [topic for topic in found if topic != "which"]
        return list(dict.fromkeys(found))

    def _namesakes(self, asked: str, people: Sequence[str]) -> bool:
        """Return whether a question offers several contacts with the first name of the intended person."""
        first = {person.partition(" ")[0] for person in people if person}
        named = re.findall(r"\b([A-Z]\w+) ([A-Z]\w+)\b", asked)
        return " or " in asked and any(len({last for given, last in named if given == name}) > 1 for name in first)

    def tells(self, topic: str) -> str:
        facts = {topic: fact for r in reversed(self.requests) for topic, fact in r.facts.items()}
        if topic in facts and topic not in self.asked:
            self.asked.append(topic)
        stated = (fact for r in self.requests if (fact := r.stated.get(topic, "")))
        return facts.get(topic) or ("" if self.greeting else next(stated, ""))

    def recalls(self, text: str, asked: str, kind: str, choice: bool) -> str:
        """Return the intended day and time if a question offers several. Otherwise, answer as the base class does."""
        lower = asked.lower()
        due = next((s for r in self.requests if (s := r.stated.get("time", "")).startswith("I want")), "")
        day = _next.search(due)
        if due and day and (choice or " or " in lower) and _week.search(text.lower()):
            return f"The first {day[1]} after today."
        if "zone" in due and _place.search(lower):
            return due
        if due and (choice or " or " in lower) and _clock.search(lower) and not _zone.search(lower):
            return due
        if not any(isinstance(r, Text) for r in self.requests) and _for_whom.search(text.lower()):
            return "It is for me."
        if _several_numbers.search(text.lower()) and (choice or "which" in lower):
            return self.varied(BEYOND["numbers"])
        return super().recalls(text, asked, kind, choice)

    def unfamiliar(self, asked: str) -> bool:
        return is_past(asked) or _happened.search(asked) is not None

    def rest(self, heard: Sequence[Act], told: Sequence[str]) -> Sequence[str]:
        return ()

    def does_not_know(self, topics: list[str]) -> str:
        return super().does_not_know(topics) if "number" in topics else self.beyond("unrelated", "")

    def beyond(self, kind: str, asked: str) -> str:
        """Return the answer to an unknown topic. Leave choices about settings to the assistant."""
        return super().beyond("either" if kind == "wish" and _own.search(asked.lower()) else kind, asked)

    def offered_other(self, text: str, heard: tuple[Act, ...]) -> bool:
        people = any(contact["name"] in text for contact in vars(self).get("contacts", {}).values())
        offered = offers_alternative(heard, self.opening()) and not people
        return offered and not self._settings(offers_after_refusal(heard))

    def agrees(self, text: str) -> str:
        """Return the answer to a proposal: agree, unless it names a different person with the same first name."""
        asked = next((s for s in reversed([*sentences(text)]) if s.rstrip().endswith("?")), "").lower()
        for request in self.requests:
            meant = str(getattr(request, "meant", ""))
            people = [c["name"] for c in self.contacts.values() if c["name"].split()[0] == meant.partition(" ")[0]]
            named = [n for n in people if n.lower() in asked] or [n for n in people if n.lower() in text.lower()]
            unclear = len(people) > 1 and getattr(request, "name", "") == meant.partition(" ")[0]
            if named and unclear and "which" not in self.asked:
                self.asked.append("which")  # the answer tells the agent whether it is this person
            if named and meant not in named:
                return f"No. {request.facts['which']}"
        if asked and unwanted(asked, self.opening()) and not self._settings(text):
            return self.beyond("unwanted", asked)
        if asked and not _acts.search(asked) and not self._wanted(text):
            return "Yes, as far as I know."
        alone = [f"Leave {LABELS[s]} alone." for s in self.keep]
        return " ".join([self.varied(AGREED if self._wanted(text) else AGREES), *alone])

    def _settings(self, text: str) -> list[str]:
        """Return the settings that a message names but the user's requests do not."""
        said, wished = normalize(text), normalize(" ".join(r.wish for r in self.requests))
        return [label for label in map(normalize, LABELS.values()) if label in said and label not in wished]

    def _wanted(self, text: str) -> bool:
        """Return whether a proposal is about a request of the user, and about nothing else."""
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
        """Return the answer to a report or an accepted refusal, or None to end the conversation.

        If the agent has addressed only some of the requests, ask once about the rest.
        """
        said = normalize(" ".join(s for s in sentences(text) if not _kept.search(s.lower())))
        self.heard += [n for n, r in enumerate(self.requests) if n not in self.heard and r.named(said)]
        missing = len(self.heard) < len(self.requests) and not _all.search(said)
        if (self.heard or refusal) and len(self.requests) > 1 and missing and not self.reminded:
            self.reminded = 1
            return LEFT if refusal else REST
        return super().concludes(text, refusal)
