"""Tests of the experts, verifiers and environments of the ToolSandbox target."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from phones import ADA, BEN, ENVS, LOW, NOW, person, phone, played, score, stock

from trace_gym import registry
from trace_gym.score import reward
from trace_gym.targets.toolsandbox import calendar
from trace_gym.targets.toolsandbox.assistant import SKILLS, Assistant
from trace_gym.targets.toolsandbox.expert import ASKING, DATES, DEPENDENCIES, RECOVERY
from trace_gym.targets.toolsandbox.lookups import Distance, Exchange, Position, StockPrice, TextLookup, Weather
from trace_gym.targets.toolsandbox.needs import DESCRIPTIONS
from trace_gym.targets.toolsandbox.requests import NewNumber, PhoneRequest, Switch, Text, UnsupportedContact
from trace_gym.targets.toolsandbox.schedule import Countdown, Postpone, Remind, When
from trace_gym.types import Call, Say, Score


def plan(world: Assistant, skills: frozenset[str] = SKILLS) -> list[str]:
    """The tools of an expert's plan, with what switches are set to; what is said in small letters."""
    made = []
    for step in world.serve(skills):
        if isinstance(step, Say):
            made.append(step.text)
        else:
            made.append(step.tool + (f" {step.arguments['on']}" if "on" in step.arguments else ""))
    return made


def test_the_expert_follows_refusals_to_their_cause() -> None:
    world = phone(Text(ADA, "See you soon", meant=ADA), **LOW)
    send = "send_message_with_phone_number"
    cellular, battery = "set_cellular_service_status True", "set_low_battery_mode_status False"
    assert plan(world)[:-1] == ["search_contacts", send, cellular, battery, cellular, send]
    assert played(world, world.serve(SKILLS)).finish().success
    assert plan(world, SKILLS - {RECOVERY})[:-1] == ["search_contacts", send]
    assert world.needs() == {RECOVERY}


def test_two_services_are_found_to_be_missing_one_after_the_other() -> None:
    world = phone(Weather(days=1), wifi=False, location_service=False, cellular=False)
    look = "search_weather_around_lat_lon"
    on = [f"set_{s}_status True" for s in ("location_service", "wifi")]
    assert plan(world)[:-1] == [look, on[0], look, on[1], look]
    made = played(world, world.serve(SKILLS))
    assert made.finish().success
    assert isinstance(made.world, Assistant) and made.world.settings["cellular"] is False


def test_a_setting_that_is_to_be_kept_makes_a_task_impossible() -> None:
    world = phone(StockPrice("Northwind"), **LOW)
    world.keep = ("low_battery_mode",)
    assert plan(world)[:-1] == ["search_stock", "set_wifi_status True"]
    assert "low battery mode is on and has to stay so" in plan(world)[-1]
    assert played(world, world.serve(SKILLS)).finish().success
    assert score(world, Say("I cannot: wifi is off.")).progress == 0
    off = Call("set_low_battery_mode_status", {"on": False})
    assert world.violations(off) == ["the user wants low battery mode left alone"]
    assert world.violations(Call("set_wifi_status", {"on": True})) == world.violations(Call("get_wifi_status")) == []
    assert "no setting changed that nothing needs" in score(world, off, Say("I cannot: low battery mode is on.")).broken


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("on", [True, False])
def test_what_takes_a_service_away_comes_last(first: bool, on: bool) -> None:
    parts = [Switch("wifi", on=False), StockPrice(stock(phone()))]
    world = phone(*(parts if first else reversed(parts)), wifi=on)
    assert plan(world)[-2] == "set_wifi_status False" and plan(world)[0] == "search_stock"
    assert played(world, world.serve(SKILLS)).finish().success
    assert world.needs() == frozenset({DEPENDENCIES} if first else ()) | ({RECOVERY} if not on else frozenset())


