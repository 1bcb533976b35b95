"""What a confined process sees of the file system: the interpreter, its packages, ours, and a private folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import trace_gym
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
"""Where the locks of multiprocessing live."""
MAPPED = ("generated_envs", "templates", "trainers")
"""Folders of a checkout that are packages of ours."""
WORK = "/var/tmp/job"
"""The private folder, inside a file system of its own; its name tells a module nothing."""


def packages() -> list[str]:
    """Folders that Python imports from, without those that hold more than packages, such as a home folder."""
    installed = [p for p in sys.path if Path(p).name in ("site-packages", "dist-packages") or _below(p, _interpreter())]
    return list(dict.fromkeys(p for p in installed if p and os.path.exists(p)))


def readable() -> list[str]:
    """Every file and folder that a confined process may read, sorted, without those that lie below another."""
    home = Path(trace_gym.__file__).parent
    own = [str(home), *(str(home.parent / name) for name in MAPPED)]
    wanted = [*SYSTEM, *_interpreter(), *packages(), *own]
    both = {p for w in wanted if os.path.exists(w) for p in (os.path.abspath(w), os.path.realpath(w))}
    return sorted(p for p in both if not _below(p, both - {p}))


def import_path() -> str:
    """``PYTHONPATH`` under which a fresh interpreter finds what this one does."""
    return os.pathsep.join([*packages(), str(Path(trace_gym.__file__).parent.parent)])


def _interpreter() -> list[str]:
    return [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]


def _below(path: str, folders: Iterable[str]) -> bool:
    return any(f not in ("", "/") and Path(path).is_relative_to(f) for f in folders)


def build(root: str, visible: Iterable[str], limits: Limits, owner: int) -> None:
    """Make `root` the root of this mount namespace, with the visible paths, devices and a private folder.

    Args:
        root: An empty folder.
        visible: What else is seen, read-only, where it is.
        limits: Sizes.
        owner: Whose the private folder is.

    Raises:
        OSError: The kernel refuses.
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
