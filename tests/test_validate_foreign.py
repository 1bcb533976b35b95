"""Environments of others are asked what a black box can answer, and each fault is found under its code."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import foreign_envs
import pytest
from rich.console import Console
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError, EnvNotFound, MissingExtra, ReadError
from trace_gym.types import Finding, Report
from trace_gym.validate import PROPERTIES, Given, Held, render, validate
from trace_gym.validate.context import PROFILES
from trace_gym.validate.foreign import FOREIGN, SCHEMES, Turn, attempt, foreign, is_foreign, open_box, probe
from trace_gym.validate.foreign.address import parse
from trace_gym.validate.foreign.asked import NEEDS, Asked, source
from trace_gym.validate.foreign.openenv import text_field
from trace_gym.validate.properties import Inapplicable


def of(made: type) -> str:
    return f"gym:foreign_envs:strangers/{made.__name__}-v0"


def ask(address: str, *only: str, profile: str = "quick", **kw: Any) -> dict[str, Finding]:
    report = validate(address, profile=profile, only=only or None, progress=False, **kw)
    assert report.env == address
    return {f.code: f for f in report.findings}


def run(snippet: str) -> str:
    """What a counterexample prints; it may raise what the environment raises."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(Exception):
        exec(compile(snippet, "counterexample", "exec"), {})
    return out.getvalue()


@pytest.mark.parametrize("made", foreign_envs.HEALTHY, ids=lambda made: made.__name__)
def test_a_healthy_environment_holds_all_that_can_be_asked(made: type) -> None:
    found = ask(of(made))
    assert {c for c, f in found.items() if f.verdict == "failed"} == set(), [f.says for f in found.values()]
    assert found.keys() == PROPERTIES.keys()
    held = {c for c, f in found.items() if f.verdict == "passed"}
    assert held >= FOREIGN.keys() - {"TG203", "TG502", "TG703"}
    assert (found["TG203"].verdict == "passed") == (made is foreign_envs.Locker)
    for code in PROPERTIES.keys() - FOREIGN.keys():
        assert found[code].says.startswith("needs ") and found[code].says.endswith(
            "a Gymnasium environment does not show"
        )


