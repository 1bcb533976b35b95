"""What every environment of text has in common: a seed gives a prompt, a turn gives an observation and a reward."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, NamedTuple

from trace_gym.errors import ConfigError, EnvBug, EnvNotFound
from trace_gym.validate.properties import Inapplicable


class Turn(NamedTuple):
    """What an environment answers to one turn."""

    observation: str
    reward: float
    done: bool
    raised: bool = False
    """Nothing was answered: the environment failed, with what stands for the observation."""


def turns_of(made: Any, whose: str) -> list[str] | None:
    """Return the turns of a reference solution as texts.

    Args:
        made: One text, which is one turn; several texts or numbers; or None where there is no solution.
        whose: Where the solution comes from, for the message of the error.

    Raises:
        ConfigError: It is something else, or holds no turn.
    """
    if made is None:
        return None
    if isinstance(made, str):
        return [made]
    turns = None if isinstance(made, (bytes, Mapping)) or not isinstance(made, Iterable) else list(made)
    if not turns or not all(isinstance(turn, (str, int, float)) for turn in turns):
        found = type(made).__name__ if turns is None else repr(turns)[:200]
        raise ConfigError(f"{whose} is not a solution: found {found}, expected a text, or a list of texts (the turns)")
    return [str(turn) for turn in turns]


class Busy(EnvNotFound):
    """The environment serves no further session."""


class BlackBox(ABC):
    """An environment of which nothing is known but what an agent sees, and what it is paid."""

    kind: ClassVar[str] = "an environment"
    """Stands in sentences."""
    served: ClassVar[bool] = False
    """It runs in a process that others have started, and perhaps takes one session at a time."""

    name: str
    """Its address."""
    low: float = 0.0
    high: float = 1.0
    """The least and the most that an attempt can be paid, all turns together. 0 is nothing."""
    limit: int = 8
    """Turns after which an attempt that does not end is given up."""
    problems: int | None = None
    """How many there are, seeds counting from 0; None where every seed has one."""
    lent: bool = False
    """The problems are made up by the adapter, so that nothing can be said of them."""

    @abstractmethod
    def begin(self, seed: int) -> str:
        """Begin the problem of a seed, whatever came before, and return what the agent sees of it."""

    @abstractmethod
    def act(self, text: str) -> Turn:
        """Take one turn of the problem that was begun last."""

    def solution(self, seed: int) -> list[str] | None:
        """The turns of a reference solution; None where there is none."""
        return None

    def sample(self, rng: Random, prompt: str) -> str:
        """A turn that an agent might try without knowing better."""
        words = prompt.split() or ["?"]
        return " ".join(rng.choice(words) for _ in range(rng.randint(1, 6)))

    def close(self) -> None:  # noqa: B027  # most have nothing to close
        """Give back what was opened; closing twice is harmless."""


@contextmanager
def exits_raise() -> Iterator[None]:
    """Make a call of ``os._exit`` in this process raise `EnvBug` while the block runs.

    Without it, an environment that makes this call ends the command without a message and perhaps with exit code 0.
    Child processes that are forked meanwhile end as usual.
    """
    process, leave = os.getpid(), os._exit

    def refuse(code: int) -> None:
        if os.getpid() != process:
            leave(code)
        raise EnvBug(f"the environment calls os._exit({code}), which would end the process that runs it")

    os._exit = refuse  # type: ignore[assignment]
    try:
        yield
    finally:
        os._exit = leave


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at one problem."""

    seed: int
    prompt: str
    actions: tuple[str, ...]
    """The turns that were taken."""
    turns: tuple[Turn, ...]
    """What they were answered with."""

    @property
    def paid(self) -> float:
        """The sum of the rewards."""
        return sum(turn.reward for turn in self.turns)

    @property
    def ended(self) -> bool:
        return bool(self.turns) and self.turns[-1].done and not self.raised

    @property
    def raised(self) -> bool:
        """Whether the environment failed on its last turn."""
        return bool(self.turns) and self.turns[-1].raised

    @property
    def trace(self) -> str:
        """All that can be seen of it, as text."""
        return repr((self.prompt, [tuple(turn) for turn in self.turns]))


def take(box: BlackBox, text: str) -> Turn:
    """Take a turn. What the environment raises ends the attempt, unpaid; to raise nothing is a property of its own."""
    try:
        return box.act(text)
    except Inapplicable:
        raise
    except (Exception, SystemExit) as error:
        return Turn(f"raises {type(error).__name__}", 0.0, True, raised=True)


def attempt(box: BlackBox, seed: int, actions: Sequence[str]) -> Attempt:
    """Begin a problem and take turns until it ends, the limit is reached, or none is left."""
    prompt = box.begin(seed)
    turns: list[Turn] = []
    for text in actions[: box.limit]:
        turns.append(take(box, text))
        if turns[-1].done:
            break
    return Attempt(seed, prompt, tuple(actions[: len(turns)]), tuple(turns))
