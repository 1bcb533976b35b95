"""Snippets that run an episode, and snippets that show a difference by running the same code repeatedly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from trace_gym.types import Call, Say

HEAD = ("from ", "import ", "box = ")
"""Prefixes of the lines of a snippet that run only once."""


def episode_snippet(reference: str, scenario: str, actions: Sequence[Any] = (), tail: str = "") -> str:
    """Return code that takes the actions in a scenario and prints the results.

    Args:
        reference: Location from which the world class is loaded.
        scenario: Id of the scenario.
        actions: Actions of the agent.
        tail: Last line of the snippet; by default, it prints the score.
    """
    names = sorted({type(a).__name__ for a in actions if isinstance(a, (Call, Say))})
    lines = [f"from trace_gym.types import {', '.join(names)}"] if names else []
    lines += ["from trace_gym.validation import begin", ""]
    lines += [f"episode = begin({reference!r}, {scenario!r})"]
    lines += [f"print(episode.step({_source(a)}))" for a in actions]
    return "\n".join([*lines, tail or "print(episode.finish())"]) + "\n"


def for_each(snippet: str, name: str, values: Sequence[str | int]) -> str:
    """Return a snippet that runs code in a loop over values. The loop variable replaces the first value in the code.

    Args:
        snippet: Code in which the first value occurs as a literal.
        name: Name of the loop variable.
        values: Values to loop over, for example one seed, another seed, and the first seed again.
    """
    lines = snippet.splitlines()
    start = next(n for n, line in enumerate(lines) if line and not line.startswith(HEAD))
    body = [line.replace(repr(values[0]), name, 1) if n == 0 else line for n, line in enumerate(lines[start:])]
    loop = f"for {name} in {tuple(values)!r}:  # if the check passes, the first and the last output are equal"
    return "\n".join([*lines[:start], loop, *(f"    {line}" for line in body)]) + "\n"


def in_processes(snippet: str, settings: Sequence[Mapping[str, str]]) -> str:
    """Return a snippet that runs code in one fresh process per set of environment variables."""
    quoted = repr(snippet) if "\\" in snippet or "'''" in snippet else f"'''\\\n{snippet}'''"
    lines = [
        "import os",
        "import subprocess",
        "import sys",
        "",
        f"CODE = {quoted}",
        f"for setting in {tuple(map(dict, settings))!r}:  # if the check passes, all outputs are equal",
        "    subprocess.run([sys.executable, '-c', CODE], env={**os.environ, **setting}, check=True)",
    ]
    return "\n".join(lines) + "\n"


def _source(action: Any) -> str:
    """Return a Python expression for an action. A long repetition of one character is written as ``'x' * 1000``."""
    match action:
        case str() if len(action) > 200 and len(set(action)) == 1:
            return f"{action[0]!r} * {len(action)}"
        case Say(text):
            return f"Say({_source(text)})"
        case Call(tool, arguments):
            return f"Call({_source(tool)}, {_source(arguments)})"
        case dict():
            return "{" + ", ".join(f"{k!r}: {_source(v)}" for k, v in action.items()) + "}"
        case list():
            return "[" + ", ".join(map(_source, action)) + "]"
        case float() if not isfinite(action):
            return f"float({str(action)!r})"
    return repr(action)
