"""Tests of `validate`: a valid world passes, and each mutant fails its property with an executable counterexample."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn, Self
from unittest import mock

import pytest
from mutants.faults import MUTANTS, EndlessOracle, ForgottenGuard, GlobalRandom, LeakyLookup, NoSecondLevel, OneProblem
from mutants.hotel import Hotel
from rich.console import Console

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvBug, EnvNotFound, ReadError
from trace_gym.report import replays
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.types import Call, Finding, Replay, Report, Say, Scenario
from trace_gym.validation import (
    PROPERTIES,
    CheckFailed,
    Context,
    Passed,
    begin,
    listing,
    load,
    markdown,
    property_check,
    render,
    validate,
)
from trace_gym.validation.context import PROFILES
from trace_gym.validation.experts import needs_capability
from trace_gym.validation.random_calls import CallSampler, StateValues, to_plain_data
from trace_gym.validation.remedies import RAISED, remedy
from trace_gym.validation.surface import malformed, without_descriptions
from trace_gym.world import Check, Random, World

ROOT = Path(__file__).resolve().parents[1]
ENVS = ("tau2_precondition", "tau2_retail_precondition", "toolsandbox_permission_recovery")
"""The fastest environment of each target. Every manifest contains the report of a larger validation (see
`test_registry`)."""


def quick(target: type[World] | str | Path, *only: str) -> Report:
    return validate(target, profile="quick", only=only or None, progress=False)


def failures(report: Report) -> list[Finding]:
    return [f for f in report.findings if not f.passed]


def shown(table: object) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(table)
    return out.getvalue()


def test_valid_world_passes_every_property() -> None:
    report = quick(Hotel)
    assert not failures(report) and report.passed
    assert [f.code for f in report.findings] == sorted(PROPERTIES)
    assert report.scenarios == 2 * PROFILES["quick"].seeds_per_level


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.rejected_by}-{m.__name__}")
def test_each_mutant_fails_its_property(mutant: type[World]) -> None:
    code = mutant.rejected_by  # type: ignore[attr-defined]
    report = quick(mutant, code)
    [found] = failures(report)
    assert (found.code, report.passed) == (code, False)
    assert found.message
    if found.counterexample:
        run(found.counterexample)


def run(snippet: str) -> str:
    """Return the output of a counterexample, which may raise the exception of the environment."""
    out = io.StringIO()
    found = mock.patch.dict(os.environ, PYTHONPATH=str(Path(__file__).parent))  # some start another process
    with found, contextlib.redirect_stdout(out), contextlib.suppress(EnvBug, KeyError, TypeError):
        exec(compile(snippet, "counterexample", "exec"), {})
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("name", ENVS)
def test_shipped_environment_of_each_target_passes(name: str) -> None:
    report = quick(registry.module_path(name))
    assert not failures(report)
    metrics = next(f.metrics for f in report.findings if f.code == "TG205")
    assert metrics["needs"] > 0


def test_every_target_is_tested() -> None:
    names = registry.list_environments()
    assert {registry.manifest(n).target for n in ENVS} == {registry.manifest(n).target for n in names}


class Mumbling(Hotel):
    """World in which both experts make the same calls, and the ablated expert states half of the required facts."""

    id = "mumbling"

    def ablated(self) -> Iterator[Call | Say]:
        for step in self.oracle():
            yield step if isinstance(step, Call) else Say(f"You owed {self.mine.due // 2 + 1}; here is the key.")


class SeldomGraded(Hotel):
    """World with an all-or-nothing reward, except for one problem in forty."""

    id = "seldom_graded"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        checks = list(super().verify(start, said))
        graded = Random(f"{start.room} {start.mine}").random() < 1 / 40
        return iter(checks if graded else [Check.goal("all is well", all(c.passed for c in checks))])


def test_rare_reward_is_searched_on_more_problems() -> None:
    scenarios = [Scenario(env="seldom_graded", level=level, seed=seed) for level in (0, 1) for seed in range(3)]
    context = Context(SeldomGraded, "", PROFILES["quick"])
    found = PROPERTIES["TG303"](SeldomGraded, scenarios, context)
    assert found.verdict == "passed" and found.metrics["paid_0.333333"] > 0, found.message
    enough = PROPERTIES["TG303"](Hotel, scenarios, Context(Hotel, "", PROFILES["quick"]))
    assert int(enough.message.split()[0]) < int(found.message.split()[0])  # one that is graded needs no more attempts


def test_capability_is_needed_if_messages_decide_success() -> None:
    found = next(f for f in quick(Mumbling, "TG205").findings if f.code == "TG205")
    assert found.passed and found.metrics["needs"] == 1


def test_verdict_is_deterministic() -> None:
    codes = ("TG103", "TG304", "TG403", "TG404")
    assert quick(Hotel, *codes) == quick(Hotel, *codes)
    assert quick(LeakyLookup, "TG403") == quick(LeakyLookup, "TG403")


def test_load_error_is_the_only_finding(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import nowhere\n")
    report = quick(tmp_path / "broken.py")
    [found] = report.findings
    assert (found.code, found.passed, report.passed) == ("TG001", False, False)
    assert "nowhere" in found.message
    assert [f.code for f in quick(NoSecondLevel).findings] == ["TG001"]


def test_exception_becomes_finding_with_scenario_and_snippet() -> None:
    [found] = failures(quick(NoSecondLevel))
    assert found.message == "no_second_level/1/0: generate failed with KeyError: 1"
    with pytest.raises(EnvBug, match="KeyError"):
        exec(found.counterexample, {})


def test_shrunk_counterexample_is_one_call() -> None:
    [found] = failures(quick(LeakyLookup, "TG403"))
    assert found.counterexample.count("episode.step(") == 1
    with pytest.raises(EnvBug, match="KeyError"):
        exec(found.counterexample, {})


class Quits(Hotel):
    id = "quits"

    def verify(self, start: object, said: list[str]) -> NoReturn:
        raise SystemExit(3)


class LostOracle(Hotel):
    id = "lost_oracle"

    def oracle(self) -> NoReturn:
        raise KeyError("\ud83d")


def test_fix_for_exception_refers_to_traceback() -> None:
    [lost] = failures(quick(LostOracle, "TG201"))
    assert lost.message == "lost_oracle/0/0: raised KeyError: '\\ud83d'"
    assert remedy(lost) == RAISED and "traceback" in shown(render(quick(LostOracle, "TG201")))
    [leaky] = failures(quick(LeakyLookup, "TG403"))
    assert "raised KeyError" in leaky.message and remedy(leaky) == PROPERTIES["TG403"].fix  # that is what it is about
    [one] = failures(quick(OneProblem, "TG103"))
    assert remedy(one) == PROPERTIES["TG103"].fix
    assert remedy(quick(Hotel, "TG103").findings[0]) == ""
    [quits] = failures(quick(Quits, "TG304"))
    assert "SystemExit" in quits.message and remedy(quits) == RAISED


def test_crash_or_exit_of_property_is_finding() -> None:
    context = Context(Quits, "nowhere:Quits", PROFILES["quick"])
    found = PROPERTIES["TG301"](Quits, [Scenario(env="quits", level=0, seed=0)], context)
    assert not found.passed and "SystemExit" in found.message

    def stumbles(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
        raise ZeroDivisionError("by zero")

    crashed = type(PROPERTIES["TG301"])("TG999", "stumbles", "", "", "", stumbles)(Hotel, [], context)
    assert (crashed.passed, crashed.message) == (False, "the check raised ZeroDivisionError: by zero")


def test_custom_property_is_checked() -> None:
    before = dict(PROPERTIES)
    try:

        @property_check("TG990", statement="Guests are polite.", reason="Manners.", fix="Say please.")
        def openings_are_polite(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
            rude = [s for s in scenarios if "please" not in context.begin(s).messages[-1]["content"]]
            if rude:
                raise CheckFailed(f"{len(rude)} openings lack a please", context.snippet(rude[0]))
            return Passed(f"{len(scenarios)} openings say please", {"polite": 1.0})

        [_, found] = quick(Hotel, "TG990").findings
        assert (found.property, found.passed, found.metrics) == ("openings-are-polite", True, {"polite": 1.0})
        with pytest.raises(ValueError, match="the property code TG990 is already registered as openings-are-polite"):
            property_check("TG990", statement="", reason="", fix="")(openings_are_polite)
    finally:
        PROPERTIES.clear()
        PROPERTIES.update(before)


def test_load_accepts_classes_names_files_and_references(tmp_path: Path) -> None:
    assert load(Hotel) == (Hotel, "mutants.hotel:Hotel")
    assert load("mutants.hotel:Hotel")[0] is Hotel
    world, reference = load("tau2_precondition")
    assert (world.id, Path(reference).name) == ("tau2_precondition", "tau2_precondition.py")
    assert load(world) == (world, reference)
    assert load("trace/tau2-precondition-v0")[0].id == "tau2_precondition"
    assert begin("mutants.hotel:Hotel", "hotel/1/4").scenario.seed == 4
    with pytest.raises(EnvNotFound):
        load("no_such_environment")
    with pytest.raises(EnvNotFound, match="Validate its parts: tau2_multi_step"):
        load("tau2_mixture")
    with pytest.raises(EnvNotFound, match="is not a World"):
        load("mutants.hotel:GUESTS")
    with pytest.raises(EnvBug, match="nowhere"):
        load("nowhere:Hotel")
    with pytest.raises(ReadError):
        load(tmp_path / "missing.py")


def test_invalid_options_raise_config_error() -> None:
    with pytest.raises(ConfigError, match="expected one of quick, gate"):
        validate(Hotel, profile="thorough")
    with pytest.raises(ConfigError, match="unknown property: found 'TG000'"):
        validate(Hotel, only={"TG000"})
    with pytest.raises(ConfigError, match="at least 1"):
        validate(Hotel, seeds_per_level=0, progress=False)


def test_unimportable_module_is_finding() -> None:
    class Local(Hotel):
        id = "local"

    [found] = failures(quick(Local))
    assert found.code == "TG001" and "pickle" in found.message


@pytest.mark.parametrize(
    ("source", "verdict", "message"),
    [
        ("while True: pass", "unfinished", "did not load within"),
        ("import os; os._exit(3)", "failed", "ends the process that loads it, with exit code 3"),
        ("def broken(:", "failed", "SyntaxError"),
    ],
)
def test_hanging_or_exiting_module_is_finding(tmp_path: Path, source: str, verdict: str, message: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(source)
    seconds = 2.0 if verdict == "unfinished" else None
    report = validate(path, engine="processes", budget=seconds, progress=False)
    [found] = report.findings
    assert (found.code, found.verdict) == ("TG001", verdict) and message in found.message
    shows = f"from trace_gym.validation import load\n\nload({str(path)!r})\n"
    assert found.counterexample == (shows if verdict == "failed" else "")


def test_zero_workers_and_zero_budget_raise_config_error() -> None:
    for wrong in ({"workers": 0}, {"budget": 0.0}, {"budget": -1.0}):
        with pytest.raises(ConfigError, match="expected workers >= 1 and budget > 0"):
            validate(Hotel, progress=False, **wrong)  # type: ignore[arg-type]


def test_unfinished_property_is_not_shown_as_failure() -> None:
    late = PROPERTIES["TG103"].finding("unfinished", "not finished")
    text = shown(render(Report(passed=False, findings=(late,), scenarios=3)))
    assert text.startswith("unfinished on 3 scenarios") and "open" in text and "fails" not in text


def test_replay_reproduces_damage() -> None:
    [found] = failures(quick(ForgottenGuard, "TG304"))
    assert found.replay is not None
    *_, harm, words = found.replay.actions
    assert harm["tool"] == "hand_over" and "say" in words
    episode = begin("mutants.faults:ForgottenGuard", found.replay.scenario)
    for action in found.replay.actions:
        episode.step(replays.action(action))
    assert episode.finish().success and harm["arguments"] != {"room": episode.world.room}  # type: ignore[attr-defined]


def test_global_random_state_is_restored() -> None:
    random.seed(7)
    expected = random.random()
    random.seed(7)
    quick(GlobalRandom, "TG101")
    assert random.random() == expected


def test_validation_writes_nothing_to_working_directory(tmp_path: Path) -> None:
    code = "from trace_gym.validation import validate; validate('mutants.hotel:Hotel', profile='quick', only={'TG403'})"
    path = ":".join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(tmp_path.iterdir())


def test_needs_agree_with_airline_base_world() -> None:
    for name in ("tau2_airline_desk", "tau2_multi_step", "tau2_precondition", "tau2_structured_data"):
        world, reference = load(name)
        context = Context(world, reference, PROFILES["quick"])
        for seed in range(10):
            scenario = Scenario(env=name, level=len(world.levels) - 1, seed=seed)
            named = context.begin(scenario).start.needs()
            if world.capability:
                assert needs_capability(context, scenario) == (world.capability in named)
            else:
                assert needs_capability(context, scenario) == bool(named)


def test_rendered_report_contains_fix_and_snippet() -> None:
    report = quick(OneProblem, "TG103")
    text = shown(render(report))
    assert "failed on 6 scenarios" in text
    assert PROPERTIES["TG103"].fix.split(",")[0] in text
    assert "\nepisode = begin('mutants.faults:OneProblem', 'one_problem/0/0')\n" in text  # to be pasted as it is
    assert "passed on 6 scenarios" in shown(render(quick(Hotel, "TG103")))


def test_listing_and_documentation_contain_every_property() -> None:
    text = shown(listing())
    assert all(code in text and p.name in text for code, p in PROPERTIES.items())
    written = (ROOT / "docs" / "guides" / "validate.md").read_text()
    assert markdown() in written, "docs/guides/validate.md: paste what `python -m trace_gym.validation` prints"


def test_property_texts_are_sentences() -> None:
    for p in PROPERTIES.values():
        for sentence in (p.statement, p.reason, p.fix):
            assert sentence[0].isupper() and sentence.endswith("."), p.code
            assert "|" not in sentence


def test_endless_plan_is_cut_off() -> None:
    [found] = failures(quick(EndlessOracle, "TG201"))
    assert "more turns than the limit of 8" in found.message


def test_sampled_calls_match_schema_and_state() -> None:
    episode = begin("tau2_tool_precision", "tau2_tool_precision/3/1")
    draw = CallSampler(Random("draws"), episode.interface, StateValues.of(episode.world))
    answers = [begin("tau2_tool_precision", "tau2_tool_precision/3/1").step(draw.call())[0] for _ in range(150)]
    refused = [a["content"] for a in answers if str(a["content"]).startswith("Error")]
    assert not [r for r in refused if "takes" in r]  # no complaint of the schema
    assert len(refused) < 0.75 * len(answers)
    wild = CallSampler(Random("draws"), episode.interface, StateValues.of(episode.world), junk=1.0)
    assert all(str(begin(Hotel, "hotel/0/0").step(wild.call())[0]["content"]).startswith("Error") for _ in range(20))


def test_changed_call_differs_in_one_argument() -> None:
    episode = begin(Hotel, "hotel/0/0")
    draw = CallSampler(Random("changes"), episode.interface, StateValues.of(episode.world))
    call = Call("settle", {"room": "1", "invoice": "2", "amount": 3})
    for _ in range(20):
        made = draw.changed(call)
        assert made.tool == "settle" and sum(made.arguments[k] != v for k, v in call.arguments.items()) <= 1


def test_state_values_include_fields_and_tables() -> None:
    world = begin("tau2_precondition", "tau2_precondition/0/0").world
    values = StateValues.of(world)
    assert isinstance(world, AirlineDesk)
    assert values.named("reservation_id") == [*world.reservations]
    assert all(v.startswith(("credit_card_", "gift_card_")) for v in values.named("payment_id"))
    assert to_plain_data({1: {3, 2}, "a": (None, Random)})["1"] == [2, 3]


def test_malformed_turns_cover_all_kinds() -> None:
    context = Context(*load(Hotel), PROFILES["quick"])
    turns = list(malformed(context, Scenario(env="hotel", level=0, seed=0)))
    texts = [t for t in turns if isinstance(t, str)]
    assert any(len(t) >= 1_000_000 for t in texts) and any(t.count("<tool_call>") == 2 for t in texts)
    assert any("NaN" in t for t in texts) and any("\x00" in t for t in texts)
    assert any(isinstance(t, dict) for t in turns) and None in turns
    calls = [t for t in turns if isinstance(t, Call)]
    assert {c.tool for c in calls} >= {"look_up", "settle", "hand_over", "no_such_tool"}
    assert Call("settle", {"room": "text", "invoice": "text", "amount": True}) in calls


def test_schema_comparison_ignores_only_descriptions() -> None:
    one = {"properties": {"description": {"type": "string", "description": "x"}}, "required": ["b", "a"], "title": "t"}
    assert without_descriptions(one) == {"properties": {"description": {"type": "string"}}, "required": ["a", "b"]}


def test_snippets_reproduce_failures() -> None:
    context = Context(*load(Hotel), PROFILES["quick"])
    scenario = Scenario(env="hotel", level=0, seed=3)
    snippet = context.snippet(scenario, context.plan(scenario, "oracle"), "print(episode.finish().success)")
    assert run(snippet).splitlines()[-1] == "True"
    odd = [Call(None, {"room": float("nan")}), Say(b"x"), float("-inf")]  # type: ignore[arg-type]
    assert run(context.snippet(scenario, odd, "print('played')")).endswith("played\n")
    replay = context.failure(scenario, "odd", [*odd, "\ud83d", {1: {2}}]).replay
    assert replay is not None and Replay.model_validate_json(replay.model_dump_json()) == replay
    long = context.snippet(scenario, ["x" * 1_000_000, Say("y" * 500), {"content": "z" * 300}])
    assert "'x' * 1000000" in long and "Say('y' * 500)" in long and len(long) < 1000


def test_rollouts_are_cached_across_properties() -> None:
    context = Context(*load(Hotel), PROFILES["quick"])
    scenario = Scenario(env="hotel", level=0, seed=0)
    assert context.expert(scenario, "oracle") is context.expert(scenario, "oracle", 4)
    assert isinstance(context.expert(scenario, "oracle", 2), Episode)
    assert json.dumps(context.expert(scenario, "oracle").messages)
