"""Tests of TG41: tool results have the target's shapes, errors have one format, and recorded calls return recorded
results.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mutants.fidelity import MUTANTS, RECORDED, AnswersInWords, ChargesOneTraveller
from mutants.hotel import Hotel
from toy_world import ToyBoxes

from trace_gym import registry
from trace_gym.nested import parse_if_json
from trace_gym.targets.tau2.recorded import DIFFERENCES
from trace_gym.targets.tau2.tools import AirlineTools
from trace_gym.types import Bars, Call, Finding, Trajectory, to_jsonl
from trace_gym.validation import Context, recordings
from trace_gym.validation.context import NO_INPUTS, PROFILES, ValidationInputs
from trace_gym.validation.fidelity import _by_schema, _form
from trace_gym.validation.input_files import read_recordings
from trace_gym.validation.properties import PROPERTIES
from trace_gym.validation.selection import sample
from trace_gym.validation.shapes import Shape, closed, differences
from trace_gym.validation.source import load
from trace_gym.world import World

CODES = ("TG411", "TG412", "TG413")
ENVS = ("tau2_airline_desk", "tau2_precondition")
REAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "tau_bench_airline_gpt4o.json.gz"
DESK = ValidationInputs(recordings=(str(RECORDED),))


def check(
    target: type[World] | Path, code: str, profile: str = "quick", given: ValidationInputs = NO_INPUTS
) -> Finding:
    world, reference = load(target)
    context = Context(world, reference, PROFILES[profile], given)
    return PROPERTIES[code](world, sample(world, PROFILES[profile].seeds_per_level), context)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.rejected_by}-{m.__name__}")
def test_each_mutant_fails_its_property(mutant: type[World]) -> None:
    found = check(mutant, mutant.rejected_by, given=getattr(mutant, "given", ValidationInputs()))  # type: ignore[attr-defined]
    assert found.verdict == "failed", found.message
    exec(compile(found.counterexample, "counterexample", "exec"), {})


def test_every_property_rejects_two_mutants() -> None:
    codes = [m.rejected_by for m in MUTANTS]
    assert {c: codes.count(c) >= 2 for c in CODES} == dict.fromkeys(CODES, True)


@pytest.mark.parametrize("name", ENVS)
def test_shipped_environments_pass_fidelity_properties(name: str) -> None:
    found = {code: check(registry.module_path(name), code, "gate", DESK) for code in CODES}
    assert [f.verdict for f in found.values()] == ["passed"] * 3, found
    assert sum(k.startswith("answers") for k in found["TG411"].metrics) >= 11
    assert found["TG412"].metrics["tools"] >= 9
    assert found["TG413"].metrics["values_update_reservation_flights"] == 1.0
    assert all(isinstance(e, Bars) for e in found["TG413"].exhibits)


def test_worlds_without_target_skip_fidelity() -> None:
    for world in (Hotel, ToyBoxes):
        assert [check(world, code, "gate").verdict for code in CODES] == ["skipped", "passed", "skipped"]
        assert "from_records" in check(world, "TG413", given=DESK).message


def test_shapes_are_inferred_from_recordings(tmp_path: Path) -> None:
    """The recordings come from a hotel whose rooms have an additional field."""
    answer = {"guest": "Ada", "invoice": "inv1234", "due": 50, "key": "desk"}
    for field, verdict in (({}, "passed"), ({"floor": 3}, "failed"), ({"due": "50"}, "failed")):
        wire = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": '{"room": "12"}'}}
        told = {"role": "tool", "tool_call_id": "c", "name": "look_up", "content": json.dumps({**answer, **field})}
        call = {"role": "assistant", "content": "", "tool_calls": [wire]}
        path = tmp_path / f"{len(field)}{verdict}{'due' in field}.jsonl"
        path.write_text(to_jsonl([Trajectory(id="1", task="1", messages=(call, told))]))
        found = check(Hotel, "TG411", given=ValidationInputs(recordings=(str(path),)))
        assert found.verdict == verdict, found.message


def test_shape_tracks_types_and_optional_fields() -> None:
    shape = Shape()
    for value in ({"a": 1, "b": [{"c": "x"}]}, {"a": 2.5, "b": [], "d": None}):
        shape.add(value)
    assert list(shape.faults({"a": 3, "b": [{"c": "y"}]})) == []
    assert list(shape.faults({"a": "3", "b": []})) == ["a is of type string, expected number"]
    assert list(shape.faults({"b": [{"c": 1}], "e": 0})) == [
        "the result lacks a",
        "the result has the field e, which no recorded result has",
        "b[].c is of type number, expected string",
    ]
    assert list(shape.faults([])) == ["the result is of type list, expected record"]
    table = Shape()
    table.add({"card_12": {"n": 1}, "card_34": {"n": 2}})
    assert not list(table.faults({"gift_99": {"n": 5}})) and not list(table.faults({}))


def test_differences_have_path_and_kind() -> None:
    one = {"a": [1, {"b": "x"}], "c": 1, "d": None}
    other = {"a": [2, {"b": 5}], "c": 1, "e": 0}
    assert set(differences(one, other)) == {("a[]", "value"), ("a[].b", "type"), ("d", "missing"), ("e", "extra")}
    assert list(differences([1], [1, 2])) == [("[]", "value")]
    assert not list(differences(one, one))


def test_closed_schema_rejects_additional_fields() -> None:
    record = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    test = _by_schema({"type": "object", "properties": {"returns": {"anyOf": [record]}}, "required": ["returns"]})
    assert test('{"n": 1}') == ""
    assert test('{"n": 1, "m": 2}') and test("{}") and test("words") and test('{"n": "1"}')
    assert closed({"type": "object", "additionalProperties": {"type": "string"}})["additionalProperties"]
    text = _by_schema({"type": "object", "properties": {"returns": {"type": "string"}}, "required": ["returns"]})
    assert text("255.0") == "" == text("words") and parse_if_json("255.0") == "255.0"


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
        ("Not found: room 4", "a sentence that does not begin"),
        ("Transfer successful", ""),
        ('{"status": "cancelled", "error": null}', ""),
        ("[]", ""),
    ],
)
def test_error_formats(content: str, form: str) -> None:
    assert _form(content).startswith(form) and bool(_form(content)) is bool(form)


# Replays


def test_finding_shows_wrong_and_recorded_price() -> None:
    found = check(ChargesOneTraveller, "TG413", given=DESK)
    assert "update_reservation_flights: payment_history[].amount differs in its value" in found.message
    assert "recorded {" in found.message and found.metrics["values_get_user_details"] == 1.0
    assert "differs in its type" in check(AnswersInWords, "TG413", given=DESK).message


def test_world_is_created_from_recorded_results() -> None:
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
    """The airline domain generates a new database for every problem, so flight numbers recur with other routes."""
    context = Context(*load("tau2_precondition"), PROFILES["quick"])
    tallies = recordings.compare_recordings(context.world, read_recordings(str(RECORDED)), context)
    assert tallies["search_direct_flight"].values == tallies["search_direct_flight"].computable == 15


@pytest.fixture(scope="module")
def real() -> dict[str, recordings._Tally]:
    if not REAL.is_file():
        pytest.skip(f"{REAL.name} lies beside the checkout of developers only")
    context = Context(*load("tau2_precondition"), PROFILES["quick"])
    return recordings.compare_recordings(context.world, read_recordings(str(REAL)), context)


def test_recorded_benchmark_calls_return_recorded_results(real: dict[str, recordings._Tally]) -> None:
    """Replay 100 episodes of gpt-4o on tau-bench on the data that they displayed before their first write."""
    assert sum(t.calls for t in real.values()) == 524
    computable, alike = (sum(getattr(t, what) for t in real.values()) for what in ("computable", "values"))
    assert computable >= 450 and alike == computable
    assert not any(t.faults for t in real.values())
    for tool in ("book_reservation", "cancel_reservation", "update_reservation_flights"):
        assert real[tool].computable >= 13


def test_declared_differences_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its declaration, each difference is reported.

    Every declared difference occurs in recordings, except for rare writes.
    """
    if not REAL.is_file():
        pytest.skip(f"{REAL.name} lies beside the checkout of developers only")
    context = Context(*load("tau2_precondition"), PROFILES["quick"])
    monkeypatch.setattr("trace_gym.targets.tau2.recorded.DIFFERENCES", {})
    seen = {
        t: {p for p, _ in f.faults}
        for t, f in recordings.compare_recordings(context.world, read_recordings(str(REAL)), context).items()
    }
    unseen = {"cancel_reservation", "update_reservation_baggages"}
    assert {tool for tool, paths in seen.items() if paths} == DIFFERENCES.keys() - unseen
    assert seen["get_user_details"] == {"user_id"} and seen["search_direct_flight"] == {"[].date"}
    assert seen["update_reservation_flights"] == {"status", "cabin"}


def test_tau2_recordings_are_compared_in_every_field() -> None:
    call, answer = Call("get_user_details", {"user_id": "u"}), {"user_id": "u", "dob": "x"}
    assert AirlineTools.as_recorded(call, answer, "tau2 airline") == answer
    assert AirlineTools.as_recorded(call, answer, "tau-bench airline") == {"dob": "x"}
