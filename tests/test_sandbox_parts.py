"""The parts of the sandbox, each by itself: what is believed, the filter of system calls, the seal, the verbs."""

from __future__ import annotations

import errno
import json
import math
import os
import subprocess
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.cli.sandboxing import Extra, extras, versions
from trace_gym.sandbox import LAYERS, Limits, filesystem_view, landlock, seccomp
from trace_gym.sandbox.audit_hook import AuditHook
from trace_gym.sandbox.process_monitor import ProcessMonitor, scan_descendants
from trace_gym.sandbox.snapshot import changed_names, take_snapshot
from trace_gym.sandbox.trusted_report import JobOutcome, SandboxedRequest, build_report, confirm_report
from trace_gym.types import Report
from trace_gym.validation import PROPERTIES

TOY = Path(__file__).parent / "user_folder" / "library_loans.py"
CODES = ("TG001", "TG101", "TG103")
ASKED = SandboxedRequest("envs/toy.py", CODES, "quick")
ENDED = {"env": "toy.py", "scenarios": 9, "changed": [], "forbidden_actions": [], "undetected_bugs": []}
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")


def finding(code: str, **other: Any) -> dict[str, Any]:
    made = PROPERTIES[code].finding("passed", "it holds").model_dump(mode="json")
    return {"finding": {**made, **other}}


HONEST = [*map(finding, CODES), {"ended": ENDED}]


def judged(lines: Sequence[dict[str, Any]], **other: Any) -> Report:
    return build_report(ASKED, JobOutcome(list(lines), **other))


# What is believed


def test_an_honest_report_is_believed() -> None:
    report = judged(HONEST)
    assert report.passed and report.env == "envs/toy.py" and report.scenarios == 9
    assert [f.code for f in report.findings] == list(CODES)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "ended before validation did"),
        (HONEST[:-1], "ended before validation did"),
        ([*HONEST[:3], finding("TG103"), HONEST[3]], "other properties"),
        ([finding("TG001"), finding("TG101"), finding("TG201"), HONEST[3]], "other properties"),
        ([finding("TG001"), finding("TG101"), finding("TG103", property="fine"), HONEST[3]], "wrong property names"),
        ([finding("TG001"), finding("TG101"), finding("TG103", verdict="great"), HONEST[3]], "not a valid report"),
        (
            [finding("TG001"), finding("TG101"), finding("TG103", metrics={"x": math.inf}), HONEST[3]],
            "not a valid report",
        ),
        ([*HONEST[:3], {"ended": {**ENDED, "scenarios": 0}}], "number of scenarios: 0"),
        ([*HONEST[:3], {"ended": {**ENDED, "scenarios": "9"}}], "number of scenarios: '9'"),
        (
            [*HONEST[:3], {"ended": {**ENDED, "changed": ["trace_gym.score:fold"]}}],
            "changed the harness: trace_gym.score",
        ),
        ([*HONEST[:3], {"ended": {**ENDED, "forbidden_actions": ["open 'x'"]}}], "may not do: open 'x'"),
        ([*HONEST[:3], {"ended": {**ENDED, "undetected_bugs": ["an idle oracle"]}}], "planted bugs: an idle oracle"),
        ([*HONEST[:3], {"exception": "SystemExit: 0"}], "validation ended with SystemExit"),
        ([{"finding": {}}], "not a valid report"),
        ([{"ended": 3}], "ended before"),
    ],
)
def test_what_is_inconsistent_is_not_believed(lines: list[dict[str, Any]], why: str) -> None:
    report = judged(lines)
    assert not report.passed
    assert [(f.code, f.verdict) for f in report.findings] == [("TG001", "failed")] and why in report.findings[0].message


def test_what_outlives_or_changes_the_harness_is_not_believed() -> None:
    assert "could not be ended" in judged(HONEST, unkilled_processes=True).findings[0].message
    assert "tampered" in judged(HONEST, ended="tampered").findings[0].message


def test_what_is_left_out_is_unfinished() -> None:
    report = judged([finding("TG001"), finding("TG101"), HONEST[3]])
    assert [f.verdict for f in report.findings] == ["passed", "passed", "unfinished"] and not report.passed


