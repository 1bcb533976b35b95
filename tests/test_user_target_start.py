"""Tests of `trace-gym target init` and `target check`: reading the files of a custom target."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import yaml
from parcel_depot import DATA, EPISODES, POLICY, TOOLS, begun, run

from trace_gym import registry
from trace_gym.errors import ConfigError, MissingExtra, ReadError
from trace_gym.targets.user import folder, mcp
from trace_gym.targets.user.folder import TargetFolder
from trace_gym.targets.user.logs import read_logs
from trace_gym.targets.user.start import guess, init
from trace_gym.types import to_jsonl


@pytest.fixture
def fresh(tmp_path: Path, clean_registry: None) -> TargetFolder:
    """A target without a base world, which is searched."""
    home = begun(tmp_path / "parcel_depot")
    registry.add_folder(home.path)
    return home


def test_the_episodes_are_those_of_the_depots_program() -> None:
    spec = importlib.util.spec_from_file_location("make", DATA / "make.py")
    assert spec and spec.loader
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    assert make.lines() == EPISODES.read_text()


def test_init_says_what_it_understood(tmp_path: Path) -> None:
    place = tmp_path / "Parcel Depot"
    options = ("--tools", TOOLS, "--policy", POLICY, "--trajectories", EPISODES)
    code, told = run("target", "init", place, *options)
    assert (code, "5 tools, 10 episodes" in told) == (0, True), told
    text = (place / "target.yaml").read_text()
    assert yaml.safe_load(text)["kinds"] == {
        "find_parcels": "read?", "get_parcel": "read?", "storage_fee": "read?", "hand_over": "write?",
        "send_back": "write?",
    }  # fmt: skip
    assert text.count("\n# ") >= 5 and "name: parcel_depot" in text
    home = folder.read(place)
    assert home.kinds["hand_over"] == "write" and home.policy in home.interface.system_prompt
    assert [t["function"]["name"] for t in home.interface.tools] == list(home.kinds)
    assert sum(e.success is False for e in home.episodes) == 3
    code, told = run("target", "init", place, *options)
    assert code and "already contains a target" in told


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"tools": None}, "expected either a file with tools or an MCP server"),
        ({"command": "server"}, "expected either a file with tools or an MCP server"),
        ({"name": "Depot 9"}, "is not a valid name for a target"),
        ({"name": "tau2_airline"}, "a target with the name tau2_airline is already registered"),
        ({"trajectories": []}, "the trajectories contain no episodes"),
        ({"trajectories": [POLICY]}, "is not valid JSON"),
        ({"policy": DATA / "none.md"}, "does not exist"),
        ({"tools": POLICY}, "is not valid JSON"),
        ({"tools": EPISODES.parent / "target.json"}, "does not exist"),
    ],
)
def test_a_bad_start_leaves_nothing_behind(change: dict[str, object], fault: str, tmp_path: Path) -> None:
    given = {"tools": TOOLS, "policy": POLICY, "trajectories": [EPISODES]} | change
    with pytest.raises((ConfigError, ReadError), match=fault):
        init(tmp_path / "depot", **given)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_file_is_no_folder_and_episodes_named_twice_are_kept_once(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with pytest.raises(ConfigError, match="is a file, but a target is a folder"):
        begun(taken)
    twice = init(tmp_path / "depot", tools=TOOLS, policy=POLICY, trajectories=[EPISODES, EPISODES])
    assert len(twice.episodes) == len(EPISODES.read_text().splitlines())


def test_a_missing_file_is_told_once_and_as_what_it_is(fresh: TargetFolder) -> None:
    (fresh.path / "tools.json").unlink()
    code, told = run("target", "check", fresh.path)
    assert code == 1 and told.count("does not exist") == 1 and "no JSON" not in told and "policy.md: " in told
    (fresh.path / "target.yaml").write_text("name: [")
    code, told = run("target", "check", fresh.path)
    assert code == 1 and "is not valid YAML" in told and "\n" not in told.strip()


@pytest.mark.parametrize(
    ("name", "message", "kind"),
    [
        ("getUserDetails", "", "read"),
        ("deposit", "Returns a deposit.", "write"),  # nothing in particular, so the careful guess
        ("balance", "Looks up a balance.", "read"),
        ("update_view", "Show the view.", "write"),
        ("calculate", "Sums.", "generic"),
        ("transfer_to_human_agents", "", "generic"),
    ],
)
def test_kinds_are_guessed_from_names_and_descriptions(name: str, message: str, kind: str) -> None:
    assert guess({"name": name, "description": message}) == kind


def test_conversations_are_read_in_the_forms_that_people_have(tmp_path: Path) -> None:
    call = {"id": "a", "function": {"name": "get", "arguments": "{}"}}
    talk = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": '{"error": "no such thing"}'},
    ]
    path = tmp_path / "log.jsonl"
    rows = [talk, {"messages": talk, "reward": 1.0, "id": "x"}, {"messages": talk, "success": False, "id": "x"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_logs(path)
    assert [(t.id, t.success) for t in found] == [("log-1", None), ("x", True), ("x#2", False)]
    assert found[0].messages[-1]["content"] == "Error: no such thing"
    path.write_text(to_jsonl(found))
    assert read_logs(path) == found
    for row, fault in (
        ({}, "line 1 is not a valid trajectory"),
        ({"messages": []}, "line 1 contains no messages"),
        ([{"content": "x"}], "messages.0.role"),
        ({"messages": talk, "reward": "good"}, "reward"),
    ):
        path.write_text(json.dumps(row) + "\n")
        with pytest.raises(ReadError, match=fault):
            read_logs(path)


def test_tools_of_a_server_need_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(MissingExtra, match=r"pip install 'trace-gym\[mcp\]'"):
        init(tmp_path / "depot", tools=None, policy=POLICY, trajectories=[EPISODES], command="server")
    assert not list(tmp_path.iterdir())


def test_tools_are_read_from_a_server(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="pip install 'trace-gym[mcp]'")
    (tmp_path / "server.py").write_text(SERVER)
    command = f"{sys.executable} {tmp_path / 'server.py'}"
    home = init(tmp_path / "depot", tools=None, policy=POLICY, trajectories=[EPISODES], command=command)
    [look, give] = home.tools
    assert look["function"]["parameters"]["required"] == ["parcel_id"] and give["function"]["name"] == "hand_over"
    assert home.settings.kinds == {"get_parcel": "read", "hand_over": "write?"}
    with pytest.raises(ReadError, match="did not start.*Connection closed"):
        mcp.listed(f"{sys.executable} -c pass")
    with pytest.raises(ReadError, match="within 0.5 seconds"):
        mcp.listed(f"{sys.executable} -c 'import time; time.sleep(30)'", seconds=0.5)


SERVER = """\
import json, sys

TEXT = {"type": "string"}
PAGES = {
    None: {"tools": [{"name": "get_parcel", "description": "Show.", "annotations": {"readOnlyHint": True},
            "inputSchema": {"type": "object", "properties": {"parcel_id": TEXT}, "required": ["parcel_id"]}}],
        "nextCursor": "2"},
    "2": {"tools": [{"name": "hand_over", "inputSchema": {"type": "object", "properties": {"parcel_id": TEXT}}}]},
}
for line in sys.stdin:
    asked = json.loads(line)
    said = asked.get("params") or {}
    about = {"protocolVersion": said.get("protocolVersion"), "capabilities": {"tools": {}},
             "serverInfo": {"name": "depot", "version": "1"}}
    answer = {"initialize": about, "tools/list": PAGES.get(said.get("cursor"))}.get(asked.get("method"))
    if "id" in asked:
        told = {"result": answer} if answer else {"error": {"code": -32601, "message": "no such method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **told}), flush=True)
"""
"""Lists two tools on two pages."""
