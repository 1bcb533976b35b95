"""Tests of the airline target's verifier, of the balance of its problems, and of its records."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from airline_desk import (
    CARD,
    CODE,
    DAY,
    FACTS,
    GIFT,
    HAND_WRITTEN,
    INSIDE,
    OTHER,
    cancel,
    desk,
    returns,
    seats,
    shared,
)

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.schemas import settle
from trace_gym.score import reward
from trace_gym.targets.results import read_results
from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Bags, Cancel, ChangeFlights, Upgrade
from trace_gym.targets.tau2.tools import AirlineTools, airline_interface
from trace_gym.types import Call, Say, Scenario, Score, Trajectory
from trace_gym.world import ToolError

# Verifier


def judged(world: AirlineDesk, *steps: Call | Say) -> Score:
    """The score of steps that are taken in a world; a refusal ends the test."""

    class Fixed(AirlineDesk):
        id = "fixed"

        @classmethod
        def generate(cls, rng: Random, level: int) -> Any:
            return world.copy()

    episode = Episode(Fixed, Scenario(env="fixed", level=0, seed=0))
    for step in steps:
        answers = episode.step(step)
        assert not answers or not str(answers[-1]["content"]).startswith("Error"), answers
    return episode.finish()


def move(number: str, day: str = DAY, payment: str = CARD, cabin: str = "economy") -> Call:
    flights = [{"flight_number": number, "date": day}]
    arguments = {"reservation_id": CODE, "cabin": cabin, "flights": flights, "payment_id": payment}
    return Call("update_reservation_flights", arguments)


PROMISE = Say("To confirm: cancel AAA111, refund 180. Shall I proceed?")


REFUSAL = Say("I cannot cancel AAA111: economy, booked 2024-05-10, insurance no.")


def test_an_allowed_cancellation_with_its_refund_succeeds() -> None:
    world = desk(Cancel(CODE), created_at=INSIDE)
    score = judged(world, PROMISE, cancel(), Say("All done."))
    assert (score.success, score.progress, score.broken, reward(score)) == (True, 1.0, (), 1.0)


def test_a_cancellation_without_its_refund_is_half_a_success() -> None:
    score = judged(desk(Cancel(CODE), created_at=INSIDE), cancel(), Say("All done."))
    assert (score.success, score.progress, reward(score)) == (False, 0.5, 0.2)


def test_an_announcement_without_the_write_is_nothing() -> None:
    score = judged(desk(Cancel(CODE), created_at=INSIDE), PROMISE, Say("All done."))
    assert (score.success, score.progress) == (False, 0.0)


def test_a_wrong_cancellation_breaks_a_guard_and_pays_nothing() -> None:
    score = judged(desk(Cancel(CODE)), PROMISE, cancel(), Say("All done."))
    assert not score.success and score.broken and reward(score) == 0.0


def test_another_reservation_cancelled_beside_the_right_one_costs_the_success() -> None:
    score = judged(desk(Cancel(CODE), created_at=INSIDE), PROMISE, cancel(), cancel(OTHER), Say("All done."))
    assert (score.success, score.progress) == (False, 1.0)
    assert score.broken == ("no reservation changed in a way that was not asked for",)
    assert reward(score) == 0.125 * 0.8  # the customer did not agree


def test_a_refusal_counts_with_the_day_of_booking() -> None:
    world = desk(Cancel(CODE))
    assert judged(world, REFUSAL).success
    assert judged(world, Say("I cannot cancel AAA111.")).progress == 0.5
    assert judged(world, Say("It was booked 2024-05-10.")).progress == 0.0


def test_naming_every_day_is_not_naming_one() -> None:
    days = ", ".join(records.day(n) for n in range(-14, 0))
    score = judged(desk(Cancel(CODE)), Say(f"I cannot cancel AAA111: booked {days}."))
    assert (score.success, score.progress) == (False, 0.5)


def test_naming_every_price_is_not_naming_one() -> None:
    prices = ", ".join(map(str, range(50, 700)))
    world = desk(Cancel(CODE), created_at=INSIDE)
    score = judged(world, Say(f"To confirm: cancel AAA111, refund {prices}. Shall I proceed?"), cancel())
    assert (score.success, score.progress) == (False, 0.5)
    wrong = judged(world, Say("To confirm: cancel AAA111, refund 181. Shall I proceed?"), cancel())
    assert not wrong.success


def test_refusing_all_and_doing_all_are_each_half_of_two_requests() -> None:
    world = desk(Cancel(CODE), Cancel(OTHER), created_at=INSIDE)
    both = Say("I cannot cancel BBB222: booked 2024-05-10. To confirm: cancel AAA111, refund 180. Shall I proceed?")
    assert judged(world, both, cancel()).success
    assert judged(world, both).progress == 0.5
    assert not judged(world, both, cancel(), cancel(OTHER)).success


def test_a_refusal_must_name_one_of_two_requests() -> None:
    world = desk(Cancel(CODE), Cancel(OTHER))
    words = "booked 2024-05-10, insurance no."
    assert judged(world, Say(f"I cannot cancel AAA111: {words} I cannot cancel BBB222: {words}")).success
    assert judged(world, Say(f"I cannot cancel AAA111: {words}")).progress == 0.5
    assert judged(world, Say(f"I cannot do that: {words}")).progress == 0.0


def test_a_needless_hand_over_costs_the_success_and_a_needed_one_is_it() -> None:
    hand_over = Call("transfer_to_human_agents", {"summary": "AAA111"})
    allowed = judged(desk(Cancel(CODE), created_at=INSIDE), PROMISE, cancel(), hand_over)
    assert allowed.broken == ("the customer was not handed over",)
    world = desk(Cancel(CODE))
    world.flights["HAT001"]["dates"][DAY] = {"status": "landed"}
    assert judged(world, hand_over).success
    assert not judged(world, REFUSAL).success


def test_an_upgrade_must_be_on_the_method_that_was_named() -> None:
    world = desk(Upgrade(CODE, GIFT, "my gift card"))
    assert judged(world, move("HAT001", payment=GIFT, cabin="business")).success
    wrong = judged(world, move("HAT001", payment=CARD, cabin="business"))
    assert (wrong.success, wrong.progress) == (False, 0.5) and wrong.broken


def test_bags_must_be_paid_for_as_the_membership_says() -> None:
    world = desk(Bags(CODE, GIFT, "my gift card", extra=3), membership="silver")  # two are free in economy
    asked = {"reservation_id": CODE, "total_baggages": 3, "payment_id": GIFT}
    assert judged(world, Call("update_reservation_baggages", {**asked, "nonfree_baggages": 1})).success
    dear = judged(world, Call("update_reservation_baggages", {**asked, "nonfree_baggages": 3}))
    assert not dear.success and dear.broken and 0 < dear.progress < 1


def test_a_swap_must_take_the_cheapest_that_fits() -> None:
    world = desk(ChangeFlights(CODE, method=CARD, date=DAY, after=9))
    assert judged(world, move("HAT002")).success
    late = desk(ChangeFlights(CODE, method=CARD, date="2024-05-21"))
    assert judged(late, move("HAT002", "2024-05-21")).success
    assert judged(late, move("HAT002")).progress == 0.0
    late.flights["HAT001"]["dates"]["2024-05-21"] = seats(140)
    late.flights["HAT001"]["dates"]["2024-05-21"]["prices"]["business"] = 900
    assert late.requests[0].call(late, SKILLS) == move("HAT001", "2024-05-21")  # the cabin picks the column
    sold_out = desk(ChangeFlights(CODE, method=CARD, date=DAY))
    sold_out.flights["HAT002"]["dates"][DAY]["available_seats"]["economy"] = 0
    assert sold_out.requests[0].call(sold_out, SKILLS) == move("HAT001")


def test_a_certificate_on_top_costs_the_success() -> None:
    gift = Call("send_certificate", {"user_id": "ada_berg_1234", "amount": 100})
    score = judged(desk(Cancel(CODE), created_at=INSIDE), PROMISE, cancel(), gift)
    assert score.broken == ("no profile changed in a way that was not asked for",)


# Balance


def allowed_share(name: str, level: int, count: int) -> float:
    world = registry.load_world(name)
    verdicts: list[bool] = [
        request.verdict(made).allowed
        for seed in range(count)
        for made in [world.generate(Random(f"{name}/{level}/{seed}"), level)]
        for request in made.requests  # type: ignore[attr-defined]
    ]
    return sum(verdicts) / len(verdicts)


@pytest.mark.parametrize("level", range(4))
def test_half_of_the_cancellations_are_allowed(level: int) -> None:
    assert 0.42 < allowed_share("tau2_precondition", level, 400) < 0.58


def test_every_near_miss_occurs() -> None:
    world = registry.load_world("tau2_precondition")
    seen: Counter[str] = Counter()
    for seed in range(400):
        made = world.generate(Random(f"near/{seed}"), 3)
        [request] = made.requests  # type: ignore[attr-defined]
        seen[request.verdict(made).why.partition(",")[0]] += 1
    assert len(seen) >= 5 and min(seen.values()) >= 10


@pytest.mark.parametrize(("level", "share"), [(0, 1.0), (1, 1.0), (2, 1.0), (3, 0.75)])
def test_parts_are_allowed_but_for_one_of_four(level: int, share: float) -> None:
    assert allowed_share("tau2_multi_step", level, 60) == share


# Real records


@pytest.fixture(scope="module")
def benchmark() -> AirlineTools:
    """The benchmark's own records in our tools; where a record leaves the status out, ours says None."""
    with gzip.open(shared("data/tau2_airline_db.json.gz")) as file:
        state = json.load(file)
    for made in state["reservations"].values():
        made.setdefault("status", None)
    return AirlineTools(**state)


