"""What acts in an episode: one turn at a time (`Policy`), or many episodes at once (`BatchPolicy`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from trace_gym.episode import Action, Episode

if TYPE_CHECKING:
    import torch

    from trace_gym.rollout import TokenRollout


class Policy(Protocol):
    """Whoever takes the assistant's turns.

    An honest policy reads ``episode.messages`` and ``episode.tools`` only. The whole episode is
    handed over for the others: the experts, which know the start state, and the exploits.
    A policy that talks to a server sets ``remote = True`` and is then played in threads.
    """

    @property
    def name(self) -> str:
        """Stands in `Trajectory.model`; two policies that act differently have different names."""
        ...

    def act(self, episode: Episode) -> Action:
        """The next assistant turn.

        Raises:
            PolicyError: The infrastructure failed.
        """
        ...


@runtime_checkable
class Sampled(Protocol):
    """A policy with randomness of its own: a pure function of the scenario, the turn and the sample's number."""

    def with_sample(self, sample: int) -> Self:
        """The same policy for another sample of a scenario."""
        ...


@runtime_checkable
class BatchPolicy(Protocol):
    """A policy that plays many episodes at once and knows its tokens."""

    @property
    def name(self) -> str:
        """Stands in `Trajectory.model`."""
        ...

    def rollout(
        self,
        episodes: Sequence[Episode],
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[TokenRollout]:
        """Play fresh episodes to their end, in order; `progress` is told how many have finished."""
        ...
