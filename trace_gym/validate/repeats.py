"""Snippets that show a difference: they run the same code several times, in one process or in fresh ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

HEAD = ("from ", "import ", "box = ")
"""How the lines of a snippet begin that are run once."""


def for_each(snippet: str, name: str, values: Sequence[str | int]) -> str:
    """Return a snippet that runs for each value in place of the first one.

    Args:
        snippet: Code in which the first value occurs as a literal.
        name: The loop variable.
        values: Such as one seed, another, and the first one again.
    """
    lines = snippet.splitlines()
    start = next(n for n, line in enumerate(lines) if line and not line.startswith(HEAD))
    body = [line.replace(repr(values[0]), name, 1) if n == 0 else line for n, line in enumerate(lines[start:])]
    loop = f"for {name} in {tuple(values)!r}:  # the first and the last print the same, unless the check fails"
    return "\n".join([*lines[:start], loop, *(f"    {line}" for line in body)]) + "\n"


def in_processes(snippet: str, settings: Sequence[Mapping[str, str]]) -> str:
    """Return a snippet that runs in a fresh process with each of these environment variables."""
    quoted = repr(snippet) if "\\" in snippet or "'''" in snippet else f"'''\\\n{snippet}'''"
    lines = [
        "import os",
        "import subprocess",
        "import sys",
        "",
        f"CODE = {quoted}",
        f"for setting in {tuple(map(dict, settings))!r}:  # all print the same, unless the check fails",
        "    subprocess.run([sys.executable, '-c', CODE], env={**os.environ, **setting}, check=True)",
    ]
    return "\n".join(lines) + "\n"