def test_what_exceeds_a_limit_fails_where_it_was() -> None:
    report = judged(HONEST[:1], ended="cpu", message="it used too much")
    assert [f.verdict for f in report.findings] == ["passed", "failed", "unfinished"]
    assert report.findings[1].message == "the sandbox stopped the module: it used too much"
    late = judged(HONEST[:1], ended="budget", message="it had not ended after 5 seconds")
    assert [f.verdict for f in late.findings] == ["passed", "unfinished", "unfinished"]
    assert "after the last check" in judged(HONEST, ended="wall", message="it ran on").findings[0].message


def test_a_module_that_does_not_load_has_one_finding() -> None:
    report = judged([finding("TG001", verdict="failed"), {"ended": {**ENDED, "scenarios": 0}}])
    assert [(f.code, f.message) for f in report.findings] == [("TG001", "it holds")] and not report.passed


def test_a_second_run_has_to_agree() -> None:
    first = judged(HONEST)
    assert confirm_report(ASKED, first, judged(HONEST)) is first
    other = judged([finding("TG001"), finding("TG101", message="otherwise"), finding("TG103"), HONEST[3]])
    assert "something else (TG101)" in confirm_report(ASKED, first, other).findings[0].message
    assert "did not pass" in confirm_report(ASKED, first, judged([])).findings[0].message


def test_text_is_readdressed_and_harmless_to_terminals() -> None:
    message = f"in {filesystem_view.WORK}/toy.py: \x1b[31mred\x07"
    snippet = f"begin('{filesystem_view.WORK}/toy.py')\nfor x in y:\n    print(x)\n"
    [first, *_] = judged([finding("TG001", message=message, counterexample=snippet), *HONEST[1:]]).findings
    assert first.message == "in envs/toy.py: [31mred"
    assert first.counterexample == "begin('envs/toy.py')\nfor x in y:\n    print(x)\n"


# The filter of system calls


def filtered(program: Sequence[seccomp.Instruction], architecture: int, number: int, argument: int = 0) -> int:
    """Return the result of the kernel's interpreter."""
    data = {seccomp.NUMBER: number, seccomp.ARCHITECTURE: architecture, seccomp.FIRST_ARGUMENT: argument & 0xFFFF_FFFF}
    at = value = 0
    while True:
        code, true, false, k = program[at]
        at += 1
        if code == seccomp.LOAD:
            value = data[k]
        elif code == seccomp.RETURN:
            return k
        else:
            tests = {seccomp.EQUAL: value == k, seccomp.AT_LEAST: value >= k, seccomp.ANY_BIT: bool(value & k)}
            at += true if tests[code] else false


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_the_filter_refuses_what_it_lists_and_nothing_else(machine: str) -> None:
    column = list(seccomp.ARCHITECTURES).index(machine)
    here = seccomp.ARCHITECTURES[machine]
    refuse = seccomp.ERRNO | errno.EPERM
    plain, guarded = seccomp.program(machine), seccomp.program(machine, [77])
    listed = {numbers[column] for numbers in seccomp.REFUSED.values()} | (
        set(seccomp.OLD.values()) if machine == "x86_64" else set()
    )
    assert len(listed) == len(seccomp.REFUSED) + (len(seccomp.OLD) if machine == "x86_64" else 0)
    clone, clone3 = seccomp.CLONE[column], seccomp.CLONE3[column]
    for number in range(500):
        expected = refuse if number in listed else seccomp.ALLOW
        if number == clone3:
            expected = seccomp.ERRNO | errno.ENOSYS
        assert filtered(plain, here, number, 77) == filtered(guarded, here, number, 12) == expected, number
    assert filtered(plain, here, clone, 0x1000_0000 | 17) == refuse  # a new user namespace
    assert filtered(plain, here, clone, 0x0120_0000 | 17) == seccomp.ALLOW  # what fork asks for
    assert filtered(plain, 0x4000_0003, 1) == refuse  # calls of another kind of machine
    for numbers in seccomp.SIGNALS.values():
        assert [filtered(guarded, here, numbers[column], pid) for pid in (77, -77, -1)] == [refuse] * 3
        assert filtered(guarded, here, numbers[column], 78) == seccomp.ALLOW
    if machine == "x86_64":
        assert filtered(plain, here, seccomp.X32 | 39) == refuse


# The seal and the tripwire


