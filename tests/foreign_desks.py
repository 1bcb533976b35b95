"""Gymnasium environments whose turns are commands, such as ``add 3427 2``: a healthy one, and one fault each."""

from __future__ import annotations

from random import Random

import gymnasium
from foreign_envs import Backwards, Step


class Desk(Backwards):
    """Look up the numbers of articles, add them to the cart, and submit the order."""

    turns = 12

    def problem(self, seed: int) -> None:
        rng = Random(f"desk/{seed}")
        names = rng.sample(["bolt", "nut", "hinge", "screw", "clamp"], 2)
        self.numbers = {name: str(rng.randrange(1000, 9999)) for name in names}
        self.order = {self.numbers[name]: rng.randint(2, 60) for name in names}
        self.cart: dict[str, int] = {}

    def prompt(self) -> str:
        wanted = " and ".join(f"{self.order[number]} of '{name}'" for name, number in self.numbers.items())
        return f"A customer wants {wanted}. Commands: lookup NAME, add NUMBER QUANTITY, submit. One per turn."

    def step(self, action: str) -> Step:
        self.left -= 1
        match action.split():
            case ["lookup", name]:
                return f"Number: {self.numbers.get(name)}", self.paid_lookup(), False, self.left <= 0, {}
            case ["add", number, quantity] if quantity.isdecimal() and len(quantity) < 9:
                self.cart[number] = self.cart.get(number, 0) + int(quantity)
                return "Added.", 0.0, False, self.left <= 0, {}
            case ["submit"]:
                return "Submitted.", float(self.right()), True, False, {}
        return "Unknown command.", 0.0, False, self.left <= 0, {}

    def paid_lookup(self) -> float:
        return 0.0

    def right(self) -> bool:
        return self.cart == self.order

    def solution(self, seed: int) -> list[str]:
        self.reset(seed=seed)
        adds = [f"add {number} {quantity}" for number, quantity in self.order.items()]
        return [*(f"lookup {name}" for name in self.numbers), *adds, "submit"]


class MoreIsEnough(Desk):
    rejected_by = "TG304"

    def right(self) -> bool:
        return all(self.cart.get(number, 0) >= quantity for number, quantity in self.order.items())


class FewerAreEnough(Desk):
    rejected_by = "TG304"

    def right(self) -> bool:
        return self.cart.keys() == self.order.keys() and all(self.cart[n] <= self.order[n] for n in self.order)


class PaysForEachLookup(Desk):
    rejected_by = "TG303"

    def paid_lookup(self) -> float:
        return 0.2


class CannotReadQuantities(Desk):
    rejected_by = "TG402"

    def step(self, action: str) -> Step:
        if len(words := action.split()) == 3 and words[0] == "add":
            int(words[2])
        return super().step(action)


FAULTS = (MoreIsEnough, FewerAreEnough, PaysForEachLookup, CannotReadQuantities)

for made in (Desk, *FAULTS):
    gymnasium.register(f"desks/{made.__name__}-v0", entry_point=f"{__name__}:{made.__name__}", max_episode_steps=12)
