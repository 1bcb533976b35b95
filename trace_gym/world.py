"""Base class of every environment's world, and the few other names that a generated environment may import.

A world is the state and the rules of one environment. `World.generate` builds the state from a seeded `Random`. Only
the tools and the scripted user change it, and `World.verify` scores it.
"""

from __future__ import annotations

import inspect
import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from types import FunctionType
from typing import Any, ClassVar, Literal, Self, TypeVar, overload

from trace_gym.statements import states_done, states_status, tells
from trace_gym.tool_schema import python_name, schema_of
from trace_gym.types import Call, Check, Event, Interface, Say

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
"""One turn of a scripted expert: a tool call or a message."""


class ToolError(Exception):
    """Refusal of a tool call. The agent reads the message; the state must be unchanged."""


@overload
def tool(method: _F) -> _F: ...
@overload
def tool(*, kind: str = "read", name: str = "") -> Callable[[_F], _F]: ...
def tool(method: _F | None = None, *, kind: str = "read", name: str = "") -> _F | Callable[[_F], _F]:
    """Mark a method of a world as a tool.

    If the world has no target, the tool's JSON Schema is derived from the method's type hints and Google docstring.

    Args:
        method: The method.
        kind: ``read``, ``write`` or ``generic``: whether the tool reads the state, changes it, or does neither.
        name: Name of the tool if it differs from the method's, such as ``get-sum`` for ``get_sum``.
    """

    def mark(f: _F) -> _F:
        f._tool_kind = kind  # type: ignore[attr-defined]
        f._tool_name = name  # type: ignore[attr-defined]
        return f

    return mark if method is None else mark(method)


class World:
    """State and rules of one environment.

    Subclasses are dataclasses whose fields are the state. They implement `generate`, tools (methods with the decorator
    `tool`), `opening`, `reply`, `verify`, `oracle` and `ablated`. All other members are optional.
    """

    id: ClassVar[str]
    capability: ClassVar[str]
    target: ClassVar[str] = ""
    levels: ClassVar[range] = range(1)
    max_turns: ClassVar[int] = 30
    hint: ClassVar[Any] = ""
    """Guidance for the prompt of some training rollouts, as a string or a method. It must not contain an answer."""
    harmless: ClassVar[frozenset[str]] = frozenset()
    """Names of write tools that cannot make an episode fail, such as a tool for notes."""
    alike: ClassVar[frozenset[int]] = frozenset()
    """Levels whose scenarios deliberately differ only in names and numbers."""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        """Return one scenario; `rng` is the only source of randomness."""
        raise NotImplementedError

    def opening(self) -> str:
        """Return the user's first message."""
        raise NotImplementedError

    def reply(self, text: str) -> str | None:
        """Return the scripted user's answer to a message of the agent; None ends the conversation."""
        raise NotImplementedError

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        """Yield the goals and guards of the scenario.

        Args:
            start: The state at the start.
            said: The messages of the agent.
        """
        raise NotImplementedError

    def conduct(self, start: Self, events: Sequence[Event]) -> Iterable[Check]:
        """Return the conduct checks: rules of the policy about the way to the outcome, such as consent before a change.

        They lower the reward (`RewardWeights.conduct`) and decide neither success nor progress. The oracle passes them.
        The method can also yield guards that depend on the order of messages and calls, such as the guard that nothing
        false was reported.

        Args:
            start: The state at the start.
            events: The messages and the well-formed calls of the agent in order, each with the answer to it.
        """
        return ()

    def oracle(self) -> Iterator[Step]:
        """Yield the steps of an expert with the capability. The harness calls it on the unchanged start state."""
        raise NotImplementedError

    def ablated(self) -> Iterator[Step]:
        """Yield the steps of the same expert without the capability, which is how a failing agent acts."""
        raise NotImplementedError

    def needs(self) -> frozenset[str]:
        """Return the capabilities that this scenario requires. The harness calls it on the start state.

        By default, the scenario requires `capability` if the writes of `oracle` and `ablated` differ.
        """
        kinds = self.interface().kinds

        def writes(plan: Iterator[Step]) -> list[Call]:
            return [s for s in plan if isinstance(s, Call) and kinds.get(s.tool) == "write"]

        return frozenset({self.capability} if writes(self.oracle()) != writes(self.ablated()) else ())

    @property
    def ended(self) -> bool:
        """Whether the conversation is over regardless of the agent's next message, such as after a transfer."""
        return False

    @classmethod
    def interface(cls) -> Interface:
        """Return the policy, tools and conventions that an agent sees, by default derived from the tools."""
        methods = {name: _held(cls, method) for name, method in tool_methods(cls).items()}
        kinds = {name: _marked(cls, method)._tool_kind for name, method in tool_methods(cls).items()}
        return Interface(
            name=cls.target or cls.id,
            policy=inspect.cleandoc(cls.__doc__ or ""),
            tools=tuple(schema_of(n, m) for n, m in methods.items()),
            kinds=kinds,
            conventions="In each turn either write to the user or make one tool call, never both.",
        )

    def format_result(self, call: Call, result: Any) -> str:
        """Return the text that the agent reads as the result of a call: a string unchanged, other data as JSON.

        A base world overrides this method if the target formats results differently.
        """
        return result if isinstance(result, str) else json.dumps(result)

    def violations(self, call: Call) -> list[str]:
        """Return the rules of the policy that a call would violate in the current state.

        If a world overrides this method, validation checks the plan of the oracle with it.
        """
        return []

    @classmethod
    def from_records(cls, shown: Sequence[tuple[Call, Any]]) -> Self:
        """Return the state that recorded tool results show.

        Validation uses it to compare the tools of a base world with recorded episodes of the target.

        Args:
            shown: Calls with their results (parsed if they are JSON), all from before any change, earliest first.
        """
        raise NotImplementedError

    def knows(self, call: Call, shown: Sequence[tuple[Call, Any]]) -> bool:
        """Return whether the records of this state suffice to compute the result of a recorded call."""
        return True

    @classmethod
    def as_recorded(cls, call: Call, answer: Any, source: str) -> Any:
        """Return a result without the fields that are declared to differ in recordings of `source`."""
        return answer

    def copy(self) -> Self:
        """Return an independent copy of the whole state."""
        return pickle.loads(pickle.dumps(self, -1))  # type: ignore[no-any-return]  # 4x faster than deepcopy


