"""Base class of the worlds of a custom target, with the target's interface and a simple rule-based user."""

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
    """Return a deep copy of JSON-compatible data."""
    return json.loads(json.dumps(data))


def json_text(data: Any, indent: int | None = None) -> str:
    """Return JSON-compatible data as text. Use it in `format_result`, or in a tool that puts data into a sentence."""
    return json.dumps(data, indent=indent, ensure_ascii=False)


@dataclass(kw_only=True)
class TargetWorld(ScriptedUser):
    """Parent class of the base world of a custom target.

    A base world adds the records, the tools, `from_records` and `knows`. The scripted user answers a question with the
    entry in `facts` for the topic of the question.
    """

    capability: ClassVar[str] = ""

    facts: dict[str, str] = field(default_factory=dict)
    """Mapping from topic to the user's answer to questions about the topic."""
    script: list[dict[str, Any]] = field(default_factory=list)
    """Recorded calls that `oracle` repeats when a base world is checked. Environments leave it empty."""

    @classmethod
    def interface(cls) -> Interface:
        return _replays.interface_of(cls.target)

    def format_result(self, call: Call, result: Any) -> str:
        """Return the text that the agent reads as the result of a call.

        A string is returned unchanged. Other data is returned as JSON in the format that is set by ``results`` in
        ``target.yaml``. Override this method if the target formats the results of some tools differently.
        """
        return result if isinstance(result, str) else _formatted(result, _replays.format_for(type(self)))

    @classmethod
    def from_records(cls, shown: Sequence[tuple[Call, Any]]) -> Self:
        """Return a world whose state contains the records in recorded tool results.

        Args:
            shown: The calls before the first write, in order, each with its result. Results in JSON are parsed.
        """
        raise NotImplementedError

    def knows(self, call: Call, shown: Sequence[tuple[Call, Any]]) -> bool:
        """Return whether the records in `shown` suffice to compute the result of a call."""
        raise NotImplementedError

    @classmethod
    def as_recorded(cls, call: Call, answer: Any, source: str) -> Any:
        """Return a tool result without the fields that the target's settings exempt from comparison."""
        return _replays.compared(cls.target, call, answer)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        """Return a world with the start state of a random recorded episode, for checking a base world.

        Environments override this method to generate their own states.
        """
        shown, calls = rng.choice(_replays.replays_of(cls.target))
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
