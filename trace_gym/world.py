"""What a generated environment may import: the base class of every world and its few words.

A world is the state and the rules of one environment. It is built by `generate` from a seeded
`Random` and nothing else, changed only by its tools, and judged by `verify`, a list of sentences.
"""

from __future__ import annotations

import inspect
import json
import keyword
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from random import Random
from types import FunctionType
from typing import Any, ClassVar, Literal, Self, TypeVar, get_type_hints, overload

from trace_gym.statements import states_done, states_status, tells
from trace_gym.types import Call, Check, Event, Interface, Message, Say

__all__ = [
    "Call",
    "Check",
    "Event",
    "Random",
    "Say",
    "ToolError",
    "World",
    "asserted",
    "states_done",
    "states_status",
    "tool",
]

_F = TypeVar("_F", bound=Callable[..., Any])

Step = Call | Say
"""One turn of a scripted expert."""


class ToolError(Exception):
    """A refusal that the agent reads: what was wrong and what is possible. The state is unchanged."""


@overload
def tool(method: _F) -> _F: ...
@overload
def tool(*, kind: str = "read", name: str = "") -> Callable[[_F], _F]: ...
def tool(method: _F | None = None, *, kind: str = "read", name: str = "") -> _F | Callable[[_F], _F]:
    """Mark a method of a world as a tool; `kind` is ``read``, ``write`` or ``generic``.

    `name` is the tool's name where the method has another one, such as ``get-sum`` for ``get_sum``. Without a target,
    the tool's JSON Schema is read from its type hints and Google docstring.
    """

    def mark(f: _F) -> _F:
        f._tool_kind = kind  # type: ignore[attr-defined]
        f._tool_name = name  # type: ignore[attr-defined]
        return f

    return mark if method is None else mark(method)


class World:
    """State and rules of one environment. Subclasses are dataclasses whose fields are the state."""

    id: ClassVar[str]
    capability: ClassVar[str]
    target: ClassVar[str] = ""
    levels: ClassVar[range] = range(1)
    max_turns: ClassVar[int] = 30

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        """Build one problem; all randomness comes from `rng`."""
        raise NotImplementedError

    def opening(self) -> str:
        """The user's first message."""
        raise NotImplementedError

    def reply(self, text: str) -> str | None:
        """The scripted user's answer to an agent's message; None hangs up."""
        raise NotImplementedError

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        """Goals and guards, over the state, the state at the start, and what the agent said."""
        raise NotImplementedError

    def conduct(self, start: Self, events: Sequence[Event]) -> Iterable[Check]:
        """Return the conduct checks: rules of the policy about the way to the outcome, such as consent before a change.

        They lower the reward (`RewardWeights.conduct`) and decide neither success nor progress. The oracle passes them.

        Args:
            start: The state at the start.
            events: The messages and the well-formed calls of the agent in order, each with what answered it.
        """
        return ()

    def oracle(self) -> Iterator[Step]:
        """The expert who exercises the capability. Called on the untouched start state."""
        raise NotImplementedError

    def ablated(self) -> Iterator[Step]:
        """The same expert without the capability: what the failing agent does."""
        raise NotImplementedError

    def needs(self) -> frozenset[str]:
        """The capabilities without which an expert would write something else. Called on the start state."""
        kinds = self.interface().kinds

        def deeds(plan: Iterator[Step]) -> list[Call]:
            return [s for s in plan if isinstance(s, Call) and kinds.get(s.tool) == "write"]

        return frozenset({self.capability} if deeds(self.oracle()) != deeds(self.ablated()) else ())

    @property
    def ended(self) -> bool:
        """Whether the conversation is over whatever the agent says next (a transfer, for example)."""
        return False

    @classmethod
    def interface(cls) -> Interface:
        """What an agent sees; read from the tools unless a target provides it."""
        methods = {name: _held(cls, method) for name, method in tool_methods(cls).items()}
        kinds = {name: _marked(cls, method)._tool_kind for name, method in tool_methods(cls).items()}
        return Interface(
            name=cls.id,
            policy=inspect.cleandoc(cls.__doc__ or ""),
            tools=tuple(_schema(n, m) for n, m in methods.items()),
            kinds=kinds,
            conventions="In each turn either write to the user or make one tool call, never both.",
        )

    def format_result(self, call: Call, result: Any) -> str:
        """Return the text that the agent reads as the result of a call: a string unchanged, other data as JSON.

        A base world overrides this method where the target formats results differently.
        """
        return result if isinstance(result, str) else json.dumps(result)

    def copy(self) -> Self:
        """An independent copy of the whole state."""
        return pickle.loads(pickle.dumps(self, -1))  # type: ignore[no-any-return]  # 4x faster than deepcopy


