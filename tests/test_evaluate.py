"""Tests of evaluation: pairing, averaging, unscored rollouts and rejected inputs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

import pytest
from pydantic import ValidationError
from rich.console import Console
from toy_world import open_toy

from trace_gym import registry
from trace_gym.errors import ConfigError, ReadError, SplitError
from trace_gym.evaluation import (
    Evaluation,
    PolicyResult,
    ScenarioLedger,
    ScoredRollout,
    evaluate,
    first_messages,
    held_out,
    markdown,
    merge,
    oracle_choices,
    random_choices,
    render,
    routed,
)
from trace_gym.evaluation.policies import PolicyRunner
from trace_gym.policies import Ablated, Oracle, Policy
from trace_gym.rollouts import play
from trace_gym.route import BASE
from trace_gym.sandbox import describe
from trace_gym.trajectories import TokenRollout, trajectory
from trace_gym.types import Report, Scenario

TEST, VALIDATE = registry.SPLITS["test"][0], registry.SPLITS["validate"][0]


def toys(count: int, first: int = TEST, level: int = 1) -> list[Scenario]:
    return [Scenario(env="toy_boxes", level=level, seed=first + n) for n in range(count)]


def rolled(policy: Policy) -> PolicyRunner:
    def player(scenarios: Sequence[Scenario]) -> list[TokenRollout]:
        done = [play(policy, open_toy(s)) for s in scenarios]
        return [TokenRollout(e.scenario, [], [], [], e, e.state_hash) for e in done]

    return player


def broken(scenarios: Sequence[Scenario]) -> list[ScoredRollout]:
    """Every second attempt fails for a reason that is not the agent's."""
    done = [play(Oracle(), open_toy(s)) for s in scenarios]
    return [trajectory(e, ended="error" if n % 2 else None) for n, e in enumerate(done)]


def row(name: str, outcomes: str, seeds: tuple[int, ...] = (0,), **kw: int) -> PolicyResult:
    """A row from a picture: ``1`` success, ``0`` failure, ``.`` not scored; a space between seeds."""
    marks = outcomes.replace(" ", "")
    n = len(marks) // len(seeds)
    successes = tuple({"1": True, "0": False, ".": None}[m] for m in marks)
    scenarios = tuple(f"toy_boxes/0/{TEST + i}" for i in range(n))
    return PolicyResult(name=name, scenarios=scenarios, successes=successes, seeds=seeds, **kw)


def evaluation(*rows: PolicyResult, split: str = "test") -> Evaluation:
    return Evaluation(rows=rows, env="toy_boxes", levels=(0,), split=split)


def test_policies_are_played_on_the_same_tasks_and_scored() -> None:
    made = evaluate(
        {"base": rolled(Ablated()), "look": rolled(Oracle())}, toys(12), seed=3, rollouts_trained={"look": 640}
    )
    base, look = made.rows
    luck = [e.finish().success for e in (play(Ablated(), open_toy(s)) for s in toys(12))]
    assert base.successes == tuple(luck) and 0 < sum(luck) < 12
    assert look.successes == (True,) * 12 and look.reward_mean == 1.0
    assert (look.rollouts_trained, base.rollouts_trained, look.seeds) == (640, 0, (3,))
    assert (made.env, made.levels, made.split) == ("toy_boxes", (1,), "test")
    gain = made.compare("look")
    assert gain is not None and gain.gained == 12 - sum(luck) and gain.lost == 0 and gain.both == sum(luck)


def test_an_attempt_that_was_not_scored_is_left_out_and_counted() -> None:
    made = evaluate({"base": rolled(Ablated()), "flaky": broken}, toys(10))
    flaky = made.row("flaky")
    assert flaky.unscored == 5 and flaky.rate == 1.0 and flaky.reward_mean == 1.0
    gain = made.compare("flaky")
    assert gain is not None and (gain.pairs, gain.left_out) == (5, 5)
    assert "Not scored and excluded: adapter: flaky 5." in markdown(made)


def test_a_row_without_any_score_has_no_rate_and_no_comparison() -> None:
    made = evaluation(row("base", "0101"), row("lost", "...."))
    assert made.row("lost").rate is None and made.row("lost").interval is None and made.compare("lost") is None
    assert "| adapter: lost | - | - | - | - | - | - |" in markdown(made)


