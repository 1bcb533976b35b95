"""Trainers by name: the built-in trainers, and trainers that other packages register.

A package registers a trainer as an entry point of the group ``trace_gym.trainers``. The entry point is an object, such
as a module, with the members of `Trainer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from trace_gym.errors import ConfigError, expect_choice
from trace_gym.trainers.config import DistillConfig, GRPOConfig, SFTConfig, TrainerConfig
from trace_gym.trainers.skyrl_config import SkyRLConfig
from trace_gym.trainers.trl_config import TRLConfig

if TYPE_CHECKING:
    from trace_gym.models import ModelSettings
    from trace_gym.trainers.loop import Trained

GROUP = "trace_gym.trainers"
"""Group of the entry points of trainers."""


class Trainer(Protocol):
    """Interface of a trainer."""

    Config: type[TrainerConfig]
    """Type of the settings of the trainer. The default of the field ``trainer`` is the name of the trainer."""

    def train(
        self,
        config: Any,
        *,
        env: str | Sequence[tuple[str, float]],
        model: ModelSettings,
        out_dir: str | Path,
        progress: bool = True,
    ) -> Trained:
        """Train a LoRA adapter for a model on environments, and write ``adapter/`` and ``metrics.jsonl`` to `out_dir`.

        If `out_dir` contains a run that was interrupted, the run is resumed. Each line of ``metrics.jsonl`` is one
        iteration.
        """
        ...


class _BuiltIn:
    """A trainer of this package. Its module is imported when it is used, because the import of torch is slow."""

    def __init__(self, config: type[TrainerConfig], module: str) -> None:
        self.Config, self.module = config, module

    def train(self, config: Any, **arguments: Any) -> Trained:
        trained: Trained = import_module(self.module).train(config, **arguments)
        return trained


_BUILT_IN: dict[str, Trainer] = {
    "torch_grpo": _BuiltIn(GRPOConfig, "trace_gym.trainers.torch_grpo"),
    "sft": _BuiltIn(SFTConfig, "trace_gym.trainers.sft"),
    "distill": _BuiltIn(DistillConfig, "trace_gym.trainers.distill"),
    "skyrl_grpo": _BuiltIn(SkyRLConfig, "trace_gym.trainers.skyrl_grpo"),
    "trl_grpo": _BuiltIn(TRLConfig, "trace_gym.trainers.trl_grpo"),
}


def names() -> list[str]:
    """Return the names of all trainers."""
    return sorted({*_BUILT_IN, *(point.name for point in entry_points(group=GROUP))})


def trainer(name: str) -> Trainer:
    """Return the trainer with this name.

    Raises:
        ConfigError: No trainer has this name, or the package of the trainer cannot be used.
    """
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    found = [point for point in entry_points(group=GROUP) if point.name == name]
    if not found:
        expect_choice("trainer", name, names())
    try:
        made = found[0].load()
    except Exception as error:  # a package of others may raise anything
        raise ConfigError(f"the trainer {name} ({found[0].value}) cannot be imported: {error}") from error
    config = getattr(made, "Config", None)
    if not (isinstance(config, type) and issubclass(config, TrainerConfig) and callable(getattr(made, "train", None))):
        raise ConfigError(
            f"the trainer {name} ({found[0].value}) is not valid: expected an object with a function train and a class "
            "Config that is a subclass of TrainerConfig"
        )
    return made  # type: ignore[no-any-return]


def config_type(settings: dict[str, Any]) -> type[TrainerConfig]:
    """Return the type of the settings of the trainer that `settings` name; by default, ``torch_grpo``.

    Raises:
        ConfigError: The trainer is not valid, or some of the settings belong only to other trainers.
    """
    name = str(settings.get("trainer", "torch_grpo"))
    config, errors = trainer(name).Config, []
    for key in settings.keys() - config.model_fields.keys():
        if others := [other for other, built_in in _BUILT_IN.items() if key in built_in.Config.model_fields]:
            errors.append(f"{key} is not a setting of the trainer {name}, only of {', '.join(others)}; remove it")
    if errors:
        raise ConfigError(f"invalid settings of the trainer: {'; '.join(sorted(errors))}")
    return config


def parse(settings: dict[str, Any]) -> TrainerConfig:
    """Return the configuration for the trainer that the settings name; by default, ``torch_grpo``.

    Raises:
        ConfigError: The trainer or a setting is not valid.
    """
    return config_type(settings).parse({"trainer": "torch_grpo", **settings})
