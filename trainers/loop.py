"""The training loop that all trainers share: scenarios, optimizer, checkpoints, resumption and metrics.

A trainer adds a `Method`: the step of one iteration, and the conditions that end the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Self

import torch
from pydantic import JsonValue

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, NoSignal, PolicyError
from trace_gym.models import ModelSettings
from trace_gym.models.loading import device_name, dtype_name, hf_policy, usable_device, vllm_policy
from trace_gym.models.server import ModelServer
from trace_gym.terminal import progress_bar
from trace_gym.trainers import base, checkpoint
from trace_gym.trainers.checkpoint import Metrics, RunState
from trace_gym.trainers.config import TrainerConfig
from trace_gym.trainers.draws import draw, drawn_levels, weighted
from trace_gym.trainers.model_support import check_model
from trace_gym.trainers.ranks import ALONE, Ranks
from trace_gym.trainers.serving import ServedModel
from trace_gym.trainers.trackers import check, tracking
from trace_gym.types import Scenario

if TYPE_CHECKING:
    from peft import PeftModel

    from trace_gym.policies.hf import HFPolicy
    from trace_gym.trajectories import TokenRollout

OpenEpisode = Callable[[Scenario], Episode]


@dataclass(frozen=True, slots=True)
class Trained:
    """Outputs of a training run."""

    path: Path
    """Folder of the adapter in the format of peft."""
    base_model: str
    rank: int
    rollouts: int
    """Number of rollouts."""
    ended: str
    """Reason for the end of the run."""
    metrics: tuple[Metrics, ...]
    """Metrics of each iteration, as in ``metrics.jsonl``."""


@dataclass(frozen=True, slots=True)
class Learner:
    """The model with its adapter, the optimizer, and the sampling policy."""

    model: PeftModel
    optimizer: torch.optim.Optimizer
    policy: HFPolicy
    served: ServedModel | None = None
    """Servers that sample the rollouts, or None if `policy` samples them in this process."""
    ranks: Ranks = ALONE
    """Processes that train together."""

    @classmethod
    def build(
        cls, config: TrainerConfig, settings: ModelSettings, out: Path | None = None, ranks: Ranks = ALONE
    ) -> Self:
        model, tokenizer = base.load_with_lora(config, settings)
        weights = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(weights, lr=config.lr, weight_decay=config.weight_decay)
        served = None
        if settings.engine == "vllm":
            assert out is not None, "adapters for servers are written to the output folder"
            served = ServedModel(vllm_policy(settings, model.config, tokenizer), out)
        return cls(model, optimizer, hf_policy(settings, model, tokenizer), served, ranks)

    def rollout(
        self,
        iteration: int,
        episodes: Sequence[Episode],
        *,
        temperature: float,
        generator: torch.Generator,
        hints: Sequence[str] = (),
    ) -> list[TokenRollout]:
        """Run episodes to their end with the current adapter, in this process or on the servers."""
        from trace_gym.policies.hf import merged

        if self.served is not None:
            return self.served.rollout(
                self.model, iteration, episodes, temperature=temperature, generator=generator, hints=hints
            )
        with merged(self.model):
            return self.policy.rollout(episodes, temperature=temperature, generator=generator, hints=hints)


@dataclass(frozen=True, slots=True)
class Method:
    """The part of a run in which trainers differ."""

    name: str
    """Name in the progress bar."""
    progress: str
    """Format string for the text of the progress bar, which is filled with the metrics of an iteration."""
    step: Callable[[Learner, RunState, Iterator[list[Scenario]], OpenEpisode], Metrics]
    """Function that runs one iteration, updates the adapter, and returns the metrics. The iterator yields the scenarios
    of the iteration, and then further scenarios that can replace them. The metrics contain ``rollouts``, the number of
    rollouts since the start of the run."""
    ended: Callable[[RunState], str | None] = lambda state: (
        "iterations" if state.iteration >= state.config.iterations else None
    )
    """Function that returns the reason for the end of the run, or None if the run continues."""
    idle: Callable[[RunState], str] = lambda state: ""
    """Function that returns an error message if training makes no progress, else ``""``."""
    parallel: bool = False
    """Whether several processes can run the step together (`Learner.ranks`)."""


def run(
    method: Method,
    config: TrainerConfig,
    *,
    env: str | Sequence[tuple[str, float]],
    model: ModelSettings | str | Path,
    out_dir: str | Path,
    open_episode: OpenEpisode | None,
    progress: bool,
    resume: bool,
    on_iteration: Callable[[Metrics], bool | None] | None,
) -> Trained:
    """Train an adapter, and write ``adapter/``, ``checkpoint/`` and ``metrics.jsonl`` to `out_dir`.

    The arguments and errors are those of `trace_gym.trainers.torch_grpo.train`.
    """
    settings = ModelSettings.parse(model).limited(config.max_tokens, config.max_turn_tokens)
    tokens, turn_tokens = settings.limits
    config = config.model_copy(update={"max_tokens": tokens, "max_turn_tokens": turn_tokens})
    if config.trackers:
        check(config.trackers)
    check_model(config, settings)
    ranks = Ranks.join()
    if ranks.count > 1 and not (method.parallel and settings.engine == "process"):
        raise ConfigError(
            f"the trainer {config.trainer} with engine: {settings.engine} supports only one process: found "
            f"{ranks.count} processes. Start it without accelerate launch or torchrun, or use the trainer torch_grpo "
            "with engine: process"
        )
    with ranks.folder(Path(out_dir)) as out, _server(config, settings, out, progress) as server:
        settings = server.start()
        envs = weighted(env)
        opener = _opener(config, open_episode, out)
        levels = drawn_levels(config, [name for name, _ in envs], registered=open_episode is None)
        device = usable_device(device_name(settings))
        # Initialization and dropout use torch's global generators, whose state is restored for the caller.
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(derive(config.seed, "init"))
            learner = Learner.build(config, settings, out, ranks)
            fresh = RunState(config, affecting(settings, device), envs, base.fingerprint(settings.folder))
            if ranks.first:
                state = _begin(fresh, learner, out, out, resume)
                ranks.wait()
            else:
                ranks.wait()
                state = _begin(fresh, learner, Path(out_dir), out, resume=True)

            def step() -> Metrics:
                lr = config.lr_in(state.iteration)
                for group in learner.optimizer.param_groups:
                    group["lr"] = lr
                draws = (draw(config, envs, levels, state.iteration, n) for n in count())
                return {**method.step(learner, state, draws, opener), "lr": lr}

            try:
                ended = _iterate(method, learner, state, out, step, progress and ranks.first, on_iteration)
            finally:
                if learner.served is not None:
                    learner.served.close()
            checkpoint.save_adapter(learner.model, out / "adapter")
            ranks.wait()
    return Trained(
        Path(out_dir) / "adapter", settings.folder, config.lora_rank, state.rollouts, ended, tuple(state.history)
    )


def _iterate(
    method: Method,
    learner: Learner,
    state: RunState,
    out: Path,
    step: Callable[[], Metrics],
    progress: bool,
    on_iteration: Callable[[Metrics], bool | None] | None,
) -> str:
    """Run iterations until the run ends, and return the reason for its end."""
    config, ended, saved = state.config, method.ended(state), time.monotonic()
    bar = progress_bar(method.name, config.iterations, progress, state.iteration, transient=False)
    with tracking(config, out) as track, bar as update_bar:
        while not ended:
            try:
                entry = step()
            except PolicyError:  # a server failed during the rollouts, so the weights are those of the last iteration
                checkpoint.save(out / "checkpoint", learner.model, learner.optimizer, state)
                raise
            state.history.append(entry)
            checkpoint.append_metrics(out / "metrics.jsonl", entry)
            track(entry)
            update_bar(advance=1, description=method.progress.format_map(entry))
            stop = on_iteration is not None and bool(on_iteration(entry))
            ended = method.ended(state) or ("stopped" if any(learner.ranks.gather([stop])) else None)
            idle = "" if ended else method.idle(state)
            due = state.iteration % config.checkpoint_every == 0 or time.monotonic() - saved > checkpoint.MAX_AGE
            if ended or idle or due:
                checkpoint.save(out / "checkpoint", learner.model, learner.optimizer, state)
                saved = time.monotonic()
            if idle:
                raise NoSignal(f"{idle} The run is stored in {out / 'checkpoint'}.")
    return ended


def _server(config: TrainerConfig, settings: ModelSettings, out: Path, progress: bool) -> ModelServer:
    """Return the server of the model, which starts only if the settings require it."""
    return ModelServer(settings, log=out / "vllm.log", lora_rank=config.lora_rank, progress=progress)


def affecting(model: ModelSettings, device: torch.device) -> dict[str, JsonValue]:
    """Return the settings of the model that must not change when a run is resumed."""
    tokens, turn = model.limits
    return {
        "dtype": dtype_name(model, device),
        "template": model.template,
        "max_tokens": tokens,
        "max_turn_tokens": turn,
        **({"tool_calls": model.tool_calls} if model.tool_calls != "auto" else {}),
    }


def _opener(config: TrainerConfig, given: OpenEpisode | None, out: Path) -> OpenEpisode:
    """Return the function that creates episodes. Answers of a user model are stored in the folder of the run."""
    if not config.user:
        return given or registry.episode_starter()
    if given is not None:
        raise ConfigError(
            "the setting user and the argument open_episode cannot be used together. Remove user, and pass the user "
            "model to Episode in open_episode"
        )
    from trace_gym.user_model import LanguageUser

    return registry.episode_starter(user=LanguageUser(config.user, folder=out / "user"))


def _begin(fresh: RunState, learner: Learner, stored: Path, out: Path, resume: bool) -> RunState:
    """Return the new state, or the state of the run in `stored` after loading its tensors into the learner.

    The metrics of the finished iterations are written to `out`.
    """
    if resume:
        checkpoint.require_trainer(stored / "checkpoint", fresh.config.trainer)
    if not resume:
        checkpoint.clear(stored)
    elif (found := checkpoint.read_state(stored / "checkpoint", type(fresh.config))) is not None:
        assert_same_run(fresh, found, stored)
        checkpoint.read_tensors(stored / "checkpoint", learner.model, learner.optimizer)
        fresh.history = found.history
    checkpoint.write_metrics(out / "metrics.jsonl", fresh.history)
    return fresh


def assert_same_run(now: RunState, found: RunState, out: Path) -> None:
    """Check that the run that is stored in `out` has the same settings, environments and base model.

    Raises:
        ConfigError: The stored run is different.
    """
    changed = [f"{k} (was {was}, now {is_})" for k, (is_, was) in now.config.same_learning(found.config).items()]
    changed += [f"{k} (was {found.model.get(k)}, now {v})" for k, v in now.model.items() if v != found.model.get(k)]
    changed += [f"env (was {found.env}, now {now.env})"] if now.env != found.env else []
    changed += ["the base model's weights"] if now.base != found.base else []
    if changed:
        raise ConfigError(
            f"{out} contains a run with different settings: {', '.join(changed)}. Choose another out_dir, restore the "
            "settings, or train with resume=False"
        )


def derive(*parts: object) -> int:
    """Return a torch seed derived from the parts, such as (seed, iteration, use)."""
    return Random("/".join(map(str, parts))).getrandbits(63)
