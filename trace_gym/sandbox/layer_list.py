"""Protection layers of the sandbox, and tests for their availability on this machine.

The tests run in separate processes, because most layers cannot be removed from a process once they are applied.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass

from trace_gym.sandbox import filesystem_view, landlock, linux, namespaces, seccomp
from trace_gym.sandbox.limits import Limits

ENVIRONMENT, LIMITS, WATCH, NAMESPACES = "environment", "limits", "watch", "namespaces"
USER, LANDLOCK, SECCOMP, TRIPWIRE = "user", "landlock", "seccomp", "tripwire"

LAYERS = {
    ENVIRONMENT: "Of the caller's environment variables, only PATH and four other system variables are passed on, and "
    "therefore no API keys.",
    LIMITS: "The kernel limits the processor time, memory, open files and file sizes of each process (setrlimit).",
    WATCH: "A supervisor measures the processor time, memory and number of all processes, and kills all of them if "
    "they exceed a limit.",
    NAMESPACES: "The processes have a separate file system that is read-only except for a private folder in memory, "
    "have no network, and cannot see other processes (mount, net, pid, ipc and uts namespaces).",
    USER: "The module runs as a user that owns no files; only root can enable this layer.",
    LANDLOCK: "The module can read only the files that Python needs, can write only to the private folder, and cannot "
    "open TCP connections.",
    SECCOMP: "The kernel refuses system calls for sockets, tracing, mounting and new namespaces.",
    TRIPWIRE: "An audit hook of the Python interpreter refuses and records operations of the module such as opening "
    "files, importing modules and starting processes.",
}
"""Description of each layer by name, outermost layer first."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer and its state on this machine."""

    name: str
    active: bool
    message: str
    """Description of the layer if it is active, else the reason why it is not available."""


def layers_table() -> str:
    """Return the layers as the Markdown table of ``docs/explanation/sandbox.md``."""
    rows = "".join(f"| `{name}` | {message} |\n" for name, message in LAYERS.items())
    return f"| Layer | Protection |\n|---|---|\n{rows}"


def active(disable_layers: Collection[str] = ()) -> dict[str, str]:
    """Return a dict from each layer to the reason why it is not active, or `""` if it is active.

    Args:
        disable_layers: Layers to disable.
    """
    found = dict.fromkeys(LAYERS, "")
    found[LIMITS] = "" if os.name == "posix" else f"{sys.platform} has no setrlimit"
    found[WATCH] = "" if os.path.isdir("/proc/self") else f"{sys.platform} has no /proc"
    found |= dict.fromkeys(disable_layers, "left out by the caller")
    for name, test in _TESTS.items():
        missing = "" if sys.platform == "linux" else f"{sys.platform} is not Linux"
        found[name] = found[name] or missing or _run_test(test, found)
    return found


def _run_test(test: Callable[[dict[str, str]], None], found: dict[str, str]) -> str:
    """Run a test in a child process and return its error message, or `""` if it succeeds."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        message = b""
        try:
            test(found)
        except BaseException as error:
            message = (str(error) or type(error).__name__).encode()[:300]
        os.write(write, message or b"+")
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        message_read = pipe.read().decode("utf-8", "replace")
    os.waitpid(child, 0)
    return "" if message_read == "+" else message_read or "the test process died"


def _namespaces(found: dict[str, str]) -> None:
    def inside(_: dict[str, str]) -> None:
        namespaces.enter()
        filesystem_view.build(folder, filesystem_view.readable(), Limits(), os.geteuid())

    with tempfile.TemporaryDirectory(prefix="trace-gym-") as folder:
        if message := _run_test(inside, found):  # the mounts end with the test process
            raise OSError(f"the kernel or the container does not permit new namespaces: {message}")


def _user(found: dict[str, str]) -> None:
    if os.geteuid() != 0:
        raise OSError("only root can switch to another user, and the current user is not root")
    if not found[NAMESPACES]:
        if not namespaces.enter():  # no check of readable files is required: mounts also show root's folders
            raise OSError("the current user is root in a container that does not have root privileges")
        namespaces.become(namespaces.owner())
    else:
        namespaces.become(namespaces.owner())
        for path in (sys.executable, *filesystem_view.readable()):
            if not os.access(path, os.R_OK):
                raise OSError(f"only root can read {path}, so the sandbox cannot switch to another user")


def _landlock(found: dict[str, str]) -> None:
    if not landlock.version():
        raise OSError("the kernel does not support Landlock")
    landlock.restrict([], [])


def _seccomp(found: dict[str, str]) -> None:
    if not seccomp.available():
        raise OSError(f"the system call filter does not support the processor architecture {linux.MACHINE}")
    seccomp.install()


_TESTS = {NAMESPACES: _namespaces, USER: _user, LANDLOCK: _landlock, SECCOMP: _seccomp}
