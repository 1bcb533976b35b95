"""The base world that docs/guides/targets.md prints is complete: it runs as printed, and the static gate accepts it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from snippets import blocks, python, shell

from trace_gym import sandbox
from trace_gym.types import Call
from trace_gym.world import ToolError, call_tool, tool_methods

pytestmark = pytest.mark.slow

PAGE = "docs/guides/targets.md"


def printed(start: str) -> str:
    (block,) = [b for b in blocks(PAGE, "python") if start in b]
    return block


def test_printed_base_world_runs() -> None:
    names: dict[str, Any] = {"__name__": "parcel_depot_base"}
    exec(compile(printed("class ParcelDepotBase"), PAGE, "exec", dont_inherit=True), names)
    exec(compile(printed("shown = ["), PAGE, "exec", dont_inherit=True), names)
    world = names["world"]
    assert (world.id, world.capability, world.target) == ("parcel_depot_base", "", "parcel_depot")
    assert set(tool_methods(type(world))) == {"get_parcel", "hand_over"}
    handed = {"parcel_id": "P1", "state": "handed over"}
    assert call_tool(world, "hand_over", {"parcel_id": "P1", "paid": 2.0}) == handed
    assert call_tool(world, "get_parcel", {"parcel_id": "P1"}) == handed
    for call in (Call("hand_over", {"parcel_id": "P1", "paid": 2.0}), Call("get_parcel", {"parcel_id": "P7"})):
        with pytest.raises(ToolError):
            call_tool(world, call.tool, call.arguments)
    assert names["shown"][0][1]["state"] == "stored", "the recorded answers are unchanged"


def test_printed_package_defines_a_target() -> None:
    names: dict[str, Any] = {}
    exec(compile(printed("TARGETS = ("), PAGE, "exec", dont_inherit=True), names)
    [target] = names["TARGETS"]
    assert (target.modules, target.roles.selects_records("card")) == (("lending_library.desk",), True)


def test_printed_registration_finds_the_package(tmp_path: Path, clean_registry: None) -> None:
    shutil.copytree(Path(__file__).parent / "target_package" / "lending_library", tmp_path / "path/to/lending_library")
    python(printed("add_package"), tmp_path)
    [block] = [b for b in blocks(PAGE, "bash") if "TRACE_GYM_TARGETS" in b]
    assert "admitted lending_loans" in shell(block, tmp_path)


def test_static_gate_accepts_the_printed_base_world() -> None:
    world = ("trace_gym.targets.user.world",)
    assert sandbox.lint_source(f'"""A depot."""\n\n{printed("class ParcelDepotBase")}', target_imports=world) == []
