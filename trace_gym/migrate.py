"""Command that converts manifests, reports and rollouts from older format versions to the current version.

Usage: ``python -m trace_gym.migrate PATH...``. Readers accept older versions, so migration is optional.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trace_gym.errors import ConfigError, ReadError, TraceGymError
from trace_gym.files import read_text, write
from trace_gym.parsing import first_fault, json_lines, parse_json
from trace_gym.types import Manifest, Record, Report, Trajectory, to_jsonl

_KINDS: tuple[tuple[frozenset[str], type[Record]], ...] = (
    (frozenset({"module_sha256", "report"}), Manifest),
    (frozenset({"findings", "passed"}), Report),
    (frozenset({"messages", "task"}), Trajectory),
)
"""Required fields of each kind of file, and the pydantic model of its records."""


def migrate(path: Path) -> bool:
    """Rewrite a manifest, report or rollout file in the current format, and return whether it changed.

    A file of another kind is left unchanged.

    Raises:
        ReadError: The file cannot be read, or its content is not valid.
        WriteError: The file cannot be written.
    """
    old = read_text(path)
    if path.suffix == ".jsonl":
        records = [_record(data, f"{path}, line {number}") for number, data in json_lines(old, str(path))]
        new = to_jsonl(record for record in records if record) if records and all(records) else old
    else:
        record = _record(parse_json(old, str(path)), str(path))
        new = record.model_dump_json(indent=1) + "\n" if record else old
    if new != old:
        write(path, new)
    return new != old


def _record(data: Any, where: str) -> Record | None:
    """Return the record in JSON data, or None if the data is not of a kind in `_KINDS`."""
    kind = next((k for fields, k in _KINDS if isinstance(data, dict) and fields <= data.keys()), None)
    try:
        return kind.model_validate_json(json.dumps(data)) if kind else None
    except ValidationError as error:
        raise ReadError(
            f"{where} is not a valid {kind.__name__.lower() if kind else 'file'} ({first_fault(error)}). Restore or "
            "delete it"
        ) from None


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*.json*") if p.suffix in (".json", ".jsonl"))
        elif path.exists():
            yield path
        else:
            raise ConfigError(f"{path} does not exist: expected a file or a folder. Check the path")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m trace_gym.migrate", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file, or a folder to search")
    try:
        for path in _files(parser.parse_args(arguments).paths):
            print(f"{'migrated' if migrate(path) else 'unchanged'}  {path}")
    except TraceGymError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
