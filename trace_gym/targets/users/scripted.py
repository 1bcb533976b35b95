"""Base class of worlds with a scripted, rule-based user who reacts to the dialogue acts of each message."""

from __future__ import annotations

from dataclasses import dataclass

from trace_gym.targets.dialogue import Act, acts
from trace_gym.targets.dialogue.changes import describes, without_old_values
from trace_gym.targets.dialogue.clarification import (
    asks_whether_done,
    clarified,
    only_checks,
    only_confirms,
)
from trace_gym.targets.dialogue.further_wishes import asks_first, describes_change
from trace_gym.targets.dialogue.question_forms import unwanted
from trace_gym.targets.users.patterns import (
    ASKED,
    CONTINUES,
    ON_A_DAY,
    OTHER_HELPER,
    OWN_WORK,
    SETTLED,
    VERIFIES,
    only_not_found,
    rules_out_others,
)
from trace_gym.targets.users.phrases import (
    ACCEPTS,
    CHECKED,
    CONFIRMS,
    CONSENTS,
    GOES_ON,
    NOT_FOUND,
    NOTES,
    NOTHING_ELSE,
    PATIENCE,
    PROCEEDS,
    PUSHES,
    PUZZLED,
    STARTS,
    THANKS,
    THATS_ALL,
    TRANSFERRED,
    UNPRODUCTIVE,
    WAITS,
    WANTS,
)
from trace_gym.targets.users.questions import QuestionAnswering

__all__ = ["ScriptedUser"]

SETTLING = frozenset({*THANKS, *GOES_ON, *ACCEPTS, *NOTHING_ELSE, *THATS_ALL})
"""Answers after which an offer of further help ends the conversation."""


@dataclass(kw_only=True)
class ScriptedUser(QuestionAnswering):
    """Parent of base worlds whose user starts with `wording` and reacts to the dialogue acts of each message.

    The user answers questions on the topics of `questions`, agrees to proposals, thanks for progress, objects `pushes`
    times to a refusal and then accepts it, and ends the conversation after a report that everything is done, a good-bye
    or an accepted refusal, unless something else is open. A sentence that the user does not understand never ends it.

    For a user who behaves differently, override the methods whose docstrings start with "Return the answer" instead of
    `reply`. `concludes` and `objects` may return None or an empty string; see their docstrings.
    """

    pushes: int = 0
    """Number of refusals to which the user objects."""
    pushed: int = 0
    """Number of objections so far."""
    nudged: int = 0
    """A count that environments may use."""
    reminded: int = 0
    """Number of times that the user asked for what `outstanding` names since the last proposal."""
    idle: int = 0
    """Number of unproductive messages in a row, which neither asked nor reported anything or were not understood."""

    def reply(self, text: str) -> str | None:
        """Answer a message by its dialogue acts; None ends the conversation.

        One message that is not understood never ends it, but `PATIENCE` messages in a row that lead nowhere do.
        """
        answer = self._answer(text, acts(text))
        self.idle = self.idle + 1 if answer in UNPRODUCTIVE else 0
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
            self.reminded = 0  # further work is reported later, after which the user may ask again
            consent = self.agrees(without_old_values(text))
            return self.checked(text) if consent and ON_A_DAY.search(consent) and describes(text, heard) else consent
        if "transfer" in kinds:
            return self.varied(TRANSFERRED)
        finished = kinds & {"completion", "closing"}
        if asks_first(heard) and not finished and ("refusal" not in kinds or describes_change(heard)):
            return self._more_wishes(text, heard)
        if "refusal" in kinds:
            if needed := self.needed(heard):
                return needed
            goes_on = not kinds.isdisjoint(("hold", "progress"))
            if objection := self._objection(text):
                return objection
            answer = self.varied(WAITS) if goes_on else self.concludes(text, refusal=True)
            waits = answer is None and not self.reminded and self.last_answer not in NOT_FOUND and only_not_found(text)
            return self.varied(NOT_FOUND) if waits else answer
        if asks_whether_done(heard):
            reports = kinds & {"progress", "completion", "closing"}
            return self.concludes(text) if reports else self._offered(text, THATS_ALL)
        if "progress" in kinds or ("completion" in kinds and CONTINUES.search(text.lower())):
            return self.varied(GOES_ON if any(OWN_WORK.search(act.text.lower()) for act in heard) else WAITS)
        if kinds & {"completion", "closing"}:
            return self.concludes(text)
        if "offer" in kinds:
            return self._offered(text, NOTHING_ELSE)
        if "hold" in kinds:
            return self.varied(WAITS)
        if "inform" in kinds:
            return self.varied(NOTES)
        return self.chooses(text) if kinds == {"greeting"} else self.puzzled(text)

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

    def agrees(self, text: str) -> str:
        """Return the answer to a proposal. Override it for a user who objects or revises."""
        asked = [act.text for act in clarified(acts(text)) if act.kind == "proposal"]
        if asked and unwanted(asked[-1], self.opening()):
            return self.beyond("unwanted", asked[-1])
        return self.varied(CONFIRMS if asked and VERIFIES.search(asked[-1]) else CONSENTS)

    def checked(self, text: str) -> str:
        """Return the answer to the question whether a fact is right; it is no consent to a change."""
        return self.varied(CHECKED)

    def _more_wishes(self, text: str, heard: tuple[Act, ...]) -> str:
        """Return the answer to a question for further wishes before the work; it agrees to a proposal beside it."""
        if not describes_change(heard):
            return self.varied(STARTS)
        self.reminded = 0
        answer = self.agrees(without_old_values(text))
        return self.varied(PROCEEDS) if answer.startswith("Yes") else answer

    def _offered(self, text: str, lines: tuple[str, ...]) -> str | None:
        """Return the answer to an offer of help in a message that reports nothing, which ends no open conversation."""
        settled = self.last_answer in SETTLING
        answer = self.concludes(text)
        return self.varied(lines) if answer in THANKS or (answer is None and not settled) else answer

    def _objection(self, text: str) -> str:
        """Return the objection to a refusal; none asks for somebody else if the message says that nobody can help."""
        objection = self.objects(text)
        return "" if objection and OTHER_HELPER.search(objection) and rules_out_others(text) else objection

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
        return None if refusal else self._reminder(text) or None

    def _reminder(self, text: str) -> str:
        """Return the question of `outstanding`, the first time; empty if a message answers the question already."""
        question = "" if self.reminded else self.outstanding()
        if not question or (question.startswith("Is everything") and SETTLED.search(text)):
            return ""
        self.reminded = 1
        return question

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Return whether a report or a refusal leaves other parts of what the user wants open."""
        return False

    def outstanding(self) -> str:
        """Return what the user asks before the end, such as ``Is everything settled now?``; empty if nothing.

        The user asks it once, and once more after each further proposal.

        Do not mention what the agent has to remember where forgetting it is the capability under test.
        """
        return ""

    def puzzled(self, text: str) -> str:
        """Return the answer to a message that is not understood."""
        return self.varied(PUZZLED)
