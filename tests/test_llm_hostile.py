"""Tests with hostile modules and mutants as the answers of a language model: none is admitted or affects the machine.

All of them, every mutant under the gate's profile: ``PYTHONPATH=tests python -m authored``.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from authored import operators
from authored.presenting import (
    CASES,
    ROOMY,
    TIGHT,
    admitted,
    mutants,
    one_sandbox,
    present_hostile,
    present_mutant,
)
from authored.writing import HEALTHY, written_out
from hostile import FILES, SECRET, VARIABLE, Case
from mutants import machine
from mutants.hotel import Hotel
from mutants.leakage import GuestKnowsTheBill

from trace_gym.sandbox import layers
from trace_gym.sandbox.layer_list import LANDLOCK, NAMESPACES
from trace_gym.sandbox.linter import lint
from trace_gym.synthesis.llm_author import LlmAuthor
from trace_gym.types import sha256

pytestmark = pytest.mark.slow

CLEAN = Case("clean", "does nothing else", "", "", ())
RUN = [case for case in CASES.values() if not case.rule]
"""Those that the gate lets through, as only running them shows what they are."""
EACH = 6
"""Only one of this number is used here; a command uses all. `test_sandbox_scan` lints all of them in this process."""


@pytest.fixture(scope="module")
def confined() -> bool:
    """Return whether the sandbox can prevent file writes on this machine."""
    return bool({NAMESPACES, LANDLOCK} & {layer.name for layer in layers() if layer.active})


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, int]]:
    """Yield a folder and a server port; check afterwards that neither these nor a secret variable were accessed."""
    monkeypatch.setenv(VARIABLE, SECRET)
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "kept").write_text("kept")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield folder, server.getsockname()[1]
        with pytest.raises(BlockingIOError):
            server.accept()
    assert [p.name for p in folder.iterdir()] == ["kept"] and (folder / "kept").read_text() == "kept"
    assert not any(SECRET in p.read_text() for p in tmp_path.rglob("*") if p.is_file())


@pytest.mark.parametrize("file", FILES)
def test_no_hostile_answer_is_admitted(file: str, outside: tuple[Path, int], tmp_path: Path) -> None:
    for case in [c for c in CASES.values() if c.file == file and c.rule][::EACH]:
        assert "rejected" in present_hostile(case, tmp_path / "envs", *outside), case.name
        module = next((tmp_path / "envs" / case.name).rglob("hostile.py"))
        assert not module.with_name("report.json").exists(), f"{case.name} was run"
    assert not admitted(tmp_path / "envs")


def test_sandbox_stops_modules_that_pass_the_gate(outside: tuple[Path, int], tmp_path: Path, confined: bool) -> None:
    if not confined:
        pytest.skip("no layer of this machine keeps files from being written: neither namespaces nor Landlock")
    with one_sandbox(TIGHT):
        for case in RUN[::EACH]:
            assert "rejected: TG" in present_hostile(case, tmp_path / "envs", *outside), case.name
        assert not admitted(tmp_path / "envs")
        assert present_hostile(CLEAN, tmp_path / "clean", *outside) == ""  # they are refused for what they do
    assert admitted(tmp_path / "clean") == ["hostile.py"]


@pytest.mark.parametrize("name", ["plain_import", "patched_check", "file_outside", "reseeded"])
def test_skeleton_rejects_hostile_answers(name: str, outside: tuple[Path, int], tmp_path: Path) -> None:
    assert "rejected" in present_hostile(CASES[name], tmp_path / "envs", *outside, author=LlmAuthor)
    assert not admitted(tmp_path / "envs")


def turns() -> list[str]:
    """Return some of the mutants that pass the gate, in a pseudo-random order."""
    alone = (name for name, _, made in mutants() if not hasattr(made, "given") and not lint(written_out(made)))
    return sorted(alone, key=sha256)[:4]


def test_no_mutant_is_admitted(tmp_path: Path) -> None:
    made = {name: (code, world) for name, code, world in mutants()}
    with one_sandbox(ROOMY):
        for name in turns():
            code, world = made[name]
            assert f"rejected: {code} " in present_mutant(world, code, tmp_path / world.id), name
    assert not admitted(tmp_path)


def test_mutant_module_is_complete() -> None:
    text = written_out(GuestKnowsTheBill)
    assert "class Hotel(World)" in text and "id = 'guest_knows_the_bill'" in text and "mutants" not in text
    assert f"self.{HEALTHY}opening()" in text and "It should be" in text and "super()" not in text
    assert not lint(written_out(Hotel)) and "healthy" not in written_out(Hotel)


def test_every_operator_is_written_out() -> None:
    assert {made.id: made.rejected_by for made in operators.MUTANTS} == {  # type: ignore[attr-defined]
        name: operator.caught_by for name, operator in machine.OPERATORS.items()
    }
