"""Environments through OpenEnv: server, client, sessions; every environment goes through `test_contract`.

It runs where openenv is installed, and is skipped elsewhere.
"""

from __future__ import annotations

import json
import pickle
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from conftest import PASSED, TOY
from players.openenv import serving

pytest.importorskip("openenv", reason="openenv is not installed: pip install 'trace-gym[openenv]'")

from openenv.cli._validation import validate_running_environment
from openenv.core import GenericEnvClient
from openenv.core.harness import HarnessRunLimits, MCPHarnessAdapter, ModelStepResult
from openenv.core.llm_client import LLMResponse, ToolCall
from openenv.core.mcp_client import MCPToolClient
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from trace_gym import registry
from trace_gym.adapters.openenv import Conversation, Remote, Sessions, app
from trace_gym.adapters.openenv.server import PREVIEW
from trace_gym.adapters.rollout import CONVERSATION_TOOLS, END, SAY, library
from trace_gym.chat_formats import FORMATS
from trace_gym.errors import ConfigError, MissingExtra
from trace_gym.sandbox import describe
from trace_gym.score import reward
from trace_gym.types import Call, Say
from trace_gym.validation import validate
from trace_gym.world import Step

ROOT = Path(__file__).resolve().parents[1]
AT = f"{TOY}/1/4"


@pytest.fixture(autouse=True)
def folder(user_folder: Path) -> Path:
    """All of it plays an environment of the user's own."""
    return user_folder


@pytest.fixture
def url() -> Iterator[str]:
    with serving(app([TOY, "toy_mixture"])) as address:
        yield address


@pytest.fixture
def faulty(folder: Path) -> str:
    """An environment whose search fails."""
    text = (folder / f"{TOY}.py").read_text().replace(f'id = "{TOY}"', 'id = "faulty_loans"')
    (folder / "faulty_loans.py").write_text(text.replace("        found = [", "        found = 1 / 0 or ["))
    registry.admit(folder / "faulty_loans.py", PASSED, author="hand", describe=describe)
    return "faulty_loans"


def oracle(scenario: str) -> list[Step]:
    return list(registry.start_episode(scenario).start.oracle())


def written(scenario: str) -> list[str]:
    """The oracle's turns as text."""
    return [FORMATS["hermes"].render(s) if isinstance(s, Call) else s.text for s in oracle(scenario)]


