"""Search for values in tool calls that the agent invented, and for records that it changed without having seen them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trace_gym.nested import walk
from trace_gym.types import Call, Trajectory

_id = re.compile(r"(?=[^ ]*[A-Za-z])(?=[^ ]*\d)[^ ]{4,}")
_address = re.compile(r"[^ @]+@[^ @]+\.[^ @]+")
_date = re.compile(r"\d{4}-\d{2}-\d{2}")
_number = re.compile(r"[+(]?\d(?:(?:[ .-]|\)[ -]?)?\d){4,}")
"""A telephone number, a postal code, or an id of digits. An expression such as ``348 - 274`` is not a number."""
_separator = re.compile(r"(?<=\d)[ ().-]+(?=\d)")
_name = re.compile(r"[A-Z][\w'.-]*(?: [A-Z][\w'.-]*){0,3}")
"""A proper name of at most four words."""


def identifying_values(arguments: dict[str, Any]) -> Iterator[str]:
    """Yield the arguments of a call that an agent must have read somewhere, because it cannot compute them.

    These are ids (words of four or more characters with letters and digits), email addresses, numbers of five or more
    digits in text form, and proper names in arguments whose name contains ``name``. Dates, amounts and other texts are
    omitted, because an agent may have to compute or write them.
    """
    for name, value, *_ in walk(arguments):
        if not isinstance(value, str) or _date.match(value):
            continue
        if _is_key(value) or ("name" in name.lower() and _name.fullmatch(value)):
            yield value


def ungrounded_call(trajectory: Trajectory) -> Call | None:
    """Return the first call with an identifying value that occurs in no earlier message, or None."""
    known = ""
    for call, message in _steps(trajectory):
        if call is None:
            known += _plain(str(message.get("content") or "")) + "\n"
        elif not all(_occurs(value, known) for value in identifying_values(call.arguments)):
            return call
    return None


def identified_writes(trajectory: Trajectory) -> list[Call]:
    """Return the write calls with an id, an email address or a number of five or more digits."""
    return [c for c, _ in trajectory.calls if trajectory.tools.get(c.tool) == "write" and any(_keys(c))]


def unseen_write(trajectory: Trajectory) -> Call | None:
    """Return the first write call with ids, none of which occurs in an earlier tool result, or None.

    The results of other write calls count, because they show the record that a write call changed or created.
    """
    known, writes = "", identified_writes(trajectory)
    for call, message in _steps(trajectory):
        if call is None:
            known += _plain(str(message.get("content") or "")) + "\n" if message.get("role") == "tool" else ""
        elif call in writes and not any(_occurs(value, known) for value in _keys(call)):
            return call
    return None


def _keys(call: Call) -> Iterator[str]:
    return filter(_is_key, identifying_values(call.arguments))


def _is_key(text: str) -> bool:
    """Return whether a text is an id, an email address, or a number of five or more digits."""
    return any(kind.fullmatch(text) for kind in (_id, _address, _number))


def _steps(trajectory: Trajectory) -> Iterator[tuple[Call | None, dict[str, Any]]]:
    """Yield, in order, each call with its message, and None with each message that is not from the agent."""
    calls = iter(trajectory.calls)
    for message in trajectory.messages:
        for _ in message.get("tool_calls") or ():
            yield next(calls)[0], message
        if message.get("role") != "assistant":
            yield None, message


def _plain(text: str) -> str:
    """Return a text in lower case, without the separators inside numbers."""
    return _separator.sub("", text).lower()


def _occurs(value: str, known: str) -> bool:
    """Return whether the messages contain a value, or all words of a proper name or all parts of a number."""
    parts = re.findall(r"\d+" if _number.fullmatch(value) else r"\S+", value.lower())
    divisible = _number.fullmatch(value) or _name.fullmatch(value)
    return _plain(value).strip("+(") in known or bool(divisible and all(part in known for part in parts))
