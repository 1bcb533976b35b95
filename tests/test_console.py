"""Terminal output: text of environments and files is literal, and no stream causes a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trace_gym import registry
from trace_gym.cli import main
from trace_gym.terminal import console, visible
from trace_gym.types import Finding, Replay, Report

RUN = [sys.executable, "-c", "from trace_gym.cli import main; main()"]
EVIL = "[/x] \x1b]0;owned\x07 \x1b[2J \u202e :smile: [bold]"


def shell(line: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell line in which ``tg`` is the command line."""
    command = f'tg() {{ "{sys.executable}" -c "from trace_gym.cli import main; main()" "$@"; }}; {line}'
    return subprocess.run(["bash", "-c", command], capture_output=True, timeout=120, env={**os.environ, **env})


def harmless(output: str) -> bool:
    return "\x1b" not in output and "\x07" not in output and "\u202e" not in output


@pytest.fixture
def evil_folder(user_folder: Path) -> Path:
    """The toy environment with markup and escapes in everything that a command may print of it."""
    module = user_folder / "library_loans.py"
    text = module.read_text().replace(
        "def opening(self) -> str:", "def opening(self) -> str:\n        return EVIL\n\n    def _opening(self) -> str:"
    )
    assert "return EVIL" in text
    text = text.replace("Check.goal(", "evil_goal(").replace("Check.guard(", "evil_guard(")
    text += f"\n\nEVIL = {EVIL!r}\n\n\ndef evil_goal(says, holds):\n    return Check.goal(says + EVIL, holds)\n"
    text += "\n\ndef evil_guard(says, holds):\n    return Check.guard(says + EVIL, holds)\n"
    module.write_text(text)
    card = module.with_suffix(".json")
    fields = json.loads(card.read_text()) | {"title": EVIL, "capability": EVIL}
    from trace_gym.types import sha256

    card.write_text(json.dumps(fields | {"module_sha256": sha256(module.read_bytes())}))
    registry.refresh()
    return user_folder


@pytest.mark.parametrize("line", [["list"], ["show", "library_loans"], ["play", "library_loans"]])
def test_escapes_and_markup_of_an_environment_are_shown_literally(
    line: list[str], evil_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["trace-gym", *line])
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("sys.stdin", __import__("io").StringIO("hello\n/policy\n/help\n/quit\n"))
    with pytest.raises(SystemExit) as ended:
        main()
    output = "".join(capsys.readouterr())
    assert not ended.value.code and harmless(output)
    assert "[/x] \\x1b]0;owned" in output and ":smile: [bold]" in output


def test_finding_with_markup_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replay = Replay(scenario="tau2_precondition/0/0", actions=(EVIL,))
    finding = Finding(code="TG201", property="oracle", verdict="failed", message=EVIL, replay=replay)
    report = Report(env="tau2_precondition", passed=False, findings=(finding,), scenarios=1)
    (tmp_path / "report.json").write_text(report.model_dump_json())
    monkeypatch.setattr(sys, "argv", ["trace-gym", "replay", str(tmp_path / "report.json")])
    with pytest.raises(SystemExit) as ended:
        main()
    output = "".join(capsys.readouterr())
    assert not ended.value.code and harmless(output) and "[/x] \\x1b]0;owned" in output


def test_error_with_escapes_is_shown_literally(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["trace-gym", "diagnose", EVIL])
    with pytest.raises(SystemExit):
        main()
    assert harmless("".join(capsys.readouterr()))


def test_every_control_character_becomes_visible() -> None:
    controls = [chr(c) for c in [*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2066, 0xD800]]
    assert all(visible(c).isascii() and visible(c).startswith("\\") for c in controls)
    assert visible("plain \u00fc\u6f22 \U0001f600\n\ttab") == "plain \u00fc\u6f22 \U0001f600\n\ttab"


def test_console_keeps_its_own_styles(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    console().print("\x1b[2Jtext", style="bold")
    output = capsys.readouterr().out
    assert "\x1b[1m" in output and "\x1b[2J" not in output


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("set -o pipefail; tg show tau2_precondition | head -c 1", {0}),
        ("tg list > /dev/full", {1}),
        ("tg list >&-", {0}),
        ("tg play tau2_precondition <&-", {0}),
        ("printf 'h\\xff\\xfei\\n/quit\\n' | tg play tau2_precondition", {0}),
        ("COLUMNS=5 tg list", {0}),
        ("PYTHONUTF8=0 PYTHONIOENCODING=ascii tg show tau2_precondition", {0}),
        ("tg diagnose /dev/null", {1}),
        ("tg rollout tau2_precondition --policy oracle -n 3 --out /dev/full", {1}),
        ("tg rollout tau2_precondition --policy oracle -n 1 --out /etc/hostname/a.jsonl", {1}),
        ("tg run --preset smoke --out /etc/hostname", {1}),
        ("tg train tau2_precondition --out /etc/hostname", {1}),
    ],
)
def test_no_stream_or_place_ends_in_a_traceback(line: str, codes: set[int]) -> None:
    result = shell(line)
    said = result.stderr.decode(errors="replace")
    assert result.returncode in codes, said
    assert "Traceback" not in said and "Exception ignored" not in said
    assert (result.returncode == 0) == (not said.strip()), said


