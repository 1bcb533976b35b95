"""Tests of the rules for targets whose tools depend on settings: labels, and selection of planted deficits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from diagnosis_cases import Refused, episode

from trace_gym import registry
from trace_gym.diagnosis import RuleAnalyst, diagnose
from trace_gym.episode import plan
from trace_gym.targets.catalogue import target
from trace_gym.trajectories import trajectory
from trace_gym.types import Call, Label, Scenario, Trajectory

KINDS = target("toolsandbox").interface.kinds
PRICE = Call("search_stock", {"query": "Mirabrook"})


def wifi(on: bool) -> Call:
    return Call("set_wifi_status", {"on": on})


def remind(at: float, **changed: Any) -> Call:
    return Call("add_reminder", {"content": "pay the rent", "reminder_timestamp": at} | changed)


def text(number: str) -> Call:
    return Call("send_message_with_phone_number", {"phone_number": number, "content": "Hi"})


def refused(call: Call) -> Call:
    return Refused(call.tool, call.arguments)


CASES: list[tuple[str, Label, Sequence[Call], Sequence[Call | str]]] = [
    ("datetime_reasoning", "LACKING", [remind(5.0)], [remind(6.0)]),
    ("datetime_reasoning", "PRESENT", [remind(5.0)], [remind(5)]),
    ("datetime_reasoning", "NA", [text("+1")], [text("+1")]),
    ("tool_precision", "PRESENT", [remind(5.0)], [remind(6.0)]),  # the time is not a value to copy
    ("permission_error_recovery", "LACKING", [wifi(True)], [refused(PRICE), "Wifi is off."]),
    ("permission_error_recovery", "PRESENT", [wifi(True)], [refused(PRICE), wifi(True), PRICE]),
    ("permission_error_recovery", "NA", [wifi(True)], [wifi(True), PRICE]),
    ("permission_error_recovery", "NA", [], [refused(PRICE)]),
    ("state_dependency_resolution", "LACKING", [wifi(True), wifi(False)], [wifi(True), PRICE]),
    ("state_dependency_resolution", "PRESENT", [wifi(True), wifi(False)], [wifi(True), PRICE, wifi(False)]),
    ("state_dependency_resolution", "NA", [wifi(True)], [refused(PRICE)]),
    ("state_dependency_resolution", "NA", [], [PRICE]),
    ("multi_step_completion", "NA", [wifi(True), text("+1"), remind(5.0)], [remind(5.0), refused(text("+1"))]),
    ("insufficient_information", "LACKING", [], [text("+1")]),
    ("insufficient_information", "LACKING", [text("+2")], [text("+1")]),
    ("insufficient_information", "PRESENT", [text("+2")], ["Which Lucia?", text("+2")]),
    ("insufficient_information", "PRESENT", [], ["Which Lucia do you mean?"]),
    ("insufficient_information", "NA", [text("+2")], ["What can I do for you?", text("+2")]),
    ("structured_data_reasoning", "NA", [text("+2")], [text("+1")]),
    ("structured_data_reasoning", "LACKING", [text("+2")], ["Which Lucia?", text("+1")]),
    ("precondition_verification", "NA", [], [text("+1")]),
]


def labels(found: Trajectory) -> dict[str, Label]:
    return RuleAnalyst().label([found])[0][found.id]


@pytest.mark.parametrize(("capability", "expected", "gold", "steps"), CASES)
def test_labels(capability: str, expected: Label, gold: Sequence[Call], steps: Sequence[Call | str]) -> None:
    request = "Remind me tomorrow." if capability == "datetime_reasoning" else "Hello."
    assert labels(episode(gold, *steps, tools=KINDS, request=request))[capability] == expected


def test_a_time_that_the_user_did_not_state_is_a_guess() -> None:
    found = labels(episode([remind(5.0)], remind(6.0), tools=KINDS, request="Remind me to pay the rent."))
    assert found["insufficient_information"] == "LACKING"
    assert found["datetime_reasoning"] == "NA"


def test_a_number_after_an_empty_result_is_a_guess() -> None:
    def price(answer: str, told: str) -> Trajectory:
        found = episode([], PRICE, told, tools=KINDS)
        messages = [{**m, "content": answer} if m["role"] == "tool" else m for m in found.messages]
        return found.model_copy(update={"messages": tuple(messages)})

    assert labels(price("null", "It costs 100."))["insufficient_information"] == "LACKING"
    assert labels(price("null", "There is no price."))["insufficient_information"] == "NA"
    assert labels(price('{"price": 100}', "It costs 100."))["insufficient_information"] == "NA"


def agent(env: str, count: int) -> list[Trajectory]:
    """Return trajectories of an agent that lacks the capability of an environment in every second scenario."""
    made = []
    for seed in range(count):
        found = registry.start_episode(Scenario(env=env, level=seed % 4, seed=seed))
        for step in plan(found, "ablated" if seed // 4 % 2 else "oracle"):
            if not found.done:
                found.step(step)
        found.finish()
        made.append(trajectory(found))
    return made


@pytest.mark.parametrize(
    "env",
    [
        "toolsandbox_datetime",
        "toolsandbox_insufficient_information",
        "toolsandbox_permission_recovery",
        "toolsandbox_state_dependency",
        "tau2_multi_step",
        "tau2_precondition",
        "tau2_structured_data",
        "tau2_tool_precision",
    ],
)
def test_a_planted_deficit_is_selected_and_no_other(env: str) -> None:
    assert [c.name for c in diagnose(agent(env, 120)).selected] == [registry.manifest(env).capability]
