"""Recording of episodes on a live MCP server by seeded random exploration."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from trace_gym.errors import ConfigError, ReadError
from trace_gym.explore.goals import Made
from trace_gym.explore.plan import LOOKS, Explorer, known_since_write
from trace_gym.files import read_text, write
from trace_gym.nested import walk
from trace_gym.parsing import json_lines
from trace_gym.targets.user.folder import TargetSettings, ToolKind
from trace_gym.targets.user.mcp import SECONDS, Server, is_url, opened
from trace_gym.targets.user.replays import answers, refused
from trace_gym.targets.user.start import kind_of
from trace_gym.targets.user.tools import names_of, tools_in
from trace_gym.types import Call, Interface, Trajectory, sha256

OPENING = 3
"""Number of reads at the beginning of an episode, before the first write."""
TASK = "Explore the tools."
"""First message of a recorded episode."""


@dataclass(frozen=True)
class Recorder:
    """Settings for exploring the tools of a server.

    With the same server, settings and earlier episodes, the next episode is always the same.
    """

    place: str
    """Command that starts the server, or URL of the server."""
    seed: int = 0
    calls: int = 24
    """Number of calls in one episode."""
    reset: str = ""
    """Shell command that resets the records of the server before each episode."""
    kinds: Mapping[str, ToolKind] = field(default_factory=dict)
    """Mapping from tool to its kind, for tools whose name and annotations do not indicate the right kind."""
    skip: Sequence[str] = ()
    """Tools that are not called."""
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Mapping from parameter name to the values to try."""
    seconds: float = SECONDS
    """Time limit in seconds for the server to start and list its tools, and for each call."""
    purpose: str = "record"
    """Part of the seed for sampling calls. Different purposes give different calls."""

    @cached_property
    def interface(self) -> Interface:
        """The tools of the server that are explored, with their kinds.

        Raises:
            ConfigError: A setting refers to an unknown tool or parameter, or a server at a URL has no reset command.
            ReadError: The server does not start, or has no tools.
        """
        if is_url(self.place) and not self.reset:
            raise ConfigError(
                f"the server {self.place} is not restarted between episodes, so a command must restore its records. "
                "Pass --reset COMMAND, or pass --reset true if the records are restored at the start of each session"
            )
        self.prepare()
        with opened(self.place, self.seconds) as server:
            rows = server.tools()
        tools = tools_in(rows, self.place)
        names = names_of(tools)
        if unknown := sorted({*self.kinds, *self.skip} - {*names}):
            raise ConfigError(f"the server has no tool {unknown[0]!r}: expected one of {', '.join(names)}")
        guessed = {
            n: self.kinds.get(n) or kind_of(row, t["function"]) for n, row, t in zip(names, rows, tools, strict=True)
        }
        kept = [t for t in tools if t["function"]["name"] not in self.skip]
        if not kept:
            raise ConfigError("--skip excludes every tool of the server. Remove at least one tool from --skip")
        parameters = {name for tool in kept for name in _named_in(tool["function"]["parameters"])}
        if unused := sorted(self.values.keys() - parameters):
            raise ConfigError(
                f"--values contains {unused[0]!r}, which is not a parameter of the called tools: expected one of "
                f"{', '.join(sorted(parameters)) or 'none'}. Correct the name, or remove it"
            )
        kinds = {n: self.kinds.get(n, guessed[n]) for n in names_of(tuple(kept))}
        return Interface(name="recorded", policy="", tools=tuple(kept), kinds=kinds)

    @property
    def settings(self) -> str:
        """Text that identifies the settings that determine the calls, for the field ``source`` of recorded episodes."""
        said = [self.calls, self.interface.tools, self.interface.kinds, self.values]
        return (
            f"trace-gym target {self.purpose}, seed {self.seed}, settings {sha256(json.dumps(said, default=str))[:12]}"
        )

    def prepare(self) -> None:
        """Run the reset command.

        Raises:
            ConfigError: The command fails.
        """
        if not self.reset:
            return
        done = subprocess.run(self.reset, shell=True, capture_output=True, text=True, errors="replace")
        if done.returncode:
            lines = f"{done.stdout}{done.stderr}".strip().splitlines()
            why = f" ({lines[-1][:300]})" if lines else ""
            raise ConfigError(
                f"the reset command {self.reset!r} failed with the exit code {done.returncode}{why}. Correct the "
                "command"
            )


@dataclass(frozen=True)
class Recording:
    """Recorded episodes with the settings of the recording."""

    interface: Interface
    episodes: tuple[Trajectory, ...]
    settings: TargetSettings = field(default_factory=lambda: TargetSettings(name="recorded"))

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        return self.interface.tools

    @property
    def kinds(self) -> Mapping[str, str]:
        return self.interface.kinds


