"""Interfaces of policies: `Policy` for one turn at a time, `BatchPolicy` for many episodes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from trace_gym.episode import Action, Episode

if TYPE_CHECKING:
    import torch

    from trace_gym.trajectories import TokenRollout


class Policy(Protocol):
    """Interface of a policy that chooses the assistant's turns one at a time.

    An ordinary policy reads only ``episode.messages`` and ``episode.tools``. The whole episode is passed because
    experts also use the start state. A policy that sends requests to a server sets ``remote = True``; its episodes
    then run in parallel threads.
    """

    @property
    def name(self) -> str:
        """Name stored in `Trajectory.model`. Policies that act differently must have different names."""
        ...

    def act(self, episode: Episode) -> Action:
        """Return the next assistant turn.

        Raises:
            PolicyError: The infrastructure of the policy failed, such as an endpoint.
        """
        ...


@runtime_checkable
class Sampled(Protocol):
    """Interface of a policy whose random choices depend only on the scenario, the turn and a sample number."""

    def with_sample(self, sample: int) -> Self:
        """Return a copy of the policy with a different sample number."""
        ...


@runtime_checkable
class BatchPolicy(Protocol):
    """Interface of a policy that runs many episodes at once and returns their tokens."""

    @property
    def name(self) -> str:
        """Name stored in `Trajectory.model`."""
        ...

    def rollout(
        self,
        episodes: Sequence[Episode],
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[TokenRollout]:
        """Run new episodes to their end and return the rollouts in the same order.

        Args:
            episodes: Episodes in which no turn has been taken.
            temperature: Sampling temperature; 0 is greedy.
            generator: Source of randomness; None for the global generator.
            progress: Called with the number of episodes that have just finished.
        """
        ...
