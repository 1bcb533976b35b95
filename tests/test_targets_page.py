"""The base world that docs/targets.md prints is complete: it runs as printed, and the static gate accepts it."""

from __future__ import annotations

from typing import Any

import pytest
from snippets import blocks

from trace_gym import sandbox
from trace_gym.types import Call
from trace_gym.world import ToolError, call_tool, tool_methods

PAGE = "docs/targets.md"


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


def test_static_gate_accepts_the_printed_base_world() -> None:
    world = ("trace_gym.targets.user.world",)
    assert sandbox.scan(f'"""A depot."""\n\n{printed("class ParcelDepotBase")}', target_imports=world) == []
