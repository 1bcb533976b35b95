"""Answers of a scripted user to questions: by topic, from the user's first message, or by the form of the question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trace_gym.targets.dialogue import Act
from trace_gym.targets.dialogue.clarification import questions_with_context
from trace_gym.targets.dialogue.patterns import IDENTIFIER
from trace_gym.targets.dialogue.question_forms import FACTUAL, question_form, unwanted
from trace_gym.targets.dialogue.question_parts import asks_for_others, head, is_past, parts, suits, without_records
from trace_gym.targets.users import patterns
from trace_gym.targets.users.answers import UserAnswers
from trace_gym.targets.users.patterns import ASKED, IDENTITY_TOPICS, NEEDED_TOPICS, TOPIC_WORDINGS
from trace_gym.targets.users.phrases import BEYOND, CHANGED, LACKS, MEANT
from trace_gym.targets.users.recall import means_either, preferred, quoted, recalled, same_or_other

__all__ = ["QuestionAnswering"]

_BARE = 8
"""Maximum number of words of a question whose topic may be in the preceding clause, such as ``Which one is it?``."""


@dataclass(kw_only=True)
class QuestionAnswering(UserAnswers):
    """Part of `ScriptedUser` that answers questions.

    A question about a topic in `questions` gets the answer that `tells` returns for the topic. Other questions get
    the sentences of the user's first message that are about the same subject, or else an answer that fits the form of
    the question; see `question_form` and `BEYOND`.
    """

    aside: int = 0
    """Number of answered questions about unknown topics. It varies the wording of the answers."""

    def _informs(self, text: str, heard: Sequence[Act], proposed: bool) -> str:
        """Return the answer to a message with a question.

        Args:
            text: The message.
            heard: Dialogue acts of the message.
            proposed: Whether the message also asks for consent.
        """
        asked = " ".join(act.text for act in heard if act.kind in ASKED)
        context = questions_with_context(heard)
        kind = question_form(context.lower(), self.opening())
        choice = any(act.kind == "choice" for act in heard)
        if not proposed and (recalls := self.recalls(text, context, kind, choice)):
            return recalls
        familiar = [act for act in heard if not (act.kind in ASKED and self.unfamiliar(act.text.lower()))]
        if not proposed and not any(act.kind in ASKED for act in familiar):
            known = "" if asks_for_others(asked.lower()) else recalled(asked.lower(), self.opening())
            return known or self.beyond("polar" if kind == "polar" else "fact", asked)
        topics = self.topics(familiar)
        if kind == "details" and patterns.STORED_METHOD.search(self.opening()):  # the user knows only the id
            kind = "fact"
        if kind == "both" and CHANGED in self.restated():
            kind = "wish"
        if not proposed and unwanted(asked, self.opening()):
            return self.beyond("unwanted", asked)
        if kind in ("another", "any", "both", "complete", "details", "first", "only", "wording") and not proposed:
            reasons = [self.tells("reason")] if "reason" in topics else []
            return " ".join(filter(None, [*reasons, self.beyond(kind, asked)]))
        facts = self.personal(asked.lower(), topics)
        lines = [*self._lines(topics, asked)]
        if lines and "reason" in topics and not self.tells("reason"):
            lines.append(self.does_not_know(["reason"]))
        said = list(dict.fromkeys(filter(None, [*facts, *lines, *self.rest(heard, [*facts, *lines])])))
        if said:
            if kind == "polar" and not proposed and len(said) == 1 and patterns.repeats_value(asked, said[0]):
                return f"Yes. {said[0]}"
            consent = self.agrees(text) if proposed else ""
            said = [consent, *said] if consent.startswith("Yes") else [*said, consent]
            return " ".join(filter(None, said))
        if proposed:
            return self.agrees(text)
        if kind in ("proof", "unwanted"):
            return self.beyond(kind, asked)
        if patterns.is_same_thing(asked, self.opening()):
            return self.checked(text)
        if not choice and self._unknown(heard):
            return self.varied(LACKS)
        if topics and not choice:
            return self.does_not_know(topics)
        if known := recalled(context.lower(), self.opening()):
            return known
        polar = kind == "polar" and not FACTUAL.match(asked) and bool(IDENTIFIER.search(asked))
        if (choice or " or " in asked or polar) and type(self).chooses is not UserAnswers.chooses:
            return self.chooses(text)
        return self.beyond(kind, context) or self.chooses(text)

    def agrees(self, text: str) -> str:
        """Return the answer to a proposal."""
        raise NotImplementedError

    def checked(self, text: str) -> str:
        """Return the answer to a question that asks for confirmation of a fact."""
        raise NotImplementedError

    def _lines(self, topics: Sequence[str], asked: str) -> Iterator[str]:
        """Yield the answers on the topics of a question.

        If there is a single topic, its answer must have the kind that the question asks for, such as a date.
        """
        for topic in topics:
            line = self.answer_on(topic, asked)
            if line and (len(topics) > 1 or suits(asked.lower(), topics, line)):
                yield line

    def answer_on(self, topic: str, asked: str) -> str:
        """Return the answer to a question about a topic, given the words of the question; by default `tells`."""
        return self.tells(topic)

    def beyond(self, kind: str, asked: str) -> str:
        """Return the answer to a question about an unknown topic, or `""` if `chooses` should answer the question.

        Args:
            kind: Form of the question; see `question_form`.
            asked: The question.
        """
        if kind == "wording" or (kind == "meaning" and not any(v in self.opening() for v in IDENTIFIER.findall(asked))):
            return f"{MEANT}{self.restated()}{self._either_meaning(asked)}"
        if kind == "details" and (ending := patterns.ENDING.search(self.opening())):
            return f"It is the one ending in {ending[1]}."
        if kind not in BEYOND or kind == "meaning" or (kind == "either" and IDENTIFIER.search(asked)):
            return ""
        lines = BEYOND[kind]
        first = len(self.opening()) + self.aside
        self.aside += 1
        return self.varied((*lines[first % len(lines) :], *lines[: first % len(lines)]))

    def _either_meaning(self, asked: str) -> str:
        """Return a sentence that lets the agent choose between two meanings, or `""` if the question offers none."""
        return f" {BEYOND['meaning'][0]}" if patterns.OFFERS_MEANINGS.search(asked.lower()) else ""

    def recalls(self, text: str, asked: str, kind: str, choice: bool) -> str:
        """Return an answer from the user's first message to a message that quotes it or that offers a choice.

        Return `""` if the first message contains no answer.
        """
        opening = self.opening()
        about_reason = "reason" in self.questions and patterns.ABOUT_REASON.search(asked.lower())
        if kind != "first" and not about_reason and (said := same_or_other(asked, opening)):
            return said
        about_words = choice or kind in ("wording", "meaning") or patterns.WHICH_APPLIES.search(asked)
        if about_words and (words := quoted(text, opening)):
            return f"{MEANT}{words}{self._either_meaning(text)}"
        if choice and (said := preferred(asked, opening)):
            return said
        if choice and patterns.ONE_BY_ONE.search(asked) and not patterns.PAYMENT_METHOD.search(asked):
            return self.beyond("either", asked)
        if patterns.TOTAL.search(asked) and " or " in asked:
            return recalled(asked.lower(), opening) or self.beyond("either", asked)
        if means_either(asked.lower()):
            return self.beyond("applies", asked)
        named = {*IDENTIFIER.findall(asked)} & {*IDENTIFIER.findall(opening)}
        return recalled(asked.lower(), opening) if choice and kind != "both" and len(named) == 1 else ""

    def unfamiliar(self, asked: str) -> bool:
        """Return whether all parts of a question are about recorded facts or other people, so that no topic applies."""
        return all(is_past(part) or asks_for_others(part) for part in [*parts(asked)] or [asked])

    def rest(self, heard: Sequence[Act], lines: Sequence[str]) -> Sequence[str]:
        """Return answers to the questions in a message that `lines` do not answer, if there are several questions."""
        found = [p for act in heard if act.kind == "request" for p in parts(act.text.lower())]
        if len(found) < 2 or not any(lines):
            return ()
        opening = self.opening()
        found = [p for p in found if not patterns.WHO_IS_ASKING.search(p)]
        left, said = [], []
        for part in found:
            topics = self.topics([Act("request", part)])
            known = topics == ["reason"] or any(map(self.tells, topics)) or self.personal(part, ())
            if self.unfamiliar(part) or not known:
                left.append(part)
                said += [line for line in [recalled(part, opening)] if line]
        return said if len(said) >= len(left) else [*said, self.beyond("rest", "")]

    def needed(self, heard: Sequence[Act]) -> str:
        """Return the answer with the fact that a refusal requires, as in ``I cannot open it without your id``.

        Return `""` if the refusal requires no fact.
        """
        found = (patterns.REQUIREMENT.search(act.text.lower()) for act in heard if act.kind == "refusal")
        asked = [match[1] for match in found if match]
        topics = [t for t in NEEDED_TOPICS if t in self.questions and any(map(self.questions[t].search, asked))]
        topics += [t for t in IDENTITY_TOPICS if t in self.questions and any(map(patterns.PROFILE.search, asked))]
        return next(filter(None, map(self.tells, topics)), "")

    def topics(self, heard: Sequence[Act]) -> list[str]:
        """Return the topics of `questions` that a message asks about.

        Statements after a question, such as a list of options, count as part of the question. A question without a
        topic has the topic of the preceding clause: ``I see a Visa and a gift card. Which one?``
        """
        asked: list[str] = []
        before = ""
        for n, act in enumerate(heard):
            if act.kind in ASKED:
                asked.append(without_records(act.text.lower()))
                before = heard[n - 1].text.lower() if n else ""
            elif asked and act.kind == "inform":
                asked.append(act.text.lower())
        found = {t for words in asked for t in self._matching(head(words)) or self._matching(words)}
        found |= self._worded(asked, found)
        if found:
            return [topic for topic in self.questions if topic in found]
        bare = sum(len(words.split()) for words in asked) <= _BARE
        return [topic for topic, pattern in self.questions.items() if bare and pattern.search(before)]

    def _matching(self, words: str) -> list[str]:
        return [topic for topic, pattern in self.questions.items() if pattern.search(words)]

    def _worded(self, asked: Sequence[str], found: set[str]) -> set[str]:
        """Return the topics whose pattern in `TOPIC_WORDINGS`, which applies to every domain, matches the questions."""
        return {
            topic
            for topic, (pattern, alone) in TOPIC_WORDINGS.items()
            if topic in self.questions and not (alone and found) and any(map(pattern.search, asked))
        }

    def _unknown(self, heard: Sequence[Act]) -> bool:
        """Return whether a message asks for personal data that the user's first message does not contain."""
        asked = " ".join(act.text.lower() for act in heard if act.kind in ASKED)
        opening = self.opening().lower()
        facts = patterns.PERSONAL_FACT.findall(asked)
        return any(("@" if "mail" in fact else fact.split()[-1]) not in opening for fact in facts)
