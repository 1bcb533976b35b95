"""Export of environments to a folder for another library: scripts, data, and a README with commands to run.

The folder is self-contained and includes the files of custom environments. The files are first written to a temporary
folder, which is then renamed, so that an interrupted export does not produce a partial folder.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2

import trace_gym
from trace_gym import registry
from trace_gym.episode import interface_of
from trace_gym.errors import ConfigError, expect_choice
from trace_gym.files import folder_replacement, write
from trace_gym.registration import entries, package_folders
from trace_gym.targets.user import folder as targets
from trace_gym.types import Scenario, Trajectory

MARK = "export.json"
"""Name of the file that describes the content of an exported folder. Folders without this file are never replaced."""
ENVS = "envs"
"""Subfolder for the files of custom environments."""
MODEL = "Qwen/Qwen3-4B-Instruct-2507"
"""Default model in the exported files."""


@dataclass(frozen=True)
class Export:
    """Settings of an export.

    Attributes:
        envs: Names of environments and mixtures.
        n: Number of training scenarios; the export also contains n / 4 validation scenarios.
        levels: Levels of the scenarios, interleaved; None for all levels.
        rollouts: Episodes to export with the scenarios, only for `datasets`.
        trajectories: Whether the recorded episodes of a custom target are copied.
    """

    envs: tuple[str, ...]
    n: int = 256
    levels: tuple[int, ...] | None = None
    rollouts: tuple[Trajectory, ...] = ()
    trajectories: bool = True

    @cached_property
    def parts(self) -> list[str]:
        """Environments to export, with each mixture replaced by its environments."""
        opened = (list(registry.mixture(n).mixture) if n in registry.list_mixtures() else [n] for n in self.envs)
        return list(dict.fromkeys(name for names in opened for name in names))

    @cached_property
    def scenarios(self) -> dict[str, list[Scenario]]:
        """Scenarios by split; multiple environments are interleaved."""
        made = {}
        for split, n in (("train", self.n), ("validate", max(1, self.n // 4))):
            share = -(-n // len(self.envs))
            turns = zip(*(registry.scenarios(e, split, share, self.levels) for e in self.envs), strict=True)
            made[split] = [scenario for turn in turns for scenario in turn][:n]
        return made

    @cached_property
    def own(self) -> dict[str, Path]:
        """Files of custom environments, mixtures and their target, by path relative to the folder `ENVS`.

        Raises:
            ConfigError: The environments belong to several custom targets; a folder can contain only one.
        """
        cards = [entries[n] for n in dict.fromkeys([*self.envs, *self.parts])]
        packaged = package_folders()  # not copied: users of the export must install registered target packages
        files = {p.name: p for e in cards if e.card.parent not in packaged for p in (e.card, e.module) if p}
        homes = {c.target for c in map(registry.manifest, self.parts) if c.base_sha256}
        if len(homes) > 1:
            raise ConfigError(
                f"the environments belong to more than one custom target: found {', '.join(sorted(homes))}. Export the "
                "environments of each target separately"
            )
        for home in map(targets.find, homes):
            files |= {place: home.path / place for place in _target_files(home, self.trajectories)}
        return files

    @cached_property
    def longest(self) -> int:
        """Upper bound on the number of tokens in an initial observation, assuming at least 3 characters per token."""
        openings = (registry.start_episode(s) for s in self.scenarios["validate"])
        return max(len(json.dumps([e.messages, e.tools])) for e in openings) // 3

    @cached_property
    def turns(self) -> int:
        """Maximum number of turns of an episode."""
        return max(registry.load_world(name).max_turns for name in self.parts)


def _target_files(home: targets.TargetFolder, trajectories: bool) -> list[str]:
    """Return the files of a custom target to export. Recorded episodes are optional and not required by environments.

    Raises:
        ConfigError: A file is missing.
    """
    module = home.base_module.relative_to(home.path)
    names = [targets.SETTINGS, targets.TOOLS, targets.POLICY, str(module), str(module.with_suffix(".json"))]
    names += [targets.TRAJECTORIES] if trajectories else []
    if missing := [name for name in names if not (home.path / name).is_file()]:
        fix = "export with --no-trajectories" if missing == [targets.TRAJECTORIES] else "see docs/guides/targets.md"
        raise ConfigError(
            f"the target {home.name} is incomplete: the file {home.path / missing[0]} does not exist. To fix this, "
            f"{fix}"
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
        raise ConfigError(
            "an OpenEnv server uses either one level or all levels: found the levels "
            f"{', '.join(map(str, export.levels))}. Pass a single level, or omit the option to use all levels"
        )
    tools = dict.fromkeys(
        t["function"]["name"] for n in export.parts for t in interface_of(registry.load_world(n)).tools
    )
    return {"tools": list(tools), "level": export.levels[0] if export.levels else None, "split": "train"}


def _verifiers(export: Export, folder: Path) -> dict[str, Any]:
    if len(export.envs) > 1 or export.levels:
        raise ConfigError(
            "an export for verifiers must contain one environment or mixture with all its levels: found "
            f"{', '.join(export.envs)}{' with selected levels' if export.levels else ''}. Export each environment "
            "separately, and select levels later with --env.taskset.levels"
        )
    return {"env": export.envs[0], "module": f"trace_{export.envs[0]}"}


LIBRARIES: dict[str, Callable[[Export, Path], dict[str, Any]]] = {
    "datasets": _datasets,
    "openenv": _openenv,
    "skyrl": _skyrl,
    "trl": _trl,
    "verifiers": _verifiers,
}
"""For each library, the function that writes its data files and returns additional template variables."""


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
    """Write a folder with environments for another library.

    Args:
        to: Name of the library, a key of `LIBRARIES`.
        envs: Names or gymnasium ids of environments and mixtures.
        out: Output folder; it must not exist, unless `force` is set.
        n: Number of training scenarios in total; n / 4 validation scenarios are added.
        levels: Levels of the scenarios, interleaved; None for all levels.
        rollouts: Episodes to export with the scenarios, only for `datasets`.
        trajectories: Copy the recorded episodes of a custom target, which may be private.
        force: Replace the folder of an earlier export.

    Returns:
        Paths of the written files, relative to the folder.

    Raises:
        ConfigError: The library is unknown, no environment or scenario is selected, or `out` exists.
        EnvNotFound, DuplicateEnv, TamperedEnv, ScenarioError: An environment cannot be exported.
        MissingExtra: A library that is required to write the data is not installed.
    """
    expect_choice("library", to, LIBRARIES)
    if not envs or n < 1:
        raise ConfigError(
            f"nothing to export: found {len(envs)} environments and {n} problems per environment, expected at least 1 "
            "environment and at least 1 problem. Run trace-gym list to see the environments"
        )
    if rollouts and to != "datasets":
        raise ConfigError(
            f"rollouts can be exported only to 'datasets', not to {to!r}. Omit the rollouts, or use --to datasets"
        )
    job = Export(
        envs=tuple(dict.fromkeys(map(registry.name_of, envs))),
        n=n,
        levels=None if levels is None else tuple(levels),
        rollouts=tuple(rollouts),
        trajectories=trajectories,
    )
    hashes = {name: registry.manifest(name).module_sha256 for name in job.parts if registry.load_world(name)}
    _require_replaceable(out := out.expanduser().absolute(), force)
    with folder_replacement(out) as folder:
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
    """Return the template variables that all libraries share."""
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
    """Render the templates of a library into the folder."""
    jinja = jinja2.Environment(
        loader=jinja2.PackageLoader("trace_gym.templates", library),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the templates produce Python and Markdown, not HTML
    )
    for name in jinja.list_templates(extensions=["jinja"]):
        place = name.removesuffix(".jinja")
        place = f"{values['module']}.py" if place == "tasks.py" else place
        write(folder / place, jinja.get_template(name).render(values))


def _require_replaceable(out: Path, force: bool) -> None:
    """Check that `out` does not exist, or contains an earlier export that may be replaced.

    Raises:
        ConfigError: The folder must not be replaced.
    """
    ours = (out / MARK).is_file()
    if out.exists() and not (force and ours):
        fix = "Choose another folder, or add --force to replace it" if ours else "Choose a folder that does not exist"
        raise ConfigError(f"{out} already exists{' and contains an earlier export' if ours else ''}. {fix}")
