"""Tests of the retail target's verifier, of the balance of its problems, and of domain variants."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import gymnasium
import pytest
from retail_desk import (
    ANOTHERS,
    AWAY,
    BLUE,
    CARD,
    DELIVERED,
    ENVS,
    GIFT,
    ME,
    MODIFIED,
    OTHER,
    PAYPAL,
    PENDING,
    PROCESSED,
    RED,
    SMALL,
    TALL,
    order,
    shop,
)

from trace_gym import registry
from trace_gym.domains import domains, in_domain
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.score import reward
from trace_gym.targets.tau2.retail import (
    SKILLS,
    CancelOrder,
    ChangeAddress,
    ChangePayment,
    ExchangeItems,
    RetailDesk,
    Return,
)
from trace_gym.types import Call, Say, Scenario, Score

# Verifier


def judged(world: RetailDesk, *steps: Call | Say) -> Score:
    """The score of steps that are taken in a world; a refusal ends the test."""

    class Fixed(RetailDesk):
        id = "fixed"

        @classmethod
        def generate(cls, rng: Random, level: int) -> Any:
            return world.copy()

    episode = Episode(Fixed, Scenario(env="fixed", level=0, seed=0))
    for step in steps:
        answers = episode.step(step)
        assert not answers or not str(answers[-1]["content"]).startswith("Error"), answers
    return episode.finish()


def cancel(key: str = PENDING, reason: str = "no longer needed") -> Call:
    return Call("cancel_pending_order", {"order_id": key, "reason": reason})


def move(key: str = PENDING, **changes: str) -> Call:
    return Call("modify_pending_order_address", {"order_id": key, **AWAY, **changes})


def send_back(*items: str, method: str = CARD) -> Call:
    arguments = {"order_id": DELIVERED, "item_ids": [*items], "payment_method_id": method}
    return Call("return_delivered_order_items", arguments)


PROMISE = Say(f"To confirm: cancel {PENDING}, refund 84.50. Shall I proceed?")


def test_an_allowed_cancellation_with_its_refund_succeeds() -> None:
    world = shop(CancelOrder(PENDING))
    assert judged(world, PROMISE, cancel(), Say("All done.")).success
    assert reward(judged(world, cancel(), Say("All done."))) == 0.25 * 0.8  # not looked up, and not asked
    assert judged(world, PROMISE, Say("All done.")).progress == 0.0
    wrong = judged(world, PROMISE, cancel(reason="ordered by mistake"))
    assert (wrong.success, wrong.progress) == (False, 1.0) and wrong.broken
    stray = judged(world, PROMISE, cancel(), move(MODIFIED))
    assert stray.broken == ("no order changed in a way that was not asked for",)


@pytest.mark.parametrize("told", ["84.50", "84.5", "$84.50", "84.50 dollars", "84.50, of which 24.25 and 60.25"])
def test_an_amount_may_be_told_in_several_ways(told: str) -> None:
    assert judged(shop(CancelOrder(PENDING)), Say(f"Refund {told}. Shall I proceed?"), cancel()).success


@pytest.mark.parametrize(
    "told", ["85", "184.50", "84.501", "84.50 or 28.75", " ".join(f"{n / 4:.2f}" for n in range(2000))]
)
def test_a_wrong_amount_and_every_amount_are_not_the_one(told: str) -> None:
    score = judged(shop(CancelOrder(PENDING)), Say(f"Refund {told}. Shall I proceed?"), cancel())
    assert (score.success, score.progress) == (False, 0.5)


def test_a_refusal_counts_with_the_status_and_the_amount() -> None:
    world = shop(CancelOrder(PROCESSED))
    assert judged(world, Say(f"I cannot cancel {PROCESSED}: only pending ones; it is processed, 84.50 paid.")).success
    for words in ("", " It is processed.", " You paid 84.50.", " It is processed, 84.50 or 28.75 paid."):
        assert judged(world, Say(f"I cannot cancel that.{words}")).progress == 0.5, words
    assert judged(world, Say("It is processed, 84.50 paid.")).progress == 0.0


def test_of_anothers_order_only_the_customers_own_id_is_told() -> None:
    world = shop(CancelOrder(ANOTHERS))
    assert judged(world, Say(f"I cannot cancel {ANOTHERS}: it is not among the orders of {ME}.")).success
    assert judged(world, Say(f"I cannot cancel it, it belongs to {OTHER} and not to {ME}.")).progress == 0.5
    assert judged(world, Say("I cannot cancel it: it is pending, 84.50 paid.")).progress == 0.5
    assert judged(world, Say(f"I cannot cancel it, 84.50 was paid and not by {ME}.")).progress == 0.5
    own = shop(CancelOrder(ANOTHERS), CancelOrder(PENDING))  # the amount is that of an order of hers as well
    refusal = Say(f"I cannot cancel {ANOTHERS}: it is not among the orders of {ME}. {PROMISE.text}")
    assert judged(own, refusal, cancel()).success
    assert reward(judged(world, PROMISE, cancel(ANOTHERS))) == 0.0


def test_an_address_must_be_right_in_every_part() -> None:
    world = shop(ChangeAddress(PENDING, address=AWAY))
    assert judged(world, move()).success
    near = judged(world, move(zip="78751"))
    assert (near.success, near.progress) == (False, 0.5)
    profile = Call("modify_user_address", {"user_id": ME, **AWAY})
    assert judged(world, profile).broken == ("no profile changed in a way that was not asked for",)


def test_a_payment_must_be_on_the_method_that_was_named() -> None:
    world = shop(ChangePayment(PENDING, GIFT, "my gift card"))
    charge = Call("modify_pending_order_payment", {"order_id": PENDING, "payment_method_id": GIFT})
    assert judged(world, charge).success
    wrong = judged(world, Call(charge.tool, {**charge.arguments, "payment_method_id": PAYPAL}))
    assert (wrong.success, wrong.progress) == (False, 0.5) and wrong.broken


def test_a_return_must_hold_all_items_at_once_and_the_right_refund() -> None:
    world = shop(Return(DELIVERED, GIFT, "my gift card", items=[RED, SMALL]))
    promise = Say("You get 84.50. Shall I proceed?")
    assert judged(world, promise, send_back(SMALL, RED, method=GIFT)).success
    assert judged(world, promise, send_back(RED, method=GIFT)).progress == 0.5
    assert judged(world, promise, send_back(SMALL, RED)).progress == 0.75
    assert judged(world, send_back(SMALL, RED, method=GIFT)).progress == 0.75


@pytest.mark.parametrize("key", [PENDING, DELIVERED])
def test_a_swap_must_take_the_cheapest_that_fits(key: str) -> None:
    world = shop(ExchangeItems(key, CARD, items=[SMALL]))
    [call] = [s for s in world.oracle() if isinstance(s, Call) and s.tool.endswith("order_items")]
    assert call.arguments["new_item_ids"] == ["2000000003"]  # the cheapest of all is sold out
    assert judged(world, call).success
    dear = judged(world, Call(call.tool, {**call.arguments, "new_item_ids": [TALL]}))
    assert 0 < dear.progress < 1 and not dear.success
    wished = shop(ExchangeItems(key, CARD, items=[SMALL], wish={"lid": "none"}))
    assert judged(wished, Call(call.tool, {**call.arguments, "new_item_ids": [TALL]})).success
    first = next(s for s in wished.serve(frozenset()) if isinstance(s, Call) and s.tool == call.tool)
    assert first.arguments["new_item_ids"] == [TALL]  # without the skill it is the first other one listed


def test_of_two_items_of_a_product_the_one_that_is_meant_goes_back() -> None:
    world = shop(Return(DELIVERED, CARD, items=[BLUE]))
    world.orders[DELIVERED] = order(DELIVERED, "delivered", items=(RED, BLUE))
    assert "the Mug whose color is blue of order" in world.requests[0].asked(world)
    assert world.requests[0].call(world, SKILLS) == send_back(BLUE)
    assert world.requests[0].call(world, SKILLS - {"tool_precision"}) == send_back(RED)


# Balance


@pytest.mark.parametrize("level", range(4))
def test_half_of_the_requests_are_allowed(level: int) -> None:
    world = registry.load_world("tau2_retail_precondition")
    made = [world.generate(Random(f"balance/{level}/{seed}"), level) for seed in range(400)]
    verdicts = [r.verdict(m).allowed for m in made for r in m.requests]  # type: ignore[attr-defined]
    assert 0.42 < sum(verdicts) / len(verdicts) < 0.58


def test_every_near_miss_occurs() -> None:
    world = registry.load_world("tau2_retail_precondition")
    seen: Counter[str] = Counter()
    for level in world.levels:
        for seed in range(200):
            made = world.generate(Random(f"near/{level}/{seed}"), level)
            [request] = made.requests  # type: ignore[attr-defined]
            seen[request.verdict(made).why.partition(";")[0].partition(",")[0].partition(" of ")[0]] += 1
    kinds = {"allowed", "another method paid for it", "it is not among the orders", "the balance is too low"}
    kinds |= {"the reason is not accepted", "it is pending (item modified)", "it is processed", "it is delivered"}
    assert seen.keys() >= kinds | {"it is exchange requested", "it is return requested"} and min(seen.values()) >= 8


@pytest.mark.parametrize("level", range(4))
def test_who_acts_and_refuses_where_a_tool_does_gains_little(level: int) -> None:
    """Of what the rules forbid, the tools refuse the smaller part; the rest has to be found out before."""
    env, seeds = "tau2_retail_precondition", range(60)
    solved = sum(_by_trying(Scenario(env=env, level=level, seed=seed)) for seed in seeds)
    assert solved < 0.7 * len(seeds)


def _by_trying(scenario: Scenario) -> bool:
    skills = SKILLS - {"precondition_verification"}
    episode = registry.start_episode(scenario)
    start = episode.start
    assert isinstance(start, RetailDesk)
    [request] = start.requests
    for step in (*start.begins(skills), *request.reads(start, skills)):
        episode.step(step)
    episode.step(Say(f"To confirm: {request.offer(start, skills)}. Shall I proceed?"))
    [answer] = episode.step(request.call(start, skills))
    if answer["content"].startswith("Error"):
        episode.step(Say(request.refusal(start)))
    return episode.finish().success


@pytest.mark.parametrize("env", ENVS)
def test_a_skill_is_needed_where_an_expert_without_it_alone_fails(env: str) -> None:
    for scenario in registry.scenarios(env, "validate", 24):
        start = registry.start_episode(scenario).start
        assert isinstance(start, RetailDesk)
        assert start.needs() == {s for s in SKILLS if not _succeeds(scenario, SKILLS - {s})}, scenario


def _succeeds(scenario: Scenario, skills: frozenset[str]) -> bool:
    episode = registry.start_episode(scenario)
    assert isinstance(episode.start, RetailDesk)
    for step in episode.start.serve(skills):
        if episode.done:
            break
        episode.step(step)
    return episode.finish().success


# Domains


def test_an_environment_plays_in_the_domain_that_is_named() -> None:
    parts = {}
    for domain in (None, *domains()):
        env = gymnasium.make("trace/tau2-precondition-v0", domain=domain)
        infos = [env.reset(seed=seed)[1] for seed in range(24)]
        parts[domain] = {i["part"] for i in infos}
        for info in infos:  # the same part again, with its own tools
            assert env.reset(seed=int(info["scenario"].rpartition("/")[2]))[1]["part"] == info["part"]
            tools = {t["function"]["name"] for t in info["tools"]}
            assert ("get_order_details" in tools) is (info["part"] == "tau2_retail_precondition")
    airline, retail = {"tau2_precondition"}, {"tau2_retail_precondition"}
    assert parts == {None: airline, "airline": airline, "retail": retail, "mixed": airline | retail}


def test_every_environment_of_tau2_is_there_in_every_domain() -> None:
    skills = ("precondition", "multi_step", "structured_data", "tool_precision", "mixture")
    for name in (*(f"tau2_{s}" for s in skills), "tau2_airline_desk"):
        stem = name.removeprefix("tau2_").removeprefix("airline_")
        there = {d: in_domain(name, d) for d in domains()}
        assert there == {"airline": name, "retail": f"tau2_retail_{stem}", "mixed": f"tau2_{stem}_mixed"}
        assert all(in_domain(other, d) == n for other in there.values() for d, n in there.items())
        parts = registry.mixture(there["mixed"]).mixture
        assert {registry.manifest(p).target for p in parts} == {"tau2_airline", "tau2_retail"}


def test_an_unknown_domain_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="unknown domain: found 'telecom', expected one of airline, retail, mixed"):
        gymnasium.make("trace/tau2-precondition-v0", domain="telecom")
    with pytest.raises(EnvNotFound, match="library_loans"):
        in_domain("library_loans", "retail")
