"""Simple mode of the TRL adapter: an environment's tools as methods of a class, made from their raw schemas."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter, Signature
from keyword import iskeyword
from typing import Any, Literal

from trace_gym.adapters.attempt import OWN, SAY
from trace_gym.adapters.trl_attempt import Attempt, attempt_class
from trace_gym.episode import Action
from trace_gym.errors import ConfigError
from trace_gym.score import DEFAULT_WEIGHTS, RewardWeights
from trace_gym.types import Call, Message, Say

TALK = next(tool for tool in OWN if tool["function"]["name"] == SAY)
"""The one tool that a target does not have: without it no user answers in TRL's own loop."""


def tool_class(env: str, weights: RewardWeights = DEFAULT_WEIGHTS, *, say: bool = False) -> type[Attempt]:
    """The attempts at scenarios of an environment, with its tools as methods.

    Args:
        env: Name in the registry; a mixture's parts have classes of their own.
        weights: How an attempt is paid.
        say: Add the tool `TALK`, through which the user can be asked.

    Raises:
        ConfigError: TRL cannot be offered a tool of that name.
    """
    plain = attempt_class(env, weights)
    tools = {t["function"]["name"]: _method(t, partial(_call, t["function"]["name"])) for t in plain._schemas}
    taken = [name for name in tools if name.startswith("_") or hasattr(Attempt, name) or (say and name == SAY)]
    if taken:
        raise ConfigError(f"{env} has tools called {', '.join(taken)}, which TRL cannot be offered; use full mode")
    added = {SAY: _method(TALK, _say), "_schemas": (*plain._schemas, TALK)} if say else {}
    made: type[Attempt] = type(env, (plain,), {**tools, **added})
    return made


def _call(tool: str, /, **arguments: Any) -> Action:
    return Call(tool, arguments)


def _say(text: str) -> Action:
    return Say(text)


def _method(tool: Message, act: Callable[..., Action]) -> Callable[..., str]:
    """A tool as TRL asks for it: a method with annotations and a Google docstring, which takes the turn of `act`.

    Both say less than the schema (nested types are shallow, argument names that Python lacks are left out), and are
    read only where `trace_gym.adapters.trl.exact_schemas` was not called.
    """
    function = tool["function"]
    parameters = function.get("parameters", {})
    known = {k: s for k, s in parameters.get("properties", {}).items() if k.isidentifier() and not iskeyword(k)}
    known.pop("self", None)
    needed = parameters.get("required", ())

    def method(self: Attempt, /, **arguments: Any) -> str:
        return self._answer(act(**arguments))

    hints = {key: _hint(schema) for key, schema in known.items()}
    shown = [
        Parameter(k, Parameter.KEYWORD_ONLY, annotation=h, default=Parameter.empty if k in needed else None)
        for k, h in hints.items()
    ]
    told = [f"    {key}: {_line(schema.get('description')) or key}" for key, schema in known.items()]
    method.__name__ = method.__qualname__ = function["name"]
    method.__doc__ = "\n".join([_line(function.get("description")) or function["name"], "", "Args:", *told])
    method.__annotations__ = hints
    vars(method)["__signature__"] = Signature([Parameter("self", Parameter.POSITIONAL_ONLY), *shown])
    return method


_HINTS = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


def _hint(schema: Message) -> Any:
    if choices := schema.get("enum"):
        return Literal[tuple(choices)]
    if schema.get("type") == "array" and schema.get("items"):
        return list[_hint(schema["items"])]  # type: ignore[misc]  # made at run time
    return _HINTS.get(str(schema.get("type")), Any)


def _line(text: str | None) -> str:
    return " ".join((text or "").split())