def test_a_seal_names_what_was_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    import random

    from trace_gym import score
    from trace_gym.targets.tau2 import records
    from trace_gym.world import World

    before = take_snapshot()
    assert changed_names(before, take_snapshot()) == []
    monkeypatch.setattr(score, "fold", lambda *_: None)
    monkeypatch.setattr(World, "copy", lambda self: self)
    monkeypatch.setattr(random.Random, "random", lambda self: 0.5)
    monkeypatch.setattr(records, "AIRPORTS", {**records.AIRPORTS, "XXX": ("x", "y")})
    monkeypatch.setattr(score, "isinstance", lambda *_: True, raising=False)
    changed = set(changed_names(before, take_snapshot()))
    assert {"trace_gym.score:fold", "trace_gym.world:World.copy", "random:Random.random"} <= changed
    assert {"trace_gym.targets.tau2.records:AIRPORTS", "trace_gym.score:isinstance"} <= changed


def test_a_seal_sees_new_code_in_an_old_function(monkeypatch: pytest.MonkeyPatch) -> None:
    from trace_gym import score

    def other(*args: Any, **kwargs: Any) -> None:
        return None

    before = take_snapshot()
    monkeypatch.setattr(score.reward, "__code__", other.__code__)
    assert "trace_gym.score:reward" in changed_names(before, take_snapshot())


def test_a_seal_sees_a_check_that_pretends_to_be_the_old_one() -> None:
    """A property is a frozen dataclass whose `repr` shows that of its check, which can be forged."""
    from trace_gym.validation import PROPERTIES

    one = next(iter(PROPERTIES.values()))
    kept = one.check

    class Forged:
        def __call__(self, *args: Any) -> None:
            return None

        def __repr__(self) -> str:
            return repr(kept)

    before = take_snapshot()
    object.__setattr__(one, "check", Forged())
    try:
        assert any(name.endswith(":PROPERTIES") for name in changed_names(before, take_snapshot()))
    finally:
        object.__setattr__(one, "check", kept)
    assert changed_names(before, take_snapshot()) == []


def test_modules_that_are_imported_later_break_no_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    before = take_snapshot()
    late = types.ModuleType("trace_gym.late")
    vars(late)["f"] = lambda: None
    monkeypatch.setitem(sys.modules, "trace_gym.late", late)
    assert changed_names(before, take_snapshot()) == []


WIRED = """
import json, sys
from trace_gym.sandbox.audit_hook import AuditViolation, AuditHook
wire = AuditHook("module.py", "envs.module")
wire.arm()
open(sys.executable, "rb").close()
code = compile({code!r}, "module.py", "exec")
try:
    exec(code, {{"eval_like": lambda text: eval(compile(text, "<string>", "eval"))}})
except AuditViolation as error:
    print(error)
print(json.dumps(wire.forbidden_actions))
"""


