"""Tasks that run inside the sandbox: validate a module, describe it, or run its episodes for the caller.

Each output line is a JSON object with the job's secret token, which proves that trace_gym and not the module wrote the
line. After validation, the worker checks whether the module replaced parts of trace_gym (by comparing snapshots) and
which operations the audit hook blocked. To confirm a report that passed, the worker injects bugs into the module and
checks that validation detects them.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from trace_gym.modules import execute
from trace_gym.registration import VARIABLE, package
from trace_gym.registry import described
from trace_gym.sandbox.audit_hook import AuditHook
from trace_gym.sandbox.episode_server import serve
from trace_gym.sandbox.layer_list import TRIPWIRE
from trace_gym.sandbox.snapshot import changed_names, take_snapshot
from trace_gym.types import Finding, Say
from trace_gym.validation import PROFILES, PROPERTIES, Context, ValidationInputs, validate, worker_process
from trace_gym.validation.selection import sample
from trace_gym.validation.stacks import write_stack_at_end
from trace_gym.world import Step, World

TAMPERED = 77
"""Exit code of a process in which tampering was detected. Its report is rejected, regardless of the output."""
BUG_SEEDS_PER_LEVEL = 2
"""Number of seeds per level in the validation that must detect injected bugs."""
INTERACTIVE = ("episodes",)
"""Tasks that read the caller's requests from standard input."""

EmitLine = Callable[..., None]


@dataclass(frozen=True)
class SandboxJob:
    """One task for one module, which is sent to the supervisor as JSON."""

    name: str
    """Name of the module, which is its file name without the suffix."""
    source: str
    auth_token: str
    """Secret that proves that trace_gym wrote an output line."""
    options: dict[str, Any] = field(default_factory=dict)
    """Arguments of `trace_gym.validation.validate`."""
    task: str = "validate"
    """``validate``, ``describe`` or ``episodes``."""
    confirm: bool = False
    """Whether to check that validation detects injected bugs, after the module has passed."""
    deadline: float | None = None
    """Seconds after which the job is stopped."""
    limits: dict[str, Any] = field(default_factory=dict)
    layers: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    """Full names of modules to import in advance, so that imports in the module do not access files."""
    target_files: Mapping[str, str] = field(default_factory=dict)
    """Text of the files of a custom target, by path relative to the target folder."""
    recordings: tuple[str, ...] = ()
    """Keys of `target_files` that contain recorded episodes to replay."""
    input_files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The user's files in base64, by kind (``recordings`` or ``against``) and by path inside the sandbox."""


def run(job: SandboxJob, folder: str, pipe: int) -> None:
    """Run the task in the private folder `folder`, write the results to `pipe`, and end the process."""
    write, encode, leave = (
        os.write,
        json.JSONEncoder().encode,
        os._exit,
    )  # local references, in case the module replaces these functions

    def emit(**what: Any) -> None:
        line = (encode({"auth_token": job.auth_token, **what}) + "\n").encode()
        while line:
            line = line[write(pipe, line) :]

    code = 0
    try:
        path = Path(folder) / f"{job.name}.py"
        path.write_bytes(job.source.encode("utf-8", "surrogateescape"))
        here = Path(folder) / "here"  # the working directory does not contain the module, so reports show its full path
        here.mkdir()
        os.chdir(here)
        os.environ.update(HOME=folder, TMPDIR=folder)
        tempfile.tempdir = folder
        given = _write_input_files(job, Path(folder))
        for needed in job.imports:
            with contextlib.suppress(Exception):  # the import statement in the module raises the error again
                importlib.import_module(needed)
        code = _TASKS[job.task](job, path, given, emit)
    except BaseException as error:
        emit(exception=f"{type(error).__name__}: {error}"[:1000])
    leave(code)  # ends the process without running finalizers or exit handlers of the module


