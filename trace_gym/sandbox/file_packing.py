"""Encoding of user files that are copied into the sandbox."""

from __future__ import annotations

import base64

from trace_gym.errors import ConfigError
from trace_gym.sandbox.limits import MIB, Limits
from trace_gym.validation.context import ValidationInputs
from trace_gym.validation.input_files import files_of


def encode_files(given: ValidationInputs, limits: Limits) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Return the base64 contents of the user's files, and their original paths.

    Both results are keyed by the path of the file inside the sandbox. The contents are grouped by kind of file.

    Raises:
        ConfigError: The files are too large for the sandbox's private folder.
    """
    made: dict[str, dict[str, str]] = {}
    names: dict[str, str] = {}
    size = 0
    for kind, paths in (("recordings", given.recordings), ("against", given.against)):
        for number, path in enumerate(paths):
            for n, file in enumerate(files_of(path)):
                inside = f"{kind}/{number}/{n}/{file.name}"
                content = file.read_bytes()
                size += len(content)
                made.setdefault(kind, {})[inside] = base64.b64encode(content).decode()
                names[inside] = str(file)
    if size > (most := limits.disk_mib * MIB // 2):
        raise ConfigError(
            f"the recordings and test tasks are too large for the sandbox: found {size} bytes, expected at most "
            f"{most}. Pass fewer or smaller files"
        )
    return made, names