def overrides(world: type[World], member: str) -> bool:
    """Return whether a world class, or a class that it inherits from, replaces an optional member of `World`."""
    return _held(world, member) is not _held(World, member)


def call_tool(world: World, name: str, arguments: Mapping[str, Any]) -> Any:
    """Call a tool of a world by its name and return the result.

    The harness and the experts of all targets call tools only through this function. The name may come from a generated
    module. Therefore only methods that the class or one of its bases marks with `tool` are called, never other methods,
    special methods or values of fields.

    Raises:
        ToolError: The tool refused the call.
        ValueError: The object is not a world, or the world has no tool of this name.
    """
    if not isinstance(world, World):
        raise ValueError(f"cannot call a tool: found an object of type {type(world).__name__}, expected a World")
    method = tool_methods(type(world)).get(name, "")
    held = _held(type(world), method)
    if not isinstance(held, FunctionType):
        raise ValueError(
            f"the tool {name!r} does not exist: no method of {type(world).__name__} with this name is marked with @tool"
        )
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
    """Return the attribute that a class defines or inherits, without binding it; None if there is none."""
    for kind in world.__mro__:
        if name in kind.__dict__:
            return kind.__dict__[name]
    return None


def _marked(world: type[World], method: str) -> Any:
    """Return the function marked with `tool` behind a method that a subclass may override without the mark."""
    found = (vars(kind).get(method) for kind in world.__mro__)
    return next((f for f in found if isinstance(f, FunctionType) and hasattr(f, "_tool_kind")), None)


def _read_tools(world: type[World]) -> dict[str, str]:
    table: dict[str, str] = {}
    for method in dir(world):
        if marked := _marked(world, method):
            name = getattr(marked, "_tool_name", "") or method
            if name in table:
                raise TypeError(
                    f"two methods define the same tool {name!r}: found {table[name]}() and {method}(). Rename one of "
                    "the tools"
                )
            table[name] = method
    return table


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
