"""Worker processes of validation end when the command that started them does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from trace_gym.sandbox.process_monitor import scan_descendants

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")

HANGS = """
import sys
from mutants.hotel import Hotel

class Hangs(Hotel):
    id = "hangs"
    def oracle(self):
        print("running", file=sys.stderr, flush=True)
        while True:
            pass
        yield
"""


def soon(holds: Callable[[], bool], seconds: float = 30.0) -> bool:
    for _ in range(round(seconds / 0.05)):
        if holds():
            return True
        time.sleep(0.05)
    return False


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda n: n.name)
def test_workers_end_with_the_command(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "hanging.py").write_text(HANGS)
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parent)])
    command = [sys.executable, "-c", "from trace_gym.cli.entry import main; main()", "validate", "hanging:Hangs"]
    with subprocess.Popen(
        [*command, "--profile", "quick", "--only", "TG201", "--workers", "1", "--budget", "600"],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as caller:
        assert caller.stderr is not None
        assert any("running" in line for line in caller.stderr)
        workers = list(scan_descendants(caller.pid))
        assert workers
        caller.send_signal(number)
        caller.wait(timeout=60)
        assert soon(lambda: not any(map(alive, workers))), "a worker outlives the command"


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_process_and_its_group_end_with_their_parent(platform: str) -> None:
    """On macOS a thread takes the place of the signal that Linux sends."""
    child = (
        "import os, sys, time; os.setpgid(0, 0)\n"
        "from trace_gym import parent_death\n"
        f"sys.platform = {platform!r}; parent_death.PERIOD = 0.02\n"
        "parent_death.die_with_parent()\n"
        "print(os.getpid(), flush=True)\nwhile True: time.sleep(0.01)"
    )
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        pid = int(started.stdout.readline())
        assert alive(pid)
        started.kill()
        started.wait()
        assert soon(lambda: not alive(pid))


def test_process_that_starts_after_its_parent_died_ends_at_once() -> None:
    code = "from trace_gym.parent_death import die_with_parent; die_with_parent(1 << 22); print('alive')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and not done.stdout
