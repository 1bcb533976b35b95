"""Processes that train together, started by ``accelerate launch`` or ``torchrun`` (data parallelism).

Every process has the whole model. It samples a part of the rollouts, and computes a part of the gradient. The gradients
are added, so that all processes take the same optimizer steps. The first process writes the output folder.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self, TypeVar

import torch
from torch import Tensor

from trace_gym.errors import ConfigError
from trace_gym.locks import working_in

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Ranks:
    """Index of this process, and the total number of processes. The default is a single process."""

    rank: int = 0
    count: int = 1

    @classmethod
    def join(cls) -> Self:
        """Connect to the other processes that the launcher started, and return the `Ranks` of this process.

        Raises:
            ConfigError: The launcher was told to start several processes, but started only this one.
        """
        if int(os.environ.get("WORLD_SIZE", "1")) == 1:
            _check_launcher()
            return cls()
        if not torch.distributed.is_initialized():
            cuda = torch.cuda.is_available()
            if cuda:
                torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
            torch.distributed.init_process_group("nccl" if cuda else "gloo")
            atexit.register(torch.distributed.destroy_process_group)
        return cls(torch.distributed.get_rank(), torch.distributed.get_world_size())

    @property
    def first(self) -> bool:
        """Whether this process writes to the output folder and shows progress."""
        return self.rank == 0

    @contextmanager
    def folder(self, out: Path) -> Iterator[Path]:
        """Yield the output folder in the first process, and a temporary folder in the other processes.

        Raises:
            InUse: Another run uses the output folder.
            WriteError: `out` is a file, or cannot be created.
        """
        if self.first:
            with working_in(out):
                yield out
        else:
            with TemporaryDirectory() as scratch:
                yield Path(scratch)

    def share(self, items: Sequence[Item]) -> list[Item]:
        """Return the items of this process: every `count`-th item."""
        return list(items[self.rank :: self.count])

    def gather(self, items: list[Item]) -> list[Item]:
        """Return the items of all processes. If they come from `share`, their original order is restored."""
        if self.count == 1:
            return items
        parts: list[list[Item]] = [[] for _ in range(self.count)]
        torch.distributed.all_gather_object(parts, items)
        longest = max(map(len, parts))
        return [part[n] for n in range(longest) for part in parts if n < len(part)]

    def add_gradients(self, weights: Iterable[Tensor]) -> None:
        """Replace the gradient of each weight by the sum of the gradients of all processes."""
        if self.count == 1:
            return
        for weight in weights:
            if weight.grad is None:  # this process had no batch
                weight.grad = torch.zeros_like(weight)
            torch.distributed.all_reduce(weight.grad)

    def wait(self) -> None:
        """Wait until all processes have called this method."""
        if self.count > 1:
            torch.distributed.barrier()


ALONE = Ranks()
"""A single process."""


def _check_launcher() -> None:
    """Check that ``accelerate launch`` did not ignore its option ``--num_processes``.

    On the CPU, it starts only one process, but sets the address at which several processes would meet.

    Raises:
        ConfigError: It ignored the option.
    """
    environment = os.environ
    if "ACCELERATE_USE_CPU" in environment and "MASTER_ADDR" in environment and "WORLD_SIZE" not in environment:
        raise ConfigError(
            "accelerate launch ignores --num_processes on the CPU: found 1 process, expected several. Pass --multi_gpu "
            "(also on a machine without a GPU) and omit --cpu, or use torchrun. To train in one process, start "
            "trace-gym directly"
        )
