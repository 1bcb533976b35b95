"""Mutants that interventions and variants of the oracle's plan detect, with one defect each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Self

from mutants.hotel import Hotel, mutants

from trace_gym.world import Call, Check, Say, ToolError, asserted


@dataclass
class HiddenSurcharge(Hotel):
    """The amount to pay includes a surcharge that is never shown."""

    id, rejected_by = "hidden_surcharge", "TG211"
    surcharge: int = 0

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        made.surcharge = rng.choice((1, 2, 3))
        return made

    def paid(self, room: str, invoice: str, amount: int) -> str:
        found = self.found(room)
        if amount != found.due + self.surcharge:
            raise ToolError(f"this is not what {room} owes")
        return super().paid(room, invoice, found.due)

    def payment(self) -> Call:
        due = self.mine.due + self.surcharge
        return Call("settle", {"room": self.room, "invoice": self.mine.invoice, "amount": due})


@dataclass
class UnseenDeposit(Hotel):
    """The oracle tells the guest a number that no message and no tool shows."""

    id, rejected_by = "unseen_deposit", "TG211"
    deposit: int = 0

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        made.deposit = rng.choice(range(110, 200, 10))
        return made

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        told = asserted(start.deposit, range(110, 200, 10), said)
        yield Check.goal("the guest heard what the deposit is", told)

    def oracle(self) -> Iterator[Call | Say]:
        *steps, _ = super().oracle()
        yield from steps
        yield Say(f"You owed {self.mine.due}; here is the key. The deposit is {self.deposit}.")


class AnyRoomWillDo(Hotel):
    """Keys of other rooms may be handed over as well."""

    id, rejected_by = "any_room_will_do", "TG212"

    def others(self) -> dict[str, Any]:
        return {n: (r.guest, r.invoice, r.due) for n, r in super().others().items()}

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from (c for c in super().verify(start, said) if c.kind == "goal")
        kept = all(r == start.others()[n] or not r[2] for n, r in self.others().items())
        yield Check.guard("the invoices of other rooms are unchanged or settled", kept)


class NoSlack(Hotel):
    """The turn limit equals the number of steps of the oracle."""

    id, rejected_by = "no_slack", "TG213"
    max_turns = 4


class LosesThePatience(Hotel):
    """The guest leaves after a message that says nothing."""

    id, rejected_by = "loses_the_patience", "TG213"

    def reply(self, text: str) -> str | None:
        return None if "moment" in text else super().reply(text)


class RemindsOfTheInvoice(Hotel):
    """The guest names the invoice that the agent forgot to settle."""

    id, rejected_by = "reminds_of_the_invoice", "TG706"

    def reply(self, text: str) -> str | None:
        answer = super().reply(text)
        return f"Is {self.mine.invoice} settled?" if answer is None and self.mine.due else answer


@dataclass
class ConfirmsTheInvoice(Hotel):
    """The guest confirms the right invoice and denies any other one, and the ablated expert settles another one."""

    id, rejected_by = "confirms_the_invoice", "TG706"
    guessed: str = ""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        made.guessed = rng.choice([r.invoice for r in made.others().values()])
        return made

    def reply(self, text: str) -> str | None:
        answer = super().reply(text)
        return answer if "inv" not in text else "Yes." if self.mine.invoice in text else "No, another one."

    def ablated(self) -> Iterator[Call | Say]:
        yield Call("settle", {"room": self.room, "invoice": self.guessed, "amount": self.mine.due})
        yield from super().ablated()


class LevelsAreTheSame(Hotel):
    """Both levels have the same number of rooms."""

    id, rejected_by = "levels_are_the_same", "TG805"
    alike: ClassVar[frozenset[int]] = frozenset()

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return super().generate(rng, 0)


MUTANTS = mutants(globals())
