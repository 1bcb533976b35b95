"""Training rollouts from vLLM servers, with the current adapter of the trainer.

Before each iteration, the adapter is written to the folder ``serving`` of the run, and loaded into all servers. It gets
a new name, because vLLM may reuse cached results of different weights with the same name. After that, the servers
unload the adapter of the previous iteration, and its folder is deleted.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import torch
from peft import PeftModel

from trace_gym.episode import Episode
from trace_gym.files import move
from trace_gym.policies.vllm import VLLMPolicy
from trace_gym.sampling.serving import versioned_name
from trace_gym.trainers import checkpoint
from trace_gym.trajectories import TokenRollout

FOLDER = "serving"
"""Folder in the output folder of a run that contains the adapter that the servers have loaded."""


class ServedModel:
    """A model in training. vLLM servers sample its rollouts.

    Args:
        policy: Policy that samples rollouts at the servers.
        out: Output folder of the run. The servers must be able to read it.
    """

    def __init__(self, policy: VLLMPolicy, out: Path) -> None:
        self.policy = policy
        self.folder = out / FOLDER
        self.run = out.resolve().name
        shutil.rmtree(self.folder, ignore_errors=True)  # of a run that was interrupted

    def rollout(
        self,
        model: PeftModel,
        iteration: int,
        episodes: Sequence[Episode],
        *,
        temperature: float,
        generator: torch.Generator,
        hints: Sequence[str],
    ) -> list[TokenRollout]:
        """Load the adapter of the model into the servers, and run the episodes to their end.

        Args:
            model: Model with the adapter.
            iteration: Number of the iteration, for the name of the adapter.
            episodes: Episodes in which no turn has been taken.
            temperature: Sampling temperature.
            generator: Source of the seeds of all requests.
            hints: One hint per episode, or an empty sequence; see `HFPolicy.rollout`.

        Raises:
            Unavailable: A server failed, even after retries. No episode is scored.
        """
        adapter = self._write(model, iteration)
        self.policy.use(adapter, adapter.name)
        for old in self.folder.iterdir():
            if old != adapter:
                shutil.rmtree(old, ignore_errors=True)
        return self.policy.rollout(episodes, temperature=temperature, generator=generator, hints=hints)

    def close(self) -> None:
        """Unload the adapter from the servers, and delete its folder."""
        for server in self.policy.servers:
            server.release()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, model: PeftModel, iteration: int) -> Path:
        """Write the adapter to a folder whose name contains the run, the iteration and a hash of the weights."""
        new = self.folder / f"{self.run}-{iteration}"
        checkpoint.save_adapter(model, new)
        adapter = self.folder / versioned_name(new)
        if adapter.exists():  # an iteration that is repeated has the same weights
            shutil.rmtree(new)
        else:
            move(new, adapter)
        return adapter
