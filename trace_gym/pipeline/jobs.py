"""Jobs that a run executes in worker processes: training an adapter, collecting rollouts.

Each worker uses one thread. For a model as small as the built-in toy model, two processes with one thread each are much
faster on two cores than one process with two threads. Workers exit when their parent exits, even if it is killed.
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
    """Job that trains one adapter with `trace_gym.trainers.torch_grpo.train`."""

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
class RolloutJob:
    """Job that collects rollouts of a model, optionally with an adapter, and appends them to JSONL files.

    Repeating the job adds only the missing rollouts.
    """

    name: str
    model: str
    adapter: Path | None
    scenario_sets: tuple[tuple[tuple[str, ...], Path], ...]
    """Pairs of scenario ids and the JSONL file of their rollouts."""
    temperature: float = 0.0
    samples: int = 1
    budget: tuple[int, int] = (1024, 64)
    """Maximum number of tokens in a conversation, and in one turn."""
    device: str = "cpu"
    dtype: str = "float32"
    """Data type of the model's weights."""
    user: tuple[str, Path] | None = None
    """URI of the model that rewords the scripted user and the folder of its answers, or None for the original text."""

    def __call__(self) -> dict[str, Any]:
        from trace_gym.errors import UserUnavailable
        from trace_gym.policies.hf import HFPolicy, merged
        from trace_gym.rollouts import rollout

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

            uri, folder = self.user
            user = LanguageUser(uri, folder=folder)
        with merged(policy.model) if self.adapter else nullcontext():
            for scenario_ids, path in self.scenario_sets:
                scenarios = [Scenario.parse(i) for i in scenario_ids]
                records = rollout(
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
                        f"the model that rewords the user ({self.user and self.user[0]}) failed in {lost} of "
                        f"{len(records)} episodes of {path}. Check its endpoint, then run the same command again"
                    )
        return {"name": self.name}


Job = TrainJob | RolloutJob


def run_jobs(jobs: Sequence[Job], workers: int, tick: Callable[[], None] = lambda: None) -> list[dict[str, Any]]:
    """Run jobs in worker processes and return their results in order. `tick` is called about twice per second."""
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
                    future.result()  # re-raise the exception of a worker immediately
                tick()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [f.result() for f in futures]


def _run(job: Job) -> dict[str, Any]:
    return job()


def _worker(parent: int) -> None:
    """Set up a worker process: one thread, no progress bars, and exit when the parent process exits."""
    os.environ.update(OMP_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false", HF_HUB_DISABLE_PROGRESS_BARS="1")

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)  # the parent was killed; do not write to files that a later run uses

    threading.Thread(target=watch, daemon=True).start()
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
