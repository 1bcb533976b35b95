"""Environments through verifiers: loaded by its loaders, checked by its validator, played by its agent and its command.

verifiers excludes openenv, so it lives in an environment of its own: `.ci/verifiers` builds it. Every environment goes
through `test_contract` there.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import TOY

pytest.importorskip("verifiers", reason="verifiers is in an environment of its own; run .ci/verifiers PYTHON WORKDIR")

import jinja2
import verifiers.v1 as vf
from players.verifiers import LEAVE, PLUGIN, TWO_LINES, Session, endpoint, world
from snippets import ROOT, blocks, environ, port, runs, shell
from verifiers.v1.utils.loaders import resolve_env_config

from trace_gym import registry
from trace_gym.adapters.verifiers import TraceData, TraceTask, TraceTaskConfig
from trace_gym.errors import ConfigError
from trace_gym.types import Call, Say, Scenario

EXAMPLE = ROOT / "examples" / "verifiers_eval.py"
SCENARIO = f"{TOY}/1/4"


@pytest.fixture(autouse=True)
def plugged(user_folder: Path) -> None:
    """The user's folder, and the module of two lines."""
    world()


@pytest.fixture
def played() -> Iterator[Any]:
    """Opens sessions, and closes what a test leaves open."""
    opened: list[Session] = []

    def begin(
        scenario: str = SCENARIO, weights: str = "default", system: str | None = None, **settings: Any
    ) -> Session:
        task = TraceTask(TraceData.of(Scenario.parse(scenario)), TraceTaskConfig(weights=weights))
        opened.append(Session(task.with_system_prompt(system) if system else task, **settings))
        return opened[-1]

    yield begin
    for session in opened:
        session.close()


def oracle(scenario: str = SCENARIO) -> list[Call | Say]:
    return list(registry.start_episode(scenario).start.oracle())


def taskset(**settings: Any) -> Any:
    return vf.load_taskset(vf.taskset_config_type(PLUGIN).model_validate({"id": PLUGIN, **settings}))


