"""Faults that can be put into any environment: each operator makes a broken variant of a world class.

``mutants.machine:tau2_precondition__unseeded`` names the variant of ``tau2_precondition`` made by the operator
`unseeded`; it is built when it is asked for, in every process anew. So an environment that is added to the
registry is checked against all of them without a line about it here.
"""

from __future__ import annotations

import copy
import inspect
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

from trace_gym import registry
from trace_gym.episode import interface_of
from trace_gym.types import Call, Check, Interface, Say
from trace_gym.world import ToolError, World

Members = dict[str, Any]
"""What a variant has instead of the original's."""


@dataclass(frozen=True)
class Operator:
    """A way to break an environment."""

    name: str
    fault: str
    """The fault class, in words."""
    caught_by: str
    """Code of the property that is there to find it."""
    make: Callable[[type[World]], Members]


OPERATORS: dict[str, Operator] = {}
NEEDS_CAPABILITY = {"unskilled_oracle", "skilled_shortcut"}
"""Operators that mean something only where an environment trains one capability."""


def operator(
    fault: str, caught_by: str
) -> Callable[[Callable[[type[World]], Members]], Callable[[type[World]], Members]]:
    def register(make: Callable[[type[World]], Members]) -> Callable[[type[World]], Members]:
        OPERATORS[make.__name__] = Operator(make.__name__, fault, caught_by, make)
        return make

    return register


def variants(env: str) -> list[str]:
    """The names of all broken variants of an environment, to be loaded as ``mutants.machine:NAME``."""
    capable = bool(registry.load(env).capability)
    return [f"{env}__{name}" for name in OPERATORS if capable or name not in NEEDS_CAPABILITY]


_made: dict[str, type[World]] = {}


def __getattr__(name: str) -> type[World]:
    env, found, op = name.partition("__")
    if not found or op not in OPERATORS:
        raise AttributeError(name)
    if name not in _made:
        base = registry.load(env)
        members = {"id": name, "__module__": __name__, "__doc__": base.__doc__, **OPERATORS[op].make(base)}
        _made[name] = type(name, (base,), members)
    return _made[name]


# What is drawn


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


@operator("an oracle that knows what nobody told it", "TG202")
def clairvoyant_oracle(base: type[World]) -> Members:
    def oracle(self: World) -> Iterator[Call | Say]:
        return (s for s in base.oracle(self) if isinstance(s, Say) or _writes(base, s))

    silent = {"opening": lambda self: "Please help me."}
    return {"oracle": oracle, "generate": classmethod(_with_writes(base)), **silent}


def _writes(base: type[World], call: Call) -> bool:
    return interface_of(base).kinds.get(call.tool) == "write"


def _with_writes(base: type[World]) -> Callable[..., World]:
    """Problems in which the oracle writes something, since a fault of its writes cannot show in others."""

    def generate(cls: type[World], rng: Random, level: int) -> World:
        for _ in range(50):
            made: World = base.generate.__func__(cls, rng, level)  # type: ignore[attr-defined]
            if any(isinstance(s, Call) and _writes(base, s) for s in base.oracle(made)):
                return made
        raise ValueError("no problem of this level needs a write")

    return generate


# What is judged


def _judged(base: type[World], change: Callable[[list[Check], World, World, list[str]], list[Check]]) -> Members:
    def verify(self: World, start: World, said: list[str]) -> Iterator[Check]:
        return iter(change(list(base.verify(self, start, said)), self, start, said))

    return {"verify": verify}


@operator("no guard against damage", "TG304")
def unguarded(base: type[World]) -> Members:
    return _judged(base, lambda checks, *_: [c for c in checks if c.kind == "goal"])


@operator("a reward that is all or nothing", "TG303")
def all_or_nothing(base: type[World]) -> Members:
    def change(checks: list[Check], *_: Any) -> list[Check]:
        goals = [c.holds for c in checks if c.kind == "goal"]
        return [Check.goal("all is done", all(goals)), *[c for c in checks if c.kind == "guard"]]

    return _judged(base, change)


@operator("no reward for anybody", "TG201")
def nobody_is_paid(base: type[World]) -> Members:
    return _judged(base, lambda checks, *_: [*checks, Check.goal("the moon is reached", False)])


@operator("reward for what held at the start", "TG302")
def paid_for_the_start(base: type[World]) -> Members:
    return _judged(base, lambda checks, *_: [Check.goal(c.says, True) if c.kind == "goal" else c for c in checks])


@operator("reward for talking", "TG301")
def paid_for_talking(base: type[World]) -> Members:
    def change(checks: list[Check], self: World, start: World, said: list[str]) -> list[Check]:
        return [*checks, Check.goal("the agent said something", bool(said))]

    return _judged(base, change)


