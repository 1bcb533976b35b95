"""Which environments there are: the folders, the files in them, and their gymnasium ids.

An environment is ``<name>.py`` with a manifest ``<name>.json`` beside it; a mixture is a ``<name>.json`` alone.
Only names and versions are read here, with the standard library, and no environment's code is imported, so that
``import trace_gym`` stays light. `trace_gym.registry` reads the rest.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import RLock

import gymnasium

from trace_gym.errors import DuplicateEnv, ReadError

VARIABLE = "TRACE_GYM_ENVS"
"""Names the folders that are searched after the packaged one."""

ALLOW_UNISOLATED, ALLOW_UNISOLATED_FLAG = "TRACE_GYM_ALLOW_UNISOLATED", "--allow-unisolated"
"""Environment variable (with the value ``1``) and option that permit running unadmitted code without isolation."""

package = import_module("trace_gym.generated_envs")
"""Where environments are imported from; by name, as type checkers do not see that pyproject.toml maps it."""

_PACKAGED = Path(str(package.__file__)).parent.resolve()
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Entry:
    """An environment or a mixture as its files promise it, unread but for the version."""

    name: str
    card: Path
    """The manifest, or the mixture's file."""
    module: Path | None
    """The environment's code; None for a mixture."""
    version: int = 0
    rivals: tuple[Path, ...] = ()
    """Files in later folders that claim the same name."""

    @property
    def gym_id(self) -> str:
        return f"trace/{self.name.replace('_', '-')}-v{self.version}"


class Entries(Mapping[str, Entry]):
    """The entries by name, sorted. `refresh` replaces all of them at once, so a reader never sees a part of them."""

    def __init__(self) -> None:
        self._now: dict[str, Entry] = {}

    def replace(self, entries: Iterable[Entry]) -> None:
        self._now = {e.name: e for e in sorted(entries, key=lambda e: e.name)}

    def __getitem__(self, name: str) -> Entry:
        return self._now[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now)

    def __len__(self) -> int:
        return len(self._now)

    def items(self) -> ItemsView[str, Entry]:  # those of `Mapping` look each name up later
        return self._now.items()

    def values(self) -> ValuesView[Entry]:
        return self._now.values()


entries = Entries()
"""Every environment and mixture; `refresh` fills it."""

_refreshing = RLock()
"""Held while the folders are searched, so that what was found last is what stays."""


def _release_in_child() -> None:
    """Give a forked child a free lock: the thread that may have held it does not exist there."""
    global _refreshing
    _refreshing = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_child)


def folders() -> list[Path]:
    """The folders that are searched, in order: the packaged one, then those in `VARIABLE`."""
    named = [Path(p).expanduser().resolve() for p in os.environ.get(VARIABLE, "").split(os.pathsep) if p]
    return list(dict.fromkeys([_PACKAGED, *named]))  # one folder named twice is no duplicate


def refresh() -> None:
    """Look through the folders again, and make gymnasium's ``trace/*`` ids agree with what is there."""
    with _refreshing:
        searched = folders()
        package.__path__[:] = map(str, searched)
        before = {entry.gym_id for entry in entries.values()}
        entries.replace(_found(searched))
        now = {entry.gym_id: entry for entry in entries.values()}
        for gone in before - now.keys():
            gymnasium.registry.pop(gone, None)
        for gym_id, entry in now.items():
            if gym_id not in gymnasium.registry:  # ids that stay are never missing, not even for a moment
                gymnasium.register(
                    gym_id,
                    entry_point="trace_gym.adapters.gymnasium:TraceEnv",
                    vector_entry_point="trace_gym.adapters.gymnasium:make_vec",
                    kwargs={"name": entry.name},
                )


def add_folder(path: str | os.PathLike[str]) -> list[str]:
    """Search one more folder, here and in every process started from here.

    Returns:
        The names that it adds.

    Raises:
        ReadError: There is no such folder.
        DuplicateEnv: It holds a name that another folder has; nothing is added.
    """
    folder = Path(path).expanduser().resolve()
    if not folder.is_dir():
        raise ReadError(f"{folder} is no folder; expected one with <name>.py and <name>.json in it")
    if folder in folders():
        refresh()
        return [n for n, e in entries.items() if e.card.parent == folder]
    with _refreshing:
        before = os.environ.get(VARIABLE, "")
        os.environ[VARIABLE] = os.pathsep.join(filter(None, [before, str(folder)]))
        refresh()
        if twice := [e for e in entries.values() if any(p.parent == folder for p in e.rivals)]:
            os.environ[VARIABLE] = before
            refresh()
            raise DuplicateEnv("; ".join(map(duplicate, twice)))
        return [n for n, e in entries.items() if e.card.parent == folder]


def duplicate(entry: Entry) -> str:
    """What to say of a name that several files claim."""
    claims = ", ".join(str(p) for p in (entry.module or entry.card, *entry.rivals))
    return f"several files claim to be {entry.name!r}: {claims}; rename or remove all but one"


def version_in(card: Path) -> int:
    """The version that a manifest or mixture states; 0 where it states none."""
    version = _read(card).get("version")
    return version if isinstance(version, int) and version >= 0 else 0


def _found(searched: list[Path]) -> list[Entry]:
    claims: dict[str, list[Path]] = {}
    cards: dict[str, Path] = {}
    for folder in searched:
        files = {p.name: p for p in sorted(folder.glob("*")) if p.is_file()} if folder.is_dir() else {}
        for name in sorted({p.stem for p in files.values() if _NAME.fullmatch(p.stem)}):
            module, card = files.get(f"{name}.py"), files.get(f"{name}.json")
            if card is not None and (module or "mixture" in _read(card)):
                cards.setdefault(name, card)
            elif module is None:
                continue  # some other file, which is none of our business
            claims.setdefault(name, []).append(module or card)  # type: ignore[arg-type]  # one of them is there
    return [_entry(name, card, claims[name]) for name, card in cards.items()]


def _entry(name: str, card: Path, claims: list[Path]) -> Entry:
    module = card.with_suffix(".py")
    rivals = tuple(p for p in claims if p.parent != card.parent)
    return Entry(name, card, module if module.is_file() else None, version_in(card), rivals)


def _read(card: Path) -> dict[str, object]:
    """A card's JSON object; empty when it cannot be read, which is for `trace_gym.registry` to complain of."""
    try:
        made = json.loads(card.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return made if isinstance(made, dict) else {}