def _write_input_files(job: SandboxJob, folder: Path) -> ValidationInputs:
    """Write the input files into the private folder, and return the validation inputs that refer to them."""
    for name, text in job.target_files.items():
        _place(folder / "target" / name, text.encode())
    if job.target_files:
        os.environ[VARIABLE] = str(folder / "target")
    for files in job.input_files.values():
        for name, encoded in files.items():
            _place(folder / "given" / name, base64.b64decode(encoded))
    recordings, against = (
        tuple(str(folder / "given" / name) for name in job.input_files.get(kind, ()))
        for kind in ("recordings", "against")
    )
    return ValidationInputs(
        recordings=(*(str(folder / "target" / name) for name in job.recordings), *recordings), against=against
    )


def _place(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)


def _create_audit_hook(job: SandboxJob, path: Path) -> AuditHook:
    audit_hook = AuditHook(str(path), f"{package.__name__}.{job.name}")
    if TRIPWIRE in job.layers:
        audit_hook.arm()
    return audit_hook


def _validate(job: SandboxJob, path: Path, given: ValidationInputs, emit: EmitLine) -> int:
    worker_process.START = "fork"  # forking is safe, because this process has only one thread
    take, compare = take_snapshot, changed_names  # local references, as in run
    if job.options.get("engine") == "here":  # other engines configure this in their worker processes
        write_stack_at_end(sys.stderr, math.inf if job.deadline is None else job.deadline)  # part of the printed output
    before, name = take(), f"{package.__name__}.{job.name}"
    audit_hook = _create_audit_hook(job, path)

    def emit_finding(finding: Finding) -> None:
        emit(finding=finding.model_dump(mode="json"))

    report = validate(path, **job.options, given=given, progress=False, interruptible=False, on_finding=emit_finding)
    changed = compare(before, take(name))
    ended = {
        "env": report.env,
        "scenarios": report.scenarios,
        "changed": changed,
        "forbidden_actions": audit_hook.forbidden_actions,
        "undetected_bugs": list(_undetected_bugs(path, job)) if job.confirm and report.passed else [],
    }
    emit(ended=ended)
    return TAMPERED if ended["changed"] or ended["forbidden_actions"] or ended["undetected_bugs"] else 0


def _describe(job: SandboxJob, path: Path, given: ValidationInputs, emit: EmitLine) -> int:
    audit_hook = _create_audit_hook(job, path)
    made = described(execute(path, path.read_bytes()))
    emit(description=made.model_dump(mode="json"), forbidden_actions=audit_hook.forbidden_actions)
    return 0


def _serve_episodes(job: SandboxJob, path: Path, given: ValidationInputs, emit: EmitLine) -> int:
    audit_hook = _create_audit_hook(job, path)

    def checked(**what: Any) -> None:
        if audit_hook.forbidden_actions:
            what = {
                "error": "EnvBug",
                "message": f"the module did something that environments may not do: {audit_hook.forbidden_actions[0]}",
            }
        emit(**what)

    serve(execute(path, path.read_bytes()), sys.stdin, checked)
    return 0


_TASKS: dict[str, Callable[[SandboxJob, Path, ValidationInputs, EmitLine], int]] = {
    "validate": _validate,
    "describe": _describe,
    "episodes": _serve_episodes,
}


def _undetected_bugs(path: Path, job: SandboxJob) -> Iterator[str]:
    """Yield the injected bugs that validation does not detect."""
    world = execute(path, path.read_bytes())
    scenarios = sample(world, BUG_SEEDS_PER_LEVEL)
    for code, bug, members in _injected_bugs(world):
        faulty = type(world.__name__, (world,), {"__module__": world.__module__, **members})
        setattr(sys.modules[world.__module__], world.__name__, faulty)  # pickle looks up classes by name
        found = PROPERTIES[code](faulty, scenarios, Context(faulty, str(path), PROFILES["quick"]))
        setattr(sys.modules[world.__module__], world.__name__, world)
        if found.verdict != "failed":
            yield f"{bug} ({code})"


def _injected_bugs(world: type[World]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    def no_op(self: World) -> Iterator[Step]:
        yield Say("Good day.")

    def unseeded(cls: type[World], rng: Random, level: int) -> World:
        made: World = world.generate.__func__(cls, Random(), level)  # type: ignore[attr-defined]
        return made

    yield "TG201", "an oracle that does nothing", {"oracle": no_op}
    yield "TG101", "a generator without a seed", {"generate": classmethod(unseeded)}
