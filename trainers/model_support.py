"""Settings of the model that each trainer uses. Importing this module does not import torch."""

from __future__ import annotations

from trace_gym.models.settings import ModelSettings
from trace_gym.models.unused import UnusedModel, Use, check
from trace_gym.trainers.config import TrainerConfig

_SAMPLES_IN_PROCESS = (
    UnusedModel(
        ("endpoint", "concurrency", "price"),
        lambda model, _: model.engine == "process",
        "the rollouts are sampled in this process",
        "Remove {settings}, or set engine: vllm",
    ),
)
_TRL = (
    UnusedModel(
        ("engine",),
        lambda *_: True,
        "TRL samples the rollouts",
        "Remove engine, and use the settings vllm and vllm_url of the trainer",
        refused=True,
    ),
    UnusedModel(
        ("device",),
        lambda model, _: model.device.partition(":")[2] not in ("", "0"),
        "TRL uses the first device of a kind",
        "Remove the number of the device, and set the environment variable CUDA_VISIBLE_DEVICES to it",
        refused=True,
    ),
    UnusedModel(
        ("endpoint", "server", "cache_gib", "concurrency", "price"), lambda *_: True, "TRL samples the rollouts"
    ),
)
_SKYRL = (
    UnusedModel(("engine",), lambda *_: True, "SkyRL starts its own engines", refused=True),
    UnusedModel(
        ("tool_calls",),
        lambda model, _: model.tool_calls != "hermes",
        "SkyRL reads only tool calls in the Hermes format",
        "Use a model that writes this format, or the trainer torch_grpo",
        refused=True,
    ),
    UnusedModel(
        ("device", "endpoint", "server", "cache_gib", "concurrency", "price"),
        lambda *_: True,
        "SkyRL runs the model on the GPUs of its Ray cluster",
    ),
)
_OWN: dict[str, tuple[UnusedModel, ...]] = {
    "torch_grpo": _SAMPLES_IN_PROCESS,
    "distill": _SAMPLES_IN_PROCESS,
    "trl_grpo": _TRL,
    "skyrl_grpo": _SKYRL,
}
"""Rows of the table in `trace_gym.models.unused` that apply to one trainer only."""


def use_of(config: TrainerConfig) -> Use:
    """Return the use of the model by a trainer.

    Trainers of other packages have no rows of their own, because it is not known which settings they use.
    """
    return Use(
        f"the trainer {config.trainer}",
        weights=True,
        samples=config.samples_rollouts,
        trains=True,
        rows=_OWN.get(config.trainer, ()),
    )


def check_model(config: TrainerConfig, model: ModelSettings) -> None:
    """Check that a trainer uses all settings of the model.

    Raises:
        ConfigError: A setting has no effect or is not supported, or the weights of the model are not available.
    """
    check(model, use_of(config))
