"""Tests of the validation of environments of third-party libraries and servers."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import foreign_envs
import pytest
from black_boxes import ask, log, of, run
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError, EnvNotFound, ReadError
from trace_gym.validation.properties import Skipped
from trace_gym.validation.third_party import (
    TurnResponse,
    open_box,
    run_black_box,
)
from trace_gym.validation.third_party.openenv import text_field


class TestReasoningGym:
    @pytest.fixture(autouse=True)
    def library(self) -> None:
        pytest.importorskip(
            "reasoning_gym",
            reason="reasoning-gym is not installed: pip install 'trace-gym[reasoning-gym]' (it needs a C compiler)",
        )

    def test_a_data_set_is_asked(self) -> None:
        found = ask("reasoning-gym:chain_sum?min_terms=3", "TG1", "TG2", "TG3", "TG6", "TG70", skip=["TG102"])
        assert {f.verdict for f in found.values()} == {"passed", "skipped"}
        assert {"TG101", "TG201", "TG301", "TG601"} <= {c for c, f in found.items() if f.verdict == "passed"}
        box = open_box("reasoning-gym:chain_sum?min_terms=3")
        assert box.begin(7).count(" ") > 10 and run_black_box(box, 7, box.solution(7) or ()).total_reward == 1

    def test_pay_for_nothing_is_found(self) -> None:
        found = ask("reasoning-gym:countdown", "TG301")["TG301"]
        assert found.verdict == "failed" and "pays 0.01 for" in found.message

    def test_a_scorer_that_runs_answers_is_found(self) -> None:
        found = ask("reasoning-gym:spiral_matrix", "TG402", seeds_per_level=1)["TG402"]
        assert found.verdict == "failed" and found.message.endswith(
            "is executed as Python code in the process of the environment"
        )
        assert "run as a program" in run(found.counterexample)

    def test_a_seed_is_the_same_problem_whatever_the_size(self) -> None:
        small, large = open_box("reasoning-gym:chain_sum?size=10"), open_box("reasoning-gym:chain_sum?size=1000")
        assert [small.begin(s) for s in (3, 25)] == [large.begin(s) for s in (3, 25)]

    def test_a_wrong_name_or_option_is_told(self) -> None:
        with pytest.raises(EnvNotFound, match="has no data set nothing, expected one of .*chain_sum"):
            open_box("reasoning-gym:nothing")
        with pytest.raises(ConfigError, match="option seed is not allowed"):
            open_box("reasoning-gym:chain_sum?seed=3")


class TestSkyrl:
    @pytest.fixture(autouse=True)
    def library(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("skyrl_gym", reason="skyrl-gym is not installed: pip install 'trace-gym[skyrl-gym]'")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def test_gsm8k_is_asked_with_lent_tasks(self) -> None:
        found = ask("skyrl:gsm8k", "TG001", "TG101", "TG103", "TG201", "TG301", "TG601", "TG704")
        assert found["TG103"].verdict == found["TG704"].verdict == "skipped"
        assert "skyrl:gsm8k@FILE.jsonl" in found["TG103"].message
        assert {found[c].verdict for c in ("TG001", "TG101", "TG201", "TG301", "TG601")} == {"passed"}

    def test_tasks_of_a_file_are_the_problems(self, tmp_path: Path) -> None:
        rows = [
            {"prompt": [{"role": "user", "content": f"What is {n} + 1?"}], "reward_spec": {"ground_truth": str(n + 1)}}
            for n in range(5)
        ]
        rows[4]["solution"] = "#### 6"
        (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
        found = ask(f"skyrl:gsm8k@{tmp_path}/tasks.jsonl", "TG103", "TG201", "TG704")
        assert found["TG103"].message == "5 seeds produce 5 distinct problems" and found["TG704"].verdict == "skipped"
        assert found["TG201"].verdict == "failed" and "1 of 5 reference solutions" in found["TG201"].message
        (tmp_path / "tasks.jsonl").write_text('{"question": 1}')
        with pytest.raises(ReadError, match="tasks.jsonl:1 is not a valid task"):
            open_box(f"skyrl:gsm8k@{tmp_path}/tasks.jsonl")

    def test_sql_is_asked_with_a_lent_database(self) -> None:
        found = ask("skyrl:sql", "TG101", "TG201", "TG203", "TG301", "TG303", "TG405")
        assert {f.verdict for f in found.values()} == {"passed"}, [f.message for f in found.values()]
        assert found["TG303"].metrics["levels"] == 3  # a fine, nothing, all

    def test_what_has_no_tasks_says_so(self) -> None:
        with pytest.raises(ConfigError, match="the environment 'lcb' requires a file with tasks"):
            open_box("skyrl:lcb")
        with pytest.raises(EnvNotFound, match="skyrl-gym has no environment chess, expected one of aime"):
            open_box("skyrl:chess")


SCHEMA = {
    "properties": {
        "message": {"type": "string"},
        "metadata": {"type": "object"},
        "kind": {"const": "x", "type": "string"},
    },
    "required": ["message", "kind"],
}


def test_text_field_is_detected() -> None:
    assert text_field(SCHEMA) == "message"
    assert text_field({"properties": {"text": {"type": "string"}}}) == "text"
    assert text_field({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}) is None
    assert (
        text_field({"properties": {"tool_name": {"type": "string"}, "arguments": {}}, "required": ["tool_name"]})
        is None
    )


class TestOpenEnv:
    """Tests against a minimal server that implements the two messages of the protocol."""

    @pytest.fixture
    def server(self) -> Iterator[Callable[[int], str]]:
        sync = pytest.importorskip("websockets.sync.server", reason="pip install 'trace-gym[openenv]'")
        from websockets.http11 import Response

        started = []
        open_now: list[object] = []
        most = 1

        def session(socket: Any) -> None:
            if len(open_now) >= most:
                socket.send(json.dumps({"type": "error", "data": {"code": "CAPACITY_REACHED", "message": "full"}}))
                return
            open_now.append(socket)
            try:
                self.serve(socket)
            finally:
                open_now.remove(socket)

        def schema(connection: Any, request: Any) -> Any:
            if request.path != "/schema":
                return None
            response: Response = connection.respond(200, json.dumps({"action": SCHEMA}))
            return response

        def start(sessions: int) -> str:
            nonlocal most
            most = sessions
            made = sync.serve(session, "127.0.0.1", 0, process_request=schema)
            started.append(made)
            threading.Thread(target=made.serve_forever, daemon=True).start()
            return f"openenv:http://127.0.0.1:{made.socket.getsockname()[1]}?limit=3"

        yield start
        for made in started:
            made.shutdown()

    @staticmethod
    def serve(socket: Any) -> None:
        word = ""
        for text in socket:
            asked = json.loads(text)
            if asked["type"] == "state":
                socket.send(json.dumps({"type": "state", "data": {}}))
                continue
            data: dict[str, Any] = {"reward": None, "done": False}
            if asked["type"] == "reset":
                word = f"word{asked['data']['seed']}"
                data["observation"] = {"text": f"Say {word}.", "metadata": {"at": time.perf_counter()}}
            elif "message" not in asked["data"]:
                wrong = {"code": "VALIDATION_ERROR", "message": "message is missing"}
                socket.send(json.dumps({"type": "error", "data": wrong}))
                continue
            else:
                said = asked["data"]["message"]
                if said == "crash":
                    socket.send(json.dumps({"type": "error", "data": {"code": "EXECUTION_ERROR", "message": "boom"}}))
                    continue
                data |= {"observation": {"heard": said[:20]}, "reward": float(said == word), "done": said == word}
            socket.send(json.dumps({"type": "observation", "data": data}))

    def test_text_goes_into_the_field_and_json_is_the_action(self, server: Callable[[int], str]) -> None:
        with contextlib.closing(open_box(server(1))) as box:
            assert box.begin(4) == '{"text": "Say word4."}'
            assert box.act("what?") == TurnResponse('{"heard": "what?"}', 0.0, False)
            assert box.act('{"other": 1}').observation == "Error: message is missing"
            assert box.act('{"message": "word4", "kind": "x"}').reward == 1
            with pytest.raises(RuntimeError, match="EXECUTION_ERROR: boom"):
                box.act("crash")

    def test_a_server_with_one_session_is_asked_by_one_process(self, server: Callable[[int], str]) -> None:
        address = server(1)
        here = ask(address, "TG1", "TG301", "TG303", "TG402", "TG405")
        assert [(f.code, f.message) for f in here.values() if f.verdict == "failed"] == []
        assert here["TG101"].verdict == here["TG402"].verdict == "passed"
        assert here["TG102"].message == "the environment runs on an existing server"
        assert here["TG105"].message.startswith("the server accepts one session at a time")
        assert ask(address, "TG1", "TG301", engine="processes", workers=2) == {
            c: here[c] for c in here if c[:3] == "TG1" or c in ("TG001", "TG301")
        }

    def test_a_server_with_two_sessions_keeps_them_apart(self, server: Callable[[int], str]) -> None:
        assert ask(server(2), "TG105")["TG105"].verdict == "passed"

    def test_a_server_that_is_not_there(self, unused: int = 9) -> None:
        with pytest.raises(EnvNotFound, match="is not reachable"):
            open_box(f"openenv:http://127.0.0.1:{unused}")
        with pytest.raises(ConfigError, match="openenv:http://HOST:PORT"):
            open_box("openenv:localhost:8000")


REAL = """
import sys
from typing import Any
import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

