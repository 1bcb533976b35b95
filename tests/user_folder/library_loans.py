"""Library loans: lend the book that a reader asks for, once their card allows it.

Capability: resolve before writing. Late books block a card; level n has n of them to take back first.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Self

from trace_gym.world import Call, Check, Random, Say, ToolError, World, asserted, tool

TITLES = ("Night Ferry", "The Salt Road", "Tides and Keepers", "A Guide to Moss", "Glass Orchard")
CARDS = ("ada", "bo", "cy")


@dataclass
class Copy:
    """One book; `card` is None while it stands on the shelf."""

    title: str
    card: str | None = None
    late: bool = False


@dataclass
class LibraryLoans(World):
    """You run a lending desk. A card with a late book on it borrows nothing until the book is taken back."""

    id = "library_loans"
    capability = "resolve_before_write"
    levels = range(3)
    max_turns = 12
    copies: dict[str, Copy]
    card: str
    title: str

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        card, other = rng.sample(CARDS, k=2)
        title, *rest = rng.sample(TITLES, k=4)
        shelf = [Copy(title), Copy(title, other)]  # two copies, and only one can be lent
        shelf += [Copy(t, card, late=True) if n < level else Copy(t) for n, t in enumerate(rest)]
        rng.shuffle(shelf)
        return cls({f"c{n}": copy for n, copy in enumerate(shelf, 1)}, card, title)

    def opening(self) -> str:
        late = "My late books are on the desk. " if self._late(self.card) else ""
        return f"Hi, card {self.card}. {late}I would like {self.title!r}; tell me the copy that you lend me."

    def reply(self, text: str) -> str | None:
        return None if asserted(self._free(), [], [text]) or self._lent() else "Which copy do you lend me?"

    @tool
    def search(self, words: str, limit: int = 10) -> list[dict[str, Any]]:
        """List the copies whose title contains these words.

        Args:
            words: Part of a title, in any case; an empty string lists every copy.
            limit: How many copies to list.
        """
        found = [{"copy": n, **asdict(c)} for n, c in self.copies.items() if words.lower() in c.title.lower()]
        return found[: max(limit, 0)]

    @tool(kind="write")
    def lend(self, copy: str, card: str) -> str:
        """Lend a copy from the shelf to a reader.

        Args:
            copy: The number of the copy, such as c4.
            card: The name on the reader's card, such as ada.
        """
        if copy not in self.copies or self.copies[copy].card:
            raise ToolError(f"{copy} is not on the shelf; search lists the copies")
        if card not in CARDS or self._late(card):
            raise ToolError(f"card {card} may not borrow; take its late books back first")
        self.copies[copy].card = card
        return f"lent {copy} to {card}"

    @tool(kind="write")
    def take_back(self, copy: str) -> str:
        """Put a borrowed copy back on the shelf.

        Args:
            copy: The number of the copy, such as c4.
        """
        if copy not in self.copies or not self.copies[copy].card:
            raise ToolError(f"{copy} is not on loan; search lists the copies")
        self.copies[copy] = Copy(self.copies[copy].title)
        return f"took back {copy}"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        lent = self._lent()
        moved = {n for n, c in self.copies.items() if c != start.copies[n]}
        returned = {n for n in moved if start.copies[n].late and self.copies[n].card is None}
        yield Check.goal("the reader has one copy of the title", len(lent) == 1)
        yield Check.goal("the reader is told which copy", len(lent) == 1 and asserted(lent[0], list(self.copies), said))
        yield Check.guard("no other book moved", moved <= {*lent, *returned})

    def oracle(self) -> Iterator[Call | Say]:
        yield from (Call("take_back", {"copy": n}) for n in self._late(self.card))
        yield from self.ablated()

    def ablated(self) -> Iterator[Call | Say]:
        yield Call("search", {"words": self.title})
        yield Call("lend", {"copy": self._free(), "card": self.card})
        yield Say(f"I have lent you {self._free()}.")

    def _free(self) -> str:
        return next((n for n, c in self.copies.items() if c.title == self.title and c.card is None), "no copy")

    def _lent(self) -> list[str]:
        return [n for n, c in self.copies.items() if c == Copy(self.title, self.card)]

    def _late(self, card: str) -> list[str]:
        return [n for n, c in self.copies.items() if c.card == card and c.late]