@pytest.mark.parametrize("made", foreign_envs.FAULTS, ids=lambda made: f"{made.rejected_by}-{made.__name__}")
def test_each_fault_is_found(made: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PATIENCE", 1)
    code = made.rejected_by  # type: ignore[attr-defined]
    found = ask(of(made), code, seeds_per_level=30)
    assert [f.code for f in found.values() if f.verdict == "failed"] == [code], found
    snippet = found[code].counterexample
    assert "foreign_envs:strangers/" in snippet
    if made is not foreign_envs.Hangs:
        run(snippet)


def test_every_question_has_a_fault_that_it_finds() -> None:
    elsewhere = {"TG502", "TG703", "TG803"}  # below, or measured only
    assert FOREIGN.keys() - elsewhere <= {m.rejected_by for m in foreign_envs.FAULTS}


def test_codes_are_those_of_properties() -> None:
    assert FOREIGN.keys() <= PROPERTIES.keys()
    assert NEEDS.keys() <= PROPERTIES.keys() - FOREIGN.keys()


def test_the_counterexample_is_replayed_by_the_snippet_and_by_the_verb(tmp_path: Path) -> None:
    made = ask(of(foreign_envs.PaysIdlers), "TG301")
    found = made["TG301"]
    assert "'...' 0.05" in found.says and found.replay is not None and found.replay.actions == ("...",)
    assert "0.05" in run(found.counterexample)
    report = Report(env=of(foreign_envs.PaysIdlers), passed=False, findings=tuple(made.values()), scenarios=12)
    (tmp_path / "report.json").write_text(report.model_dump_json())
    told = CliRunner().invoke(app, ["replay", str(tmp_path / "report.json"), "TG301"])
    assert told.exit_code == 0 and "paid 0.05, and it is over" in told.output


def test_the_verdict_is_the_same_in_processes() -> None:
    codes = ("TG101", "TG301", "TG601")
    address = of(foreign_envs.PaysIdlers)
    assert ask(address, *codes) == ask(address, *codes, engine="processes", workers=2)


def test_what_a_program_prints_is_not_taken_for_its_echo(capsys: pytest.CaptureFixture[str]) -> None:
    assert probe.PRINTS not in probe.PROGRAM
    exec(probe.PROGRAM)
    assert capsys.readouterr().out.strip() == probe.PRINTS


def test_a_hanging_environment_is_told_by_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PATIENCE", 1)
    found, taken = probe.endure(of(foreign_envs.Hangs), [5], [("a",), ("9**9",), ("b",)])
    assert found is not None and (found.seed, found.turns, taken) == (5, ("9**9",), 2)
    assert found.says.startswith("is not answered in 1 seconds")
    assert probe.endure(of(foreign_envs.Hangs), [5], [("a",), ("b",)]) == (None, 2)


def test_ours_are_black_boxes_too() -> None:
    found = ask(
        "gym:trace/tau2-precondition-v0?level=1", "TG101", "TG201", "TG203", "TG301", "TG601", seeds_per_level=4
    )
    assert {f.verdict for f in found.values()} == {"passed"}, [f.says for f in found.values()]


class TestAddresses:
    def test_options_are_json_or_text(self) -> None:
        made = parse("gym:my_module:name-v0?level=1&mode=fast&deep=true")
        assert (made.scheme, made.name) == ("gym", "my_module:name-v0")
        assert made.options == {"level": 1, "mode": "fast", "deep": True}

    def test_what_is_foreign(self) -> None:
        assert all(is_foreign(f"{scheme}:x") for scheme in SCHEMES)
        assert not any(map(is_foreign, ("tau2_precondition", "trace_gym:trace/x-v0", "my_module:World", "gym", None)))

    @pytest.mark.parametrize(
        ("address", "error", "says"),
        [
            ("gym:", ConfigError, "is no environment; expected gym:NAME"),
            ("gym:x-v0?level", ConfigError, "expected key=value"),
            ("gym:nowhere:x-v0", EnvNotFound, "module:id"),
            ("gym:foreign_envs:strangers/Nobody-v0", EnvNotFound, "Nobody"),
            (f"{of(foreign_envs.Backwards)}?low=0.5", ConfigError, "expected low <= 0 < high"),
            (f"{of(foreign_envs.Backwards)}?high=much", ConfigError, "high is 'much'; expected a number"),
            ("rollouts:nowhere.jsonl", ReadError, "there is no file nowhere.jsonl"),
        ],
    )
    def test_a_wrong_one_is_told(self, address: str, error: type[Exception], says: str) -> None:
        with pytest.raises(error, match=says):
            validate(address, progress=False)

    def test_what_cannot_be_made_is_a_finding(self) -> None:
        report = validate(f"{of(foreign_envs.Backwards)}?level=3", progress=False)
        [found] = report.findings
        assert (found.code, found.verdict) == ("TG001", "failed") and "level" in found.says

    def test_levels_are_ours_alone(self) -> None:
        with pytest.raises(ConfigError, match="has no levels"):
            validate(of(foreign_envs.Backwards), levels=[0], progress=False)

    def test_a_range_may_be_named(self) -> None:
        assert ask(of(foreign_envs.PaysThrice), "TG303")["TG303"].verdict == "failed"
        assert ask(of(foreign_envs.PaysThrice) + "?high=3", "TG303", "TG201")["TG303"].verdict == "passed"

    @pytest.mark.parametrize(
        ("scheme", "module", "extra"),
        [("reasoning-gym", "reasoning_gym", "reasoning-gym"), ("skyrl", "skyrl_gym", "skyrl-gym")],
    )
    def test_a_missing_library_is_named(
        self, scheme: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtra, match=rf"pip install 'trace-gym\[{extra}\]'"):
            open_box(f"{scheme}:x")


def test_a_question_may_be_added_and_none_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FOREIGN, "TG208", lambda asked: Held("asked again"))
    assert ask(of(foreign_envs.Backwards), "TG208")["TG208"].says == "asked again"
    with pytest.raises(ValueError, match="TG208 is asked by"):
        foreign("TG208")(lambda asked: Held(""))


def test_binary_rewards_are_told_and_not_held_against_anybody() -> None:
    found = ask(of(foreign_envs.Locker), "TG303")["TG303"]
    assert found.verdict == "passed" and "all or nothing: half the groups of 8 differ where" in found.says


