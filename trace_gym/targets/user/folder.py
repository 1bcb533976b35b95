"""The folder of a target: what stands in its files, and where it is found by name.

A target is a folder with ``target.yaml``, ``tools.json``, ``policy.md`` and ``trajectories.jsonl``. It is found where
environments are: among the folders that `trace_gym.registration` searches.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from trace_gym.errors import ConfigError, DuplicateEnv, ReadError
from trace_gym.files import read_text
from trace_gym.parsing import json_lines, parse_json, parse_yaml
from trace_gym.registration import VARIABLE, folders
from trace_gym.targets.user.formats import Format
from trace_gym.types import Interface, Record, Trajectory, sha256

SETTINGS, TOOLS, POLICY, TRAJECTORIES = "target.yaml", "tools.json", "policy.md", "trajectories.jsonl"
CONVENTIONS = "In each turn either write to the user or make one tool call, never both."
GUESSED = "?"
"""Stands behind a kind that nobody has confirmed yet."""
ANY = "*"
"""Stands for the whole answer of a tool in `Settings.not_compared`."""

Kind = Literal["read", "write", "generic"]


class Settings(Record):
    """What ``target.yaml`` says."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    prefix: str = Field("", pattern=r"^([a-z][a-z0-9_]*)?$")
    """What the ids of its environments begin with; the name by default."""
    conventions: str = CONVENTIONS
    calls_per_turn: int = Field(1, ge=1)
    text_with_call: bool = False
    results: Format = "json"
    """JSON format of the data that tools return; strings are shown unchanged."""
    kinds: dict[str, str] = Field(default_factory=dict)
    """``read``, ``write`` or ``generic`` for each tool; with a question mark where it was guessed."""
    not_compared: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tool -> fields of its answers that no replay can repeat, such as an id that the target draws; `ANY` for all."""


@dataclass(frozen=True)
class TargetFolder:
    """A target of the user's own. What is not there, or cannot be read, is told when it is asked for."""

    path: Path
    settings: Settings

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def prefix(self) -> str:
        return self.settings.prefix or self.name

    @property
    def base_module(self) -> Path:
        """Where the module of the base world lies; its manifest lies beside it."""
        return self.path / "base" / f"{self.name}_base.py"

    @property
    def base_class(self) -> str:
        return "".join(word.capitalize() for word in (*self.name.split("_"), "base"))

    @cached_property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The tools as OpenAI functions.

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
    def kinds(self) -> dict[str, Kind]:
        """The kind of each tool; one that is not named, or not as a kind, is taken to write."""
        told = {tool: kind.rstrip(GUESSED) for tool, kind in self.settings.kinds.items()}
        return {n: told[n] if told.get(n) in ("read", "generic") else "write" for n in names_of(self.tools)}  # type: ignore[misc]  # narrowed by `in`

    @cached_property
    def interface(self) -> Interface:
        """What an agent sees of the target."""
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
        """The recorded episodes, with the kinds of the tools.

        Raises:
            ReadError: ``trajectories.jsonl`` cannot be read.
        """
        path, kinds = self.path / TRAJECTORIES, dict(self.kinds)
        found = []
        for number, row in json_lines(text_of(path), str(path)):
            try:
                found.append(Trajectory.model_validate(row).model_copy(update={"tools": kinds}))
            except ValidationError as error:
                raise ReadError(
                    f"{path}, line {number} is no trajectory ({error.errors()[0]['msg']}); put the episodes elsewhere, "
                    "and make the target anew in another folder: trace-gym target init --trajectories, which reads "
                    "other forms too"
                ) from None
        return tuple(found)

    @cached_property
    def tools_sha256(self) -> str:
        """Hash of what the tools of a base world have to be."""
        said = self.settings
        fixed: list[Any] = [self.tools, self.kinds, said.calls_per_turn, said.text_with_call]
        fixed += [said.results] if said.results != "json" else []
        return sha256(json.dumps(fixed, sort_keys=True))

    @cached_property
    def trajectories_sha256(self) -> str:
        """Hash of what a base world is compared with."""
        return sha256(text_of(self.path / TRAJECTORIES) + json.dumps(self.settings.not_compared, sort_keys=True))

    def files(self, base: bool = True) -> dict[str, str]:
        """The text of all its files by their place in the folder, with those of the base world where these are wanted.

        Raises:
            ReadError: One of them cannot be read.
        """
        names = [SETTINGS, TOOLS, POLICY, TRAJECTORIES]
        module = self.base_module.relative_to(self.path)
        names += [str(module), str(module.with_suffix(".json"))] if base else []
        return {name: text_of(self.path / name) for name in names}


