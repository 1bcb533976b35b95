"""Atomic file writes, reads with a size limit, and file locks."""

from __future__ import annotations

import gzip
import os
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from filelock import BaseFileLock, FileLock, Timeout

from trace_gym.errors import InUse, ReadError, WriteError

CHUNK = 2**20
"""Number of bytes that are read at once."""
MOST_BYTES = 2**30
"""Maximum size in bytes of a file to read. The limit also applies to the decompressed content of a gzipped file."""
GZIP = b"\x1f\x8b"
"""First bytes of a gzipped file."""


def write(path: Path, text: str) -> None:
    """Write a file atomically, and create its folder if necessary.

    If `path` is a device or a pipe, such as ``/dev/stdout``, the text is written to it directly.

    Raises:
        WriteError: The file cannot be written. An existing file is not changed.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_text(text, encoding="utf-8")
            return
    except OSError as error:
        raise cannot_write(path, error) from None
    with replacement(path) as new:
        new.write_text(text, encoding="utf-8")


@contextmanager
def replacement(path: Path) -> Iterator[Path]:
    """Yield an empty temporary file that replaces the file at `path` if the block ends without an error.

    The folder of the file is created if necessary. Several processes may write the same file at
    once: each uses a separate temporary file, and the process that finishes last determines the content.

    Raises:
        WriteError: The file cannot be written. An existing file is not changed.
    """
    place = Path(os.path.realpath(path))  # so that a symbolic link is not replaced by a file
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=place.name)
        os.close(descriptor)
        try:
            yield Path(name)
            os.chmod(name, 0o644)  # temporary files are created with mode 0600
            os.replace(name, place)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise cannot_write(path, error) from None


@contextmanager
def folder_replacement(path: Path) -> Iterator[Path]:
    """Yield an empty temporary folder that becomes the folder at `path` if the block ends without an error.

    The temporary folder is part of a hidden folder next to `path`. An existing folder at `path` is deleted when the new
    folder is complete. If the block raises an exception, the temporary folder is deleted and an existing folder at
    `path` is not changed.

    Raises:
        WriteError: The folder cannot be written.
    """
    place = Path(os.path.realpath(path))
    make_folder(place.parent)
    try:
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as work:
            new, old = Path(work, "new"), Path(work, "old")
            new.mkdir()
            yield new
            if place.exists():
                place.rename(old)
            try:
                new.rename(place)
            except OSError:
                if old.exists():
                    old.rename(place)
                raise
    except OSError as error:
        raise cannot_write(path, error) from None


def cache_folder() -> Path:
    """Return the folder of files that trace_gym stores for the user and can create again.

    The folder is ``$XDG_CACHE_HOME/trace_gym``, or ``~/.cache/trace_gym`` if the environment variable is not set.
    """
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "trace_gym"


def make_folder(path: Path) -> Path:
    """Create a folder and its parents if they do not exist, and return the path.

    Raises:
        WriteError: A file with this name exists, or the folder cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise WriteError(
            f"the folder {path} cannot be created, because a file with this name exists. Choose another path"
        ) from None
    except OSError as error:
        raise cannot_write(path, error) from None
    return path


def cannot_write(path: Path | str, error: OSError) -> WriteError:
    """Return a `WriteError` for an error of the operating system. A `WriteError` is returned unchanged."""
    if isinstance(error, WriteError):
        return error
    return WriteError(
        f"cannot write {path}: {error.strerror or error}. Check the permissions and the free disk space, or choose "
        "another path"
    )


@contextmanager
def open_binary(path: Path | str, fix: str = "") -> Iterator[IO[bytes]]:
    """Open a regular file for reading. The content of a gzipped file is decompressed.

    Args:
        path: The file.
        fix: Last sentence of each error message, which explains how to fix the error.

    Raises:
        ReadError: The file is missing, not a regular file, not readable, or a damaged gzip file. Errors while the block
            reads the file are included.
    """
    end = f". {fix}" if fix else ""
    try:
        if not stat.S_ISREG(mode := os.stat(path).st_mode):  # a named pipe would block
            raise ReadError(f"{path} is {_kind(mode)}: expected a regular file{end}")
        with Path(path).open("rb") as raw:
            packed = raw.peek(len(GZIP)).startswith(GZIP)
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw) if packed else raw)
    except FileNotFoundError:
        raise ReadError(f"the file {path} does not exist{end}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ReadError(f"{path} is a damaged or truncated gzip file ({error}). Copy or download it again") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}{end}") from None


def read_bytes(path: Path | str, fix: str = "") -> bytes:
    """Return the content of a regular file, decompressed if it is gzipped.

    Raises:
        ReadError: The file is too large, or cannot be read (see `open_binary`).
    """
    with open_binary(path, fix) as file:
        return read_limited(file, str(path))


def read_limited(file: IO[bytes], where: str) -> bytes:
    """Return the remaining content of a file. A single large `read` would reserve memory for `MOST_BYTES`.

    Raises:
        ReadError: The content has more than `MOST_BYTES` bytes.
    """
    content = bytearray()
    while part := file.read(CHUNK):
        content += part
        if len(content) > MOST_BYTES:
            raise ReadError(f"{where} is too large: found more than {MOST_BYTES:,} bytes. Split it into smaller files")
    return bytes(content)


def read_start(path: Path) -> bytes:
    """Return the first 16 bytes of a file, without decompression.

    Raises:
        ReadError: The file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(16)
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror or error}") from None


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
        raise ReadError(f"{path} is not UTF-8 text: found an invalid byte at offset {error.start}{end}") from None


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a named pipe" if stat.S_ISFIFO(mode) else "a device or socket"


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
            place.unlink()  # before the release: a process that waits for the removed file creates a new one
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
