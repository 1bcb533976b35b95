"""Atomic file writes, bounded reads, and locks for files that one process at a time may write."""

from __future__ import annotations

import gzip
import os
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from trace_gym.errors import InUse, ReadError, WriteError

MOST_BYTES = 2**30
"""Largest file that is read, and largest size of a gzipped file after decompression."""
GZIP = b"\x1f\x8b"
"""First bytes of a gzipped file."""


def write(path: Path, text: str) -> None:
    """Write the whole file or nothing, and make its folder.

    A device or a pipe, such as ``/dev/stdout``, is written to directly.

    Raises:
        WriteError: The file cannot be written; an earlier version of it is unchanged.
    """
    place = Path(os.path.realpath(path))  # a symbolic link stays one
    try:
        if place.exists() and not place.is_file() and not place.is_dir():
            with place.open("w", encoding="utf-8") as stream:
                stream.write(text)
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        _replace(place, text)
    except OSError as error:
        raise cannot_write(path, error) from None


def _replace(place: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=place.name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o644)  # a temporary file is private
        os.replace(name, place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def make_folder(path: Path) -> Path:
    """Make a folder and its parents unless they exist, and return it.

    Raises:
        WriteError: A file has this name, or the folder cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise WriteError(f"{path} is a file: expected a folder, or a name that is free. Choose another name") from None
    except OSError as error:
        raise cannot_write(path, error) from None
    return path


def cannot_write(path: Path | str, error: OSError) -> WriteError:
    """Return the error for a path that the operating system refuses to write."""
    if isinstance(error, WriteError):
        return error
    return WriteError(f"cannot write {path}: {error.strerror or error}. Free the place, or choose another path")


def read_bytes(path: Path | str, fix: str = "") -> bytes:
    """Return the content of a regular file, decompressed if it is gzipped.

    Args:
        path: The file.
        fix: Last sentence of each error message: what to do instead.

    Raises:
        ReadError: The file is missing, not a regular file, too large, not readable, or a damaged gzip file.
    """
    end = f". {fix}" if fix else ""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            raise ReadError(f"{path} is {_kind(found.st_mode)}: expected a regular file{end}")
        if found.st_size > MOST_BYTES:
            raise ReadError(f"{path} has {found.st_size:,} bytes: at most {MOST_BYTES:,} are read{end}")
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        raise ReadError(f"there is no file {path}{end}") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}{end}") from None
    return _decompressed(raw, path) if raw.startswith(GZIP) else raw


def read_start(path: Path) -> bytes:
    """Return the first bytes of a file, as they are on disk."""
    with path.open("rb") as file:
        return file.read(16)


def _decompressed(raw: bytes, path: Path | str) -> bytes:
    import io

    try:
        with gzip.open(io.BytesIO(raw)) as file:
            content = file.read(MOST_BYTES + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise ReadError(f"{path} is a damaged or truncated gzip file ({error}). Copy or download it again") from None
    if len(content) > MOST_BYTES:
        raise ReadError(f"{path} has more than {MOST_BYTES:,} bytes after decompression. Split it into smaller files")
    return content


def read_text(path: Path | str, fix: str = "") -> str:
    """Return the text of a UTF-8 file, decompressed if it is gzipped, without a byte order mark.

    Raises:
        ReadError: The file cannot be read (see `read_bytes`) or is not UTF-8 text.
    """
    raw = read_bytes(path, fix)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        end = f". {fix}" if fix else ""
        raise ReadError(f"{path} is not text in UTF-8 (byte {error.start}){end}") from None


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a named pipe" if stat.S_ISFIFO(mode) else "a device or socket"


@contextmanager
def locked(path: Path, *, wait: float = 0.0) -> Iterator[None]:
    """Hold the lock of a file, or of a folder that exists, while the block runs.

    The operating system releases the lock when the process ends, even by ``kill -9``. The lock is a hidden file:
    ``.lock`` in a folder, ``.NAME.lock`` next to a file. It is removed at the end of the block.

    Args:
        path: What is written. A device needs no lock.
        wait: Seconds to wait for another process.

    Raises:
        InUse: Another process (or another thread of this one) holds the lock.
        WriteError: The lock cannot be made.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        yield
        return
    place = path.resolve()
    place = place / ".lock" if place.is_dir() else place.with_name(f".{place.name}.lock")
    lock = FileLock(place, timeout=wait, thread_local=False)
    _acquire(lock, path, place)
    try:
        with suppress(OSError):  # only for the message of `InUse`
            place.write_text(str(os.getpid()))
        yield
    finally:
        with suppress(OSError):
            place.unlink()  # while it is held: a process that waits for the removed file opens a new one
        lock.release()


def shared_lock(path: Path) -> object:
    """Return the lock of a file that one process uses in several places; it is held as long as the object lives.

    Raises:
        InUse: Another process holds the lock.
        WriteError: The lock cannot be made.
    """
    place = path.resolve().with_name(f".{path.name}.lock")
    lock = FileLock(place, timeout=0, thread_local=False, is_singleton=True)
    _acquire(lock, path, place)
    return lock


def _acquire(lock: BaseFileLock, path: Path, place: Path) -> None:
    """Acquire the lock of a path, whose lock file is at `place`.

    Raises:
        InUse: Another process holds the lock.
        WriteError: The lock cannot be made.
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
    """Make a folder and hold its lock while the block runs; a new folder that stays empty is removed.

    Raises:
        InUse: Another process works in the folder.
        WriteError: The folder cannot be made.
    """
    new = not folder.exists()
    try:
        with locked(make_folder(folder)):
            yield
    finally:
        if new:
            with suppress(OSError):  # it is not empty
                folder.rmdir()


def _in_use(path: Path, place: Path) -> InUse:
    return InUse(
        f"{path} is in use: {_holder(place)} is writing it, and a second writer would damage it. "
        "Wait until it ends, or choose another path"
    )


def _holder(place: Path) -> str:
    try:
        number = place.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        number = ""
    return f"process {number}" if number.isdigit() else "another process"
