"""Settings of the vLLM server that trace_gym starts, and the flags that they may not contain."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from trace_gym.types import Record

CHOSEN = "trace_gym chooses its value"
RESERVED_FLAGS = {
    "--model": "the setting name determines its value",
    "--served-model-name": CHOSEN,
    "--host": CHOSEN,
    "--port": CHOSEN,
    "--api-key": "the server only accepts requests from this machine, without a key",
    "--dtype": "the setting dtype determines its value",
    "--max-model-len": "the setting max_tokens determines its value",
    "--enable-lora": CHOSEN,
    "--max-lora-rank": "the rank of the adapters determines its value",
    "--max-loras": CHOSEN,
    "--logprobs-mode": CHOSEN,
}
"""Flags of vLLM that trace_gym sets itself, with the reason."""

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ServerSettings(Record):
    """Settings of the vLLM server that trace_gym starts."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    arguments: tuple[str, ...] = ()
    """Additional command line arguments of the server, such as ``[--gpu-memory-utilization, 0.5]``."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Additional environment variables of the server, such as ``CUDA_VISIBLE_DEVICES: 1``."""
    start_seconds: Seconds = 900.0
    """Time limit in seconds for the start of the server, including the loading of the weights."""

    @model_validator(mode="after")
    def _without_conflicts(self) -> Self:
        for argument in self.arguments:
            flag = argument.partition("=")[0].replace("_", "-")
            if flag in RESERVED_FLAGS:
                raise ValueError(f"found {flag} in arguments, but {RESERVED_FLAGS[flag]}. Remove it from arguments")
        return self
