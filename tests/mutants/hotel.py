"""Small valid world from which every mutant differs in one defect: a hotel desk.

The work of each tool is a separate method (`shown`, `paid`, `handed`), so that a mutant overrides this method and not
the tool.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, ClassVar, Self

from trace_gym.world import Call, Check, Say, ToolError, World, asserted, tool

GUESTS = ("Ada", "Bo", "Cy", "Dee", "Eve", "Fay", "Gil", "Hal", "Ida", "Jo")
DUES = tuple(range(35, 100, 5))


@dataclass
class Room:
    """A room; `key` says where its key is: ``desk`` or ``guest``."""

    guest: str
    invoice: str
    due: int
    key: str = "desk"


@dataclass
class Hotel(World):
    """You run a hotel desk. A guest gets the key once the invoice is settled, and hears what it came to."""

    id = "hotel"
    capability = "settle_before_handing_over"
    levels = range(2)
    max_turns = 8
    alike: ClassVar[frozenset[int]] = frozenset({0, 1})
    rooms: dict[str, Room]
    room: str

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        numbers = [str(n) for n in rng.sample(range(100, 1000), k=3 + 2 * level)]
        guests = rng.sample(GUESTS, k=len(numbers))
        rooms = [Room(guest, f"inv{rng.randrange(1000, 10_000)}", rng.choice(DUES)) for guest in guests]
        return cls(dict(zip(numbers, rooms, strict=True)), rng.choice(numbers))

    def opening(self) -> str:
        return f"I am {self.mine.guest} in {self.room}. The key, please, and tell me what I owe."

    def reply(self, text: str) -> str | None:
        return None if str(self.mine.due) in text or "key" in text else "My key?"

    @tool
    def look_up(self, room: str) -> dict[str, Any]:
        """Show a room.

        Args:
            room: Its number.
        """
        return self.shown(room)

    @tool(kind="write")
    def settle(self, room: str, invoice: str, amount: int) -> str:
        """Take a payment.

        Args:
            room: Number of the room.
            invoice: Number of the invoice.
            amount: What is paid.
        """
        return self.paid(room, invoice, amount)

    @tool(kind="write")
    def hand_over(self, room: str) -> str:
        """Hand over a key.

        Args:
            room: Number of the room.
        """
        return self.handed(room)

    def shown(self, room: str) -> dict[str, Any]:
        return asdict(self.found(room))

    def paid(self, room: str, invoice: str, amount: int) -> str:
        found = self.found(room)
        if (invoice, amount) != (found.invoice, found.due) or not amount:
            raise ToolError(f"{room} owes {found.due} on {found.invoice}")
        found.due = 0
        return f"{invoice} is settled"

    def handed(self, room: str) -> str:
        if self.found(room).key != "desk":
            raise ToolError(f"the key of {room} is not at the desk")
        self.found(room).key = "guest"
        return f"the key of {room} is handed over"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        dues = [r.due for r in start.rooms.values()]
        yield Check.goal("the invoice is settled", self.mine.due == 0)
        yield Check.goal("the guest has the key", self.mine.key == "guest")
        yield Check.goal("the guest heard what was due", asserted(start.mine.due, dues, said))
        yield Check.guard("no other room has changed", self.others() == start.others())

    def violations(self, call: Call) -> list[str]:
        owing = call.tool == "hand_over" and self.found(call.arguments["room"]).due
        return ["the key was handed over before the invoice was settled"] if owing else []

    def oracle(self) -> Iterator[Call | Say]:
        yield Call("look_up", {"room": self.room})
        yield self.payment()
        yield Call("hand_over", {"room": self.room})
        yield Say(f"You owed {self.mine.due}; here is the key.")

    def ablated(self) -> Iterator[Call | Say]:
        yield Call("look_up", {"room": self.room})
        yield Call("hand_over", {"room": self.room})
        yield Say(f"You owe {self.mine.due}; here is the key.")

    @property
    def mine(self) -> Room:
        return self.rooms[self.room]

    def payment(self) -> Call:
        return Call("settle", {"room": self.room, "invoice": self.mine.invoice, "amount": self.mine.due})

    def others(self) -> dict[str, Room]:
        return {n: r for n, r in self.rooms.items() if n != self.room}

    def found(self, room: str) -> Room:
        if room not in self.rooms:
            raise ToolError(f"there is no room {room}; there are {', '.join(self.rooms)}")
        return self.rooms[room]


def mutants(module: dict[str, Any]) -> tuple[Any, ...]:
    """Return the mutants among the names of a module: classes that name the property that must reject them."""
    return tuple(made for made in module.values() if isinstance(made, type) and hasattr(made, "rejected_by"))
