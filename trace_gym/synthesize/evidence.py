"""Trajectories, shortened to what an author needs: what was asked, what was done, and how it ended."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping

from trace_gym.llm.quoting import inline
from trace_gym.types import Capability, Interface, Message, Trajectory

EACH = 2
"""Failed and successful trajectories that are shown."""
TEXT, RESULT = 400, 240
"""Characters of a message and of a tool result that are kept."""
TURNS = 30


def evidence(capability: Capability, trajectories: Iterable[Trajectory]) -> list[tuple[str, str]]:
    """Return the clearest failures that lack a capability, and successes that show it, each with a title."""
    known = {t.id: t for t in trajectories}
    return [
        (title, shorten(known[i]))
        for title, ids in (("It failed", capability.evidence), ("It succeeded", capability.contrast))
        for i in [i for i in ids if i in known][:EACH]
    ]


def shorten(trajectory: Trajectory) -> str:
    """Return a trajectory, one line for each message or call, and the reference solution where the benchmark has one.

    Nothing in a log can add a line.
    """
    told = [line for m in trajectory.messages if m["role"] != "system" for line in _lines(m)]
    if len(told) > TURNS:
        told = [*told[: TURNS // 2], f"... {len(told) - TURNS} more ...", *told[-TURNS // 2 :]]
    if trajectory.gold is not None:
        wanted = "; ".join(f"{c.tool} {json.dumps(c.arguments)}" for c in trajectory.gold) or "nothing"
        told.append(f"what should have been done: {wanted}")
    return "\n".join(map(inline, told))


def signatures(interface: Interface) -> list[str]:
    """One line for each tool: kind, name, parameters with types, and the first sentence of its description."""
    return [_signature(t["function"], interface.kinds) for t in interface.tools]


def _lines(message: Message) -> list[str]:
    role = message["role"]
    text = textwrap.shorten(str(message.get("content") or ""), RESULT if role == "tool" else TEXT, placeholder=" ...")
    lines = [f"{role}: {text}"] if text else []
    for call in message.get("tool_calls") or ():
        lines.append(f"{role} calls {call['function']['name']} {call['function']['arguments']}"[:TEXT])
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
