"""The entry and the files behind the name of an environment, or an error that suggests a similar name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from trace_gym import registration
from trace_gym.errors import DuplicateEnv, EnvNotFound, ReadError
from trace_gym.file_cache import FileCache
from trace_gym.mixture import Mixture
from trace_gym.parsing import first_fault
from trace_gym.registration import Entry, entries, folders, refresh
from trace_gym.types import Manifest, Record

_R = TypeVar("_R", bound=Record)


def entry_of(name: str) -> Entry:
    """Return the entry of an environment or a mixture.

    Raises:
        EnvNotFound: There is no such environment or mixture.
        DuplicateEnv: Several files claim the name.
    """
    if name not in entries:
        refresh()  # another process may have written it
    if (entry := entries.get(name)) is None:
        raise not_found(name)
    if entry.rivals:
        raise DuplicateEnv(registration.duplicate(entry))
    return entry


def not_found(name: str) -> EnvNotFound:
    """Return the error for a name that is not registered, with what to do about it."""
    for folder in folders():
        if re.fullmatch(r"[a-z][a-z0-9_]*", name) and (path := folder / f"{name}.py").is_file():
            return EnvNotFound(f"{path} has no manifest; to check and admit it: trace-gym validate {name} --admit")
    near = difflib.get_close_matches(name, entries, n=3, cutoff=0.5)
    searched = ", ".join(map(str, folders()))
    known = f"trace-gym list shows the {len(entries)} that there are." if entries else "no environment is registered."
    hint = f"did you mean {' or '.join(near)}?" if near else known
    return EnvNotFound(
        f"no environment is called {name!r}; {hint} Searched {searched}; name more folders in {registration.VARIABLE}"
    )


manifest_cards = FileCache(Manifest.model_validate_json)
mixture_cards = FileCache(Mixture.model_validate_json)


def read_card(entry: Entry, read: Callable[[Path], _R]) -> _R:
    """Return the manifest or the mixture of an entry.

    Raises:
        ReadError: The file cannot be read, or has another name in it.
    """
    kind = "manifest" if entry.module else "mixture"
    admit = f", or write a new one: trace-gym validate {entry.module} --admit" if entry.module else ""
    try:
        made = read(entry.card)
    except (OSError, ValueError) as error:
        fault = first_fault(error) if isinstance(error, ValidationError) else error
        raise ReadError(f"{entry.card} is not a valid {kind} ({fault}). Restore or delete it{admit}") from None
    if (claimed := getattr(made, "id", None)) != entry.name:
        raise ReadError(f"{entry.card} is the card of {claimed!r}; expected {entry.name!r}, after the file's name")
    return made
