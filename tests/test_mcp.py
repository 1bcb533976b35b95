"""Environments as MCP servers; every environment goes through `test_contract`.

What joins a client in memory needs the mcp package 1.x; the command line is tried with 2.x, too.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PASSED, TOY
from players.mcp import PLAYERS, Session, run
from snippets import blocks, environ, process, runs

pytest.importorskip("mcp", reason="the mcp package is not installed: pip install 'trace-gym[mcp]'")

from mcp.shared import exceptions

from trace_gym import registry
from trace_gym.adapters import mcp as adapter
from trace_gym.adapters.rollout import CONVERSATION_TOOLS, END, READ, SAY, AdapterRollout
from trace_gym.episode import plan
from trace_gym.errors import ConfigError, MissingExtra
from trace_gym.policies import Oracle
from trace_gym.registration import VARIABLE
from trace_gym.rollouts import play
from trace_gym.sandbox import describe
from trace_gym.types import Call, Interface, Trajectory

ROOT = Path(__file__).resolve().parents[1]
AT = f"{TOY}/1/4"
in_memory = pytest.mark.skipif(not PLAYERS, reason="the mcp package is not 1.x; pip install 'mcp<2'")


@pytest.fixture(autouse=True)
def folder(user_folder: Path) -> Path:
    """All of it plays an environment of the user's own."""
    return user_folder


@pytest.fixture
def faulty(folder: Path) -> str:
    """An environment whose search prints, and whose lending fails."""
    text = (folder / f"{TOY}.py").read_text().replace(f'id = "{TOY}"', 'id = "faulty_loans"')
    text = text.replace("        found = [", '        print("looking")\n        found = [')
    text = text.replace("self.copies[copy].card = card", "self.copies[copy].card = card\n        raise KeyError(card)")
    (folder / "faulty_loans.py").write_text(text)
    registry.admit(folder / "faulty_loans.py", PASSED, author="hand", describe=describe)
    return "faulty_loans"


@pytest.fixture
def session() -> Any:
    made = Session(AdapterRollout(registry.start_episode(AT)))
    yield made
    made.close()


def ask(session: Session, tool: str, **arguments: Any) -> Any:
    return run(session.client.call_tool(tool, arguments))


def score_of(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(session.client.read_resource("trace-gym://score")).contents[0].text)
    return found


@in_memory
def test_the_task_is_a_prompt_resources_and_the_first_result(session: Session) -> None:
    system, user = registry.start_episode(AT).messages
    [prompt] = run(session.client.list_prompts()).prompts
    told = run(session.client.get_prompt(prompt.name)).messages[0].content.text
    first = ask(session, READ)
    for text in (told, first.content[0].text):
        assert system["content"] in text and text.endswith(user["content"])
    uris = [str(r.uri) for r in run(session.client.list_resources()).resources]
    read = {uri: run(session.client.read_resource(uri)).contents[0].text for uri in uris}
    assert read["trace-gym://policy"] == system["content"]
    assert read["trace-gym://opening"] == user["content"]
    assert json.loads(read["trace-gym://score"]) == {"scenario": AT, "done": False, "reward": None}
    assert ask(session, "search", words="").isError is False
    shadow = registry.start_episode(AT)
    shadow.step(Call("search", {"words": ""}))
    ask(session, READ)  # reading is no turn, wherever it is done
    assert ask(session, END).structuredContent["score"] == json.loads(shadow.finish().model_dump_json())


@in_memory
def test_the_call_that_ends_the_conversation_is_answered_with_the_score(session: Session) -> None:
    *calls, last = plan(registry.start_episode(AT), "oracle")
    for step in calls:
        assert isinstance(step, Call)
        assert ask(session, step.tool, **step.arguments).structuredContent is None
        assert score_of(session) == {"scenario": AT, "done": False, "reward": None}
    assert not isinstance(last, Call)
    over = ask(session, SAY, text=last.text)
    assert (over.structuredContent["reward"], over.structuredContent["success"], over.isError) == (1.0, True, False)
    assert json.loads(over.content[-1].text.partition("\n")[2]) == over.structuredContent == score_of(session)
    late = ask(session, SAY, text="One thing more.")
    assert (late.structuredContent, len(late.content)) == (None, 1)
    assert ask(session, END).structuredContent == over.structuredContent