def test_spaces_in_a_reference_are_the_only_variant_that_is_judged() -> None:
    found = ask(of(foreign_envs.Backwards), "TG207")["TG207"]
    assert found.verdict == "passed" and "capitals 0.00" in found.says


def test_test_tasks_are_looked_for(tmp_path: Path) -> None:
    (tmp_path / "clean.txt").write_text("Spell this word backwards, and say nothing else: hello")
    box = open_box(of(foreign_envs.Backwards))
    (tmp_path / "stolen.json").write_text(json.dumps([box.begin(3)]))
    clean = ask(box.name, "TG703", given=Given(against=(str(tmp_path / "clean.txt"),)))["TG703"]
    stolen = ask(box.name, "TG703", given=Given(against=(str(tmp_path / "stolen.json"),)))["TG703"]
    assert (clean.verdict, stolen.verdict) == ("passed", "failed")
    assert stolen.says.startswith("seed 3: the words")


def test_a_text_is_written_short() -> None:
    assert source("ab" * 400) == "'ab' * 400" and eval(source("ab" * 400)) == "ab" * 400
    assert eval(source("\ud800'")) == "\ud800'"


def log(path: Path, groups: Sequence[Sequence[float]]) -> str:
    rows = [{"prompt_id": n, "reward": reward} for n, group in enumerate(groups) for reward in group]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"rollouts:{path}"


def test_recorded_rollouts_are_judged_by_their_spread(tmp_path: Path) -> None:
    mixed = ask(log(tmp_path / "a.jsonl", [[0, 1, 0, 1], [0, 0, 1, 0]] * 8))
    assert mixed["TG502"].verdict == "passed" and mixed["TG502"].figures["informative"] == 1
    assert {f.verdict for c, f in mixed.items() if c != "TG502"} == {"inapplicable"}
    hopeless = ask(log(tmp_path / "b.jsonl", [[0, 0, 0, 0]] * 9 + [[0, 1, 0, 0]]))["TG502"]
    assert hopeless.verdict == "failed" and "all-zero 0.90 is above 0.2" in hopeless.says
    signed = ask(log(tmp_path / "c.jsonl", [[-1, 1, -1, 1], [-1, 1, 1, -1]] * 8) + "@-1..1")["TG502"]
    assert signed.verdict == "passed" and signed.figures["mean"] == 0.5


def test_recorded_rollouts_may_be_judged_beside_an_environment(tmp_path: Path) -> None:
    given = Given(policy=log(tmp_path / "log.jsonl", [[0, 0, 0, 0]] * 10))
    assert ask(of(foreign_envs.Backwards), "TG502", given=given)["TG502"].verdict == "failed"


def test_a_policy_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    class Half:
        """Right in half of its attempts."""

        name, count = "half", 0

        def act(self, talk: Any) -> dict[str, str]:
            self.count += 1
            word = talk.messages[0]["content"].split()[-1]
            return {"role": "assistant", "content": word[::-1] if self.count % 2 else word}

    monkeypatch.setattr("trace_gym.validate.foreign.played.resolve", lambda name: Half())
    monkeypatch.setattr("trace_gym.validate.gate.known", lambda name: None)
    found = ask(of(foreign_envs.Backwards), "TG502", given=Given(policy="half"))["TG502"]
    assert found.verdict == "passed" and found.figures["mean"] == 0.5


def test_a_hugging_face_folder_is_played_one_attempt_after_the_other(tmp_path: Path) -> None:
    from tiny_model import save_tiny  # imports torch

    from trace_gym.validate.foreign import payment

    given = Given(policy=f"hf:{save_tiny(tmp_path / 'tiny')}")
    asked = Asked(of(foreign_envs.Backwards), range(1), PROFILES["quick"], given)
    [group] = payment.groups_of(asked, given.policy)
    assert len(group.rewards) == 8 and [group] == payment.groups_of(asked, given.policy)  # at most 64 tokens each


