"""Access to the folder of a custom target: its files, and a search for targets by name.

The folder contains ``target.yaml``, ``tools.json``, ``policy.md`` and ``trajectories.jsonl``. Targets are found by name
in the folders that `trace_gym.registration` searches for environments.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from trace_gym.errors import ConfigError, DuplicateEnv, ReadError
from trace_gym.parsing import parse_yaml
from trace_gym.registration import VARIABLE, folders
from trace_gym.targets.base import Roles
from trace_gym.targets.jsonl import numbered, trajectory_lines
from trace_gym.targets.user.formats import Format
from trace_gym.targets.user.tools import names_of, read_tools, text_of
from trace_gym.types import Interface, Record, Trajectory, sha256

SETTINGS, TOOLS, POLICY, TRAJECTORIES = "target.yaml", "tools.json", "policy.md", "trajectories.jsonl"
CONVENTIONS = "In each turn either write to the user or make one tool call, never both."
GUESSED = "?"
"""Suffix of a tool's kind that was guessed and not yet confirmed, as in ``write?``."""
ANY = "*"
"""Value in `TargetSettings.not_compared` that excludes the complete result of a tool from comparison."""

ToolKind = Literal["read", "write", "generic"]


class TargetSettings(Record):
    """Content of ``target.yaml``."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    prefix: str = Field("", pattern=r"^([a-z][a-z0-9_]*)?$")
    """Prefix of the ids of the target's environments. The default is the name of the target."""
    conventions: str = CONVENTIONS
    calls_per_turn: int = Field(1, ge=1)
    text_with_call: bool = False
    results: Format = "json"
    """JSON format of the data that tools return; strings are shown unchanged."""
    kinds: dict[str, str] = Field(default_factory=dict)
    """Mapping from tool to ``read``, ``write`` or ``generic``. A guessed kind has the suffix `GUESSED`."""
    not_compared: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Mapping from tool to the fields of its results that a replay cannot reproduce, such as random ids. `ANY` stands
    for the complete result."""
    entities: tuple[str, ...] = ()
    """Arguments of write tools that name the record on which the tool acts, in order of priority."""
    selectors: tuple[str, ...] = ()
    """Arguments of write tools that select records from the results of other tools."""
    creates: tuple[str, ...] = ()
    """Write tools that add a record with each call."""
    routine: tuple[str, ...] = ()
    """Write tools that the policy always allows."""
    settings: tuple[str, ...] = ()
    """Write tools that change settings on which other tools depend."""
    times: tuple[str, ...] = ()
    """Arguments of write tools that contain a date or a time, which the agent computes."""
    lookups: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Mapping from read tool to the write tools that need its result."""
    endings: tuple[str, ...] = ()
    """Tools with which the agent ends the conversation."""
    restricted: bool = True
    """Whether the policy forbids writes under some conditions."""
    benchmark: str = ""
    """Name of the benchmark, if the target is one of its domains."""
    domain: str = ""
    """Name of the domain of the benchmark."""
    capabilities: dict[str, str] = Field(default_factory=dict)
    """Mapping from capability to its description for the router and the reports."""
    example: str = ""
    """Name of an environment that authors get as an example. The default is the example of the default target."""

    @model_validator(mode="after")
    def _benchmark_has_a_domain(self) -> Self:
        if bool(self.benchmark) != bool(self.domain):
            raise ValueError(
                "benchmark and domain must be given together, but only one of them was given. Add the other one"
            )
        return self


