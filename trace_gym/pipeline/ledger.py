"""The ledger of a run: which stage left what, from what, so that a stage is skipped when nothing changed.

A stage is a function that reads files of the run folder and leaves files there. What it depends on
(settings, input files, environments, model) is hashed into a key; the ledger ``stages.json`` holds
the key and the hashes of what the stage left, and a stage runs again when either differs. Long
stages continue inside: rollouts are appended record by record and training is checkpointed, so a
run that was killed goes on from there and ends with the same result.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from rich.console import Console
from rich.text import Text
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

import trace_gym
from trace_gym import terminal
from trace_gym.errors import ConfigError, ReadError
from trace_gym.files import make_folder, write
from trace_gym.parsing import first_fault, read_json, read_model
from trace_gym.settings import RunConfig
from trace_gym.types import sha256

VERSION = trace_gym.__version__
STARTED = "started.json"
"""File that says for which model and settings the files of each stage were begun."""
BOOKKEEPING = frozenset({"stages.json", STARTED, "seen.json"})
"""Files of a run folder that are not results."""


class _Done(TypedDict):
    """What the ledger says of a finished stage."""

    key: str
    outputs: dict[str, str | None]
    says: str
    seconds: float


_STAGES: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, _Done])
_STARTED: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, str])


@dataclass
class Run:
    """One run: its settings, its folder, and the ledger of finished stages."""

    config: RunConfig
    folder: Path
    console: Console = field(default_factory=lambda: terminal.console(stderr=True))
    ledger: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        make_folder(self.folder)
        self.ledger = self._read_ledger("stages.json", _STAGES)

    def path(self, *parts: str) -> Path:
        """A file of the run folder."""
        return self.folder.joinpath(*parts)

    def _read_ledger(self, name: str, form: TypeAdapter[dict[str, Any]]) -> dict[str, Any]:
        path, fix = self.folder / name, "Delete it to run every stage again"
        try:
            return form.validate_python(read_json(path, fix)) if path.exists() else {}
        except ValidationError as error:
            raise ReadError(f"{path} is damaged ({first_fault(error)}). {fix}") from None

    def stage(self, name: str, depends: Mapping[str, Any], outputs: Sequence[Path], work: Callable[[], str]) -> None:
        """Run a stage unless its key and its outputs are those in the ledger.

        Args:
            name: Key in the ledger, and what is shown.
            depends: Everything that decides the result; a `Path` stands for the content of that file.
            outputs: Files that the stage leaves.
            work: Does it, and returns one line to show.
        """
        key = _key(depends)
        known = self.ledger.get(name, {})
        if known.get("key") == key and known.get("outputs") == {self._relative(p): _hashed(p) for p in outputs}:
            self.console.print(f"{name:<11} unchanged: {known['says']}", style="dim")
            return
        began = time.monotonic()
        self.console.print(Text.assemble((f"{name:<11}", "bold"), " ..."))
        says = work()
        seconds = time.monotonic() - began
        left = {self._relative(p): _hashed(p) for p in outputs}
        if missing := [p for p, digest in left.items() if digest is None]:
            raise ReadError(f"stage {name} did not leave {', '.join(missing)}")
        self.ledger[name] = {"key": key, "outputs": left, "says": says, "seconds": round(seconds, 1)}
        write(self.folder / "stages.json", json.dumps(self.ledger, indent=1) + "\n")
        self.console.print(Text.assemble((f"{name:<11}", "bold green"), f" {says} ", (f"({seconds:.0f} s)", "dim")))

    def discard_stale(self, stage: str, depends: Mapping[str, Any], files: Sequence[Path]) -> None:
        """Remove the files that a stage continues, unless they were written for the same model and settings.

        Args:
            stage: Name of the stage.
            depends: Everything that decides what stands in the files, as for `stage`.
            files: The files.
        """
        started, key = self._read_ledger(STARTED, _STARTED), _key(depends)
        if started.get(stage, "unknown" if stage in self.ledger else key) != key:
            for path in files:
                path.unlink(missing_ok=True)
        write(self.folder / STARTED, json.dumps(started | {stage: key}, indent=1) + "\n")

    def _relative(self, path: Path) -> str:
        return str(path.relative_to(self.folder))


def claim_folder(made: Run) -> None:
    """Keep the settings beside the results; a folder is one run."""
    path = made.path("config.json")
    text = made.config.model_dump_json(indent=1) + "\n"
    if path.exists():
        try:
            read_model(path, RunConfig, "the configuration of a run")
        except ReadError as error:
            raise ConfigError(f"{error}. Delete it, or choose another folder with --out") from None
    elif any(entry.name != ".lock" for entry in made.folder.iterdir()):
        raise ConfigError(f"{made.folder} is not empty and holds no run; choose another folder with --out")
    write(path, text)


def _key(depends: Mapping[str, Any]) -> str:
    return sha256(json.dumps({k: _hashed(v) for k, v in depends.items()}, sort_keys=True, default=str))


def _hashed(value: Any) -> Any:
    """A value as it enters a key: a file by its content, a folder by its files."""
    if isinstance(value, Path):
        if value.is_dir():
            files = sorted(p for p in value.rglob("*") if p.is_file())
            return sha256("".join(f"{p.relative_to(value)} {sha256(p.read_bytes())}\n" for p in files))
        return sha256(value.read_bytes()) if value.is_file() else None
    if isinstance(value, (list, tuple)):
        return [_hashed(v) for v in value]
    return value
