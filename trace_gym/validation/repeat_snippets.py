"""Snippets that demonstrate a difference by running the same code repeatedly, in one process or in fresh processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

HEAD = ("from ", "import ", "box = ")
"""Prefixes of the lines of a snippet that run only once."""


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
