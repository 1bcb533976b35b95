"""Files that no command can use: each is a name and a function that makes it in a folder.

Tests of every command that reads a file go through `FILES`; the acceptance tests use it as well.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

Maker = Callable[[Path], None]


def content(data: bytes | str) -> Maker:
    """A file with this content."""
    raw = data.encode() if isinstance(data, str) else data
    return lambda path: path.write_bytes(raw) and None


def unreadable(path: Path) -> None:
    """A file without read permission; root reads it all the same, so it is empty."""
    path.touch(mode=0o000)


RECORD = json.dumps({"id": "a#0", "task": "a", "messages": []})
ALIASES = "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))

FILES: dict[str, Maker] = {
    "missing": lambda path: None,
    "folder": Path.mkdir,
    "named pipe": os.mkfifo,
    "no permission": unreadable,
    "empty": content(""),
    "blank": content(" \n\n\t\n"),
    "binary": content(bytes(range(256)) * 8),
    "null bytes": content(b"\0" * 100),
    "invalid UTF-8": content(b'{"a": "\xff\xfe"}\n'),
    "UTF-16": content('{"a": 1}'.encode("utf-16")),
    "truncated JSON": content('[{"task_id": 1, "reward": 1.0, "traj": [{"role": "us'),
    "truncated record": content(RECORD[:-9]),
    "byte order mark alone": content(b"\xef\xbb\xbf"),
    "byte order mark and garbage": content(b"\xef\xbb\xbf\x00garbage: ["),
    "CRLF garbage": content("{\r\n]\r\n"),
    "prose": content("This is: not { a file: of any kind\n- really [\n"),
    "deep JSON": content("[" * 100_000 + "]" * 100_000),
    "deep objects": content('{"a":' * 50_000 + "1" + "}" * 50_000),
    "NaN": content("NaN\n"),
    "infinity": content('{"id": "a", "task": "a", "messages": [], "reward": Infinity}\n'),
    "giant integer": content("9" * 5000 + "\n"),
    "giant integer in an object": content('{"id": "a", "task": "a", "messages": [], "reward": ' + "9" * 5000 + "}\n"),
    "null": content("null\n"),
    "number": content("3\n"),
    "text": content('"text"\n'),
    "empty list": content("[]\n"),
    "empty object": content("{}\n"),
    "other object": content('{"some": {"other": ["object"]}}\n'),
    "list of numbers": content("[1, 2, 3]\n"),
    "lone surrogate": content('{"id": "\\ud800", "task": 1}\n'),
    "alias bomb": content("a: &a [x, x, x, x, x, x, x, x, x, x]\n" + ALIASES),
    "alias of itself": content("&a [*a]\n"),
    "bad date": content("a: 2024-99-99\n"),
    "markup and escapes": content("[/x] \x1b]0;title\x07 {"),
    "truncated gzip": content(gzip.compress(RECORD.encode() * 100)[:40]),
    "gzip of garbage": content(gzip.compress(b"\x00garbage: [")),
    "gzip bomb": content(gzip.compress(b"0" * 2**20) * 64),
}
"""Functions that make malformed files, by description of the defect."""

BOMB_BYTES = 2**22
"""Tests lower the limit of what is read to this, so that the bomb is small."""
