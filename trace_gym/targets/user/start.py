"""Creation of a custom target folder from tools, a policy and trajectories."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trace_gym.errors import ConfigError, ReadError
from trace_gym.files import write
from trace_gym.locks import working_in
from trace_gym.targets.catalogue import registered
from trace_gym.targets.user import mcp
from trace_gym.targets.user.folder import GUESSED, POLICY, SETTINGS, TOOLS, TRAJECTORIES, TargetFolder, ToolKind, read
from trace_gym.targets.user.formats import FORMATS, format_of
from trace_gym.targets.user.logs import read_logs
from trace_gym.targets.user.replays import answers
from trace_gym.targets.user.tools import json_of, text_of, tools_in
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
# calculator or a transfer). A question mark means that it was guessed from the name: look at it, and delete the mark.
kinds:
{kinds}

# Fields of answers that no replay can repeat, such as ids that the target draws at random:
#   create_order: [order_id, created_at]
# With ["*"] nothing of a tool's answers is compared, and nothing is known of how true its copy is.
not_compared: {{}}

# Optional settings, described in docs/guides/targets.md. The first nine improve the labels of trace-gym diagnose.
# entities: [order_id]         # arguments that name the record on which a write tool acts
# selectors: [item_ids]        # arguments that select records from the results of other tools
# creates: [create_order]      # write tools that add a record with each call
# routine: [update_address]    # write tools that the policy allows without a condition
# settings: [set_wifi]         # write tools that change settings on which other tools depend
# times: [due_at]              # arguments that contain a date or a time, which the agent computes
# lookups: {{get_order: [cancel_order]}}  # read tool: write tools that need its result
# endings: [transfer_to_human] # tools with which the agent ends the conversation
# restricted: false            # if the policy forbids no write
# benchmark: my_benchmark      # a domain is found by trace_gym.domains.in_domain
# domain: orders
# capabilities: {{}}           # capability: description, for the router and the reports
# example: my_environment      # an environment that authors get as an example
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
    """Create the folder of a custom target.

    Args:
        path: The folder. It is created if it does not exist.
        tools: JSON file with the tools, or None if an MCP server lists the tools.
        policy: Text file with the rules that the agent must follow.
        trajectories: Files with recorded episodes in a format that `read_logs` reads.
        name: Name of the target; derived from the name of the folder by default.
        command: Command that starts an MCP server, or the URL of the server.
        calls_per_turn: Maximum number of tool calls in one turn of the agent. 0 uses the maximum in the recorded
            episodes.

    Raises:
        ConfigError: The folder already contains a target, the name is not valid, not exactly one of `tools` and
            `command` is given, or a recorded turn has more tool calls than `calls_per_turn`.
        ReadError: A file cannot be read, or the server does not respond.
        MissingExtra: An MCP server is used, and the package mcp is not installed.
    """
    place = path.expanduser().resolve()
    if place.exists() and not place.is_dir():
        raise ConfigError(f"{place} is a file, but a target is a folder. Pass a new or empty folder")
    if (place / SETTINGS).exists():
        raise ConfigError(f"{place} already contains a target. Edit its files, or choose another folder")
    called = name or re.sub(r"\W+", "_", place.name.lower()).strip("_")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", called):
        raise ConfigError(
            f"{called!r} is not a valid name for a target: expected lower-case letters, digits and _. Choose a name "
            "with --name"
        )
    if called in registered():
        raise ConfigError(f"a target with the name {called} is already registered. Choose another name with --name")
    if (tools is None) == (not command):
        raise ConfigError(
            "expected either a file with tools or an MCP server. Pass --tools tools.json or --mcp COMMAND, but not both"
        )
    rows = mcp.listed(command) if tools is None else json_of(tools)
    known = tools_in(rows, command or str(tools))
    text = text_of(policy)
    if not text.strip() or "\0" in text:
        raise ReadError(
            f"the policy file {policy} is empty. Add the rules that the agent must follow, or pass another file"
        )
    episodes = [t for source in trajectories for t in read_logs(source)]
    if not episodes:
        raise ConfigError(
            "the trajectories contain no episodes, but at least one is required. Pass a file with recorded episodes: "
            "--trajectories episodes.jsonl"
        )
    settings = _settings(called, rows, known, episodes, calls_per_turn)
    with working_in(place):
        if (place / SETTINGS).exists():
            raise ConfigError(f"{place} already contains a target. Edit its files, or choose another folder")
        write(place / TOOLS, json.dumps(known, indent=1, ensure_ascii=False) + "\n")
        write(place / POLICY, text)
        write(place / TRAJECTORIES, to_jsonl(_apart(episodes)))
        write(place / SETTINGS, settings)  # last, because a folder with this file counts as a target
    return read(place)


def guess(tool: dict[str, Any]) -> ToolKind:
    """Guess the kind of a tool from its name and description.

    If neither indicates a kind, return ``write``.
    """
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
            f"--calls-per-turn is too small: found {calls}, expected at least {most}, because a turn in the recorded "
            f"episodes calls {most} tools. Increase the value, or remove the episode with this turn"
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


def kind_of(row: Any, tool: dict[str, Any]) -> ToolKind:
    """Return the kind of a tool according to the annotations of its server, or else a guess."""
    return "read" if _is_marked_read(row) else guess(tool)


def _kind(row: Any, tool: dict[str, Any]) -> str:
    """Return the kind of a tool. Append the suffix `GUESSED` if the server does not declare the kind."""
    return kind_of(row, tool) + ("" if _is_marked_read(row) else GUESSED)


def _is_marked_read(row: Any) -> bool:
    told = row.get("annotations") if isinstance(row, dict) else None
    return isinstance(told, dict) and told.get("readOnlyHint") is True


def _apart(episodes: Sequence[Trajectory]) -> list[Trajectory]:
    """Return the episodes of several files with unique ids, without duplicate episodes."""
    count: dict[str, int] = {}
    made: list[Trajectory] = []
    for episode in {e.model_dump_json(): e for e in episodes}.values():
        count[episode.id] = number = count.get(episode.id, 0) + 1
        made.append(episode if number == 1 else episode.model_copy(update={"id": f"{episode.id}#{number}"}))
    return made
