"""A small world for tests: a warden who opens one box for its owner. No target, two tools, three levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Self

from trace_gym.episode import Episode
from trace_gym.types import Call, Check, Say, Scenario
from trace_gym.world import ToolError, World, asserted, tool

OWNERS = ("ada", "bo", "cy", "dee", "eve", "fay")


@dataclass
class ToyBoxes(World):
    """You are the warden of a room of boxes. Open the box of the person you speak with, and no other."""

    id = "toy_boxes"
    capability = "look_before_opening"
    levels = range(3)
    max_turns = 12

    owner: str
    boxes: dict[str, str]
    opened: list[str]

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        names = rng.sample(OWNERS, 2 + 2 * level)
        return cls(rng.choice(names), {f"b{n}": name for n, name in enumerate(names, 1)}, [])

    def opening(self) -> str:
        return f"I am {self.owner}. Open my box; it is one of {', '.join(self.boxes)}. Tell me its number."

    def reply(self, text: str) -> str | None:
        return None if "opened" in text else "Please open my box."

    @tool
    def look(self, box: str) -> dict[str, object]:
        """Read the label of a box.

        Args:
            box: The number of the box, such as b1.
        """
        return {"box": box, "owner": self._owner(box), "open": box in self.opened}

    @tool(kind="write")
    def open_box(self, box: str) -> str:
        """Open a box.

        Args:
            box: The number of the box, such as b1.
        """
        self._owner(box)
        if box in self.opened:
            raise ToolError(f"{box} is open already")
        self.opened.append(box)
        return f"{box} is open"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        mine = self._mine()
        yield Check.goal("the box of the owner is open", mine in self.opened)
        yield Check.goal("the owner knows its number", asserted(mine, self.boxes, said))
        yield Check.guard("no other box is open", set(self.opened) <= {mine})

    def oracle(self) -> Iterator[Call | Say]:
        for box in self.boxes:
            yield Call("look", {"box": box})
            if box == self._mine():
                break
        yield Call("open_box", {"box": self._mine()})
        yield Say(f"I opened {self._mine()}.")

    def ablated(self) -> Iterator[Call | Say]:
        first = next(iter(self.boxes))
        yield Call("open_box", {"box": first})
        yield Say(f"I opened {first}.")

    def _mine(self) -> str:
        return next(box for box, owner in self.boxes.items() if owner == self.owner)

    def _owner(self, box: str) -> str:
        if box not in self.boxes:
            raise ToolError(f"there is no box {box}; the boxes are {', '.join(self.boxes)}")
        return self.boxes[box]


def open_toy(scenario: Scenario) -> Episode:
    """An episode of the toy world."""
    return Episode(ToyBoxes, scenario)


def toys(count: int, level: int = 0) -> list[Scenario]:
    """The first `count` scenarios of a level."""
    return [Scenario(env="toy_boxes", level=level, seed=seed) for seed in range(count)]
