"""Tests of execution engines: verdicts are equal, and a hanging check is stopped without losing other findings."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mutants.hotel import Hotel
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError
from trace_gym.types import Report
from trace_gym.validation import validate
from trace_gym.validation.selection import select_codes

SOME = ("TG101", "TG201", "TG301", "TG304")

HANGS = """
from collections.abc import Iterator
from mutants.hotel import Hotel

class Hangs(Hotel):
    id = "hangs"
    def oracle(self) -> Iterator[object]:
        while True:
            pass
        yield

class NeverBegins(Hotel):
    id = "never_begins"
    @classmethod
    def generate(cls, rng, level):
        while True:
            pass

class TellsItsParent(Hotel):
    id = "tells_its_parent"
    def verify(self, start, said):
        import os, pathlib, time
        seen = pathlib.Path(os.environ["PARENTS"])
        (seen / f"{os.getpid()} {os.getppid()}").touch()
        until = time.monotonic() + 20
        while len(list(seen.iterdir())) < 2 and time.monotonic() < until:
            time.sleep(0.05)  # otherwise a fast worker can finish every job before the other one starts
        return super().verify(start, said)

class KillsItsParent(Hotel):
    id = "kills_its_parent"
    def verify(self, start, said):
        import os, signal
        os.kill(os.getppid(), signal.SIGKILL)
        return super().verify(start, said)

class Dies(Hotel):
    id = "dies"
    def verify(self, start, said):
        import os
        os._exit(7)
