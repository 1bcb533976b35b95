"""File system that a sandboxed process sees: the interpreter, its packages, trace_gym, and a private folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import trace_gym
from trace_gym import target_packages
from trace_gym.sandbox import linux
from trace_gym.sandbox.limits import MIB, Limits

SYSTEM = (
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/alternatives",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SHARED_MEMORY = "/dev/shm"
"""Folder in which the module `multiprocessing` stores its locks."""
MAPPED = ("generated_envs", "templates", "trainers")
"""Folders at the top level of a source checkout that are subpackages of trace_gym."""
WORK = "/var/tmp/job"
"""Path of the private folder inside the sandbox. The path is constant and reveals nothing about the user."""


def packages() -> list[str]:
    """Return the folders with installed packages on Python's import path, without folders such as the user's home."""
    installed = [p for p in sys.path if Path(p).name in ("site-packages", "dist-packages") or _below(p, _interpreter())]
    return list(dict.fromkeys(p for p in installed if p and os.path.exists(p)))


def readable() -> list[str]:
    """Return the sorted files and folders that a sandboxed process may read. No path is inside another one."""
    home = Path(trace_gym.__file__).parent
    own = [
        str(home),
        *(str(home.parent / name) for name in MAPPED),
        *map(str, target_packages.folders()),
    ]
    wanted = [*SYSTEM, *_interpreter(), *packages(), *own]
    both = {p for w in wanted if os.path.exists(w) for p in (os.path.abspath(w), os.path.realpath(w))}
    return sorted(p for p in both if not _below(p, both - {p}))


def import_path() -> str:
    """Return the ``PYTHONPATH`` with which a new interpreter finds the same packages as this interpreter."""
    return os.pathsep.join([*packages(), str(Path(trace_gym.__file__).parent.parent)])


def _interpreter() -> list[str]:
    return [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]


def _below(path: str, folders: Iterable[str]) -> bool:
    return any(f not in ("", "/") and Path(path).is_relative_to(f) for f in folders)


def build(root: str, visible: Iterable[str], limits: Limits, owner: int) -> None:
    """Build a file system at `root` and make it the root of this mount namespace.

    The file system contains the visible paths (read-only), some devices, and a private folder.

    Args:
        root: Empty folder.
        visible: Files and folders to mount read-only at the same path.
        limits: Resource limits, which include the size of the private folder.
        owner: User id of the owner of the private folder.

    Raises:
        OSError: A system call fails.
    """
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("tmpfs", root, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=1m,mode=755")
    for path in visible:
        _show(root, path)
    for device in DEVICES:
        if os.path.exists(device):
            _show(root, device)
    for folder in (WORK, SHARED_MEMORY):
        os.makedirs(root + folder, exist_ok=True)
    linux.read_only(root)
    for folder in (WORK, SHARED_MEMORY):
        size = f"size={limits.disk_mib * MIB},nr_inodes=4096,mode=700,uid={owner}"
        linux.mount("tmpfs", root + folder, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, size)
    linux.pivot_root(root)


def _show(root: str, path: str) -> None:
    there = root + path
    os.makedirs(os.path.dirname(there), exist_ok=True)
    if os.path.islink(path) and os.path.dirname(path) == "/":  # /lib is a link to usr/lib on many systems
        os.symlink(os.readlink(path), there)
        return
    if os.path.isdir(path):
        os.makedirs(there, exist_ok=True)
    else:
        Path(there).touch()
    linux.mount(path, there, None, linux.MS_BIND | linux.MS_REC)