def test_the_command_line_takes_addresses() -> None:
    name = f"foreign_envs:strangers/{foreign_envs.PaysIdlers.__name__}-v0"
    rest = ["--profile", "quick", "--engine", "here", "--only", "TG3"]
    made = CliRunner().invoke(app, ["validate", "--make", name, *rest, "--json"])
    assert made.exit_code == 1
    report = Report.model_validate_json(made.output)
    assert report.env == f"gym:{name}" and not report.passed
    assert CliRunner().invoke(app, ["validate", f"gym:{name}", *rest, "--json"]).output == made.output
    both = CliRunner().invoke(app, ["validate", "tau2_precondition", "--make", name])
    assert both.exit_code != 0


def test_a_report_is_shown() -> None:
    out = io.StringIO()
    Console(file=out, width=160).print(
        render(validate(of(foreign_envs.PaysIdlers), profile="quick", only=["TG3"], progress=False))
    )
    assert (
        "pays 0.05 for '...'" in out.getvalue()
        and "open_box('gym:foreign_envs:strangers/PaysIdlers-v0')" in out.getvalue()
    )


class TestReasoningGym:
    @pytest.fixture(autouse=True)
    def library(self) -> None:
        pytest.importorskip(
            "reasoning_gym",
            reason="reasoning-gym is not installed: pip install 'trace-gym[reasoning-gym]' (it needs a C compiler)",
        )

    def test_a_data_set_is_asked(self) -> None:
        found = ask("reasoning-gym:chain_sum?min_terms=3", "TG1", "TG2", "TG3", "TG6", "TG70", skip=["TG102"])
        assert {f.verdict for f in found.values()} == {"passed", "inapplicable"}
        assert {"TG101", "TG201", "TG301", "TG601"} <= {c for c, f in found.items() if f.verdict == "passed"}
        box = open_box("reasoning-gym:chain_sum?min_terms=3")
        assert box.begin(7).count(" ") > 10 and attempt(box, 7, box.solution(7) or ()).paid == 1

    def test_pay_for_nothing_is_found(self) -> None:
        found = ask("reasoning-gym:countdown", "TG301")["TG301"]
        assert found.verdict == "failed" and "pays 0.01 for" in found.says

    def test_a_scorer_that_runs_answers_is_found(self) -> None:
        found = ask("reasoning-gym:spiral_matrix", "TG402", seeds_per_level=1)["TG402"]
        assert found.verdict == "failed" and found.says.endswith("is run as Python, in the process of the environment")
        assert "run as a program" in run(found.counterexample)

    def test_a_seed_is_the_same_problem_whatever_the_size(self) -> None:
        small, large = open_box("reasoning-gym:chain_sum?size=10"), open_box("reasoning-gym:chain_sum?size=1000")
        assert [small.begin(s) for s in (3, 25)] == [large.begin(s) for s in (3, 25)]

    def test_a_wrong_name_or_option_is_told(self) -> None:
        with pytest.raises(EnvNotFound, match="has no data set nothing; it has .*chain_sum"):
            open_box("reasoning-gym:nothing")
        with pytest.raises(ConfigError, match="the seed is the validation's"):
            open_box("reasoning-gym:chain_sum?seed=3")


