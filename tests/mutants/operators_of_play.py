"""Operators that change the generated problems or the experts."""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Callable, Iterator
from random import Random

from mutants.operators import Members, operator

from trace_gym.episode import interface_of
from trace_gym.types import Call, Say
from trace_gym.world import World


@operator("global or unseeded randomness", "TG101")
def unseeded(base: type[World]) -> Members:
    return {"generate": classmethod(lambda cls, rng, level: base.generate.__func__(cls, random.Random(), level))}  # type: ignore[attr-defined]


@operator("randomness seeded by the clock", "TG101")
def clock_seeded(base: type[World]) -> Members:
    def generate(cls: type[World], rng: Random, level: int) -> World:
        made: World = base.generate.__func__(cls, Random(time.time_ns()), level)  # type: ignore[attr-defined]
        return made

    return {"generate": classmethod(generate)}


@operator("an order taken from a set of strings", "TG102")
def hash_order(base: type[World]) -> Members:
    letters = "zyxwvutsrq"
    return {"opening": lambda self: f"{base.opening(self)} {''.join(set(letters))}"}


@operator("one problem under every seed", "TG103")
def one_problem(base: type[World]) -> Members:
    return {"generate": classmethod(lambda cls, rng, level: base.generate.__func__(cls, Random("one"), level))}  # type: ignore[attr-defined]


@operator("a level that does not generate", "TG001")
def missing_level(base: type[World]) -> Members:
    return {"levels": range(len(base.levels) + 1), "generate": classmethod(_generate_known(base))}


def _generate_known(base: type[World]) -> Callable[..., World]:
    def generate(cls: type[World], rng: Random, level: int) -> World:
        made: World = base.generate.__func__(cls, rng, list(base.levels)[level])  # type: ignore[attr-defined]
        return made

    return generate


@operator("state that survives from one episode to the next", "TG101")
def remembers(base: type[World]) -> Members:
    begun: list[int] = []

    def opening(self: World) -> str:
        begun.append(1)
        return f"{base.opening(self)} ({len(begun)})"

    return {"opening": opening}


@operator("copies that share their records", "TG104")
def shallow_copy(base: type[World]) -> Members:
    return {"copy": lambda self: copy.copy(self)}


# What the experts do


@operator("an oracle without the capability", "TG201")
def unskilled_oracle(base: type[World]) -> Members:
    return {"oracle": lambda self: base.ablated(self)}


@operator("a shortcut that has the capability", "TG205")
def skilled_shortcut(base: type[World]) -> Members:
    return {"ablated": lambda self: base.oracle(self)}


@operator("an oracle that leaves out its last call", "TG201")
def forgetful_oracle(base: type[World]) -> Members:
    def oracle(self: World) -> Iterator[Call | Say]:
        steps = list(base.oracle(self))
        calls = [n for n, step in enumerate(steps) if isinstance(step, Call) and _writes(base, step)]
        return (step for n, step in enumerate(steps) if n not in calls[-1:])

    return {"oracle": oracle, "generate": classmethod(_with_writes(base))}


@operator("an oracle whose calls are malformed", "TG201")
def sloppy_oracle(base: type[World]) -> Members:
    def oracle(self: World) -> Iterator[Call | Say]:
        steps = list(base.oracle(self))
        first = next(s for s in steps if isinstance(s, Call))
        yield Call(first.tool, {**first.arguments, "please": True})
        yield from steps

    return {"oracle": oracle}


@operator("an oracle without an end", "TG201")
def endless_oracle(base: type[World]) -> Members:
    def oracle(self: World) -> Iterator[Call | Say]:
        first = next(s for s in base.oracle(self) if isinstance(s, Call))
        while True:
            yield first

    return {"oracle": oracle}


@operator("an oracle that uses information that it never received", "TG202")
def clairvoyant_oracle(base: type[World]) -> Members:
    def oracle(self: World) -> Iterator[Call | Say]:
        return (s for s in base.oracle(self) if isinstance(s, Say) or _writes(base, s))

    silent = {"opening": lambda self: "Please help me."}
    return {"oracle": oracle, "generate": classmethod(_with_writes(base)), **silent}


def _writes(base: type[World], call: Call) -> bool:
    return interface_of(base).kinds.get(call.tool) == "write"


def _with_writes(base: type[World]) -> Callable[..., World]:
    """Return problems in which the oracle writes, because defects of its writes have no effect in others."""

    def generate(cls: type[World], rng: Random, level: int) -> World:
        for _ in range(50):
            made: World = base.generate.__func__(cls, rng, level)  # type: ignore[attr-defined]
            if any(isinstance(s, Call) and _writes(base, s) for s in base.oracle(made)):
                return made
        raise ValueError("no problem of this level needs a write")

    return generate
