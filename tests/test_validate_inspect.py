"""Tests of the URI `inspect:`, for tasks that are written here."""

from __future__ import annotations

from pathlib import Path

import pytest
from black_boxes import ask, run

pytest.importorskip("inspect_ai", reason="Inspect is not installed: pip install 'trace-gym[inspect]'")

from trace_gym.errors import ConfigError, EnvBug, EnvNotFound
from trace_gym.validation.third_party import open_box, run_black_box

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "inspect_popularity.py"
TASKS = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.scorer import Score, accuracy, choice, includes, match, mean, model_graded_qa, pattern, scorer
from inspect_ai.solver import generate, multiple_choice, self_critique, solver, system_message

@scorer(metrics=[mean()])
def share():
    async def score(state, target):
        return Score(value={"letters": len(set(state.output.completion) & set(target.text)) / 10, "exact": "P"})
    return score

@scorer(metrics=[accuracy()])
def asks_a_model():
    async def score(state, target):
        await get_model().generate("Is it right?")
        return Score(value=1)
    return score

@scorer(metrics=[accuracy()])
def polite():
    async def score(state, target):
        return Score(value=target.text in state.output.completion or state.output.completion == "Hello.")
    return score

@solver
def two_turns():
    async def solve(state, generate):
        state = await generate(state)
        state.messages.append(ChatMessageUser(content="Are you sure?"))
        return await generate(state)
    return solve

SCORERS = {
    "includes": includes, "match": lambda: match(numeric=True), "pattern": lambda: pattern(r"ANSWER: ([0-9]+)"),
    "graded": model_graded_qa, "several": lambda: [match(), includes()], "share": share, "asks": asks_a_model,
    "none": lambda: None, "lenient": polite,
}

@task
def sums(size=30, how="match", sandbox=None):
    samples = [Sample(input=f"What is {n} + {n * n}?", target=str(n + n * n)) for n in range(1, size + 1)]
    solvers = [system_message("Be brief."), generate()]
    return Task(dataset=samples, solver=solvers, scorer=SCORERS[how](), sandbox=sandbox)

@task
def choices():
    samples = [Sample(input=f"Which is {n}?", choices=[str(n + i - n % 3) for i in range(3)], target="ABC"[n % 3])
               for n in range(1, 31)]
    return Task(dataset=samples, solver=multiple_choice(), scorer=choice())

@task
def dialog():
    return Task(dataset=[Sample(input="Say yes.", target="yes")], solver=two_turns(), scorer=match())

@task
def critic():
    return Task(dataset=[Sample(input="Say yes.", target="yes")], solver=[generate(), self_critique()], scorer=match())
