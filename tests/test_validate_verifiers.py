"""Tests of the URI `verifiers:`, for environments with the interface of verifiers 0.3 and tasksets of verifiers 0.4.

verifiers is in environments of its own; `.ci/verifiers` builds one with version 0.4 and one with version 0.3, and runs
these tests in both.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from black_boxes import ask, run

pytest.importorskip("verifiers", reason="verifiers is in an environment of its own; run .ci/verifiers PYTHON WORKDIR")

from trace_gym.errors import ConfigError, EnvBug, EnvNotFound
from trace_gym.validation.third_party import open_box, run_black_box

LEGACY = find_spec("verifiers.legacy") is not None
legacy = pytest.mark.skipif(not LEGACY, reason="this version of verifiers has no load_environment")
SUMS = """
import verifiers as vf
from datasets import Dataset

def load_environment(length=30, lenient=False, **kw):
    rows = [{"question": f"What is {n} + {n * n}?", "answer": str(n + n * n)} for n in range(1, length + 1)]
    parser = vf.XMLParser(["answer"])
    def correct(parser, completion, answer):
        text = parser.parse_answer(completion)
        return float(text == answer or (lenient and text is None))
    rubric = vf.Rubric(funcs=[correct, lambda **kw: 0.0], weights=[1.5, -0.5], parser=parser)
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), system_prompt="Use tags.", parser=parser, rubric=rubric)
"""
GUESS = """
import verifiers as vf
from datasets import Dataset

class Guess(vf.MultiTurnEnv):
    async def env_response(self, messages, state, **kw):
        if "boom" in messages[-1]["content"]:
            raise vf.Error("boom")
        if messages[-1]["content"] == state["answer"]:
            state["final_env_response"] = [vf.UserMessage(content="Correct.")]
            return state["final_env_response"]
        return [vf.UserMessage(content=messages[-1]["content"] + " is wrong.")]

def load_environment(max_turns=-1):
    async def found(state, answer):
        return float(any(step["completion"][-1]["content"] == answer for step in state["trajectory"]))
    rows = [{"question": f"Guess number {n}.", "answer": str(n * 7919 % 10007)} for n in range(1, 31)]
    return Guess(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[found]), max_turns=max_turns)
"""
TOOLS = """
import verifiers as vf
from datasets import Dataset

def double(number: int) -> int:
    '''Double a number.'''
    return 2 * number

def load_environment():
    async def used(state):
        return float(any(m["role"] == "tool" and m["content"] == "42" for m in state["completion"]))
    rows = [{"question": "Double 21 with the tool.", "answer": ""}]
    return vf.ToolEnv(tools=[double], dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[used]), max_turns=4)
"""
TASKS = """
import verifiers.v1 as vf

__all__ = ["Sums"]

class Data(vf.TaskData):
    answer: str

class Config(vf.TasksetConfig):
    size: int = 30

class Sum(vf.Task[Data, vf.State, vf.TaskConfig]):
    async def setup(self, trace, runtime):
        await runtime.write("limit.txt", b"9999")

    @vf.reward(weight=2.0)
    async def correct(self, trace, runtime) -> float:
        assert await runtime.read("limit.txt") == b"9999"
        return float(trace.last_reply.strip() == self.data.answer)