@operator("a sentence of a check that changes on the way", "TG302")
def shifting_sentences(base: type[World]) -> Members:
    def change(checks: list[Check], self: World, start: World, said: list[str]) -> list[Check]:
        first, *rest = checks
        return [Check(first.kind, f"{first.says} ({len(said)})", first.holds), *rest]

    return _judged(base, change)


@operator("a verifier that raises", "TG302")
def crashing_verifier(base: type[World]) -> Members:
    def change(checks: list[Check], self: World, start: World, said: list[str]) -> list[Check]:
        return [*checks, checks[len(checks) + len(said)]]

    return _judged(base, change)


# What tools do


def _first(base: type[World], kind: str) -> str:
    """The first tool of a kind that the oracle uses."""
    for level in base.levels:
        for seed in range(20):
            for step in islice(base.generate(Random(f"{base.id}/{level}/{seed}"), level).oracle(), base.max_turns):
                if isinstance(step, Call) and interface_of(base).kinds.get(step.tool) == kind:
                    return step.tool
    raise ValueError(f"the oracle of {base.id} never makes a {kind} call")


def _tool(base: type[World], kind: str, work: Callable[..., Any]) -> Members:
    """The first tool of a kind, with other work; its signature and mark stay."""
    name = _first(base, kind)
    original = getattr(base, name)

    def method(self: World, *args: Any, **kwargs: Any) -> Any:
        return work(self, original, *args, **kwargs)

    method.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
    method.__name__, method.__doc__ = name, original.__doc__
    method._tool_kind = original._tool_kind  # type: ignore[attr-defined]
    return {name: method}


@operator("a write that does nothing", "TG201")
def idle_write(base: type[World]) -> Members:
    return _tool(base, "write", lambda self, original, *a, **k: original(self.copy(), *a, **k))


@operator("a tool that raises what is no refusal", "TG403")
def crashing_tool(base: type[World]) -> Members:
    def work(self: World, original: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except ToolError as refused:
            raise KeyError(str(refused)) from None

    return _tool(base, "read", work)


def _spoiled(self: World) -> None:
    """Change something in the state, whatever it is made of."""
    for value in vars(self).values():
        if isinstance(value, dict) and value:
            value.pop(next(iter(value)))
            return


@operator("a read that writes", "TG404")
def writing_read(base: type[World]) -> Members:
    def work(self: World, original: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        _spoiled(self)
        return result

    return _tool(base, "read", work)


@operator("a refusal that writes first", "TG404")
def writing_refusal(base: type[World]) -> Members:
    def work(self: World, original: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except ToolError:
            _spoiled(self)
            raise

    return _tool(base, "read", work)


# What is shown of the tools


def _shown(base: type[World], change: Callable[[dict[str, Any]], None], every: bool = False) -> Members:
    """The interface with the schema of one tool changed: the one with the most parameters."""
    own = interface_of(base)
    tools = copy.deepcopy(own.tools)
    widest = max(tools, key=lambda t: len(t["function"].get("parameters", {}).get("properties", {})))
    change(widest["function"])
    made = own.model_copy(update={"tools": tools})

    def interface(cls: type[World]) -> Interface:
        return made

    return {"interface": classmethod(interface)}


@operator("a parameter of another name", "TG401")
def renamed_parameter(base: type[World]) -> Members:
    def change(function: dict[str, Any]) -> None:
        properties = function["parameters"]["properties"]
        properties["renamed"] = properties.pop(next(iter(properties)))

    return _shown(base, change)


@operator("a parameter of another type", "TG401")
def retyped_parameter(base: type[World]) -> Members:
    def change(function: dict[str, Any]) -> None:
        properties = function["parameters"]["properties"]
        properties[next(iter(properties))] = {"type": "boolean"}

    return _shown(base, change)


@operator("a parameter that may be left out", "TG401")
def optional_parameter(base: type[World]) -> Members:
    return _shown(base, lambda function: function["parameters"].update(required=[]))


@operator("a tool that the target lacks", "TG401")
def extra_tool(base: type[World]) -> Members:
    def cancel_everything(self: World) -> str:
        """Cancel all there is."""
        return "done"

    cancel_everything._tool_kind = "write"  # type: ignore[attr-defined]
    return {"cancel_everything": cancel_everything}


# What the user says


@operator("a user who cannot take every text", "TG402")
def fragile_user(base: type[World]) -> Members:
    return {"reply": lambda self, text: base.reply(self, text.format(self))}


@operator("a user whose answers are random", "TG101")
def moody_user(base: type[World]) -> Members:
    def reply(self: World, text: str) -> str | None:
        answer = base.reply(self, text)
        return None if answer is None else f"{answer} I feel {random.random():.9f}."

    return {"reply": reply}


@operator("a user who hangs up at once", "TG201")
def impatient_user(base: type[World]) -> Members:
    return {"reply": lambda self, text: None}
