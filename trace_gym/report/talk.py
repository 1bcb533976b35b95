"""Readable view of a trajectory: messages, and tool calls combined with their results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from trace_gym.nested import parse_if_json
from trace_gym.types import Message, NamedCheck, Trajectory

BRIEF = 90
"""Maximum number of characters of the arguments of a folded tool call."""


@dataclass(frozen=True)
class Said:
    """A message to or from the user."""

    kind: Literal["user", "agent"]
    text: str
    decisive: bool = False
    """Whether the message is marked as the one that decides a label."""


@dataclass(frozen=True)
class Called:
    """A tool call with its result."""

    name: str
    brief: str
    """The arguments in one line."""
    arguments: str
    result: str
    write: bool
    refused: bool
    raw: str = field(default="", compare=False)
    """The arguments as JSON with sorted keys."""
    decisive: bool = False
    kind: str = "call"


@dataclass(frozen=True)
class Talk:
    """Readable view of one episode."""

    system: str
    turns: tuple[Said | Called, ...]
    outcome: str
    tone: str
    """CSS class of the outcome: ``good``, ``bad`` or ``soft``."""
    checks: tuple[NamedCheck, ...]


def talk(trajectory: Trajectory) -> Talk:
    """Return the readable view of a trajectory."""
    outcome, tone = {True: ("success", "good"), False: ("failure", "bad"), None: ("not scored", "soft")}[
        trajectory.success
    ]
    system = "\n\n".join(_text(m) for m in trajectory.messages if m.get("role") == "system")
    checks = trajectory.score.checks if trajectory.score else ()
    return Talk(system, tuple(_turns(trajectory)), outcome, tone, checks)


def _turns(trajectory: Trajectory) -> Iterator[Said | Called]:
    results = {m.get("tool_call_id"): _text(m) for m in trajectory.messages if m.get("role") == "tool"}
    for message in trajectory.messages:
        role, text = message.get("role"), _text(message)
        if role in ("user", "assistant") and text:
            yield Said("user" if role == "user" else "agent", text)
        for call in message.get("tool_calls") or ():
            yield _called(call, results.get(call.get("id"), "(no result)"), trajectory)


def _called(call: dict[str, Any], result: str, trajectory: Trajectory) -> Called:
    name, arguments = str(call["function"]["name"]), parse_if_json(call["function"].get("arguments"), scalars=True)
    brief = (
        ", ".join(f"{k}={_plain(v)}" for k, v in arguments.items())
        if isinstance(arguments, dict)
        else _plain(arguments)
    )
    return Called(
        name=name,
        brief=brief if len(brief) <= BRIEF else brief[: BRIEF - 1] + "…",
        arguments=_pretty(arguments),
        result=_pretty(parse_if_json(result, scalars=True)),
        write=trajectory.tools.get(name) == "write",
        refused=result.lower().startswith("error"),
        raw=json.dumps(arguments, sort_keys=True),
    )


def _text(message: Message) -> str:
    """Return the text of a message without its other parts, such as images."""
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pretty(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