def fresh(benchmark: AirlineTools, calls: Iterable[Call]) -> AirlineTools:
    """The benchmark's state with copies of the records that these calls name; copying all of it takes long."""
    named = set(re.findall(r'"([^"]+)"', json.dumps([c.arguments for c in calls])))
    named |= {made["user_id"] for code, made in benchmark.reservations.items() if code in named}
    tables = (benchmark.users, benchmark.reservations, benchmark.flights)
    copies = [{k: deepcopy(v) if k in named else v for k, v in table.items()} for table in tables]
    return AirlineTools(users=copies[0], reservations=copies[1], flights=copies[2])


def carried_out(world: AirlineTools, call: Call) -> Any:
    """Return the result of a call, or its refusal."""
    arguments, complaint = settle(call, airline_interface())
    if complaint:
        return f"Error: {complaint}"
    try:
        return json.loads(json.dumps(getattr(world, call.tool)(**arguments)))
    except ToolError as refusal:
        return f"Error: {refusal}"


def test_the_gold_actions_of_all_tasks_run_on_real_records(benchmark: AirlineTools) -> None:
    tasks = {t.task: t.gold for t in read_results(shared("data/tau_bench_airline_gpt4o.json.gz"))}
    refusals, ran = [], 0
    for task, gold in tasks.items():
        world = fresh(benchmark, gold or ())
        for call in gold or ():
            result = carried_out(world, call)
            ran += 1
            if isinstance(result, str) and result.startswith("Error"):
                refusals.append((task, call, result))
            else:
                returns(call.tool, result)
    assert (len(tasks), ran, refusals) == (50, 158, [])