def test_one_seed_is_mcnemars_test_and_wilsons_interval() -> None:
    made = evaluation(row("base", "1100000000"), row("cap", "1011111110"))
    gain = made.compare("cap")
    assert gain is not None
    assert (gain.gained, gain.lost, gain.both) == (7, 1, 1) and gain.gain == pytest.approx(0.6)
    assert gain.p == pytest.approx(2 * (1 + 8) / 2**8)
    assert gain.low < 0.6 < gain.high
    interval = made.row("cap").interval
    assert interval is not None and interval == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_seeds_are_averaged_per_task_before_anything_is_compared() -> None:
    cap = row("cap", "11110000 11001100", seeds=(0, 1))
    made = evaluation(row("base", "10000000"), cap)
    assert cap.by_scenario == [1, 1, 0.5, 0.5, 0.5, 0.5, 0, 0]
    assert cap.by_seed == [0.5, 0.5] and cap.rate == 0.5
    gain = made.compare("cap")
    assert gain is not None and (gain.gained, gain.lost, gain.both) == (5, 0, 1)
    assert gain.p == pytest.approx(2 / 2**5)
    once = row("cap", "11110000")
    assert cap.interval == once.interval  # sixteen attempts are still eight tasks


def test_the_reward_and_the_success_of_missing_seeds_do_not_count_as_zero() -> None:
    assert row("cap", "1. 1.", seeds=(0, 1)).by_scenario == [1, None]
    assert row("cap", "1. 01", seeds=(0, 1)).by_scenario == [0.5, 1]


def test_a_row_may_be_compared_with_another_than_the_base() -> None:
    made = evaluation(row("base", "0000"), row("mixture", "1100"), row("routed", "1110"))
    against = made.compare("routed", "mixture")
    assert against is not None and against.gain == 0.25 and against.gained == 1
    with pytest.raises(ConfigError, match="unknown policy: found 'oracle', expected one of base, mixture, routed"):
        made.compare("oracle")


def test_merging_seeds() -> None:
    first = evaluation(row("base", "0001"), row("cap", "1100", rollouts_trained=100))
    second = evaluation(row("base", "0001", seeds=(1,)), row("cap", "1110", seeds=(1,), rollouts_trained=200))
    made = merge([first, second])
    assert made.row("cap").seeds == (0, 1) and made.row("cap").by_seed == [0.5, 0.75]
    assert made.row("cap").rollouts_trained == 150
    assert made.base.interval == first.base.interval
    assert "adapter: cap 50.0 to 75.0" in markdown(made)
    with pytest.raises(ConfigError, match="evaluated twice for the training seed 0"):
        merge([first, first])
    with pytest.raises(ConfigError, match="the same policies"):
        merge([first, evaluation(row("base", "0001", seeds=(1,)))])
    with pytest.raises(ConfigError, match="no evaluations to merge"):
        merge([])


def test_merged_rewards_weigh_each_scored_attempt_alike() -> None:
    first = row("base", "11..").model_copy(update={"reward_mean": 1.0})
    second = row("base", "0000", seeds=(1,)).model_copy(update={"reward_mean": 0.25})
    assert merge([evaluation(first), evaluation(second)]).base.reward_mean == pytest.approx(0.5)


def test_json_round_trip(tmp_path: Path) -> None:
    made = evaluation(row("base", "01.0"), row("cap", "11.1 0111", seeds=(0, 4)))
    made.write(tmp_path / "run" / "evaluation.json")
    assert Evaluation.read(tmp_path / "run" / "evaluation.json") == made
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["evaluation.json"]


def test_a_file_that_is_no_evaluation_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"rows": []}')
    for name in ("bad.json", "missing.json"):
        with pytest.raises(ReadError, match="is not an evaluation|the file .* does not exist"):
            Evaluation.read(tmp_path / name)


def test_rows_that_do_not_pair_up_are_refused() -> None:
    with pytest.raises(ValidationError, match="different scenarios"):
        evaluation(row("base", "01"), row("cap", "011"))
    with pytest.raises(ValidationError, match="several policies have the same name"):
        evaluation(row("base", "01"), row("base", "11"))
    with pytest.raises(ValidationError, match="expected one outcome per scenario, seed and sample"):
        PolicyResult(name="cap", scenarios=("toy_boxes/0/1",), successes=(True, False))


