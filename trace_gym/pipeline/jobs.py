"""Jobs that a run executes in worker processes: training an adapter, collecting rollouts.

Each worker uses one thread. For a model as small as the built-in toy model, two processes with one thread each are much
faster on two cores than one process with two threads. Workers exit when their parent exits, even if it is killed.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from trace_gym.errors import Unavailable, UserUnavailable
from trace_gym.models.loading import load_policy, prepared
from trace_gym.models.settings import ModelSettings
from trace_gym.models.unused import used_by
from trace_gym.parent_death import die_with_parent
from trace_gym.types import Scenario, Trajectory


@dataclass(frozen=True)
class TrainJob:
    """Job that trains one adapter with the trainer of its settings."""

    name: str
    mixture: tuple[tuple[str, float], ...]
    model: ModelSettings
    config: dict[str, Any]
    out: Path

    @property
    def uses_engine(self) -> bool:
        """Whether the trainer samples rollouts, in which case the engine of the model has an effect."""
        from trace_gym.trainers import registered

        return registered.trainer(str(self.config.get("trainer", "torch_grpo"))).Config.samples_rollouts

    @property
    def uses_endpoint(self) -> bool:
        """Whether the trainer samples rollouts at endpoints."""
        return self.model.engine == "vllm" and self.uses_engine

    def __call__(self) -> dict[str, Any]:
        from trace_gym.errors import NoSignal
        from trace_gym.trainers import registered
        from trace_gym.trainers.model_support import use_of

        try:
            config = registered.parse(self.config)
            trainer = registered.trainer(config.trainer)
            model = used_by(self.model, use_of(config))  # other stages of the run use the other settings
            done = trainer.train(config, env=self.mixture, model=model, out_dir=self.out, progress=False)
        except NoSignal as error:
            return {"name": self.name, "no_signal": str(error)}
        return {"name": self.name, "path": str(done.path), "rollouts": done.rollouts, "ended": done.ended}


@dataclass(frozen=True)
class RolloutJob:
    """Job that collects rollouts of a model, optionally with an adapter, and appends them to JSONL files.

    Repeating the job adds only the missing rollouts.
    """

    name: str
    model: ModelSettings
    adapter: Path | None
    scenario_sets: tuple[tuple[tuple[str, ...], Path], ...]
    """Pairs of scenario ids and the JSONL file of their rollouts."""
    temperature: float = 0.0
    samples: int = 1
    user: tuple[str, Path] | None = None
    """URI of the model that rewords the scripted user and the folder of its answers, or None for the original text."""
    ledger: Path | None = None
    """Ledger of the requests to an endpoint."""
    stage: str = "rollout"
    """Name of the stage in the ledger."""
    uses_engine: ClassVar[bool] = True
    """Whether the job samples rollouts, in which case the engine of the model has an effect."""

    @property
    def uses_endpoint(self) -> bool:
        """Whether the rollouts are sampled at endpoints."""
        return self.model.is_remote

    def __call__(self) -> dict[str, Any]:
        from trace_gym.rollouts import rollout

        policy = load_policy(
            self.model,
            self.adapter,
            name=self.name,
            temperature=self.temperature,
            ledger=self.ledger if self.model.has_chat_endpoint else None,
            stage=self.stage,
        )
        user = None
        if self.user is not None:
            from trace_gym.user_model import LanguageUser

            uri, folder = self.user
            user = LanguageUser(uri, folder=folder)
        with prepared(policy):
            for scenario_ids, path in self.scenario_sets:
                scenarios = [Scenario.parse(i) for i in scenario_ids]
                records = rollout(
                    policy,
                    scenarios,
                    path=path,
                    samples=self.samples,
                    concurrency=self.model.used_concurrency,
                    temperature=self.temperature,
                    progress=False,
                    user=user,
                )
                self._require_complete(records, path)
        return {"name": self.name}

    def _require_complete(self, records: Sequence[Trajectory], path: Path) -> None:
        """Raise an error if an endpoint failed in an episode. Episodes that failed are repeated by the next run."""
        if not (lost := sum(record.ended == "error" for record in records)):
            return
        kinds = [f"the agent ({self.model.served})"] if self.model.served else []
        kinds += [f"the model that rewords the user ({self.user[0]})"] if self.user else []
        kind = Unavailable if self.model.served else UserUnavailable
        raise kind(
            f"{' or '.join(kinds)} failed in {lost} of {len(records)} episodes of {path}. Check the endpoint, then run "
            "the same command again"
        )


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
        except BrokenProcessPool as error:
            raise Unavailable(
                "a worker process was killed, for example because the machine has too little memory. Completed jobs "
                "are kept. If memory is the cause, set `workers` to a smaller number. Then run the same command again"
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [f.result() for f in futures]


def _run(job: Job) -> dict[str, Any]:
    return job()


def _worker(parent: int) -> None:
    """Set up a worker process: one thread, no progress bars, and exit when the parent process exits."""
    os.environ.update(OMP_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false", HF_HUB_DISABLE_PROGRESS_BARS="1")
    die_with_parent(parent)  # otherwise it writes to files that a later run uses
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