@in_memory
def test_an_agent_that_ends_at_once_earns_a_real_0(session: Session) -> None:
    over = ask(session, END)
    assert (over.structuredContent["reward"], over.structuredContent["truncated"]) == (0.0, True)


@in_memory
@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("rm", {}, "there is no tool 'rm'; the tools are lend, search, take_back"),
        ("search", {}, "words"),
        ("search", {"words": 7}, "words"),
        ("search", {"words": "", "colour": "red"}, "colour"),
        (SAY, {}, "the turn is empty"),
        (SAY, {"text": ["a"]}, "the turn is empty"),
        ("x" * 70, {}, "is no tool name"),
    ],
)
def test_a_wrong_call_is_answered_and_counted(
    session: Session, tool: str, arguments: dict[str, Any], told: str
) -> None:
    answer = ask(session, tool, **arguments)
    assert answer.isError
    assert told in answer.content[0].text
    assert ask(session, END).structuredContent["score"]["wellformed"] == 0.0


@in_memory
def test_what_fails_in_the_environment_is_not_scored(faulty: str) -> None:
    ended: list[Any] = []
    session = Session(AdapterRollout(registry.start_episode(f"{faulty}/0/4"), at_end=ended.append))
    lend = next(
        s for s in plan(registry.start_episode(f"{faulty}/0/4"), "oracle") if isinstance(s, Call) and s.tool == "lend"
    )
    for tool, arguments in (("lend", lend.arguments), (END, {})):
        with pytest.raises(exceptions.McpError, match="KeyError"):
            ask(session, tool, **arguments)
    assert score_of(session) == {"scenario": f"{faulty}/0/4", "done": False, "reward": None}
    assert ended == []
    session.close()


@in_memory
def test_what_does_not_exist_is_named(session: Session) -> None:
    with pytest.raises(exceptions.McpError, match="found 'work', expected 'play'"):
        run(session.client.get_prompt("work"))
    with pytest.raises(exceptions.McpError, match="trace-gym://policy"):
        run(session.client.read_resource("trace-gym://oracle"))


def test_names_of_ours_must_be_free() -> None:
    at = registry.start_episode(AT)
    taken = Interface(name="x", policy="", tools=(CONVERSATION_TOOLS[0],), kinds={READ: "read"})
    with pytest.raises(ConfigError, match=f"has a tool with the reserved name '{READ}'"):
        AdapterRollout(registry.start_episode(AT, interface=taken))
    with pytest.raises(ConfigError, match="weights: found 'all'"):
        AdapterRollout(at, weights="all")
    paid = [AdapterRollout(play(Oracle(), registry.start_episode(AT)), weights=w).reward for w in ("default", "sparse")]
    assert paid == [1.0, 1.0]
    assert AdapterRollout(at, weights="sparse").reward is None


