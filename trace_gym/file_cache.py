"""Cache for values that are computed from the content of files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")

Stamp = tuple[int, ...]
"""Modification time, inode change time, size, inode and device of a file.

Two versions of a file have different stamps, so a change is detected without reading the file.
"""

SETTLED_NS = 2_000_000_000
"""Minimum time in nanoseconds since the last change of a file before its value is cached.

Two changes within one tick of a file system's clock (a few milliseconds; 2 seconds on FAT) have the same timestamps.
Therefore values of files that changed more recently are not cached.
"""


class FileCache(Generic[T]):
    """Thread-safe cache of one value per file. Threads may compute the same value twice, but with the same result.

    Args:
        compute: Function that returns the value for the content of a file.
    """

    def __init__(self, compute: Callable[[bytes], T]) -> None:
        self._compute = compute
        self._kept: dict[Path, tuple[Stamp, T]] = {}

    def __call__(self, path: Path) -> T:
        """Return the value of a file from the cache, or compute the value if the file is new or has changed.

        Raises:
            OSError: The file cannot be read.
        """
        stamp, now = stamp_of(path), time.time_ns()  # taken before the file is read, so a later change is detected
        known = self._kept.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        made = self._compute(path.read_bytes())
        if now - max(stamp[:2]) > SETTLED_NS:
            self._kept[path] = (stamp, made)
        return made


def stamp_of(path: str | os.PathLike[str]) -> Stamp:
    """Return the stamp of a file.

    The stamp includes the change time of the inode, because programs can set the modification time to any value.

    Raises:
        OSError: The status of the file cannot be read.
    """
    found = os.stat(path)
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)
