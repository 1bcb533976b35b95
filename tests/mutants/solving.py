"""Mutants whose text contradicts the reward, although oracle and verifier agree. Only TG215 can reject them.

A mutant is the module of the hotel desk with replaced texts, because TG215 runs module files in the sandbox. Its
scenarios are those of the healthy hotel, so an agent that follows the text acts like the healthy oracle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mutants import hotel

from trace_gym.episode import Episode
from trace_gym.types import Call, Say, Scenario

HEALTHY = Path(hotel.__file__)


@dataclass(frozen=True)
class TextMutant:
    """Replacements in the module of the hotel desk."""

    name: str
    fault: str
    replaced: tuple[tuple[str, str], ...]
    quote: str
    """Words of the text that contradict the reward."""
    rejected_by: str = "TG215"

    def write(self, folder: Path) -> Path:
        """Write the module of the mutant, and return its path."""
        text = HEALTHY.read_text()
        for old, new in self.replaced:
            assert old in text, old
            text = text.replace(old, new)
        (path := folder / HEALTHY.name).write_text(text)
        return path


MUTANTS = (
    TextMutant(
        "TellsHalf",
        "the guest asks what is due, and half of it counts",
        (
            ("asserted(start.mine.due, dues, said)", "asserted(start.mine.due / 2, [d / 2 for d in dues], said)"),
            ("You owed {self.mine.due};", "You owed {self.mine.due / 2};"),
        ),
        "tell me what I owe",
    ),
    TextMutant(
        "KeepsTheKey",
        "the guest asks for the key, and the key has to stay at the desk",
        (
            ('"the guest has the key", self.mine.key == "guest"', '"the key is at the desk", self.mine.key == "desk"'),
            (
                'yield self.payment()\n        yield Call("hand_over", {"room": self.room})',
                "yield self.payment()",
            ),
        ),
        "The key, please",
    ),
    TextMutant(
        "PaysForTheNeighbor",
        "the guest names one room, and the invoice of another room has to be settled",
        (
            (
                '"the invoice is settled", self.mine.due == 0',
                '"the invoice is settled", next(iter(self.others().values())).due == 0',
            ),
            (
                "yield self.payment()",
                "n, r = next(iter(self.others().items()))\n"
                '        yield Call("settle", {"room": n, "invoice": r.invoice, "amount": r.due})',
            ),
            ("self.others() == start.others()", "self.others().keys() == start.others().keys()"),
        ),
        "tell me what I owe",
    ),
)


def plan(scenario: str) -> Iterator[Call | Say]:
    """Yield the actions of an agent that does what the text of a scenario says."""
    yield from Episode(hotel.Hotel, Scenario.parse(scenario)).start.oracle()
