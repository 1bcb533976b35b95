"""Operators that change the verifier, the tools, their schemas, or the user."""

from __future__ import annotations

import copy
import inspect
import random
from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from typing import Any

from mutants.operators import Members, operator

from trace_gym.episode import interface_of
from trace_gym.types import Call, Check, Interface
from trace_gym.world import ToolError, World

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
        goals = [c.passed for c in checks if c.kind == "goal"]
        return [Check.goal("all is done", all(goals)), *[c for c in checks if c.kind == "guard"]]

    return _judged(base, change)


@operator("no reward for any policy", "TG201")
def nobody_is_paid(base: type[World]) -> Members:
    return _judged(base, lambda checks, *_: [*checks, Check.goal("the moon is reached", False)])


@operator("reward for what held at the start", "TG302")
def paid_for_the_start(base: type[World]) -> Members:
    return _judged(
        base, lambda checks, *_: [Check.goal(c.description, True) if c.kind == "goal" else c for c in checks]
    )


@operator("reward for talking", "TG301")
def paid_for_talking(base: type[World]) -> Members:
    def change(checks: list[Check], self: World, start: World, said: list[str]) -> list[Check]:
        return [*checks, Check.goal("the agent said something", bool(said))]

    return _judged(base, change)


@operator("a sentence of a check that changes on the way", "TG302")
def shifting_sentences(base: type[World]) -> Members:
    def change(checks: list[Check], self: World, start: World, said: list[str]) -> list[Check]:
        first, *rest = checks
        return [Check(first.kind, f"{first.description} ({len(said)})", first.passed), *rest]

    return _judged(base, change)


@operator("a verifier that raises", "TG302")
def crashing_verifier(base: type[World]) -> Members:
    def change(checks: list[Check], self: World, start: World, said: list[str]) -> list[Check]:
        return [*checks, checks[len(checks) + len(said)]]

    return _judged(base, change)


# What tools do


def _first(base: type[World], kind: str) -> str:
    """Return the first tool of a kind that the oracle uses."""
    for level in base.levels:
        for seed in range(20):
            for step in islice(base.generate(Random(f"{base.id}/{level}/{seed}"), level).oracle(), base.max_turns):
                if isinstance(step, Call) and interface_of(base).kinds.get(step.tool) == kind:
                    return step.tool
    raise ValueError(f"the oracle of {base.id} never makes a {kind} call")


def _tool(base: type[World], kind: str, work: Callable[..., Any]) -> Members:
    """Return a replacement for the first tool of a kind, with the same signature and decorator."""
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


@operator("a tool that raises an exception other than a refusal", "TG403")
def crashing_tool(base: type[World]) -> Members:
    def work(self: World, original: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except ToolError as refused:
            raise KeyError(str(refused)) from None

    return _tool(base, "read", work)


def _spoiled(self: World) -> None:
    """Modify an arbitrary value in the state."""
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
    """Return the interface with a changed schema of one tool: the tool with the most required parameters."""
    own = interface_of(base)
    tools = copy.deepcopy(own.tools)
    widest = max(tools, key=lambda t: len(t["function"].get("parameters", {}).get("required", [])))
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


@operator("a user who ends the conversation at once", "TG201")
def impatient_user(base: type[World]) -> Members:
    return {"reply": lambda self, text: None}
