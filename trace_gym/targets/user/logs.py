"""Reader of trajectories for a custom target."""

from __future__ import annotations

import json
from pathlib import Path

from trace_gym.nested import parse_if_json
from trace_gym.targets.results import read_results
from trace_gym.types import Message, Trajectory

REPORTS = {"error", "errors", "message", "detail", "code", "status", "success", "ok"}
"""Fields of a tool result that only reports a failure. A result with any other field does not count as a failure."""


def read_logs(path: Path) -> list[Trajectory]:
    """Return the trajectories of one file, in any format of `trace_gym.targets.results.read_results`.

    Raises:
        ReadError: The file is missing or has another format.
    """
    return [t.model_copy(update={"messages": tuple(map(_told, t.messages))}) for t in read_results(path)]


def _told(message: Message) -> Message:
    """Convert a message to the format of trajectories.

    A tool result that reports a failure as JSON is replaced by text that begins with ``Error:``.
    """
    if message.get("role") != "tool" or not isinstance(said := parse_if_json(message.get("content")), dict):
        return message
    failed = said.get("error") or said.get("errors") or False in (said.get("success"), said.get("ok"))
    if not failed or not said.keys() <= REPORTS:
        return message
    why = next((said[key] for key in ("error", "errors", "message", "detail") if said.get(key)), "it failed")
    return {**message, "content": f"Error: {why if isinstance(why, str) else json.dumps(why)}"}
