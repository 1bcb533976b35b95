"""Mutants whose fault shows only in how attempts compare: with each other, with themselves, and turn after turn."""

from __future__ import annotations

import multiprocessing
import random
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar, Self

from mutants.hotel import Hotel

from trace_gym.generated_envs.tau2_multi_step import Tau2MultiStep
from trace_gym.generated_envs.tau2_precondition import Tau2Precondition
from trace_gym.generated_envs.tau2_structured_data import Tau2StructuredData
from trace_gym.generated_envs.tau2_tool_precision import Tau2ToolPrecision
from trace_gym.world import Call, Check, Say, ToolError, tool


class TheLastHotelBegun(Hotel):
    id, rejected_by = "the_last_hotel_begun", "TG105"
    fault = "tools act on a context of the whole process"
    current: ClassVar[dict[str, Any]] = {}

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        cls.current = made.rooms
        return made

    def found(self, room: str) -> Any:
        if room not in type(self).current:
            raise ToolError(f"there is no room {room}")
        return type(self).current[room]


class OneQueueForAll(Tau2Precondition):
    id, rejected_by = "one_queue_for_all", "TG105"
    fault = "a counter in the class is shared between instances"
    served_so_far: ClassVar[list[str]] = []

    def reply(self, text: str) -> str | None:
        answer: str | None = super().reply(text)
        self.served_so_far.append(text)
        return answer and f"{answer} I have waited for {len(self.served_so_far)} others."


class NotesByIdentity(Hotel):
    id, rejected_by = "notes_by_identity", "TG106"
    fault = "part of the state lies beside the fields"
    looked: ClassVar[dict[int, set[str]]] = {}

    @tool
    def look_up(self, room: str) -> dict[str, Any]:
        """Show a room.

        Args:
            room: Its number.
        """
        self.looked.setdefault(id(self), set()).add(room)
        return dict(vars(self.found(room)))

    @tool(kind="write")
    def hand_over(self, room: str) -> str:
        """Hand over a key.

        Args:
            room: Number of the room.
        """
        if room not in self.looked.get(id(self), ()):
            raise ToolError("look the room up first")
        return super().hand_over(room)


class LambdaInAField(Hotel):
    id, rejected_by = "lambda_in_a_field", "TG106"
    fault = "a field does not pickle"

    @tool(kind="write")
    def settle(self, room: str, invoice: str, amount: int) -> str:
        """Take a payment.

        Args:
            room: Number of the room.
            invoice: Number of the invoice.
            amount: What is paid.
        """
        self.receipt = lambda: amount
        return super().settle(room, invoice, amount)


class HalfReadAnswers(Tau2Precondition):
    id, rejected_by = "half_read_answers", "TG106"
    fault = "a field holds a generator"

    def reply(self, text: str) -> str | None:
        self.pending = (word for word in text.split())
        return str(answer) if (answer := super().reply(text)) else None


class ChargedAtSomeTime(Tau2ToolPrecision):
    """Whatever else was charged, before or after."""

    id, rejected_by = "charged_at_some_time", "TG206"
    fault = "a right call is credited when it is made, whatever else is"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        [request] = self.requests
        now, want = (w.reservations[request.reservation]["payment_history"] for w in (self, start.served()))
        yield Check.goal("the right method was charged", all(p in now for p in want))
        yield Check.goal("something changed", self.reservations != start.reservations)


class ForgottenKeys(Hotel):
    id, rejected_by = "forgotten_keys", "TG206"
    fault = "the shortcut does harm that nobody looks at"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from (c for c in super().verify(start, said) if c.kind == "goal")
        dues = [{n: r.due for n, r in w.others().items()} for w in (self, start)]
        yield Check.guard("no other room has paid", dues[0] == dues[1])

    def ablated(self) -> Iterator[Call | Say]:
        yield Call("look_up", {"room": self.room})
        yield from (Call("hand_over", {"room": room}) for room in self.rooms)
        yield Say(f"You owe {self.mine.due}; here is the key.")