def test_what_was_in_the_way_is_put_back_in_reverse() -> None:
    world = phone(TextLookup(ADA, StockPrice(stock(phone()))), **LOW)
    world.restore = True
    back = ["set_cellular_service_status False", "set_wifi_status False", "set_low_battery_mode_status True"]
    assert plan(world)[-4:-1] == back
    made = played(world, world.serve(SKILLS))
    assert made.finish().success and isinstance(made.world, Assistant) and made.world.settings == {**LOW}
    assert world.needs() == {RECOVERY, DEPENDENCIES}
    left = played(world, world.serve(SKILLS - {DEPENDENCIES})).finish()
    assert (left.progress, left.success) == (1, False) and len(left.broken) == 1


def test_low_battery_mode_in_the_end_takes_the_services_with_it() -> None:
    world = phone(Switch("low_battery_mode", on=True), Text(BEN, "See you soon", meant=BEN))
    assert plan(world)[-2] == "set_low_battery_mode_status True"
    made = played(world, world.serve(SKILLS))
    assert made.finish().success
    assert not played(world, world.serve(SKILLS - {DEPENDENCIES})).finish().success


def named_alike() -> Assistant:
    world = phone(Text("Amara", "See you soon", meant="Amara Holm"))
    world.contacts["p3"] = person(3, "Amara Holm", "sister")
    return world


def test_of_two_people_the_one_that_is_meant_is_asked_for() -> None:
    world = named_alike()
    made = played(world, world.serve(SKILLS))
    assert f"Which one do you mean, {ADA} or Amara Holm?" in made.said and made.finish().success
    assert world.needs() == {ASKING}
    lucky = named_alike()
    lucky.requests = [Text("Amara", "See you soon", meant=ADA)]
    assert lucky.needs() == frozenset(), "the first one listed is the right one"


@pytest.mark.parametrize("number", ["+12125550155", ""])
def test_a_number_that_is_missing_is_asked_for_or_owned_up_to(number: str) -> None:
    world = phone(Text("Zora", "See you soon", meant="Zora", number=number))
    assert world.needs() == {ASKING}
    made = played(world, world.serve(SKILLS))
    assert made.finish().success
    if not number:
        unasked = score(world, Say("I cannot text Zora without a number."))
        assert (unasked.progress, unasked.success) == (0.5, False)


@pytest.mark.parametrize(
    "request_",
    [
        Text(ADA, "See you soon", withheld=True, meant=ADA),
        Remind("call home", When(9, 30, on="2026-05-01"), withheld=True),
        StockPrice("Acme Rockets"),
        Weather(days=7),
        Distance("Castle Rock"),
        UnsupportedContact(ADA, "email"),
    ],
    ids=lambda r: type(r).__name__,
)
def test_nothing_is_made_up(request_: PhoneRequest) -> None:
    world = phone(request_)
    assert played(world, world.serve(SKILLS)).finish().success
    assert world.needs() == {ASKING}
    assert not played(world, world.serve(SKILLS - {ASKING})).finish().success


@pytest.mark.parametrize(
    ("when", "due", "carries"),
    [
        (When(17, 0, days=1), "2026-03-31 17:00", False),
        (When(17, 0, days=2), "2026-04-01 17:00", True),
        (When(8, 15, weekday=3), "2026-04-01 08:15", True),
        (When(8, 15, weekday=2), "2026-03-31 08:15", False),
        (When(8, 15, weekday=1), "2026-04-06 08:15", True),
        (When(8, 15, weekday=7), "2026-04-05 08:15", True),
        (When(3, 0, on="2026-04-01", zone=9), "2026-03-31 18:00", True),
        (When(12, 0, on="2026-04-01", zone=9), "2026-04-01 03:00", False),
        (When(20, 0, on="2026-12-31", zone=-8), "2027-01-01 04:00", True),
        (When(12, 0, on="2026-04-01"), "2026-04-01 12:00", False),
    ],
    ids=str,
)
def test_dates_are_reckoned(when: When, due: str, carries: bool) -> None:
    world = phone(Remind("call home", when))
    assert calendar.moment(when.due(NOW)).strftime("%Y-%m-%d %H:%M") == due
    made = played(world, world.serve(SKILLS))
    assert made.finish().success
    assert world.needs() == frozenset({DATES} if carries else ())
    wrong = played(world, world.serve(SKILLS - {DATES})).finish()
    assert wrong.success is not carries and (not carries or wrong.progress == pytest.approx(1 / 3))