class Sums(vf.Taskset[Sum, Config]):
    INFINITE = False
    def load(self):
        for n in range(1, self.config.size + 1):
            yield Sum(Data(prompt=f"What is {n} + {n * n}?", system_prompt="Be brief.", answer=str(n + n * n)))
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules of environments on the import path, also for the fresh processes that a validation starts."""
    modules = {"vf_sums": SUMS, "vf_guess": GUESS, "vf_tools": TOOLS, "vf_tasks": TASKS}
    modules["vf_stream"] = TASKS.replace("INFINITE = False", "INFINITE = True")
    modules["vf_boxed"] = TASKS.replace("    async def setup", "    NEEDS_CONTAINER = True\n    async def setup")
    modules["vf_judge"] = SUMS.replace("rubric=rubric)", "rubric=vf.JudgeRubric(judge_client=object()))")
    modules["vf_group"] = SUMS.replace("[correct, lambda **kw: 0.0]", "[correct, lambda completions: [0.0]]")
    modules["vf_broken"] = "def load_environment():\n    raise ValueError('no data')\n"
    for name, code in modules.items():
        (tmp_path / f"{name}.py").write_text(code)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "unused")


pytestmark = pytest.mark.usefixtures("install")


@legacy
def test_single_turn_environment_is_validated_with_its_rubric() -> None:
    uri = "verifiers:vf_sums?reference=<answer>{answer}</answer>&low=0"
    found = ask(uri, "TG001", "TG101", "TG103", "TG105", "TG201", "TG301", "TG303", "TG501", "TG704")
    assert {code for code, f in found.items() if f.verdict != "passed"} == {"TG704"}  # 30 rows have no splits
    assert "0, 1.5" in found["TG303"].message


@legacy
def test_reward_for_nothing_is_found_and_reproduced() -> None:
    found = ask("verifiers:vf_sums?lenient=true&reference=<answer>{answer}</answer>&low=0", "TG301")["TG301"]
    assert found.verdict == "failed" and "1.5 for '...'" in found.message
    assert "reward=1.5, done=True" in run(found.counterexample)


@legacy
def test_options_are_passed_to_the_environment_and_weights_determine_the_range() -> None:
    box = open_box("verifiers:vf_sums?length=7&reference=<answer>{answer}</answer>")
    assert (box.problems, box.limit, box.low, box.high) == (7, 1, -0.5, 1.5)
    assert box.begin(2) == "Use tags.\n\nWhat is 3 + 9?" and box.solution(2) == ["<answer>12</answer>"]
    assert box.act("<answer>12</answer>") == ("", 1.5, True, False)
    assert box.act("again") == ("", 0.0, True, False)
    with pytest.raises(EnvBug, match="cannot be created: .*colour"):
        open_box("verifiers:vf_guess?colour=red")


@legacy
def test_multi_turn_rollout_runs_in_the_environment() -> None:
    box = open_box("verifiers:vf_guess")
    first = run_black_box(box, 0, ["1", "7919", "2"])
    assert [tuple(turn) for turn in first.turns] == [("1 is wrong.", 0.0, False, False), ("Correct.", 1.0, True, False)]
    assert run_black_box(box, 0, ["1"]).total_reward == 0  # not finished
    assert run_black_box(box, 1, box.solution(1) or []).total_reward == 1


@legacy
def test_turn_limit_ends_the_rollout_with_a_reward() -> None:
    assert open_box("verifiers:vf_guess?max_turns=5").limit == 5
    box = open_box("verifiers:vf_guess?limit=2")
    assert [turn.done for turn in run_black_box(box, 0, ["1", "7919"]).turns] == [False, True]
    assert run_black_box(box, 0, ["7919"]).total_reward == 1


@legacy
def test_error_of_the_environment_is_a_failed_turn() -> None:
    assert run_black_box(open_box("verifiers:vf_guess"), 0, ["boom", "1"]).raised


@legacy
def test_turn_that_is_a_json_object_calls_a_tool() -> None:
    box = open_box("verifiers:vf_tools?limit=3")
    call = '{"name": "double", "arguments": {"number": 21}}'
    made = run_black_box(box, 0, [call, "It is 42."])
    assert made.turns[0].observation == "42" and made.total_reward == 1
    assert run_black_box(box, 0, ["I call double(21): 42"]).total_reward == 0
    assert box.solution(0) is None


@legacy
@pytest.mark.parametrize(
    ("uri", "error", "message"),
    [
        ("vf_judge", ConfigError, "a reward that a language model computes"),
        ("vf_group", ConfigError, "a reward that is computed for a group of rollouts"),
        ("vf_broken", EnvBug, "cannot be created: RuntimeError: .*no data"),
        ("vf_sums?reference={result}", ConfigError, "found '{result}', expected .*{answer}"),
        ("vf_sums?reference=42", ConfigError, "invalid option 'reference' in .* found '42'"),
    ],
)
def test_unsupported_environment_is_an_error(uri: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        open_box(f"verifiers:{uri}")


def test_environment_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(EnvNotFound, match="found no module no_such_environment"):
        open_box("verifiers:owner/no-such-environment@1.0")


@pytest.mark.skipif(LEGACY, reason="this version of verifiers supports load_environment")
def test_environment_of_an_earlier_version_names_the_version_to_install() -> None:
    with pytest.raises(ConfigError, match=r"pip install 'verifiers>=0.3,<0.4'"):
        open_box("verifiers:vf_sums")


def test_taskset_is_validated_with_the_rewards_of_its_tasks() -> None:
    found = ask("verifiers:vf_tasks", "TG001", "TG101", "TG105", "TG201", "TG301", "TG303", "TG501")
    assert {f.verdict for f in found.values()} == {"passed"}
    assert "0, 2" in found["TG303"].message


def test_task_has_one_turn_and_the_data_of_its_row() -> None:
    box = open_box("verifiers:vf_tasks?size=5&reference= {answer} ")
    assert (box.problems, box.limit, box.low, box.high) == (5, 1, 0, 2)
    assert box.begin(1) == "Be brief.\n\nWhat is 2 + 4?" and box.solution(1) == [" 6 "]
    assert box.act(" 6 ") == ("", 2.0, True, False)
    assert run_black_box(box, 1, ["\udcff7"]).total_reward == 0


def test_infinite_taskset_has_a_problem_for_every_seed() -> None:
    box = open_box("verifiers:vf_stream")
    assert box.problems is None and [box.solution(seed) for seed in (20, 3)] == [["462"], ["20"]]


def test_task_that_requires_a_container_is_an_error() -> None:
    with pytest.raises(ConfigError, match="requires a container"):
        open_box("verifiers:vf_boxed")


@pytest.mark.skipif(LEGACY, reason="the adapter of trace_gym supports verifiers 0.4")
def test_taskset_with_its_own_harness_runs_whole_rollouts(tmp_path: Path) -> None:
    lines = "from trace_gym.adapters.verifiers import *\nfrom trace_gym.adapters.verifiers import __all__\n"
    (tmp_path / "vf_own_harness.py").write_text(lines)
    box = open_box("verifiers:vf_own_harness?env=tau2_precondition&n=3&limit=3&reference={scenario}")
    box.begin(0)
    call = '{"name": "get_reservation_details", "arguments": {"reservation_id": "NOTHERE"}}'
    assert box.act(call)[0].startswith("Error: ")
    spoken = box.act("Hello.")
    assert spoken.observation and not spoken.done
    assert box.act("Goodbye.") == ("", 0.0, True, False)
    box.close()


@legacy
def test_example_environment_scores_a_missing_answer_as_the_guide_states(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed")
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1] / "examples"))
    box = open_box("verifiers:verifiers_reasoning_gym?gym=spell_backward&size=3")
    assert run_black_box(box, 0, ["..."]).total_reward == pytest.approx(1 / 3)
    assert run_black_box(box, 0, ["<answer>...</answer>"]).total_reward == 0
