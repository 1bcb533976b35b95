"""The embedded agent: a tiny language model that speaks the protocol and lacks the capabilities.

It lets the whole loop run on a laptop, with the real libraries and without a download. Needs the
``lab`` extra (torch, transformers, peft).
"""

from pathlib import Path

from trace_gym.errors import ConfigError

BASE = Path(__file__).parent / "base"
"""The Hugging Face folder of the embedded agent that ships with the project."""


def model_folder(model: str) -> str:
    """The folder that a model setting means: ``lab`` is the embedded agent, anything else is taken as it is.

    Raises:
        ConfigError: The setting is the address of an endpoint, which has no weights.
    """
    if model.startswith("openai:"):
        raise ConfigError(f"{model} is behind an endpoint: expected lab, or a Hugging Face folder or name")
    return str(BASE) if model == "lab" else model
