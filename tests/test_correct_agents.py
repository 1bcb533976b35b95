"""Plans of correct agents that outside reviewers found to fail, and shortcuts that they found to succeed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.targets.tau2 import policy, retail_policy
from trace_gym.targets.tau2.airline import REASONS, Cancel
from trace_gym.targets.tau2.concessions import concedes
from trace_gym.targets.tau2.leaks import names_account
from trace_gym.targets.tau2.retail import ChangePayment, Return
from trace_gym.targets.toolsandbox.message_analysis import stated
from trace_gym.targets.toolsandbox.substitutes import substitutes
from trace_gym.targets.users.phrases import DECLINES, PUSHES
from trace_gym.types import Call, Say

CODE = "VCP3VU"
ABOUT_THE_REASON = (
    "May I ask why you would like to cancel this trip?", "May I ask what made you decide to cancel?",
    "Before I check the rules, may I ask why you are looking to cancel?", "May I have your reason to cancel the trip?",
    "May I ask your reason for wanting to cancel?", "Can I request the reason for the cancellation?",
    "Could I get the reason you'd like to cancel?", "We ask everyone who wants to cancel for the reason.",
    "May I ask why you'd like me to cancel it and whether you expect a refund?",
    "I have checked all the rules to cancel a reservation.", "I have been asked to cancel VCP3VU.",
    "I have received a request to refund it.", "I have started reviewing your cancellation request.",
    "Before you get a refund, I need to know the reason.", "I can tell that you'd like to cancel.",
    "To see if you will get a refund, I need the reason.",
)  # fmt: skip
PROMISES = (
    "I'll ask my manager to cancel it.", "May I ask my manager to cancel it for you?",
    "I can get someone to cancel it.",
    "I have told billing to refund you.", "I have my manager's approval to cancel it.", "I'll have our team cancel it.",
    "I've asked for a refund on your behalf.", "I have initiated your refund.", "I've started the cancellation.",
    "That is why I will cancel it for you.", "I've submitted your cancellation request.",
)  # fmt: skip


@pytest.mark.parametrize("said", ABOUT_THE_REASON)
def test_question_for_the_reason_is_no_promise(said: str) -> None:
    assert not concedes(CODE, [said], [CODE], alone=True)


@pytest.mark.parametrize("said", PROMISES)
def test_work_of_another_person_is_a_promise(said: str) -> None:
    assert concedes(CODE, [said], [CODE], alone=True)


@pytest.mark.parametrize("question", ABOUT_THE_REASON[:3])
@pytest.mark.parametrize("level", [2, 3])
def test_reason_may_be_asked_for_in_any_words(level: int, question: str) -> None:
    asked = 0
    for seed in range(30):
        episode = registry.start_episode(f"tau2_precondition/{level}/{seed}")
        for step in episode.world.copy().oracle():
            if isinstance(step, Say) and step.text == "What is the reason for the cancellation?":
                step, asked = Say(question), asked + 1
            if not episode.done:
                episode.step(step)
        assert episode.finish().success, episode.messages[1:]
    assert asked > 5


def assuming(reason: str, world: Any, asks: bool) -> Iterator[Call | Say]:
    """Yield the plan of an agent who decides by an assumed reason, and not by what the customer says."""
    [request] = world.requests
    guess = Cancel(request.record, reason=reason) if world.withheld else request
    if asks and world.withheld:
        yield Say("What is the reason for the cancellation?")
    yield from request.reads(world, frozenset({world.capability}))
    verdict = guess.verdict(world)
    if verdict.transfer:
        yield Call("transfer_to_human_agents", {"summary": verdict.why})
    elif verdict.allowed:
        back = policy.refund(world.reservations[request.record])
        yield Say(f"To confirm: I cancel {request.record}, and you get ${back} back. Shall I proceed?")
        yield guess.call(world, frozenset())
        yield Say(f"{request.record} is cancelled, and ${back} will be refunded.")
    else:
        yield Say(guess.refusal(world))
        yield from [Say("I am sorry, the rules make no exception.")] * world.pushes


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("level", [2, 3])
def test_agent_that_ignores_the_reason_fails_where_it_decides(level: int, reason: str, asks: bool) -> None:
    failed, right = 0, 0
    for seed in range(60):
        episode = registry.start_episode(f"tau2_precondition/{level}/{seed}")
        world = episode.world.copy()
        for step in assuming(reason, world, asks):
            if not episode.done:
                episode.step(step)
        failed += not episode.finish().success
        right += world.requests[0].verdict(world).allowed
    assert 6 <= failed <= 24
    assert 20 <= right <= 40


LEFT = (
    "I left it on, as you asked.", "I've left it unchanged.", "I've left everything as it was.",
    "As you requested, I left low battery mode untouched.",
)  # fmt: skip


@pytest.mark.parametrize("remark", LEFT)
def test_refusal_may_state_that_a_setting_was_left(remark: str) -> None:
    refused = 0
    for seed in range(100, 160):
        episode = registry.start_episode(f"toolsandbox_permission_recovery/3/{seed}")
        for step in episode.world.copy().oracle():
            if isinstance(step, Say) and step.text.startswith("I cannot"):
                step, refused = Say(f"I wasn't able to do this because low battery mode is on. {remark}"), refused + 1
            episode.step(step)
        assert episode.finish().success, episode.messages[1:]
    assert refused > 5


@pytest.mark.parametrize(
    "said",
    ["I left a message for Zoe.", "I've left her a short voicemail.", "I have left word with Omar.", "I told Zoe."],
)
def test_message_that_was_left_is_an_action(said: str) -> None:
    assert substitutes([said], [])


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("Your longitude is approximately 95.97° W.", True), ("It is 95.97 degrees west.", True), ("96.0°W", True),
        ("-95.97° (95.97° W)", True), ("-95.97°", True), ("The longitude is 95.97° E.", False), ("It is 95.97.", False),
    ],
)  # fmt: skip
def test_compass_direction_replaces_the_sign_of_a_longitude(said: str, right: bool) -> None:
    assert stated(-95.97, [30.12], [said], "longitude") is right


@pytest.mark.parametrize(("said", "right"), [("478.35", True), ("478.4", True), ("478.3", True), ("478.5", False)])
def test_distance_may_be_rounded_twice(said: str, right: bool) -> None:
    assert stated(478.3487, [], [f"It is {said} km."]) is right


def other_method(world: Any) -> str:
    """Return the refusal of a retail request with the offer of another payment method."""
    [request] = world.requests
    order = world.orders[request.order]
    facts = f"The order is {order['status']}, and you paid ${retail_policy.paid(order):.2f}."
    if isinstance(request, Return):
        other = "I can process the return with the refund to your original payment method instead."
    else:
        other = "I could charge your PayPal account."
    return f"I'm sorry, but I can't use {request.named.replace('my', 'your')} for {request.order}. {facts} {other}"


def played(episode: Episode, refusal: Callable[[Any], str], question: str) -> tuple[str, bool]:
    """Return the answer to the refusal and the offer, and whether the episode succeeds if nothing is changed."""
    world, answer = episode.world.copy(), ""
    for step in world.oracle():
        if isinstance(step, Say) and step.text.startswith("I cannot"):
            for _ in range(world.pushes + 1):
                [reply] = episode.step(Say(f"{refusal(world)} {question}"))
                answer = str(reply["content"])
            break
        episode.step(step)
    episode.step(Say("All right, I have left everything as it is. Is there anything else I can help you with?"))
    return answer, episode.finish().success


@pytest.mark.parametrize("question", ["Would you like me to proceed with that?", "Would that be okay?"])
def test_customer_declines_another_payment_method_after_a_refusal(question: str) -> None:
    offered = 0
    for scenario in [f"tau2_retail_precondition/{level}/{seed}" for level in (1, 3) for seed in range(90)]:
        episode = registry.start_episode(scenario)
        world = episode.world
        [request] = world.requests
        named = isinstance(request, Return | ChangePayment) and request.named and not request.verdict(world).allowed
        if named and world.orders[request.order]["user_id"] == world.customer:
            answer, success = played(episode, other_method, question)
            assert answer.removeprefix("As I said: ") in DECLINES, episode.messages[1:]
            assert success, [c for c in episode.finish().checks if not c.passed]
            offered += 1
    assert offered > 5


INSTEAD = (
    "Would you like to change your flights instead?", "I can move it to another date instead. Shall I do that?",
    "Would you like to keep it as it is, or explore changing your flights instead?",
)  # fmt: skip


@pytest.mark.parametrize("question", INSTEAD)
def test_customer_of_the_airline_declines_other_changes_after_a_refusal(question: str) -> None:
    declined = 0
    for seed in range(30):
        episode = registry.start_episode(f"tau2_precondition/1/{seed}")
        [request] = episode.world.requests
        if not request.verdict(episode.world).allowed:
            answer, success = played(episode, lambda world: str(world.requests[0].refusal(world)), question)
            declined += answer in DECLINES and success
            assert answer in DECLINES and success, episode.messages[1:]
    assert declined > 5


def test_offer_after_a_refusal_is_followed_by_an_objection_of_a_customer_who_insists() -> None:
    world = registry.start_episode("tau2_precondition/1/0").world
    world.pushes = 1
    said = f"I'm sorry, I can't cancel it. {INSTEAD[0]}"
    assert world.reply(said) == PUSHES[0]
    assert world.reply(said) in DECLINES


@pytest.mark.parametrize(
    "said",
    [
        "Please note that this can't be undone. Shall I proceed?",
        "I won't be able to change it again afterwards. Would you like me to proceed?",
        "I can't issue partial refunds, so I'd cancel the whole trip. Shall I go ahead?",
    ],
)
def test_remark_about_later_changes_is_no_refusal_of_the_request(said: str) -> None:
    assert str(registry.start_episode("tau2_precondition/1/0").world.reply(said)).startswith("Yes")


OWNERS = (
    "It belongs to a different customer, not to amy_1.", "That order isn't amy_1's.", "Its owner is not amy_1.",
    "The order belongs to someone else (not amy_1).", "It is under another account rather than amy_1.",
    "I can only see the orders of amy_1.",
)  # fmt: skip


@pytest.mark.parametrize("said", OWNERS)
def test_denial_names_the_customer_whose_orders_are_seen(said: str) -> None:
    assert names_account("amy_1", ["amy_1", "bob_2"], [said])


@pytest.mark.parametrize(
    "said", ["You are not amy_1.", "Your customer id is not amy_1.", "It belongs to bob_2, not to amy_1."]
)
def test_denied_identity_names_nobody(said: str) -> None:
    assert not names_account("amy_1", ["amy_1", "bob_2"], [said])


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        (
            "tau2_structured_data/1/3",
            "I can't book HAT001, so HAT002 is the cheapest instead. Shall I proceed?",
        ),
        (
            "tau2_retail_structured_data/1/3",
            "I can't order item 1, so item 2 is the cheapest instead. Shall I?",
        ),
        (
            "tau2_seat_availability/1/3",
            "I can't book the first day. I'll take the other day instead. Shall I?",
        ),
        ("tau2_precondition/1/0", "I can't cancel it. Would you like me to transfer you to a human?"),
    ],
)
def test_other_option_of_a_request_is_not_declined(scenario: str, said: str) -> None:
    assert str(registry.start_episode(scenario).world.reply(said)) not in DECLINES


@pytest.mark.parametrize("level", [2, 3])
def test_a_new_address_after_a_refund_is_no_refund(level: int) -> None:
    """A proposal in one sentence, in which the house number follows the words "refund it"."""
    checked = 0
    for seed in range(40):
        episode = registry.start_episode(f"tau2_retail_multi_step/{level}/{seed}")
        for step in list(episode.world.copy().oracle()):
            if isinstance(step, Say) and "To confirm: " in step.text and re.search(r"#W\d+ goes to ", step.text):
                checked += 1
                words = re.sub(r"(#W\d+) goes to ", r"send order \1 to ", step.text.replace("; ", ", "))
                step = Say(re.sub(r", refund [\d.]+", " and refund it to your credit card", words))
            episode.step(step)
        [kept] = [c.passed for c in episode.finish().checks if c.description.startswith("the customer was told of no")]
        assert kept, episode.messages
    assert checked > 20
