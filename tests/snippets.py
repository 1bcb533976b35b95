"""Snippets of README and docs, and functions that run them as printed."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any

from trace_gym.registration import VARIABLE

ROOT = Path(__file__).resolve().parents[1]
EXTRA = re.compile(r"pip install 'trace-gym\[([\w-]+)\]")


def blocks(page: Path | str, language: str) -> list[str]:
    """The fenced blocks of a page in a language, in their order; a page of ours is named from the checkout's root.

    A test unpacks all of them, so that a new one without a test is noticed.
    """
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), flags=re.S | re.M)


def runs(page: Path | str) -> list[str]:
    """The shell blocks of a page but for what installs extras, which `test_snippets` compares with those there are."""
    return [b for b in blocks(page, "sh") if not re.fullmatch(r"pip install '?trace-gym\[.*\n", b)]


@cache
def commands() -> Path:
    """A folder with the command `trace-gym`, which a checkout that is not installed lacks."""
    folder = Path(mkdtemp())
    command = folder / "trace-gym"
    command.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n")
    with command.open("a") as file:
        file.write('from trace_gym.cli import main\nif __name__ == "__main__":\n    main()\n')
    command.chmod(0o755)
    return folder


def environ(**more: str) -> dict[str, str]:
    """The variables of a shell in which this checkout is installed, and no environment of the user's is named."""
    kept = {k: v for k, v in os.environ.items() if k != VARIABLE}
    path = os.pathsep.join([str(commands()), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**kept, "PYTHONPATH": str(ROOT), "PATH": path, **more}


def shell(block: str, folder: Path, **more: str) -> str:
    """Return the output of a shell that runs a block in a folder; every line must succeed."""
    return _run(["bash", "-euo", "pipefail", "-c", block], folder, **more)


def python(block: str, folder: Path, **more: str) -> str:
    """Return the output of a new process that runs a block in a folder."""
    return _run([sys.executable, "-c", block], folder, **more)


@contextmanager
def process(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Start a process of a test, and kill it if the test fails: `Popen` alone waits until the process ends."""
    with subprocess.Popen(command, text=True, **options) as started:
        try:
            yield started
        except BaseException:
            started.kill()
            raise


@contextmanager
def port(printed: int) -> Iterator[int]:
    """The port that a page names, for one test at a time; another one where something else of the machine has it."""
    with (Path(gettempdir()) / f"trace-gym-port-{printed}-{os.getuid()}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            free = socket.create_server(("127.0.0.1", printed))
        except OSError:
            free = socket.create_server(("127.0.0.1", 0))
        with free:
            number: int = free.getsockname()[1]
        yield number


def _run(command: list[str], folder: Path, **more: str) -> str:
    done = subprocess.run(command, cwd=folder, env=environ(**more), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout[-1500:]}{done.stderr[-3000:]}"
    return done.stdout
