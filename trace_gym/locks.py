"""Locks of files and folders between processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from trace_gym.errors import InUse
from trace_gym.files import cannot_write, make_folder


@contextmanager
def locked(path: Path, *, wait: float = 0.0) -> Iterator[None]:
    """Hold the lock of a file or folder while the block runs.

    The lock is a hidden file: ``.lock`` in an existing folder, or ``.NAME.lock`` next to a file. It is removed at the
    end of the block. If the process is killed, the operating system releases the lock.

    Args:
        path: The file or folder that the block writes. Devices and pipes are not locked.
        wait: Time limit in seconds for acquiring the lock.

    Raises:
        InUse: Another process, or another thread of this process, holds the lock.
        WriteError: The lock file cannot be created.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        yield
        return
    place = path.resolve()
    place = place / ".lock" if place.is_dir() else place.with_name(f".{place.name}.lock")
    lock = FileLock(place, timeout=wait, thread_local=False)
    _acquire(lock, path, place)
    try:
        with suppress(OSError):  # the process id is used only in the message of `InUse`
            place.write_text(str(os.getpid()))
        yield
    finally:
        with suppress(OSError):
            place.unlink()  # unlink before unlocking: a process that waits for the removed file creates a new one
        lock.release()


def shared_lock(path: Path) -> object:
    """Acquire and return the lock of a file, which several places in this process can share.

    The lock is released when the returned object is deleted.

    Raises:
        InUse: Another process holds the lock.
        WriteError: The lock file cannot be created.
    """
    place = path.resolve().with_name(f".{path.name}.lock")
    lock = FileLock(place, timeout=0, thread_local=False, is_singleton=True)
    _acquire(lock, path, place)
    return lock


def _acquire(lock: BaseFileLock, path: Path, place: Path) -> None:
    """Acquire the lock of a path. `place` is the path of the lock file.

    Raises:
        InUse: Another process holds the lock.
        WriteError: The lock file cannot be created.
    """
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise _in_use(path, place) from None
    except OSError as error:
        raise cannot_write(path, error) from None


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Create a folder if it does not exist, and hold its lock while the block runs.

    If the folder is new and empty at the end of the block, it is removed.

    Raises:
        InUse: Another process holds the lock of the folder.
        WriteError: The folder cannot be created.
    """
    new = not folder.exists()
    try:
        with locked(make_folder(folder)):
            yield
    finally:
        if new:
            with suppress(OSError):  # the folder is not empty
                folder.rmdir()


def _in_use(path: Path, place: Path) -> InUse:
    return InUse(
        f"{path} is in use: {_holder(place)} is writing to it. Wait until that process ends, or choose another path"
    )


def _holder(place: Path) -> str:
    try:
        number = place.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        number = ""
    return f"process {number}" if number.isdigit() else "another process"
