"""Shortened trajectories as evidence in prompts for planning an environment."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping

from trace_gym.llm.quoting import inline
from trace_gym.types import Capability, Interface, Message, Trajectory

MAX_TRAJECTORIES = 2
"""Maximum number of failed trajectories, and of successful trajectories, in a prompt."""
MAX_TEXT, MAX_RESULT = 400, 240
"""Maximum number of characters of a message, and of a tool result. Longer texts are truncated."""
MAX_LINES = 30
"""Maximum number of lines of a shortened trajectory."""


def evidence(capability: Capability, trajectories: Iterable[Trajectory]) -> list[tuple[str, str]]:
    """Return failed and successful trajectories that are evidence for a capability, as (title, text) pairs.

    In the failed trajectories, the agent lacks the capability. In the successful ones, the agent has it.
    """
    known = {t.id: t for t in trajectories}
    return [
        (title, shorten(known[i]))
        for title, ids in (("It failed", capability.evidence), ("It succeeded", capability.contrast))
        for i in [i for i in ids if i in known][:MAX_TRAJECTORIES]
    ]


def shorten(trajectory: Trajectory) -> str:
    """Return a trajectory with one line per message or tool call, and the reference solution if there is one.

    Line breaks in logged text are escaped, so that a log cannot add lines.
    """
    lines = [line for m in trajectory.messages if m["role"] != "system" for line in _lines(m)]
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES // 2], f"... {len(lines) - MAX_LINES} more ...", *lines[-MAX_LINES // 2 :]]
    if trajectory.gold is not None:
        wanted = "; ".join(f"{c.tool} {json.dumps(c.arguments)}" for c in trajectory.gold) or "nothing"
        lines.append(f"what should have been done: {wanted}")
    return "\n".join(map(inline, lines))


def signatures(interface: Interface) -> list[str]:
    """Return one line per tool: kind, name, parameters with types, and the first sentence of its description."""
    return [_signature(t["function"], interface.kinds) for t in interface.tools]


def _lines(message: Message) -> list[str]:
    role = message["role"]
    width = MAX_RESULT if role == "tool" else MAX_TEXT
    text = textwrap.shorten(str(message.get("content") or ""), width, placeholder=" ...")
    lines = [f"{role}: {text}"] if text else []
    for call in message.get("tool_calls") or ():
        lines.append(f"{role} calls {call['function']['name']} {call['function']['arguments']}"[:MAX_TEXT])
    return lines


def _signature(function: Mapping[str, object], kinds: Mapping[str, str]) -> str:
    name, parameters = str(function["name"]), function["parameters"]
    assert isinstance(parameters, dict)
    required = parameters.get("required", [])
    shown = ", ".join(
        f"{key}{'' if key in required else '?'}: {_type(schema)}" for key, schema in parameters["properties"].items()
    )
    return f"{kinds.get(name, 'read')} `{name}({shown})`: {str(function.get('description', '')).partition('. ')[0]}"


def _type(schema: Mapping[str, object]) -> str:
    if options := schema.get("enum"):
        return " | ".join(json.dumps(o) for o in options) if isinstance(options, list) else "string"
    if schema.get("type") == "array" and isinstance(items := schema.get("items"), dict):
        return f"list of {_type(items)}"
    return str(schema.get("type", "object"))
