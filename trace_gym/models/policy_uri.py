"""Selection of a policy by a policy URI such as ``oracle``, ``mixture:0.4``, ``hf:FOLDER+ADAPTER`` or ``openai:MODEL``.

`validate`, `synthesize` and `rollout` accept the same policy URIs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from trace_gym.errors import ConfigError, MissingExtra, ReadError
from trace_gym.models.loading import load_policy
from trace_gym.models.settings import ModelSettings
from trace_gym.models.unused import UnusedModel, Use, check
from trace_gym.policies import scripted
from trace_gym.policies.base import BatchPolicy, Policy
from trace_gym.policies.exploits import EXPLOITS
from trace_gym.sampling.adapter_folder import read_adapter_config

POLICY_URIS = "openai:MODEL[@URL], hf:MODEL[+ADAPTER], mixture:P"
"""Forms of a policy URI, in addition to the names in `SCRIPTED`."""
POLICY = Use(
    "the option --policy",
    weights=False,
    samples=True,
    rows=(UnusedModel(("price",), lambda *_: True, "the requests of this policy are not recorded"),),
)
SCRIPTED: dict[str, Callable[[], Policy]] = {
    "oracle": scripted.Oracle,
    "ablated": scripted.Ablated,
    "random": scripted.Random,
    **{name: partial(EXPLOITS.__getitem__, name) for name in EXPLOITS},
}
"""Policies without a model, by name."""


def open_policy(uri: str) -> Policy | BatchPolicy:
    """Return the policy of a policy URI.

    A policy URI is a name in `SCRIPTED`, or has one of these forms:

    - ``openai:gpt-4o`` or ``openai:qwen@http://127.0.0.1:8000/v1``: a model behind an endpoint;
    - ``hf:runs/base+runs/lora``: a model, optionally with the folder of a LoRA adapter. The model is a name, a folder
      or a YAML file with model settings;
    - ``mixture:0.4``: a policy that follows the oracle with probability 0.4 and otherwise the ablated expert.

    Raises:
        ConfigError: The policy does not exist, or its endpoint has no API key.
        ReadError: The model cannot be read.
        MissingExtra: A required package is not installed.
    """
    if found := model_of(uri):
        model, adapter = found
        return load_policy(_settings(uri, model), adapter or None)
    return scripted_policy(uri)


def model_of(uri: str) -> tuple[str, str] | None:
    """Return the model of a policy URI and the folder of its adapter, which can be empty.

    Return None if the policy has no model.
    """
    kind, _, rest = uri.partition(":")
    if kind == "openai" and rest:
        return uri, ""
    if kind != "hf" or not rest:
        return None
    model, _, adapter = (rest, "", "") if Path(rest).is_dir() else rest.partition("+")
    return model, adapter


def scripted_policy(uri: str, expected: str = POLICY_URIS) -> Policy:
    """Return the policy of a policy URI that selects no model.

    Args:
        uri: A name in `SCRIPTED`, or ``mixture:P``.
        expected: Other forms that the caller accepts, for the error message.

    Raises:
        ConfigError: The policy does not exist.
    """
    kind, _, rest = uri.partition(":")
    if kind == "mixture" and re.fullmatch(r"1|0?\.\d+|0", rest):
        return scripted.ExpertMixture(float(rest))
    if uri in SCRIPTED:
        return SCRIPTED[uri]()
    raise ConfigError(f"unknown policy: found {uri!r}, expected {expected}, or one of {', '.join(SCRIPTED)}")


def check_policy_uri(uri: str) -> None:
    """Check that `open_policy` accepts a policy URI, without loading a model.

    Raises:
        ConfigError, ReadError, MissingExtra: The same errors as those of `open_policy`, except for errors that occur
            only when a model is loaded.
    """
    found = model_of(uri)
    if found is None or found[0] == uri:
        open_policy(uri)
        return
    model, adapter = found
    settings = _settings(uri, model)
    packages = () if settings.has_chat_endpoint else ("torch", "transformers", *(["peft"] if adapter else []))
    if missing := [name for name in packages if find_spec(name) is None]:
        raise MissingExtra(f"the package {missing[0]} is not installed. Run pip install 'trace-gym[lab]'")
    folder = "" if settings.served else settings.folder
    if folder and not _may_be_on_hub(folder) and not (Path(folder) / "config.json").is_file():
        raise ReadError(f"cannot load {uri}: {folder} does not contain config.json")
    if adapter and not _may_be_on_hub(adapter):
        read_adapter_config(Path(adapter))


def _may_be_on_hub(path: str) -> bool:
    """Return whether a path may be a name on the Hugging Face Hub instead of a folder."""
    return re.fullmatch(r"[\w.-]+(/[\w.-]+)?", path) is not None and not Path(path).exists()


def _settings(uri: str, model: str) -> ModelSettings:
    settings = ModelSettings.parse(model, uri)
    if settings.starts_server:
        raise ConfigError(
            f"{uri} requires a vLLM server: found engine: vllm without an endpoint in {model}. Start a server and set "
            "endpoint, or use the engine process"
        )
    check(settings, POLICY)
    return settings
