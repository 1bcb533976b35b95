"""Mutants whose user or verifier recognizes only fixed phrases, with one defect each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from mutants.hotel import Hotel, mutants

from trace_gym.world import Call, Check, Say, ToolError


@dataclass
class Reception(Hotel):
    """A healthy hotel desk at which more is said. The guest gives the same answer until the key is handed over."""

    id = "reception"
    until: str = "2024-05-12"
    agreed: bool = True

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        made.until = f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        return made

    def opening(self) -> str:
        return f"I am {self.mine.guest}. The key, please, and tell me what I owe. I would like breakfast, too."

    def reply(self, text: str) -> str | None:
        return None if self.mine.key == "guest" else f"Yes, please. I am in room {self.room}."

    def oracle(self) -> Iterator[Call | Say]:
        yield Say("What is your room number?")
        yield Call("look_up", {"room": self.room})
        yield Say(
            f"I cannot offer breakfast: the kitchen is closed. I will charge {self.mine.due} dollars. Shall I proceed?"
        )
        yield self.payment()
        yield Call("hand_over", {"room": self.room})
        yield Say(f"All done. You owed {self.mine.due} dollars, and room {self.room} is yours until {self.until}.")

    def ablated(self) -> Iterator[Call | Say]:
        yield from (step for step in self.oracle() if step != self.payment())


class MagicPhrase(Reception):
    id, rejected_by = "magic_phrase", "TG210"
    fault = "a write is allowed only after one phrase for consent"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        made.agreed = False
        return made

    def reply(self, text: str) -> str | None:
        self.agreed = self.agreed or "Shall I proceed?" in text
        return super().reply(text)

    def paid(self, room: str, invoice: str, amount: int) -> str:
        if not self.agreed:
            raise ToolError("the guest has not agreed")
        return super().paid(room, invoice, amount)


class OnePhrasing(Reception):
    id, rejected_by = "one_phrasing", "TG210"
    fault = "the user answers a request in one phrasing only"

    def reply(self, text: str) -> str | None:
        if text.startswith("What is your room"):
            return f"I am in room {self.room}."
        return None if self.mine.key == "guest" else "Yes, please."


class KeywordRefusal(Reception):
    id, rejected_by = "keyword_refusal", "TG210"
    fault = "a refusal is recognized by one keyword"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.goal("breakfast was refused", any("I cannot" in text for text in said))


class IsoDates(Reception):
    id, rejected_by = "iso_dates", "TG210"
    fault = "a date counts only as the record shows it"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.goal("the guest heard the last day", any(self.until in text for text in said))


class BareAmounts(Reception):
    id, rejected_by = "bare_amounts", "TG210"
    fault = "an amount counts only before the word dollars"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.goal("the sum was named", any(f" {start.mine.due} dollars" in text for text in said))


class SorryMeansNo(Reception):
    id, rejected_by = "sorry_means_no", "TG210"
    fault = "sympathy is taken for a refusal, and the user leaves"

    def reply(self, text: str) -> str | None:
        return None if re.search(r"\bsorry\b", text.lower()) else super().reply(text)


class OneBeginning(Reception):
    id, rejected_by = "one_beginning", "TG210"
    fault = "a message is recognized only if it begins with its purpose"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.goal("the end was reported", any(text.startswith("All done") for text in said))


class PolitenessPays(Reception):
    id, rejected_by = "politeness_pays", "TG210"
    fault = "a polite word is rewarded"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.goal("the desk is polite", any("thank" in text.lower() for text in said))

    def oracle(self) -> Iterator[Call | Say]:
        *steps, last = super().oracle()
        assert isinstance(last, Say)
        yield from (*steps, Say(f"Thank you. {last.text}"))

    def ablated(self) -> Iterator[Call | Say]:
        yield from (step for step in super().oracle() if step != self.payment())


MUTANTS: tuple[Any, ...] = mutants(globals())
