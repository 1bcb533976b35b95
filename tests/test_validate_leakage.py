"""Tests of TG7: prompts reveal no answers, test tasks are not copied, and splits share no problems."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from random import Random
from typing import Self

import pytest
from mutants.hotel import Hotel
from mutants.leakage import MUTANTS, TASKS, BorrowedWords, OpeningTellsTheDecision, PoliteWhenAllowed
from toy_world import ToyBoxes

from trace_gym import registry
from trace_gym.errors import EnvBug, ReadError
from trace_gym.types import Call, Finding, Say, Scenario
from trace_gym.validation import Context, input_files, leakage
from trace_gym.validation.context import NO_INPUTS, PROFILES, ValidationInputs
from trace_gym.validation.oracle_rollouts import (
    OracleRollout,
    get_path,
    is_distinctive,
    is_identifying,
    scalars_by_path,
    stated_values,
    words_of,
)
from trace_gym.validation.overlap import _possible
from trace_gym.validation.properties import PROPERTIES
from trace_gym.validation.selection import sample
from trace_gym.validation.source import load
from trace_gym.world import World

CODES = ("TG701", "TG702", "TG703", "TG704")
TRAINED = ("tau2_multi_step", "tau2_precondition", "tau2_structured_data", "tau2_tool_precision")
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def check(
    target: type[World] | Path, code: str, profile: str = "quick", given: ValidationInputs = NO_INPUTS
) -> Finding:
    world, reference = load(target)
    context = Context(world, reference, PROFILES[profile], given)
    return PROPERTIES[code](world, sample(world, PROFILES[profile].seeds_per_level), context)


def run(snippet: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(EnvBug):
        exec(compile(snippet, "counterexample", "exec"), {})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.rejected_by}-{m.__name__}")
def test_each_mutant_fails_its_property(mutant: type[World]) -> None:
    found = check(mutant, mutant.rejected_by, given=getattr(mutant, "given", ValidationInputs()))  # type: ignore[attr-defined]
    assert found.verdict == "failed" and found.counterexample, found.message
    run(found.counterexample)


def test_every_property_rejects_two_mutants() -> None:
    codes = [m.rejected_by for m in MUTANTS]
    assert {c: codes.count(c) >= 2 for c in CODES} == dict.fromkeys(CODES, True)


@pytest.mark.parametrize("name", TRAINED)
def test_shipped_environments_pass_leakage_properties(name: str) -> None:
    for code in CODES:
        found = check(registry.module_path(name), code, "gate", ValidationInputs(against=(str(TASKS),)))
        assert found.passed, found.message
    assert found.metrics["shared"] == 0


def test_small_worlds_pass_leakage_properties() -> None:
    for world in (Hotel, ToyBoxes):
        assert check(world, "TG701", "gate").verdict == "passed"
        assert check(world, "TG702", "gate").verdict == "skipped"
        assert check(world, "TG703", "gate", ValidationInputs(against=(str(TASKS),))).verdict == "passed"
    assert check(Hotel, "TG704", "gate").verdict == "passed"


def test_world_with_sixty_problems_fails_split_property() -> None:
    found = check(ToyBoxes, "TG704", "gate")  # two of six owners in either order, and one of them asks
    assert found.verdict == "failed" and found.metrics["shared"] > 50


def test_finding_names_revealing_word() -> None:
    polite = check(PoliteWhenAllowed, "TG701", "gate")
    assert "kindly" in polite.message or "please" in polite.message
    assert polite.metrics["gain_0"] > 0.2  # two of three wordings have a please
    telling = check(OpeningTellsTheDecision, "TG701", "gate").message
    assert "refunded" in telling or "'a trip'" in telling


class HouseRules(Hotel):
    """You run a hotel desk. A night is 50 or 100, a car 15 a day. The key comes once the invoice is settled."""

    id = "house_rules"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        for room in made.rooms.values():
            room.due = rng.choice((15, 50, 100))
        return made


def test_limit_in_policy_is_not_a_leak() -> None:
    found = check(HouseRules, "TG701", "gate")
    assert found.verdict == "passed" and found.metrics["answers"] > 0, found.message


def test_distinctive_values() -> None:
    words = ("50", "100", "12.5", "24h", "3rd", "gold", "1250", "99.95", "2024-05-10", "HAT045", "inv42", "mia_li_3668")
    assert [w for w in words if is_distinctive(w)] == ["1250", "99.95", "2024-05-10", "HAT045", "inv42", "mia_li_3668"]


class Hinted(Hotel):
    """With advice that holds for everybody."""

    id = "hinted"
    hint = "Look at the invoice first, then settle it, and only then hand over the key."


def test_general_advice_is_not_a_leak() -> None:
    assert check(Hinted, "TG702", "gate").verdict == "passed"


def gold(name: str, level: int, seed: int) -> tuple[Context, OracleRollout]:
    context = Context(*load(name), PROFILES["quick"])
    scenario = Scenario(env=name, level=level, seed=seed)
    return context, OracleRollout(context.expert(scenario, "oracle"), context.plan(scenario, "oracle"))


def test_pattern_resolves_to_oracle_calls() -> None:
    for name in (*TRAINED, "tau2_airline_desk"):
        for level in range(2):
            for seed in range(6):
                _, found = gold(name, level, seed)
                resolved = found.calls_for(found.pattern)
                assert resolved is not None and [c.tool for c in resolved] == [c.tool for c in found.write_calls]
                if not any(c.tool == "transfer_to_human_agents" for c in resolved):
                    assert resolved == found.write_calls


def test_pattern_contains_value_sources() -> None:
    _, found = gold("tau2_structured_data", 2, 0)
    [(tool, arguments)] = found.pattern
    sources = dict(arguments)
    assert tool == "update_reservation_flights"
    assert sources["reservation_id"] == ("opening", "reservation_id", "0")
    assert sources["cabin"] == ("shown", "get_reservation_details/0", "cabin")
    assert dict(sources["flights"][1])["flight_number"][:2] == ("shown", "search_direct_flight/0")
    _, other = gold("tau2_structured_data", 2, 1)
    resolved = other.calls_for(found.pattern)
    assert resolved and resolved[0].arguments["reservation_id"] in other.opening


def test_answers_are_differences_between_experts() -> None:
    context, found = gold("tau2_tool_precision", 1, 1)
    [request] = found.episode.start.requests  # type: ignore[attr-defined]
    answers = leakage._answers(found, context.plan(found.scenario, "ablated"))
    assert list(answers) == [request.method] and answers[request.method] != request.method


def test_fact_is_required_for_success() -> None:
    context, found = gold("tau2_precondition", 0, 0)
    facts = [v for v in stated_values(found.steps) if leakage._is_fact(context, found, v)]
    [booking] = found.episode.start.reservations.values()  # type: ignore[attr-defined]
    amount, booked = str(booking["payment_history"][0]["amount"]), booking["created_at"][:10]
    assert facts == ([amount] if found.write_calls else [booked])


def test_words_values_and_paths() -> None:
    assert words_of("I am mia_li_3668, it's 2024-05-10.") == ["I", "am", "mia_li_3668", "it's", "2024-05-10"]
    assert [v for v in (True, 3, 12, 12.5, "HAT045", "economy", "a 1", None) if is_identifying(v)] == [
        12,
        12.5,
        "HAT045",
    ]
    data = {"a": [{"b": 1}], "credit_card_12": {"id": "x"}}
    paths = list(scalars_by_path(data))
    assert paths == [(("a", "#0", "b"), 1), (("#1", "id"), "x")]
    assert [get_path(data, path) for path, _ in paths] == [1, "x"]
    with pytest.raises(LookupError):
        get_path(data, ("a", "b"))
    assert stated_values([Call("x"), Say("Refund 180 for AAA111, in 5 days.")]) == ["180", "AAA111"]


def test_ids_from_small_space_may_coincide() -> None:
    assert _possible(["HAT001", "HAT299"]) == 1000
    assert _possible(["QX7T2P", "AA1111"]) >= 10**6
    assert _possible(["HAT001"]) == 1000 and _possible(["noor_haddad_5521"]) > 10**6


def test_supported_file_formats_are_read(tmp_path: Path) -> None:
    task = {"id": 7, "text": "Cancel it", "more": ["now"]}
    forms = {
        "a.json": json.dumps([task]),
        "b.jsonl": json.dumps(task) + "\n\n" + json.dumps(task),
        "c.txt": "Cancel it",
    }
    for name, text in forms.items():
        (tmp_path / name).write_text(text)
    assert input_files.read_texts(str(tmp_path / "a.json")) == ("id", "7", "text", "Cancel it", "more", "now")
    assert len(input_files.read_texts(str(tmp_path / "b.jsonl"))) == 12
    assert input_files.read_texts(str(tmp_path / "c.txt")) == ("Cancel it",)
    assert len(input_files.read_texts(str(tmp_path))) == 19
    (tmp_path / "c.txt").write_text("Cancel another")
    assert input_files.read_texts(str(tmp_path / "c.txt")) == ("Cancel another",)


def test_unreadable_files_raise_read_error(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "x.json").write_text("[]")
    for name, why in (("missing", "cannot be read"), ("x.txt", "is not UTF-8 text"), ("x.json", "contains no text")):
        with pytest.raises(ReadError, match=why):
            input_files.check_readable(ValidationInputs(against=(str(tmp_path / name),)))
    with pytest.raises(ReadError):
        input_files.check_readable(ValidationInputs(recordings=(str(tmp_path / "x.json"),)))
    input_files.check_readable(ValidationInputs(against=(str(TASKS),)))


def test_copied_sentence_is_measured() -> None:
    found = check(BorrowedWords, "TG703", given=BorrowedWords.given)
    assert "foreign_tasks.json" in found.message and "%" in found.message
    assert check(BorrowedWords, "TG703").verdict == "skipped"


def test_shipped_environments_copy_no_test_tasks() -> None:
    named = [SHARED / "tau_bench_airline_gpt4o.json.gz", SHARED / "tau2_airline_db.json.gz"]
    if missing := [p.name for p in named if not p.is_file()]:
        pytest.skip(f"{missing[0]} lies beside the checkout of developers only")
    given = ValidationInputs(against=tuple(map(str, named)))
    found = check(registry.module_path("tau2_tool_precision"), "TG703", "quick", given)
    assert found.verdict == "passed" and found.metrics["ids"] > 100
    assert found.metrics["copied"] < 0.1
