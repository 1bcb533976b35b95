"""A user who talks by simple rules, for every target that has no user of its own kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from trace_gym.targets.asides import (
    BEYOND,
    ENDING,
    IDENTITY,
    MEANT,
    NEEDED,
    PROFILE,
    UNLESS,
)
from trace_gym.targets.clarity import clarified, only_checks, only_confirms, whole
from trace_gym.targets.constants import frozen
from trace_gym.targets.dialogue import Act, acts, refuses
from trace_gym.targets.dialogue.questions import FACTUAL, form, unwanted
from trace_gym.targets.inquiries import asks_for_others, head, is_past, parts, suits, without_records
from trace_gym.targets.recall import means_either, quoted, recalled, same_or_other
from trace_gym.targets.sayings import (
    ACCEPTS,
    ALTERNATIVES,
    APART,
    APPLIES,
    ASKED,
    CHECKED,
    CONFIRMS,
    CONSENTS,
    GOES_ON,
    GREETING,
    IDENTIFIER,
    IDLE,
    INTRODUCTION,
    LACKS,
    MEANS,
    NOTES,
    OWN_WORK,
    PATIENCE,
    PERSONAL,
    PUSHES,
    PUZZLED,
    SENTENCE,
    SETTLED,
    STORED,
    SUMS,
    THANKS,
    TRANSFERRED,
    VERIFIES,
    WAITS,
    WANTS,
    WHOEVER,
)
from trace_gym.world import World

__all__ = ["ACCEPTS", "LACKS", "PATIENCE", "PUSHES", "WANTS", "ScriptedUser", "refuses"]


@dataclass(kw_only=True)
class ScriptedUser(World):
    """Parent of base worlds whose user opens with `wording` and reacts to the dialogue acts of each message.

    The user answers questions on the topics of `questions`, agrees to proposals, thanks for progress, objects `pushes`
    times to a refusal and then accepts it, and ends the conversation after a report that everything is done, a good-bye
    or an accepted refusal, unless something else is open. A sentence that the user does not understand never ends it.

    Override the methods that begin with `tells` in this class for a user who behaves differently, not `reply`. Each
    returns what the user says; `concludes` may return None, which ends the conversation.
    """

    questions: ClassVar[Mapping[str, re.Pattern[str]]] = frozen({})
    """Topic -> how an agent asks for it, in small letters. Only clauses that ask something are searched."""

    wording: str = ""
    """The opening; written by `generate`."""
    pushes: int = 0
    pushed: int = 0
    nudged: int = 0
    """A count that environments may use."""
    reminded: int = 0
    """How often the user asked for what `outstanding` names."""
    last_answer: str = ""
    """What the user said last."""
    idle: int = 0
    """Messages in a row that neither asked nor reported anything, or were not understood."""
    aside: int = 0
    """How many questions outside of the known topics the user answered."""

    def opening(self) -> str:
        return self.wording

    def reply(self, text: str) -> str | None:
        """Answer a message by its dialogue acts; None ends the conversation.

        One message that is not understood never ends it, but `PATIENCE` messages in a row that lead nowhere do.
        """
        answer = self._answer(text, acts(text))
        self.idle = self.idle + 1 if answer in IDLE else 0
        if self.idle > PATIENCE:
            return None
        if answer and answer == self.last_answer:
            answer = f"As I said: {answer.removeprefix(WANTS)}"
        self.last_answer = answer or ""
        return answer

    def _answer(self, text: str, heard: tuple[Act, ...]) -> str | None:
        meant = clarified(heard)
        kinds = {act.kind for act in meant}
        checks, heard = only_checks(heard, meant), meant
        if checks and not kinds & ASKED:
            return self.checked(text)
        if checks:
            kinds.discard("proposal")
        if "choice" in kinds and only_confirms(heard):
            kinds.discard("proposal")
        if kinds & ASKED:
            return self._informs(text, heard, "proposal" in kinds)
        if "proposal" in kinds:
            return self.agrees(text)
        if "transfer" in kinds:
            return self.varied(TRANSFERRED)
        if "refusal" in kinds:
            if needed := self.needed(heard):
                return needed
            goes_on = not kinds.isdisjoint(("hold", "progress"))
            return self.objects(text) or (self.varied(ACCEPTS) if goes_on else self.concludes(text, refusal=True))
        if "progress" in kinds:
            return self.varied(GOES_ON if any(OWN_WORK.search(act.text.lower()) for act in heard) else WAITS)
        if kinds & {"completion", "closing", "offer"}:
            return self.concludes(text)
        if "hold" in kinds:
            return self.varied(WAITS)
        if "inform" in kinds:
            return self.varied(NOTES)
        return self.chooses(text) if kinds == {"greeting"} else self.puzzled(text)

    def _informs(self, text: str, heard: Sequence[Act], proposed: bool) -> str:
        """Return the answer to a message that asks for something, and perhaps for consent."""
        asked = " ".join(act.text for act in heard if act.kind in ASKED)
        kind = form(whole(heard).lower(), self.opening())
        choice = any(act.kind == "choice" for act in heard)
        if not proposed and (recalls := self.recalls(text, whole(heard), kind, choice)):
            return recalls
        familiar = [act for act in heard if not (act.kind in ASKED and self.unfamiliar(act.text.lower()))]
        if not proposed and not any(act.kind in ASKED for act in familiar):
            known = "" if asks_for_others(asked.lower()) else recalled(asked.lower(), self.opening())
            return known or self.beyond("polar" if kind == "polar" else "fact", asked)
        topics = self.topics(familiar)
        if kind == "details" and STORED.search(self.opening()):  # the id is all there is to say
            kind = "fact"
        if kind in ("details", "first", "both", "wording") and not proposed:
            reasons = [self.tells("reason")] if "reason" in topics else []
            return " ".join(filter(None, [*reasons, self.beyond(kind, asked)]))
        facts = self.personal(asked.lower(), topics)
        lines = [
            line for t in topics if (line := self.tells(t)) and (len(topics) > 1 or suits(asked.lower(), topics, line))
        ]
        told = list(dict.fromkeys(filter(None, [*facts, *lines, *self.rest(heard, [*facts, *lines])])))
        if told:
            consent = self.agrees(text) if proposed else ""
            said = [consent, *told] if consent.startswith("Yes") else [*told, consent]
            return " ".join(filter(None, said))
        if proposed:
            return self.agrees(text)
        if kind in ("proof", "unwanted"):
            return self.beyond(kind, asked)
        if not choice and self._unknown(heard):
            return self.varied(LACKS)
        if topics and not choice:
            return self.does_not_know(topics)
        if known := recalled(whole(heard).lower(), self.opening()):
            return known
        polar = kind == "polar" and not FACTUAL.match(asked) and bool(IDENTIFIER.search(asked))
        if (choice or " or " in asked or polar) and type(self).chooses is not ScriptedUser.chooses:
            return self.chooses(text)
        return self.beyond(kind, whole(heard)) or self.chooses(text)

    def recalls(self, text: str, asked: str, kind: str, choice: bool) -> str:
        """Return what the opening says about the words that a message quotes, or about a choice; empty if nothing."""
        opening = self.opening()
        if kind != "first" and (said := same_or_other(asked, opening)):
            return said
        if (choice or kind in ("wording", "meaning") or APPLIES.search(asked)) and (words := quoted(text, opening)):
            return f"{MEANT}{words}"
        if choice and APART.search(asked) and not MEANS.search(asked):
            return self.beyond("either", asked)
        if SUMS.search(asked) and " or " in asked:
            return recalled(asked.lower(), opening) or self.beyond("either", asked)
        if means_either(asked.lower()):
            return self.beyond("applies", asked)
        named = {*IDENTIFIER.findall(asked)} & {*IDENTIFIER.findall(opening)}
        return recalled(asked.lower(), opening) if choice and kind != "both" and len(named) == 1 else ""

    def unfamiliar(self, asked: str) -> bool:
        """Return whether all that a clause asks for is on file or about somebody else, so that no topic covers it."""
        return all(is_past(part) or asks_for_others(part) for part in [*parts(asked)] or [asked])

    def rest(self, heard: Sequence[Act], told: Sequence[str]) -> Sequence[str]:
        """Return what the user says about those of several questions in a message that no topic covers."""
        found = [p for act in heard if act.kind == "request" for p in parts(act.text.lower())]
        if len(found) < 2 or not any(told):
            return ()
        opening = self.opening()
        found = [p for p in found if not WHOEVER.search(p)]
        left = [
            p for p in found if self.unfamiliar(p) or not (self.topics([Act("request", p)]) or self.personal(p, ()))
        ]
        said = [line for p in left if (line := recalled(p, opening))]
        return said if len(said) >= len(left) else [*said, self.beyond("rest", "")]

    def needed(self, heard: Sequence[Act]) -> str:
        """Return what a refusal says the agent needs: `I cannot open it without your id.`."""
        found = (UNLESS.search(act.text.lower()) for act in heard if act.kind == "refusal")
        asked = [match[1] for match in found if match]
        topics = [t for t in NEEDED if t in self.questions and any(map(self.questions[t].search, asked))]
        topics += [t for t in IDENTITY if t in self.questions and any(map(PROFILE.search, asked))]
        return next(filter(None, map(self.tells, topics)), "")

    def beyond(self, kind: str, asked: str) -> str:
        """Return the answer to a question of a form outside of the known topics; empty where `chooses` answers it."""
        if kind == "wording" or (kind == "meaning" and not any(v in self.opening() for v in IDENTIFIER.findall(asked))):
            return f"{MEANT}{self.restated()}"
        if kind == "details" and (ending := ENDING.search(self.opening())):
            return f"It is the one ending in {ending[1]}."
        if kind not in BEYOND or (kind == "either" and IDENTIFIER.search(asked)):
            return ""
        lines = BEYOND[kind]
        first = len(self.opening()) + self.aside
        self.aside += 1
        return self.varied((*lines[first % len(lines) :], *lines[: first % len(lines)]))

    def personal(self, asked: str, topics: Sequence[str]) -> Sequence[str]:
        """Return the facts about the user that a question asks for and that no topic of `questions` covers."""
        return ()

    def topics(self, heard: Sequence[Act]) -> list[str]:
        """Return the topics of `questions` that a message asks for; a list after a question belongs to it.

        A question without a topic has that of the clause before it: `I see a Visa and a gift card. Which one?`
        """
        asked: list[str] = []
        before = ""
        for n, act in enumerate(heard):
            if act.kind in ASKED:
                asked.append(without_records(act.text.lower()))
                before = heard[n - 1].text.lower() if n else ""
            elif asked and act.kind == "inform":
                asked.append(act.text.lower())
        found = [t for words in asked for t in self._matching(head(words)) or self._matching(words)]
        if found:
            return [topic for topic in self.questions if topic in found]
        return [topic for topic, pattern in self.questions.items() if pattern.search(before)]

    def _matching(self, words: str) -> list[str]:
        return [topic for topic, pattern in self.questions.items() if pattern.search(words)]

    def _unknown(self, heard: Sequence[Act]) -> bool:
        """Return whether a message asks for a personal fact that the opening does not mention."""
        asked = " ".join(act.text.lower() for act in heard if act.kind in ASKED)
        opening = self.opening().lower()
        return any(("@" if "mail" in fact else fact.split()[-1]) not in opening for fact in PERSONAL.findall(asked))

    def varied(self, lines: tuple[str, ...]) -> str:
        """Return the first of some wordings that is not what the user said last."""
        return next((line for line in lines if line != self.last_answer), lines[0])

    def hears(self, text: str) -> str:
        """Return what the user takes a message for: confirmation, refusal, done, the topic of a question, or other."""
        heard = acts(text)
        kinds = {act.kind for act in heard}
        if kinds & ASKED and (topics := self.topics(heard)):
            return topics[0]
        if "proposal" in kinds:
            return "confirmation"
        if kinds & ASKED:
            return "other"
        if "refusal" in kinds:
            return "refusal"
        return "done" if kinds & {"completion", "closing"} else "other"

    def tells(self, topic: str) -> str:
        """Return what the user answers to a question about a topic; empty if the user knows nothing about it."""
        return ""

    def restated(self) -> str:
        """Return what the user wants, for `chooses`; by default the opening without its introduction."""
        wanted = " ".join(s for s in SENTENCE.split(GREETING.sub("", self.opening())) if not INTRODUCTION.search(s))
        wanted = wanted or self.opening()
        return wanted[:1].upper() + wanted[1:]

    def agrees(self, text: str) -> str:
        """Return the answer to a proposal. Override it for a user who objects or revises."""
        asked = [act.text for act in clarified(acts(text)) if act.kind == "proposal"]
        if asked and unwanted(asked[-1], self.opening()):
            return self.beyond("unwanted", asked[-1])
        return self.varied(CONFIRMS if asked and VERIFIES.search(asked[-1]) else CONSENTS)

    def checked(self, text: str) -> str:
        """Return the answer to the question whether a fact is right; it is no consent to a change."""
        return self.varied(CHECKED)

    def chooses(self, text: str) -> str:
        """Return the answer to a choice between options, and to a question on no known topic."""
        asked = " ".join(act.text for act in acts(text) if act.kind in ASKED)
        named, opening = {*IDENTIFIER.findall(asked)}, self.opening()
        known = {v for v in named if v in opening}
        if len(known) == 1 and (len(named) > 1 or not ALTERNATIVES.search(asked)):
            return f"I mean {known.pop()}."
        return f"{WANTS}{self.restated()}"

    def does_not_know(self, topics: list[str]) -> str:
        """Return the answer to a question about topics of which the user knows nothing."""
        return self.varied(LACKS)

    def objects(self, text: str) -> str:
        """Return what the user says against a refusal; empty if the user accepts it."""
        if self.pushed >= self.pushes:
            return ""
        self.pushed += 1
        return PUSHES[(self.pushed - 1) % len(PUSHES)]

    def concludes(self, text: str, refusal: bool = False) -> str | None:
        """Return the answer to a report that something is done, or to a refusal that the user accepts.

        None ends the conversation. Otherwise the agent gets another turn, in words that do not say what is missing.
        """
        if self.unfinished(text, refusal):
            return self.varied(ACCEPTS if refusal else THANKS)
        settled = SETTLED.search(text)
        if (
            not refusal
            and not self.reminded
            and (question := self.outstanding())
            and not (settled and question.startswith("Is everything"))
        ):
            self.reminded = 1
            return question
        return None

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Return whether a report or a refusal leaves other parts of what the user wants open."""
        return False

    def outstanding(self) -> str:
        """Return what the user asks once before the end, such as ``Is everything settled now?``; empty if nothing.

        Do not mention what the agent has to remember where forgetting it is the capability under test.
        """
        return ""

    def puzzled(self, text: str) -> str:
        """Return the answer to a message that is not understood."""
        return self.varied(PUZZLED)