def test_interrupted_command_says_so(tmp_path: Path) -> None:
    code = (
        "import os, signal, trace_gym.registry as r\n"
        "r.list_environments = lambda: os.kill(os.getpid(), signal.SIGINT)\n"
        "from trace_gym.cli import main; main()"
    )
    result = subprocess.run([sys.executable, "-c", code, "list"], capture_output=True, text=True, timeout=60)
    assert result.returncode == 130 and result.stderr.startswith("trace-gym: interrupted")


def test_second_rollout_on_the_same_file_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = [*RUN, "rollout", "tau2_precondition", "--policy", "oracle", "-n", "5", "--out", str(path)]
    both = [subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ended = [(child.communicate(timeout=120)[1], child.returncode) for child in both]
    assert all(code == 0 or (code == 1 and "is in use" in said) for said, code in ended)
    ids = [json.loads(row)["id"] for row in path.read_text().splitlines()]
    assert len(ids) == len(set(ids)) == 5
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--policy", "oracle", "--temperature", "0"], "--temperature has no effect on the policy oracle"),
        (["--policy", "idle", "--max-tokens", "9"], "--max-tokens has no effect on the policy idle"),
        (["--policy", "model", "--base-url", "http://a/v1"], "--base-url has no effect on the policy model"),
        (["--policy", "openai:m", "--adapter", "a"], "the endpoint of the model has no URL"),
        (["--policy", "openai:m@http://a/v1", "--base-url", "http://b/v1"], "Remove one of the URLs"),
        (["--policy", "openai:@http://a/v1"], "is not a valid model URI"),
        (["--policy", "hf:lab+a", "--adapter", "b"], "--adapter has no effect on the policy hf:lab+a"),
        (["--policy", "hf:lab", "--model", "lab"], "--model has no effect on the policy hf:lab"),
        (["--policy", "mixture:0.4", "--model", "lab"], "--model has no effect on the policy mixture:0.4"),
        (["--policy", "mixture:2"], "expected model, openai:MODEL[@URL], hf:MODEL[+ADAPTER], mixture:P, or one of"),
        (["--policy", "openai:m@http://"], "is not a valid URL of an endpoint"),
    ],
)
def test_option_without_an_effect_is_an_error(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "a.jsonl"
    monkeypatch.setattr(sys, "argv", ["trace-gym", "rollout", "tau2_precondition", *options, "--out", str(out)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1 and message in capsys.readouterr().err and not out.exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("rollout", "tau2_precondition", "--policy", "openai:m@127.0.0.1:1/v1"), "contains a host without a scheme"),
        (("rollout", "tau2_precondition", "--policy", "openai:m@localhost"), "contains a host without a scheme"),
        (("rollout", "tau2_precondition", "--policy", "openai:m@"), "has no valid URL: found '' after @"),
        (("rollout", "tau2_precondition", "--policy", "openai:m@ftp://x/"), "has no valid URL: found 'ftp://x/'"),
        (("rollout", "tau2_precondition", "--policy", "openai:m@http://h/v1", "--temperature", "inf"), "found inf"),
    ],
)
def test_model_options_are_checked_before_any_request(line: tuple[str, ...], message: str, tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    result = subprocess.run([*RUN, *line, "--out", str(out)], capture_output=True, text=True, timeout=60)
    assert result.returncode == 1 and message in result.stderr and "Traceback" not in result.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    "line", ["show ENV --seed -1", "show ENV --level -1", "play ENV --seed -1", "validate ENV --workers 0"]
)
def test_number_outside_its_range_is_an_error_without_a_traceback(line: str) -> None:
    words = line.replace("ENV", "tau2_precondition").split()
    result = subprocess.run([*RUN, *words], capture_output=True, text=True, timeout=60)
    assert result.returncode and f"'{words[-2]}': Input should be greater than or equal to" in result.stderr
    assert "Traceback" not in result.stderr and "pydantic" not in result.stderr


def test_version_in_a_model_name_is_not_a_host() -> None:
    from trace_gym.llm.model_uri import endpoint_of

    assert endpoint_of("openai:claude-3@20240620") == ("claude-3@20240620", None)
    assert endpoint_of("openai:@cf/meta/llama-3.1-8b") == ("@cf/meta/llama-3.1-8b", None)
    assert endpoint_of("openai:m@http://h:1/v1") == ("m", "http://h:1/v1")


def test_output_never_replaces_an_input(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    made = [*RUN, "rollout", "tau2_precondition", "--policy", "oracle", "-n", "2", "--out", str(path)]
    assert subprocess.run(made, capture_output=True, timeout=120).returncode == 0
    before = path.read_bytes()
    for command in ("diagnose", "evaluate"):
        result = subprocess.run(
            [*RUN, command, str(path), "--out", str(path)], capture_output=True, text=True, timeout=60
        )
        assert result.returncode == 1 and "is also an input" in result.stderr
        assert path.read_bytes() == before


def test_rollout_without_any_score_fails(tmp_path: Path) -> None:
    line = ["rollout", "tau2_precondition", "--policy", "openai:m@http://127.0.0.1:9/v1", "-n", "1", "--out", "a.jsonl"]
    result = subprocess.run([*RUN, *line], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert result.returncode == 1 and "none scored" in result.stdout
