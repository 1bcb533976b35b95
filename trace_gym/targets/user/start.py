"""Begin a target of the user's own: from tools, a policy and trajectories to a folder that says what was understood."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trace_gym.errors import ConfigError, ReadError
from trace_gym.files import working_in, write
from trace_gym.targets.catalogue import TARGETS
from trace_gym.targets.user import mcp
from trace_gym.targets.user.folder import (
    GUESSED,
    POLICY,
    SETTINGS,
    TOOLS,
    TRAJECTORIES,
    Kind,
    TargetFolder,
    json_of,
    read,
    text_of,
    tools_in,
)
from trace_gym.targets.user.formats import FORMATS, format_of
from trace_gym.targets.user.logs import read_logs
from trace_gym.targets.user.replays import answers
from trace_gym.types import Trajectory, to_jsonl

_READS = re.compile(
    r"(get|list|search|find|read|show|look|lookup|check|fetch|query|view|count|describe|status|track|retrieve|is|has)"
)
_CHANGES = re.compile(r"(add|book|cancel|change|create|delete|make|modify|pay|put|remove|send|set|update|write)")
_COMPUTES = re.compile(r"(calculate|compute|think|convert|transfer|escalate|handoff|help|now|time)")

_FORM = """\
# What trace-gym knows of this target besides {tools}, {policy} and {trajectories}.
name: {name}

# What the ids of its environments begin with.
prefix: {name}

# How a turn looks; it stands before the policy in the system prompt. What follows was read off the trajectories.
conventions: {conventions}
calls_per_turn: {calls}
text_with_call: {both}

# How data that a tool returns is laid out: {formats}. Strings are shown unchanged.
results: {results}

# What each tool does: read (changes nothing), write (changes records), generic (touches no record, such as a
# calculator or a hand-over). A question mark says that it was guessed from the name: look at it, and delete the mark.
kinds:
{kinds}

