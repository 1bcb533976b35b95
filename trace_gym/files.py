"""Atomic file writes, and reads with a size limit."""

from __future__ import annotations

import ctypes
import glob
import gzip
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from trace_gym.errors import ReadError, WriteError

CHUNK = 2**20
"""Number of bytes that are read at once."""
MOST_BYTES = 2**30
"""Maximum size in bytes of a file to read. The limit also applies to the decompressed content of a gzipped file."""
UMASK = os.umask(0o077)
"""Permissions that new files do not get."""
os.umask(UMASK)  # the only way to read the value is to set it
AT_FDCWD, RENAME_EXCHANGE = -100, 2
"""Constants of the system call ``renameat2``: paths are relative to the working directory; exchange two files."""
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

    The folder of the file is created if necessary. An existing file keeps its permissions. Several processes may write
    the same file at once: each uses a separate temporary file, and the process that finishes last determines the
    content.

    Raises:
        WriteError: The file cannot be written. An existing file is not changed.
    """
    place = Path(os.path.realpath(path))  # so that a symbolic link is not replaced by a file
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o666 & ~UMASK
        descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=place.name)
        os.close(descriptor)
        try:
            yield Path(name)
            os.chmod(name, mode)  # temporary files are created with mode 0600
            os.replace(name, place)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise cannot_write(path, error) from None


def move(source: Path, target: Path) -> None:
    """Move a file or folder in one step to another path in the same file system. An existing file is replaced.

    Raises:
        WriteError: The file or folder cannot be moved. An existing file is not changed.
    """
    try:
        os.replace(source, target)
    except OSError as error:
        raise cannot_write(target, error) from None


@contextmanager
def folder_replacement(path: Path) -> Iterator[Path]:
    """Yield an empty temporary folder that becomes the folder at `path` if the block ends without an error.

    The temporary folder is part of a hidden folder next to `path`. If the block raises an exception, it is deleted, and
    an existing folder at `path` is not changed. Otherwise the two folders are exchanged in one step, and the old one is
    deleted. Some systems and file systems cannot exchange folders. There, the old folder gets the name ``.<name>.old``
    before the new one gets its name. If the process is killed between these two steps, `restore_folder` restores it.

    Raises:
        WriteError: The folder cannot be written. An existing folder is not changed.
    """
    place = Path(os.path.realpath(path))
    make_folder(place.parent)
    if place.exists() and not place.is_dir():
        raise WriteError(f"{path} cannot be written, because it is a file: expected a folder. Choose another path")
    try:
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as work:
            new = Path(work, "new")
            new.mkdir()
            yield new
            _replace_folder(place, new)
    except OSError as error:
        raise cannot_write(path, error) from None


def _replace_folder(place: Path, new: Path) -> None:
    """Move the folder `new` to `place`. An existing folder is afterwards at the path `new`, or deleted."""
    if not place.exists():
        new.rename(place)
    elif not _exchange(place, new):
        old = _old(place)
        shutil.rmtree(old, ignore_errors=True)  # an earlier process was killed after it had replaced the folder
        place.rename(old)
        try:
            new.rename(place)
        except BaseException:
            if not place.exists():
                old.rename(place)
            raise
        shutil.rmtree(old, ignore_errors=True)


def restore_folder(path: Path) -> None:
    """Restore the folder at `path` if a process was killed while it replaced the folder (see `folder_replacement`).

    Other hidden folders that killed processes left are deleted, so no process may be writing the folder.
    """
    place = Path(os.path.realpath(path))
    if not place.exists():
        with suppress(FileNotFoundError):  # there is no old folder, or another process of the same run was faster
            _old(place).rename(place)
    for unfinished in place.parent.glob(f".{glob.escape(place.name)}.*"):
        shutil.rmtree(unfinished, ignore_errors=True)


def remove_folder(path: Path) -> None:
    """Delete a folder, and the hidden folders that killed processes left when they replaced it."""
    restore_folder(path)
    shutil.rmtree(path, ignore_errors=True)


def _old(place: Path) -> Path:
    return place.with_name(f".{place.name}.old")


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step, and return whether the system and the file system support it."""
    if sys.platform != "linux":
        return False
    paths = (AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other))
    try:
        failed: int = ctypes.CDLL(None).renameat2(*paths, RENAME_EXCHANGE)
    except AttributeError:  # a C library without this function
        return False
    return failed == 0


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