def ask(url: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def test_a_seed_is_the_scenario_that_it_is_in_gymnasium(url: str) -> None:
    env = gymnasium.make(registry.gym_id(TOY))
    with serving(app(TOY)) as alone, Remote(alone) as rollout:
        for seed in (0, 7):
            rollout.reset(seed)
            _, info = env.reset(seed=seed)
            assert rollout.result == {"scenario": info["scenario"], "done": False, "reward": None}
            assert rollout.messages == info["messages"]
            assert rollout.tools == list(info["tools"])
        rollout.reset(index=3, split="test")
        assert rollout.result["scenario"].endswith(f"/{registry.SPLITS['test'][3]}")
        drawn = set()
        for _ in range(3):
            rollout.reset()
            drawn.add(rollout.result["scenario"])
        assert len(drawn) == 3
    with Remote(url) as rollout:  # two environments take turns; a mixture's scenario is one of a part
        rollout.reset(scenario="toy_mixture/1/5")
        assert rollout.result["scenario"] == str(registry.start_episode("toy_mixture/1/5").scenario)
        rollout.reset(seed=2)
        assert rollout.result["scenario"].startswith(TOY)


def test_a_group_starts_from_one_state(url: str) -> None:
    states = []
    for _ in range(3):
        with GenericEnvClient(base_url=url).sync() as client:
            assert client.state() == {"episode_id": None, "step_count": 0}
            client.reset(seed=5, episode_id="mine")
            states.append(client.state())
    assert states[0]["scenario"].endswith("/5") and len(states[0]["state_hash"]) == 64
    assert states[0] == states[1] == states[2]
    assert states[0]["episode_id"] == "mine"


def test_a_turn_may_have_any_form(url: str) -> None:
    look, *calls, last = oracle(AT)
    assert isinstance(last, Say)
    assert isinstance(look, Call)
    with GenericEnvClient(base_url=url).sync() as client:
        assert client.step({"type": "list_tools"}).observation["tools"][0]["name"] == "lend"  # before any rollout
        began = client.reset(scenario=AT)
        listed = client.step({"type": "list_tools"}).observation["tools"]
        exact = [t["function"] for t in began.observation["openai_tools"]]
        assert [(t["name"], t["description"], t["input_schema"]) for t in listed] == [
            (f["name"], f["description"], f["parameters"]) for f in exact
        ]
        call = {"type": "call_tool", "tool_name": look.tool, "arguments": look.arguments}
        first = client.step(call)
        assert (first.observation["tool_name"], first.reward, first.done) == (look.tool, None, False)
        assert [m["role"] for m in first.observation["messages"]] == ["assistant", "tool"]
        assert first.observation["messages"][1]["content"] == first.observation["result"]
        for step in calls:
            assert isinstance(step, Call)
            function = {"name": step.tool, "arguments": json.dumps(step.arguments)}
            wire = {"id": "x7", "type": "function", "function": function}
            answer = client.step({"message": {"role": "assistant", "content": None, "tool_calls": [wire]}})
            assert answer.observation["messages"][1]["tool_call_id"] == "x7"
        over = client.step({"text": last.text})
        assert (over.reward, over.done, over.metadata["success"]) == (1.0, True, True)
        after = client.step({"text": "One thing more."})
        assert (after.reward, after.done, after.observation["messages"]) == (None, True, [])
        assert "over" in after.observation["result"]
        client.reset(scenario=AT)
        idle = client.step({"type": "finish"})
        assert (idle.reward, idle.done, idle.metadata["truncated"]) == (0.0, True, True)


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ({"sede": 1}, "unknown option of reset: found 'sede'"),
        ({"seed": -1}, "expected a non-negative integer"),
        ({"seed": "7"}, "expected a non-negative integer"),
        ({"seed": 1, "split": "all"}, "unknown split: found 'all'"),
        ({"scenario": "loans"}, "not a valid scenario id"),
        ({"scenario": f"{TOY}/9/1"}, "has levels"),
        ({"scenario": "tau2_precondition/0/1"}, "does not belong to the selected environments"),
    ],
)
def test_a_wrong_wish_is_refused_and_the_session_goes_on(url: str, wish: dict[str, Any], told: str) -> None:
    with Remote(url) as rollout:
        with pytest.raises(RuntimeError, match=told):
            rollout.reset(**wish)
        with pytest.raises(RuntimeError, match="Call reset first"):
            rollout.take("Hi.")
        assert (rollout.done, rollout.reward) == (False, None)
        rollout.reset(seed=1)


def test_sessions_do_not_touch_each_other(url: str) -> None:
    def play(n: int) -> tuple[float | None, bool]:
        with Remote(url) as rollout:
            rollout.reset(scenario=f"{TOY}/{n % 3}/{n}")
            barrier.wait()  # all are open at once
            for turn in written(f"{TOY}/{n % 3}/{n}")[: -1 if n % 2 else None]:
                rollout.take(turn)
            return rollout.finish(), rollout.result["truncated"]

    barrier = threading.Barrier(8, timeout=30)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(play, range(8))) == [(0.25 if n % 2 else 1.0, bool(n % 2)) for n in range(8)]


def test_a_full_server_says_so() -> None:
    with serving(app(TOY, sessions=1)) as url, Remote(url) as rollout:
        rollout.reset(seed=1)
        with Remote(url) as second, pytest.raises(RuntimeError, match="CAPACITY_REACHED"):
            second.reset(seed=1)
        assert rollout.finish() == 0.0


def test_refused_client_is_told_the_reason_and_code() -> None:
    with serving(app(TOY, sessions=1)) as url, Remote(url):
        for path, more in (("/ws", "CAPACITY_REACHED"), ("/mcp", "active_sessions")):
            with connect(f"ws{url.removeprefix('http')}{path}") as client:
                assert more in str(client.recv(10))
                with pytest.raises(ConnectionClosed):
                    client.recv(10)
                assert (client.close_code, client.close_reason) == (
                    1013,
                    "Server at capacity: 1/1 sessions active. Cannot accept new connections.",
                )


def test_sessions_that_are_never_closed_make_room_after_the_idle_timeout() -> None:
    with serving(app(TOY, sessions=2, idle=0.3)) as url, ExitStack() as stack:
        silent = [stack.enter_context(connect(f"ws{url.removeprefix('http')}/ws")) for _ in range(2)]
        for client in silent:
            with pytest.raises(ConnectionClosed):
                client.recv(10)
            assert (client.close_code, client.close_reason) == (4408, "no message for 0.3 seconds; connect again")
        with Remote(url) as rollout:
            rollout.reset(seed=1)
            assert rollout.finish() == 0.0