class Said(Action):
    message: str

class Heard(Observation):
    text: str = ""

class Echo(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True
    def reset(self, seed=None, episode_id=None, **kw: Any) -> Heard:
        self.word = f"word{seed}"
        return Heard(text=f"Say {self.word}.")
    def step(self, action, timeout_s=None, **kw: Any) -> Heard:
        return Heard(text=action.message[:20], reward=float(action.message == self.word), done=True)
    @property
    def state(self) -> State:
        return State(episode_id="", step_count=0)

app = create_fastapi_app(Echo, Said, Heard, max_concurrent_envs=2)
uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
"""


def test_openenv_server(tmp_path: Path) -> None:
    pytest.importorskip("openenv", reason="openenv is not installed: pip install openenv")
    pytest.importorskip("websockets", reason="pip install 'trace-gym[openenv]'")
    (tmp_path / "served.py").write_text(REAL)
    port = 20_000 + os.getpid() % 20_000
    process = subprocess.Popen([sys.executable, str(tmp_path / "served.py"), str(port)])
    try:
        for _ in range(300):
            with contextlib.suppress(EnvNotFound):
                open_box(f"openenv:http://127.0.0.1:{port}").close()
                break
            time.sleep(0.1)
        found = ask(f"openenv:http://127.0.0.1:{port}", "TG101", "TG103", "TG105", "TG301")
        assert {f.verdict for f in found.values()} == {"passed"}, [f.message for f in found.values()]
    finally:
        process.kill()
        process.wait()


def test_log_cannot_be_run(tmp_path: Path) -> None:
    box = open_box(log(tmp_path / "a.jsonl", [[0.0, 1.0]]))
    with pytest.raises(Skipped, match="a log of rollouts is not"):
        box.begin(0)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("one turn", ["one turn"]),
        ("", [""]),
        (["first", "second"], ["first", "second"]),
        (("first",), ["first"]),
        ((n for n in ["first"]), ["first"]),
        ([4, 0.5], ["4", "0.5"]),
        (None, None),
    ],
)
def test_solution_is_a_text_or_a_list_of_turns(told: Any, expected: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    box = open_box(of(foreign_envs.Backwards))
    monkeypatch.setattr(foreign_envs.Backwards, "solution", lambda self, seed: told)
    assert box.solution(3) == expected


@pytest.mark.parametrize("told", [b"bytes", {"role": "assistant"}, [], [None], [{"content": "x"}], 4, object()])
def test_invalid_solution_raises_config_error(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    box = open_box(of(foreign_envs.Backwards))
    monkeypatch.setattr(foreign_envs.Backwards, "solution", lambda self, seed: told)
    with pytest.raises(
        ConfigError, match=r"solution\(3\) of Backwards is not a valid solution: found .*, expected a string"
    ):
        box.solution(3)
    found = ask(of(foreign_envs.Backwards), "TG201")["TG201"]
    assert "expected a string, or a list of strings" in found.message


def test_environment_with_a_text_as_solution_passes_as_one_with_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def solution(self: foreign_envs.Backwards, seed: int) -> str:
        self.reset(seed=seed)
        return self.answer()

    monkeypatch.setattr(foreign_envs.Backwards, "solution", solution)
    assert ask(of(foreign_envs.Backwards), "TG201")["TG201"].verdict == "passed"


MODULE = """
import gymnasium
from foreign_envs import Backwards
gymnasium.register("here/{name}-v0", entry_point=Backwards)
"""


@pytest.mark.parametrize("form", ["--make here_module:here/Plain-v0", "gym:here_module:here/Plain-v0"])
def test_installed_command_finds_a_module_in_the_working_directory(form: str, tmp_path: Path) -> None:
    (tmp_path / "here_module.py").write_text(MODULE.format(name="Plain"))
    root, script = Path(__file__).parents[1], "import sys; from trace_gym.cli import main; sys.exit(main())"
    path = os.pathsep.join([str(root), str(root / "tests")])
    # -P leaves the working directory out of sys.path, as a script in another folder does
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, "validate", *form.split(), "--only", "TG103", "--profile", "quick"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_missing_module_error_names_search_path(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["validate", "--make", "no_such_module:here/Plain-v0"])
    assert "No module named 'no_such_module'" in str(result.exception)
    assert "searched in the working directory and in the folders of PYTHONPATH" in str(result.exception)
    assert result.exit_code != 0
