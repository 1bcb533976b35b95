"""The first afternoon of a new user: the installed wheel, the commands of the README, and input that goes wrong.

`.ci/wheel` runs this file in an environment that holds only the built wheel. Everywhere else it is skipped, because a
checkout on the import path would hide what the wheel lacks.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from llm_server import Server, says

import trace_gym

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"

pytestmark = pytest.mark.skipif(
    "TRACE_GYM_AFTERNOON" not in os.environ, reason="needs the wheel in a clean environment; run .ci/wheel"
)


def trace_gym_command(*arguments: str, cwd: Path, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Run the installed command, as a user does."""
    return subprocess.run(
        ["trace-gym", *arguments], cwd=cwd, env=environment(), capture_output=True, text=True, timeout=timeout
    )


def environment() -> dict[str, str]:
    """Return the variables of a new user's shell, without settings of this machine."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "TRACE_GYM_ENVS", "OPENAI_API_KEY")}


def test_the_package_under_test_is_the_installed_wheel() -> None:
    assert ROOT not in Path(trace_gym.__file__).resolve().parents
    assert Path(sys.prefix) in Path(trace_gym.__file__).resolve().parents


# --- README ----------------------------------------------------------------------------------------------------------

REPLACED = {
    "make demo": None,  # needs the checkout, which this environment must not see; CI runs `make test`
    "make test": None,
}
"""Commands that are not run as printed: what runs instead, or None."""
SHORTER = {"--preset demo": "--preset smoke", "--preset full": "--preset smoke"}
"""Parts of commands that take hours or minutes, and what runs instead."""


def blocks() -> list[tuple[str, str]]:
    """Return the fenced blocks of the README in order: language and content."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / "README.md").read_text(), flags=re.S | re.M)


def runnable(block: str) -> str:
    """Return a shell block with the replacements applied."""
    lines = []
    for line in block.splitlines():
        command = line.partition("  #")[0].strip()
        if command in REPLACED:
            command = REPLACED[command] or ""
        for long, short in SHORTER.items():
            command = command.replace(long, short)
        lines.append(command)
    return "\n".join(lines)


def test_readme_blocks_run_in_order_as_printed(tmp_path: Path) -> None:
    shutil.copy(DATA / "tau_bench_airline.json", tmp_path / "results.json")
    for language, content in blocks():
        if language == "python":
            command = [sys.executable, "-c", content]
        elif language in ("bash", "sh", "console"):
            command = ["bash", "-euo", "pipefail", "-c", runnable(content)]
        else:
            continue
        done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, f"{content}\n{done.stdout[-1500:]}{done.stderr[-3000:]}"


# --- Concurrency -----------------------------------------------------------------------------------------------------


@pytest.fixture
def endpoint() -> Iterator[Server]:
    """An OpenAI-compatible stub that answers every request with one sentence."""
    server = Server(says("Which reservation do you mean?"))
    yield server
    server.close()


def test_rollout_with_eight_threads_scores_every_episode(endpoint: Server, tmp_path: Path) -> None:
    done = trace_gym_command(
        *("rollout", "tau2_precondition", "--policy", f"openai:stub@{endpoint.url}", "-n", "16", "--out", "a.jsonl"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert len(records) == len({r["task"] for r in records}) == 16
    assert all(r["success"] is not None for r in records)
    assert endpoint.busiest == 8


def test_second_run_in_the_same_folder_is_refused_and_the_first_one_finishes(tmp_path: Path) -> None:
    arguments = ["trace-gym", "run", "--preset", "smoke", "--out", "runs/one"]
    first = subprocess.Popen(arguments, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "runs" / "one" / "config.json").exists():
            assert first.poll() is None and time.monotonic() < deadline, "the first run did not start"
            time.sleep(0.05)
        second = trace_gym_command(*arguments[1:], cwd=tmp_path)
        assert second.returncode == 1
        assert "runs/one" in second.stderr and "Traceback" not in second.stderr
        first.send_signal(signal.SIGKILL)  # the lock must not survive its holder
    finally:
        first.kill()
        first.communicate()
    third = trace_gym_command(*arguments[1:], cwd=tmp_path, timeout=900)
    assert third.returncode == 0, third.stderr
    assert (tmp_path / "runs" / "one" / "report.html").exists()
    for file in (tmp_path / "runs" / "one" / "rollouts").rglob("*.jsonl"):
        ids = [json.loads(line)["id"] for line in file.read_text().splitlines()]
        assert len(ids) == len(set(ids)), file
