"""Rollouts that another tool has recorded: rewards by problem, and no environment to play."""

from __future__ import annotations

from typing import ClassVar, NoReturn

from trace_gym.validate.foreign.address import Address
from trace_gym.validate.foreign.box import BlackBox
from trace_gym.validate.policies import resolve
from trace_gym.validate.properties import Inapplicable
from trace_gym.validate.variance import Group


class RecordedBox(BlackBox):
    """``rollouts:log.jsonl@-1..1``: as `trace_gym.validate.policies.recorded` reads it."""

    kind: ClassVar[str] = "a log of rollouts"

    def __init__(self, address: Address) -> None:
        found = resolve(f"rollouts:{address.name}")
        assert isinstance(found, list)
        self.groups: list[Group] = found
        self.problems = len(found)

    def begin(self, seed: int) -> NoReturn:
        """There is nothing to begin."""
        raise Inapplicable(f"needs an environment that can be played, which {self.kind} is not")

    act = begin  # type: ignore[assignment]
