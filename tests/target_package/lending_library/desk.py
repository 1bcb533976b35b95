"""Base world of the lending library: books, cards, and the tools of the desk."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from trace_gym.world import ToolError, World, asserted, tool

FIRST = ("Night", "Salt", "Glass", "Winter", "Copper", "Quiet", "Northern", "Paper", "Hollow", "Amber")
SECOND = ("Ferry", "Road", "Orchard", "Harbor", "Garden", "Letters", "Station", "Bridge", "Meadow", "Lantern")
TITLES = tuple(f"{first} {second}" for first in FIRST for second in SECOND)
CARDS = ("ada", "bo", "cy", "dee", "eve", "fay", "gus", "hal", "ivy", "jo")


@dataclass
class Copy:
    """One copy of a book; `card` is None if the copy is on the shelf."""

    title: str
    card: str | None = None
    late: bool = False


@dataclass
class LendingDesk(World):
    """You run a lending desk. A card with a late book cannot borrow until the book is taken back."""

    target = "lending_city"
    max_turns = 12
    copies: dict[str, Copy]
    card: str
    title: str

    def opening(self) -> str:
        late = "My late books are on the desk. " if self.late_copies(self.card) else ""
        return f"Hi, card {self.card}. {late}I would like {self.title!r}; tell me the copy that you lend me."

    def reply(self, text: str) -> str | None:
        copies = self.lent_copies() or [self.free_copy()]
        return None if any(asserted(n, [], [text]) for n in copies) else "Which copy do you lend me?"

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
        if card not in CARDS or self.late_copies(card):
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

    def free_copy(self) -> str:
        """Return the number of the copy on the shelf that the reader wants."""
        return next((n for n, c in self.copies.items() if c.title == self.title and c.card is None), "no copy")

    def lent_copies(self) -> list[str]:
        """Return the copies of the title that the reader has."""
        return [n for n, c in self.copies.items() if c == Copy(self.title, self.card)]

    def late_copies(self, card: str) -> list[str]:
        """Return the late copies of a card."""
        return [n for n, c in self.copies.items() if c.card == card and c.late]