@dataclass(frozen=True)
class TargetFolder:
    """Custom target in a folder. Files are read on first access, so errors in a file are raised only then."""

    path: Path
    settings: TargetSettings

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def prefix(self) -> str:
        return self.settings.prefix or self.name

    @property
    def base_module(self) -> Path:
        """Path of the base world's module. Its manifest is in the same folder."""
        return self.path / "base" / f"{self.name}_base.py"

    @property
    def base_class(self) -> str:
        return "".join(word.capitalize() for word in (*self.name.split("_"), "base"))

    @cached_property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The tools in the format of OpenAI functions.

        Raises:
            ReadError: ``tools.json`` cannot be read.
        """
        return read_tools(self.path / TOOLS)

    @cached_property
    def policy(self) -> str:
        """The policy text.

        Raises:
            ReadError: ``policy.md`` cannot be read.
        """
        return text_of(self.path / POLICY).strip()

    @cached_property
    def kinds(self) -> dict[str, ToolKind]:
        """The kind of each tool. A tool without a valid kind in the settings counts as a write tool."""
        told = {tool: kind.rstrip(GUESSED) for tool, kind in self.settings.kinds.items()}
        return {n: told[n] if told.get(n) in ("read", "generic") else "write" for n in names_of(self.tools)}  # type: ignore[misc]  # narrowed by `in`

    @property
    def roles(self) -> Roles | None:
        """Roles of the write tools and their arguments; None if the settings declare none."""
        said = self.settings
        roles = Roles(
            said.entities,
            frozenset(said.selectors),
            frozenset(said.creates),
            frozenset(said.routine),
            frozenset(said.settings),
            frozenset(said.times),
            said.restricted,
            lookups=tuple((frozenset(writes), frozenset({read})) for read, writes in said.lookups.items()),
            endings=frozenset(said.endings),
        )
        return None if roles == Roles() else roles

    @cached_property
    def interface(self) -> Interface:
        """The policy, tools and conventions that an agent sees."""
        said = self.settings
        return Interface(
            name=said.name,
            policy=self.policy,
            tools=self.tools,
            kinds=self.kinds,
            conventions=said.conventions,
            calls_per_turn=said.calls_per_turn,
            text_with_call=said.text_with_call,
        )

    @cached_property
    def episodes(self) -> tuple[Trajectory, ...]:
        """The recorded episodes, with the kind of each tool.

        Raises:
            ReadError: ``trajectories.jsonl`` cannot be read.
        """
        path, kinds = self.path / TRAJECTORIES, dict(self.kinds)
        fix = (
            "Put the episodes elsewhere, and make the target anew in another folder: "
            "trace-gym target init --trajectories, which reads other forms too"
        )
        found = trajectory_lines(numbered(text_of(path)), str(path), fix)
        return tuple(read.model_copy(update={"tools": kinds}) for _, read in found)

    @cached_property
    def tools_sha256(self) -> str:
        """Hash of the tools and of the settings that a base world must implement."""
        said = self.settings
        fixed: list[Any] = [self.tools, self.kinds, said.calls_per_turn, said.text_with_call]
        fixed += [said.results] if said.results != "json" else []
        return sha256(json.dumps(fixed, sort_keys=True))

    @cached_property
    def trajectories_sha256(self) -> str:
        """Hash of the episodes and of the settings for comparing a base world with the episodes."""
        return sha256(text_of(self.path / TRAJECTORIES) + json.dumps(self.settings.not_compared, sort_keys=True))

    def files(self, base: bool = True) -> dict[str, str]:
        """Return the text of all files of the target by relative path, optionally including those of the base world.

        Raises:
            ReadError: A file cannot be read.
        """
        names = [SETTINGS, TOOLS, POLICY, TRAJECTORIES]
        module = self.base_module.relative_to(self.path)
        names += [str(module), str(module.with_suffix(".json"))] if base else []
        return {name: text_of(self.path / name) for name in names}


def read(path: Path) -> TargetFolder:
    """Return the target in a folder.

    Raises:
        ReadError: The folder does not contain a readable ``target.yaml``.
    """
    place = path.expanduser().resolve() / SETTINGS
    if not place.is_file():
        raise ReadError(
            f"{place.parent} is not a target folder, because it contains no {SETTINGS}. To create a target, run "
            f"trace-gym target init {path} --tools tools.json --policy policy.md --trajectories episodes.jsonl"
        )
    return _read(place.parent, _stamp(place.parent))


def find(name: str) -> TargetFolder:
    """Return the custom target with this name from the searched folders.

    Raises:
        ConfigError: There is no such target.
        DuplicateEnv: Several folders contain a target with this name.
        ReadError: The target cannot be read.
    """
    found = [f for f in folders() if (f / SETTINGS).is_file() and _name(f, _stamp(f)) == name]
    if not found:
        raise ConfigError(
            f"no target {name!r} is registered. Add its folder, which contains {SETTINGS}, to the environment variable "
            f"{VARIABLE}, or create the target: trace-gym target init {name}"
        )
    if len(found) > 1:
        raise DuplicateEnv(f"several folders claim to be the target {name!r}: {', '.join(map(str, found))}")
    return read(found[0])


def _stamp(folder: Path) -> tuple[tuple[int, int], ...]:
    """Return the modification times and sizes of the files, as a cache key."""
    places = [folder / name for name in (SETTINGS, TOOLS, POLICY, TRAJECTORIES)]
    stats = [p.stat() for p in places if p.is_file()]
    return tuple((s.st_mtime_ns, s.st_size) for s in stats)


@lru_cache(maxsize=16)
def _read(folder: Path, stamp: tuple[tuple[int, int], ...]) -> TargetFolder:
    place = folder / SETTINGS
    fix = f"correct {place}; docs/guides/targets.md shows one"
    try:
        return TargetFolder(
            folder, TargetSettings.model_validate(parse_yaml(text_of(place), str(place), fix.capitalize()))
        )
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}" for e in error.errors()[:3])
        raise ReadError(f"{place} is not valid: {told}; {fix}") from None


@lru_cache(maxsize=64)
def _name(folder: Path, stamp: tuple[tuple[int, int], ...]) -> str:
    """Return the name in ``target.yaml``, or `""` if there is none. The other settings in the file are not checked."""
    try:
        said = parse_yaml(text_of(folder / SETTINGS), SETTINGS)
    except ReadError:
        return ""
    return str(said.get("name", "")) if isinstance(said, dict) else ""
