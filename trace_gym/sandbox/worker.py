"""The work inside the sandbox: validate a module, describe it, or run episodes of it for the caller.

Each line of output is a JSON object with the secret word of the job, as proof that the harness wrote it. After the
module was validated the seal and the tripwire are read; to confirm a verdict, faults are planted that the harness has
to find.
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
from trace_gym.sandbox.layers import TRIPWIRE
from trace_gym.sandbox.playing import serve
from trace_gym.sandbox.seal import broken, seal
from trace_gym.sandbox.tripwire import Tripwire
from trace_gym.types import Finding, Say
from trace_gym.validate import PROFILES, PROPERTIES, Context, Given, processes, validate
from trace_gym.validate.gate import sample
from trace_gym.validate.stacks import write_stack_at_end
from trace_gym.world import Step, World

TAMPERED = 77
"""Exit code of a process whose verdict is not to be believed, whatever it told."""
PLANTED_ON = 2
"""Seeds of each level on which planted faults are to be found."""
INTERACTIVE = ("play",)
"""Tasks that answer requests of the caller, which come on standard input."""

Tell = Callable[..., None]


@dataclass(frozen=True)
class Job:
    """One task for one module; it travels to the keeper as JSON."""

    name: str
    """Of the module, which is its file's name without the suffix."""
    source: str
    word: str
    """Proves that a line is the harness's."""
    options: dict[str, Any] = field(default_factory=dict)
    """Of `validate`."""
    task: str = "validate"
    """``validate``, ``describe`` or ``play``."""
    confirm: bool = False
    """Whether to plant faults, once the module has passed."""
    deadline: float | None = None
    """Seconds after which it is stopped."""
    limits: dict[str, Any] = field(default_factory=dict)
    layers: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    """Modules that are there before the module is, so that it causes no file to be read."""
    lent: Mapping[str, str] = field(default_factory=dict)
    """Files of the user's own target, by their place in its folder; the target is found inside, too."""
    recordings: tuple[str, ...] = ()
    """Those of them that hold recorded episodes, to be replayed."""
    given: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Files that the user names, in base64 by their place: ``recordings`` and ``against``."""


def run(job: Job, folder: str, pipe: int) -> None:
    """Do the task, tell the results, and end the process; `folder` is the private folder."""
    write, encode, leave = os.write, json.JSONEncoder().encode, os._exit  # kept, in case the module replaces them

    def tell(**what: Any) -> None:
        line = (encode({"word": job.word, **what}) + "\n").encode()
        while line:
            line = line[write(pipe, line) :]

    code = 0
    try:
        path = Path(folder) / f"{job.name}.py"
        path.write_bytes(job.source.encode("utf-8", "surrogateescape"))
        here = Path(folder) / "here"  # the module lies outside, so that reports name it by its whole path
        here.mkdir()
        os.chdir(here)
        os.environ.update(HOME=folder, TMPDIR=folder)
        tempfile.tempdir = folder
        given = _lend(job, Path(folder))
        for needed in job.imports:
            with contextlib.suppress(Exception):  # the module's own import of it then says why it fails
                importlib.import_module(needed)
        code = _TASKS[job.task](job, path, given, tell)
    except BaseException as error:
        tell(raised=f"{type(error).__name__}: {error}"[:1000])
    leave(code)  # no finalizer runs


def _lend(job: Job, folder: Path) -> Given:
    """Write the files that are lent into the private folder, where this process and its children find them."""
    for name, text in job.lent.items():
        _place(folder / "target" / name, text.encode())
    if job.lent:
        os.environ[VARIABLE] = str(folder / "target")
    for files in job.given.values():
        for name, packed in files.items():
            _place(folder / "given" / name, base64.b64decode(packed))
    recordings, against = (
        tuple(str(folder / "given" / name) for name in job.given.get(kind, ())) for kind in ("recordings", "against")
    )
    return Given(recordings=(*(str(folder / "target" / name) for name in job.recordings), *recordings), against=against)


def _place(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)


def _tripwire(job: Job, path: Path) -> Tripwire:
    tripwire = Tripwire(str(path), f"{package.__name__}.{job.name}")
    if TRIPWIRE in job.layers:
        tripwire.arm()
    return tripwire


def _validate(job: Job, path: Path, given: Given, tell: Tell) -> int:
    processes.START = "fork"  # this process has one thread
    take, compare = seal, broken  # kept, as above
    if job.options.get("engine") == "here":  # other engines do it in their processes
        write_stack_at_end(sys.stderr, math.inf if job.deadline is None else job.deadline)  # kept as what is printed
    before, name = take(), f"{package.__name__}.{job.name}"
    tripwire = _tripwire(job, path)

    def told(finding: Finding) -> None:
        tell(finding=finding.model_dump(mode="json"))

    report = validate(path, **job.options, given=given, progress=False, interruptible=False, tell=told)
    changed = compare(before, take(name))
    ended = {
        "env": report.env,
        "scenarios": report.scenarios,
        "changed": changed,
        "deeds": tripwire.deeds,
        "missed": list(_missed(path, job)) if job.confirm and report.passed else [],
    }
    tell(ended=ended)
    return TAMPERED if ended["changed"] or ended["deeds"] or ended["missed"] else 0


def _describe(job: Job, path: Path, given: Given, tell: Tell) -> int:
    tripwire = _tripwire(job, path)
    made = described(execute(path, path.read_bytes()))
    tell(description=made.model_dump(mode="json"), deeds=tripwire.deeds)
    return 0


def _play(job: Job, path: Path, given: Given, tell: Tell) -> int:
    tripwire = _tripwire(job, path)

    def checked(**what: Any) -> None:
        if tripwire.deeds:
            what = {"error": "EnvBug", "says": f"the module did what environments may not do: {tripwire.deeds[0]}"}
        tell(**what)

    serve(execute(path, path.read_bytes()), sys.stdin, checked)
    return 0


_TASKS: dict[str, Callable[[Job, Path, Given, Tell], int]] = {
    "validate": _validate,
    "describe": _describe,
    "play": _play,
}


def _missed(path: Path, job: Job) -> Iterator[str]:
    """Planted faults that the harness does not find."""
    world = execute(path, path.read_bytes())
    scenarios = sample(world, PLANTED_ON)
    for code, fault, members in _planted(world):
        faulty = type(world.__name__, (world,), {"__module__": world.__module__, **members})
        setattr(sys.modules[world.__module__], world.__name__, faulty)  # copies are pickled, by name
        found = PROPERTIES[code](faulty, scenarios, Context(faulty, str(path), PROFILES["quick"]))
        setattr(sys.modules[world.__module__], world.__name__, world)
        if found.verdict != "failed":
            yield f"{fault} ({code})"


def _planted(world: type[World]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    def idle(self: World) -> Iterator[Step]:
        yield Say("Good day.")

    def unseeded(cls: type[World], rng: Random, level: int) -> World:
        made: World = world.generate.__func__(cls, Random(), level)  # type: ignore[attr-defined]
        return made

    yield "TG201", "an oracle that does nothing", {"oracle": idle}
    yield "TG101", "problems that are drawn anew each time", {"generate": classmethod(unseeded)}