class TestSkyrl:
    @pytest.fixture(autouse=True)
    def library(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("skyrl_gym", reason="skyrl-gym is not installed: pip install 'trace-gym[skyrl-gym]'")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def test_gsm8k_is_asked_with_lent_tasks(self) -> None:
        found = ask("skyrl:gsm8k", "TG001", "TG101", "TG103", "TG201", "TG301", "TG601", "TG704")
        assert found["TG103"].verdict == found["TG704"].verdict == "inapplicable"
        assert "skyrl:gsm8k@FILE.jsonl" in found["TG103"].says
        assert {found[c].verdict for c in ("TG001", "TG101", "TG201", "TG301", "TG601")} == {"passed"}

    def test_tasks_of_a_file_are_the_problems(self, tmp_path: Path) -> None:
        rows = [
            {"prompt": [{"role": "user", "content": f"What is {n} + 1?"}], "reward_spec": {"ground_truth": str(n + 1)}}
            for n in range(5)
        ]
        rows[4]["solution"] = "#### 6"
        (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
        found = ask(f"skyrl:gsm8k@{tmp_path}/tasks.jsonl", "TG103", "TG201", "TG704")
        assert found["TG103"].says == "5 seeds make 5 problems" and found["TG704"].verdict == "inapplicable"
        assert found["TG201"].verdict == "failed" and "1 of 5 references" in found["TG201"].says
        (tmp_path / "tasks.jsonl").write_text('{"question": 1}')
        with pytest.raises(ReadError, match="tasks.jsonl:1 is no task"):
            open_box(f"skyrl:gsm8k@{tmp_path}/tasks.jsonl")

    def test_sql_is_asked_with_a_lent_database(self) -> None:
        found = ask("skyrl:sql", "TG101", "TG201", "TG203", "TG301", "TG303", "TG405")
        assert {f.verdict for f in found.values()} == {"passed"}, [f.says for f in found.values()]
        assert found["TG303"].figures["levels"] == 3  # a fine, nothing, all

    def test_what_has_no_tasks_says_so(self) -> None:
        with pytest.raises(ConfigError, match="lcb needs tasks"):
            open_box("skyrl:lcb")
        with pytest.raises(EnvNotFound, match="skyrl-gym has no chess; it has aime"):
            open_box("skyrl:chess")


SCHEMA = {
    "properties": {
        "message": {"type": "string"},
        "metadata": {"type": "object"},
        "kind": {"const": "x", "type": "string"},
    },
    "required": ["message", "kind"],
}


def test_the_field_that_takes_text() -> None:
    assert text_field(SCHEMA) == "message"
    assert text_field({"properties": {"text": {"type": "string"}}}) == "text"
    assert text_field({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}) is None
    assert (
        text_field({"properties": {"tool_name": {"type": "string"}, "arguments": {}}, "required": ["tool_name"]})
        is None
    )


class TestOpenEnv:
    """Against a server of a few lines that speaks the same two messages."""

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
            assert box.act("what?") == Turn('{"heard": "what?"}', 0.0, False)
            assert box.act('{"other": 1}').observation == "Error: message is missing"
            assert box.act('{"message": "word4", "kind": "x"}').reward == 1
            with pytest.raises(RuntimeError, match="EXECUTION_ERROR: boom"):
                box.act("crash")

    def test_a_server_with_one_session_is_asked_by_one_process(self, server: Callable[[int], str]) -> None:
        address = server(1)
        here = ask(address, "TG1", "TG301", "TG303", "TG402", "TG405")
        assert [(f.code, f.says) for f in here.values() if f.verdict == "failed"] == []
        assert here["TG101"].verdict == here["TG402"].verdict == "passed"
        assert here["TG102"].says == "it runs in a server, which is not started from here"
        assert here["TG105"].says.startswith("it serves one session at a time")
        assert ask(address, "TG1", "TG301", engine="processes", workers=2) == {
            c: here[c] for c in here if c[:3] == "TG1" or c in ("TG001", "TG301")
        }

    def test_a_server_with_two_sessions_keeps_them_apart(self, server: Callable[[int], str]) -> None:
        assert ask(server(2), "TG105")["TG105"].verdict == "passed"

    def test_a_server_that_is_not_there(self, unused: int = 9) -> None:
        with pytest.raises(EnvNotFound, match="does not answer"):
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


def test_a_server_of_the_openenv_library(tmp_path: Path) -> None:
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
        assert {f.verdict for f in found.values()} == {"passed"}, [f.says for f in found.values()]
    finally:
        process.kill()
        process.wait()


def test_a_log_cannot_be_played(tmp_path: Path) -> None:
    box = open_box(log(tmp_path / "a.jsonl", [[0.0, 1.0]]))
    with pytest.raises(Inapplicable, match="a log of rollouts is not"):
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
def test_other_solution_is_an_error_that_names_it(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    box = open_box(of(foreign_envs.Backwards))
    monkeypatch.setattr(foreign_envs.Backwards, "solution", lambda self, seed: told)
    with pytest.raises(ConfigError, match=r"solution\(3\) of Backwards is not a solution: found .*, expected a text"):
        box.solution(3)
    found = ask(of(foreign_envs.Backwards), "TG201")["TG201"]
    assert "expected a text, or a list of texts" in found.says


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


def test_installed_command_says_where_a_missing_module_is_looked_for(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["validate", "--make", "no_such_module:here/Plain-v0"])
    assert "no_such_module" in str(result.exception)
    assert result.exit_code != 0
