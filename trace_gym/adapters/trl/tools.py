"""Simple mode of the TRL adapter: classes whose methods are the tools of an environment, created from raw schemas."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter, Signature
from keyword import iskeyword
from typing import Any, Literal

from trace_gym.adapters.rollout import CONVERSATION_TOOLS, SAY
from trace_gym.adapters.trl.environment import TrlEnvironment, environment_class
from trace_gym.episode import Action
from trace_gym.errors import ConfigError
from trace_gym.score import DEFAULT_WEIGHTS, RewardWeights
from trace_gym.types import Call, Message, Say

TALK = next(tool for tool in CONVERSATION_TOOLS if tool["function"]["name"] == SAY)
"""Additional tool for messages to the user, because TRL's tool loop does not pass messages to the environment."""


def tool_class(env: str, weights: RewardWeights = DEFAULT_WEIGHTS, *, say: bool = False) -> type[TrlEnvironment]:
    """Return an environment class for TRL with the environment's tools as methods.

    Args:
        env: Name in the registry. Each environment of a mixture requires a separate class.
        weights: Reward weights.
        say: Add the tool `TALK`, with which the policy can talk to the user.

    Raises:
        ConfigError: A tool has a name that TRL does not accept.
    """
    plain = environment_class(env, weights)
    tools = {t["function"]["name"]: _method(t, partial(_call, t["function"]["name"])) for t in plain._schemas}
    taken = [name for name in tools if name.startswith("_") or hasattr(TrlEnvironment, name) or (say and name == SAY)]
    if taken:
        raise ConfigError(
            f"simple mode does not support some tool names of {env}: found {', '.join(taken)}. A name must not begin "
            "with an underscore or be a method of the environment class. Use full mode"
        )
    added = {SAY: _method(TALK, talk_to_user), "_schemas": (*plain._schemas, TALK)} if say else {}
    made: type[TrlEnvironment] = type(env, (plain,), {**tools, **added})
    return made


def _call(tool: str, /, **arguments: Any) -> Action:
    return Call(tool, arguments)


def talk_to_user(text: str) -> Action:
    """Return the turn of the tool `TALK`. TRL shows errors of its arguments, with the name of this function."""
    return Say(text)


def _method(tool: Message, act: Callable[..., Action]) -> Callable[..., str]:
    """Return a method for a tool, with the type annotations and the Google docstring that TRL requires.

    The annotations and the docstring contain less information than the schema: nested types are simplified, and
    arguments whose names are not valid Python identifiers are omitted. TRL uses them only if
    `trace_gym.adapters.trl.exact_schemas` was not called.
    """
    function = tool["function"]
    parameters = function.get("parameters", {})
    known = {k: s for k, s in parameters.get("properties", {}).items() if k.isidentifier() and not iskeyword(k)}
    known.pop("self", None)
    needed = parameters.get("required", ())

    def method(self: TrlEnvironment, /, **arguments: Any) -> str:
        return self._answer(act(**arguments))

    hints = {key: _hint(schema) for key, schema in known.items()}
    signature_parameters = [
        Parameter(k, Parameter.KEYWORD_ONLY, annotation=h, default=Parameter.empty if k in needed else None)
        for k, h in hints.items()
    ]
    argument_lines = [f"    {key}: {_line(schema.get('description')) or key}" for key, schema in known.items()]
    method.__name__ = method.__qualname__ = function["name"]
    method.__doc__ = "\n".join([_line(function.get("description")) or function["name"], "", "Args:", *argument_lines])
    method.__annotations__ = hints
    vars(method)["__signature__"] = Signature([Parameter("self", Parameter.POSITIONAL_ONLY), *signature_parameters])
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
