"""The commands `doctor` and `scan`, which inspect the installation and check modules."""

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
"""Libraries whose versions `doctor` prints."""
_REQUIREMENT = re.compile(r"""^([\w.-]+)[^;]*;.*extra\s*==\s*["']([\w-]+)["']""")


@dataclass(frozen=True)
class Extra:
    """An optional group of dependencies (an extra) and its members that are not installed."""

    name: str
    missing: tuple[str, ...]

    @property
    def pip(self) -> str:
        """The command that installs the extra."""
        return f"pip install 'trace-gym[{self.name}]'"


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    app.command()(doctor)
    app.command()(scan)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print versions, GPU, installed extras and the available sandbox layers of this machine.

    Example: trace-gym doctor
    """
    from trace_gym.sandbox import layers
    from trace_gym.sandbox.isolation import exposed

    found, optional, sandbox = versions(), list(extras()), layers()
    if as_json:
        report = {
            "versions": found,
            "gpu": gpu(),
            "extras": {e.name: {"missing": e.missing, "pip": e.pip} for e in optional},
            "sandbox": [asdict(layer) for layer in sandbox],
            "isolated": not exposed(sandbox),
        }
        say(json.dumps(report, indent=1))
        return
    console = terminal.console()
    console.print(_table("component", "version", [(k, v or "-") for k, v in found.items()] + [("GPU", gpu())]))
    console.print(_table("extra", "status", [(e.name, e.pip if e.missing else "installed") for e in optional]))
    marked = [(layer.name, f"{'active ' if layer.active else 'missing'}  {layer.message}") for layer in sandbox]
    console.print(_table("sandbox layer", "status", marked))
    if unmet_layers := exposed(sandbox):
        needs = "; ".join(f"{what} require {' or '.join(names)}" for what, names in unmet_layers.items())
        console.print(f"not isolated: {needs}. Code that is not admitted runs only with {ALLOW_UNISOLATED_FLAG}")


def scan(
    module: Annotated[Path, typer.Argument(help="A module file.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check the source of a model-written module without running it. docs/explanation/sandbox.md lists the rules.

    Exit code 0: the module follows the rules; 1: it violates a rule.

    Example: trace-gym scan my_env.py
    """
    from trace_gym import sandbox

    source = read_text(module, "Pass a Python module")
    if not source.strip():
        raise ReadError(f"the file {module} is empty. Pass a file that contains a Python module")
    violations = sandbox.lint_source(source)
    if as_json:
        say(json.dumps([asdict(f) for f in violations], indent=1))
    else:
        for violation in violations:
            say(f"{module}:{violation.line}: {violation.rule}: {violation.message}")
    if violations:
        raise typer.Exit(1)


def versions() -> dict[str, str]:
    """Return the versions of Python, this package and the libraries. The version of a missing library is `""`."""
    found = {"trace-gym": trace_gym.__version__, "python": platform.python_version(), "system": platform.platform()}
    return found | {name: _version(name) for name in LIBRARIES}


def gpu() -> str:
    """Return a description of the GPUs that torch can use."""
    if importlib.util.find_spec("torch") is None:
        return "unknown, because torch is not installed"
    try:
        import torch

        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        names = [torch.cuda.get_device_name(n) for n in range(count)]
    except (ImportError, OSError, RuntimeError) as error:
        return f"unknown, because torch failed ({str(error).partition(chr(10))[0]})"
    return ", ".join(names) or "none available to torch"


def extras() -> Iterator[Extra]:
    """Yield the extras of this package with their missing members. Yield nothing if the package is not installed."""
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
