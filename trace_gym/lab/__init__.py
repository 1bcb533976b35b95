"""The built-in toy model: a tiny language model that makes valid tool calls, but lacks the capabilities to be trained.

With the toy model, a complete run works on a laptop without a download. It requires the ``lab`` extra (torch,
transformers, peft).
"""

from pathlib import Path

from trace_gym.errors import ConfigError

BASE = Path(__file__).parent / "base"
"""The Hugging Face folder of the built-in toy model."""


def model_folder(model: str) -> str:
    """Return the folder or name of a model: the folder of the built-in toy model for ``lab``, else `model` unchanged.

    Raises:
        ConfigError: The model is behind an endpoint, so its weights are not available.
    """
    if model.startswith("openai:"):
        raise ConfigError(
            f"model is not valid: found the endpoint {model}, expected lab, or a Hugging Face folder or name"
        )
    return str(BASE) if model == "lab" else model
