"""The command line: every verb has help with an example, and bad input ends in a sentence and an exit code."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trace_gym.cli import main
from trace_gym.cli.entry import app

VERBS = (
    "list",
    "show",
    "play",
    "synthesize",
    "validate",
    "replay",
    "rollout",
    "diagnose",
    "train",
    "route",
    "evaluate",
    "run",
    "report",
)


def trace_gym(*arguments: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from trace_gym.cli import main; main()", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "160", **env},
        timeout=120,
    )


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_with_an_example(verb: str) -> None:
    result = CliRunner().invoke(app, [verb, "--help"])
    assert result.exit_code == 0
    assert f"Example: trace-gym {verb}" in " ".join(result.output.split())


def test_list_names_every_environment_with_its_gymnasium_id() -> None:
    rows = json.loads(CliRunner().invoke(app, ["list", "--json"]).output)
    ids = {row["id"] for row in rows}
    assert {"trace/tau2-precondition-v0", "trace/tau2-airline-desk-v0", "trace/tau2-mixture-v0"} <= ids


def test_list_names_modules_that_changed_after_their_validation(user_folder: Path) -> None:
    assert "cannot be used" not in CliRunner().invoke(app, ["list"]).output
    module = user_folder / "twin_loans.py"
    module.write_text(module.read_text() + "# changed\n")
    result = CliRunner().invoke(app, ["list"])
    assert result.exit_code == 0 and "trace/twin-loans-v0" in result.output
    assert [line for line in result.output.splitlines() if "cannot be used" in line] == [
        f"twin_loans cannot be used: {module} does not match its validation. To check it, run: trace-gym validate "
        "twin_loans --admit"
    ]


def test_show_plays_the_oracle_and_prints_its_checks() -> None:
    result = CliRunner().invoke(app, ["show", "tau2_precondition", "--seed", "3"])
    assert result.exit_code == 0
    assert "get_reservation_details" in result.output
    assert "passed" in result.output and "failed" not in result.output


def test_a_person_can_play_and_gets_the_score() -> None:
    result = CliRunner().invoke(
        app, ["play", "trace/tau2-precondition-v0"], input="/help\nget_user_details user_id=nobody\n/quit\n"
    )
    assert result.exit_code == 0
    assert "there is no customer 'nobody'" in result.output
    assert "failed, reward 0.00" in result.output


def test_rollout_diagnose_and_evaluate_work_on_each_others_files(tmp_path: Path) -> None:
    run = CliRunner().invoke
    for policy in ("ablated", "oracle"):
        out = tmp_path / f"{policy}.jsonl"
        made = run(
            app, ["rollout", "tau2_airline_desk", "--policy", policy, "-n", "40", "--split", "test", "--out", str(out)]
        )
        assert made.exit_code == 0, made.output
    found = tmp_path / "diagnosis.json"
    assert run(app, ["diagnose", str(tmp_path / "ablated.jsonl"), "--out", str(found)]).exit_code == 0
    names = {c["name"] for c in json.loads(found.read_text())["capabilities"]}
    assert "multi_step_completion" in names
    compared = run(app, ["evaluate", str(tmp_path / "ablated.jsonl"), str(tmp_path / "oracle.jsonl")])
    assert compared.exit_code == 0
    assert "100" in compared.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "tau2_precondtion"), "tau2_precondition"),
        (("show", "tau2_precondition", "--level", "9"), "levels"),
        (("diagnose", "missing.json"), "missing.json"),
        (("evaluate", "missing.jsonl"), "missing.jsonl"),
        (("synthesize", "nothing"), "expected one of tau2_"),
        (("synthesize", "tau2_precondition", "--author", "nobody"), "expected recorded"),
        (("validate", "nothing_of_the_kind"), "nothing_of_the_kind"),
        (("validate", "missing.py"), "missing.py"),
        (("run",), "--preset"),
        (("run", "--preset", "nothing"), "demo"),
        (("run", "missing.yaml"), "missing.yaml"),
        (("report", "missing"), "trace-gym run"),
        (("rollout", "tau2_precondition", "--policy", "nobody", "--out", "x.jsonl"), "oracle"),
    ],
)
def test_bad_input_ends_in_one_sentence(
    arguments: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["trace-gym", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    error = capsys.readouterr().err
    assert ended.value.code == (2 if arguments[0] == "validate" else 1)
    assert error.startswith("trace-gym: ") and message in error
    assert not list(tmp_path.iterdir()), "nothing may be left behind"


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(gzip.compress(json.dumps([{"task_id": 1}] * 500).encode())[:40])
    result = trace_gym("diagnose", str(cut))
    assert result.returncode == 1
    assert "cut.json.gz" in result.stderr and "Traceback" not in result.stderr


def test_a_wrong_setting_is_named_before_anything_is_done(tmp_path: Path) -> None:
    config = tmp_path / "my.yaml"
    config.write_text("modle: lab\ntrain: {groups: 0}\n")
    result = trace_gym("run", str(config), "--out", str(tmp_path / "out"))
    assert result.returncode == 1
    assert "modle" in result.stderr and "train.groups" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -c 'from trace_gym.cli import main; main()' list | head -n 1"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=60)
    assert "Traceback" not in result.stderr


HEAVY = {"pydantic", "jsonschema", "openai", "hypothesis", "yaml", "jinja2"}


@pytest.mark.parametrize(
    ("arguments", "spared"),
    [
        (["--version"], HEAVY | {"typer", "rich"}),
        (["--help"], HEAVY),
        (["validate", "--help"], HEAVY - {"pydantic"}),  # Typer reads the options of a command with it
    ],
)
def test_help_and_version_import_no_heavy_library(arguments: list[str], spared: set[str]) -> None:
    script = (
        "import sys\nfrom trace_gym.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        f"print('imported:', *{spared!r} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].strip() == "imported:"
    assert len(done.stdout.splitlines()) > 1


def test_help_names_the_presets_that_ship() -> None:
    from trace_gym.cli import loop
    from trace_gym.settings import presets

    assert loop.PRESETS.split(", ") == presets()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_version_reports_output_that_cannot_be_written() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from trace_gym.cli import main; main()", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode != 0
