"""Library loans: lend the book that a reader asks for, once the card allows it.

Capability: resolve before writing. Late books block a card and have to be taken back first. Level n has up to
n + 1 of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from lending_library.desk import CARDS, TITLES, Copy, LendingDesk

from trace_gym.world import Call, Check, Random, Say, asserted


@dataclass
class LendingLoans(LendingDesk):
    """You run a lending desk. A card with a late book cannot borrow until the book is taken back."""

    id = "lending_loans"
    capability = "resolve_before_write"
    levels = range(3)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        card, other = rng.sample(CARDS, k=2)
        title, *rest = rng.sample(TITLES, k=4)
        shelf = [Copy(title), Copy(title, other)]  # two copies, and only one can be lent
        late = 0 if rng.random() < 0.3 else rng.randint(1, level + 1)
        shelf += [Copy(t, card, late=True) if n < late else Copy(t) for n, t in enumerate(rest)]
        rng.shuffle(shelf)
        return cls({f"c{n}": copy for n, copy in enumerate(shelf, 1)}, card, title)

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        lent = self.lent_copies()
        moved = {n for n, c in self.copies.items() if c != start.copies[n]}
        returned = {n for n in moved if start.copies[n].late and self.copies[n].card is None}
        yield Check.goal("the reader has one copy of the title", len(lent) == 1)
        yield Check.goal("the reader is told which copy", len(lent) == 1 and asserted(lent[0], list(self.copies), said))
        yield Check.guard("no other book moved", moved <= {*lent, *returned})

    def oracle(self) -> Iterator[Call | Say]:
        yield Call("search", {"words": ""})
        yield from (Call("take_back", {"copy": n}) for n in self.late_copies(self.card))
        yield from self.ablated()

    def ablated(self) -> Iterator[Call | Say]:
        yield Call("search", {"words": self.title})
        yield Call("lend", {"copy": self.free_copy(), "card": self.card})
        yield Say(f"I have lent you {self.free_copy()}.")
