"""Verbs about what runs here and how safely: doctor, scan."""

from __future__ import annotations

import importlib.util
import json
import platform
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

import trace_gym
from trace_gym import terminal
from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.registration import ALLOW_UNISOLATED_FLAG
from trace_gym.tables import Grid
from trace_gym.terminal import say

LIBRARIES = ("torch", "transformers", "peft", "trl", "vllm", "ray", "gymnasium", "pydantic", "hypothesis", "openai")
"""Whose versions matter when something goes wrong."""
_REQUIREMENT = re.compile(r"""^([\w.-]+)[^;]*;.*extra\s*==\s*["']([\w-]+)["']""")


@dataclass(frozen=True)
class Extra:
    """An optional group of dependencies."""

    name: str
    missing: tuple[str, ...]

    @property
    def pip(self) -> str:
        """What installs it."""
        return f"pip install 'trace-gym[{self.name}]'"


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command line."""
    app.command()(doctor)
    app.command()(scan)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False) -> None:
    """Say what this machine has: versions, GPU, extras, and the layers of the sandbox.

    Example: trace-gym doctor
    """
    from trace_gym.sandbox import layers
    from trace_gym.sandbox.isolation import exposed

    found, optional, sandbox = versions(), list(extras()), layers()
    if as_json:
        told = {
            "versions": found,
            "gpu": gpu(),
            "extras": {e.name: {"missing": e.missing, "pip": e.pip} for e in optional},
            "sandbox": [asdict(layer) for layer in sandbox],
            "isolated": not exposed(sandbox),
        }
        say(json.dumps(told, indent=1))
        return
    console = terminal.console()
    console.print(_table("what", "version", [(k, v or "-") for k, v in found.items()] + [("GPU", gpu())]))
    console.print(_table("extra", "state", [(e.name, e.pip if e.missing else "installed") for e in optional]))
    marked = [(layer.name, f"{'active ' if layer.active else 'missing'}  {layer.says}") for layer in sandbox]
    console.print(_table("sandbox", "state", marked))
    if lacking := exposed(sandbox):
        needs = "; ".join(f"{what} need {' or '.join(names)}" for what, names in lacking.items())
        console.print(f"not isolated: {needs}. Code that is not admitted is not run without {ALLOW_UNISOLATED_FLAG}")


def scan(
    module: Annotated[Path, typer.Argument(help="A module file.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Look at a module that a language model wrote, without running it: docs/sandbox.md lists the rules.

    Exit code 0: it obeys them; 1: it does not.

    Example: trace-gym scan my_env.py
    """
    from trace_gym import sandbox

    source = read_text(module, "Name a Python module")
    if not source.strip():
        raise ReadError(f"{module} is empty: expected a Python module. Name another file")
    faults = sandbox.scan(source)
    if as_json:
        say(json.dumps([asdict(f) for f in faults], indent=1))
    else:
        for fault in faults:
            say(f"{module}:{fault.line}: {fault.rule}: {fault.says}")
    if faults:
        raise typer.Exit(1)


def versions() -> dict[str, str]:
    """Versions of Python, of this package and of the libraries; empty where one is not installed."""
    found = {"trace-gym": trace_gym.__version__, "python": platform.python_version(), "system": platform.platform()}
    return found | {name: _version(name) for name in LIBRARIES}


def gpu() -> str:
    """The GPUs that torch sees, in words."""
    if importlib.util.find_spec("torch") is None:
        return "not looked for, as torch is not installed"
    try:
        import torch

        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        names = [torch.cuda.get_device_name(n) for n in range(count)]
    except (ImportError, OSError, RuntimeError) as error:
        return f"torch cannot say ({str(error).partition(chr(10))[0]})"
    return ", ".join(names) or "none that torch sees"


def extras() -> Iterator[Extra]:
    """The optional groups of dependencies and what they lack; none where this package is not installed."""
    try:
        wanted = metadata.requires("trace-gym") or []
    except metadata.PackageNotFoundError:
        return
    groups: dict[str, list[str]] = {}
    for requirement in wanted:
        if m := _REQUIREMENT.match(requirement):
            groups.setdefault(m[2], []).append(m[1])
    for name, members in sorted(groups.items()):
        yield Extra(name, tuple(m for m in members if m != "trace-gym" and not _version(m)))


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _table(first: str, second: str, rows: list[tuple[str, str]]) -> Grid:
    return Grid((first, second), rows)
