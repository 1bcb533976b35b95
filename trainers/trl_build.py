"""Construction of a `trl.GRPOTrainer` for the trainer ``trl_grpo``, and conversion of its errors."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from peft import LoraConfig
from transformers import PrinterCallback

from trace_gym.adapters.rollout import library
from trace_gym.adapters.trl import TrlEnvironment
from trace_gym.adapters.trl.environment import check_version, environment_class
from trace_gym.errors import ConfigError, EnvBug, MissingExtra, TraceGymError, Unavailable
from trace_gym.models import ModelSettings, load_weights
from trace_gym.score import RewardWeights
from trace_gym.trainers.base import checkpoints_gradients
from trace_gym.trainers.trl_config import TRLConfig
from trace_gym.trainers.trl_recorder import TRLRollouts
from trace_gym.trainers.trl_settings import lora_arguments


class StrictEnvironment(TrlEnvironment):
    """Environment of the trainer whose errors end the training, as in `trace_gym.trainers.torch_grpo`."""

    def _fail(self, bug: EnvBug) -> None:
        raise bug


def build(
    config: TRLConfig, settings: ModelSettings, dataset: Any, arguments: dict[str, Any], rollouts: TRLRollouts
) -> Any:
    """Return a `trl.GRPOTrainer` for a dataset of scenarios.

    Args:
        config: Settings of the run.
        settings: Settings of the model.
        dataset: Result of `trace_gym.adapters.trl.dataset_of`.
        arguments: Arguments of `trl.GRPOConfig`.
        rollouts: Rollout function.

    Raises:
        ConfigError: TRL does not support the settings or the model.
        ReadError: The model cannot be read.
        EnvNotFound: An environment is not registered.
        Unavailable: The vLLM server cannot be reached.
    """
    trl = library("trl", "trl")
    weights, tokenizer = load_weights(settings)
    factories = {name: strict_environment(name, config.reward) for name in sorted(set(dataset["environment"]))}
    with _construction_errors(config), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "You are using '(rollout_func|environment_factory)'", UserWarning)
        trainer = trl.GRPOTrainer(
            model=weights,
            processing_class=tokenizer,
            train_dataset=dataset,
            peft_config=LoraConfig(**lora_arguments(config)),
            args=trl.GRPOConfig(**arguments, gradient_checkpointing=checkpoints_gradients(config, weights)),
            environment_factory=factories,
            rollout_func=rollouts,
        )
    trainer.remove_callback(PrinterCallback)  # prints to stdout
    trainer.create_model_card = lambda *_, **__: None
    return trainer


def strict_environment(env: str, weights: RewardWeights) -> type[StrictEnvironment]:
    """Return the adapter's environment class, changed so that errors end the training."""
    made: type[StrictEnvironment] = type(env, (StrictEnvironment, environment_class(env, weights)), {})
    return made


def require_libraries(config: TRLConfig) -> None:
    """Check that the libraries that the settings require are installed.

    Raises:
        MissingExtra: A library is not installed.
        ConfigError: The installed version of TRL is not supported.
    """
    check_version("the trainer trl_grpo")
    library("datasets", "trl")
    if config.vllm != "off":
        try:
            library("vllm", "trl")
        except MissingExtra:
            raise MissingExtra(
                f"vllm is missing, which the setting vllm: {config.vllm} requires. Run pip install 'trl[vllm]', or set "
                "vllm: off"
            ) from None


@contextmanager
def server_errors(config: TRLConfig) -> Iterator[None]:
    """Convert failed requests to the vLLM server within the block to `Unavailable`."""
    try:
        yield
    except TraceGymError:
        raise
    except OSError as error:  # includes the exceptions of the library requests
        if config.vllm != "server":
            raise
        raise Unavailable(
            f"the vLLM server at {config.vllm_url} failed: {error}. Check the server, then run the same command again"
        ) from error


@contextmanager
def _construction_errors(config: TRLConfig) -> Iterator[None]:
    """Convert exceptions by which TRL rejects settings or a model to `ConfigError`."""
    try:
        with server_errors(config):
            yield
    except TraceGymError:
        raise
    except (ValueError, TypeError, ImportError, NotImplementedError) as error:
        raise ConfigError(f"TRL does not support these settings or this model: {error}") from error
