"""Tests of the solver (TG215), which sees only what an agent sees, and of the reader that judges its failures."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llm_server import Body, Handler, Server
from module_author import ModuleAuthor, spec_of
from mutants import hotel, solving
from typer.testing import CliRunner

from trace_gym import registry
from trace_gym.cli.entry import app
from trace_gym.episode import Episode, interface_of
from trace_gym.errors import BudgetSpent, ConfigError, ModelError
from trace_gym.llm import Completion, ModelRequest, Usage, open_model_uri
from trace_gym.llm.model_uri import solver_uri
from trace_gym.llm.opening import open_models
from trace_gym.pipeline import authoring
from trace_gym.pipeline.ledger import Run
from trace_gym.review import Checkers, add_model_checks, solve
from trace_gym.review.solving import solve_world
from trace_gym.sandbox import SandboxedWorld
from trace_gym.settings import RunConfig
from trace_gym.synthesis import synthesize_many
from trace_gym.synthesis.repair_loop import AuthoringContext, ValidationConfig, make_candidate
from trace_gym.synthesis.synthesize_many import SynthesisRequest
from trace_gym.types import Call, Capability, Finding, Report, Say, Scenario
from trace_gym.validation.model_review import SOLVER

REASON = "the text and the reward disagree"


class Scripted:
    """Model that follows a plan for each scenario, and returns one verdict on every failure."""

    name = "scripted"

    def __init__(self, verdict: str = "", quote: str = "", steps: tuple[Call | Say, ...] = (), fails: str = "") -> None:
        self.verdict = {"verdict": verdict, "reason": REASON, "quote": quote}
        self.steps, self.fails = steps, fails
        self.requests: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> Completion:
        self.requests.append(request)
        if self.fails and self.fails in request.purpose:
            raise ModelError("the endpoint is down")
        if request.purpose.startswith("judge"):
            return Completion(text=json.dumps(self.verdict), model=self.name)
        _, _, level, _, seed, _, turn = request.purpose.split()
        steps = self.steps or tuple(solving.plan(f"hotel/{level}/{seed}"))
        step = steps[min(int(turn), len(steps)) - 1]
        if isinstance(step, Say):
            return Completion(text=step.text, model=self.name)
        return Completion(text="", tool_calls=(wire(step),), model=self.name)

    def prompts(self, kind: str) -> list[str]:
        return [str(r.messages[1]["content"]) for r in self.requests if r.purpose.startswith(kind)]


def wire(call: Call) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    return {"id": "c", "type": "function", "function": function}


IDLE = (Say("I cannot say."),)
SCENARIOS = [Scenario(env="hotel", level=level, seed=seed) for level in (0, 1) for seed in (0, 1)]


@pytest.fixture(scope="module")
def healthy() -> Iterator[SandboxedWorld]:
    """The healthy environment in one sandbox, because each start of a sandbox takes seconds."""
    with SandboxedWorld(solving.HEALTHY) as world:
        yield world


def finding_of(world: SandboxedWorld, model: Scripted, reader: Scripted | None = None, count: int = 4) -> Finding:
    return solve_world(world, SCENARIOS[:count], model, reader, "hotel")


def test_healthy_environment_passes_without_a_reader() -> None:
    model = Scripted()
    found = solve(solving.HEALTHY, model)
    assert found.verdict == "passed", found.message
    assert found.metrics == {"scenarios": 4, "solved": 4, "defects": 0, "agent_errors": 0, "unfinished": 0}
    assert model.prompts("judge") == []


def test_solver_receives_exactly_what_an_agent_receives(healthy: SandboxedWorld) -> None:
    model = Scripted()
    finding_of(healthy, model, count=1)
    episode = Episode(hotel.Hotel, Scenario.parse("hotel/0/0"))
    for request, step in zip(model.requests, solving.plan("hotel/0/0"), strict=True):
        sent = [{k: v for k, v in m.items() if k not in ("tool_calls", "tool_call_id")} for m in request.messages]
        seen = [{k: v for k, v in m.items() if k not in ("tool_calls", "tool_call_id")} for m in episode.messages]
        assert sent == seen
        assert request.tools == episode.tools
        episode.step(step)
    assert hotel.Hotel.id not in model.requests[0].purpose


@pytest.mark.parametrize("mutant", solving.MUTANTS, ids=lambda m: m.name)
def test_text_that_contradicts_the_reward_fails(mutant: solving.TextMutant, tmp_path: Path) -> None:
    model = Scripted("environment_defect", mutant.quote)
    found = solve(path := mutant.write(tmp_path), model, reference=str(path))
    assert found.code == mutant.rejected_by
    assert found.verdict == "failed"
    assert REASON in found.message
    assert mutant.quote in found.message
    assert found.metrics["defects"] == 4
    assert "# USER: I am " in found.counterexample
    assert found.replay is not None
    assert len(found.replay.actions) == len(list(solving.plan(found.replay.scenario)))


def test_reader_sees_the_expected_values_but_no_code_and_the_snippet_repeats_the_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Scripted("environment_defect", "tell me what I owe")
    found = solve(solving.MUTANTS[0].write(tmp_path), model, count=1, levels=[0])
    exec(found.counterexample, {})
    assert "success=False" in capsys.readouterr().out.splitlines()[-1]
    [prompt] = model.prompts("judge")
    due = Episode(hotel.Hotel, Scenario.parse("hotel/0/0")).start.mine.due
    assert f"You owed {due};" in prompt
    assert f"You owed {due / 2};" in prompt
    assert "- goal: the guest heard what was due" in prompt
    assert "the guest has the key\n" not in prompt.partition("These checks failed")[2]
    assert not any(
        line.strip() in prompt for line in solving.HEALTHY.read_text().splitlines() if "self" in line and "f" in line
    )


def test_failure_that_is_an_error_of_the_agent_passes(healthy: SandboxedWorld) -> None:
    found = finding_of(healthy, Scripted("agent_error", steps=IDLE))
    assert found.verdict == "passed"
    assert found.metrics == {"scenarios": 4, "solved": 0, "defects": 0, "agent_errors": 4, "unfinished": 0}


def test_another_model_judges_if_it_is_passed(healthy: SandboxedWorld) -> None:
    solver, reader = Scripted("environment_defect", "The key, please", steps=IDLE), Scripted("agent_error")
    assert finding_of(healthy, solver, reader).verdict == "passed"
    assert solver.prompts("judge") == []
    assert len(reader.prompts("judge")) == 4


@pytest.mark.parametrize("quote", ["Give me the suite", "", "The key, please ... the suite"])
def test_defect_with_an_invented_quote_is_not_reported(healthy: SandboxedWorld, quote: str) -> None:
    model = Scripted("environment_defect", quote, steps=IDLE)
    found = finding_of(healthy, model, count=1)
    assert found.verdict == "skipped"
    assert "the quote does not occur" in found.message
    assert len(model.prompts("judge")) == 3


@pytest.mark.parametrize("quote", ["the KEY,  please", "I am ... what I owe", "“tell me what I owe”"])
def test_quote_may_differ_in_case_spaces_and_punctuation(healthy: SandboxedWorld, quote: str) -> None:
    model = Scripted("environment_defect", quote, steps=IDLE)
    assert finding_of(healthy, model, count=1).verdict == "failed"


def test_endpoint_that_is_down_is_skipped(healthy: SandboxedWorld) -> None:
    model = open_model_uri("openai:m@http://127.0.0.1:9/v1", retries=0)
    found = solve_world(healthy, SCENARIOS, model, None, "hotel")
    assert found.verdict == "skipped"
    assert found.message.startswith("4 of 4 scenarios were not decided, because the language model failed: ")


@pytest.mark.parametrize("fails", ["level 1 seed 1 turn 2", "judge hotel/1/1"])
def test_partial_outage_neither_passes_nor_hides_a_defect(fails: str, tmp_path: Path) -> None:
    mutant = solving.MUTANTS[0]
    with SandboxedWorld(mutant.write(tmp_path)) as world:
        undecided = finding_of(world, Scripted("agent_error", fails=fails))
        found = finding_of(world, Scripted("environment_defect", mutant.quote, fails=fails))
    assert undecided.verdict == "skipped"
    assert "1 of 4 scenarios were not decided" in undecided.message
    assert found.verdict == "failed"
    assert found.metrics["unfinished"] == 1


def test_error_of_the_environment_fails_with_the_actions(tmp_path: Path) -> None:
    (path := tmp_path / "hotel.py").write_text(
        solving.HEALTHY.read_text().replace('self.found(room).key = "guest"', 'self.found(room).key = {}["guest"]')
    )
    found = solve(path, Scripted())
    assert found.verdict == "failed"
    assert "KeyError" in found.message
    assert found.replay is not None
    assert found.replay.actions[-1]["tool_calls"][0]["function"]["name"] == "hand_over"


@pytest.fixture
def endpoint() -> Iterator[Server]:
    """Endpoint that solves scenarios of the hotel with tool calls."""
    openings = {
        Episode(hotel.Hotel, Scenario.parse(s)).messages[1]["content"]: tuple(solving.plan(s))
        for s in (f"hotel/{level}/{seed}" for level in (0, 1) for seed in (0, 1))
    }

    def act(handler: Handler, body: Body) -> None:
        steps = openings[body["messages"][1]["content"]]
        step = steps[sum(m["role"] == "assistant" for m in body["messages"])]
        said = {"content": step.text} if isinstance(step, Say) else {"content": None, "tool_calls": [wire(step)]}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **said}}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        handler.reply(json.dumps({"id": "c", "model": "m", "choices": [choice], "usage": usage}).encode())

    server = Server(act)
    yield server
    server.close()


def test_endpoint_receives_tools_and_its_tokens_are_counted(
    healthy: SandboxedWorld, endpoint: Server, tmp_path: Path
) -> None:
    uri = f"openai:m@{endpoint.url}"
    with open_models(uri, [uri, ""], tmp_path, print, tokens=1_000_000) as (_, [solver, reader]):
        assert reader is None
        assert solve_world(healthy, SCENARIOS, solver, None, "hotel").verdict == "passed"
        sent = len(endpoint.requests)
        assert solve_world(healthy, SCENARIOS, solver, None, "hotel").verdict == "passed"  # from the cache
    assert sent == len(endpoint.requests) == sum(len(list(solving.plan(f"hotel/{n}/0"))) for n in (0, 1)) * 2
    assert {t["function"]["name"] for t in endpoint.requests[0]["tools"]} == {"look_up", "settle", "hand_over"}
    assert any(m["role"] == "tool" for m in endpoint.requests[-1]["messages"])
    usage = Usage.read(tmp_path / "requests.jsonl")
    assert (usage.requests, usage.cached, usage.prompt_tokens + usage.completion_tokens) == (sent, sent, 15 * sent)


def test_solver_shares_the_budget_of_the_author(healthy: SandboxedWorld, endpoint: Server, tmp_path: Path) -> None:
    uri = f"openai:m@{endpoint.url}"
    with open_models(uri, [uri], tmp_path, print, tokens=21_000) as (author, [solver]):
        opening = Episode(hotel.Hotel, Scenario.parse("hotel/0/0")).messages
        request = ModelRequest(
            messages=tuple(opening), tools=interface_of(hotel.Hotel).tools, purpose="write", max_tokens=10
        )
        for sample in range(200):
            author.complete(request.model_copy(update={"sample": sample}))
        with pytest.raises(BudgetSpent):
            solve_world(healthy, SCENARIOS, solver, None, "hotel")
    assert len(endpoint.requests) == 200


def answers(folder: Path) -> None:
    """Write the turns of an agent that follows the text, in the form for people, before the requests exist."""
    for level in (0, 1):
        for number, step in enumerate(solving.plan(f"hotel/{level}/0"), 1):
            path = folder / f"solve-level-{level}-seed-0-turn-{number}.answer.md"
            call = {} if isinstance(step, Say) else {"tool": step.tool, "arguments": step.arguments}
            path.write_text(step.text if isinstance(step, Say) else f"```json\n{json.dumps(call)}\n```\n")
            os.utime(path, (0, 0))  # old files are read without waiting


def test_command_line_reads_turns_from_files(tmp_path: Path) -> None:
    answers(tmp_path)
    command = ["validate", str(solving.HEALTHY), "--only", SOLVER, "--profile", "quick"]
    done = CliRunner().invoke(app, [*command, "--solver", f"files:{tmp_path}"])
    assert done.exit_code == 0, done.output
    assert "the solver solved 2 of 2 scenarios" in " ".join(done.output.split())
    first = (tmp_path / "solve-level-0-seed-0-turn-1.md").read_text()
    assert '{"tool": NAME, "arguments": {...}}' in first
    assert '"name": "settle"' in first
    second = (tmp_path / "solve-level-0-seed-0-turn-2.md").read_text()
    assert "continues `solve-level-0-seed-0-turn-1.md`" in second
    assert '"name": "settle"' not in second


def test_failed_environment_gets_no_solver() -> None:
    findings = (
        Finding(code="TG001", property="loads", verdict="failed", message="no"),
        Finding(code=SOLVER, property="solver", verdict="skipped", message="no language model was passed"),
    )
    report = Report(env="hotel", passed=False, findings=findings, scenarios=1, profile="quick")
    model = Scripted()
    checked = add_model_checks(report, solving.HEALTHY, Checkers(solver=model))
    assert "another property failed" in checked.findings[1].message
    assert model.requests == []


@pytest.mark.parametrize(("profile", "seeds", "count"), [("quick", None, 2), ("gate", None, 4), ("gate", 1, 2)])
def test_profile_and_seeds_limit_the_scenarios(profile: str, seeds: int | None, count: int) -> None:
    finding = Finding(code=SOLVER, property="solver", verdict="skipped", message="no language model was passed")
    report = Report(env="hotel", passed=True, findings=(finding,), scenarios=1, profile=profile)
    checked = add_model_checks(report, solving.HEALTHY, Checkers(solver=Scripted()), seeds_per_level=seeds)
    assert checked.findings[0].metrics["scenarios"] == count


def test_finding_reaches_the_author_of_a_generated_environment(tmp_path: Path) -> None:
    name = "tau2_precondition"
    solver = Scripted("environment_defect", registry.load_world(name).interface().system_prompt[:40], steps=IDLE)
    validation = ValidationConfig("quick", workers=1, only=(SOLVER,), checkers=Checkers(solver=solver))
    context = AuthoringContext(spec_of(name), ModuleAuthor(), tmp_path, validation, log=str)
    candidate = make_candidate(context, lambda: ModuleAuthor().write(context.spec), 0)
    assert not candidate.passed
    [diagnostic] = candidate.diagnostics
    assert diagnostic.code == SOLVER
    assert REASON in diagnostic.message
    assert "# AGENT: I cannot say." in diagnostic.counterexample


@pytest.mark.parametrize(
    ("solver", "author", "expected"),
    [
        ("", "openai:m@http://127.0.0.1:9/v1", "openai:m@http://127.0.0.1:9/v1"),
        ("", "files:desk", "files:desk/solver"),
        ("", "replay:desk", ""),
        ("", "replay-purpose:desk", ""),
        ("", "", ""),
        ("none", "openai:m", ""),
        ("openai:other", "replay:desk", "openai:other"),
    ],
)
def test_solver_is_the_author_unless_it_is_replayed(solver: str, author: str, expected: str) -> None:
    assert solver_uri(solver, author) == expected


@pytest.mark.parametrize("command", [True, False], ids=["command", "run"])
@pytest.mark.parametrize(("solver", "opened"), [({}, True), ({"solver": "none"}, False)], ids=["default", "turned off"])
def test_author_of_generated_environments_solves_their_scenarios(
    command: bool, solver: dict[str, str], opened: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[SynthesisRequest] = []

    def write_all(request: SynthesisRequest, *_: object) -> dict[str, Any]:
        requests.append(request)
        return {}

    monkeypatch.setattr(synthesize_many, "write_all", write_all)
    monkeypatch.setattr(authoring, "write_all", write_all)
    model = f"files:{tmp_path / 'desk'}"
    if command:
        (wanted := tmp_path / "capabilities.json").write_text('[{"name": "checks", "description": "Check."}]')
        options = ["--from", str(wanted), "--author", "llm", "--llm", model, "--out", str(tmp_path / "out")]
        options += [part for key, value in solver.items() for part in (f"--{key}", value)]
        CliRunner().invoke(app, ["synthesize", *options])
    else:
        llm = {"model": model, "folder": tmp_path / "out", **solver}
        config = RunConfig.model_validate({"author": "llm", "capabilities": {"checks": "Check."}, "llm": llm})
        authoring.write_environments(Run(config, tmp_path / "run"), [named_capability()], "tau2_airline")
    [request] = requests
    assert (request.validation.checkers.solver is not None) is opened
    assert (tmp_path / "desk" / "solver").is_dir() is opened


def named_capability() -> Capability:
    rates = {"coverage": 0.3, "er_failed": None, "er_passed": None, "gap": None, "selected": True}
    return Capability.model_validate({"name": "checks", "description": "Check.", **rates})


def test_synthesize_opens_the_solver_first(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["synthesize", "tau2_baggage_allowance", "--out", str(tmp_path), "--solver", "gpt"])
    assert isinstance(done.exception, ConfigError)
    assert "not a valid model URI" in str(done.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reasoning-gym:chain_sum", "--solver", "files:x"], "--solver requires the module file"),
        (["tau2_precondition", "--only", "TG1", "--solver", "files:x"], "--solver has no effect, because TG215"),
        (["tau2_precondition", "--only", SOLVER, "--solver", "gpt"], "not a valid model URI"),
        (["tau2_precondition", "--reader", "files:x"], "--reader has no effect"),
    ],
)
def test_option_without_effect_is_an_error(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(app, ["validate", *arguments])
    assert isinstance(done.exception, ConfigError)
    assert message in str(done.exception)
