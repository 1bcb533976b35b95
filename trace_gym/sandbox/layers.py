"""The layers of the sandbox, and which of them this machine has; each is tried in a process of its own."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass

from trace_gym.sandbox import landlock, linux, namespaces, seccomp, view
from trace_gym.sandbox.limits import Limits

ENVIRONMENT, LIMITS, WATCH, NAMESPACES = "environment", "limits", "watch", "namespaces"
USER, LANDLOCK, SECCOMP, TRIPWIRE = "user", "landlock", "seccomp", "tripwire"

LAYERS = {
    ENVIRONMENT: "No variable of the caller's environment is passed on, and so no key.",
    LIMITS: "Each process has limits on processor time, memory, open files and file sizes (setrlimit).",
    WATCH: "The tree of processes is watched for processor time, memory and number, and killed as a whole.",
    NAMESPACES: "The tree has its own file system (read-only but for a private folder in memory), no network, and sees "
    "no other process (mount, net, pid, ipc and uts namespaces).",
    USER: "It runs as a user to whom nothing belongs; available to root only.",
    LANDLOCK: "It reads only what Python needs, writes only to its private folder, and makes no TCP connection.",
    SECCOMP: "System calls for sockets, tracing, mounting and new namespaces are refused.",
    TRIPWIRE: "The interpreter refuses and notes what a module does besides computing (an audit hook).",
}
"""What each layer does, outermost first."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer on this machine."""

    name: str
    active: bool
    says: str
    """What it does, or why it is missing."""


def layers_markdown() -> str:
    """The layers as the table of ``docs/sandbox.md``."""
    rows = "".join(f"| `{name}` | {says} |\n" for name, says in LAYERS.items())
    return f"| Layer | What it does |\n|---|---|\n{rows}"


def active(without: Collection[str] = ()) -> dict[str, str]:
    """The layers in their order: an empty text for one that is active, else why it is not.

    Args:
        without: Layers that are to be left out.
    """
    found = dict.fromkeys(LAYERS, "")
    found[LIMITS] = "" if os.name == "posix" else f"{sys.platform} has no setrlimit"
    found[WATCH] = "" if os.path.isdir("/proc/self") else f"{sys.platform} has no /proc"
    found |= dict.fromkeys(without, "left out by the caller")
    for name, test in _TESTS.items():
        missing = "" if sys.platform == "linux" else f"{sys.platform} is not Linux"
        found[name] = found[name] or missing or _tried(test, found)
    return found


def _tried(test: Callable[[dict[str, str]], None], found: dict[str, str]) -> str:
    """What a test raises in a process of its own; empty where it succeeds."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        said = b""
        try:
            test(found)
        except BaseException as error:
            said = (str(error) or type(error).__name__).encode()[:300]
        os.write(write, said or b"+")
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read().decode("utf-8", "replace")
    os.waitpid(child, 0)
    return "" if told == "+" else told or "the process that tried it died"


def _namespaces(found: dict[str, str]) -> None:
    def inside(_: dict[str, str]) -> None:
        namespaces.enter()
        view.build(folder, view.readable(), Limits(), os.geteuid())

    with tempfile.TemporaryDirectory(prefix="trace-gym-") as folder:
        if wrong := _tried(inside, found):  # what it mounts is gone with it
            raise OSError(f"{wrong} (the kernel, or the container around it, does not grant it)")


def _user(found: dict[str, str]) -> None:
    if os.geteuid() != 0:
        raise OSError("only root can become somebody else; you are not root")
    if not found[NAMESPACES]:
        if not namespaces.enter():  # there, what lies in root's own folders is seen as well
            raise OSError("root of a container without the privileges of root")
        namespaces.become(namespaces.owner())
    else:
        namespaces.become(namespaces.owner())
        for path in (sys.executable, *view.readable()):
            if not os.access(path, os.R_OK):
                raise OSError(f"{path} can be read by root only")


def _landlock(found: dict[str, str]) -> None:
    if not landlock.version():
        raise OSError("the kernel has no Landlock")
    landlock.restrict([], [])


def _seccomp(found: dict[str, str]) -> None:
    if not seccomp.available():
        raise OSError(f"no filter is written for {linux.MACHINE}")
    seccomp.install()


_TESTS = {NAMESPACES: _namespaces, USER: _user, LANDLOCK: _landlock, SECCOMP: _seccomp}
