"""Command line and environment variables of the vLLM server that trace_gym starts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from trace_gym.errors import ConfigError, ReadError
from trace_gym.models.loading import context_length, device_name, dtype_name, load_config, usable_device
from trace_gym.models.server_settings import ServerSettings
from trace_gym.models.settings import ModelSettings
from trace_gym.sampling.adapter_folder import read_adapter_config

SERVED_NAME = "base"
"""Name of the base model in requests."""
WEIGHTS_NAME = "base-weights"
"""Name of the base model in requests without an adapter, if `SERVED_NAME` is a `zero_adapter`."""
CPU_FLAGS = ("--no-enable-chunked-prefill",)
"""Additional flags on the CPU. Without them, vLLM 0.32 exits with ``CPU Generator does not use offset`` if the prompt
of a request with a seed is processed in several chunks."""
RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""Values that vLLM accepts for ``--max-lora-rank``."""


def needs_zero_adapter(settings: ModelSettings, lora_rank: int | None) -> bool:
    """Return whether the server has to serve the base model as a `zero_adapter`.

    Raises:
        ConfigError: The device cannot be used.
    """
    return lora_rank is not None and usable_device(device_name(settings)).type == "cpu"


def server_command(
    settings: ModelSettings, port: int, *, lora_rank: int | None, adapters: int, zero_adapter: Path | None = None
) -> list[str]:
    """Return the command that starts the server.

    Args:
        settings: Settings of the model, with ``engine: vllm``.
        port: Port of the server on this machine.
        lora_rank: Maximum rank of the adapters, or None without adapters.
        adapters: Number of adapters that are used at the same time.
        zero_adapter: Folder of the adapter as which the base model is served, if `needs_zero_adapter`.

    Raises:
        ConfigError: vLLM does not support the rank, or the device cannot be used.
        MissingExtra: transformers is not installed.
        ReadError: The configuration of the model cannot be read.
    """
    device = usable_device(device_name(settings))
    words: dict[str, object] = {
        "--model": settings.folder,
        "--served-model-name": WEIGHTS_NAME if zero_adapter else SERVED_NAME,
        "--host": "127.0.0.1",
        "--port": port,
        "--dtype": dtype_name(settings, device),  # that of the trainer
        "--max-model-len": context_length(settings, load_config(settings)),
        "--logprobs-mode": "processed_logprobs",
    }
    switches = ["--disable-uvicorn-access-log", *(CPU_FLAGS if device.type == "cpu" else ())]
    if lora_rank is not None:
        switches.append("--enable-lora")
        # A trainer uses one adapter at a time, and loads the next one before it unloads the previous one.
        slots = 2 * max(1, adapters) + 1 if zero_adapter else max(2, adapters)
        words |= {"--max-lora-rank": _supported_rank(lora_rank), "--max-loras": slots}
    if zero_adapter is not None:
        words["--lora-modules"] = f"{SERVED_NAME}={zero_adapter}"
    flags = [word for flag, value in words.items() for word in (flag, str(value))]
    return [interpreter(), "-m", "vllm.entrypoints.openai.api_server", *flags, *switches, *settings.server.arguments]


def server_environment(server: ServerSettings) -> dict[str, str]:
    """Return the environment variables of the server."""
    inherited = {name: value for name, value in os.environ.items() if name != "VLLM_API_KEY"}
    return inherited | {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True"} | server.environment


def interpreter() -> str:
    """Return the Python interpreter of the environment that contains vLLM.

    vLLM pins the versions of other packages, so it is usually installed in a separate environment.
    """
    return os.environ.get("VLLM_PYTHON") or sys.executable


def rank_of(adapter: Path) -> int:
    """Return the rank of a LoRA adapter.

    Raises:
        ReadError: The folder is not an adapter.
    """
    config = read_adapter_config(adapter)
    try:
        return max([int(config["r"]), *map(int, (config.get("rank_pattern") or {}).values())])
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ReadError(
            f"{adapter} is not an adapter folder ({error!r}): expected the rank in adapter_config.json"
        ) from None


def _supported_rank(rank: int) -> int:
    """Return the smallest rank that vLLM accepts for adapters with this rank."""
    if rank > RANKS[-1]:
        raise ConfigError(f"vLLM does not support adapters with rank {rank}: expected at most {RANKS[-1]}")
    return next(supported for supported in RANKS if supported >= rank)