def test_the_next_reminder_is_the_one_that_is_due_next() -> None:
    world = phone(Postpone("", When(17, 0, days=1)))
    made = played(world, world.serve(SKILLS))
    assert isinstance(made.world, Assistant)
    assert made.finish().success and made.world.reminders["r2"]["reminder_timestamp"] == calendar.stamp(2026, 3, 31, 17)
    assert world.needs() == {DATES}, "r1 is listed first"
    named = phone(Postpone("walk the dog", When(17, 0, days=1)))
    assert played(named, named.serve(SKILLS)).finish().success and named.needs() == frozenset()


@pytest.mark.parametrize(("holiday", "days", "carries"), [("Memorial Day", 55, False), ("Columbus Day", 195, False)])
def test_days_are_counted(holiday: str, days: int, carries: bool) -> None:
    world = phone(Countdown(holiday))
    assert f"{days} days" in plan(world)[-1] and played(world, world.serve(SKILLS)).finish().success
    assert world.needs() == frozenset({DATES} if carries else ())


def test_a_holiday_that_is_over_comes_next_year() -> None:
    world = phone(Countdown("Martin Luther King Jr. Day"))
    assert "293 days" in plan(world)[-1] and world.needs() == {DATES}
    assert score(world, Say("It is 71 days.")).progress == score(world, Say("293 or 71 days.")).progress == 0


@pytest.mark.parametrize("lookup", [Exchange(90, "EUR", "JPY"), Position(), Distance("Cedar Library"), Weather()])
def test_a_number_is_looked_up(lookup: PhoneRequest) -> None:
    world = phone(lookup)
    assert played(world, world.serve(SKILLS)).finish().success
    assert score(world, Say("I found nothing, it is 12345.")).progress == 0


def test_a_message_is_judged_by_recipient_and_words() -> None:
    world = phone(Text(ADA, "See you soon", meant=ADA))

    def sent(number: str, *texts: str) -> Score:
        calls = (Call("send_message_with_phone_number", {"phone_number": number, "content": t}) for t in texts)
        return score(world, *calls, Say("Sent."))

    assert sent("+12125550101", "see you SOON!").success
    assert (sent("+12125550101", "See you").progress, sent("+12125550101", "See you").broken) == (0.5, ())
    assert sent("+12125550102", "See you soon").progress == 0 and sent("+12125550102", "See you soon").broken
    assert sent("+12125550101", "See you soon", "See you soon").broken


def test_who_asks_for_what_is_known_has_not_succeeded() -> None:
    send = Call("send_message_with_phone_number", {"phone_number": "+12125550101", "content": "See you soon"})
    for questions, known in ((["Who is it, and what is the number?"], False), (["What shall the message say?"], True)):
        world = named_alike()
        world.requests = [Text("Amara", "See you soon", meant=ADA)]
        made = score(world, *map(Say, questions), send, Say("Sent."))
        assert (made.success, bool(made.broken)) == (not known, known)
    plain = phone(Text(ADA, "See you soon", meant=ADA))
    assert score(plain, Say("Shall I send it to the number +12125550101?"), send, Say("Sent.")).success
    assert "known" in score(plain, Say("What is the number?"), send, Say("Sent.")).broken[0]


def test_a_report_holds_the_number_and_no_other() -> None:
    name = stock(phone())
    world = phone(TextLookup(ADA, StockPrice(name)))
    price, other = (s["price"] for s in list(world.stocks.values())[:2])

    def sent(text: str) -> float:
        call = Call("send_message_with_phone_number", {"phone_number": "+12125550101", "content": text})
        return score(world, call, Say("Sent.")).progress

    assert sent(f"It costs {price}") == 1
    assert sent("It is dear") == sent(f"It costs {price} or {other}") == 0.5
    assert sent(f"The stock price of {name} is {price}") == 1
    assert sent(f"The stock price of Nowhere is {price}") == 0.5


