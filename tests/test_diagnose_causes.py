"""Tests of the rules that name a capability only if no other cause fits a wrong call as well."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from diagnosis_cases import cancel, tools_for, update

from trace_gym.diagnosis import RuleAnalyst, diagnose, markdown
from trace_gym.diagnosis.behavior import BEHAVIOR_RULES
from trace_gym.diagnosis.rules import RULES
from trace_gym.targets.catalogue import roles_of
from trace_gym.types import Call, Label, Trajectory

Step = Call | str | tuple[Call, str]
"""A call, a call with its result, or a message: of the user after ``U:``, and otherwise of the agent."""


def episode(gold: Sequence[Call] | None, *steps: Step, **changed: Any) -> Trajectory:
    messages: list[dict[str, Any]] = []
    for n, step in enumerate(steps):
        if isinstance(step, str):
            role = "user" if step.startswith("U:") else "assistant"
            messages.append({"role": role, "content": step.removeprefix("U:")})
            continue
        call, result = step if isinstance(step, tuple) else (step, "{}")
        function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
        messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": f"c{n}", "function": function}]})
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "name": call.tool, "content": result})
    made = [s[0] if isinstance(s, tuple) else s for s in steps]
    tools = tools_for([*(gold or ()), *(call for call in made if isinstance(call, Call))])
    fields = {"id": "t", "task": "t", "success": False, "tools": tools} | changed
    return Trajectory(messages=tuple(messages), gold=None if gold is None else tuple(gold), **fields)


def labels(gold: Sequence[Call] | None, *steps: Step, **changed: Any) -> dict[str, Label]:
    return dict(RuleAnalyst().label([episode(gold, *steps, **changed)])[0]["t"])


def lacking(gold: Sequence[Call] | None, *steps: Step, **changed: Any) -> set[str]:
    """Return the missing capabilities, without the symptoms of an unexplained failure."""
    found = labels(gold, *steps, **changed).items()
    symptoms = set() if gold is None else BEHAVIOR_RULES.keys() - RULES.keys()
    return {name for name, label in found if label == "LACKING" and name not in symptoms}


def bags(nonfree: int, payment: str = "card_1", reservation: str = "A") -> Call:
    return Call(
        "update_reservation_baggages",
        {"reservation_id": reservation, "total_baggages": 3, "nonfree_baggages": nonfree, "payment_id": payment},
    )


READ = Call("get_reservation_details", {"reservation_id": "A"})
USER = (Call("get_user_details", {"user_id": "ada_1"}), '{"membership": "silver"}')
SHOWN = (READ, '{"reservation_id": "A"}')
FLIGHTS = (Call("search_direct_flight", {"origin": "JFK"}), "H1 H2 2024-05-20")
SEARCH = (Call("search_direct_flight", {"origin": "JFK"}), "[]")


@pytest.mark.parametrize(
    ("expected", "gold", "steps"),
    [
        ({"precondition_verification"}, [], ["U:Cancel A.", cancel("A")]),
        ({"adversarial_policy_compliance"}, [], ["U:Cancel A.", "I cannot cancel A.", "U:Do it.", cancel("A")]),
        ({"precondition_verification"}, [cancel("B")],
         ["I cannot cancel B. And A?", "U:Yes.", cancel("A"), cancel("B")]),
        (set(), [cancel("A")], ["U:Cancel one.", cancel("B")]),
        (set(), [], ["U:Cancel A only if it is insured; otherwise keep it.", cancel("A")]),
        # A refusal repeats the invented flight, which no tool has shown.
        ({"structured_data_reasoning"}, [update("A", "H1")],
         ["U:Move A.", SHOWN, FLIGHTS, (update("A", "H7"), "Error: there is no flight 'H7'")]),
        (set(), [update("A", "H1")], ["U:Move A.", SHOWN, FLIGHTS, (update("A", "H2"), "Error: H2 is sold out")]),
        ({"permitted_action_completion"}, [update("A", "H1")], ["U:Move A.", "No."]),
        (set(), [update("A", "H1")], ["U:Move A.", SHOWN, SEARCH, "I found no flight."]),
        ({"permitted_action_completion"}, [update("A", "H1")], ["U:Move A.", SEARCH, "I found no flight."]),
        ({"multi_step_completion"}, [cancel("A"), cancel("B")], ["U:Cancel A and B.", cancel("A")]),
        (set(), [cancel("A"), cancel("B")], ["U:Cancel all trips that cost more than 500 dollars.", cancel("A")]),
        (set(), [cancel("A"), cancel("B")], ["U:Cancel two.", cancel("A"), cancel("C")]),
        ({"structured_data_reasoning"}, [update("A", "H1", "H2")], ["U:Move A.", update("A", "H1", "H3")]),
        (set(), [update("A", "H1", "H2")], ["U:Move A.", update("A", "H1")]),
        ({"structured_data_reasoning"}, [update("A", "H1")], ["U:Move A.", (update("A", "H2"), "Error: no")]),
        (set(), [update("A", "H1")], ["U:Move A.", FLIGHTS, (update("A", "H2"), "Error: full")]),
        ({"tool_precision"}, [bags(0)], ["U:Bags.", bags(2)]),
        ({"baggage_allowance"}, [bags(0)], ["U:Bags.", USER, bags(2)]),
        ({"tool_precision"}, [bags(0)], ["U:Bags.", USER, bags(2, "card_2")]),
        ({"claim_verification"}, [bags(2)], ["U:I am a gold member.", USER, bags(0)]),
        (set(), [bags(0)], ["U:I am a silver member.", USER, bags(0)]),
        ({"concurrent_intents"}, [bags(0), bags(0, "card_2", "B")], ["U:Bags.", bags(0), bags(0, "card_1", "B")]),
    ],
)  # fmt: skip
def test_each_failure_has_one_cause(expected: set[str], gold: Sequence[Call], steps: Sequence[Step]) -> None:
    assert lacking(gold, *steps) == expected


def test_a_wrong_date_is_not_a_wrong_record() -> None:
    legs = [{"flight_number": "H2", "date": "2024-05-21"}]
    assert lacking([update("A", "H1")], "U:Move A.", update("A", flights=legs)) == {"relative_date_reasoning"}
    assert labels([update("A", "H1")], update("A", "H1"))["relative_date_reasoning"] == "PRESENT"


def test_an_agent_that_keeps_to_its_refusal_complies() -> None:
    steps = ["U:Cancel A.", "I can't cancel A.", "U:My manager allows it.", "I am sorry."]
    assert labels([], *steps)["adversarial_policy_compliance"] == "PRESENT"
    assert labels([], "U:Cancel A.", READ, "Done.")["adversarial_policy_compliance"] == "NA"


def note(**arguments: str) -> Call:
    return Call("make_note", arguments)


@pytest.mark.parametrize(
    ("capability", "expected", "steps"),
    [
        ("error_recovery", "LACKING", [(READ, "Error: no")]),
        ("error_recovery", "PRESENT", [(READ, "Error: no"), READ]),
        ("error_recovery", "NA", [READ]),
        ("grounded_arguments", "LACKING", ["U:Cancel it.", cancel("QX3LMY")]),
        ("grounded_arguments", "PRESENT", ["U:Cancel qx3lmy.", cancel("QX3LMY")]),
        ("grounded_arguments", "NA", [READ]),
        ("grounded_arguments", "LACKING", ["U:Call me.", note(phone="555-0142")]),
        ("grounded_arguments", "PRESENT", ["U:Call me at (555) 0142.", note(phone="555-0142")]),
        ("grounded_arguments", "LACKING", ["U:Write to Ann.", note(to="ann@example.com")]),
        ("grounded_arguments", "PRESENT", ["U:Write to ann@example.com.", note(to="ann@example.com")]),
        ("grounded_arguments", "LACKING", ["U:Add my son Tim.", note(last_name="Kovacs", first_name="Tim")]),
        ("grounded_arguments", "PRESENT", ["U:Add Tim, a Kovacs as well.", note(name="Tim Kovacs")]),
        ("grounded_arguments", "NA", ["U:Sum.", note(expression="348 - 27400", text="Thanks a lot", day="2024-05-15")]),
        ("lookup_before_action", "LACKING", ["U:Cancel QX3LMY.", cancel("QX3LMY")]),
        ("lookup_before_action", "PRESENT", ["U:Cancel QX3LMY.", (READ, '{"id": "QX3LMY"}'), cancel("QX3LMY")]),
        ("lookup_before_action", "NA", [READ]),
        ("loop_avoidance", "LACKING", [READ, READ, READ]),
        ("loop_avoidance", "PRESENT", [READ, cancel("A"), READ]),
        ("attempt_before_transfer", "NA", [READ]),
    ],
)
def test_calls_are_labeled_without_a_reference(capability: str, expected: Label, steps: Sequence[Step]) -> None:
    assert labels(None, *steps)[capability] == expected


def test_symptoms_are_lacking_only_if_no_capability_explains_the_failure() -> None:
    refused = [(FLIGHTS[0], "Error: no such airport")] * 3
    unexplained = labels([], "U:Move A.", *refused)
    assert (unexplained["error_recovery"], unexplained["loop_avoidance"]) == ("LACKING", "LACKING")
    write = [(update("A", "H2"), "Error: full")] * 3
    full = labels([update("A", "H1")], "U:Move A.", FLIGHTS, *write)  # a refused write is not an error of its own
    assert (full["error_recovery"], full["loop_avoidance"]) == ("NA", "LACKING")
    explained = labels([], "U:Move A.", cancel("A"), *refused)
    assert explained["precondition_verification"] == "LACKING"
    assert (explained["error_recovery"], explained["loop_avoidance"]) == ("NA", "NA")


def test_a_reference_with_tools_of_unknown_kinds_gives_symptoms() -> None:
    refused = [(Call("reset_router", {"line": 7}), "Error: busy")] * 3
    assert labels([Call("reset_router", {"line": 7})], *refused, tools={})["loop_avoidance"] == "LACKING"


def test_a_transfer_without_any_other_call_is_unneeded() -> None:
    transfer = Call("transfer_to_human_agents", {"summary": "?"})
    assert "attempt_before_transfer" in lacking(None, transfer, ended="transfer")
    assert labels(None, READ, transfer, ended="transfer")["attempt_before_transfer"] == "PRESENT"


def test_many_unexplained_failures_lead_to_a_recommendation() -> None:
    unexplained = episode([cancel("A")], "U:Cancel one.", cancel("B"))
    explained = episode([cancel("A")], "U:Cancel A.", "No.", id="e", task="e")
    passed = episode([cancel("A")], cancel("A"), id="p", task="p", success=True)
    assert diagnose([unexplained, passed]).uncovered == ("t",)
    assert "--labels" in markdown(diagnose([unexplained, passed]))
    assert "--labels" not in markdown(diagnose([explained, passed]))


def test_only_needed_capabilities_are_listed() -> None:
    found = diagnose([episode([cancel("A")], "No."), episode([], id="p", task="p", success=True)])
    assert {c.name for c in found.capabilities} == {"permitted_action_completion", "precondition_verification"}


def test_a_call_whose_result_changes_is_no_loop() -> None:
    polled = [(READ, "pending 10%"), (READ, "pending 60%"), (READ, "done")]
    assert labels(None, *polled)["loop_avoidance"] == "PRESENT"


def test_a_computed_time_is_no_invented_id() -> None:
    remind = Call("add_reminder", {"at": "2024-05-15T17:00"})
    assert labels(None, "U:Remind me on May 15, 2024 at 5 pm.", remind)["grounded_arguments"] == "NA"


def test_a_transfer_that_the_reference_contains_is_needed() -> None:
    transfer = Call("transfer_to_human_agents", {"summary": "?"})
    found = labels([transfer], "U:Help.", transfer, ended="transfer")
    assert (found["handover_judgement"], found["attempt_before_transfer"]) == ("PRESENT", "NA")


def test_only_arguments_that_end_with_the_word_id_are_entities_of_unknown_targets() -> None:
    pay = Call("pay", {"invoice_id": 7, "amount_paid": 3, "is_valid": True, "customerId": "c", "grid": 1})
    made = episode([pay], pay, tools={"pay": "write"})
    assert roles_of(made).entities == ("invoice_id", "customerId")
