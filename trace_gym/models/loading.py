"""Functions that load the weights of the agent's model, and that return the policy that runs the agent.

No other module of the package loads a model for rollouts, training or routing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trace_gym.errors import ConfigError, MissingExtra, ReadError
from trace_gym.llm.ledger import Ledger
from trace_gym.llm.model_uri import endpoint_of
from trace_gym.models.endpoint_policy import endpoint_policy
from trace_gym.models.settings import ModelSettings
from trace_gym.policies.base import BatchPolicy, Policy

if TYPE_CHECKING:
    import torch

    from trace_gym.policies.hf import HFPolicy
    from trace_gym.policies.vllm import VLLMPolicy

MAX_ROWS = 256
"""Maximum number of conversations that an in-process policy runs at the same time."""


def load_policy(
    settings: ModelSettings,
    adapter: str | Path | None = None,
    *,
    name: str | None = None,
    temperature: float = 1.0,
    ledger: Path | None = None,
    stage: str = "rollout",
) -> Policy | BatchPolicy:
    """Return the policy that runs a model, in this process or at an endpoint.

    Args:
        settings: Settings of the model.
        adapter: Folder of a LoRA adapter. An endpoint must be a vLLM server that can load adapters at run time.
        name: Name of the policy in the records of its rollouts. By default, the name of the adapter or the model.
        temperature: Sampling temperature of an endpoint. An in-process policy gets the temperature with each rollout.
        ledger: File with one JSON line per request to an endpoint. Requests for token ids to vLLM (``engine: vllm``)
            are not recorded.
        stage: Name of the stage or command in the ledger.

    Raises:
        MissingExtra: A required library is not installed.
        ReadError: The weights or the adapter cannot be read.
        ConfigError: The model, the device or the endpoint cannot be used.
        Unavailable: A vLLM server did not answer (only with ``engine: vllm``).
    """
    if settings.engine == "vllm":
        return _token_policy(settings, adapter, name or Path(adapter or settings.name).name)
    if settings.has_chat_endpoint:
        log = Ledger(ledger) if ledger else None
        return endpoint_policy(settings, adapter, name=name, temperature=temperature, ledger=log, stage=stage)
    model, tokenizer = load_weights(settings, adapter)
    return hf_policy(settings, model, tokenizer, name=name or Path(adapter or settings.name).name)


def hf_policy(settings: ModelSettings, model: Any, tokenizer: Any, *, name: str = "hf") -> HFPolicy:
    """Return the policy that runs loaded weights in this process, with the limits of the settings."""
    from trace_gym.policies.hf import HFPolicy

    tokens, turn = settings.limits
    return HFPolicy(
        model,
        tokenizer,
        device=str(next(model.parameters()).device),
        max_tokens=tokens,
        max_turn_tokens=turn,
        max_rows=rows_in_memory(model.config, tokens, settings.cache_gib, next(model.parameters()).element_size()),
        template=settings.template,
        style=settings.tool_calls,
        truncation=settings.truncation,
        name=name,
    )


def vllm_policy(settings: ModelSettings, config: Any, tokenizer: Any, *, name: str = "vllm") -> VLLMPolicy:
    """Return the policy that samples token ids at the vLLM servers of the settings.

    Args:
        settings: Settings of the model, with ``engine: vllm``.
        config: Configuration of the Hugging Face model.
        tokenizer: Tokenizer of the model.
        name: Name of the policy in the records of its rollouts.

    Raises:
        Unavailable: A server did not answer.
        ConfigError: A server does not serve the model, or its context is too short.
    """
    from trace_gym.policies.vllm import VLLMPolicy
    from trace_gym.sampling.vllm import PATIENCE, VLLMServer

    if settings.starts_server:
        raise ConfigError(
            "engine: vllm requires a server: found no endpoint. Set endpoint, or pass the settings that "
            "trace_gym.models.server.ModelServer(settings, ...).start() returns"
        )
    seconds = settings.server.start_seconds  # requests are repeated while a server that died is restarted
    patience = {"patience": seconds} if seconds > PATIENCE else {}
    return VLLMPolicy(
        [VLLMServer(str(url), model, **patience) for model, url in map(endpoint_of, settings.endpoints)],
        tokenizer,
        vocabulary=config.get_text_config().vocab_size,
        max_tokens=context_length(settings, config),
        max_turn_tokens=settings.limits[1],
        template=settings.template,
        style=settings.tool_calls,
        truncation=settings.truncation,
        concurrency=settings.used_concurrency,
        name=name,
    )


def load_config(settings: ModelSettings) -> Any:
    """Return the Hugging Face configuration of a model.

    Raises:
        MissingExtra: transformers is not installed.
        ReadError: The configuration cannot be read.
    """
    try:
        from transformers import AutoConfig
    except ImportError as error:
        raise MissingExtra(f"{error.name} is not installed. Run: pip install 'trace-gym[lab]'") from None
    try:
        return AutoConfig.from_pretrained(settings.folder)
    except (OSError, ValueError) as error:
        raise ReadError(
            f"cannot load the configuration of {settings.folder} ({error}): expected a Hugging Face folder or name"
        ) from None


def context_length(settings: ModelSettings, config: Any) -> int:
    """Return the maximum number of tokens in a conversation, according to the settings and the Hugging Face model."""
    tokens, _ = settings.limits
    return min(tokens, getattr(config.get_text_config(), "max_position_embeddings", None) or tokens)


def load_weights(settings: ModelSettings, adapter: str | Path | None = None) -> tuple[Any, Any]:
    """Return the model and its tokenizer, on the device and in the data type of the settings.

    Args:
        settings: Settings of the model.
        adapter: Folder of a LoRA adapter that is added to the model.

    Raises:
        MissingExtra: transformers or peft is not installed.
        ReadError: The weights or the adapter cannot be read.
        ConfigError: The weights are not available, or the device cannot be used.
    """
    folder = settings.folder
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        if adapter is not None:
            from peft import PeftModel
    except ImportError as error:
        raise MissingExtra(f"{error.name} is not installed. Run: pip install 'trace-gym[lab]'") from None
    device = usable_device(device_name(settings))
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        model: Any = AutoModelForCausalLM.from_pretrained(
            folder, dtype=dtype_name(settings, device), attn_implementation="sdpa"
        )
        if adapter is not None:
            model = PeftModel.from_pretrained(model, str(adapter))
    except (OSError, ValueError) as error:
        with_adapter = f" with adapter {adapter}" if adapter else ""
        raise ReadError(
            f"cannot load a model from {folder}{with_adapter} ({error}). Expected the folder or the name of a Hugging "
            "Face model"
        ) from None
    except RuntimeError as error:
        if adapter is None or "size mismatch" not in str(error):
            raise
        raise ReadError(
            f"the adapter {adapter} does not fit the model {folder}, because the shapes of the weights differ. Load "
            "the model that the adapter was trained on, or train the adapter again"
        ) from None
    return model.to(device).eval(), tokenizer


@contextmanager
def prepared(policy: Policy | BatchPolicy) -> Iterator[None]:
    """Prepare a policy for many rollouts.

    The adapter of an in-process policy is merged into the weights during the block, which is faster. The adapter of a
    policy that uses vLLM is unloaded at the end, so that the server keeps only the adapters that are in use.
    """
    from trace_gym.policies.hf import HFPolicy, merged
    from trace_gym.policies.vllm import VLLMPolicy

    with merged(policy.model) if isinstance(policy, HFPolicy) else nullcontext():
        try:
            yield
        finally:
            if isinstance(policy, VLLMPolicy):
                for server in policy.servers:
                    server.release()


def device_name(settings: ModelSettings) -> str:
    """Return the device of the settings, with ``auto`` resolved."""
    import torch

    if settings.device != "auto":
        return settings.device
    found = None if settings.is_lab else torch.accelerator.current_accelerator(check_available=True)
    return found.type if found else "cpu"


def dtype_name(settings: ModelSettings, device: torch.device) -> str:
    """Return the data type of the settings, with ``auto`` resolved for a device."""
    if settings.dtype != "auto":
        return settings.dtype
    return "float32" if device.type == "cpu" else "bfloat16"


def usable_device(name: str) -> torch.device:
    """Return the torch device with this name.

    Raises:
        ConfigError: The device does not exist on this machine, or cannot be used.
    """
    import torch

    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item() if device.type != "meta" else None
    except (RuntimeError, AssertionError, NotImplementedError) as error:  # AssertionError: torch was built without CUDA
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ConfigError(
            f"the device {name} cannot be used ({reason}). Choose a device that torch finds on this machine, such as "
            "cpu, cuda or cuda:1"
        ) from None
    return device


def rows_in_memory(config: Any, tokens: int, gib: float, element_bytes: int) -> int:
    """Return the number of conversations whose keys and values fit into memory, from 1 to `MAX_ROWS`.

    Args:
        config: Configuration of a Hugging Face model.
        tokens: Maximum number of tokens in a conversation.
        gib: Memory for keys and values in GiB.
        element_bytes: Bytes of one key or value element.
    """
    text = config.get_text_config()
    tokens = min(tokens, getattr(text, "max_position_embeddings", None) or tokens)
    heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    size = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    per_row = 2 * text.num_hidden_layers * heads * size * element_bytes * tokens
    return max(1, min(MAX_ROWS, int(gib * 2**30 / per_row)))


def _token_policy(settings: ModelSettings, adapter: str | Path | None, name: str) -> VLLMPolicy:
    config = load_config(settings)
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(settings.folder)
    except (OSError, ValueError) as error:
        raise ReadError(
            f"cannot load a tokenizer from {settings.folder} ({error}). Expected the folder or the name of a Hugging "
            "Face model"
        ) from None
    policy = vllm_policy(settings, config, tokenizer, name=name)
    if adapter is not None:
        policy.use(Path(adapter))
    return policy