def test_only_tasks_of_the_named_split_are_scored() -> None:
    with pytest.raises(SplitError, match="toy_boxes/1/5 is in the split 'train', expected the split 'test'"):
        evaluate({"base": rolled(Oracle())}, [*toys(2), *toys(1, first=5)])
    assert evaluate({"base": rolled(Oracle())}, toys(2, first=VALIDATE), split="validate").split == "validate"


def test_nothing_to_evaluate_is_refused() -> None:
    with pytest.raises(ConfigError, match="0 policies and 1 scenarios"):
        evaluate({}, toys(1))
    with pytest.raises(ConfigError, match="1 policies and 0 scenarios"):
        evaluate({"base": rolled(Oracle())}, [])


def test_a_player_that_mixes_up_its_attempts_is_refused() -> None:
    for wrong in (lambda s: rolled(Oracle())(s[::-1]), lambda s: rolled(Oracle())(s[1:])):
        with pytest.raises(ConfigError, match="one rollout per scenario, in the order of the scenarios"):
            evaluate({"base": wrong}, toys(3))


def test_a_routed_row_calls_each_player_once_and_keeps_the_order() -> None:
    scenarios = toys(9)
    options = [BASE, "look", "look", BASE, "look", BASE, BASE, "look", BASE]
    calls: list[str] = []

    def spy(name: str, policy: Policy) -> PolicyRunner:
        def player(asked: Sequence[Scenario]) -> Sequence[ScoredRollout]:
            calls.append(name)
            return rolled(policy)(asked)

        return player

    players = {BASE: spy(BASE, Ablated()), "look": spy("look", Oracle()), "unused": spy("unused", Oracle())}
    choices = dict(zip(scenarios, options, strict=True))
    made = evaluate({"base": rolled(Ablated()), "routed": routed(choices, players)}, scenarios)
    assert sorted(calls) == ["look", BASE]
    luck = made.base.successes
    assert made.row("routed").successes == tuple(o == "look" or b for o, b in zip(options, luck, strict=True))
    with pytest.raises(ConfigError, match="no policy for the chosen options look: found only the policies none"):
        routed(choices, {BASE: rolled(Ablated())})


def test_oracle_routing_settles_several_needs_on_the_validation_split() -> None:
    validate = toys(6, first=VALIDATE)
    needs = [{"a"}, {"b"}, {"a", "b"}, {"a", "b"}, {"a", "b"}, set()]
    outcomes = {"base": "000000", "a": "111000", "b": "000110"}  # a is better on the whole, b where both are needed

    def validated(**pictures: str) -> Evaluation:
        rows = [row(name, marks) for name, marks in pictures.items()]
        scenarios = tuple(map(str, validate))
        return evaluation(*(r.model_copy(update={"scenarios": scenarios}) for r in rows), split="validate")

    known = dict(zip(validate, needs, strict=True))
    tasks = toys(6)
    asked = dict(zip(tasks, [{"a"}, {"b"}, {"a", "b"}, set(), {"c"}, {"b", "c"}], strict=True))
    chosen = oracle_choices(asked, validated(**outcomes), known)
    assert list(chosen.values()) == ["a", "b", "b", BASE, BASE, "b"]
    unseen = {s: n for s, n in known.items() if n != {"a", "b"}}
    assert oracle_choices(asked, validated(**outcomes), unseen)[tasks[2]] == "a"  # by success on the whole
    tied = validated(base="000000", b="000110", a="000110")
    assert oracle_choices(asked, tied, known)[tasks[2]] == "a"
    with pytest.raises(SplitError, match="on the split 'validate'"):
        oracle_choices(asked, evaluation(row("a", "01")), known)


def test_random_routing_is_seeded_uniform_and_independent_of_the_other_tasks() -> None:
    tasks = toys(3000)
    chosen = random_choices(tasks, {"none", "a", "b"}, seed=1)
    assert chosen == random_choices(tasks, ["b", "none", "a"], seed=1) != random_choices(tasks, ["a", "b", "none"])
    assert random_choices(tasks[7:9], ["a", "b", "none"], seed=1) == {t: chosen[t] for t in tasks[7:9]}
    counts = [list(chosen.values()).count(name) for name in ("a", "b", "none")]
    assert all(abs(count - 1000) < 130 for count in counts)  # five standard deviations
    with pytest.raises(ConfigError, match="the list of policies to choose from is empty"):
        random_choices(tasks, [])