def test_large_bodies_and_messages_are_refused(url: str) -> None:
    large = "x" * 2**21
    with pytest.raises(urllib.error.HTTPError, match="413"):
        ask(url, "/reset", large)
    with Remote(url) as rollout:
        rollout.reset(seed=1)
        with pytest.raises(Exception, match="1009"):
            rollout.take(large)
        assert rollout.reward is None


@pytest.mark.parametrize("content", ["[" * 200 + "]" * 200, "9" * 5000], ids=["deep", "long number"])
def test_json_that_no_parser_should_see_leaves_the_session_usable(url: str, content: str) -> None:
    with connect(f"ws{url.removeprefix('http')}/ws") as client:
        step = '{"type": "step", "data": {"type": "call_tool", "tool_name": "search", "arguments": {"words": %s}}}'
        client.send(step % content)
        assert "expected at most" in json.loads(client.recv(10))["data"]["message"]
        for odd in ("[1]", "null", '"reset"', b"\xff"):
            client.send(odd)
            assert "expected a text message with a JSON object" in json.loads(client.recv(10))["data"]["message"]
        client.send('{"type": "reset", "data": {"seed": 1}}')
        assert json.loads(client.recv(10))["type"] == "observation"
    with pytest.raises(urllib.error.HTTPError, match="400"):
        ask(url, "/step", {"action": {"text": "Hi."}})  # plain HTTP keeps no session


def test_what_fails_in_the_environment_is_not_scored(faulty: str) -> None:
    with serving(app(faulty)) as url, Remote(url) as rollout:
        rollout.reset(seed=1)
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            rollout.take(FORMATS["hermes"].render(Call("search", {"words": ""})))
        assert (rollout.done, rollout.reward) == (False, None)
        with pytest.raises(RuntimeError, match="Call reset first"):  # the state may be half changed
            rollout.finish()
        rollout.reset(seed=1)
        assert rollout.finish() == 0.0
        for session in (Sessions([faulty], url=url).create("", seed=1), Sessions([faulty]).create("", seed=1)):
            with pytest.raises(RuntimeError, match="ZeroDivisionError"):
                session.call_tool("search", {"words": ""})
            assert session.verify([{"role": "assistant", "content": "Done."}]).env_reward is None
            session.close()


def test_a_server_that_is_gone_is_not_scored() -> None:
    with serving(app(TOY)) as url:
        session = Sessions([TOY], url=url).create(AT)
        unfinished = Sessions([TOY], url=url).create(AT)
    with pytest.raises(Exception, match="."):
        session.call_tool("search", {"words": ""})
    assert session.verify([]).env_reward is None
    assert unfinished.verify([{"role": "assistant", "content": "Done."}]).env_reward is None
    with pytest.raises(ConnectionError):
        Sessions([TOY], url=url).create(AT)


def test_openenvs_own_tool_client_plays_by_calls_alone(url: str) -> None:
    with MCPToolClient(base_url=url).sync() as client:
        began = client.reset(scenario=AT)
        listed = client.list_tools()
        shown = [{"type": "function", "function": {"name": t.name, "description": t.description}} for t in listed]
        wanted = [*began.observation.openai_tools, *CONVERSATION_TOOLS]
        assert [t["function"]["name"] for t in shown] == [t["function"]["name"] for t in wanted]
        assert [t.input_schema for t in listed] == [t["function"]["parameters"] for t in wanted]
        assert began.observation.messages[1]["content"] in client.call_tool("read_task")
        for step in oracle(AT):
            call = step if isinstance(step, Call) else Call(SAY, {"text": step.text})
            told = client.call_tool(call.tool, **call.arguments)
        assert json.loads(told)["reward"] == 1.0
        assert client.state().step_count == len(oracle(AT))
    answer = ask(url, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})  # without a session
    assert len(answer["result"]["tools"]) == len(wanted)


