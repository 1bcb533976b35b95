"""Common interface of third-party text environments: a seed determines a prompt, and a turn returns a reward."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, NamedTuple

from trace_gym.errors import ConfigError, EnvBug, EnvNotFound
from trace_gym.validation.properties import Skipped


class TurnResponse(NamedTuple):
    """Response of an environment to one turn."""

    observation: str
    reward: float
    done: bool
    raised: bool = False
    """True if the environment raised an exception. The observation is then a description of the exception."""


def solution_turns(made: Any, whose: str) -> list[str] | None:
    """Return the turns of a reference solution as texts.

    Args:
        made: A string (one turn), a sequence of strings or numbers (one turn each), or None if there is no solution.
        whose: Description of the origin of the solution, for error messages.

    Raises:
        ConfigError: The solution has an unsupported type or contains no turns.
    """
    if made is None:
        return None
    if isinstance(made, str):
        return [made]
    turns = None if isinstance(made, (bytes, Mapping)) or not isinstance(made, Iterable) else list(made)
    if not turns or not all(isinstance(turn, (str, int, float)) for turn in turns):
        found = type(made).__name__ if turns is None else repr(turns)[:200]
        raise ConfigError(
            f"{whose} is not a valid solution: found {found}, expected a string, or a list of strings (one for each "
            "turn)"
        )
    return [str(turn) for turn in turns]


class Busy(EnvNotFound):
    """Error of a server that accepts no further session."""


class BlackBox(ABC):
    """Third-party environment that provides only prompts, observations and rewards."""

    kind: ClassVar[str] = "an environment"
    """Name of this kind of environment with its article, for use in messages."""
    served: ClassVar[bool] = False
    """True if the environment runs in an existing server process, which may accept only one session at a time."""

    missing_reference: str = "the environment provides no reference solution"
    """Message if no problem has a reference solution: the reason, and how to add one."""
    name: str
    """URI of the environment."""
    low: float = 0.0
    high: float = 1.0
    """Minimum (`low`) and maximum (`high`) of the total reward of a rollout. A reward of 0 means no achievement."""
    limit: int = 8
    """Turn limit of a rollout."""
    tolerance: float | None = None
    """Relative error that the environment intentionally accepts in a numeric answer; None if it is not specified."""
    problems: int | None = None
    """Number of problems, with seeds that start at 0; None if every seed is a problem."""
    synthetic: bool = False
    """True if the adapter generates synthetic problems. If so, properties of the problems themselves are skipped."""

    @abstractmethod
    def begin(self, seed: int) -> str:
        """Start the problem with the given seed and return its prompt, independently of earlier problems."""

    @abstractmethod
    def act(self, text: str) -> TurnResponse:
        """Take one turn in the current problem."""

    def solution(self, seed: int) -> list[str] | None:
        """Return the turns of a reference solution; None if there is no reference solution."""
        return None

    def sample(self, rng: Random, prompt: str) -> str:
        """Return a random turn that an untrained agent might take. The default consists of words of the prompt."""
        words = prompt.split() or ["?"]
        return " ".join(rng.choice(words) for _ in range(rng.randint(1, 6)))

    def close(self) -> None:  # noqa: B027  # most environments have no resources to release
        """Release the resources of the environment. It is safe to call this method twice."""


@contextmanager
def exits_raise() -> Iterator[None]:
    """Make ``os._exit`` raise `EnvBug` in this process within the context.

    Otherwise, an environment that calls ``os._exit`` would end the command without a message and possibly with exit
    code 0. Forked child processes are not affected.
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
class BlackBoxRollout:
    """Rollout of one problem of a third-party environment."""

    seed: int
    prompt: str
    actions: tuple[str, ...]
    """Turns that were taken."""
    turns: tuple[TurnResponse, ...]
    """Responses to the turns."""

    @property
    def total_reward(self) -> float:
        """Sum of the rewards of all turns."""
        return sum(turn.reward for turn in self.turns)

    @property
    def ended(self) -> bool:
        return bool(self.turns) and self.turns[-1].done and not self.raised

    @property
    def raised(self) -> bool:
        """True if the environment raised an exception on the last turn."""
        return bool(self.turns) and self.turns[-1].raised

    @property
    def trace(self) -> str:
        """Observable content of the rollout as text, for comparisons."""
        return repr((self.prompt, [tuple(turn) for turn in self.turns]))


def take_turn(box: BlackBox, text: str) -> TurnResponse:
    """Take a turn and return the response.

    An exception of the environment ends the rollout without a reward. Properties TG402 and TG405 report exceptions.
    """
    try:
        return box.act(text)
    except Skipped:
        raise
    except (Exception, SystemExit) as error:
        return TurnResponse(f"raises {type(error).__name__}", 0.0, True, raised=True)


def run_black_box(box: BlackBox, seed: int, actions: Sequence[str]) -> BlackBoxRollout:
    """Start a problem and take turns until it ends, the turn limit is reached, or no actions remain."""
    prompt = box.begin(seed)
    turns: list[TurnResponse] = []
    for text in actions[: box.limit]:
        turns.append(take_turn(box, text))
        if turns[-1].done:
            break
    return BlackBoxRollout(seed, prompt, tuple(actions[: len(turns)]), tuple(turns))
