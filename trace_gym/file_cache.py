"""Values computed from files and computed again when a file changes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")

Stamp = tuple[int, ...]
"""What tells two versions of a file apart without reading it: times, size and inode."""

SETTLED_NS = 2_000_000_000
"""Age from which a file's times are trusted. Two changes within one tick of a file system's clock (a few
milliseconds, and 2 seconds on FAT) leave the same times, so a value of a younger file is not kept."""


class FileCache(Generic[T]):
    """One value per file. All threads may use it at once; at worst a value is computed twice.

    Args:
        compute: Computes the value from the content of a file.
    """

    def __init__(self, compute: Callable[[bytes], T]) -> None:
        self._compute = compute
        self._kept: dict[Path, tuple[Stamp, T]] = {}

    def __call__(self, path: Path) -> T:
        """Return the value of a file as the file is now.

        Raises:
            OSError: The file cannot be read.
        """
        stamp, now = stamp_of(path), time.time_ns()  # before the file is read: a later change has another stamp
        known = self._kept.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        made = self._compute(path.read_bytes())
        if now - max(stamp[:2]) > SETTLED_NS:
            self._kept[path] = (stamp, made)
        return made


def stamp_of(path: str | os.PathLike[str]) -> Stamp:
    """Return the stamp of a file.

    The time of the last change of the inode is part of it, because a program can set the modification time at will.

    Raises:
        OSError: The file cannot be read.
    """
    found = os.stat(path)
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)
