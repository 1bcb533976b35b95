"""A folder for each library in which environments are ready to use: scripts, data, and a README that runs.

The folder stands by itself: environments of the user's own are copied into it. It is written beside its place and then
renamed, so that it is there whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2

import trace_gym
from trace_gym import registry
from trace_gym.episode import interface_of
from trace_gym.errors import ConfigError
from trace_gym.files import write
from trace_gym.registration import entries, folders
from trace_gym.targets.user import folder as targets
from trace_gym.types import Scenario, Trajectory

MARK = "export.json"
"""Stands in every exported folder and says what it holds; a folder without it is never replaced."""
ENVS = "envs"
"""Where the files of the user's own environments go."""
MODEL = "Qwen/Qwen3-4B-Instruct-2507"
"""What is trained or asked where a file names a model."""


@dataclass(frozen=True)
class Export:
    """What is exported.

    Attributes:
        envs: Names of environments and mixtures.
        n: Scenarios to train on; a quarter as many are there for validation.
        levels: Levels that take turns; all by default.
        rollouts: Episodes to put beside the scenarios, where a library has a place for them.
        trajectories: Whether the recorded episodes of the user's own target are copied.
    """

    envs: tuple[str, ...]
    n: int = 256
    levels: tuple[int, ...] | None = None
    rollouts: tuple[Trajectory, ...] = ()
    trajectories: bool = True

    @cached_property
    def parts(self) -> list[str]:
        """The environments themselves, with mixtures opened up."""
        opened = (list(registry.mixture(n).mixture) if n in registry.mixtures() else [n] for n in self.envs)
        return list(dict.fromkeys(name for names in opened for name in names))

    @cached_property
    def scenarios(self) -> dict[str, list[Scenario]]:
        """By split; several environments take turns."""
        made = {}
        for split, n in (("train", self.n), ("validate", max(1, self.n // 4))):
            share = -(-n // len(self.envs))
            turns = zip(*(registry.scenarios(e, split, share, self.levels) for e in self.envs), strict=True)
            made[split] = [scenario for turn in turns for scenario in turn][:n]
        return made

    @cached_property
    def own(self) -> dict[str, Path]:
        """The files that the package does not bring, by their place in `ENVS`: environments, mixtures and their target.

        Raises:
            ConfigError: They are of several targets of the user's own, which one folder cannot hold.
        """
        cards = [entries[n] for n in dict.fromkeys([*self.envs, *self.parts])]
        files = {p.name: p for e in cards if e.card.parent != folders()[0] for p in (e.card, e.module) if p}
        homes = {c.target for c in map(registry.manifest, self.parts) if c.base_sha256}
        if len(homes) > 1:
            raise ConfigError(
                f"{', '.join(sorted(homes))} are targets of your own; export the environments of one at a time"
            )
        for home in map(targets.find, homes):
            files |= {place: home.path / place for place in _target_files(home, self.trajectories)}
        return files

    @cached_property
    def longest(self) -> int:
        """A bound of the tokens of an opening with the tools' schemas: a token has three characters or more."""
        openings = (registry.episode(s) for s in self.scenarios["validate"])
        return max(len(json.dumps([e.messages, e.tools])) for e in openings) // 3

    @cached_property
    def turns(self) -> int:
        """Most turns of an attempt."""
        return max(registry.load(name).max_turns for name in self.parts)


def _target_files(home: targets.TargetFolder, trajectories: bool) -> list[str]:
    """Return the files of a target that an export holds; an environment runs without the recorded episodes.

    Raises:
        ConfigError: One is missing.
    """
    module = home.base_module.relative_to(home.path)
    names = [targets.SETTINGS, targets.TOOLS, targets.POLICY, str(module), str(module.with_suffix(".json"))]
    names += [targets.TRAJECTORIES] if trajectories else []
    if missing := [name for name in names if not (home.path / name).is_file()]:
        fix = "export with --no-trajectories" if missing == [targets.TRAJECTORIES] else "see docs/targets.md"
        raise ConfigError(
            f"the target {home.name} is incomplete: found no file {home.path / missing[0]}. To fix it, {fix}"
        )
    return names


def _trl(export: Export, folder: Path) -> dict[str, Any]:
    return {"n": export.n, "levels": export.levels}


def _datasets(export: Export, folder: Path) -> dict[str, Any]:
    from trace_gym.adapters.datasets import write_folder

    return {"counts": write_folder(folder, export.scenarios, export.rollouts)}


def _skyrl(export: Export, folder: Path) -> dict[str, Any]:
    from trace_gym.adapters.skyrl import write_dataset

    for split, scenarios in export.scenarios.items():
        write_dataset(folder / f"{split}.parquet", scenarios)
    length = -(-export.longest // 1024) * 1024
    return {"gpus": 2, "max_turns": export.turns, "max_prompt_length": length}


def _openenv(export: Export, folder: Path) -> dict[str, Any]:
    if export.levels and len(export.levels) > 1:
        raise ConfigError(f"a server has one level or all; asked for levels {', '.join(map(str, export.levels))}")
    tools = dict.fromkeys(t["function"]["name"] for n in export.parts for t in interface_of(registry.load(n)).tools)
    return {"tools": list(tools), "level": export.levels[0] if export.levels else None, "split": "train"}


def _verifiers(export: Export, folder: Path) -> dict[str, Any]:
    if len(export.envs) > 1 or export.levels:
        raise ConfigError(
            f"a taskset is of one environment or mixture, at all levels; found {', '.join(export.envs)}; "
            "export one after the other, and choose levels with --env.taskset.levels"
        )
    return {"env": export.envs[0], "module": f"trace_{export.envs[0]}"}


LIBRARIES: dict[str, Callable[[Export, Path], dict[str, Any]]] = {
    "datasets": _datasets,
    "openenv": _openenv,
    "skyrl": _skyrl,
    "trl": _trl,
    "verifiers": _verifiers,
}
"""For each library what writes its data, and returns what its templates ask for besides the export."""


def export(
    to: str,
    envs: Sequence[str],
    out: Path,
    *,
    n: int = 256,
    levels: Sequence[int] | None = None,
    rollouts: Sequence[Trajectory] = (),
    trajectories: bool = True,
    force: bool = False,
) -> list[str]:
    """Write a folder for a library.

    Args:
        to: A key of `LIBRARIES`.
        envs: Names or gymnasium ids of environments and mixtures.
        out: The folder; it must not be there yet.
        n: Scenarios to train on, in all; a quarter as many are there for validation.
        levels: Levels that take turns; all by default.
        rollouts: Episodes that go along, for datasets.
        trajectories: Copy the recorded episodes of a target of the user's own, which may be private.
        force: Replace the folder of an earlier export.

    Returns:
        The files, by their place in the folder.

    Raises:
        ConfigError: There is no such library, nothing is named, or `out` is there already.
        EnvNotFound, DuplicateEnv, TamperedEnv, ScenarioError: An environment cannot be exported.
        MissingExtra: The library is needed to write its data, and not installed.
    """
    if to not in LIBRARIES:
        raise ConfigError(f"{to!r} is no library to export to; expected one of {', '.join(LIBRARIES)}")
    if not envs or n < 1:
        raise ConfigError("name at least one environment and one scenario; trace-gym list shows the environments")
    if rollouts and to != "datasets":
        raise ConfigError(f"rollouts go with --to datasets; {to} plays its own")
    job = Export(
        envs=tuple(dict.fromkeys(map(registry.name_of, envs))),
        n=n,
        levels=None if levels is None else tuple(levels),
        rollouts=tuple(rollouts),
        trajectories=trajectories,
    )
    hashes = {name: registry.manifest(name).module_sha256 for name in job.parts if registry.load(name)}
    with _folder(out, force) as folder:
        for place, source in job.own.items():
            (folder / ENVS / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / ENVS / place)
        values = _values(to, job, out) | LIBRARIES[to](job, folder)
        _fill(to, folder, values)
        mark = {"to": to, "envs": list(job.envs), "modules": hashes, "trace_gym": trace_gym.__version__}
        write(folder / MARK, json.dumps(mark, indent=1) + "\n")
        made = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
    return made


def _values(to: str, job: Export, out: Path) -> dict[str, Any]:
    """What the templates of every library may ask for."""
    version = trace_gym.__version__
    return {
        "name": re.sub(r"[^a-z0-9_-]+", "-", out.resolve().name.lower()).strip("-") or "trace-gym",
        "envs": list(job.envs),
        "folder": ENVS if job.own else "",
        "model": MODEL,
        "version": version,
        "trace_gym": f"=={version}",
        "requirement": f"trace-gym[{to}]=={version}",
    }


def _fill(library: str, folder: Path, values: dict[str, Any]) -> None:
    """Write the templates of a library."""
    jinja = jinja2.Environment(
        loader=jinja2.PackageLoader("trace_gym.templates", library),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # it writes Python, not HTML
    )
    for name in jinja.list_templates(extensions=["jinja"]):
        place = name.removesuffix(".jinja")
        place = f"{values['module']}.py" if place == "tasks.py" else place
        write(folder / place, jinja.get_template(name).render(values))


@contextmanager
def _folder(out: Path, force: bool) -> Iterator[Path]:
    """A folder that takes the place of `out` when the block is done, and is gone if it fails."""
    out = out.expanduser().absolute()
    ours = (out / MARK).is_file()
    if out.exists() and not (force and ours):
        mend = "name another, or add --force to replace it" if ours else "name one that is not there yet"
        raise ConfigError(f"{out} is there already{' from an earlier export' if ours else ''}; {mend}")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as beside:
        made = Path(beside) / "new"
        made.mkdir()
        yield made
        if out.exists():
            os.rename(out, Path(beside) / "old")
        os.rename(made, out)