"""

pytestmark = pytest.mark.filterwarnings("default")  # Inspect causes warnings, which would be errors in its model calls


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_tasks.py").write_text(TASKS)
    monkeypatch.chdir(tmp_path)


def test_task_is_validated_with_its_scorer() -> None:
    found = ask("inspect:my_tasks.py@sums", "TG001", "TG101", "TG105", "TG201", "TG301", "TG303", "TG501")
    assert {f.verdict for f in found.values()} == {"passed"}


def test_reward_for_garbage_is_found_and_reproduced() -> None:
    found = ask("inspect:my_tasks.py@sums?how=lenient", "TG301", seeds_per_level=1)["TG301"]
    assert found.verdict == "failed" and "1 for" in found.message
    assert "reward=1.0, done=True" in run(found.counterexample)


def test_prompt_solver_and_reward_are_those_of_the_task() -> None:
    box = open_box("inspect:my_tasks.py@sums?size=5")
    assert box.problems == 5 and box.begin(2) == "Be brief.\n\nWhat is 3 + 9?" and box.solution(2) == ["12"]
    assert box.act("It is 12.") == ("", 1.0, True, False)
    assert box.act("again") == ("", 0.0, True, False)
    assert run_black_box(box, 2, ["13"]).total_reward == 0


def test_reference_has_the_form_that_the_option_states() -> None:
    box = open_box("inspect:my_tasks.py@sums?how=pattern&reference=ANSWER: {target}")
    assert box.solution(2) == ["ANSWER: 12"] and run_black_box(box, 2, box.solution(2) or []).total_reward == 1
    assert run_black_box(box, 2, ["12"]).total_reward == 0


def test_multiple_choice_runs_the_solver_that_marks_the_choice() -> None:
    box = open_box("inspect:my_tasks.py@choices")
    assert "A) 3\nB) 4\nC) 5" in box.begin(2) and box.solution(2) == ["ANSWER: A"]
    rewards = [run_black_box(box, 2, [f"ANSWER: {letter}"]).total_reward for letter in "ABC"]
    assert rewards == [1, 0, 0]


def test_solver_with_two_turns_asks_for_two_turns() -> None:
    made = run_black_box(open_box("inspect:my_tasks.py@dialog"), 0, ["no", "yes"])
    assert [turn.observation for turn in made.turns] == ["Are you sure?", ""] and made.total_reward == 1


@pytest.mark.parametrize(("value", "reward"), [("letters", 0.2), ("exact", 0.5)])
def test_value_selects_one_value_of_a_score(value: str, reward: float) -> None:
    box = open_box(f"inspect:my_tasks.py@sums?how=share&value={value}")
    assert run_black_box(box, 2, ["12"]).total_reward == reward


@pytest.mark.parametrize(
    ("uri", "error", "message"),
    [
        ("my_tasks.py@sums?how=graded", ConfigError, "the scorer 'model_graded_qa', in which a language model"),
        ("my_tasks.py@sums?how=asks", ConfigError, "calls a language model in addition"),
        ("my_tasks.py@critic", ConfigError, "calls a language model in addition"),
        ("my_tasks.py@sums?how=several", ConfigError, "found match, includes. Select one of them, as in .scorer=match"),
        ("my_tasks.py@sums?scorer=exact", ConfigError, "found 'exact', expected match"),
        ("my_tasks.py@sums?how=none", ConfigError, "has no scorer"),
        ("my_tasks.py@sums?how=share", ConfigError, "the score has the values letters, exact"),
        ("my_tasks.py@sums?value=x", ConfigError, "the option value has no effect"),
        ("my_tasks.py@sums?sandbox=docker", ConfigError, "requires an Inspect sandbox"),
        ("my_tasks.py@sums?size=0", EnvBug, "cannot be created: .*empty"),
        ("my_tasks.py@sums?reference={result}", ConfigError, "expected .*{target}"),
        ("my_tasks.py@sums?color=red", ConfigError, "found color, expected .*, size, how, sandbox"),
        ("my_tasks.py@nothing", EnvBug, "cannot be created: .*nothing"),
        ("my_tasks.py", EnvNotFound, "found sums, choices, dialog, critic"),
        ("missing.py@sums", EnvNotFound, "missing.py"),
        ("no_package/task", EnvNotFound, "does not name one task: found none"),
    ],
)
def test_unsupported_task_is_an_error(uri: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        open_box(f"inspect:{uri}")


def test_counterexample_reproduces_a_failure() -> None:
    found = ask("inspect:my_tasks.py@sums?how=share&value=letters", "TG201", seeds_per_level=1)["TG201"]
    assert found.verdict == "failed" and "reward=0.1" in run(found.counterexample)


def test_example_scorer_rewards_the_prompt_as_the_guide_states() -> None:
    def rewards_of_the_prompt(scorer: str) -> set[float]:
        box = open_box(f"inspect:{EXAMPLE}@popularity?scorer_name={scorer}")
        return {run_black_box(box, seed, [box.begin(seed)]).total_reward for seed in range(8)}

    assert rewards_of_the_prompt("match") == {0} and rewards_of_the_prompt("includes") == {1}
