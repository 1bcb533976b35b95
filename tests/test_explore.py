"""Episodes recorded from a live MCP server, and a base world compared with the server."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

pytest.importorskip("mcp", reason="pip install 'trace-gym[mcp]'")

from conftest import PASSED

from trace_gym import registry
from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError, ReadError
from trace_gym.explore import Recorder, compare, record
from trace_gym.registration import VARIABLE
from trace_gym.sandbox import describe
from trace_gym.synthesis import ValidationConfig
from trace_gym.synthesis.base_world import admit_base, base_spec
from trace_gym.targets.user import folder
from trace_gym.targets.user.answers import answer_of, refusal
from trace_gym.targets.user.coverage import coverage_of, never_passed, unexplained_changes
from trace_gym.targets.user.folder import TargetFolder
from trace_gym.targets.user.mcp import opened
from trace_gym.targets.user.replays import answers, refused
from trace_gym.targets.user.start import init
from trace_gym.types import Call, Trajectory
from trace_gym.world import python_name

DATA = Path(__file__).parent / "data" / "greenhouse"
COMMAND = f"{sys.executable} {DATA / 'server.py'}"
BASE = (DATA / "base.py").read_text()
ENV = "greenhouse_capacity_check"

COUNTER = """\
import json, os, sys

number = {"type": "integer", "minimum": 1, "maximum": 5}
TOOLS = [
    {"name": "get-count", "inputSchema": {"type": "object", "properties": {}}},
    {"name": "add-to", "inputSchema": {"type": "object", "properties": {"n": number}, "required": ["n"]}},
]
STATE = sys.argv[1] if len(sys.argv) > 1 else ""
count = int(open(STATE).read()) if STATE and os.path.exists(STATE) else 0
for line in sys.stdin:
    asked = json.loads(line)
    said, method = asked.get("params") or {}, asked.get("method")
    if method == "initialize":
        answer = {"protocolVersion": said["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "counter", "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": TOOLS}
    elif method == "tools/call":
        if said["name"] == "add-to":
            count += said["arguments"]["n"]
            if STATE == "crash":
                sys.exit("out of memory")
            if STATE:
                open(STATE, "w").write(str(count))
        answer = {"content": [{"type": "text", "text": json.dumps({"count": count})}]}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""
"""A server without the package mcp, which starts at once; with a file it keeps its count there."""


@pytest.fixture
def counter(tmp_path: Path) -> str:
    (tmp_path / "counter.py").write_text(COUNTER)
    return f"{sys.executable} {tmp_path / 'counter.py'}"


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["target", *map(str, arguments)])
    return done.exit_code, f"{done.output}{done.exception or ''}"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("recorded") / "episodes.jsonl"
    record(Recorder(COMMAND, calls=30), 4, out)
    return out


@pytest.fixture(scope="module")
def finished(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The target with its base world, which the sandbox admitted."""
    before = os.environ.get(VARIABLE)
    home = init(
        tmp_path_factory.mktemp("targets") / "greenhouse",
        tools=None,
        policy=DATA / "policy.md",
        trajectories=[recorded],
        command=COMMAND,
    )
    home.base_module.parent.mkdir()
    home.base_module.write_text(BASE)
    registry.add_folder(home.path)
    try:
        admit_base(home, ValidationConfig("quick", budget=300, workers=1))
    finally:
        os.environ.pop(VARIABLE)
        os.environ |= {VARIABLE: before} if before else {}
        registry.refresh()
    return home.path


@pytest.fixture
def home(finished: Path, clean_registry: None) -> Iterator[TargetFolder]:
    for name in [n for n in sys.modules if n.endswith("greenhouse_base")]:
        del sys.modules[name]
    registry.add_folder(finished)
    yield folder.read(finished)


# What is recorded


@pytest.mark.slow
def test_recordings_show_each_tool_before_and_after_writes_with_options_and_refusals(finished: Path) -> None:
    home = folder.read(finished)
    found = coverage_of(home)
    assert home.kinds == {
        "list-beds": "read", "get-bed": "read", "overview": "read", "watering-days": "generic", "sow-seed": "write",
        "clear-bed": "write",
    }  # fmt: skip
    reads = [found[tool] for tool in ("list-beds", "get-bed", "overview")]
    assert all(c.before and c.after for c in reads) and all(found[t].refused for t in ("sow-seed", "get-bed"))
    assert all(found[tool].answered and found[tool].comparable == found[tool].answered for tool in home.kinds)
    assert never_passed(home, found) == {}
    for episode in home.episodes:
        made = answers(episode)
        for number, (call, told) in enumerate(made[:-2]):
            if home.kinds[call.tool] == "write" and not refused(told):
                assert "write" not in (home.kinds[made[n][0].tool] for n in (number - 1, number + 1))
    assert home.settings.results == "indent-2" and home.interface.calls_per_turn == 1
    assert not unexplained_changes(home)


@pytest.mark.slow
def test_calls_fit_their_schemas(finished: Path) -> None:
    from trace_gym.schemas import complaint_about

    home = folder.read(finished)
    made = [call for e in home.episodes for call, _ in answers(e)]
    assert made and not [c for c in made if complaint_about(c, home.interface)]


def test_an_interrupted_recording_continues_as_if_it_had_not_been(counter: str, tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    record(Recorder(counter, calls=8), 3, whole)
    code, _ = run("record", "--mcp", counter, "--out", part, "--episodes", 1, "--calls", 8)
    assert code == 0 and len(part.read_text().splitlines()) == 1
    code, told = run("record", "--mcp", counter, "--out", part, "--episodes", 3, "--calls", 8)
    assert code == 0 and "3 episodes" in told and part.read_text() == whole.read_text()
    code, told = run("record", "--mcp", counter, "--out", part, "--episodes", 4, "--calls", 9)
    assert code == 1 and "was recorded with different settings" in told and part.read_text() == whole.read_text()
    assert record(Recorder(counter, calls=24, seed=1), 1).episodes[0].messages != (
        record(Recorder(counter, calls=24), 1).episodes[0].messages
    )
    whole.write_text("mine\n")
    code, told = run("record", "--mcp", counter, "--out", whole)
    assert code == 1 and "does not contain recorded episodes" in told and whole.read_text() == "mine\n"


def test_a_server_that_keeps_its_records_has_to_be_reset(counter: str, tmp_path: Path) -> None:
    state, out = tmp_path / "count.txt", tmp_path / "episodes.jsonl"
    code, told = run("record", "--mcp", f"{counter} {state}", "--out", out, "--calls", 8)
    assert code == 1 and "does not start each episode in the same state" in told and "--reset" in told
    assert len(out.read_text().splitlines()) == 1  # what was recorded before stays
    out.unlink()
    made = record(Recorder(f"{counter} {state}", calls=8, reset=f"rm -f '{state}'"), 3, out)
    starts = [answers(e)[0][1] for e in made.episodes]
    assert starts == ['{"count": 0}'] * 3
    code, told = run("record", "--mcp", counter, "--out", out, "--reset", "echo no disk; exit 3")
    assert code == 1 and "failed with the exit code 3 (no disk)" in told


def test_a_server_that_dies_is_named_with_its_last_words(counter: str, tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    code, told = run("record", "--mcp", f"{counter} crash", "--out", out, "--calls", 8)
    assert code == 1 and "did not answer add-to" in told and "out of memory" in told and not out.exists()
    code, told = run(
        "record", "--mcp", f"{counter} crash", "--out", out, "--calls", 8, "--skip", "add-to", "--episodes", 1
    )
    assert code == 0 and "add-to" not in out.read_text()


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--kind", "get-count"], "found 'get-count', expected TOOL=read"),
        (["--kind", "nope=read"], "no tool 'nope': expected one of get-count, add-to"),
        (["--skip", "get-count", "--skip", "add-to"], "excludes every tool"),
        (["--values", "{missing}"], "does not exist"),
        (["--values", "{wrong}"], "expected a mapping of parameter names"),
        (["--values", "{yaml}"], "is not valid YAML"),
    ],
)
def test_bad_options_are_named_before_anything_is_written(
    options: list[str], fault: str, counter: str, tmp_path: Path
) -> None:
    (tmp_path / "wrong.yaml").write_text("n: 3\n")
    (tmp_path / "yaml.yaml").write_text("n: [\n")
    places = {name: tmp_path / f"{name}.yaml" for name in ("missing", "wrong", "yaml")}
    out = tmp_path / "episodes.jsonl"
    code, told = run("record", "--mcp", counter, "--out", out, *(o.format(**places) for o in options))
    assert code == 1 and fault in told and not out.exists()


def test_given_values_and_kinds_are_used(counter: str, tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text("n: [4]\n")
    out = tmp_path / "episodes.jsonl"
    code, told = run("record", "--mcp", counter, "--out", out, "--calls", 12, "--episodes", 2, "--values", values)
    made = [c for e in map(json.loads, out.read_text().splitlines()) for c, _ in answers(_trajectory(e))]
    assert code == 0 and {json.dumps(c.arguments) for c in made if c.tool == "add-to"} == {'{"n": 4}'}
    # A write that is taken for a read is told, as the same read changes with no write in between.
    out.unlink()
    code, told = run("record", "--mcp", counter, "--out", out, "--calls", 12, "--episodes", 2, "--kind", "add-to=read")
    assert code == 0 and "get-count returned different results for" in told and "--kind add-to=write" in told


def _trajectory(row: dict[str, Any]) -> Trajectory:
    return Trajectory(id=row["id"], task=row["id"], messages=tuple(row["messages"]))


# What an agent reads


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [{"type": "text", "text": "a\n b "}]}, "a\n b "),
        ({"content": [{"type": "text", "text": "{}"}], "structuredContent": {"x": 1}}, "{}"),
        ({"content": [], "structuredContent": {"x": 1}}, '{"x": 1}'),
        ({"content": [], "structuredContent": {"result": []}}, "[]"),
        ({"content": [{"type": "text", "text": '{\n  "a": 1\n}'}], "structuredContent": {"result": [{"a": 1}]}},
         '[\n  {\n    "a": 1\n  }\n]'),
        ({"content": [{"type": "text", "text": "é"}], "structuredContent": {"result": "é"}}, "é"),
        ({"content": [{"type": "image", "data": "xx", "mimeType": "image/png"}]}, "[image image/png]"),
        ({"content": [{"type": "resource_link", "uri": "file:///a", "name": "a"}]}, "file:///a"),
        ({"content": [{"type": "resource", "resource": {"uri": "x:1", "text": "told"}}]}, "told"),
        ({"content": [{"type": "text", "text": "Error executing tool x: no\nbed"}], "isError": True}, "Error: no bed"),
        ({"content": [], "isError": True}, "Error: the call failed"),
        ({"content": []}, ""),
    ],
)  # fmt: skip
def test_results_are_shown_as_the_server_formats_them(result: dict[str, Any], text: str) -> None:
    assert answer_of(result) == text


def test_refusals_have_one_form() -> None:
    assert refusal("MCP error -32602: Error: wrong") == "Error: wrong"
    assert refusal('{"code": 3}') == 'Error: the call failed with {"code": 3}'


def test_a_server_at_a_url_is_reached_and_has_to_be_reset(tmp_path: Path) -> None:
    uvicorn = pytest.importorskip("uvicorn")
    spec = spec_from_file_location("greenhouse_server", DATA / "server.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(module.greenhouse().streamable_http_app(), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [own]}, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{own.getsockname()[1]}/mcp"
        try:
            with opened(url) as session:
                assert [t["name"] for t in session.tools()][:2] == ["list-beds", "get-bed"]
                assert session.call(Call("get-bed", {"bed": "x"})) == "Error: there is no bed x"
            code, told = run("record", "--mcp", url, "--out", tmp_path / "e.jsonl", "--episodes", 1, "--calls", 6)
            assert code == 1 and "not restarted between episodes" in told and "--reset true" in told
            made = record(Recorder(url, calls=6, reset="true"), 1)
            assert len(answers(made.episodes[0])) == 6
        finally:
            server.should_exit = True
            thread.join(10)
    with pytest.raises(ReadError, match="did not start"), opened(url, 5):
        pass


# What is compared


def test_an_admitted_base_world_agrees_with_its_server(home: TargetFolder) -> None:
    code, told = run("compare", home.path, "--mcp", COMMAND, "--episodes", 2, "--calls", 14)
    assert code == 0, told
    assert any("-" in line.split(" ")[0] for line in told.splitlines()) and "not compared" not in told


def test_tools_that_differ_are_named_with_an_example(
    home: TargetFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lies = BASE.replace('return "\\n".join', 'return "\\n\\n".join').replace("if day % 3 == 0", "if day % 2 == 0")
    place = tmp_path / "greenhouse_base.py"
    place.write_text(lies)
    wrong = SimpleNamespace(world=registry.world_at(place))
    monkeypatch.setattr(import_module("trace_gym.explore.compare"), "target", lambda name: wrong)
    rows = {row.tool: row for row in compare(home, Recorder(COMMAND, calls=24, kinds=home.kinds), 2)}
    assert {tool for tool, row in rows.items() if row.differ} == {"overview", "watering-days"}
    assert rows["overview"].share == 1 and 0 < rows["watering-days"].differ <= rows["watering-days"].compared
    assert rows["overview"].example.startswith("compare-0-") and "server" in rows["overview"].example
    options = ("--mcp", COMMAND, "--episodes", 1, "--calls", 12)
    code, told = run("compare", home.path, *options)
    assert code == 1 and "overview" in told
    code, told = run("compare", home.path, *options, "--threshold", 1)
    assert code == 0, told


def test_a_comparison_needs_the_targets_tools_and_its_base_world(
    home: TargetFolder, counter: str, tmp_path: Path, clean_registry: None
) -> None:
    with pytest.raises(ConfigError, match="different tools: only one of them has add-to"):
        compare(home, Recorder(counter, kinds={}), 1)
    bare = init(
        tmp_path / "bare", tools=home.path / "tools.json", policy=DATA / "policy.md",
        trajectories=[home.path / "trajectories.jsonl"],
    )  # fmt: skip
    registry.add_folder(bare.path)
    code, told = run("compare", bare.path, "--mcp", COMMAND)
    assert code == 1 and "no admitted base world" in told


# What recordings are missing


def conversation(*steps: tuple[str, dict[str, Any], str]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    for number, (name, arguments, told) in enumerate(steps):
        call = {"id": f"c{number}", "function": {"name": name, "arguments": json.dumps(arguments)}}
        messages += [{"role": "assistant", "content": None, "tool_calls": [call]}]
        messages += [{"role": "tool", "tool_call_id": f"c{number}", "content": told}]
    return {"messages": messages}


def checked(tmp_path: Path, *episodes: dict[str, Any]) -> str:
    log, tools = tmp_path / "log.jsonl", tmp_path / "tools.json"
    log.write_text("".join(json.dumps(e) + "\n" for e in episodes))
    n = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tools.write_text(json.dumps([{"name": "get_count", "parameters": n}, {"name": "add", "parameters": n},
                                 {"name": "list_adds"}]))  # fmt: skip
    place = tmp_path / f"target{len(list(tmp_path.iterdir()))}"
    init(place, tools=tools, policy=DATA / "policy.md", trajectories=[log])
    code, told = run("check", place)
    return f"{code} {told}"


READ, ADDS = ("get_count", {"n": 0}, '{"count": 0}'), ("list_adds", {}, '{"adds": [1]}')
ADD, REFUSED = ("add", {"n": 1}, '{"count": 1}'), ("add", {"n": 9}, "Error: too many")


def test_check_names_the_recordings_that_are_missing_for_each_tool(tmp_path: Path) -> None:
    never = checked(tmp_path, conversation(ADD, READ, ADDS))
    none = "none of its 1 answered calls can ever be compared"
    assert never.startswith("1 ") and all(f"{tool}: {none}" in never for tool in ("get_count", "add", "list_adds"))
    assert "record an episode that reads before it writes" in never
    late = checked(tmp_path, conversation(READ, ADD, REFUSED, ADDS))
    assert late.startswith("0 ") and "list_adds: all 1 answered calls come after a write" in late
    assert "get_count: all" not in late and "was refused" not in late
    assert "no recorded call of add was refused" in checked(tmp_path, conversation(READ, ADD, ADDS))
    unused = conversation(("get_count", {}, "0"), ("add", {}, "1"), ADDS)
    assert "no recorded call passes: get_count (n), add (n)" in checked(tmp_path, unused)


def test_check_names_reads_that_change_by_themselves_and_starts_that_differ(tmp_path: Path) -> None:
    other = ("get_count", {"n": 0}, '{"count": 5}')
    told = checked(tmp_path, conversation(READ, ADDS, other))
    assert (
        "get_count returned different results for the same call in" in told and "correct the kind of list_adds" in told
    )
    told = checked(tmp_path, conversation(READ, ADD), conversation(other, ADD))
    assert "episodes begin in different states" in told and 'get_count {"n": 0}' in told


def test_most_calls_have_to_be_comparable(tmp_path: Path) -> None:
    blind = [conversation(ADD, ADD, ADD) for _ in range(2)]
    other = ("get_count", {"n": 0}, '{"count": 5}')
    told = checked(tmp_path, conversation(READ, ADD, ADDS), conversation(other), *blind)
    assert told.startswith("1 ") and "only 4 of 10 answered calls can ever be compared" in told


# Environments on such a target


def test_an_environment_on_such_a_target_is_played_with_the_servers_names_and_formats(home: TargetFolder) -> None:
    path = home.path / f"{ENV}.py"
    path.write_text((DATA / "environment.py").read_text())
    registry.admit(path, PASSED, author="hand", describe=describe)
    episode = registry.start_episode(f"{ENV}/1/3")
    bed = episode.world.wishes[0]["bed"]  # type: ignore[attr-defined]
    call = {"id": "a", "type": "function", "function": {"name": "get-bed", "arguments": json.dumps({"bed": bed})}}
    [shown] = episode.step({"content": "", "tool_calls": [call]})
    assert shown["content"].startswith('{\n  "bed": "bed-') and shown["name"] == "get-bed"
    assert base_spec(home).tools == tuple(home.kinds) and python_name("get-bed") == "get_bed"


def test_several_calls_in_one_turn_are_allowed_where_the_settings_say_so(recorded: Path, tmp_path: Path) -> None:
    given = ("--mcp", COMMAND, "--policy", DATA / "policy.md", "--trajectories", recorded)
    code, told = run("init", tmp_path / "three", *given, "--calls-per-turn", 3)
    assert code == 0, told
    settings = yaml.safe_load((tmp_path / "three" / "target.yaml").read_text())
    assert settings["calls_per_turn"] == 3 and "make up to 3 tool calls" in settings["conventions"]
    row = json.loads(recorded.read_text().splitlines()[0])
    first, second = (m for m in row["messages"][1:5] if m["role"] == "assistant")
    both = {**first, "tool_calls": [*first["tool_calls"], *second["tool_calls"]]}
    row["messages"] = [row["messages"][0], both, row["messages"][2], row["messages"][4], *row["messages"][5:]]
    (tmp_path / "both.jsonl").write_text(json.dumps(row) + "\n")
    given = ("--tools", tmp_path / "three" / "tools.json", "--policy", DATA / "policy.md")
    code, told = run("init", tmp_path / "two", *given, "--trajectories", tmp_path / "both.jsonl")
    assert code == 0 and "calls_per_turn: 2" in (tmp_path / "two" / "target.yaml").read_text()
    given = (*given, "--trajectories", tmp_path / "both.jsonl", "--calls-per-turn", 1)
    code, told = run("init", tmp_path / "one", *given)
    assert code == 1 and "found 1, expected at least 2" in told and not (tmp_path / "one").exists()


def test_init_without_its_files_says_what_to_run(tmp_path: Path) -> None:
    code, told = run("init", tmp_path / "my_target")
    assert code == 1 and "--tools, --policy, --trajectories was not given" in told
    assert f"trace-gym target init {tmp_path / 'my_target'} --tools tools.json --policy policy.md" in told
