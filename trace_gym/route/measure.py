"""How well a router's choices match what the tasks are known to need."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trace_gym.errors import ConfigError
from trace_gym.route.prompt import BASE
from trace_gym.route.router import Choice
from trace_gym.statistics import Interval, wilson
from trace_gym.types import Record

Confusion = dict[str, dict[str, int]]
"""Needed capabilities (joined by `` + ``) -> chosen option -> count."""


class Routing(Record):
    """How well choices match what the tasks are known to need."""

    options: tuple[str, ...]
    correct: int
    tasks: int
    interval: Interval | None
    """95 % Wilson interval of the accuracy; None without tasks."""
    confusion: Confusion

    @property
    def accuracy(self) -> float | None:
        """Share of correct choices; None without tasks."""
        return self.correct / self.tasks if self.tasks else None


def accuracy(choices: Sequence[Choice], needs: Sequence[Collection[str]]) -> Routing:
    """Compare choices with known needs, task by task.

    A choice is correct when it is a needed capability or, where the router offers none that is needed, the base.

    Args:
        choices: One a task, from one router.
        needs: The capabilities that each task needs.

    Raises:
        ConfigError: The two do not pair up.
    """
    if len(choices) != len(needs) or len({frozenset(c.probabilities) for c in choices}) > 1:
        raise ConfigError(f"{len(choices)} choices for {len(needs)} tasks; expected one choice a task, from one router")
    confusion: Confusion = {}
    correct = 0
    for choice, needed in zip(choices, needs, strict=True):
        offered = set(needed) & choice.probabilities.keys()
        correct += choice.capability in (offered or {BASE})
        row = confusion.setdefault(" + ".join(sorted(needed)) or BASE, {})
        row[choice.capability] = row.get(choice.capability, 0) + 1
    return Routing(
        options=tuple(sorted(choices[0].probabilities)) if choices else (),
        correct=correct,
        tasks=len(choices),
        interval=wilson(correct, len(choices)),
        confusion=dict(sorted(confusion.items())),
    )