def recorded(made: Trajectory) -> list[tuple[Call, str]]:
    """The calls that an agent made at the benchmark, in order, each with what the tool answered."""
    answers = {m.get("tool_call_id"): str(m.get("content")) for m in made.messages if m["role"] == "tool"}
    wired = [w for m in made.messages for w in m.get("tool_calls") or ()]
    calls = [(w["id"], Call(w["function"]["name"], json.loads(w["function"]["arguments"]))) for w in wired]
    # tau-bench has a tool to think, tau2 has not
    return [(call, answers[key]) for key, call in calls if key in answers and call.tool in FACTS["kinds"]]


def known_differences(call: Call, result: Any) -> Any:
    """A result without what tau2 answers otherwise than the older tau-bench, and without absent values."""
    if isinstance(result, list):
        return [known_differences(call, part) for part in result]
    if not isinstance(result, dict):
        return result
    left_out = {"user_id"} if call.tool == "get_user_details" else set()
    if call.tool.startswith("search"):
        left_out = {"date"}
        if result.get("date", call.arguments["date"]) != call.arguments["date"]:
            left_out |= {"available_seats", "prices"}  # tau-bench showed those of the day before
    if call.tool.startswith(("update_reservation", "cancel")):
        left_out = {"cabin"}  # tau-bench kept the cabin of a reservation whose flights were moved to another one
    return {k: known_differences(call, v) for k, v in result.items() if k not in left_out and v is not None}


def test_recorded_calls_are_answered_as_the_benchmark_answered_them(benchmark: AirlineTools) -> None:
    """524 calls of gpt-4o at tau-bench, replayed: every refusal and every record agrees."""
    counts: Counter[str] = Counter()
    for made in read_results(shared("data/tau_bench_airline_gpt4o.json.gz")):
        calls = recorded(made)
        world = fresh(benchmark, [call for call, _ in calls])
        for call, said in calls:
            ours = carried_out(world, call)
            refusals = [str(answer).lower().startswith("error") for answer in (said, ours)]
            assert refusals[0] == refusals[1], (made.id, call, said, ours)
            counts["refused" if refusals[0] else "equal"] += 1
            if not refusals[0]:
                assert alike(call, said, ours), (made.id, call, said, ours)
    assert counts == {"refused": 33, "equal": 491}


def alike(call: Call, said: str, ours: Any) -> bool:
    """Whether two answers say the same, wordings aside."""
    match call.tool:
        case "calculate":
            return float(said) == float(ours)
        case "send_certificate" | "transfer_to_human_agents":
            return all(str(value) in said and str(value) in ours for value in call.arguments.values()) or said == ours
        case "list_all_airports":  # tau-bench has a table where tau2 has records
            return bool(json.loads(said) == {a["iata"]: a["city"] for a in ours})
    return bool(known_differences(call, json.loads(said)) == known_differences(call, ours))


@pytest.mark.parametrize("env", HAND_WRITTEN)
def test_a_skill_is_needed_where_an_expert_without_it_alone_fails(env: str) -> None:
    for scenario in registry.scenarios(env, "validate", 40):
        start = registry.start_episode(scenario).start
        assert isinstance(start, AirlineDesk)
        assert start.needs() == {s for s in SKILLS if not _succeeds(scenario, SKILLS - {s})}, scenario


def _succeeds(scenario: Scenario, skills: frozenset[str]) -> bool:
    episode = registry.start_episode(scenario)
    assert isinstance(episode.start, AirlineDesk)
    for step in episode.start.serve(skills):
        if episode.done:
            break
        episode.step(step)
    return episode.finish().success
