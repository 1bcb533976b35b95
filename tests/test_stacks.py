"""Tests that a report names the location where an environment hangs or ends its process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from trace_gym.interpreter import NOT_INSTALLED
from trace_gym.sandbox import check
from trace_gym.validation import PROPERTIES, stacks, validate, worker_process
from trace_gym.validation.remedies import ENDS, remedy

pytestmark = pytest.mark.slow

linux = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is that of Linux")
TOY = Path(__file__).parent / "user_folder" / "library_loans.py"
MEMBERS = {"search": 'found = [{"copy"', "generate": "card, other = rng.sample", "verify": "lent = self._lent()"}
"""Location of an injected defect: the start of a line in each member."""


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start worker processes by direct forks, as in the sandbox."""
    monkeypatch.setattr(worker_process, "START", "fork")


def defective(folder: Path, member: str, defect: str) -> tuple[Path, int]:
    """Write the toy environment with a defect, and return the path and the line of the defect."""
    lines = TOY.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if line.strip().startswith(MEMBERS[member]))
    lines.insert(at, f"        {defect}")
    path = folder / TOY.name
    path.write_text("\n".join(lines) + "\n")
    return path, at + 1


HANG, EXIT = "while True: pass", "__import__('os')._exit(0)"


@pytest.mark.parametrize("member", MEMBERS)
def test_endless_loop_is_reported_with_location(member: str, tmp_path: Path, forks: None) -> None:
    path, line = defective(tmp_path, member, HANG)
    report = validate(path, profile="quick", only=["TG201"], engine="processes", budget=3.0)
    message = [f.message for f in report.findings if f.verdict == "unfinished"]
    assert message and f"{member} (library_loans.py, line {line})" in message[0]
    assert "within 3 seconds" in message[0] and "endless loop" in message[0]


@pytest.mark.parametrize("member", MEMBERS)
def test_process_exit_is_reported_with_location(member: str, tmp_path: Path, forks: None) -> None:
    path, line = defective(tmp_path, member, EXIT)
    report = validate(path, profile="quick", only=["TG201"], engine="processes")
    failed = [f for f in report.findings if f.verdict == "failed"]
    assert failed and f"exit code 0, in {member} (library_loans.py, line {line})" in failed[0].message
    assert remedy(failed[0], str(path)) == ENDS


@pytest.mark.parametrize("defect", [HANG, "__import__('os')._exit(0)"])
def test_location_in_module_that_cannot_be_loaded(defect: str, tmp_path: Path, forks: None) -> None:
    path = tmp_path / TOY.name
    path.write_text(TOY.read_text() + f"\n\n{defect}\n")
    (found,) = validate(path, profile="quick", engine="processes", budget=3.0).findings
    assert f"<module> (library_loans.py, line {len(path.read_text().splitlines())})" in found.message


@linux
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("defect", [HANG, EXIT])
def test_sandbox_reports_location(workers: int, defect: str, tmp_path: Path) -> None:
    path, line = defective(tmp_path, "search", defect)
    report = check(path, profile="quick", only=["TG201"], workers=workers, budget=4.0)
    (found,) = [f for f in report.findings if f.verdict in ("failed", "unfinished")]
    assert f"search (library_loans.py, line {line})" in found.message
    assert found.verdict == ("unfinished" if defect == HANG else "failed")
    assert defect == HANG or remedy(found, str(path)) == ENDS


def test_crash_is_reported_with_location(tmp_path: Path, forks: None) -> None:
    path, line = defective(tmp_path, "search", "__import__('ctypes').string_at(0)")
    report = validate(path, profile="quick", only=["TG201"], engine="processes")
    assert any(f"search (library_loans.py, line {line})" in f.message for f in report.findings)


def test_stacks_leave_no_files(tmp_path: Path, forks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks.tempfile, "tempdir", str(tmp_path))
    validate(TOY, profile="quick", only=["TG101"], engine="processes")
    assert not list(tmp_path.iterdir())


def test_slow_check_of_many_calls_does_not_blame_the_environment(tmp_path: Path) -> None:
    path, _ = defective(tmp_path, "verify", "__import__('time').sleep(0.2)")
    options = {"profile": "quick", "seeds_per_level": 50, "engine": "processes", "progress": False}
    report = validate(path, only=["TG201"], budget=4.0, **options)
    message = [f.message for f in report.findings if f.verdict == "unfinished"]
    assert message == ["not finished within 4 seconds; increase the budget"]


def test_fix_for_a_process_that_does_not_find_the_package() -> None:
    message = f"{NOT_INSTALLED}, because the package is not installed"
    assert "pip install" in remedy(PROPERTIES["TG102"].finding("failed", message))