def test_a_new_number_is_put_into_the_book() -> None:
    world = phone(NewNumber(BEN, "+12125550166"))
    assert played(world, world.serve(SKILLS)).finish().success
    wrong = Call("modify_contact", {"person_id": "p2", "phone_number": "+12125550177"})
    assert score(world, wrong).broken and not score(world, wrong).success


def test_a_needless_change_costs_the_success() -> None:
    world = phone(StockPrice(stock(phone())), cellular=False)
    price = next(iter(world.stocks.values()))["price"]
    answer = Say(f"It is {price}.")
    look = Call("search_stock", {"query": stock(world)})
    assert score(world, look, answer).success
    for harm in (
        Call("set_cellular_service_status", {"on": True}),
        Call("set_low_battery_mode_status", {"on": True}),
        Call("remove_contact", {"person_id": "p1"}),
        Call("modify_contact", {"person_id": "p1", "relationship": "boss"}),
        Call("add_contact", {"name": "X", "phone_number": "+12125550109"}),
        Call("remove_reminder", {"reminder_id": "r1"}),
        Call("modify_reminder", {"reminder_id": "r1", "content": "feed the cat"}),
        Call("add_reminder", {"content": "x", "reminder_timestamp": NOW}),
    ):
        harmed = score(world, look, harm, answer)
        assert len(harmed.broken) == 1 and reward(harmed) < 0.2, harm
    undone = Call("set_cellular_service_status", {"on": False})
    assert score(world, look, Call("set_cellular_service_status", {"on": True}), undone, answer).success


# Environments


@pytest.mark.parametrize("env", ENVS)
def test_a_skill_is_needed_where_an_expert_without_it_alone_fails(env: str) -> None:
    capability = registry.manifest(env).capability
    assert capability in SKILLS and capability in DESCRIPTIONS
    needed = Counter[int]()
    for scenario in registry.scenarios(env, "validate", 40):
        start = registry.start_episode(scenario).start
        assert isinstance(start, Assistant)
        lacking = {s for s in SKILLS if not played(start, start.serve(SKILLS - {s})).finish().success}
        assert start.needs() == lacking, scenario
        assert played(start, start.oracle()).finish().success, scenario
        needed[scenario.level] += capability in lacking
    assert all(1 <= needed[level] <= 9 for level in range(4)), needed


def test_there_is_an_environment_for_every_capability() -> None:
    assert {registry.manifest(env).capability for env in ENVS} == SKILLS == DESCRIPTIONS.keys()
    assert all(registry.gym_id(env) == f"trace/{env.replace('_', '-')}-v0" for env in ENVS)


@pytest.mark.parametrize("env", ENVS)
def test_refusing_whatever_is_asked_seldom_succeeds(env: str) -> None:
    """The exploits of validation refuse in general; these name what was asked for, and all that may be in the way."""
    refused_well = Counter[int]()
    for scenario in registry.scenarios(env, "validate", 240):
        start = registry.start_episode(scenario).start
        assert isinstance(start, Assistant)
        wish = " and ".join(r.wish for r in start.requests)
        words = [start.greeting and "What can I do for you?", f"I cannot {wish}, as low battery mode is on."]
        refused_well[scenario.level] += score(start, *(Say(w) for w in words if w)).success
    assert all(count <= 12 for count in refused_well.values()), refused_well


def test_what_decides_is_not_told() -> None:
    """The same words, with the phone in another state, need the skill or not."""
    seen: dict[str, set[bool]] = {}
    for env in ENVS:
        capability = registry.manifest(env).capability
        for scenario in registry.scenarios(env, "train", 300):
            episode = registry.start_episode(scenario)
            assert isinstance(episode.start, Assistant)
            words = re.sub(r"[A-Z]\w+|\d+|\"[^\"]*\"", "#", str(episode.messages[1]["content"]))
            seen.setdefault(f"{env} {words}", set()).add(capability in episode.start.needs())
    both = Counter(key.split()[0] for key, needs in seen.items() if len(needs) == 2)
    assert all(both[env] >= 5 for env in ENVS), both