def test_tasks_are_scenarios(url: str) -> None:
    assert {s["name"]: s["type"] for s in ask(url, "/trace-gym/splits")}["select"] == "validation"
    assert ask(url, "/trace-gym/num_tasks", {"split": "test"})["num_tasks"] == 10**6
    assert len(ask(url, "/trace-gym/tasks", {"split": "test"})["tasks"]) == PREVIEW
    some = ask(url, "/trace-gym/task_range", {"split": "test", "start": 6, "stop": 8})["tasks"]
    with Remote(url) as rollout:
        for task in some:
            rollout.reset(split=task["split"], index=task["index"])
            assert rollout.messages == registry.start_episode(task["id"]).messages
    with pytest.raises(urllib.error.HTTPError, match="400"):
        ask(url, "/trace-gym/task", {"split": "test", "index": 10**6})


def test_openenv_and_our_own_validation_find_no_fault(url: str) -> None:
    report = validate_running_environment(url)
    assert report["passed"], report["summary"]
    found = validate(f"openenv:{url}", profile="quick", only=["TG101", "TG105", "TG301"])
    assert {f.code: f.verdict for f in found.findings} == dict.fromkeys(["TG001", "TG101", "TG105", "TG301"], "passed")


def model(steps: list[Step], heard: list[Any]) -> Callable[..., ModelStepResult]:
    """Samples the steps, one a turn, and keeps what it was asked."""
    plan = iter(steps)

    def model_step(messages: list[Any], tools: list[Any], sampling: dict[str, Any]) -> ModelStepResult:
        heard.append((list(messages), tools, sampling))
        step = next(plan)
        calls = [ToolCall(f"call_{len(heard)}", step.tool, step.arguments)] if isinstance(step, Call) else []
        response = LLMResponse("" if isinstance(step, Call) else step.text, calls)
        return ModelStepResult(response, [0], [len(heard)], [-0.5])

    return model_step


@pytest.mark.parametrize("remote", [False, True], ids=["here", "server"])
def test_a_whole_conversation_through_the_harness(url: str, remote: bool) -> None:
    sessions = Sessions([TOY, "toy_mixture"], url=url if remote else None)
    session = sessions.create([{"role": "user", "content": AT}], seed=0)
    heard: list[Any] = []
    steps: list[Step] = [Say("Let me see."), Call("rm", {"all": True}), *oracle(AT)]
    rollout = Conversation().run_white_box(model(steps, heard), session)
    shadow = registry.start_episode(AT)
    for step in steps:
        shadow.step(step)
    assert [m["content"] for m in rollout.messages] == [m["content"] for m in shadow.messages]
    assert [[t.name, t.input_schema] for t in heard[0][1]] == [
        [t["function"]["name"], t["function"]["parameters"]] for t in shadow.tools
    ]
    assert [len(messages) for messages, _, _ in heard] == [2 + 2 * n for n in range(len(steps))]
    assert rollout.completion_ids == [*range(1, len(steps) + 1)] and len(rollout.logprobs) == len(steps)
    assert (rollout.done, rollout.metrics) == (True, {"turns": len(steps), "tool_calls": len(steps) - 2})
    assert [bool(t.result.error) for t in rollout.tool_trace] == [True] + [False] * (len(steps) - 3)
    verdict = session.verify(rollout.messages)
    assert shadow.score
    assert verdict.env_reward == pytest.approx(reward(shadow.score))
    assert verdict.metrics == {"success": 1.0, "progress": 1.0, "wellformed": shadow.score.wellformed, "conduct": 1.0}
    session.close()


def test_a_harness_that_stops_leaves_a_score_as_it_stands() -> None:
    session = Sessions([TOY]).create(AT)
    rollout = Conversation().run_white_box(model(oracle(AT), []), session, HarnessRunLimits(max_turns=2))
    assert (rollout.done, rollout.metrics["turns"]) == (False, 2)
    assert session.verify(rollout.messages).env_reward == 0.0
    idle = Sessions([TOY]).create(AT)
    assert idle.verify(idle.initial_messages()).env_reward == 0.0


def test_openenvs_harness_hears_the_last_words() -> None:
    for steps, paid in ((oracle(AT), 1.0), ([*oracle(AT)[:-1], Say("Lent.")], 0.25)):
        session = Sessions([TOY]).create(AT)
        rollout = MCPHarnessAdapter().run_white_box(model(steps, []), session)
        assert session.verify(rollout.messages).env_reward == paid
        assert len(rollout.tool_trace) == len(steps) - 1