def call_tool(world: World, name: str, arguments: Mapping[str, Any]) -> Any:
    """Call a tool of a world by its name; the harness and the experts of all targets call tools only through here.

    The name is data that a generated module may have assembled. Only a method that the class, or a class that it
    inherits from, marks with `tool` is called: no other method, no special method, and no value of a field.

    Raises:
        ToolError: The tool refuses.
        ValueError: The object is no world, or has no tool of this name.
    """
    if not isinstance(world, World):
        raise ValueError(f"cannot call a tool: found an object of type {type(world).__name__}, expected a World")
    method = tool_methods(type(world)).get(name, "")
    held = _held(type(world), method)
    if not isinstance(held, FunctionType):
        raise ValueError(f"no tool is called {name!r}: {type(world).__name__} has no method of this name marked @tool")
    return held(world, **{python_name(key): value for key, value in arguments.items()})


def plan_of(world: World, expert: Literal["oracle", "ablated"]) -> Iterator[Step]:
    """Return the steps of one of the two experts of a world."""
    return world.oracle() if expert == "oracle" else world.ablated()


_tables: dict[type[World], dict[str, str]] = {}


def tool_methods(world: type[World]) -> Mapping[str, str]:
    """Return the method name of each tool of a world by the tool's name, sorted by method name.

    Raises:
        TypeError: Two methods are marked with the same tool name.
    """
    if (known := _tables.get(world)) is None:
        known = _tables[world] = _read_tools(world)
    return known


def _held(world: type[World], name: str) -> Any:
    """Return what a class holds under a name, itself or from a class that it inherits from."""
    for kind in world.__mro__:
        if name in kind.__dict__:
            return kind.__dict__[name]
    return None


def _marked(world: type[World], method: str) -> Any:
    """Return the function marked `@tool` behind a method, which a subclass may override without marking it again."""
    found = (vars(kind).get(method) for kind in world.__mro__)
    return next((f for f in found if isinstance(f, FunctionType) and hasattr(f, "_tool_kind")), None)


def _read_tools(world: type[World]) -> dict[str, str]:
    table: dict[str, str] = {}
    for method in dir(world):
        if marked := _marked(world, method):
            name = getattr(marked, "_tool_name", "") or method
            if name in table:
                raise TypeError(f"two methods are marked as the tool {name!r}: found {table[name]} and {method}")
            table[name] = method
    return table


@lru_cache(maxsize=4096)
def python_name(name: str) -> str:
    """Return the Python identifier for the name of a tool or parameter; most names are their own.

    ``get-sum`` is ``get_sum``, ``from`` is ``from_``, ``_id`` is ``id_`` and ``2fa`` is ``n2fa``.
    """
    made = re.sub(r"\W", "_", name, flags=re.ASCII)
    if made[:1].isdigit():
        made = f"n{made}"
    if keyword.iskeyword(made) or made == "self" or made.startswith("_"):
        made = f"{made.lstrip('_') or 'name'}_"
    return made


def asserted(value: str | float, candidates: Iterable[str | float], said: list[str], role: str = "") -> bool:
    """Return whether the agent told the user `value` as a fact, and no competing candidate.

    Values are compared as values: ``2024-05-12`` is told by "May 12th", and ``1250`` by "$1,250.00". Words that deny a
    value, leave it open ("50 or 60") or repeat what the user said do not tell it. A candidate competes if it is stated
    in the same role as the value or in an unknown one.

    Args:
        value: A number, an ISO date, a time ``HH:MM``, or a name, id or other phrase.
        candidates: Values that could be mistaken for it; the value itself may be among them.
        said: The messages of the agent.
        role: What the number, date or time is, such as ``refund``, ``charge``, ``fare``, ``paid``, ``total``,
            ``booking``, ``departure`` or ``arrival`` (`trace_gym.statements.ROLES`). With a role, the value must not be
            told in another one, and candidates in other roles do not compete.

    Raises:
        ValueError: The role is unknown, or a value of this kind cannot have it.
    """
    return tells(value, candidates, said, role)


_JSON_TYPES: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    list[str]: {"type": "array", "items": {"type": "string"}},
    list[int]: {"type": "array", "items": {"type": "integer"}},
}


def _schema(name: str, method: Callable[..., Any]) -> Message:
    """The OpenAI function schema of one tool, from type hints and a Google docstring."""
    summary, _, args = inspect.cleandoc(method.__doc__ or name).partition("Args:")
    described = dict(re.findall(r"^\s+(\w+)(?: \([^)]*\))?: (.+)$", args, flags=re.M))
    hints = get_type_hints(method)
    properties, required = {}, []
    for key, parameter in list(inspect.signature(method).parameters.items())[1:]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            shown = str(parameter).partition(":")[0]
            raise TypeError(
                f"tool {name!r} has the {parameter.kind.description} parameter {shown}, expected only named ones. "
                "Name each parameter that the tool takes"
            )
        properties[key] = {**_JSON_TYPES.get(hints.get(key), {}), "description": described.get(key, key)}
        if parameter.default is parameter.empty:
            required.append(key)
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": summary.strip(), "parameters": parameters}}
