"""A question for further wishes before the work, or next to a proposal, must not end the conversation."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.targets.dialogue import acts
from trace_gym.targets.dialogue.clarification import clarified
from trace_gym.targets.users.phrases import PROCEEDS, STARTS, consents
from trace_gym.types import Say

ENVS = (
    "tau2_adversarial_policy_compliance", "tau2_aggregation", "tau2_baggage_allowance", "tau2_claim_verification",
    "tau2_conditional_instructions", "tau2_itinerary_preservation", "tau2_multi_step", "tau2_retail_tool_precision",
)  # fmt: skip
PHONES = ("toolsandbox_insufficient_information", "toolsandbox_state_dependency")
AT_THE_PROPOSAL = (
    "Do you confirm, and is there anything else you would like to change?",
    "Would you like me to proceed? Also, is there anything else you need?",
    "Before I proceed, is there anything else you'd like to add or change?",
    "Shall I proceed, or is there anything else you would like to change first?",
    "Is there anything else you'd like to add, or should I go ahead?",
)
AT_FIRST = (
    "Sure, I can help with that! Is there anything else you'd like to add before I start?",
    "I can certainly help with that. Is there anything else you need today, or shall I get started?",
    "Before I proceed, is there anything else you would like to change?",
    "Understood. Let me know if there's anything else; otherwise I'll get started.",
    "Please note that this can only be done once. Before I proceed, are there any other items you'd like to exchange?",
    "Do you want to change any other items in this order?",
    "Is there anything else in this order you would like to change, or is it just this one?",
)
OFFERS = (
    "Can I do anything else for you?", "Shall I do anything else for you?", "May I look up something else?",
    "Would you like me to change anything else?", "Is there anything else you'd like me to do?",
)  # fmt: skip


def played(scenario: str, reworded: Callable[[str], str]) -> Episode:
    """Return the episode of the oracle's plan with reworded messages."""
    episode = registry.start_episode(scenario)
    for step in episode.world.copy().oracle():
        if not episode.done:
            episode.step(Say(reworded(step.text)) if isinstance(step, Say) else step)
    episode.finish()
    return episode


@pytest.mark.parametrize("question", AT_THE_PROPOSAL)
@pytest.mark.parametrize("env", ENVS)
def test_question_for_further_wishes_at_the_proposal_gets_consent(env: str, question: str) -> None:
    asked = 0
    for seed in range(8):
        episode = played(f"{env}/2/{seed}", lambda text: re.sub(r"Shall I proceed\?|Do you agree\?", question, text))
        asked += question in " ".join(episode.said)
        assert episode.score and episode.score.success and episode.score.conduct == 1.0, episode.messages[1:]
    assert asked


@pytest.mark.parametrize("said", AT_FIRST)
@pytest.mark.parametrize("env", [*ENVS, *PHONES])
def test_question_for_further_wishes_at_the_start_ends_nothing(env: str, said: str) -> None:
    for seed in range(4):
        episode = registry.start_episode(f"{env}/2/{seed}")
        episode.step(Say(said))
        assert not episode.done, episode.messages[1:]


@pytest.mark.parametrize("said", OFFERS)
def test_offer_of_further_help_is_no_proposal(said: str) -> None:
    assert [act.kind for act in clarified(acts(said))] == ["offer"]
    assert registry.start_episode("tau2_multi_step/2/0").world.reply(said) not in {*PROCEEDS, *STARTS, "Yes, please."}


@pytest.mark.parametrize("question", ["Before I start, is there anything else?", "Anything else before I proceed?"])
def test_question_for_further_wishes_does_not_agree_without_a_proposal(question: str) -> None:
    for seed in range(4):
        answer = registry.start_episode(f"tau2_multi_step/2/{seed}").world.reply(question)
        assert answer in STARTS and not consents(answer)


def test_report_with_an_offer_still_ends_the_conversation() -> None:
    for seed in range(4):
        episode = played(
            f"tau2_tool_precision/0/{seed}",
            lambda text: re.sub("All done.", "All done. Is there anything else, or is that all?", text),
        )
        assert episode.score and episode.score.success and not episode.truncated, episode.messages[1:]