# Fields of answers that no replay can repeat, such as ids that the target draws at random:
#   create_order: [order_id, created_at]
# With ["*"] nothing of a tool's answers is compared, and nothing is known of how true its copy is.
not_compared: {{}}
"""


def init(
    path: Path,
    *,
    tools: Path | None,
    policy: Path,
    trajectories: Sequence[Path],
    name: str = "",
    command: str = "",
    calls_per_turn: int = 0,
) -> TargetFolder:
    """Make the folder of a target.

    Args:
        path: The folder; made when it is missing.
        tools: JSON file with the tools, unless a server is asked.
        policy: Text file.
        trajectories: Files that `read_logs` reads.
        name: Of the target; after the folder by default.
        command: What starts an MCP server that lists the tools, or its URL.
        calls_per_turn: How many tools an agent may call in one turn; 0 for as many as a recorded turn calls.

    Raises:
        ConfigError: The folder holds a target already, the name is none, tools are named twice or not at all, or a
            recorded turn calls more tools than `calls_per_turn`.
        ReadError: A file cannot be read, or the server does not answer.
        MissingExtra: A server is asked, and the package mcp is not installed.
    """
    place = path.expanduser().resolve()
    if place.exists() and not place.is_dir():
        raise ConfigError(f"{place} is a file; name a folder, which is made when it is missing")
    if (place / SETTINGS).exists():
        raise ConfigError(f"{place} is a target already; edit its files, or choose another folder")
    called = name or re.sub(r"\W+", "_", place.name.lower()).strip("_")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", called):
        raise ConfigError(f"{called!r} is no name for a target; expected letters, digits and underscores: --name NAME")
    if called in TARGETS:
        raise ConfigError(f"{called} is a target that ships; choose another name: --name NAME")
    if (tools is None) == (not command):
        raise ConfigError("name the tools, either as a file, --tools tools.json, or by a server, --mcp COMMAND")
    rows = mcp.listed(command) if tools is None else json_of(tools)
    known = tools_in(rows, command or str(tools))
    text = text_of(policy)
    if not text.strip() or "\0" in text:
        raise ReadError(f"{policy} holds no text: expected the rules that the agent has to obey")
    episodes = [t for source in trajectories for t in read_logs(source)]
    if not episodes:
        raise ConfigError("name at least one file of trajectories: --trajectories episodes.jsonl")
    settings = _settings(called, rows, known, episodes, calls_per_turn)
    with working_in(place):
        if (place / SETTINGS).exists():
            raise ConfigError(f"{place} is a target already; edit its files, or choose another folder")
        write(place / TOOLS, json.dumps(known, indent=1, ensure_ascii=False) + "\n")
        write(place / POLICY, text)
        write(place / TRAJECTORIES, to_jsonl(_apart(episodes)))
        write(place / SETTINGS, settings)  # last, as it makes the folder a target
    return read(place)


def guess(tool: dict[str, Any]) -> Kind:
    """The kind of a tool by its name and description; what looks like nothing in particular is taken to write."""
    words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", tool["name"]).lower())
    told = re.match(r"\W*(\w+?)s?\b", tool["description"].lower())
    first, verb = words[0] if words else "", told[1] if told else ""
    if any(map(_COMPUTES.fullmatch, (*words, verb))):
        return "generic"
    changes = _CHANGES.fullmatch(first)
    return "read" if _READS.fullmatch(first) or (_READS.fullmatch(verb) and not changes) else "write"


def _settings(
    name: str, rows: Any, tools: Sequence[dict[str, Any]], episodes: Sequence[Trajectory], calls_per_turn: int
) -> str:
    turns = [m for e in episodes for m in e.messages if m["role"] == "assistant" and m.get("tool_calls")]
    most, both = max((len(m["tool_calls"]) for m in turns), default=1), any(m.get("content") for m in turns)
    calls = calls_per_turn or most
    if calls < most:
        raise ConfigError(
            f"--calls-per-turn is too small: found {calls}, expected at least {most}, as a recorded turn calls {most} "
            "tools. Raise it, or leave that episode out"
        )
    said = "make one tool call" if calls == 1 else f"make up to {calls} tool calls"
    never = "; you may do both" if both else ", never both"
    listed = rows.get("tools", []) if isinstance(rows, dict) else rows
    kinds = [f"  {t['function']['name']}: {_kind(row, t['function'])}" for row, t in zip(listed, tools, strict=True)]
    return _FORM.format(
        name=name,
        conventions=json.dumps(f"In each turn either write to the user or {said}{never}."),
        calls=calls,
        both=str(both).lower(),
        formats=", ".join(FORMATS),
        results=format_of(told for e in episodes for _, told in answers(e)),
        kinds="\n".join(kinds),
        tools=TOOLS,
        policy=POLICY,
        trajectories=TRAJECTORIES,
    )


def kind_of(row: Any, tool: dict[str, Any]) -> Kind:
    """Return the kind of a tool: what its server says, or else a guess."""
    return "read" if _says_read(row) else guess(tool)


def _kind(row: Any, tool: dict[str, Any]) -> str:
    """What a server says of a tool itself is no guess."""
    return kind_of(row, tool) + ("" if _says_read(row) else GUESSED)


def _says_read(row: Any) -> bool:
    told = row.get("annotations") if isinstance(row, dict) else None
    return isinstance(told, dict) and told.get("readOnlyHint") is True


def _apart(episodes: Sequence[Trajectory]) -> list[Trajectory]:
    """Episodes of several files, whose ids may be alike; one that is named twice is kept once."""
    count: dict[str, int] = {}
    made: list[Trajectory] = []
    for episode in {e.model_dump_json(): e for e in episodes}.values():
        count[episode.id] = number = count.get(episode.id, 0) + 1
        made.append(episode if number == 1 else episode.model_copy(update={"id": f"{episode.id}#{number}"}))
    return made
