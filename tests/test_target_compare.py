"""Comparison of a base world with its server: what it covers, and which defects it finds within its default budget."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from workshop import DEFECTS, KINDS, TOOLS, InProcess, opened, with_defect

from trace_gym import registry
from trace_gym.cli import exploring
from trace_gym.explore import Recorder, Recording, ToolComparison, compare, record
from trace_gym.targets.user import folder
from trace_gym.targets.user.folder import TargetFolder
from trace_gym.targets.user.start import init
from trace_gym.types import Call

SEEDS = range(3)
DEFAULTS = {name: p.default for name, p in inspect.signature(exploring.compare).parameters.items()}
MODULE = import_module("trace_gym.explore.compare")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, server = tmp_path_factory.mktemp("target"), InProcess()
    call = Call("list-orders", {})
    wire = {"id": "a", "function": {"name": call.tool, "arguments": "{}"}}
    talk = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": None, "tool_calls": [wire]}]
    talk += [{"role": "tool", "tool_call_id": "a", "content": server.call(call)}]
    (place / "tools.json").write_text(json.dumps(TOOLS))
    (place / "policy.md").write_text("Be careful.")
    (place / "log.jsonl").write_text(json.dumps(talk) + "\n")
    home = init(
        place / "workshop", tools=place / "tools.json", policy=place / "policy.md", trajectories=[place / "log.jsonl"]
    )
    settings = home.path / folder.SETTINGS
    lines = settings.read_text().splitlines()
    for name in (str(t["function"]["name"]) for t in TOOLS):
        lines = [f"  {name}: {KINDS.get(name, 'write')}" if line.startswith(f"  {name}:") else line for line in lines]
    settings.write_text("\n".join(lines) + "\n")
    return home.path


@pytest.fixture
def home(made: Path, clean_registry: None, monkeypatch: pytest.MonkeyPatch) -> TargetFolder:
    registry.add_folder(made)
    monkeypatch.setattr(import_module("trace_gym.explore.record"), "opened", opened)
    return folder.read(made)


@pytest.fixture(scope="module")
def recordings() -> dict[int, Recording]:
    """The calls of each seed: they depend on the server alone, so all base worlds are compared on the same."""
    return {}


def recorder(home: TargetFolder, seed: int) -> Recorder:
    return Recorder("in this process", seed, DEFAULTS["calls"], kinds=home.kinds)


def compared(
    home: TargetFolder, defect: str, seed: int, recordings: dict[int, Recording], monkeypatch: pytest.MonkeyPatch
) -> dict[str, ToolComparison]:
    def recorded(*given: object) -> Recording:
        if seed not in recordings:
            recordings[seed] = record(*given)  # type: ignore[arg-type]
        return recordings[seed]

    monkeypatch.setattr(MODULE, "record", recorded)
    monkeypatch.setattr(MODULE, "target", lambda name: SimpleNamespace(world=with_defect(defect)))
    return {row.tool: row for row in compare(home, recorder(home, seed), DEFAULTS["episodes"])}


@pytest.mark.slow
def test_true_base_world_agrees_and_every_goal_is_covered(
    home: TargetFolder, recordings: dict[int, Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in SEEDS:
        found = compared(home, "", seed, recordings, monkeypatch)
        assert {name: row.example for name, row in found.items() if row.differ} == {}
        goals, missing = (
            sum(map(size, found.values())) for size in (lambda row: row.goals, lambda row: len(row.missing))
        )
        assert goals > 60 and missing <= 1, {name: row.missing for name, row in found.items()}
        assert all(row.compared == row.calls and row.goals for row in found.values())


@pytest.mark.parametrize("defect", [d for defects in DEFECTS.values() for d in defects])
def test_defect_is_found_with_every_seed(
    defect: str, home: TargetFolder, recordings: dict[int, Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {seed: compared(home, defect, seed, recordings, monkeypatch) for seed in SEEDS}
    assert [seed for seed, found in rows.items() if not any(row.differ for row in found.values())] == []
