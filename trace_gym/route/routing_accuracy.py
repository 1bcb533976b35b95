"""Accuracy of a router's choices compared to the ground-truth capabilities of the tasks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trace_gym.errors import ConfigError
from trace_gym.route.prompt import BASE
from trace_gym.route.router import RoutingChoice
from trace_gym.statistics import Interval, wilson
from trace_gym.types import Record

Confusion = dict[str, dict[str, int]]
"""Mapping of needed capabilities (joined by `` + ``) to the number of tasks for each chosen option."""


class Routing(Record):
    """Accuracy and confusion matrix of routing choices."""

    options: tuple[str, ...]
    correct: int
    tasks: int
    interval: Interval | None
    """95 % Wilson interval of the accuracy, or None if there are no tasks."""
    confusion: Confusion

    @property
    def accuracy(self) -> float | None:
        """Share of correct choices, or None if there are no tasks."""
        return self.correct / self.tasks if self.tasks else None


def accuracy(choices: Sequence[RoutingChoice], needs: Sequence[Collection[str]]) -> Routing:
    """Compare routing choices with the ground-truth capabilities of the tasks.

    A choice is correct if the task needs the chosen capability. If no option of the router is needed, the
    base model is correct.

    Args:
        choices: One choice per task, all from the same router.
        needs: The capabilities that each task needs.

    Raises:
        ConfigError: The numbers of choices and tasks differ, or the choices come from different routers.
    """
    if len(choices) != len(needs) or len({frozenset(c.probabilities) for c in choices}) > 1:
        raise ConfigError(
            f"the choices do not match the tasks: found {len(choices)} choices for {len(needs)} tasks, expected one "
            "choice per task, all from the same router"
        )
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