"""


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_worlds.py").write_text(HANGS)
    monkeypatch.syspath_prepend(tmp_path)


TARGETS = ("tau2_precondition", "mutants.faults:ForgottenGuard")


@pytest.mark.parametrize("target", TARGETS)
def test_processes_reach_the_same_verdict(target: str) -> None:
    here = validate(target, profile="quick", only=SOME, progress=False)
    there = validate(target, profile="quick", only=SOME, progress=False, engine="processes", workers=2)
    assert there == here
    assert [f.code for f in there.findings] == ["TG001", *SOME]


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="Ray is not installed: pip install 'trace-gym[ray]'")
def test_ray_reaches_the_same_verdict(tmp_path: Path) -> None:
    # In a process of its own: Ray leaves daemons and open files behind that pytest would blame on other tests. A file,
    # which imports what only its path leads to, is both of the above at one start of Ray.
    module = tmp_path / "forgetful.py"
    module.write_text(
        'from mutants.faults import ForgottenGuard\n\nclass Forgetful(ForgottenGuard):\n    id = "forgetful"\n'
    )
    options = {"profile": "quick", "only": SOME, "progress": False}
    script = (
        "from trace_gym.validation import validate\n"
        f"print(validate({str(module)!r}, engine='ray', **{options!r}).model_dump_json())\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=300)
    found = [Report.model_validate_json(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert found == [validate(module, **options)], done.stderr  # type: ignore[arg-type]
    assert [f.code for f in found[0].findings if not f.passed] == ["TG304"]


def test_hanging_check_is_stopped_and_other_findings_kept(broken: None) -> None:
    report = validate(
        "broken_worlds:Hangs", only=("TG103", "TG201"), profile="quick", engine="processes", budget=8, progress=False
    )
    verdicts = {f.code: f.verdict for f in report.findings}
    assert verdicts == {"TG001": "passed", "TG103": "passed", "TG201": "unfinished"} and not report.passed
    assert "8 seconds" in report.findings[-1].message


def test_hanging_module_load_is_stopped(broken: None) -> None:
    report = validate("broken_worlds:NeverBegins", only=("TG103",), engine="processes", budget=6, progress=False)
    assert [(f.code, f.verdict) for f in report.findings] == [("TG001", "unfinished"), ("TG103", "unfinished")]


def test_dead_process_fails_only_its_finding(broken: None) -> None:
    report = validate(
        "broken_worlds:Dies",
        only=("TG101", "TG103", "TG302"),
        profile="quick",
        engine="processes",
        workers=1,
        progress=False,
    )
    found = {f.code: f for f in report.findings}
    assert found["TG103"].verdict == "passed"
    assert found["TG302"].verdict == "failed" and "exit code 7" in found["TG302"].message


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_workers_are_forks_of_one_process_that_is_not_the_caller(
    broken: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parents = tmp_path / "parents"
    parents.mkdir()
    monkeypatch.setenv("PARENTS", str(parents))
    target = "broken_worlds:TellsItsParent"
    validate(target, only=("TG201", "TG302"), profile="quick", engine="processes", workers=2, progress=False)
    seen = [tuple(map(int, path.name.split())) for path in parents.iterdir()]
    assert len(seen) == 2 and len({parent for _, parent in seen}) == 1
    assert os.getpid() not in {pid for pair in seen for pid in pair}


def test_killed_coordinator_leaves_the_report_unfinished(broken: None) -> None:
    target = "broken_worlds:KillsItsParent"
    report = validate(target, only=("TG201",), profile="quick", engine="processes", workers=2, progress=False)
    verdicts = {f.code: f.verdict for f in report.findings}
    assert verdicts.keys() == {"TG001", "TG201"} and not report.passed
    assert verdicts["TG201"] == "unfinished"
    assert verdicts["TG001"] in ("passed", "unfinished")  # the other worker may have finished it before


def test_interrupt_prints_partial_report() -> None:
    def stop(finding: object) -> None:
        if len(told := [*seen, finding]) == 3:
            raise KeyboardInterrupt
        seen[:] = told

    seen: list[object] = []
    report = validate(Hotel, profile="quick", progress=False, on_finding=stop)
    verdicts = [f.verdict for f in report.findings]
    assert verdicts[:3] == ["passed"] * 3 and set(verdicts[3:]) == {"unfinished"} and not report.passed
    assert {f.message for f in report.findings[3:]} == {"not finished because of an interrupt"}


def test_properties_are_selected_by_code_prefix() -> None:
    assert select_codes(("TG3", "TG201")) == ["TG001", "TG201", *[c for c in select_codes(None) if c.startswith("TG3")]]
    assert not set(select_codes(None, skip=("TG4",))) & {"TG401", "TG404"}
    with pytest.raises(ConfigError, match="unknown property: found 'XY1'"):
        select_codes(("XY1",))


def test_levels_and_seeds_are_selected() -> None:
    report = validate(Hotel, profile="quick", levels=(1,), seeds_per_level=5, only=("TG201",), progress=False)
    assert report.scenarios == 5
    with pytest.raises(ConfigError, match="levels 0 to 1"):
        validate(Hotel, levels=(2,))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("mutants.hotel:Hotel", "--only", "TG201"), 0),
        (("mutants.faults:ForgottenGuard", "--only", "TG304"), 1),
        (("mutants.faults:EndlessOracle", "--only", "TG201", "--budget", "0.01"), 2),
    ],
)
def test_exit_code_reflects_verdict(arguments: tuple[str, ...], code: int) -> None:
    result = CliRunner().invoke(app, ["validate", *arguments, "--profile", "quick", "--workers", "1"])
    assert result.exit_code == code, result.output


def test_counterexample_is_replayed_from_report(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    run = CliRunner().invoke
    validated = ["validate", "mutants.faults:ForgottenGuard", "--profile", "quick", "--engine", "here"]
    assert run(app, [*validated, "--only", "TG304", "--out", str(out)]).exit_code == 1
    assert not Report.model_validate_json(out.read_text()).passed
    shown = run(app, ["replay", str(out)])
    assert shown.exit_code == 0, shown.output
    assert "look_up" in shown.output and "passed" in shown.output
    for bad, message in ((("TG201",), "no counterexample"), ((), "is not a report")):
        if not bad:
            out.write_text(json.dumps({"passed": 3}))
        refused = run(app, ["replay", str(out), *bad])
        assert refused.exit_code == 1 and message in str(refused.exception)


def test_partial_validation_cannot_admit() -> None:
    refused = CliRunner().invoke(app, ["validate", "tau2_precondition", "--admit", "--only", "TG201"])
    assert isinstance(refused.exception, ConfigError) and "complete validation" in str(refused.exception)
