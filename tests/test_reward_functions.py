"""Tests of the validation of reward functions: labeled graders, wrong inputs, and answers near the reference."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import graders_defective
import graders_healthy
import graders_later
import pytest
from black_boxes import run
from graders_defective import Grader

from trace_gym.errors import ConfigError, EnvNotFound, ReadError, TraceGymError
from trace_gym.validation import validate
from trace_gym.validation.context import PROFILES
from trace_gym.validation.third_party import BlackBoxContext, open_box, run_black_box
from trace_gym.validation.third_party.answer_forms import filler, formatted_pieces, split_answer
from trace_gym.validation.third_party.checks import BLACK_BOX_CHECKS, BlackBoxFindings
from trace_gym.validation.third_party.near_misses import comparable, kind_of, near_misses

PROCESSES = {"TG102", "TG402"}
"""Properties that start processes. Other tests cover them."""
DEFECTIVE = graders_defective.DEFECTIVE | graders_later.LATER_DEFECTIVE
HEALTHY = graders_healthy.HEALTHY | graders_later.LATER_HEALTHY
CASES = [{"prompt": "What is 2 + 3?", "answer": "5"}, {"prompt": "What is 4 + 7?", "answer": "11"}]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Function that returns the URI of a reward function with its cases."""

    def made(function: Any, rows: Any = CASES, options: str = "") -> str:
        module = ModuleType("made_rewards")
        module.fn = function  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "made_rewards", module)
        (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return f"function:made_rewards:fn@{tmp_path}/cases.jsonl{options}"

    return made


def failures(uri: str, grader: Grader) -> dict[str, Any]:
    findings = BlackBoxFindings(BlackBoxContext(uri, range(len(grader.rows)), PROFILES["quick"]))
    found = [findings(code) for code in BLACK_BOX_CHECKS if code not in PROCESSES]
    return {finding.code: finding for finding in found if finding.verdict == "failed"}


MISSED = {"soft_format"}
"""Graders that are rejected for another reason: their format is in neither the prompt nor the reference."""


@pytest.mark.parametrize("name", DEFECTIVE)
def test_defective_grader_is_rejected_for_its_defect(name: str, write: Any) -> None:
    grader = DEFECTIVE[name]
    found = failures(write(grader.reward, grader.rows, grader.options), grader)
    assert found
    if name not in MISSED:
        assert found.keys() & grader.codes, [finding.message for finding in found.values()]


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_grader_is_accepted(name: str, write: Any) -> None:
    grader = HEALTHY[name]
    found = failures(write(grader.reward, grader.rows, grader.options), grader)
    assert not found, [finding.message for finding in found.values()]


def test_snippet_shows_the_reward_of_the_wrong_answer(write: Any) -> None:
    grader = DEFECTIVE["sign_erased"]
    found = failures(write(grader.reward, grader.rows), grader)["TG304"]
    assert "another sign" in found.message and "reward=1.0" in run(found.counterexample)


def test_declared_tolerance_is_accepted(write: Any) -> None:
    def within(completion: str, answer: str) -> float:
        try:
            return float(abs(float(completion) - float(answer)) <= 0.15 * float(answer))
        except ValueError:
            return 0.0

    rows = [{"prompt": f"How far is town {n}?", "answer": f"{n * 7 + 20}.5"} for n in range(6)]
    grader = Grader(within, rows)
    assert "TG304" in failures(write(within, rows), grader)
    assert "TG304" not in failures(write(within, rows, "?tolerance=0.15"), grader)
    told = [row | {"prompt": f"{row['prompt']} Reply within 15%."} for row in rows]
    assert "TG304" not in failures(write(within, told), grader)


class TestSignatures:
    def trl(self, prompts: list[str], completions: list[str], answer: list[str], **columns: Any) -> list[float]:
        assert columns == {"level": [3]} and len(prompts) == 1
        return [float(completions[0] == answer[0])]

    def verl(self, data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None) -> float:
        return float(solution_str == ground_truth and data_source == "sums")

    def test_trl_function_gets_lists_of_columns(self, write: Any) -> None:
        box = open_box(write(self.trl, [row | {"level": 3} for row in CASES]))
        assert box.problems == 2 and box.solution(1) == ["11"]
        assert [run_black_box(box, 1, (text,)).total_reward for text in ("11", "12")] == [1.0, 0.0]

    def test_conversational_prompt_gives_conversational_completions(self, write: Any) -> None:
        def reward(completions: list[list[dict[str, str]]], answer: list[str]) -> list[float]:
            return [float(completions[0][0] == {"role": "assistant", "content": answer[0]})]

        box = open_box(write(reward, [{"prompt": [{"role": "user", "content": "2 + 3?"}], "answer": "5"}]))
        assert box.begin(0) == "2 + 3?" and box.act("5").reward == 1 and box.act("6").reward == 0

    def test_verl_function_and_asynchronous_function(self, write: Any) -> None:
        rows = [{"prompt": "2 + 3?", "data_source": "sums", "ground_truth": "5"}]
        box = open_box(write(self.verl, rows))
        assert box.solution(0) == ["5"] and run_black_box(box, 0, ("5",)).total_reward == 1

        async def later(completion: str, answer: str) -> float:
            return float(completion == answer)

        assert run_black_box(open_box(write(later)), 0, ("5",)).total_reward == 1

    def test_format_of_the_reference_is_found_or_given(self, write: Any) -> None:
        def boxed(completion: str, answer: str) -> float:
            return float(completion == f"\\boxed{{{answer}}}")

        def stars(completion: str, answer: str) -> float:
            return float(completion == f"*{answer}*")

        assert open_box(write(boxed)).solution(0) == ["\\boxed{5}"]
        assert open_box(write(stars)).solution(0) == ["5"]
        assert open_box(write(stars, CASES, "?form=*{}*")).solution(0) == ["*5*"]
        assert open_box(write(stars, CASES, "?reference=prompt&form={}")).solution(0) == ["What is 2 + 3?"]

    @pytest.mark.parametrize("result", ["0.5 points", None, [0.5, 0.5]])
    def test_wrong_result_is_reported(self, result: Any, write: Any) -> None:
        box = open_box(write(lambda completions: result))
        box.begin(0)
        with pytest.raises(TypeError, match="the reward function returned .*, expected a"):
            box.act("5")
        assert run_black_box(box, 0, ("5",)).raised


def one(completion: str, answer: str) -> float:
    return float(completion == answer)


class TestWrongInputs:
    @pytest.mark.parametrize(
        ("function", "rows", "options", "error", "message"),
        [
            (
                lambda text: 1.0,
                CASES,
                "",
                ConfigError,
                "no parameter for the completion: found the parameters .text., expected fn",
            ),
            (
                lambda completion, truth: 1.0,
                CASES,
                "",
                ConfigError,
                "requires the parameter 'truth'.*found the columns answer, prompt",
            ),
            (type("Reward", (), {}), CASES, "", ConfigError, "fn in function:.* is not a function"),
            (5, CASES, "", ConfigError, "fn in function:.* is not a function: found 5"),
            (one, [], "", ReadError, "contains no cases"),
            (one, [{"question": 1}], "", ReadError, "line 1 of .* is not a valid case: found .*question"),
            (one, [CASES[0], {"prompt": []}], "", ReadError, "line 2 of .* is not a valid case"),
            (one, CASES, "?form=boxed", ConfigError, "invalid option 'form' in .* found 'boxed'"),
            (one, CASES, "?reference=truth", ConfigError, "no case in .* has the column 'truth'"),
            (one, CASES, "?size=3", ConfigError, "unknown option: found 'size', expected reference, form"),
            (one, CASES, "?tolerance=1.5", ConfigError, "invalid option 'tolerance' in .* found 1.5"),
            (
                one,
                CASES,
                "?tolerance=much",
                ConfigError,
                "invalid option 'tolerance' in .* found 'much', expected a number",
            ),
        ],
    )
    def test_message_names_the_input(
        self, function: Any, rows: Any, options: str, error: type[TraceGymError], message: str, write: Any
    ) -> None:
        with pytest.raises(error, match=message):
            validate(write(function, rows, options), progress=False)

    @pytest.mark.parametrize(
        ("uri", "error", "message"),
        [
            ("function:graders_healthy:number", ConfigError, "expected function:MODULE:FUNCTION@CASES.jsonl"),
            ("function:graders_healthy@x.jsonl", ConfigError, "expected function:MODULE:FUNCTION@CASES.jsonl"),
            (
                "function:no_module:number@x.jsonl",
                EnvNotFound,
                "No module named 'no_module'. Modules are searched in the working directory",
            ),
            ("function:graders_healthy:nobody@x.jsonl", EnvNotFound, "has no function nobody"),
            ("function:graders_healthy:number@x.jsonl", ReadError, "the file x.jsonl does not exist"),
        ],
    )
    def test_wrong_uri_is_reported(self, uri: str, error: type[TraceGymError], message: str) -> None:
        with pytest.raises(error, match=message):
            validate(uri, progress=False)


@pytest.mark.parametrize(
    ("text", "core", "kind"),
    [
        ("Let me see: 4.\n#### -17", "-17", "number"),
        ("<think>.</think>\n<answer>B</answer>", "B", "choice"),
        ("so $\\boxed{\\frac{3}{4}}$", "\\frac{3}{4}", "fraction"),
        ("The answer is Yes.", "Yes", "choice"),
        ("2024-02-29", "2024-02-29", "date"),
        ('{"name": "f", "arguments": {"x": 1}}', '{"name": "f", "arguments": {"x": 1}}', "JSON"),
        ("```python\ndef f(x):\n    return x\n```", "def f(x):\n    return x", "code"),
        ("3 * x^2 - 1", "3 * x^2 - 1", "formula"),
        ("pear, fig", "pear, fig", "list"),
        ("Mexico City", "Mexico City", "text"),
    ],
)
def test_answer_is_separated_from_its_format(text: str, core: str, kind: str) -> None:
    parts = split_answer(text)
    assert (parts.core, kind_of(parts.core)) == (core, kind) and parts.with_core(core) == text
    made = list(near_misses(core, (), "Question", None))
    assert made and all(comparable(miss) != comparable(core) for _, miss in made)


def test_equivalent_answers_are_not_near_misses() -> None:
    assert [miss for _, miss in near_misses("0", ["0.0", "0"], "", None)] == ["1", "-1"]
    assert not {"Paris", "PARIS", "the Paris"} & {m for _, m in near_misses("paris", ["Paris", "the Paris"], "", None)}
    assert "SIRAp" not in {m for _, m in near_misses("pARIs", [], "", None)}
    assert "PariS" in {m for _, m in near_misses("pARIs", [], "Letters are case-sensitive.", None)}
    numbers = {m for _, m in near_misses("100", ["7.5"], "", None)}
    assert "101" not in numbers and "110" in numbers  # references with decimals may be rounded
    assert "101" in {m for _, m in near_misses("100", ["75"], "", None)}


def test_order_is_changed_only_if_it_matters() -> None:
    assert "c, b, a" not in {m for _, m in near_misses("a, b, c", (), "Name three letters.", None)}
    assert "c, b, a" in {m for _, m in near_misses("a, b, c", (), "Sort three letters.", None)}


def test_examples_of_a_prompt() -> None:
    prompt = "Reply in a box, for example: \\boxed{B}\nUse <answer>LETTER</answer> or <answer></answer>."
    assert formatted_pieces(prompt)[:2] == ["<answer>LETTER</answer>", "\\boxed{B}"]
    assert formatted_pieces("Which letter is next?") == []


def test_filler_shares_no_letter_with_the_text() -> None:
    assert not set(filler("Quick zebra", 50)) & set("quick zebra")