def command(name: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of verifiers as a user would, in a folder with the module of two lines."""
    (cwd / f"{PLUGIN}.py").write_text(TWO_LINES)
    path = {**os.environ, "PYTHONPATH": os.pathsep.join([str(cwd), str(ROOT)])}
    line = [str(Path(sys.executable).parent / name), *arguments]
    return subprocess.run(line, capture_output=True, text=True, cwd=cwd, env=path, timeout=120)


def test_the_loaders_find_the_taskset_its_harness_and_its_environment() -> None:
    config = resolve_env_config({"taskset": {"id": PLUGIN, "env": TOY}})
    assert config.agent.runtime.type == "subprocess"  # the default of verifiers is a sandbox that wants a login
    env = vf.load_environment(config)
    assert {type(env).__name__, type(env.taskset).__name__} == {"TraceVerifiersEnv", "TraceTaskset"}
    assert {type(h).__name__ for h in env._harnesses.values()} == {"TraceHarness"}


def test_tasks_are_the_scenarios_of_the_registry() -> None:
    chosen = taskset(env=TOY, split="test", n=6, levels=[0, 2], offset=3)
    tasks, expected = list(chosen), registry.scenarios(TOY, "test", 6, [0, 2], 3)
    assert [t.key for t in tasks] == [t.data.name for t in tasks] == [str(s) for s in expected]
    assert tasks[0].data.prompt == registry.start_episode(expected[0]).messages[1]["content"]
    assert tasks[0].data.system_prompt == registry.start_episode(expected[0]).messages[0]["content"]
    assert [t.key for t in chosen.skip(2).take(2)] == [str(s) for s in expected[2:4]]
    assert {t.key.partition("/")[0] for t in taskset(env="toy_mixture", n=20)} == {"toy_mixture"}


def test_a_taskset_without_an_environment_lists_them() -> None:
    with pytest.raises(ConfigError, match=f"Set --env.taskset.env to one of {TOY}"):
        list(taskset())


def test_the_oracle_is_what_validates_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [*taskset(env=TOY, n=3), *taskset(env="tau2_precondition", n=3)]
    assert all(asyncio.run(task.validate(None)) for task in tasks)
    monkeypatch.setattr(registry.load_world(TOY), "oracle", lambda self: iter([Say("Goodbye.")]))
    assert not any(asyncio.run(task.validate(None)) for task in tasks[:3])


def test_a_package_of_one_environment_needs_no_option(tmp_path: Path) -> None:
    env = jinja2.Environment(loader=jinja2.PackageLoader("trace_gym.templates", "verifiers"))
    values = {"env": TOY, "module": "trace_loans", "trace_gym": " @ file:///trace-gym"}
    files = {name.removesuffix(".jinja"): env.get_template(name).render(values) for name in env.list_templates()}
    assert files.keys() == {"README.md", "pyproject.toml", "tasks.py"}
    project = tomllib.loads(files["pyproject.toml"])
    assert project["project"]["name"] == "trace-loans"
    (tmp_path / "trace_loans.py").write_text(files["tasks.py"])
    options = ["--taskset.n", "2", "--runtime.type", "subprocess", "--no-rich", "-o", "out"]
    run = command("vf-validate", "trace_loans", *options, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    rows = [json.loads(line) for line in next(tmp_path.rglob("results.jsonl")).read_text().splitlines()]
    assert {(row["name"], row["valid"]) for row in rows} == {(str(s), True) for s in registry.scenarios(TOY, n=2)}


def test_the_oracle_is_paid_and_the_trace_holds_the_conversation(played: Any) -> None:
    session = played()
    for step in oracle():
        session.act(step)
    assert session.reward() == 1
    trace = session.trace.result()
    assert trace.metrics == {"wellformed": 1, "conduct": 1, "progress": 1, "success": 1, "broken": 0}
    assert trace.task.key == SCENARIO
    [branch] = trace.branches  # one line of messages, so one sample to train on
    shadow = registry.start_episode(SCENARIO)
    for step in oracle():
        shadow.step(step)
    assert [m.role for m in branch.messages] == [m["role"] for m in shadow.messages[: len(branch.messages)]]
    assert [n.message.role == "assistant" for n in branch.nodes] == [n.sampled for n in branch.nodes]
    assert [tool.name for tool in branch.tools] == [t["function"]["name"] for t in shadow.tools]


def test_all_attempts_at_a_task_begin_alike(played: Any) -> None:
    one, two = played(), played()
    assert one.body["messages"] == two.body["messages"]
    assert one.body["tools"] == two.body["tools"] == list(registry.load_world(TOY).interface().tools)


def test_an_idle_model_is_worth_nothing_and_a_failed_call_is_not_scored(played: Any) -> None:
    idle, failed = played(), played()
    while not idle.done:
        idle.act(Say("..."))
    assert idle.reward() == 0
    failed.act(oracle()[0])
    failed.fail()
    assert failed.reward() is None
    trace = failed.trace.result()
    assert trace.errors[-1].type == "ProviderError"
    assert not trace.rewards


def test_a_fault_of_the_environment_is_not_scored(played: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("c1")

    monkeypatch.setattr(registry.load_world(TOY), "reply", broken)
    session = played()
    session.act(Say("Which card?"))
    assert session.reward() is None
    assert "KeyError" in session.trace.result().errors[-1].message


def test_what_verifiers_cuts_short_is_scored_as_it_stands(played: Any) -> None:
    steps = oracle(f"{TOY}/0/4")
    cut = played(f"{TOY}/0/4", max_turns=len(steps) - 1)
    late = played(f"{TOY}/0/4", timeout={"rollout": 5.0})
    for session in (cut, late):
        for step in steps[:-1]:
            session.act(step)
    assert cut.trace.result(30).stop_condition == "max_turns"
    assert late.trace.result(30).is_timeout
    assert cut.reward() == late.reward() == 0.25  # the book was lent, and the reader not told


@pytest.mark.parametrize(("weights", "expected"), [("default", 0.25), ("sparse", 0.0)])
def test_half_the_work_is_paid_by_default_and_not_by_sparse(played: Any, weights: str, expected: float) -> None:
    session = played(f"{TOY}/0/4", weights)
    for step in oracle(f"{TOY}/0/4")[:-1]:
        session.act(step)
    session.act(Say("Goodbye."))
    assert session.reward() == expected


def test_weights_that_do_not_exist_are_an_error_of_the_task(played: Any) -> None:
    session = played(f"{TOY}/0/4", "heavy")
    for step in oracle(f"{TOY}/0/4"):
        session.act(step)
    assert session.reward() is None
    assert "expected one of default, sparse" in session.trace.result().errors[-1].message


def test_calls_in_the_text_are_found(played: Any) -> None:
    session = played()
    [answer] = session.act('<tool_call>{"name": "search", "arguments": {"words": "no such"}}</tool_call>')
    assert answer == "[]"
    turn, told = session.body["messages"][-2:]
    assert told["tool_call_id"] == turn["tool_calls"][0]["id"]


def test_no_call_is_sent_back_without_an_answer(played: Any) -> None:
    session = played()
    function = {"name": "search", "arguments": "{"}
    call = {"id": "c9", "type": "function", "function": function}
    session.turns.put({"role": "assistant", "content": None, "tool_calls": [call]})
    body = session._hear()
    turn, told = body["messages"][-2:]
    assert "tool_calls" not in turn
    assert (told["role"], told["content"][:6]) == ("user", "Error:")
    session.body = body
    for step in oracle():
        session.act(step)
    assert 0.9 < session.reward() < 1


def test_a_turn_is_sent_back_as_the_model_wrote_it(played: Any) -> None:
    session = played()
    call = {"id": "c9", "type": "function", "function": {"name": "search", "arguments": '{"words":"no such"}'}}
    turn = {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "Look first."}
    session.turns.put(turn)
    session.body = session._hear()
    assert session.body["messages"][-2] == {k: v for k, v in turn.items() if v is not None}


def test_another_system_prompt_reaches_the_model(played: Any) -> None:
    session = played(system="Lend nothing.")
    assert session.body["messages"][0] == {"role": "system", "content": "Lend nothing."}


OTHER = """
import openai, verifiers.v1 as vf

class Other(vf.Harness[vf.HarnessConfig]):
    APPENDS_SYSTEM_PROMPT, NEEDS_CONTAINER = True, False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
            messages = [{"role": "user", "content": data.prompt}]
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(0, "", "")

__all__ = ["Other"]
"""


def test_what_another_harness_played_is_not_scored(
    played: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other_harness.py").write_text(OTHER)
    monkeypatch.syspath_prepend(str(tmp_path))
    session = played(harness={"id": "other_harness"})
    session.act(Say("I lend you c1."))
    assert session.reward() is None
    assert "Remove the setting that selects another harness" in session.trace.result().errors[-1].message


def test_the_example_runs_as_the_docs_print_it(tmp_path: Path) -> None:
    two_lines, code = blocks("docs/guides/verifiers.md", "python")
    assert two_lines == TWO_LINES
    assert EXAMPLE.read_text().partition('"""\n\n')[2] == code
    run = subprocess.run(
        [sys.executable, str(EXAMPLE)], capture_output=True, text=True, cwd=tmp_path,
        env=environ(TMPDIR=str(tmp_path)), timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    rows = [line for line in run.stdout.splitlines() if line.startswith("tau2_precondition/")]
    assert len(rows) == 6
    assert sum("'score': 1.0" in row for row in rows) == 4


def test_the_commands_of_the_docs_run(tmp_path: Path) -> None:
    (tmp_path / f"{PLUGIN}.py").write_text(TWO_LINES)
    [printed] = runs("docs/guides/verifiers.md")
    with port(8000) as number, endpoint(LEAVE, number):
        block = printed.replace(":8000/", f":{number}/")
        shell(block, tmp_path, PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    traces = [json.loads(line) for file in tmp_path.rglob("traces.jsonl") for line in file.read_text().splitlines()]
    assert sum(len(line["traces"]) for line in traces) == 8 * 4
    summary = json.loads(next(tmp_path.rglob("summary.json")).read_text())
    assert summary["checks"]["gold"]["valid"] == summary["checks"]["noop"]["valid"] == 10


def test_without_the_package_the_line_that_mends_it_is_named() -> None:
    code = "import sys; sys.modules['verifiers'] = None; import trace_gym.adapters.verifiers"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stderr.strip().endswith("verifiers is missing; pip install 'trace-gym[verifiers]'")
