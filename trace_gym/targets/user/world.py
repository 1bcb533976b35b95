"""Base class of the worlds of a custom target, with its interface and a simple rule-based user."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from trace_gym.targets.user import replays as _replays
from trace_gym.targets.user.formats import formatted as _formatted
from trace_gym.targets.users import ScriptedUser
from trace_gym.types import Interface
from trace_gym.world import Call, Check, Random, Say


def fresh(data: Any) -> Any:
    """Return a copy of plain data (what JSON holds) that shares nothing with it."""
    return json.loads(json.dumps(data))


def json_text(data: Any, indent: int | None = None) -> str:
    """Return plain data as JSON text, for a `format_result` or a tool that puts data into a sentence."""
    return json.dumps(data, indent=indent, ensure_ascii=False)


@dataclass(kw_only=True)
class TargetWorld(ScriptedUser):
    """Parent of a base world, which adds records, tools, `from_records` and `knows`.

    The user is a scripted one, who answers questions with what `facts` holds of their topic.
    """

    capability: ClassVar[str] = ""

    facts: dict[str, str] = field(default_factory=dict)
    """Topic -> what the user answers when asked."""
    script: list[dict[str, Any]] = field(default_factory=list)
    """Recorded calls that `oracle` repeats while a base world is checked; environments leave it empty."""

    @classmethod
    def interface(cls) -> Interface:
        return _replays.interface_of(cls.target)

    def format_result(self, call: Call, result: Any) -> str:
        """Return the text that the agent reads as the result of a call.

        A string is shown unchanged and other data as JSON in the format that ``results`` names in ``target.yaml``.
        Override this method where the target formats the results of some tools otherwise.
        """
        return result if isinstance(result, str) else _formatted(result, _replays.format_for(type(self)))

    @classmethod
    def from_records(cls, shown: Sequence[tuple[Call, Any]]) -> Self:
        """Return the state that answers show.

        Args:
            shown: Calls with their answers (parsed where they are JSON), all from before any change, the earliest
                first.
        """
        raise NotImplementedError

    def knows(self, call: Call, shown: Sequence[tuple[Call, Any]]) -> bool:
        """Whether what was shown suffices to answer a call."""
        raise NotImplementedError

    @classmethod
    def as_recorded(cls, call: Call, answer: Any, source: str) -> Any:
        """Return an answer without the fields that the target's settings exempt from comparison."""
        return _replays.compared(cls.target, call, answer)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        """Return a state that one of the recorded episodes shows, to check a base world.

        Environments draw their own.
        """
        shown, calls = rng.choice(_replays.of(cls.target))
        world = cls.from_records([(Call(call.tool, fresh(call.arguments)), fresh(answer)) for call, answer in shown])
        world.wording = f"Hello, this is visit {rng.randrange(10**9)}."
        world.script = [{"tool": c.tool, "arguments": fresh(c.arguments)} for c in calls[: cls.max_turns - 1]]
        return world

    def tells(self, topic: str) -> str:
        return self.facts.get(topic, "")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from ()

    def oracle(self) -> Iterator[Call | Say]:
        yield from (Call(step["tool"], step["arguments"]) for step in self.script)
        yield Say("All done.")

    def ablated(self) -> Iterator[Call | Say]:
        yield Say("All done.")
