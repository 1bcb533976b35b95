"""LoRA adapters on a vLLM server: an adapter is loaded at run time under a name that depends on its weights."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from trace_gym.errors import ConfigError, MissingExtra, ReadError, Unavailable

if TYPE_CHECKING:
    import openai

SECONDS = 120.0
"""Time limit for loading an adapter."""
HOW = (
    "Start vLLM with --enable-lora and the environment variable VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 on a machine that "
    "can read this folder, or remove endpoint to run adapters in process"
)


def load_adapter(url: str | None, adapter: Path) -> str:
    """Load a LoRA adapter into a vLLM server, unless it is already loaded, and return its name on the server.

    The name contains a hash of the weights, because vLLM may reuse cached results of different weights with the same
    name.

    Args:
        url: URL of the server, such as ``http://127.0.0.1:8000/v1``.
        adapter: Folder of the adapter. The server must be able to read it.

    Raises:
        ReadError: The folder is not an adapter.
        ConfigError: The server cannot load adapters.
        Unavailable: The server cannot be reached.
        MissingExtra: The openai package is not installed.
    """
    if url is None:
        raise ConfigError(
            f"the adapter {adapter} cannot be loaded, because the endpoint of the model has no URL. {HOW}"
        )
    name = versioned_name(adapter)
    try:
        import openai
    except ImportError:
        raise MissingExtra("the openai package is not installed. Run: pip install openai") from None
    key = os.environ.get("OPENAI_API_KEY") or "none"
    try:
        with openai.OpenAI(api_key=key, base_url=url, timeout=SECONDS) as client:
            if name not in _served(client):
                _load(client, name, adapter)
    except openai.APIStatusError as error:
        said = " ".join(error.response.text.split())[:300]
        raise ConfigError(
            f"the server {url} did not load the adapter {adapter} (status {error.status_code}: {said}). {HOW}"
        ) from None
    except openai.OpenAIError as error:
        raise Unavailable(f"{url} cannot be reached to load the adapter {adapter}: {error}") from None
    return name


def versioned_name(adapter: Path) -> str:
    """Return a name for an adapter that contains a hash of its weights.

    Raises:
        ReadError: The folder is not an adapter.
    """
    try:
        weights = (adapter / "adapter_model.safetensors").read_bytes()
    except OSError as error:
        raise ReadError(f"{adapter} is not an adapter folder: {error}") from None
    folder = adapter.parent if adapter.name == "adapter" else adapter
    return f"{folder.name or 'adapter'}-{hashlib.sha256(weights).hexdigest()[:12]}"


def _load(client: openai.OpenAI, name: str, adapter: Path) -> None:
    import openai

    body = {"lora_name": name, "lora_path": str(adapter.resolve())}
    try:
        client.with_options(max_retries=0).post("/load_lora_adapter", cast_to=str, body=body)
    except openai.APIStatusError:
        if name not in _served(client):  # another process may have loaded the adapter at the same time
            raise


def _served(client: openai.OpenAI) -> set[str]:
    """Return the names of the models that the server offers."""
    return {model.id for model in client.models.list()}
