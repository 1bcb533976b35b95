"""Interface of a benchmark's task file: the tasks, their expected tool calls, and the database on which they run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from trace_gym.types import Call, Interface
from trace_gym.world import World


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a task file."""

    id: str
    instructions: str
    """All instructions for the simulated user of the task."""
    calls: tuple[Call, ...] = ()
    """Tool calls that the task expects from the agent, in order."""
    communicated: tuple[str, ...] = ()
    """Texts that the agent must state to the user."""


@dataclass(frozen=True, slots=True)
class TaskIssue:
    """A defect, or a possible defect, of one task."""

    task: str
    """Id of the task."""
    found: str
    expected: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """A call that the user of a task may accept in place of an expected one."""

    call: Call
    reason: str
    """Reason why, according to the instructions, both calls are equally valid."""


class TaskFile(ABC):
    """Tasks of a benchmark with their database.

    Validation runs the expected calls on a copy of the database and reports inconsistencies.
    """

    tasks: Sequence[Task]
    interface: Interface
    free_arguments: ClassVar[frozenset[str]] = frozenset()
    """Arguments whose values the agent phrases or computes, so that they do not have to occur in any text or record."""

    @abstractmethod
    def start(self, task: Task, calls: Sequence[Call]) -> World:
        """Return a new world with the initial database of a task, in which the given calls can be run."""

    @abstractmethod
    def state(self, world: World) -> Any:
        """Return the part of the world's state that determines the reward."""

    @abstractmethod
    def violations(self, task: Task, world: World, call: Call) -> list[str]:
        """Return the policy rules that a write call breaks regardless of the user's consent."""

    @abstractmethod
    def unchanged(self, world: World, call: Call) -> list[str]:
        """Return the parts of a write call that replace a value with the same value, and so change nothing."""

    @abstractmethod
    def records(self, task: Task) -> list[Any]:
        """Return the records that an agent can read while it works on the task."""

    @abstractmethod
    def amounts(self, task: Task, before: World, after: World) -> list[list[float]]:
        """Return groups of numbers that an agent can add or subtract, such as the payments for a reservation.

        Args:
            task: The task.
            before: The world before the expected calls.
            after: The world after the expected calls.
        """

    @abstractmethod
    def alternatives(self, task: Task, world: World, call: Call) -> Iterator[Alternative]:
        """Yield equally valid calls, which differ from an expected write in a choice left open by the instructions."""

    @abstractmethod
    def reference_errors(self, task: Task) -> Iterator[tuple[str, str]]:
        """Yield each incorrect id or name in a task as a (found, expected) pair."""


class TaskFileReader(Protocol):
    """Function that reads a task file of a benchmark."""

    def __call__(self, path: Path, domain: str, database: Path | None) -> TaskFile:
        """Read a task file.

        Args:
            path: The task file.
            domain: Domain of the tasks; empty to infer the domain from the tasks.
            database: File with the database. By default, the file with the standard name next to the task file.

        Raises:
            ReadError: A file cannot be read or has another format.
            ConfigError: The domain does not exist, or cannot be inferred.
        """
