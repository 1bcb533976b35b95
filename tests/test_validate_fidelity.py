"""TG41: answers have the target's shapes, refusals one form, and recorded calls are answered as they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mutants.fidelity import MUTANTS, RECORDED, AnswersInWords, ChargesOneTraveller
from mutants.hotel import Hotel
from toy_world import ToyBoxes

from trace_gym import registry
from trace_gym.targets.tau2.recorded import DIFFERENCES
from trace_gym.targets.tau2.tools import AirlineTools
from trace_gym.types import Bars, Call, Finding, Trajectory, to_jsonl
from trace_gym.validate import Context, recordings
from trace_gym.validate.context import PROFILES, Given
from trace_gym.validate.fidelity import _by_schema, _form
from trace_gym.validate.files import recorded
from trace_gym.validate.gate import sample
from trace_gym.validate.gold import parsed
from trace_gym.validate.properties import PROPERTIES
from trace_gym.validate.shapes import Shape, closed, differences
from trace_gym.validate.source import load
from trace_gym.world import World

CODES = ("TG411", "TG412", "TG413")
ENVS = ("tau2_airline_desk", "tau2_precondition")
REAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "tau_bench_airline_gpt4o.json.gz"
DESK = Given(recordings=(str(RECORDED),))


def check(target: type[World] | Path, code: str, profile: str = "quick", given: Given = Given()) -> Finding:  # noqa: B008
    world, reference = load(target)
    context = Context(world, reference, PROFILES[profile], given)
    return PROPERTIES[code](world, sample(world, PROFILES[profile].seeds_per_level), context)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.rejected_by}-{m.__name__}")
def test_each_mutant_is_rejected_for_its_fault(mutant: type[World]) -> None:
    found = check(mutant, mutant.rejected_by, given=getattr(mutant, "given", Given()))  # type: ignore[attr-defined]
    assert found.verdict == "failed", found.says
    exec(compile(found.counterexample, "counterexample", "exec"), {})


def test_every_property_kills_two_mutants() -> None:
    codes = [m.rejected_by for m in MUTANTS]
    assert {c: codes.count(c) >= 2 for c in CODES} == dict.fromkeys(CODES, True)


@pytest.mark.parametrize("name", ENVS)
def test_the_environments_answer_as_the_target_does(name: str) -> None:
    found = {code: check(registry.module_path(name), code, "gate", DESK) for code in CODES}
    assert [f.verdict for f in found.values()] == ["passed"] * 3, found
    assert sum(k.startswith("answers") for k in found["TG411"].figures) >= 11
    assert found["TG412"].figures["tools"] >= 9
    assert found["TG413"].figures["values_update_reservation_flights"] == 1.0
    assert all(isinstance(e, Bars) for e in found["TG413"].exhibits)


def test_small_worlds_have_no_target_to_be_held_against() -> None:
    for world in (Hotel, ToyBoxes):
        assert [check(world, code, "gate").verdict for code in CODES] == ["inapplicable", "passed", "inapplicable"]
        assert "from_records" in check(world, "TG413", given=DESK).says


def test_shapes_are_inferred_where_no_data_describes_them(tmp_path: Path) -> None:
    """Recorded at a hotel whose rooms have a field more."""
    answer = {"guest": "Ada", "invoice": "inv1234", "due": 50, "key": "desk"}
    for field, verdict in (({}, "passed"), ({"floor": 3}, "failed"), ({"due": "50"}, "failed")):
        wire = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": '{"room": "12"}'}}
        told = {"role": "tool", "tool_call_id": "c", "name": "look_up", "content": json.dumps({**answer, **field})}
        call = {"role": "assistant", "content": "", "tool_calls": [wire]}
        path = tmp_path / f"{len(field)}{verdict}{'due' in field}.jsonl"
        path.write_text(to_jsonl([Trajectory(id="1", task="1", messages=(call, told))]))
        found = check(Hotel, "TG411", given=Given(recordings=(str(path),)))
        assert found.verdict == verdict, found.says


def test_a_shape_knows_types_fields_and_what_may_be_missing() -> None:
    shape = Shape()
    for value in ({"a": 1, "b": [{"c": "x"}]}, {"a": 2.5, "b": [], "d": None}):
        shape.add(value)
    assert list(shape.faults({"a": 3, "b": [{"c": "y"}]})) == []
    assert list(shape.faults({"a": "3", "b": []})) == ["a is a string, recorded as number"]
    assert list(shape.faults({"b": [{"c": 1}], "e": 0})) == [
        "the answer lacks a",
        "the answer has a e that was never recorded",
        "b[].c is a number, recorded as string",
    ]
    assert list(shape.faults([])) == ["the answer is a list, recorded as record"]
    table = Shape()
    table.add({"card_12": {"n": 1}, "card_34": {"n": 2}})
    assert not list(table.faults({"gift_99": {"n": 5}})) and not list(table.faults({}))


def test_differences_have_a_place_and_a_kind() -> None:
    one = {"a": [1, {"b": "x"}], "c": 1, "d": None}
    other = {"a": [2, {"b": 5}], "c": 1, "e": 0}
    assert set(differences(one, other)) == {("a[]", "value"), ("a[].b", "type"), ("d", "missing"), ("e", "extra")}
    assert list(differences([1], [1, 2])) == [("[]", "value")]
    assert not list(differences(one, one))


def test_a_schema_is_closed_to_further_fields() -> None:
    record = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    test = _by_schema({"type": "object", "properties": {"returns": {"anyOf": [record]}}, "required": ["returns"]})
    assert test('{"n": 1}') == ""
    assert test('{"n": 1, "m": 2}') and test("{}") and test("words") and test('{"n": "1"}')
    assert closed({"type": "object", "additionalProperties": {"type": "string"}})["additionalProperties"]
    text = _by_schema({"type": "object", "properties": {"returns": {"type": "string"}}, "required": ["returns"]})
    assert text("255.0") == "" == text("words") and parsed("255.0") == "255.0"


@pytest.mark.parametrize(
    ("content", "form"),
    [
        ("Error: there is no room 4", "a sentence"),
        ("Error: Error: there is no room 4", "a second prefix"),
        ('Error: {"code": 4}', "JSON"),
        ("Error: one\ntwo", "several lines"),
        ('{"error": "no room"}', "a record"),
        ('{"success": false}', "a record"),
        ('{"status": "failed"}', "a record"),
        ("Not found: room 4", "a sentence of another"),
        ("Transfer successful", ""),
        ('{"status": "cancelled", "error": null}', ""),
        ("[]", ""),
    ],
)
def test_forms_of_refusals(content: str, form: str) -> None:
    assert _form(content).startswith(form) and bool(_form(content)) is bool(form)


# Replays


def test_a_wrong_price_is_shown_beside_the_recorded_one() -> None:
    found = check(ChargesOneTraveller, "TG413", given=DESK)
    assert "update_reservation_flights: payment_history[].amount differs by value" in found.says
    assert "recorded {" in found.says and found.figures["values_get_user_details"] == 1.0
    assert "differs by type" in check(AnswersInWords, "TG413", given=DESK).says


def test_a_world_is_seeded_with_what_was_shown() -> None:
    times = {"scheduled_departure_time_est": "06:00:00", "scheduled_arrival_time_est": "12:00:00"}
    leg = {"flight_number": "HAT001", "origin": "SFO", "destination": "JFK", **times, "status": "available"}
    free, prices = {"economy": 2}, {"economy": 100}
    found = [{**leg, "available_seats": free, "prices": prices}]
    late = [[{**found[0], "date": "2024-05-20"}, {**found[0], "flight_number": "HAT002", "date": "2024-05-21"}]]
    route = {"origin": "SFO", "destination": "JFK", "date": "2024-05-20"}
    shown = [
        (Call("get_user_details", {"user_id": "u_1"}), {"membership": "gold"}),
        (Call("get_user_details", {"user_id": "u_1"}), {"membership": "silver"}),
        (Call("get_reservation_details", {"reservation_id": "AAA111"}), {"user_id": "u_1", "flights": []}),
        (Call("search_direct_flight", route), found),
        (Call("search_onestop_flight", route), late),
        (Call("get_flight_status", {"flight_number": "HAT009", "date": "2024-05-20"}), "landed"),
    ]
    world = AirlineTools.from_records(shown)
    assert world.users == {"u_1": {"user_id": "u_1", "membership": "gold"}}
    assert world.reservations["AAA111"]["status"] is None
    assert world.search_direct_flight("SFO", "JFK", "2024-05-20") == [{**found[0], "date": "2024-05-20"}]
    assert world.get_flight_status("HAT009", "2024-05-20") == "landed"
    change = {"reservation_id": "AAA111", "cabin": "economy", "payment_id": "x"}
    for number, day, known in (("HAT001", "20", True), ("HAT002", "21", False), ("HAT001", "22", False)):
        flights = [{"flight_number": number, "date": f"2024-05-{day}"}]
        world.reservations["AAA111"]["cabin"] = "business"
        assert world.knows(Call("update_reservation_flights", {**change, "flights": flights}), shown) is known
    assert not world.knows(Call("cancel_reservation", {"reservation_id": "BBB222"}), shown)
    assert world.knows(Call("search_direct_flight", route), shown)
    assert not world.knows(Call("search_direct_flight", {**route, "origin": "LAX"}), shown)
    world.users["u_1"]["membership"] = "regular"
    assert shown[0][1] == {"membership": "gold"}  # records are copies


def test_recordings_of_several_databases_are_not_mixed() -> None:
    """The desk makes a new database for every problem; flight numbers come again on other routes."""
    context = Context(*load("tau2_precondition"), PROFILES["quick"])
    tallies = recordings.tally(context.world, recorded(str(RECORDED)), context)
    assert tallies["search_direct_flight"].values == tallies["search_direct_flight"].computable == 15


@pytest.fixture(scope="module")
def real() -> dict[str, recordings._Tally]:
    if not REAL.is_file():
        pytest.skip(f"{REAL.name} lies beside the checkout of developers only")
    context = Context(*load("tau2_precondition"), PROFILES["quick"])
    return recordings.tally(context.world, recorded(str(REAL)), context)


def test_the_benchmarks_recorded_calls_are_answered_as_they_were(real: dict[str, recordings._Tally]) -> None:
    """100 episodes of gpt-4o at tau-bench, each seeded with what the 100 showed before they changed anything."""
    assert sum(t.calls for t in real.values()) == 524
    computable, alike = (sum(getattr(t, what) for t in real.values()) for what in ("computable", "values"))
    assert computable >= 450 and alike == computable
    assert not any(t.faults for t in real.values())
    for tool in ("book_reservation", "cancel_reservation", "update_reservation_flights"):
        assert real[tool].computable >= 13


def test_declared_differences_are_real_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a declaration the difference shows; nothing is declared that no recording has, but for rare writes."""
    if not REAL.is_file():
        pytest.skip(f"{REAL.name} lies beside the checkout of developers only")
    context = Context(*load("tau2_precondition"), PROFILES["quick"])
    monkeypatch.setattr("trace_gym.targets.tau2.recorded.DIFFERENCES", {})
    seen = {
        t: {p for p, _ in f.faults} for t, f in recordings.tally(context.world, recorded(str(REAL)), context).items()
    }
    unseen = {"cancel_reservation", "update_reservation_baggages"}
    assert {tool for tool, paths in seen.items() if paths} == DIFFERENCES.keys() - unseen
    assert seen["get_user_details"] == {"user_id"} and seen["search_direct_flight"] == {"[].date"}
    assert seen["update_reservation_flights"] == {"status", "cabin"}


def test_recordings_of_tau2_itself_are_held_to_every_field() -> None:
    call, answer = Call("get_user_details", {"user_id": "u"}), {"user_id": "u", "dob": "x"}
    assert AirlineTools.as_recorded(call, answer, "tau2 airline") == answer
    assert AirlineTools.as_recorded(call, answer, "tau-bench airline") == {"dob": "x"}
