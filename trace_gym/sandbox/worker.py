"""What happens inside: validate the module, and tell what was found, line by line.

A line is a JSON object with the secret word of the job, as proof that the harness wrote it. After the module was
validated the seal and the tripwire are read; to confirm a verdict, faults are planted that the harness has to find.
"""

from __future__ import annotations

import importlib
import json
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
from trace_gym.sandbox.layers import TRIPWIRE
from trace_gym.sandbox.seal import broken, seal
from trace_gym.sandbox.tripwire import Tripwire
from trace_gym.types import Finding, Say
from trace_gym.validate import PROFILES, PROPERTIES, Context, Given, validate
from trace_gym.validate.gate import sample
from trace_gym.world import Step, World

TAMPERED = 77
"""Exit code of a process whose verdict is not to be believed, whatever it told."""
PLANTED_ON = 2
"""Seeds of each level on which planted faults are to be found."""


@dataclass(frozen=True)
class Job:
    """One validation; it travels to the keeper as JSON."""

    name: str
    """Of the module, which is its file's name without the suffix."""
    source: str
    word: str
    """Proves that a line is the harness's."""
    options: dict[str, Any]
    """Of `validate`."""
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


def run(job: Job, folder: str, pipe: int) -> None:
    """Validate, tell, and end the process; `folder` is the private folder."""
    write, encode, leave = os.write, json.JSONEncoder().encode, os._exit  # kept, in case the module replaces them

    def tell(**what: Any) -> None:
        line = (encode({"word": job.word, **what}) + "\n").encode()
        while line:
            line = line[write(pipe, line) :]

    code = 0
    try:
        path = Path(folder) / f"{job.name}.py"
        path.write_text(job.source, encoding="utf-8")
        here = Path(folder) / "here"  # the module lies outside, so that reports name it by its whole path
        here.mkdir()
        os.chdir(here)
        os.environ.update(HOME=folder, TMPDIR=folder)
        tempfile.tempdir = folder
        given = _lend(job, Path(folder) / "target")
        ended = _validated(job, path, given, lambda f: tell(finding=f.model_dump(mode="json")))
        code = TAMPERED if ended["changed"] or ended["deeds"] or ended["missed"] else 0
        tell(ended=ended)
    except BaseException as error:
        tell(raised=f"{type(error).__name__}: {error}"[:1000])
    leave(code)  # no finalizer runs


def _lend(job: Job, folder: Path) -> Given:
    """Lay out the files that are lent, where this process and its children find the target."""
    for name, text in job.lent.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    if job.lent:
        os.environ[VARIABLE] = str(folder)
    return Given(recordings=tuple(str(folder / name) for name in job.recordings))


def _validated(job: Job, path: Path, given: Given, tell: Callable[[Finding], None]) -> dict[str, Any]:
    for needed in job.imports:
        importlib.import_module(needed)
    take, compare = seal, broken  # kept, as above
    before, name = take(), f"{package.__name__}.{job.name}"
    tripwire = Tripwire(str(path), name)
    if TRIPWIRE in job.layers:
        tripwire.arm()
    report = validate(path, **job.options, given=given, progress=False, tell=tell)
    changed = compare(before, take(name))
    return {
        "env": report.env,
        "scenarios": report.scenarios,
        "changed": changed,
        "deeds": tripwire.deeds,
        "missed": list(_missed(path, job)) if job.confirm and report.passed else [],
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
