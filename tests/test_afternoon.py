"""The first afternoon of a new user: the installed wheel, the commands of the README, and input that goes wrong.

`.ci/wheel` runs this file in an environment that holds only the built wheel. Everywhere else it is skipped, because a
checkout on the import path would hide what the wheel lacks.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from llm_server import Server, message, slowly
from malformed import FILES

import trace_gym

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"

READERS = (
    ("diagnose FILE --out out", ".json"),
    ("evaluate FILE --out out", ".json.gz"),
    ("run FILE --out out", ".yaml"),
    ("train tau2_precondition --config FILE --out out", ".yaml"),
)
MALFORMED = ("giant integer in an object", "alias bomb", "null", "markup and escapes", "truncated gzip", "deep JSON")
"""Kinds of files that the first users passed; `test_malformed.py` passes every file to every command."""

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

SHORTER = {
    "--preset demo": "--preset smoke",
    "--out runs/precondition": "--level 0 --iterations 2 --out runs/precondition",
    "rollout tau2_airline_desk --out base.jsonl": "rollout tau2_airline_desk -n 20 --level 0 --out base.jsonl",
    "rollout tau2_precondition --user": "rollout tau2_precondition -n 4 --level 0 --user",
    "trace-gym validate tau2_precondition": "trace-gym validate tau2_precondition --profile quick",
    "--out qwen.jsonl": "--level 0 -n 4 --out qwen.jsonl",
    "--out trained.jsonl": "--level 0 -n 4 --out trained.jsonl",
    "lr: 2.0e-5\n": "lr: 2.0e-5\ngroups: 1\nsamples: 4\n",
    "--out runs/qwen": "--level 0 --iterations 2 --out runs/qwen",
}
"""Parts of commands that take minutes, and what runs instead."""
REAL = "Qwen/Qwen3-4B-Instruct-2507"
"""Name of a model in commands, in whose place a folder is used."""
ADAPTER = "trace-gym rollout tau2_airline_desk -n 20 --level 0 --adapter runs/precondition/adapter --out adapter.jsonl"
"""The command behind the file that `trace-gym evaluate base.jsonl adapter.jsonl` compares."""


OVERVIEW = (ROOT / "docs" / "guides" / "index.md").read_text(encoding="utf-8")


def printed(language: str) -> list[str]:
    """Return the fenced blocks of the README and of the overview of the guides in a language, in order."""
    text = (ROOT / "README.md").read_text(encoding="utf-8") + OVERVIEW
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.S | re.M)


def documented() -> list[str]:
    """Return the commands in the table of the overview of the guides, in order."""
    commands = re.findall(r"^\| [^|]+ \| `(trace-gym [^`]+)`", OVERVIEW, flags=re.M)
    assert len(commands) >= 8
    return commands


def shell(command: str, folder: Path, **more: str) -> None:
    """Run a shell command as a new user does; every line must succeed."""
    for long, short in SHORTER.items():
        if short not in command:
            command = command.replace(long, short)
    run(["bash", "-euo", "pipefail", "-c", command], folder, **more)


def run(command: list[str], folder: Path, **more: str) -> None:
    done = subprocess.run(
        command, cwd=folder, env=environment() | more, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-1500:]}{done.stderr[-3000:]}"


def test_examples_of_the_readme_run_as_printed(tmp_path: Path) -> None:
    from tiny_model import save_stand_in

    save_stand_in(tmp_path / "stand_in")  # random weights, but prompts with the whole policy and all tools
    assert any(f"name: {REAL}" in block for block in printed("bash"))
    for block in printed("bash"):
        shell(block.replace(REAL, "./stand_in"), tmp_path)
    for block in printed("python"):
        run([sys.executable, "-c", block], tmp_path)


def test_readme_commands_for_an_agent_behind_an_api_run_as_printed(endpoint: Server, tmp_path: Path) -> None:
    [block] = [b for b in printed("sh") if "openai:" in b]
    shell(block, tmp_path, OPENAI_API_KEY="none", OPENAI_BASE_URL=endpoint.url)
    assert (tmp_path / "diagnosis.json").exists()


def test_documented_commands_run_in_order_as_printed(endpoint: Server, tmp_path: Path) -> None:
    depot = DATA / "parcel_depot"
    files = " ".join(f"--{name} {depot / file}" for name, file in TARGET.items())
    shell(f"trace-gym target init parcel_depot {files}", tmp_path)
    for command in documented():
        if "--preset demo" in command:
            interrupt(command, tmp_path)
        if "adapter.jsonl" in command:
            shell(ADAPTER, tmp_path)
        model = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": endpoint.url} if "openai:" in command else {}
        shell(command, tmp_path, **model)
    runs = tmp_path / "runs" / "smoke"
    assert (runs / "report.html").exists()
    for file in (runs / "rollouts").rglob("*.jsonl"):
        ids = [json.loads(line)["id"] for line in file.read_text().splitlines()]
        assert len(ids) == len(set(ids)), file


def interrupt(command: str, folder: Path) -> None:
    """Start a run, check that a second one in the same folder is refused, and kill the first one."""
    arguments = command.replace("--preset demo", "--preset smoke").split()
    first = subprocess.Popen(arguments, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 120
        while not list((folder / "runs" / "smoke" / "rollouts").rglob("*.jsonl")):
            assert first.poll() is None and time.monotonic() < deadline, "the first run did not start"
            time.sleep(0.05)
        second = trace_gym_command(*arguments[1:], cwd=folder)
        assert second.returncode == 1
        assert "runs/smoke is in use" in second.stderr and "Traceback" not in second.stderr
    finally:
        first.send_signal(signal.SIGKILL)  # its lock must not survive it
        first.communicate()


TARGET = {"tools": "tools.json", "policy": "policy.md", "trajectories": "episodes.jsonl"}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_file_ends_every_reader_with_one_message(name: str, tmp_path: Path) -> None:
    for number, (command, suffix) in enumerate(READERS):
        file = tmp_path / f"given-{number}{suffix}"
        FILES[name](file)
        done = trace_gym_command(*command.replace("FILE", file.name).split(), cwd=tmp_path, timeout=60)
        assert done.returncode not in (0, None) and "Traceback" not in done.stderr, f"{command}: {done.stderr[-2000:]}"
        assert file.name in done.stderr, f"{command}: {done.stderr[-2000:]}"
        assert not (tmp_path / "out").exists(), command


def test_run_into_an_existing_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    done = trace_gym_command("run", "--preset", "smoke", "--out", "taken", cwd=tmp_path)
    assert done.returncode == 1 and "a file with this name exists" in done.stderr
    assert (tmp_path / "taken").read_text() == "mine"


# --- Concurrency -----------------------------------------------------------------------------------------------------


@pytest.fixture
def endpoint() -> Iterator[Server]:
    """An OpenAI-compatible stub that answers every request with one sentence."""
    server = Server(slowly(message("Which reservation do you mean?"), 0.2))
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