def read(path: Path) -> TargetFolder:
    """The target in a folder.

    Raises:
        ReadError: The folder holds no readable ``target.yaml``.
    """
    place = path.expanduser().resolve() / SETTINGS
    if not place.is_file():
        raise ReadError(
            f"{place.parent} is no target, as it has no {SETTINGS}; make one: "
            f"trace-gym target init {path} --tools tools.json --policy policy.md --trajectories episodes.jsonl"
        )
    return _read(place.parent, _stamp(place.parent))


def find(name: str) -> TargetFolder:
    """The target of this name, in one of the searched folders.

    Raises:
        ConfigError: There is none.
        DuplicateEnv: There are several.
        ReadError: It cannot be read.
    """
    found = [f for f in folders() if (f / SETTINGS).is_file() and _name(f, _stamp(f)) == name]
    if not found:
        raise ConfigError(
            f"there is no target {name!r} in the searched folders; name its folder, the one with {SETTINGS}, in "
            f"{VARIABLE}, or make one: trace-gym target init {name}"
        )
    if len(found) > 1:
        raise DuplicateEnv(f"several folders claim to be the target {name!r}: {', '.join(map(str, found))}")
    return read(found[0])


def text_of(path: Path) -> str:
    """The text of a file.

    Raises:
        ReadError: It cannot be read.
    """
    return read_text(path, "Put it there, or make the target anew: trace-gym target init")


def read_tools(path: Path) -> tuple[dict[str, Any], ...]:
    """The tools of a JSON file, as OpenAI functions.

    Raises:
        ReadError: It is no list of tools.
    """
    return tools_in(json_of(path), str(path))


def json_of(path: Path) -> Any:
    """What a JSON file with tools holds.

    Raises:
        ReadError: It cannot be read, or is no JSON.
    """
    return parse_json(text_of(path), str(path), "Expected a list of OpenAI function tools")


def tools_in(data: Any, where: str) -> tuple[dict[str, Any], ...]:
    """The tools in a list, or under ``tools``: with or without ``function`` around them, or as MCP lists them.

    Raises:
        ReadError: It is no list of tools.
    """
    rows = data.get("tools") if isinstance(data, dict) else data
    form = 'expected [{"type": "function", "function": {"name": ..., "description": ..., "parameters": {...}}}, ...]'
    if not isinstance(rows, list) or not rows:
        raise ReadError(f"{where} holds no list of tools; {form}")
    made = []
    for number, row in enumerate(rows, 1):
        said = row.get("function", row) if isinstance(row, dict) else None
        if not isinstance(said, dict) or not isinstance(said.get("name"), str):
            raise ReadError(f"{where}: tool {number} has no name; {form}")
        schema = said.get("parameters") or said.get("inputSchema") or {}
        if not isinstance(schema, dict):
            raise ReadError(f"{where}: the parameters of {said['name']} are no JSON Schema; {form}")
        schema = {"type": "object", "properties": {}, **schema}
        about = {"name": said["name"], "description": str(said.get("description") or ""), "parameters": schema}
        made.append({"type": "function", "function": about})
    return tuple(made)


def names_of(tools: tuple[dict[str, Any], ...]) -> list[str]:
    """The names of tools, in their order."""
    return [tool["function"]["name"] for tool in tools]


def _stamp(folder: Path) -> tuple[tuple[int, int], ...]:
    """What changes when one of the files does."""
    places = [folder / name for name in (SETTINGS, TOOLS, POLICY, TRAJECTORIES)]
    stats = [p.stat() for p in places if p.is_file()]
    return tuple((s.st_mtime_ns, s.st_size) for s in stats)


@lru_cache(maxsize=16)
def _read(folder: Path, stamp: tuple[tuple[int, int], ...]) -> TargetFolder:
    place = folder / SETTINGS
    mend = f"correct {place}; docs/targets.md shows one"
    try:
        return TargetFolder(folder, Settings.model_validate(parse_yaml(text_of(place), str(place), mend.capitalize())))
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'it'}: {e['msg']}" for e in error.errors()[:3])
        raise ReadError(f"{place}: {told}; {mend}") from None


@lru_cache(maxsize=64)
def _name(folder: Path, stamp: tuple[tuple[int, int], ...]) -> str:
    """The name in a ``target.yaml`` that may be broken otherwise; empty where it has none."""
    try:
        said = parse_yaml(text_of(folder / SETTINGS), SETTINGS)
    except ReadError:
        return ""
    return str(said.get("name", "")) if isinstance(said, dict) else ""