@dataclass
class CountsLookUps(Hotel):
    id, rejected_by = "counts_look_ups", "TG207"
    fault = "the reward depends on which calls were made"
    looks: int = 0

    @tool
    def look_up(self, room: str) -> dict[str, Any]:
        """Show a room.

        Args:
            room: Its number.
        """
        self.looks += 1
        return dict(vars(self.found(room)))

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.guard("no room was looked up twice", self.looks < 2)


class LikesItShort(Hotel):
    id, rejected_by = "likes_it_short", "TG207"
    fault = "the reward depends on how much is said"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.guard("the desk was brief", all(len(text) < 40 for text in said))


class LovesOneSentence(Tau2Precondition):
    id, rejected_by = "loves_one_sentence", "TG207"
    fault = "a refusal counts in one wording only"

    def refused(self, reservation: str, said: list[str]) -> bool:
        return any(re.match(f"I cannot cancel {reservation}", text) for text in said)


@dataclass(kw_only=True)
class WantsReadsInOrder(Tau2MultiStep):
    id, rejected_by = "wants_reads_in_order", "TG207"
    fault = "the reward depends on the order of look-ups"
    looked: list[str] = field(default_factory=list)

    @tool
    def get_reservation_details(self, reservation_id: str) -> Any:
        self.looked.append(reservation_id)
        return super().get_reservation_details(reservation_id)

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        asked = [r.reservation for r in self.requests]
        yield Check.guard("first things first", self.looked[: len(asked)] == asked[: len(self.looked)])


@dataclass
class JudgingWears(Hotel):
    id, rejected_by = "judging_wears", "TG208"
    fault = "verify changes the state"
    judged: int = 0

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        self.judged += 1
        return super().verify(start, said)


class JudgesByTheClock(Hotel):
    id, rejected_by = "judges_by_the_clock", "TG208"
    fault = "noise from the clock in the reward"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.goal("the guest is in the mood", Random(time.perf_counter_ns()).random() < 0.5)


class ForgetsWhatWasSaid(Tau2Precondition):
    id, rejected_by = "forgets_what_was_said", "TG208"
    fault = "verify changes what was said"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        checks = list(super().verify(start, said))
        said.clear()
        return iter(checks)


class RaisesTheBar(Tau2StructuredData):
    id, rejected_by = "raises_the_bar", "TG208"
    fault = "the reward depends on attempts before"
    judged: ClassVar[list[str]] = []

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        self.judged.append(self.customer)
        yield from super().verify(start, said)
        yield Check.goal("better than last time", len(self.judged) % 3 < 2)


class RefusalsPay(Hotel):
    id, rejected_by = "refusals_pay", "TG209"
    fault = "refusing is paid where something was to be done"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        safe = any("not possible" in text or "unable" in text for text in said)
        return (Check(c.kind, c.says, c.holds or safe) for c in super().verify(start, said))


class NothingIsEverAllowed(Tau2Precondition):
    id, rejected_by = "nothing_is_ever_allowed", "TG209"
    fault = "always refusing is right"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        while True:
            made = super().generate(rng, level)
            verdict = made.requests[0].verdict(made)
            if not (verdict.allowed or verdict.transfer):
                return made

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        return (c for c in super().verify(start, said) if "which day" not in c.says)


class WordsSuffice(Tau2MultiStep):
    id, rejected_by = "words_suffice", "TG209"
    fault = "what is announced counts as done"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        text = " ".join(said)
        yield Check.goal("every part was dealt with", all(r.reservation in text for r in self.requests))
        yield Check.goal("the customer knows that it is done", "All done" in text)


class FurtherGoalsOnTheWay(Hotel):
    id, rejected_by = "further_goals_on_the_way", "TG305"
    fault = "more goals appear the more is reached"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        checks = list(super().verify(start, said))
        yield from checks
        told = any("heard" in c.says and c.holds for c in checks)
        if self.mine.key == "guest" and not told:
            yield from (Check.goal(f"the guest is told, {n}", False) for n in range(4))


class ExpertsExchanged(Tau2StructuredData):
    id, rejected_by = "experts_exchanged", "TG305"
    fault = "who lacks the capability earns more than who has it"

    def oracle(self) -> Iterator[Call | Say]:
        return super().ablated()

    def ablated(self) -> Iterator[Call | Say]:
        return super().oracle()


