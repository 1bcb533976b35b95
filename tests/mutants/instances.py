"""Mutants whose rollouts affect each other or that do not survive pickling, with one defect each."""

from __future__ import annotations

from dataclasses import asdict
from random import Random
from typing import Any, ClassVar, Self

from mutants.hotel import Hotel, mutants

from trace_gym.generated_envs.tau2_precondition import Tau2Precondition
from trace_gym.world import ToolError


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
    fault = "part of the state is not in the fields"
    looked: ClassVar[dict[int, set[str]]] = {}

    def shown(self, room: str) -> dict[str, Any]:
        self.looked.setdefault(id(self), set()).add(room)
        return asdict(self.found(room))

    def handed(self, room: str) -> str:
        if room not in self.looked.get(id(self), ()):
            raise ToolError("look the room up first")
        return super().handed(room)


class LambdaInAField(Hotel):
    id, rejected_by = "lambda_in_a_field", "TG106"
    fault = "a field does not pickle"

    def paid(self, room: str, invoice: str, amount: int) -> str:
        self.receipt = lambda: amount
        return super().paid(room, invoice, amount)


class HalfReadAnswers(Tau2Precondition):
    id, rejected_by = "half_read_answers", "TG106"
    fault = "a field holds a generator"

    def reply(self, text: str) -> str | None:
        self.pending = (word for word in text.split())
        return str(answer) if (answer := super().reply(text)) else None


MUTANTS = mutants(vars())


class RemembersGuests(Hotel):
    """Whoever asks for a guest first decides what is shown of all of that name: the order of scenarios matters."""

    id = "remembers_guests"
    invoices: ClassVar[dict[str, str]] = {}

    def shown(self, room: str) -> dict[str, Any]:
        found = self.found(room)
        return {**vars(found), "before": self.invoices.setdefault(found.guest, found.invoice)}