def record(
    recorder: Recorder, count: int, out: Path | None = None, tell: Callable[[str], None] = lambda line: None
) -> Recording:
    """Record episodes, and write each episode to a file when it is finished.

    Args:
        recorder: Settings of the exploration.
        count: Number of episodes in the file at the end, including the existing ones.
        out: JSONL file, one OpenAI conversation per line.
        tell: Function that is called with a log line about each episode.

    Raises:
        ConfigError: The file contains other data, or a setting is not valid for the server.
        ReadError: The server fails, or its state differs between the starts of two episodes.
        MissingExtra: The package mcp is not installed.
    """
    explorer = Explorer(recorder.interface, recorder.values)
    rows = _rows(out, recorder) if out is not None else []
    made = [_calls(row) for row in rows]
    for calls in made:
        explorer.learn(calls)
    if len(rows) >= count:
        tell(f"{out} holds {len(rows)} episodes already")
    for number in range(len(rows), count):
        recorder.prepare()
        with opened(recorder.place, recorder.seconds) as server:
            calls = _episode(server, explorer, recorder, number, made[0] if made else [])
        explorer.learn(calls)
        made.append(calls)
        rows.append(_row(recorder, number, calls))
        if out is not None:
            write(out, "".join(json.dumps(row) + "\n" for row in rows))
        kept = sum(not refused(told) for _, told in calls)
        tell(f"episode {number + 1} of {count}: {kept} calls were answered and {len(calls) - kept} refused")
    return Recording(recorder.interface, tuple(_trajectory(row) for row in rows))


def _episode(server: Server, explorer: Explorer, recorder: Recorder, number: int, first: Made) -> Made:
    """Record one episode: reads, followed by writes with the same reads before and after each write."""
    rng, made = Random(f"{recorder.purpose}/{recorder.seed}/{number}"), Made()

    def call(step: Call | None) -> None:
        if step is not None and len(made) < recorder.calls:
            made.append((step, server.call(step)))

    explorer.begin(rng)

    if first:
        _same_start(first[0], server, made)
    else:
        _find_anchor(server, explorer, rng, made)
    for _ in range(OPENING):
        call(explorer.choose(rng, LOOKS, made))
    while len(made) < recorder.calls:
        before = len(made)
        change = explorer.choose(rng, ("write",), made)
        looks = explorer.related(rng, change, made) if change else []
        for step in [*(s for s in looks if not known_since_write(s, made, recorder.interface.kinds)), change]:
            call(step)
        if change is not None and not refused(made[-1][1]):
            for step in looks:
                call(step)
        call(explorer.choose(rng, LOOKS, made))
        if len(made) == before:
            break
    return made


def _find_anchor(server: Server, explorer: Explorer, rng: Random, made: Made) -> None:
    """Start the first episode with a read whose result is reproducible. Later episodes start with the same read."""
    for tool in explorer.fewest_arguments(["read"]):
        if (step := explorer.draw(rng, tool, made)) is None:
            continue
        one, other = server.call(step), server.call(step)
        if one == other and not refused(one):
            made += [(step, one), (step, other)]
            return


def _same_start(anchor: tuple[Call, str], server: Server, made: Made) -> None:
    """Repeat the first call of the first episode, to check that the current episode starts in the same state.

    Raises:
        ReadError: The result is different.
    """
    step, expected = anchor
    told = server.call(step)
    if told != expected:
        asked = f"{step.tool} {json.dumps(step.arguments)}"
        raise ReadError(
            f"the server does not start each episode in the same state: the call {asked} returned {told[:200]}, but it "
            f"returned {expected[:200]} in the first episode. Pass --reset COMMAND to restore the records before each "
            "episode, and record into a new file"
        )
    made.append((step, told))


def _named_in(schema: Any) -> Iterator[str]:
    """Yield the names of the parameters in a JSON Schema, including the parameters of nested objects."""
    found = (node.value.get("properties") for node in walk(schema) if isinstance(node.value, dict))
    return (name for properties in found if isinstance(properties, dict) for name in properties)


def _row(recorder: Recorder, number: int, made: Made) -> dict[str, Any]:
    """Return an episode as a conversation in OpenAI's format."""
    return {
        "id": f"{recorder.purpose}-{recorder.seed}-{number}",
        "source": recorder.settings,
        "messages": [{"role": "user", "content": TASK}, *(m for n, step in enumerate(made) for m in _turn(n, *step))],
    }


def _turn(number: int, call: Call, told: str) -> Iterator[dict[str, Any]]:
    name = f"call_{number}"
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    yield {"role": "assistant", "content": None, "tool_calls": [{"id": name, "type": "function", "function": function}]}
    yield {"role": "tool", "tool_call_id": name, "name": call.tool, "content": told}


def _trajectory(row: dict[str, Any]) -> Trajectory:
    return Trajectory(id=row["id"], task=row["id"], messages=tuple(row["messages"]), source=row["source"])


def _calls(row: dict[str, Any]) -> Made:
    return answers(_trajectory(row))


def _rows(out: Path, recorder: Recorder) -> list[dict[str, Any]]:
    """Return the existing episodes in a file.

    Raises:
        ConfigError: The file contains other data, or episodes that were recorded with different settings.
    """
    if not out.exists():
        return []
    try:
        rows = [row for _, row in json_lines(read_text(out), str(out))]
        found = {str(row["source"]) for row in rows}
        names = [row["id"] for row in rows]
    except (ReadError, TypeError, KeyError) as error:
        raise ConfigError(
            f"{out} does not contain recorded episodes ({error}). Choose another file with --out"
        ) from None
    expected = [f"{recorder.purpose}-{recorder.seed}-{number}" for number in range(len(rows))]
    if found - {recorder.settings} or names != expected:
        other = min(found - {recorder.settings}, default="other episodes")
        raise ConfigError(
            f"{out} was recorded with different settings: found {other}, expected {recorder.settings}. Use the same "
            "settings to continue the file, or choose another file with --out"
        )
    return rows
