"""Hostile modules are run with the static gate switched off: nothing outside is touched, and no verdict is forged."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hostile import CASES, FILES, HARMLESS, NAME, SECRET, VARIABLE, Case

from trace_gym import registry
from trace_gym.errors import ConfigError, ReadError, SandboxError, TamperedEnv
from trace_gym.modules import world_at
from trace_gym.sandbox import LAYERS, Limits, Sandbox, describe, validate_sandboxed
from trace_gym.sandbox.layer_list import LANDLOCK, NAMESPACES, SECCOMP, TRIPWIRE, USER, WATCH
from trace_gym.sandbox.process_monitor import scan_descendants
from trace_gym.types import Report
from trace_gym.validation import validate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the layers are those of Linux"),
]

TIGHT = Limits(cpu_seconds=1.6, wall_seconds=60, memory_mib=256, processes=16, disk_mib=8, output_mib=4)
ROOMY = replace(TIGHT, cpu_seconds=60.0)
"""For what is healthy, and must pass on a busy machine too."""
QUICK = ("TG001", "TG101")
CLEAN = Case("clean", "does nothing else", "", "", ())
TOY = Path(__file__).parent / "user_folder" / "library_loans.py"
EVERY = bool(os.environ.get("TRACE_GYM_EVERY_HOSTILE"))
"""Whether hostile modules are run under every combination of layers, which takes minutes."""


@dataclass
class Outside:
    """Resources that hostile modules must not touch: a folder, a server, a secret of the environment."""

    folder: Path
    server: socket.socket

    @property
    def port(self) -> int:
        port: int = self.server.getsockname()[1]
        return port

    def write(self, case: Case) -> Path:
        """The module of a case, aimed at what lies outside."""
        path = self.folder.parent / f"{NAME}.py"
        path.write_text(case.text(self.folder, self.port), encoding="utf-8")
        return path

    def assert_untouched(self, report: Report) -> None:
        assert [p.name for p in self.folder.iterdir()] == ["kept"] and (self.folder / "kept").read_text() == "kept"
        with pytest.raises(BlockingIOError):
            self.server.accept()
        assert SECRET not in report.model_dump_json()


Boxes = Callable[..., Sandbox]


@pytest.fixture(scope="module")
def boxes() -> Iterator[Boxes]:
    """Sandboxes by the layers that they lack, started by somebody who has a secret."""
    made: dict[tuple[str, ...], Sandbox] = {}

    def box(*without: str) -> Sandbox:
        if without not in made:
            made[without] = Sandbox(TIGHT, disable_layers=without, isolated=False)
        return made[without]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, SECRET)
        yield box
        for sandbox in made.values():
            sandbox.close()


@pytest.fixture(scope="module")
def roomy() -> Iterator[Sandbox]:
    with Sandbox(ROOMY) as sandbox:
        yield sandbox


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "kept").write_text("kept")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield Outside(folder, server)


def told(report: Report) -> str:
    return " | ".join(f"{f.verdict} {f.message}" for f in report.findings)


def attack(sandbox: Sandbox, outside: Outside, case: Case, confirm: bool = False) -> Report:
    """Run a hostile module, and hold what is outside against what it was."""
    report = sandbox.validate(outside.write(case), profile="quick", only=QUICK, confirm=confirm)
    outside.assert_untouched(report)
    return report


def active(sandbox: Sandbox) -> set[str]:
    return {layer.name for layer in sandbox.layers if layer.active}


def cases_of(file: str) -> list[Case]:
    """The cases of a file that are run, and not only looked at."""
    return [c for c in CASES.values() if c.sandbox and c.file == file]


# What is healthy


def test_a_healthy_world_gets_the_report_that_it_gets_outside(monkeypatch: pytest.MonkeyPatch, roomy: Sandbox) -> None:
    monkeypatch.chdir(TOY.parent)
    codes = ("TG001", "TG101", "TG104", "TG201", "TG302")
    inside = roomy.validate(TOY.name, profile="quick", only=codes)
    assert inside.passed and inside == validate(TOY, profile="quick", only=codes, progress=False)


def test_a_failure_is_shown_as_it_is_outside(outside: Outside, roomy: Sandbox) -> None:
    path = outside.write(Case("failing", "fails", "", "", (("opening", "return str(object())"),)))
    report = roomy.validate(path, profile="quick", only=QUICK)
    [finding] = [f for f in report.findings if f.verdict == "failed"]
    assert finding.code == "TG101" and str(path) in finding.counterexample
    assert finding.replay is not None and finding.replay.scenario.startswith(NAME)


def test_sandboxes_that_run_at_once_are_different_users(outside: Outside, boxes: Boxes, roomy: Sandbox) -> None:
    """The kernel counts processes by user, so one sandbox could starve another."""
    if USER not in active(roomy):
        pytest.skip("only root can become somebody else")
    places = (("imports", "import os"), ("opening", "raise RuntimeError(f'user {os.getuid()}')"))
    path = outside.write(Case("user", "tells its user", "", "", places))
    reports = [box.validate(path, profile="quick", only=QUICK) for box in (roomy, boxes())]
    one, two = (re.findall(r"user (\d+)", told(report)) for report in reports)
    assert one and two and one[0] != two[0] and os.getuid() not in map(int, one + two)


def test_a_sandbox_checks_several_modules_and_tells_their_findings(outside: Outside, roomy: Sandbox) -> None:
    heard: list[str] = []
    for _ in range(2):
        path = outside.write(CLEAN)
        report = roomy.validate(path, profile="quick", only=QUICK, on_finding=lambda f: heard.append(f.code))
        assert report.passed and report.env == str(path) and report.scenarios == 3
    assert heard == [*QUICK, *QUICK]
    broken = roomy.validate(outside.write(CASES["deep_operators"]), profile="quick", only=QUICK)
    assert [(f.code, f.verdict) for f in broken.findings] == [("TG001", "failed")]


def test_properties_that_start_processes_work_inside() -> None:
    """Hash seeds in fresh interpreters, in processes of the engine."""
    limits = Limits(cpu_seconds=120)
    report = validate_sandboxed(
        TOY, profile="quick", limits=limits, only=("TG102",), engine="processes", workers=2, confirm=False
    )
    assert report.passed and [f.code for f in report.findings] == ["TG001", "TG102"], told(report)


# What is hostile


@pytest.mark.parametrize("file", [f for f in FILES if f != "resources"])
def test_what_gets_past_the_gate_is_noticed_inside(file: str, outside: Outside, boxes: Boxes) -> None:
    for case in cases_of(file):
        report = attack(boxes(), outside, case, confirm=case.sandbox == "planted")
        if case.sandbox != HARMLESS:
            assert not report.passed and re.search(case.sandbox, told(report)), (case.name, told(report))


@pytest.mark.parametrize("part", range(3))
def test_what_the_interpreter_lets_through_is_held_by_the_kernel(part: int, outside: Outside, boxes: Boxes) -> None:
    """Without the tripwire, so that files, network, processes and memory meet the layers behind it."""
    sandbox = boxes(TRIPWIRE)
    if not {NAMESPACES, LANDLOCK} & active(sandbox):
        pytest.skip("no layer of this machine keeps files from being written: neither namespaces nor Landlock")
    for case in cases_of("resources")[part::3]:
        report = attack(sandbox, outside, case)
        if case.sandbox != HARMLESS:
            assert not report.passed and re.search(case.sandbox, told(report)), (case.name, told(report))


def test_what_only_waits_is_stopped_when_its_budget_is_over(outside: Outside, boxes: Boxes) -> None:
    path = outside.write(CASES["sleeper"])
    report = boxes(TRIPWIRE).validate(path, profile="quick", only=QUICK, budget=2)
    assert [f.verdict for f in report.findings] == ["unfinished"] * 2 and "in opening (hostile.py, line" in told(report)


AIMED = ("connection", "file_outside", "file_by_a_process", "removed_files", "key_of_a_parent", "killed_parent")


MISSING = [(NAMESPACES,), (LANDLOCK, SECCOMP), *([(NAMESPACES, USER, SECCOMP)] if EVERY else [])]


@pytest.mark.parametrize("missing", MISSING, ids="-".join)
def test_each_layer_holds_when_others_are_missing(missing: tuple[str, ...], outside: Outside, boxes: Boxes) -> None:
    sandbox = boxes(TRIPWIRE, *missing)
    if not {NAMESPACES, LANDLOCK} & active(sandbox):
        pytest.skip("without namespaces, Landlock is what holds, and this machine has none")
    for name in CASES if EVERY else AIMED:
        if CASES[name].sandbox:
            attack(sandbox, outside, CASES[name])


def test_a_process_that_leaves_its_session_is_ended_with_the_rest(outside: Outside, boxes: Boxes) -> None:
    """Without namespaces, orphans come back to the keeper, which ends them."""
    sandbox = boxes(TRIPWIRE, NAMESPACES)
    if not {WATCH, LANDLOCK} <= active(sandbox):
        pytest.skip("there is no /proc to watch processes by, or nothing that keeps files from being written")
    for name in ("daemon", "fork_bomb"):
        attack(sandbox, outside, CASES[name])
        assert not scan_descendants(sandbox.pid)


def test_nothing_is_left_when_the_caller_is_killed(tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.py").write_text(CASES["loop_in_generate"].text())
    code = (
        "from trace_gym.sandbox import Sandbox\n"
        "box = Sandbox()\nprint(box.pid, flush=True)\n"
        f"box.validate({str(tmp_path / NAME)!r} + '.py', profile='quick', only=('TG001',))"
    )
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    keeper = int(caller.stdout.readline())
    caller.send_signal(signal.SIGKILL)
    caller.wait()
    caller.stdout.close()
    assert _soon(lambda: not _runs(keeper)), "the keeper outlives its caller"


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _soon(holds: Callable[[], bool]) -> bool:
    for _ in range(600):
        if holds():
            return True
        time.sleep(0.05)
    return False


# What is asked for


def test_what_cannot_be_asked_is_told_at_once(tmp_path: Path, boxes: Boxes) -> None:
    with pytest.raises(ConfigError, match="unknown sandbox layer: found moat"):
        Sandbox(require_layers=["moat"])
    with pytest.raises(ConfigError, match="required sandbox layer is not available: namespaces: left out"):
        Sandbox(require_layers=[NAMESPACES], disable_layers=[NAMESPACES])
    assert [layer.name for layer in boxes().layers] == list(LAYERS)
    with pytest.raises(ReadError, match="cannot read .*nothing.py"):
        boxes().validate(tmp_path / "nothing.py")
    for options in ({"profile": "slow"}, {"engine": "ray"}, {"only": ["XX"]}):
        with pytest.raises(ConfigError):
            boxes().validate(TOY, **options)


def test_a_keeper_that_is_gone_is_told() -> None:
    with Sandbox() as sandbox:
        os.kill(sandbox.pid, signal.SIGKILL)
        with pytest.raises(SandboxError, match="did not respond.*-9"):
            sandbox.validate(TOY, profile="quick", only=QUICK)


@pytest.mark.parametrize("closed", ["stdout", "both"])
def test_keeper_of_a_caller_that_closes_its_pipes_ends_without_a_traceback(closed: str) -> None:
    command = [sys.executable, "-P", "-m", "trace_gym.sandbox.supervisor"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True) as keeper:
        assert keeper.stdin and keeper.stdout and keeper.stderr
        keeper.stdout.close()
        keeper.stdin.write('{"probe": []}\n' * 3)
        keeper.stdin.flush()
        if closed == "both":
            keeper.stdin.close()
        assert keeper.stderr.read() == ""
        assert keeper.wait() == 0


# What was admitted


@pytest.fixture
def admitted(tmp_path: Path, clean_registry: None) -> Path:
    """A folder with one admitted environment."""
    shutil.copy(TOY, tmp_path)
    registry.admit(tmp_path / TOY.name, Report(passed=True, findings=(), scenarios=1), author="hand", describe=describe)
    registry.add_folder(tmp_path)
    registry.load_world("library_loans")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("library_loans.py", "TITLES = (", "open('{folder}/written', 'w')\nTITLES = (", "has sha256"),
        ("library_loans.py", "levels = range(3)", "levels = range(3) ", "has sha256"),
        ("library_loans.json", '"module_sha256":"', '"module_sha256":"0', "has sha256"),
        ("library_loans.json", '"passed":true', '"passed":false', "did not pass"),
    ],
    ids=["code added", "one space added", "another hash", "another verdict"],
)
def test_what_changes_after_admission_is_not_run(admitted: Path, file: str, old: str, new: str, message: str) -> None:
    path = admitted / file
    text = re.sub(r'": ', '":', path.read_text()) if file.endswith("json") else path.read_text()
    assert old in text
    path.write_text(text.replace(old, new.format(folder=admitted)))
    registry.refresh()
    with pytest.raises(TamperedEnv, match=message):
        registry.load_world("library_loans")
    assert not (admitted / "written").exists()


def test_a_module_that_was_exchanged_for_another_is_not_run(admitted: Path, outside: Outside) -> None:
    (admitted / "library_loans.py").write_text(CASES["file_outside"].text(outside.folder))
    with pytest.raises(TamperedEnv):
        registry.load_world("library_loans")
    assert world_at(TOY).id == "library_loans"  # what the hash admits still loads