def talk(requests: list[tuple[str, dict[str, Any]]], *arguments: str, **env: str) -> tuple[list[Any], Any]:
    """Answers of a server that the command line starts, and the process that has ended."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    code = [sys.executable, "-c", "from trace_gym.cli import main; main()", "serve-mcp", *arguments]
    path = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with process(code, env=path, **pipes) as server:
        assert server.stdin and server.stdout and server.stderr
        answers = []
        for n, (method, params) in enumerate([("initialize", client), *requests]):
            message = {"jsonrpc": "2.0", "id": n, "method": method, "params": params}
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            answers.append(json.loads(server.stdout.readline()))
            if n == 0:
                server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        server.stdin.close()
        rest, told = server.stdout.read(), server.stderr.read()
        code_ = server.wait(20)
    assert rest == ""
    return answers, (code_, told)


def call(tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return "tools/call", {"name": tool, "arguments": arguments}


def test_the_command_serves_an_environment_of_ones_own(folder: Path, tmp_path: Path, faulty: str) -> None:
    """It prints where it likes; what it prints is no message of the protocol."""
    out = tmp_path / "played.jsonl"
    out.write_text("{}\n")  # what others have written stays
    listing: list[Any] = [("tools/list", {}), ("prompts/list", {}), ("resources/list", {})]
    reading = [("prompts/get", {"name": "play"}), ("resources/read", {"uri": "trace-gym://score"})]
    requests = [*listing, *reading, call("search", words=""), call(SAY, text="Bye."), call(END)]
    options = ["--seed", "4", "--level", "1", "--split", "validate", "--out", str(out)]
    wanted = registry.start_episode(f"{faulty}/1/{registry.SPLITS['validate'][4]}")
    answers, (code, told) = talk(requests, faulty, *options, **{VARIABLE: str(folder)})
    assert code == 0
    results = [a["result"] for a in answers]
    assert "talk_to_user" in results[0]["instructions"]
    keys = {"name": "name", "description": "description", "inputSchema": "parameters"}
    shown = [{"type": "function", "function": {keys[k]: t[k] for k in keys}} for t in results[1]["tools"]]
    assert shown == [*wanted.tools, *CONVERSATION_TOOLS]
    assert len(results[2]["prompts"]) == 1 and len(results[3]["resources"]) == 3
    assert wanted.messages[1]["content"] in results[4]["messages"][0]["content"]["text"]
    assert json.loads(results[5]["contents"][0]["text"])["done"] is False
    assert json.loads(results[6]["content"][0]["text"])[0]["copy"] == "c1"
    assert results[8]["structuredContent"]["reward"] == 0.0
    assert "looking" in told and f"{wanted.scenario}: reward 0.00" in told
    kept, added = out.read_text().splitlines()
    record = Trajectory.model_validate_json(added)
    assert (kept, record.id, record.reward) == ("{}", f"{wanted.scenario}#1", 0.0)
    assert "Bye." in [m["content"] for m in record.messages]


def test_a_client_that_leaves_early_is_not_scored(tmp_path: Path, folder: Path) -> None:
    out = tmp_path / "played.jsonl"
    _, (code, told) = talk([call("search", words="")], TOY, "--out", str(out), **{VARIABLE: str(folder)})
    assert (code, out.exists()) == (0, False)
    assert f"{TOY}/0/0: not scored, because the client disconnected before the end" in told


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.types", None)
    with pytest.raises(MissingExtra, match=r"pip install 'trace-gym\[mcp\]'"):
        adapter.server(AdapterRollout(registry.start_episode(AT)))


def test_the_example_runs_as_the_docs_print_it(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    example = ROOT / "examples" / "mcp_client.py"
    [code] = blocks("docs/guides/mcp.md", "python")
    assert example.read_text().partition('"""\n\n')[2] == code
    monkeypatch.setenv("PATH", environ()["PATH"])
    runpy.run_path(str(example), run_name="__main__")
    assert '"reward":1.0' in capfd.readouterr().out


def test_what_the_docs_tell_a_client_to_start_is_a_server() -> None:
    [printed] = runs("docs/guides/mcp.md")  # test_mcp_http runs it
    assert printed.startswith("trace-gym serve-mcp ") and " --http " in printed
    [told] = blocks("docs/guides/mcp.md", "json")
    [server] = json.loads(told)["mcpServers"].values()
    verb, *arguments = server["args"]
    assert (server["command"], verb) == ("trace-gym", "serve-mcp")
    [_, answer], (code, _) = talk([("resources/read", {"uri": "trace-gym://score"})], *arguments)
    assert code == 0
    assert json.loads(answer["result"]["contents"][0]["text"])["scenario"] == "tau2_precondition/0/7"
