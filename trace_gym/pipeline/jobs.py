"""What a run does in worker processes: train one adapter, play many scenarios. One thread each.

Two processes with one thread each use two cores far better than one process with two threads; at the
embedded agent's size, threads contend. Workers end with their parent, even if it is killed.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trace_gym.types import Scenario


@dataclass(frozen=True)
class TrainJob:
    """Train one adapter; see `trace_gym.trainers.torch_grpo.train`."""

    name: str
    mixture: tuple[tuple[str, float], ...]
    model: str
    config: dict[str, Any]
    out: Path

    def __call__(self) -> dict[str, Any]:
        from trace_gym.errors import NoSignal
        from trace_gym.trainers.config import GRPOConfig
        from trace_gym.trainers.torch_grpo import train

        try:
            done = train(
                GRPOConfig.parse(self.config), env=self.mixture, model_dir=self.model, out_dir=self.out, progress=False
            )
        except NoSignal as error:
            return {"name": self.name, "no_signal": str(error)}
        return {"name": self.name, "path": str(done.path), "rollouts": done.rollouts, "ended": done.ended}


@dataclass(frozen=True)
class PlayJob:
    """Let a model, perhaps with an adapter, play scenarios; the records go to JSONL files, resumably."""

    name: str
    model: str
    adapter: Path | None
    plays: tuple[tuple[tuple[str, ...], Path], ...]
    """Scenario addresses, and the file of their records."""
    temperature: float = 0.0
    samples: int = 1
    budget: tuple[int, int] = (1024, 64)
    """Tokens of a whole conversation, and of one turn."""
    device: str = "cpu"
    dtype: str = "float32"
    """Data type of the model's weights."""
    user: tuple[str, Path] | None = None
    """Model that rewords the scripted user, and the folder of its answers; None for the words of the script."""

    def __call__(self) -> dict[str, Any]:
        from trace_gym.errors import UserUnavailable
        from trace_gym.policies.hf import HFPolicy, merged
        from trace_gym.rollout import collect

        tokens, turn = self.budget
        policy = HFPolicy.load(
            self.model,
            self.adapter,
            name=self.name,
            max_tokens=tokens,
            max_turn_tokens=turn,
            device=self.device,
            dtype=self.dtype,
        )
        user = None
        if self.user is not None:
            from trace_gym.user_model import LanguageUser

            address, folder = self.user
            user = LanguageUser(address, folder=folder)
        with merged(policy.model) if self.adapter else nullcontext():
            for addresses, path in self.plays:
                scenarios = [Scenario.parse(a) for a in addresses]
                records = collect(
                    policy,
                    scenarios,
                    path=path,
                    samples=self.samples,
                    temperature=self.temperature,
                    progress=False,
                    user=user,
                )
                if lost := sum(record.ended == "error" for record in records):
                    raise UserUnavailable(
                        f"the model behind the user ({self.user and self.user[0]}) failed in {lost} of {len(records)} "
                        f"episodes of {path}. Start or correct its endpoint; the same command continues"
                    )
        return {"name": self.name}


Job = TrainJob | PlayJob


def run_all(jobs: Sequence[Job], workers: int, tick: Callable[[], None] = lambda: None) -> list[dict[str, Any]]:
    """Run jobs in worker processes and return their results in order; `tick` is called twice a second meanwhile."""
    if not jobs:
        return []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        min(workers, len(jobs)), mp_context=context, initializer=_worker, initargs=(os.getpid(),)
    ) as pool:
        futures = [pool.submit(_run, job) for job in jobs]
        pending = set(futures)
        try:
            while pending:
                finished, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()  # raises at once what a worker raised
                tick()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [f.result() for f in futures]


def _run(job: Job) -> dict[str, Any]:
    return job()


def _worker(parent: int) -> None:
    """Set up a worker: one thread, quiet libraries, and an end with the parent."""
    os.environ.update(OMP_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false", HF_HUB_DISABLE_PROGRESS_BARS="1")

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)  # the parent was killed; a later run must be the only writer of our files

    threading.Thread(target=watch, daemon=True).start()
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
