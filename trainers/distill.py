"""On-policy distillation of teacher adapters into one LoRA adapter.

The student samples rollouts of the training scenarios. At each token that it sampled, the loss is the reverse KL
divergence between the next-token distributions of the student and of the teacher of that environment,

    L = sum_b w_b sum_t KL(pi_student(. | s_bt) || pi_teacher(. | s_bt)),

summed over the whole vocabulary instead of estimated from the sampled token. The prefixes s_bt are constants. Rewards
are not used, so the rewards of the environments do not have to vary.

With one adapter per capability as teachers, the result is one adapter for all capabilities. The TRACE paper compares
such an adapter with routing between the adapters (section 4.2, "On-Policy Distillation"). The teachers are adapters of
the same base model as the student. All of them share the weights of the base model in memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import torch

from trace_gym.errors import ConfigError, ReadError
from trace_gym.models import LAB, ModelSettings
from trace_gym.trainers import loop
from trace_gym.trainers.batch import TrainingSample, batches
from trace_gym.trainers.checkpoint import Metrics, RunState
from trace_gym.trainers.config import DistillConfig
from trace_gym.trainers.logps import reverse_kl
from trace_gym.trainers.loop import Learner, Method, OpenEpisode, Trained
from trace_gym.trainers.loss import trajectory_weights
from trace_gym.trainers.steps import mean, optimizer_steps
from trace_gym.trainers.teachers import teacher_folders
from trace_gym.types import Scenario

if TYPE_CHECKING:
    from peft import PeftModel

Config = DistillConfig
STUDENT = "default"
"""Name of the trained adapter in the model."""


@dataclass(frozen=True, slots=True)
class Taught:
    """A trajectory of the student, and the name of its teacher in the model."""

    sample: TrainingSample
    teacher: str


def train(
    config: DistillConfig,
    *,
    env: str | Sequence[tuple[str, float]],
    model: ModelSettings | str | Path = LAB,
    out_dir: str | Path,
    open_episode: OpenEpisode | None = None,
    progress: bool = True,
    resume: bool = True,
    on_iteration: Callable[[Metrics], bool | None] | None = None,
) -> Trained:
    """Distill the teachers into a LoRA adapter. The arguments are those of `trace_gym.trainers.torch_grpo.train`.

    Raises:
        ConfigError: The settings do not fit the model, the environments or the existing run, or an environment has no
            teacher.
        ReadError: The model, a teacher or the checkpoint cannot be read.
        Unavailable: A vLLM server failed, even after retries (only with ``engine: vllm``).
        UserUnavailable: The language model that rewords the user failed. The same call resumes the run.
        InUse: Another process uses `out_dir`.
        WriteError: `out_dir` is a file, or cannot be created.
    """
    folders = teacher_folders(config, [env] if isinstance(env, str) else [name for name, _ in env])
    names: dict[str, str] = {}

    def step(learner: Learner, state: RunState, draws: Iterator[list[Scenario]], opener: OpenEpisode) -> Metrics:
        if not names:
            names.update(load_teachers(learner.model, folders))
        began, i = time.monotonic(), state.iteration
        torch.manual_seed(loop.derive(config.seed, i, "torch"))
        generator = torch.Generator().manual_seed(loop.derive(config.seed, i, "rollout"))
        scenarios = [s for s in next(draws) for _ in range(config.samples)]
        rollouts = learner.rollout(
            i, [opener(s) for s in scenarios], temperature=config.temperature, generator=generator
        )
        taught = [
            Taught(TrainingSample(r.ids, r.mask, r.logprobs, 0.0), names[s.env])
            for r, s in zip(rollouts, scenarios, strict=True)
            if any(r.mask)
        ]
        fit = _update(learner, taught, config, Random(f"{config.seed}/{i}/order"))
        finished = [r.episode for r in rollouts]
        return {
            "iteration": i,
            "success": mean(e.finish().success for e in finished),
            "turns": mean(e.turns for e in finished),
            "wellformed": mean(e.finish().wellformed for e in finished),
            "overflow": mean(r.overflow for r in rollouts),
            **fit,
            "trained_tokens": sum(sum(t.sample.mask) for t in taught),
            "rollouts": state.rollouts + len(rollouts),
            "seconds": round(time.monotonic() - began, 3),
        }

    return loop.run(
        Method("distill", "distill KL {loss:.3f} success {success:.2f}", step),
        config,
        env=env,
        model=model,
        out_dir=out_dir,
        open_episode=open_episode,
        progress=progress,
        resume=resume,
        on_iteration=on_iteration,
    )


def load_teachers(model: PeftModel, folders: Mapping[str, Path]) -> dict[str, str]:
    """Add the teachers to a model, and return the name of the teacher of each environment.

    Raises:
        ReadError: A folder contains no adapter, or an adapter of a different base model.
    """
    loaded: dict[Path, str] = {}
    for folder in folders.values():
        if folder in loaded:
            continue
        name = loaded[folder] = f"teacher_{len(loaded)}"
        try:
            model.load_adapter(str(folder), adapter_name=name, is_trainable=False)
        except (OSError, ValueError) as error:
            raise ReadError(
                f"the teacher {folder} cannot be read: {error}. Set teachers to an adapter folder"
            ) from None
        except RuntimeError as error:
            if "size mismatch" not in str(error):
                raise
            raise ReadError(
                f"the teacher {folder} does not fit the model, because the shapes of the weights differ. Use adapters "
                "of the same base model"
            ) from None
    model.set_adapter(STUDENT)
    if hasattr(model.get_output_embeddings(), "lora_A"):
        raise ConfigError(
            "the trainer distill does not support adapters of the output layer: found one in lora_targets or in a "
            "teacher. Use adapters of other layers"
        )
    return {env: loaded[folder] for env, folder in folders.items()}


@contextmanager
def acting(model: PeftModel, adapter: str) -> Iterator[None]:
    """Activate a different adapter of a model within the block, without gradients."""
    model.set_adapter(adapter)
    try:
        with torch.no_grad():
            yield
    finally:
        model.set_adapter(STUDENT)


def _update(learner: Learner, taught: Sequence[Taught], config: DistillConfig, rng: Random) -> Metrics:
    """Take optimizer steps, and return their mean loss, mean gradient norm, and number."""
    losses: list[float] = []

    def backward(minibatch: Sequence[Taught]) -> None:
        losses.append(_backward(learner.model, minibatch, config))

    norms = optimizer_steps(learner.optimizer, taught, config, rng, backward)
    if not norms:
        return {"loss": None, "grad_norm": None, "steps": 0}
    return {"loss": mean(losses), "grad_norm": mean(norms), "steps": len(norms)}


def _backward(model: PeftModel, minibatch: Sequence[Taught], config: DistillConfig) -> float:
    """Add the gradient of the loss of a minibatch, and return the loss."""
    tokens_B = torch.tensor([sum(t.sample.mask) for t in minibatch])
    shares = trajectory_weights(tokens_B, config.average, config.max_tokens).tolist()
    total = 0.0
    for teacher in sorted({t.teacher for t in minibatch}):
        own = [(t.sample, share) for t, share in zip(minibatch, shares, strict=True) if t.teacher == teacher]
        for batch in batches([s for s, _ in own], config, model, weights=[share for _, share in own]):
            kl_BT = reverse_kl(model, batch, config.temperature, partial(acting, model, teacher))
            loss = (batch.weights_B[:, None] * kl_BT.masked_fill(~batch.mask_BT, 0.0)).sum()
            torch.autograd.backward(loss)
            total += loss.item()
    return total