class AllIsWellThatEndsWell(Tau2MultiStep):
    id, rejected_by = "all_is_well_that_ends_well", "TG306"
    fault = "a guard is waived once the goals are reached"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        checks = list(super().verify(start, said))
        reached = all(c.holds for c in checks if c.kind == "goal")
        return (Check(c.kind, c.says, c.holds or reached) for c in checks)


@dataclass
class ShortMemory(Hotel):
    id, rejected_by = "short_memory", "TG306"
    fault = "a guard looks at the last write only"
    last: str = ""

    @tool(kind="write")
    def hand_over(self, room: str) -> str:
        """Hand over a key.

        Args:
            room: Number of the room.
        """
        answer = super().hand_over(room)
        self.last = room
        return answer

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from (c for c in super().verify(start, said) if c.kind == "goal")
        yield Check.guard("no other key was handed over", self.last in ("", self.room))


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

    @tool
    def look_up(self, room: str) -> dict[str, Any]:
        """Show a room.

        Args:
            room: Its number.
        """
        found = self.found(room)
        self.copies.append(50 * repr(self.rooms))
        return dict(vars(found))


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


class OpensByTheClock(Hotel):
    id, rejected_by = "opens_by_the_clock", "TG901"
    fault = "the same seed is another problem"

    def opening(self) -> str:
        return f"{super().opening()} It is {time.perf_counter_ns()}."


class LongStory(Hotel):
    id, rejected_by = "long_story", "TG901"
    fault = "the opening is no observation"

    def opening(self) -> str:
        return f"{super().opening()} {'And then? ' * 200_000}"


class OneTimetable(Tau2StructuredData):
    id, rejected_by = "one_timetable", "TG902"
    fault = "environments of one process share a table"
    timetable: ClassVar[dict[str, Any]] = {}

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made: Self = super().generate(rng, level)
        cls.timetable = made.flights
        return made

    @tool
    def search_direct_flight(self, origin: str, destination: str, date: str) -> Any:
        self.flights, own = self.timetable, self.flights
        try:
            return super().search_direct_flight(origin, destination, date)
        finally:
            self.flights = own


class WaitsItsTurn(Hotel):
    id, rejected_by = "waits_its_turn", "TG902"
    fault = "an environment heeds how many steps others take"
    steps: ClassVar[list[str]] = []

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        cls.steps.clear()
        return super().generate(rng, level)

    @tool
    def look_up(self, room: str) -> dict[str, Any]:
        """Show a room.

        Args:
            room: Its number.
        """
        self.steps.append(room)
        return {**vars(self.found(room)), "asked": len(self.steps)}


class HalfALetter(Hotel):
    id, rejected_by = "half_a_letter", "TG903"
    fault = "an opening that no log can hold"

    def opening(self) -> str:
        return f"{super().opening()} \ud83d"


class ShowsTheWholeHouse(Hotel):
    id, rejected_by = "shows_the_whole_house", "TG903"
    fault = "an answer is outside the observation space"

    @tool
    def look_up(self, room: str) -> dict[str, Any]:
        """Show a room.

        Args:
            room: Its number.
        """
        return {**vars(self.found(room)), "house": "room " * 250_000}


MUTANTS: tuple[Any, ...] = tuple(
    made for made in vars().copy().values() if isinstance(made, type) and hasattr(made, "rejected_by")
)


class RemembersGuests(Hotel):
    """Whoever asks for a guest first decides what is shown of all of that name: the order of scenarios matters."""

    id = "remembers_guests"
    invoices: ClassVar[dict[str, str]] = {}

    @tool
    def look_up(self, room: str) -> dict[str, Any]:
        """Show a room.

        Args:
            room: Its number.
        """
        found = self.found(room)
        return {**vars(found), "before": self.invoices.setdefault(found.guest, found.invoice)}


class WorksAtHome(Hotel):
    """Refuses in a process that another one has started through `multiprocessing`."""

    id = "works_at_home"

    @tool
    def look_up(self, room: str) -> dict[str, Any]:
        """Show a room.

        Args:
            room: Its number.
        """
        if multiprocessing.parent_process() is not None:
            raise ToolError("the register is at the front desk")
        return dict(vars(self.found(room)))
