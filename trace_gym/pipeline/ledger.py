"""The ledger of a run, which records the inputs and outputs of each stage so that unchanged stages are skipped.

A stage is a function that reads files in the run folder and writes files there. Its dependencies (settings, input
files, environments, model) are hashed into a key. The ledger ``stages.json`` contains the key and the hashes of the
output files; a stage runs again if any of them differs. Long stages resume in the middle: rollouts are appended one by
one and training is checkpointed, so a run that was killed continues and produces the same result.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, Field, TypeAdapter, ValidationError
from rich.console import Console
from rich.text import Text
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

import trace_gym
from trace_gym import terminal
from trace_gym.errors import ConfigError, ReadError
from trace_gym.files import make_folder, write
from trace_gym.models.server import ModelServer
from trace_gym.parsing import first_fault, read_json, read_model
from trace_gym.settings import RunConfig
from trace_gym.types import sha256

VERSION = trace_gym.__version__
STARTED = "started.json"
"""File that maps each stage to a hash of the model and settings for which the stage started to write its files."""
SERVER_LOG = "vllm.log"
"""File with the output of the vLLM server that the run starts."""
BOOKKEEPING = frozenset({"stages.json", STARTED, "seen.json"})
"""Files of a run folder that are not results of a stage."""


class StageEntry(TypedDict):
    """Ledger entry of a finished stage. Version 1 of the format had `says` instead of `message`."""

    key: str
    outputs: dict[str, str | None]
    message: Annotated[str, Field(validation_alias=AliasChoices("message", "says"))]
    seconds: float


_STAGES: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, StageEntry])
_STARTED: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, str])


@dataclass
class Run:
    """A run: settings, output folder and ledger of finished stages."""

    config: RunConfig
    folder: Path
    console: Console = field(default_factory=lambda: terminal.console(stderr=True))
    ledger: dict[str, Any] = field(default_factory=dict)
    server: ModelServer | None = None
    """Server of the agent's model, which all stages use, or None if no stage is run."""

    def __post_init__(self) -> None:
        make_folder(self.folder)
        self.ledger = self._read_ledger("stages.json", _STAGES)

    def path(self, *parts: str) -> Path:
        """Return the path of a file in the run folder."""
        return self.folder.joinpath(*parts)

    @property
    def requests(self) -> Path:
        """Ledger of the requests of the agent to an endpoint."""
        return self.path("agent", "requests.jsonl")

    def _read_ledger(self, name: str, form: TypeAdapter[dict[str, Any]]) -> dict[str, Any]:
        path, fix = self.folder / name, "Delete it to run every stage again"
        try:
            return form.validate_python(read_json(path, fix)) if path.exists() else {}
        except ValidationError as error:
            raise ReadError(f"{path} is damaged ({first_fault(error)}). {fix}") from None

    def stage(self, name: str, depends: Mapping[str, Any], outputs: Sequence[Path], work: Callable[[], str]) -> None:
        """Run a stage unless its key and its outputs match the ledger.

        Args:
            name: Name of the stage in the ledger and in the output.
            depends: All values that determine the result. A `Path` is hashed by the content of the file.
            outputs: Files that the stage writes.
            work: Function that runs the stage and returns a summary line to print.
        """
        key = _key(depends)
        known = self.ledger.get(name, {})
        if known.get("key") == key and known.get("outputs") == {self._relative(p): _hashed(p) for p in outputs}:
            self.console.print(f"{name:<11} unchanged: {known['message']}", style="dim")
            return
        started_at = time.monotonic()
        self.console.print(Text.assemble((f"{name:<11}", "bold"), " ..."))
        message = work()
        seconds = time.monotonic() - started_at
        output_hashes = {self._relative(p): _hashed(p) for p in outputs}
        if missing := [p for p, digest in output_hashes.items() if digest is None]:
            raise ReadError(f"the stage {name} did not write these output files: {', '.join(missing)}")
        self.ledger[name] = {"key": key, "outputs": output_hashes, "message": message, "seconds": round(seconds, 1)}
        write(self.folder / "stages.json", json.dumps(self.ledger, indent=1) + "\n")
        self.console.print(Text.assemble((f"{name:<11}", "bold green"), f" {message} ", (f"({seconds:.0f} s)", "dim")))

    def discard_stale(self, stage: str, depends: Mapping[str, Any], files: Sequence[Path]) -> None:
        """Remove partial outputs of a stage that were written for a different model or different settings.

        Args:
            stage: Name of the stage.
            depends: All values that determine the content of the files, as in `stage`.
            files: The partial outputs.
        """
        started, key = self._read_ledger(STARTED, _STARTED), _key(depends)
        if started.get(stage, "unknown" if stage in self.ledger else key) != key:
            for path in files:
                path.unlink(missing_ok=True)
        write(self.folder / STARTED, json.dumps(started | {stage: key}, indent=1) + "\n")

    def _relative(self, path: Path) -> str:
        return str(path.relative_to(self.folder))


def claim_folder(made: Run) -> None:
    """Write the settings to the run folder, after checking that the folder is empty or contains a run.

    Raises:
        ConfigError: The folder contains other files, or an invalid configuration.
    """
    path = made.path("config.json")
    text = made.config.model_dump_json(indent=1) + "\n"
    if path.exists():
        try:
            read_model(path, RunConfig, "the configuration of a run")
        except ReadError as error:
            raise ConfigError(f"{error}. Delete the file, or choose another folder with --out") from None
    elif any(entry.name != ".lock" for entry in made.folder.iterdir()):
        raise ConfigError(
            f"{made.folder} is not a run folder: it contains other files and no config.json. Choose another folder "
            "with --out"
        )
    write(path, text)


def _key(depends: Mapping[str, Any]) -> str:
    return sha256(json.dumps({k: _hashed(v) for k, v in depends.items()}, sort_keys=True, default=str))


def _hashed(value: Any) -> Any:
    """Replace each path in a value with a hash of the file content, or of all files of a folder."""
    if isinstance(value, Path):
        if value.is_dir():
            files = sorted(p for p in value.rglob("*") if p.is_file())
            return sha256("".join(f"{p.relative_to(value)} {sha256(p.read_bytes())}\n" for p in files))
        return sha256(value.read_bytes()) if value.is_file() else None
    if isinstance(value, (list, tuple)):
        return [_hashed(v) for v in value]
    return value
