"""Options of the language-model analyst."""

from __future__ import annotations

from dataclasses import dataclass

from trace_gym.errors import ConfigError


@dataclass(frozen=True)
class AnalystOptions:
    """Options of the language-model analyst. The defaults fit models with a context of 32,000 tokens."""

    runs: int = 10
    """Number of label runs. Each run labels all trajectories, in a different order of trajectories and capabilities."""
    outcome_aware: bool = False
    """Whether label prompts contain the outcomes of the trajectories. Discovery always uses the outcomes."""
    trajectory_tokens: int = 3000
    """Maximum estimated number of tokens of one trajectory in a prompt."""
    label_batch: int = 4
    """Maximum number of trajectories in a label request."""
    discovery_batch: int = 8
    """Maximum number of trajectories in a discovery request. If possible, half of them are failed ones."""
    discovery_batches: int = 6
    """Maximum number of discovery requests. Further trajectories are labeled, but not used for discovery."""
    concurrency: int = 4
    """Maximum number of concurrent requests."""
    temperature: float = 0.7
    """Sampling temperature of the model."""
    seed: int = 0
    """Seed for sampling and ordering the trajectories and capabilities."""

    def __post_init__(self) -> None:
        counts = ("runs", "trajectory_tokens", "label_batch", "discovery_batch", "discovery_batches", "concurrency")
        for name in counts:
            if getattr(self, name) < 1:
                raise ConfigError(f"invalid {name}: found {getattr(self, name)}, expected 1 or more")
