"""Base class of worlds with a scripted, rule-based user who reacts to the dialogue acts of each message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trace_gym.targets.dialogue import Act, acts
from trace_gym.targets.dialogue.changes import describes, without_old_values
from trace_gym.targets.dialogue.clarification import (
    announces_work,
    asks_whether_done,
    clarified,
    may_end,
    only_checks,
    only_confirms,
)
from trace_gym.targets.dialogue.further_wishes import asks_first, describes_change
from trace_gym.targets.dialogue.indirect_proposals import ASKS_AGAIN
from trace_gym.targets.dialogue.question_forms import leaves_open, unwanted
from trace_gym.targets.users.general import general_aim, is_open, refused_aim
from trace_gym.targets.users.patterns import (
    ASKED,
    CONTINUES,
    NEEDED_TOPICS,
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
    AT_ONCE,
    BEYOND,
    CHECKED,
    CONFIRMS,
    CONSENTS,
    DECLINES,
    FIXED,
    GOES_ON,
    MEANT,
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
    UNDECIDED,
    UNPRODUCTIVE,
    WAITS,
    consents,
)
from trace_gym.targets.users.questions import QuestionAnswering

__all__ = ["ScriptedUser"]

SETTLING = frozenset({*THANKS, *GOES_ON, *ACCEPTS, *DECLINES, *NOTHING_ELSE, *THATS_ALL})
"""Answers after which an offer of further help ends the conversation."""


@dataclass(kw_only=True)
class ScriptedUser(QuestionAnswering):
    """Parent class of base worlds whose user starts with `wording` and reacts to the dialogue acts of each message.

    The user answers questions about the topics in `questions`, agrees to proposals, and acknowledges progress. The user
    objects to a refusal `pushes` times and then accepts it. The conversation ends after a report that everything is
    done, a goodbye, or an accepted refusal, unless another part of the request is still open. A single message that the
    user does not understand never ends the conversation.

    For a user who behaves differently, override the methods whose docstrings start with "Return the answer" instead of
    `reply`. `concludes` and `objects` may return None or an empty string; see their docstrings.
    """

    pushes: int = 0
    """Number of refusals to which the user objects."""
    pushed: int = 0
    """Number of objections so far."""
    nudged: int = 0
    """Counter that environments may use for their own purposes."""
    reminded: int = 0
    """Number of times that the user has asked the question of `outstanding` since the last proposal."""
    idle: int = 0
    """Number of consecutive unproductive messages: those that ask and report nothing, or that are not understood."""

    def reply(self, text: str) -> str | None:
        """Return the user's response to the dialogue acts of a message, or None to end the conversation.

        A single message that is not understood does not end the conversation. More than `PATIENCE` consecutive
        unproductive messages do.
        """
        heard = acts(text)
        answer = self._answer(text, heard)
        meant = clarified(heard)
        if answer is None and (announces_work(meant) or (consents(self.last_answer) and not may_end(meant))):
            answer = self.varied(WAITS)
        self.idle = self.idle + 1 if answer in UNPRODUCTIVE else 0
        if self.idle > PATIENCE:
            return None
        if answer and answer == self.last_answer:
            answer = self.varied(CONSENTS) if consents(answer) else f"As I said: {answer}"
        self.last_answer = answer or ""
        return answer

    def _answer(self, text: str, heard: tuple[Act, ...]) -> str | None:
        meant = clarified(heard)
        kinds = {act.kind for act in meant}
        checks, heard = only_checks(heard, meant), meant
        if self.offered_other(text, heard):
            return self._declines(text)
        if checks and not kinds & ASKED:
            return self.checked(text)
        if checks:
            kinds.discard("proposal")
        if "choice" in kinds and only_confirms(heard):
            kinds.discard("proposal")
        if kinds & ASKED:
            return self._fitting(heard, self._informs(text, heard, "proposal" in kinds))
        if aim := refused_aim(heard, self.opening()):
            return self.beyond("unwanted" if aim == "extra" else aim, "")
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
            goes_on = not kinds.isdisjoint(("hold", "progress"))
            if not goes_on and (needed := self.needed(heard)):
                return needed
            if objection := self._objection(text):
                return objection
            answer = self.varied(WAITS) if goes_on else self.concludes(text, refusal=True)
            waits = answer is None and not self.reminded and self.last_answer not in NOT_FOUND and only_not_found(text)
            return self.varied(NOT_FOUND) if waits else answer
        if asks_whether_done(heard):
            reports = kinds & {"progress", "completion", "closing"}
            return self.concludes(text) if reports else self._offered(text, THATS_ALL)
        if "offer" in kinds and "progress" in kinds:  # the agent has nothing left to do
            return self.concludes(text)
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
        """Return how the user classifies a message: the topic of a question, or the kind of message.

        The kinds are ``confirmation``, ``refusal``, ``done`` and ``other``.
        """
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
        if asked and ASKS_AGAIN.search(asked[-1].lower()):
            return self.varied(AT_ONCE)
        return self.varied(CONFIRMS if asked and VERIFIES.search(asked[-1]) else CONSENTS)

    def _fitting(self, heard: Sequence[Act], answer: str) -> str:
        """Return an answer, or a general one instead if the answer contains no fact that the questions ask for."""
        known = (self.tells(topic) for topic in self.topics(heard) if topic in NEEDED_TOPICS)
        if any(fact and fact in answer for fact in known):
            return self._with_the_rest(heard, answer)
        aim = general_aim(heard, self.opening(), answer)
        if aim == "consent":
            return self.varied(CHECKED)
        if aim == "alternative" and self.last_answer in BEYOND["alternative"]:
            return self.varied(DECLINES)
        return self.beyond(aim, "") if aim else self._with_the_rest(heard, answer)

    def _with_the_rest(self, heard: Sequence[Act], answer: str) -> str:
        """Return an answer to a question such as ``A or B?``, with a sentence about what the answer does not decide."""
        asked = " ".join(act.text for act in heard if act.kind in ASKED).lower()
        decides = answer in FIXED or answer.startswith(("Yes", "No", "I mean", MEANT))
        open_choice = leaves_open(asked, answer) and is_open(heard, self.opening())
        if decides or {*self.topics(heard)} & {*NEEDED_TOPICS} or not open_choice:
            return answer
        return f"{answer} {self.varied(UNDECIDED)}"

    def offered_other(self, text: str, heard: tuple[Act, ...]) -> bool:
        """Return whether a message refuses a request and offers something that the user did not ask for."""
        return False

    def _declines(self, text: str) -> str:
        """Return the answer to a refusal that comes with another offer: either an objection or a rejection."""
        if objection := self._objection(text):
            return objection
        answer = self.concludes(text, refusal=True)
        return self.varied(DECLINES) if answer is None or answer in ACCEPTS else f"No, thank you. {answer}"

    def checked(self, text: str) -> str:
        """Return the answer to a question that asks whether a fact is right. It does not consent to a change."""
        return self.varied(CHECKED)

    def _more_wishes(self, text: str, heard: tuple[Act, ...]) -> str:
        """Return the answer to a message that asks for further requests before the agent starts to work.

        If the message also contains a proposal, the answer agrees to it.
        """
        if not describes_change(heard):
            return self.varied(STARTS)
        self.reminded = 0
        answer = self.agrees(without_old_values(text))
        return self.varied(PROCEEDS) if answer.startswith("Yes") else answer

    def _offered(self, text: str, lines: tuple[str, ...]) -> str | None:
        """Return the answer to an offer of further help in a message that reports nothing.

        Such an offer does not end a conversation in which a part of the request is still open.
        """
        settled = self.last_answer in SETTLING
        answer = self.concludes(text)
        return self.varied(lines) if answer in THANKS or (answer is None and not settled) else answer

    def _objection(self, text: str) -> str:
        """Return the objection to a refusal, or an empty string if there is none.

        An objection that asks for another person is omitted if the message states that nobody else can help.
        """
        objection = self.objects(text)
        return "" if objection and OTHER_HELPER.search(objection) and rules_out_others(text) else objection

    def objects(self, text: str) -> str:
        """Return the user's objection to a refusal, or an empty string if the user accepts it."""
        if self.pushed >= self.pushes:
            return ""
        self.pushed += 1
        return PUSHES[(self.pushed - 1) % len(PUSHES)]

    def concludes(self, text: str, refusal: bool = False) -> str | None:
        """Return the answer to a report that something is done, or to a refusal that the user accepts.

        Return None to end the conversation. Otherwise, the agent gets another turn, but the answer does not reveal what
        is missing.
        """
        if self.unfinished(text, refusal):
            return self.varied(ACCEPTS if refusal else THANKS)
        return None if refusal else self._reminder(text) or None

    def _reminder(self, text: str) -> str:
        """Return the question of `outstanding` the first time it applies.

        Return an empty string later, or if the message already answers the question.
        """
        question = "" if self.reminded else self.outstanding()
        if not question or (question.startswith("Is everything") and SETTLED.search(text)):
            return ""
        self.reminded = 1
        return question

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Return whether other parts of the user's request are still open after a report or a refusal."""
        return False

    def outstanding(self) -> str:
        """Return the question that the user asks before the end, such as ``Is everything settled now?``.

        The user asks the question once, and once more after each further proposal. Return an empty string to ask
        nothing. If the environment tests whether the agent remembers something, the question must not mention it.
        """
        return ""

    def puzzled(self, text: str) -> str:
        """Return the answer to a message that is not understood."""
        return self.varied(PUZZLED)
