"""Lookup of environments and mixtures by name, with errors that suggest similar names."""

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
from trace_gym.registration import RegistryEntry, entries, folders, refresh
from trace_gym.types import Manifest, Record

_R = TypeVar("_R", bound=Record)
_GYM_ID = re.compile(r"(?:trace_gym:)?trace/([a-z0-9-]+?)(?:-v(\d+))?")


def name_of(gym_id_or_name: str) -> str:
    """Return the name of an environment or a mixture, given the name or a Gymnasium id.

    For example, ``trace/tau2-precondition-v0`` has the name ``tau2_precondition``.

    Raises:
        EnvNotFound: No environment or mixture has this name or id, or its registered version is different.
    """
    m = _GYM_ID.fullmatch(gym_id_or_name)
    entry = entry_of(m[1].replace("-", "_") if m else gym_id_or_name)
    if m and m[2] and int(m[2]) != entry.version:
        raise EnvNotFound(f"{gym_id_or_name} is not registered; the registered version is {entry.gym_id}")
    return entry.name


def gym_id(name: str) -> str:
    """Return the id for `gymnasium.make`, such as ``trace/tau2-precondition-v0``."""
    return entry_of(name).gym_id


def entry_of(name: str) -> RegistryEntry:
    """Return the registry entry of an environment or a mixture.

    Raises:
        EnvNotFound: No environment or mixture has this name.
        DuplicateEnv: Several files define this name.
    """
    if name not in entries:
        refresh()  # another process may have added it
    if (entry := entries.get(name)) is None:
        raise not_found(name)
    if entry.rivals:
        raise DuplicateEnv(registration.duplicate(entry))
    return entry


def not_found(name: str) -> EnvNotFound:
    """Return the error for a name that is not registered, with instructions to fix it."""
    for folder in folders():
        if re.fullmatch(r"[a-z][a-z0-9_]*", name) and (path := folder / f"{name}.py").is_file():
            return EnvNotFound(
                f"{path} has no manifest. To validate and admit it, run trace-gym validate {name} --admit"
            )
    near = difflib.get_close_matches(name, entries, n=3, cutoff=0.5)
    searched = ", ".join(map(str, folders()))
    known = f"trace-gym list prints all {len(entries)} names." if entries else "no environment is registered."
    hint = f"did you mean {' or '.join(near)}?" if near else known
    if re.search(r"-v\d+$", name) and not name.startswith("trace/"):
        hint = f"for a Gymnasium environment, use gym:MODULE:{name}, where MODULE is the module that registers it."
    return EnvNotFound(
        f"no environment is called {name!r}; {hint} Searched {searched}. To search more folders, add them to "
        f"{registration.VARIABLE}"
    )


manifest_cards = FileCache(Manifest.model_validate_json)
"""Cache of the manifests by file path."""
mixture_cards = FileCache(Mixture.model_validate_json)
"""Cache of the mixtures by file path."""


def read_card(entry: RegistryEntry, read: Callable[[Path], _R]) -> _R:
    """Return the manifest or the mixture of an entry.

    Raises:
        ReadError: The file cannot be read, is not valid, or contains another name.
    """
    kind = "manifest" if entry.module else "mixture"
    admit = f", or write a new one with trace-gym validate {entry.module} --admit" if entry.module else ""
    try:
        made = read(entry.card)
    except (OSError, ValueError) as error:
        fault = first_fault(error) if isinstance(error, ValidationError) else error
        raise ReadError(f"{entry.card} is not a valid {kind} ({fault}). Restore or delete the file{admit}") from None
    if (claimed := getattr(made, "id", None)) != entry.name:
        raise ReadError(
            f"{entry.card} has the wrong id: found {claimed!r}, expected {entry.name!r}. Correct the id, or rename the "
            "file"
        )
    return made