@pytest.mark.parametrize(
    ("code", "deed"),
    [
        ("open('/etc/hostname')", "open '/etc/hostname', 'r'"),
        ("import os\nos.listdir('/')", "os.listdir '/'"),
        ("import sys\nsys._getframe()", "sys._getframe"),
        ("import ftplib", "import 'ftplib'"),
        ("f = open\nlist(map(f, ['/etc/hostname']))", "open '/etc/hostname', 'r'"),
        ("eval('1')", "compile b'1'"),
        ("import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int\nprint(A(1).x)", None),
        ("import re, collections\nre.compile('a+b')\ncollections.namedtuple('P', 'x y')(1, 2)", None),
    ],
)
def test_the_tripwire_knows_whose_doing_it_is(code: str, deed: str | None) -> None:
    """In a process of its own, as an audit hook stays for good."""
    given = [sys.executable, "-c", WIRED.format(code=code)]
    done = subprocess.run(given, capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    noted = json.loads(done.stdout.splitlines()[-1])
    assert [d.partition(",")[0] for d in noted[:1]] == ([] if deed is None else [deed.partition(",")[0]]), done.stdout


def test_a_tripwire_sleeps_until_it_is_armed() -> None:
    wire = AuditHook(__file__, __name__)
    Path(__file__).read_bytes()
    assert wire.forbidden_actions == []


BLINDED = """
import json, sys
from trace_gym.sandbox import audit_hook
wire = audit_hook.AuditHook("module.py", "envs.module")
read = wire.arm()
class Everything(frozenset):
    __contains__ = lambda self, thing: True
    __eq__ = lambda self, other: False
    __hash__ = None
everything = Everything()
for key in list(vars(audit_hook)):
    if not key.startswith("__"):
        setattr(audit_hook, key, everything)
for key in ("asleep", "path", "name", "_hook", "_read"):
    setattr(wire, key, everything)
for key in ("len", "repr", "type", "str", "dict", "set"):
    setattr(audit_hook, key, lambda *_: everything)
sys._getframe = lambda *_: None
try:
    exec(compile("open('/etc/hostname')", "module.py", "exec"))
except PermissionError as error:
    print(error)
read().clear()
print(json.dumps(read()))
"""


def test_an_armed_tripwire_depends_on_nothing_that_can_be_replaced() -> None:
    """Neither on a constant of its module, nor on an attribute, a builtin, or the notes that it hands out."""
    done = subprocess.run([sys.executable, "-c", BLINDED], capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    refusal, noted = done.stdout.splitlines()
    assert "may not do this: open" in refusal and [d.split(",")[0] for d in json.loads(noted)] == [
        "open '/etc/hostname'"
    ]


# What is seen, and what is used


def test_little_of_the_file_system_is_seen() -> None:
    seen = filesystem_view.readable()
    assert os.path.realpath(sys.base_prefix) in seen or any(sys.base_prefix.startswith(f"{p}/") for p in seen)
    assert str(Path.home()) not in seen and "/" not in seen and "/home" not in seen and "/tmp" not in seen
    root = str(Path(__file__).resolve().parents[1])
    assert root not in seen, "a checkout holds more than the package"
    assert not any(a != b and a.startswith(f"{b}/") for a in seen for b in seen)


@linux
def test_a_watch_names_the_limit() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; kept = bytearray(60_000_000); time.sleep(60)"])
    try:
        assert child.pid in scan_descendants(os.getpid())
        wide = ProcessMonitor(Limits(processes=1000, memory_mib=10**6), os.getpid())
        assert wide.find_exceeded_limit() == ("", "")
        assert ProcessMonitor(Limits(processes=0), os.getpid()).find_exceeded_limit()[0] == "processes"
        assert ProcessMonitor(Limits(wall_seconds=-1), os.getpid()).find_exceeded_limit()[0] == "wall"
        assert ProcessMonitor(Limits(), os.getpid(), deadline=-1).find_exceeded_limit()[0] == "budget"
        while ProcessMonitor(Limits(memory_mib=50, processes=1000), os.getpid()).find_exceeded_limit()[0] != "memory":
            assert child.poll() is None
        assert ProcessMonitor(Limits(cpu_seconds=0.0, processes=1000), os.getpid()).find_exceeded_limit()[0] == "cpu"
    finally:
        child.kill()
        child.wait()


@linux
def test_landlock_knows_the_rights_of_each_version() -> None:
    assert [n.bit_length() for n in ((1 << f) - 1 for f in landlock.FILES)] == landlock.FILES
    assert 0 <= landlock.version() < 100


# The command line


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


@linux
def test_the_doctor_says_what_there_is() -> None:
    told = json.loads(run("doctor", "--json").output)
    assert [layer["name"] for layer in told["sandbox"]] == list(LAYERS)
    assert all(layer["message"] for layer in told["sandbox"])
    assert told["versions"]["python"] == sys.version.split()[0] and told["versions"]["pydantic"]
    assert told["gpu"]
    for name, extra in told["extras"].items():
        assert extra["pip"] == f"pip install 'trace-gym[{name}]'"


def test_an_extra_tells_its_line() -> None:
    assert Extra("lab", ("torch",)).pip == "pip install 'trace-gym[lab]'"
    assert all("trace-gym" not in e.missing for e in extras())
    assert versions()["vllm"] == "" or versions()["vllm"][0].isdigit()


def test_scan_prints_lines_that_editors_understand(tmp_path: Path) -> None:
    assert run("scan", str(TOY)).exit_code == 0
    bad = tmp_path / "bad.py"
    bad.write_text("import os\n")
    found = run("scan", str(bad))
    assert found.exit_code == 1 and found.output.startswith(f"{bad}:1: import: ")
    assert json.loads(run("scan", str(bad), "--json").output)[0]["rule"] == "import"
    bad.write_bytes(b"\xff")
    assert "not UTF-8 text" in str(run("scan", str(bad)).exception)
