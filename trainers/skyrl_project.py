"""Project folder of a SkyRL run: its options, its dataset, and the script that starts Ray."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import yaml

from trace_gym import registry
from trace_gym.adapters.skyrl import write_dataset
from trace_gym.files import make_folder, write
from trace_gym.models import ModelSettings
from trace_gym.trainers.skyrl_config import REWARDS, SkyRLConfig
from trace_gym.types import Scenario

DATA = "train.jsonl"
SCRIPT = "train.py"
LOSSES = {"grpo": "regular", "gspo": "gspo", "cispo": "cispo"}
"""Mapping of `SkyRLConfig.objective` to the option ``policy_loss_type`` of SkyRL."""
REDUCTIONS = {"trajectory": "sequence_mean", "token": "token_mean", "constant": "seq_mean_token_sum_norm"}
"""Mapping of `SkyRLConfig.average` to the option ``loss_reduction`` of SkyRL."""
SCHEDULES = {"constant": "constant_with_warmup", "linear": "linear", "cosine": "cosine"}
"""Mapping of `SkyRLConfig.lr_schedule` to the option ``scheduler`` of SkyRL."""


def write_project(folder: Path, config: SkyRLConfig, model: ModelSettings, scenarios: Sequence[Scenario]) -> None:
    """Write the options, the dataset and the script of a run to a folder.

    Args:
        folder: Output folder. Checkpoints of SkyRL in it are kept.
        config: Settings of the run.
        model: Settings of the model, with the token limits of the run.
        scenarios: Scenarios of all iterations.

    Raises:
        MissingExtra: skyrl-gym is not installed.
        WriteError: A file cannot be written.
    """
    make_folder(folder)
    [weights] = [name for name, own in REWARDS.items() if own == config.reward]
    write_dataset(folder / DATA, scenarios, weights=weights)
    turns = max(registry.load_world(name).max_turns for name in {s.env for s in scenarios})
    write(folder / "config.yaml", yaml.safe_dump(options(config, model, turns), sort_keys=False))
    jinja = jinja2.Environment(
        loader=jinja2.PackageLoader("trace_gym.templates", "skyrl"), keep_trailing_newline=True, autoescape=False
    )
    write(folder / SCRIPT, jinja.get_template(f"{SCRIPT}.jinja").render())


def options(config: SkyRLConfig, model: ModelSettings, turns: int) -> dict[str, Any]:
    """Return the options of SkyRL. One iteration is one training step of SkyRL.

    Args:
        config: Settings of the run.
        model: Settings of the model, with the token limits of the run.
        turns: Maximum number of turns of an episode.
    """
    dtype = data_type(model)
    tokens, turn_tokens = model.limits
    steps = config.epochs * config.minibatches
    targets = config.lora_targets if isinstance(config.lora_targets, str) else list(config.lora_targets)
    return {
        "data.train_data": [DATA],
        "data.val_data": [DATA],  # required by SkyRL, but not used without evaluation
        "trainer.eval_before_train": False,
        "trainer.eval_interval": -1,
        # Model and adapter
        "trainer.policy.model.path": model.folder,
        "trainer.policy.model.lora.rank": config.lora_rank,
        "trainer.policy.model.lora.alpha": config.lora_alpha,
        "trainer.policy.model.lora.target_modules": targets,
        "trainer.bf16": dtype == "bfloat16",  # data type of the reference model of the KL penalty
        "trainer.policy.fsdp_config.mixed_precision.param_dtype": dtype,
        "trainer.ref.fsdp_config.mixed_precision.param_dtype": dtype,
        "generator.inference_engine.model_dtype": dtype,
        "trainer.gradient_checkpointing": config.gradient_checkpointing is not False,
        # Length of the run, and split of an iteration into optimizer steps and forward passes
        "trainer.epochs": 1,
        "trainer.max_training_steps": config.iterations,
        "trainer.train_batch_size": config.groups,
        "trainer.policy_mini_batch_size": config.groups // config.minibatches,
        "trainer.update_epochs_per_batch": config.epochs,
        "trainer.max_tokens_per_microbatch": config.micro_batch_tokens,
        "generator.n_samples_per_prompt": config.samples,
        # Optimizer
        "trainer.policy.optimizer_config.lr": config.lr,
        "trainer.policy.optimizer_config.weight_decay": config.weight_decay,
        "trainer.policy.optimizer_config.max_grad_norm": config.max_grad_norm,
        "trainer.policy.optimizer_config.scheduler": SCHEDULES[config.lr_schedule],
        "trainer.policy.optimizer_config.num_warmup_steps": config.warmup_iterations * steps,
        # Objective
        "trainer.algorithm.advantage_estimator": "grpo",
        "trainer.algorithm.grpo_norm_by_std": config.ADVANTAGES[config.advantage],
        "trainer.algorithm.policy_loss_type": LOSSES[config.objective],
        "trainer.algorithm.loss_reduction": REDUCTIONS[config.average],
        "trainer.algorithm.max_seq_len": tokens,
        "trainer.algorithm.eps_clip_low": config.clip_low,
        "trainer.algorithm.eps_clip_high": config.clip_high,
        "trainer.algorithm.cispo.cispo_eps_clip_high": config.clip_high,
        "trainer.algorithm.zero_variance_filter": True,  # torch_grpo drops groups with equal rewards as well
        "trainer.algorithm.use_kl_loss": config.kl_coef > 0,
        "trainer.algorithm.kl_loss_coef": config.kl_coef,
        # The sampling probabilities of vLLM differ from those of the trainer, as in torch_grpo with engine: vllm.
        "trainer.algorithm.off_policy_correction.tis_ratio_type": "token",
        # Conversations
        "generator.max_turns": turns,
        "trainer.max_prompt_length": tokens,
        "generator.max_input_length": tokens,
        "generator.sampling_params.max_generate_length": turn_tokens,
        "generator.sampling_params.temperature": config.temperature,
        "generator.apply_overlong_filtering": config.overlong == "mask",
        "generator.batched": False,
        "generator.use_conversation_multi_turn": True,
        "generator.chat_template_kwargs": dict(model.template),
        # Machine
        "trainer.strategy": "fsdp",
        "trainer.placement.colocate_all": True,
        "trainer.placement.policy_num_gpus_per_node": config.gpus,
        "generator.inference_engine.backend": "vllm",
        "generator.inference_engine.num_engines": config.gpus,
        "generator.inference_engine.tensor_parallel_size": 1,
        # Run
        "trainer.seed": config.seed,
        "trainer.ckpt_interval": config.checkpoint_every,
        "trainer.max_ckpts_to_keep": 2,
        "trainer.resume_mode": "latest",
        "trainer.ckpt_path": "checkpoints",
        "trainer.export_path": "exports",
        "trainer.log_path": "logs",
        "trainer.logger": next(iter(config.trackers), "console"),
        "trainer.project_name": "trace-gym",
        "trainer.run_name": "skyrl_grpo",
        **config.options,
    }


def data_type(model: ModelSettings) -> str:
    """Return the data type of the settings, with ``auto`` resolved for the GPUs of the Ray cluster."""
    return "bfloat16" if model.dtype == "auto" else model.dtype
