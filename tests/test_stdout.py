"""Output of commands: nothing that an environment prints mixes with it, and no size of the terminal hides it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trace_gym import registry, terminal
from trace_gym.cli import main
from trace_gym.types import sha256

RUN = [sys.executable, "-c", "from trace_gym.cli import main; main()"]
NOISE = "NOISE OF THE WORLD"


@pytest.fixture
def noisy_folder(user_folder: Path) -> Path:
    """The toy environment, which prints in `generate`, in a tool, in `reply` and in `verify`."""
    module = user_folder / "library_loans.py"
    text, count = module.read_text(), 0
    for member in ("def generate(", "def opening(", "def reply(", "def verify(", "def oracle("):
        head, found, tail = text.partition(member)
        signature, colon, body = tail.partition(":\n")
        text = f"{head}{found}{signature}{colon}        print({NOISE!r})\n{body}" if found else text
        count += bool(found)
    assert count >= 4
    module.write_text(text)
    card = module.with_suffix(".json")
    card.write_text(json.dumps(json.loads(card.read_text()) | {"module_sha256": sha256(module.read_bytes())}))
    registry.refresh()
    return user_folder


def run(line: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["trace-gym", *line])
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, ended.code


@pytest.mark.parametrize(
    "line",
    [
        ["rollout", "library_loans", "--policy", "oracle", "-n", "2", "--out", "out.jsonl"],
        ["show", "library_loans"],
        ["list", "--json"],
        ["validate", "library_loans", "--only", "TG101", "--engine", "here", "--profile", "quick", "--json"],
    ],
    ids=lambda line: line[0],
)
def test_prints_of_an_environment_do_not_reach_stdout(
    line: list[str],
    noisy_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    run(line, monkeypatch)
    out, err = capsys.readouterr()
    assert out and NOISE not in out
    assert "--json" not in line or json.loads(out)
    assert line[0] == "list" or NOISE in err


def test_help_is_printed_to_stdout(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(["list", "--help"], monkeypatch)
    assert "Print JSON" in capsys.readouterr().out


def test_messages_of_the_mcp_server_are_all_of_its_stdout(noisy_folder: Path) -> None:
    pytest.importorskip("mcp")
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "talk_to_user", "arguments": {"text": "Hello."}},
        },
    ]
    command, environment = [*RUN, "serve-mcp", "library_loans"], {**os.environ, "TRACE_GYM_ENVS": str(noisy_folder)}
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True, env=environment) as server:
        assert server.stdin and server.stdout and server.stderr
        lines = []
        for request in requests:
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            if "id" in request:
                lines.append(server.stdout.readline())
        server.stdin.close()
        lines += server.stdout.read().splitlines()
        noise = server.stderr.read()
    assert [json.loads(line).get("id") for line in lines] == [1, 2]
    assert NOISE in noise


def test_reserved_stdout_is_given_back_after_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    with pytest.raises(ValueError), terminal.reserved_stdout(), terminal.reserved_stdout():
        terminal.say("data")
        print("noise")
        raise ValueError
    assert sys.stdout is before
    assert capsys.readouterr() == ("data\n", "noise\n")


@pytest.mark.parametrize("columns", ["0", "00", "-1", "²", "9" * 30, "9" * 5000, "x"])
@pytest.mark.parametrize("variable", ["COLUMNS", "LINES"])
def test_unusable_size_of_the_terminal_hides_no_output(
    variable: str, columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, columns)
    run(["validate", "--list"], monkeypatch)
    shown = capsys.readouterr().out
    assert "TG101" in shown and "TG901" in shown
    assert max(map(len, shown.splitlines())) <= 10_000


@pytest.mark.parametrize("text", ["", " \n\n", "\ufeff"])
def test_scan_of_an_empty_file_is_an_error(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["trace-gym", "scan", str(tmp_path / "empty.py")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "empty.py is empty. Pass a file that contains a Python module" in capsys.readouterr().err
