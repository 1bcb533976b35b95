"""Mutants that do not tolerate some messages, or whose users are inconsistent, with one defect each."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass, field
from typing import Any

from mutants.hotel import Hotel, mutants

from trace_gym.generated_envs.tau2_precondition import Tau2Precondition


@dataclass
class RepeatsItAll(Hotel):
    id, rejected_by = "repeats_it_all", "TG405"
    fault = "the user's answers grow with the conversation"
    heard: str = ""

    def reply(self, text: str) -> str | None:
        self.heard += f" {text}"
        return f"You said:{self.heard}"


@dataclass
class RunsOutOfWords(Hotel):
    id, rejected_by = "runs_out_of_words", "TG405"
    fault = "the user's script ends, and so does the process"
    spoken: int = 0

    def reply(self, text: str) -> str | None:
        self.spoken += 1
        return ["My key?", "Hello?", "Well?"][self.spoken // 10]


@dataclass
class KeepsCopies(Hotel):
    id, rejected_by = "keeps_copies", "TG405"
    fault = "every turn makes the state grow by all of it"
    copies: list[str] = field(default_factory=list)

    def shown(self, room: str) -> dict[str, Any]:
        found = self.found(room)
        self.copies.append(50 * repr(self.rooms))
        return asdict(found)


class AsciiOnly(Tau2Precondition):
    id, rejected_by = "ascii_only", "TG405"
    fault = "letters beyond ASCII raise"

    def reply(self, text: str) -> str | None:
        return super().reply(text.encode("ascii").decode())  # type: ignore[no-any-return]


class HalfAWord(Hotel):
    id, rejected_by = "half_a_word", "TG405"
    fault = "the user answers with what no log can hold"

    def reply(self, text: str) -> str | None:
        return super().reply(text) and "My \ud83d?"


class HalfALetter(Hotel):
    id, rejected_by = "half_a_letter", "TG001"
    fault = "an opening that no log can hold"

    def opening(self) -> str:
        return f"{super().opening()} \ud83d"


@dataclass
class AnotherRoomEachTime(Hotel):
    id, rejected_by = "another_room_each_time", "TG406"
    fault = "the user contradicts herself"
    asked: int = 0

    def reply(self, text: str) -> str | None:
        self.asked += 1
        answer = super().reply(text)
        return answer and f"My room is {[*self.rooms][self.asked % 3]}."


class MoodyGuest(Hotel):
    id, rejected_by = "moody_guest", "TG406"
    fault = "the user talks at random"

    def reply(self, text: str) -> str | None:
        return super().reply(text) and random.choice(("My key?", "Hello?", "Is anybody there?"))


@dataclass
class NeverAtALoss(Hotel):
    id, rejected_by = "never_at_a_loss", "TG406"
    fault = "the user talks for ever"
    asked: int = 0

    def reply(self, text: str) -> str | None:
        self.asked += 1
        return super().reply(text) and f"I ask once more, which makes {self.asked}."


class NeverHangsUp(Tau2Precondition):
    id, rejected_by = "never_hangs_up", "TG406"
    fault = "the user stays on the line when served"

    def reply(self, text: str) -> str | None:
        return super().reply(text) or "Thank you. And is it really done?"


MUTANTS = mutants(vars())