def test_the_table_and_the_markdown_say_the_same() -> None:
    made = evaluation(row("base", "1100000000"), row("routed", "1111111110", rollouts_trained=1600))
    text = markdown(made)
    assert "toy_boxes, level 0: 10 test tasks, greedy" in text
    assert "| base model | 20.0 (5.7 to 51.0) | - | - | - | - | - |" in text
    out = StringIO()
    Console(file=out, width=200).print(render(made))
    (shown,) = [line for line in text.splitlines() if "adapters, routed" in line]
    assert "+70.0 (" in shown and "| 7 / 0 | 0.016 | - | 1,600 |" in shown
    for cell in shown.strip("| ").split(" | "):
        assert cell in out.getvalue()


def test_names_are_never_markup() -> None:
    made = evaluation(row("base", "01"), row("[bold]x|y", "11"))
    out = StringIO()
    Console(file=out, width=200).print(render(made))
    assert "[bold]x|y" in out.getvalue() and "[bold]x\\|y" in markdown(made)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    shutil.copy(Path(__file__).parent / "user_folder" / "library_loans.py", tmp_path)
    monkeypatch.setenv("TRACE_GYM_ENVS", os.environ.get("TRACE_GYM_ENVS", ""))
    passed = Report(passed=True, findings=(), scenarios=0)
    registry.admit(tmp_path / "library_loans.py", passed, author="hand", describe=describe)
    (tmp_path / "two_rooms.json").write_text('{"id": "two_rooms", "mixture": {"library_loans": 1}}')
    registry.add_folder(tmp_path)
    yield "library_loans"
    monkeypatch.undo()
    registry.refresh()


def test_held_out_tasks_are_test_tasks_that_no_other_stage_has_seen(library: str, tmp_path: Path) -> None:
    seen = ScenarioLedger(tmp_path / "run" / "seen.json")
    tasks = held_out(library, 4, seen, levels=[0, 2])
    assert {registry.split_of(s) for s in tasks} == {"test"} and {s.level for s in tasks} == {0, 2}
    assert held_out(library, 4, seen, levels=[0, 2]) == tasks  # the same stage may run again
    assert ScenarioLedger(seen.path).stages == {"evaluate": [str(s) for s in tasks]}
    with pytest.raises(
        SplitError, match=f"4 of 4 scenarios were already used, for example {tasks[0]} by the stage 'evaluate'"
    ):
        held_out(library, 4, seen, levels=[0, 2], stage="diagnose")
    assert held_out(library, 4, seen, offset=4, stage="diagnose")


def test_a_claimed_scenario_is_refused_even_through_a_mixture(library: str, tmp_path: Path) -> None:
    seen = ScenarioLedger(tmp_path / "seen.json")
    (through,) = registry.scenarios("two_rooms", "test", 1, levels=[1])
    seen.claim("train", [through])
    with pytest.raises(SplitError, match="by the stage 'train'"):
        held_out(library, 1, seen, levels=[1])
    seen.raise_if_seen([through], stage="train")


def test_claims_accumulate_without_repeating(tmp_path: Path) -> None:
    seen = ScenarioLedger(tmp_path / "seen.json")
    seen.claim("train", toys(2))
    seen.claim("train", toys(3))
    seen.claim("select", toys(1, first=7))
    assert {stage: len(known) for stage, known in seen.stages.items()} == {"train": 3, "select": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["seen.json"]


def test_a_damaged_ledger_refuses_instead_of_forgetting(tmp_path: Path) -> None:
    (tmp_path / "seen.json").write_text('{"train": ')
    with pytest.raises(ReadError, match="the list of used scenarios in .* cannot be read"):
        ScenarioLedger(tmp_path / "seen.json").raise_if_seen(toys(1))


def test_first_messages_returns_the_first_user_message(library: str) -> None:
    scenarios = registry.scenarios(library, "test", 2)
    assert first_messages(scenarios) == [registry.start_episode(s).start.opening() for s in scenarios]
