"""Settings of the agent's language model: weights or endpoint, machine, and limits of a conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, JsonValue, ValidationError, model_validator

from trace_gym.errors import ConfigError, ReadError
from trace_gym.llm.model_uri import endpoint_of
from trace_gym.llm.opening import price_of
from trace_gym.models.catalog import CATALOG, fetched_folder
from trace_gym.models.server_settings import ServerSettings
from trace_gym.models.unused import without_effect
from trace_gym.parsing import read_yaml
from trace_gym.sampling.truncation import Truncation
from trace_gym.threads import CONCURRENCY, VLLM_CONCURRENCY
from trace_gym.types import Record

LAB = "lab"
"""Name of the built-in toy model."""
LAB_FOLDER = Path(__file__).parents[1] / "lab" / "base"
"""The Hugging Face folder of the built-in toy model."""
LAB_LIMITS = (1024, 64)
LIMITS = (16_384, 1024)
"""Default limits of a conversation and of one turn, in tokens, for all models except the toy model."""

Count = Annotated[int, Field(ge=1)]


class ModelSettings(Record):
    """Settings of the agent's language model. Every stage that runs the agent uses the same settings.

    A string can be given instead of the settings. It is the name of the model, or the path of a YAML file with
    settings.
    """

    name: str = Field(LAB, min_length=1)
    """``lab`` (the built-in toy model), ``smollm2`` (after ``trace-gym model fetch smollm2``), or a Hugging Face folder
    or name. ``openai:MODEL`` or ``openai:MODEL@URL`` is a model behind an endpoint whose weights are not available."""
    endpoint: str | tuple[str, ...] = ""
    """``openai:MODEL@URL``: endpoint that serves the weights in `name`. Rollouts without training are collected from
    this endpoint instead of from a model in this process. If adapters are evaluated, the endpoint must be a vLLM server
    that can load LoRA adapters at run time. With ``engine: vllm``, a list of several vLLM servers is possible."""
    engine: Literal["process", "vllm"] = "process"
    """Engine that samples the rollouts of training. ``process`` runs the model in the training process. With ``vllm``,
    the servers in `endpoint` sample the token ids of all rollouts, and load the adapter of each iteration of training.
    Without `endpoint`, trace_gym starts a server on this machine, and stops it at the end."""
    server: ServerSettings = ServerSettings()
    """Settings of the server that trace_gym starts with ``engine: vllm``."""
    device: str = "auto"
    """Device of the in-process model, such as ``cuda:1``. ``auto`` is the CPU for the toy model, and otherwise the
    first accelerator of the machine, or the CPU if there is none."""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """Data type of the in-process base model's weights. ``auto`` is float32 on the CPU and bfloat16 on accelerators."""
    max_tokens: Count | None = None
    """Maximum number of tokens in a conversation, including the policy and the tools. By default 1,024 for the toy
    model and 16,384 for other models, or the context length of the model if it is shorter."""
    max_turn_tokens: Count | None = None
    """Maximum number of tokens in one turn. A longer turn is truncated. By default 64 for the toy model and 1,024 for
    other models."""
    cache_gib: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 4.0
    """Memory in GiB for the keys and values of the conversations that an in-process model runs at the same time. It
    limits the number of conversations per batch; one conversation is always possible."""
    concurrency: Count | None = None
    """Maximum number of conversations at the same time, over all endpoints and all worker processes of a run. By
    default 8, or 256 with ``engine: vllm``."""
    price: str = ""
    """Price of the endpoint in US dollars per million tokens as prompt/completion, such as ``0.5/1.5``, from which the
    cost of the requests in the ledger is computed."""
    template: dict[str, JsonValue] = Field(default_factory=dict)
    """Arguments of the chat template, such as ``enable_thinking: false``."""
    tool_calls: Literal["auto", "hermes", "json", "llama3", "mistral", "qwen3_coder", "pythonic"] = "auto"
    """Format in which the model writes tool calls. ``auto`` is the format in which its chat template writes them."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Nucleus sampling: tokens are sampled from the smallest set of the most probable tokens whose probability is at
    least `top_p`. 1 samples from all tokens. Training requires 1."""
    top_k: Annotated[int, Field(ge=0)] = 0
    """Tokens are sampled from the `top_k` most probable tokens, before `top_p` is applied. 0 samples from all tokens.
    Training requires 0."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: Any) -> Any:
        if not isinstance(data, str | Path):
            return data
        if str(data).endswith((".yaml", ".yml")):
            return _read(Path(data))
        return {"name": str(data)}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        try:
            found = [endpoint_of(uri) for uri in (*self.endpoints, *([] if self.has_weights else [self.name]))]
            price_of(self.price)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        if errors := without_effect(self):
            raise ValueError("; ".join(errors))
        self._check_engine([url for _, url in found])
        tokens, turn = self.limits
        if turn >= tokens:
            raise ValueError(
                f"max_turn_tokens is too large: found {turn}, expected less than max_tokens ({tokens}), because the "
                "policy and the tools also need tokens"
            )
        return self

    def _check_engine(self, urls: list[str | None]) -> None:
        """Check that the engine can use the endpoints.

        Raises:
            ValueError: The engine requires other endpoints.
        """
        if self.engine == "process":
            if not isinstance(self.endpoint, str):
                raise ValueError("a list of endpoints requires engine: vllm. Use one endpoint, or set engine: vllm")
            return
        if None in urls:
            raise ValueError(
                f"engine: vllm requires an endpoint with the URL of each server: found {self.served}, expected "
                "openai:MODEL@URL or a list of such endpoints. Without endpoint, trace_gym starts a server"
            )
        if len(set(urls)) < len(urls):
            raise ValueError(
                f"the setting endpoint contains the same server twice: found {self.served}. Remove one of them"
            )

    @property
    def endpoints(self) -> tuple[str, ...]:
        """All URIs in `endpoint`."""
        return (self.endpoint,) * bool(self.endpoint) if isinstance(self.endpoint, str) else self.endpoint

    @property
    def starts_server(self) -> bool:
        """Whether the rollouts require a vLLM server that trace_gym starts."""
        return self.engine == "vllm" and self.has_weights and not self.endpoints

    @property
    def has_weights(self) -> bool:
        """Whether the weights are available, so that the model can be trained."""
        return not self.name.startswith("openai:")

    @property
    def is_remote(self) -> bool:
        """Whether rollouts without training are sampled at endpoints instead of in this process."""
        return bool(self.served) or self.starts_server

    @property
    def has_chat_endpoint(self) -> bool:
        """Whether rollouts without training are chat completions of an endpoint, whose requests are recorded."""
        return bool(self.served) and self.engine != "vllm"

    @property
    def used_concurrency(self) -> int:
        """Maximum number of conversations with endpoints at the same time: the setting, or its default."""
        return self.concurrency or (VLLM_CONCURRENCY if self.engine == "vllm" else CONCURRENCY)

    @property
    def folder(self) -> str:
        """The folder or the hub name of the weights.

        Raises:
            ConfigError: The model is behind an endpoint, so its weights are not available, or it has a name in
                `trace_gym.models.catalog.CATALOG` and was not fetched.
        """
        if not self.has_weights:
            raise ConfigError(
                f"{self.name} is an endpoint, so its weights are not available. Set name to lab, or to the folder or "
                "the name of a Hugging Face model. To use the endpoint for rollouts, set endpoint in addition to name"
            )
        if self.name in CATALOG:
            return str(fetched_folder(self.name))
        return str(LAB_FOLDER) if self.name == LAB else self.name

    @property
    def served(self) -> str:
        """URI of the endpoint that generates rollouts without training, or ``""`` if this process generates them.

        Several URIs are separated by commas.
        """
        return ", ".join(self.endpoints) if self.has_weights else self.name

    @property
    def truncation(self) -> Truncation:
        """The tokens from which the model is sampled without training."""
        return Truncation(self.top_p, self.top_k)

    @property
    def limits(self) -> tuple[int, int]:
        """Maximum number of tokens in a conversation, and in one turn."""
        tokens, turn = LAB_LIMITS if self.is_lab else LIMITS
        tokens = self.max_tokens or tokens
        return tokens, self.max_turn_tokens or min(turn, max(1, tokens // 4))

    @property
    def is_lab(self) -> bool:
        """Whether the model is the built-in toy model."""
        return self.name in (LAB, str(LAB_FOLDER))

    def limited(self, tokens: int | None, turn: int | None) -> Self:
        """Return the settings with smaller limits. None leaves a limit unchanged.

        Raises:
            ConfigError: A limit is larger than that of the model.
        """
        own = dict(zip(("max_tokens", "max_turn_tokens"), self.limits, strict=True))
        for key, value in (("max_tokens", tokens), ("max_turn_tokens", turn)):
            if value is not None and value > own[key]:
                raise ConfigError(
                    f"{key} is too large: found {value}, expected at most {own[key]}, the limit of the model"
                )
        changed = {k: v for k, v in (("max_tokens", tokens), ("max_turn_tokens", turn)) if v is not None}
        return self.model_copy(update=changed)

    @classmethod
    def parse(cls, data: Any, source: str = "model") -> Self:
        """Return the settings in parsed YAML data, a name, or the path of a YAML file.

        Raises:
            ConfigError: A setting is unknown or out of range. The message starts with `source`.
        """
        try:
            return data if isinstance(data, cls) else cls.model_validate(data)
        except ValidationError as error:
            errors = [f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}" for e in error.errors()]
            raise ConfigError(f"invalid settings in {source}: {'; '.join(errors)}") from None


def _read(path: Path) -> Any:
    try:
        data = read_yaml(path, "See docs/guides/models.md")
    except ReadError as error:
        raise ValueError(str(error)) from None
    if not isinstance(data, dict) or not data:
        raise ValueError(f"{path} is not valid: expected a mapping of setting names to values, such as name: my_model")
    return data