def test_a_group_of_sessions_has_one_scenario() -> None:
    sessions = pickle.loads(pickle.dumps(Sessions([TOY, "twin_loans"])))  # TRL starts a process of its own
    groups = [[sessions.create("Go.", seed=g, episode_id=str(n)).rollout for n in range(2)] for g in range(4)]
    assert [a.result["scenario"].partition("/")[0] for a, _ in groups] == [TOY, "twin_loans"] * 2
    for one, two in groups:
        assert one.episode.state_hash == two.episode.state_hash
        assert one.messages == two.messages
    with pytest.raises(ConfigError, match="contains no scenario id, and no seed is given"):
        sessions.create("Go.")
    with pytest.raises(ConfigError, match="does not belong to the selected environments"):
        sessions.create("tau2_precondition/0/1", seed=3)
    with pytest.raises(NotImplementedError):
        Conversation().run_black_box(sessions.create("Go.", seed=1))


def test_trls_worker_plays_a_group_and_masks_what_the_model_did_not_write(
    faulty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")  # a warning, and so an error
    pytest.importorskip("trl", reason="trl is not installed: pip install 'trace-gym[trl]'")
    harness: Any = import_module("trl.experimental.async_grpo.openenv_harness")

    class Loop(harness._HarnessRolloutLoop):  # type: ignore[misc]
        """TRL's loop without vLLM: tokens are bytes, and an expert is sampled."""

        def __init__(self, envs: list[str], expert: str) -> None:
            self._factory, self._adapter, self._limits = Sessions(envs), Conversation(), HarnessRunLimits(max_turns=30)
            self._live_sessions: set[Any] = set()
            self._stop_event = threading.Event()
            self._rollout_reward_fn, self._fork_threshold_tokens, self.expert = None, 0, expert

        def _sample_turn(self, turns: Any, times: Any, messages: Any, tools: Any, sampling: Any) -> ModelStepResult:
            world = registry.start_episode(self.scenario).start
            step = list(getattr(world, self.expert)())[len(turns)]
            calls = [ToolCall("c", step.tool, step.arguments)] if isinstance(step, Call) else []
            response = LLMResponse("" if calls else step.text, calls)
            prompt = [*rendered(messages), 0]
            turn = rendered([response.to_message_dict()])[1:]
            turns.append(harness.TurnRecord(prompt, turn, [-1.0] * len(turn)))
            return ModelStepResult(response, prompt, turn, [-1.0] * len(turn))

        @property
        def scenario(self) -> str:
            [session] = self._live_sessions
            return str(session.rollout.result["scenario"])

    def rendered(messages: Any) -> list[int]:
        return [t for m in messages for t in [0, *(b + 1 for b in json.dumps(m).encode())]]

    rewards = []
    for expert in ("oracle", "ablated"):
        (completion, ids, sequences, calls, failures, paid), _ = Loop([TOY], expert)._run_session("Go.", group_id=1)
        assert completion[0]["role"] == "system" and completion[-1]["role"] == "assistant"
        [sequence] = sequences  # the conversation was never rewritten
        assert [t for t, m in zip(sequence.input_ids, sequence.completion_mask, strict=True) if m] == ids
        rewards.append((paid, calls > 0, failures))
    assert rewards[0] == (1.0, True, 0)
    assert rewards[1][0] in (0.0, 1.0)
    import_module("accelerate").PartialState()  # without it, TRL cannot log
    assert Loop([faulty], "ablated")._run_session("Go.", group_id=1) == (Loop._EMPTY_ROLLOUT, None)  # not scored


def test_different_tools_are_listed_after_the_start_of_a_rollout() -> None:
    with serving(app([TOY, "tau2_precondition"])) as url, GenericEnvClient(base_url=url).sync() as client:
        with pytest.raises(RuntimeError, match="library_loans and tau2_precondition have different tools"):
            client.step({"type": "list_tools"})
        client.reset(seed=1)
        assert len(client.step({"type": "list_tools"}).observation["tools"]) == 14


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openenv.core.generic_client", None)
    with pytest.raises(MissingExtra, match=r"pip install 'trace-gym\[openenv\]'"):
        Remote("http://localhost:1")
    with pytest.raises(MissingExtra, match=r"pip install 'trace-gym\[x\]'"):
        library("no_such_module", "x")


def test_the_ends_have_the_names_that_the_docs_tell() -> None:
    for page in ("openenv", "mcp"):
        text = (ROOT / "docs" / "guides" / f"{page}.md").read_text()
        assert all(f"`{name}`" in text for name in ("read_task", SAY, END))
