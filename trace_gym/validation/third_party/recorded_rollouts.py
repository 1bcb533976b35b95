"""Adapter for logs of rollouts: rewards by problem, without an environment."""

from __future__ import annotations

from typing import ClassVar, NoReturn

from trace_gym.validation.policy_groups import open_policy_or_groups
from trace_gym.validation.properties import Skipped
from trace_gym.validation.third_party.black_box import BlackBox
from trace_gym.validation.third_party.uri import EnvironmentURI
from trace_gym.validation.variance import RewardGroup


class RecordedBox(BlackBox):
    """Log of rollouts, with a URI such as ``rollouts:log.jsonl@-1..1`` for rewards from -1 to 1.

    `trace_gym.validation.policy_groups.read_groups` reads the log.
    """

    kind: ClassVar[str] = "a log of rollouts"

    def __init__(self, address: EnvironmentURI) -> None:
        found = open_policy_or_groups(f"rollouts:{address.name}")
        assert isinstance(found, list)
        self.groups: list[RewardGroup] = found
        self.problems = len(found)

    def begin(self, seed: int) -> NoReturn:
        """Raise `Skipped`, because there is no environment to run."""
        raise Skipped(f"requires an environment that can be run, which {self.kind} is not")

    act = begin  # type: ignore[assignment]
