"""Files of the user that are copied into the sandbox."""

from __future__ import annotations

import base64

from trace_gym.errors import ConfigError
from trace_gym.sandbox.limits import MIB, Limits
from trace_gym.validate.context import Given
from trace_gym.validate.files import files_of


def packed(given: Given, limits: Limits) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Return the user's files in base64 by their place in the sandbox, and their names by that place.

    Raises:
        ConfigError: They do not fit into the private folder.
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
            f"the recordings and test tasks have {size} bytes, expected at most {most}, as they are copied into the "
            "sandbox. Pass fewer or smaller files"
        )
    return made, names
