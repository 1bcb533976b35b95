"""Plans of the oracle in ordinary words: each change of words alone leaves the success within two points."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date

import pytest

from trace_gym import registry
from trace_gym.types import Call, Say, Scenario
from trace_gym.world import Step, World

SCENARIOS = 40
DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
REFUSAL = re.compile(r"\bI cannot (?P<what>[\w ]+?) (?P<record>#?\w+): ")

Rewrite = Callable[[World, Sequence[Step]], Sequence[Step]]


def message(change: Callable[[str], str]) -> Rewrite:
    """Return a rewrite that changes the text of each message."""
    return lambda world, plan: [Say(change(s.text)) if isinstance(s, Say) else s for s in plan]


def asks(question: str, about: str) -> Rewrite:
    """Return a rewrite that asks for a fact in other words."""
    return message(lambda text: question if text.endswith("?") and about in text else text)


def consents(question: str) -> Rewrite:
    return message(lambda text: text.replace("Shall I proceed?", question))


def refuses(words: str) -> Rewrite:
    """Return a rewrite of `I cannot cancel X: ...` in which `words` names the action and the record."""
    return message(lambda text: REFUSAL.sub(lambda m: words.format(**m.groupdict()), text))


def dates(form: str) -> Rewrite:
    def changed(match: re.Match[str]) -> str:
        on = date(*map(int, match.groups()))
        return form.format(on=on, day=on.day)

    return message(lambda text: DATE.sub(changed, text))


def reports(world: World, plan: Sequence[Step]) -> Iterator[Step]:
    """Report each write but the last one at once, and ask for consent to the next one."""
    kinds = world.interface().kinds
    writes = [s for s in plan if isinstance(s, Call) and kinds.get(s.tool) == "write"]
    for step in plan:
        yield step
        if step in writes[:-1]:
            done, follows = (next(iter(w.arguments.values())) for w in writes[writes.index(step) :][:2])
            yield Say(f"{done} has been updated. Next: {follows}. Would you like that?")


def fares(world: World, plan: Sequence[Step]) -> Iterator[Step]:
    """Quote what the flights of an upgrade cost, next to the refund of another part."""
    up = [s for s in plan if isinstance(s, Call) and s.tool == "update_reservation_flights"]
    for step in plan:
        if isinstance(step, Say) and "charged to" in step.text and up:
            leg = up[0].arguments["flights"][0]
            fare = world.flights[leg["flight_number"]]["dates"][leg["date"]]["prices"]["business"]  # type: ignore[attr-defined]
            step = Say(step.text.replace("Shall I", f"The business fare is {fare} dollars a person. Shall I"))
        yield step


def announces(world: World, plan: Sequence[Step]) -> Iterator[Step]:
    """Announce a hand-over in a message of its own before it is made."""
    for step in plan:
        if isinstance(step, Call) and step.tool == "transfer_to_human_agents":
            yield Say("I will transfer you to a human agent now. Please hold on.")
        yield step


IDENTITY = (
    "May I have your email?", "Could you tell me who you are?", "Please provide your email.", "And your name, please?",
    "Could I get the email address on your account?", "I just need to verify your identity first. What's your email?",
    "Who am I speaking with?", "Can you share your name and zip code with me?",
    "I\u2019ll need your email to look you up.",
    "Before we start, which email is the account under?",
)  # fmt: skip
REASON = (
    "Could you tell me why?", "May I ask why you would like to cancel?", "What's the reason?",
    "Why do you want to cancel?",
    "Could you share the reason for your cancellation?", "Please let me know why you need to cancel.",
    "Is there a particular reason for this?",
)  # fmt: skip
CONSENT = ("Would you like me to do this?", "Is that okay?", "Does that work for you?", "Do you want me to go ahead?")
REFUSALS = (
    "I can\u2019t {what} {record}: ", "I\u2019m not able to {what} {record}: ", "I won't be able to {what} {record}: ",
    "{record} does not qualify for that: ", "Unfortunately, I am unable to {what} {record}: ",
    "I'm afraid our rules don't allow me to {what} {record}: ",
)  # fmt: skip
DATES = ("{on:%B} {day}, {on:%Y}", "{on:%m/%d/%Y}", "{on:%Y-%m-%d}T03:30:00", "{day} {on:%B} {on:%Y}", "{on:%b} {day}")
STATUSES = {
    "it is pending (item modified)": "its items were already modified",
    "it is processed": "it has already been processed",
    "it is delivered": "it was delivered to you already",
    "it is return requested": "a return has been requested for it",
    "it is exchange requested": "an exchange was already requested for it",
    "it is cancelled": "it was already cancelled",
}


def statuses(text: str) -> str:
    for own, usual in STATUSES.items():
        text = text.replace(own, usual)
    return text


SINGLE, SEVERAL = ("tau2_precondition", "tau2_retail_precondition"), ("tau2_multi_step", "tau2_retail_multi_step")
DESKS = ("tau2_airline_desk", "tau2_retail_desk")
ROWS: dict[str, tuple[Sequence[str], list[Rewrite]]] = {
    "identity": (("tau2_retail_precondition", "tau2_retail_desk"), [asks(q, "email address") for q in IDENTITY]),
    "reason": (("tau2_precondition",), [asks(q, "reason") for q in REASON]),
    "consent": (SINGLE + SEVERAL + DESKS, [consents(q) for q in CONSENT]),
    "report with a question": (SEVERAL + DESKS, [lambda world, plan: list(reports(world, plan))]),
    "empathy": (SINGLE + SEVERAL + DESKS, [message(lambda text: f"I'm sorry to hear that. {text}")]),
    "refusal": (SINGLE + SEVERAL + DESKS, [refuses(words) for words in REFUSALS]),
    "booking date": (("tau2_precondition", "tau2_multi_step", "tau2_airline_desk"), [dates(form) for form in DATES]),
    "status": (("tau2_retail_precondition", "tau2_retail_multi_step", "tau2_retail_desk"), [message(statuses)]),
    "fare next to a refund": (("tau2_multi_step", "tau2_airline_desk"), [lambda world, plan: list(fares(world, plan))]),
    "announced hand-over": (("tau2_handover_judgement",), [lambda world, plan: list(announces(world, plan))]),
}
"""Change of words -> the environments whose oracle says such a thing, and wordings."""


def succeeds(scenario: Scenario, rewrite: Rewrite) -> tuple[bool, bool]:
    """Return whether the plan differs from the oracle's, and whether it succeeds."""
    episode = registry.start_episode(scenario)
    oracle: list[Step] = list(episode.world.copy().oracle())
    plan = list(rewrite(episode.world.copy(), oracle))
    for step in plan:
        if not episode.done:
            episode.step(step)
    return plan != oracle, episode.finish().success


@pytest.mark.parametrize(("env", "row"), [(env, row) for row, (envs, _) in ROWS.items() for env in envs])
def test_ordinary_words_cost_at_most_two_points(env: str, row: str) -> None:
    rewrites, tried = ROWS[row][1], 0
    for level in range(registry.level_count(env)):
        found = [
            succeeds(Scenario(env=env, level=level, seed=7000 + seed), rewrites[seed % len(rewrites)])
            for seed in range(SCENARIOS)
        ]
        changed = [success for differs, success in found if differs]
        tried += len(changed)
        assert sum(changed) >= 0.98 * len(changed), f"{env}/{level}: {sum(changed)} of {len(changed)}"
    assert tried
