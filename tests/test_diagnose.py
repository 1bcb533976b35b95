"""Tests of the diagnosis: the rules analyst's labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from diagnosis_cases import Refused, cancel, episode, update
from hypothesis import given
from hypothesis import strategies as st

from trace_gym.diagnosis import RuleAnalyst
from trace_gym.diagnosis.reference import canonical, compare_with_reference
from trace_gym.types import Call, Label


def bags(reservation: str, total: int = 2, **changed: Any) -> Call:
    return Call(
        "update_reservation_baggages",
        {"reservation_id": reservation, "total_baggages": total, "nonfree_baggages": 0, "payment_id": "card_1"}
        | changed,
    )


def book(name: str = "Ada", *flights: str, **changed: Any) -> Call:
    legs = [{"flight_number": f, "date": "2024-05-20"} for f in flights or ("HAT001",)]
    return Call(
        "book_reservation",
        {
            "user_id": "ada_1",
            "flights": legs,
            "cabin": "economy",
            "passengers": [{"first_name": name}],
            "payment_methods": [{"payment_id": "card_1", "amount": 200}],
        }
        | changed,
    )


def exchange(new: Sequence[str], **changed: Any) -> Call:
    return Call(
        "exchange_delivered_order_items",
        {"order_id": "#W1", "item_ids": ["11", "12"], "new_item_ids": list(new), "payment_method_id": "paypal_1"}
        | changed,
    )


def certificate(amount: float) -> Call:
    return Call("send_certificate", {"user_id": "ada_1", "amount": amount})


def refused(call: Call) -> Call:
    return Refused(call.tool, call.arguments)


def label(capability: str, gold: Sequence[Call], *steps: Call | str, outputs: Sequence[str] = ()) -> Label:
    return RuleAnalyst().label([episode(gold, *steps, outputs=outputs)])[0]["t/0"][capability]


READ = Call("get_reservation_details", {"reservation_id": "A"})
READ_B = Call("get_reservation_details", {"reservation_id": "B"})
TRANSFER = Call("transfer_to_human_agents", {"summary": "More is to be done."})


CASES: list[tuple[str, Label, Sequence[Call], Sequence[Call | str]]] = [
    # precondition_verification
    ("precondition_verification", "LACKING", [], [cancel("A")]),
    ("precondition_verification", "LACKING", [cancel("A")], [cancel("A"), cancel("B")]),
    ("precondition_verification", "NA", [cancel("A")], [cancel("B")]),  # the wrong record, not a forbidden action
    ("precondition_verification", "LACKING", [bags("A")], [update("A", "HAT1"), bags("A")]),
    ("precondition_verification", "LACKING", [book()], [book(), book("Bob")]),
    ("precondition_verification", "PRESENT", [READ], [READ, "That is not possible."]),
    ("precondition_verification", "PRESENT", [], [refused(cancel("A"))]),  # no tool has shown the reservation
    ("precondition_verification", "LACKING", [], [READ, refused(cancel("A"))]),
    ("precondition_verification", "PRESENT", [], [READ, refused(cancel("AB"))]),
    ("precondition_verification", "PRESENT", [cancel("A")], [cancel("A")]),
    ("precondition_verification", "PRESENT", [update("A", "HAT1")], [update("A", "HAT9"), update("A", "HAT1")]),
    ("precondition_verification", "NA", [book()], [book()]),
    ("precondition_verification", "NA", [cancel("A")], ["I need the reservation id."]),
    # permitted_action_completion
    ("permitted_action_completion", "LACKING", [cancel("A")], [READ, "That is not possible."]),
    ("permitted_action_completion", "PRESENT", [cancel("A")], [cancel("A")]),
    ("permitted_action_completion", "PRESENT", [cancel("A")], [refused(cancel("A"))]),
    ("permitted_action_completion", "NA", [cancel("A")], [cancel("B")]),
    ("permitted_action_completion", "NA", [READ], ["That is not possible."]),
    # lookup_before_action
    ("lookup_before_action", "PRESENT", [cancel("A")], [READ, cancel("A")]),
    ("lookup_before_action", "PRESENT", [cancel("A")], [READ, refused(cancel("A"))]),
    ("lookup_before_action", "LACKING", [cancel("A")], [refused(cancel("A"))]),
    ("lookup_before_action", "LACKING", [cancel("A")], [refused(READ), refused(cancel("A"))]),
    ("lookup_before_action", "LACKING", [cancel("A")], [refused(cancel("A")), READ]),  # too late
    ("lookup_before_action", "LACKING", [cancel("A")], [READ_B, refused(cancel("A"))]),  # another record
    ("lookup_before_action", "NA", [cancel("A")], [cancel("A")]),  # accepted without a lookup
    ("lookup_before_action", "NA", [], [cancel("A")]),
    ("lookup_before_action", "LACKING", [cancel("A")], ["What is the number of the reservation?"]),
    ("lookup_before_action", "NA", [cancel("A")], ["That is not possible."]),
    ("lookup_before_action", "PRESENT", [cancel("A"), book()], [READ, "Which flight do you want?"]),
    ("lookup_before_action", "NA", [cancel("A")], [READ_B, cancel("B")]),  # acted on another record
    # an early end
    ("multi_step_completion", "LACKING", [cancel("A"), cancel("B")], [READ, cancel("A"), TRANSFER]),
    ("multi_step_completion", "LACKING", [cancel("A"), cancel("B")], [READ, cancel("A"), "Goodbye."]),
    ("permitted_action_completion", "LACKING", [cancel("A"), cancel("B")], [READ, TRANSFER]),
    # handover_judgement
    ("handover_judgement", "LACKING", [TRANSFER], [READ, cancel("A")]),
    ("handover_judgement", "LACKING", [TRANSFER], [READ, "That is not possible."]),
    ("handover_judgement", "LACKING", [TRANSFER], [READ, refused(TRANSFER)]),
    ("handover_judgement", "PRESENT", [TRANSFER], [READ, TRANSFER]),
    ("handover_judgement", "LACKING", [], [READ, TRANSFER]),
    ("handover_judgement", "NA", [], [READ, "That is not possible."]),
    ("handover_judgement", "NA", [cancel("A")], [READ, TRANSFER]),
    ("precondition_verification", "NA", [TRANSFER], [READ, cancel("A")]),
    ("precondition_verification", "LACKING", [TRANSFER], [READ, cancel("A"), TRANSFER]),
    # multi_step_completion
    ("multi_step_completion", "LACKING", [cancel("A"), cancel("B")], [cancel("A")]),
    ("multi_step_completion", "LACKING", [update("A", "HAT1"), bags("A")], [refused(update("A", "HAT1"))]),
    ("multi_step_completion", "LACKING", [book("Ada"), book("Bob")], [book("Bob")]),
    ("multi_step_completion", "LACKING", [book("Ada"), book("Bob")], [refused(book("Bob")), book("Bob")]),
    ("multi_step_completion", "LACKING", [update("A", "HAT1"), update("A", "HAT2")], [update("A", "HAT2")]),
    ("multi_step_completion", "PRESENT", [cancel("A"), cancel("B")], [cancel("B"), cancel("A")]),
    ("multi_step_completion", "PRESENT", [book("Ada"), book("Bob")], [book("Bob"), book("Cyd")]),
    ("multi_step_completion", "NA", [cancel("A"), cancel("B")], ["That is not possible."]),
    ("multi_step_completion", "NA", [READ, cancel("A")], [cancel("A")]),
    # structured_data_reasoning
    ("structured_data_reasoning", "LACKING", [update("A", "HAT1", "HAT2")], [update("A", "HAT1", "HAT3")]),
    ("structured_data_reasoning", "LACKING", [update("A", "HAT1")], [update("A", "HAT1", cabin="business")]),
    ("structured_data_reasoning", "LACKING", [update("A", "HAT1")], [refused(update("A", "HAT2"))]),
    ("structured_data_reasoning", "LACKING", [exchange(["21", "22"])], [exchange(["21", "23"])]),
    ("structured_data_reasoning", "PRESENT", [exchange(["21", "22"])], [exchange(["22", "21"], payment_method_id="x")]),
    ("structured_data_reasoning", "PRESENT", [update("A", "HAT1", "HAT2")], [update("A", "HAT2", "HAT1")]),
    ("structured_data_reasoning", "PRESENT", [update("A", "H1")], [refused(update("A", "H2")), update("A", "H1")]),
    ("structured_data_reasoning", "NA", [cancel("A"), bags("A")], [cancel("A"), bags("A", 7)]),
    ("structured_data_reasoning", "NA", [update("A", "HAT1")], [cancel("A")]),
    # tool_precision
    ("tool_precision", "LACKING", [update("A", "HAT1")], [update("A", "HAT1", payment_id="card_2")]),
    ("tool_precision", "LACKING", [bags("A", 2)], [bags("A", 3)]),
    ("tool_precision", "LACKING", [certificate(150)], [certificate(100)]),
    ("tool_precision", "LACKING", [book()], [book(payment_methods=[{"payment_id": "card_1", "amount": 199}])]),
    ("tool_precision", "LACKING", [book()], [refused(book("Ada", "HAT9", payment_methods=[]))]),
    ("tool_precision", "LACKING", [bags("A")], [bags("A"), cancel("A"), bags("A", 5)]),
    ("tool_precision", "PRESENT", [bags("A", 2)], [refused(bags("A", 3)), bags("A", 2)]),
    ("tool_precision", "PRESENT", [certificate(150)], [certificate(150.0)]),
    ("tool_precision", "NA", [update("A", "HAT1")], [update("A", "HAT2", payment_id="card_2")]),
    ("tool_precision", "NA", [cancel("A")], [cancel("A")]),
]  # fmt: skip


@pytest.mark.parametrize(("capability", "expected", "gold", "steps"), CASES)
def test_labels(capability: str, expected: Label, gold: Sequence[Call], steps: Sequence[Call | str]) -> None:
    assert label(capability, gold, *steps) == expected


def test_every_rule_is_tested_for_all_three_labels() -> None:
    tested = {(capability, expected) for capability, expected, _, _ in CASES}
    for name in {capability for capability, *_ in CASES}:
        assert {(name, e) for e in ("NA", "PRESENT", "LACKING")} <= tested


def test_information_communication_reads_what_was_said() -> None:
    name = "information_communication"
    assert label(name, [], "You saved $23,553.", outputs=["23553"]) == "PRESENT"
    assert label(name, [], "You saved $10,519.", outputs=["23553"]) == "LACKING"
    assert label(name, [], "You own 4 cards.", outputs=["4", "9"]) == "LACKING"
    assert label(name, [], "Hello.") == "NA"
    user_said_it = episode([], outputs=["Hello."])
    assert RuleAnalyst().label([user_said_it])[0]["t/0"][name] == "LACKING", "only what the agent said counts"


@pytest.mark.parametrize("success", [True, False, None])
def test_labels_are_blind_to_the_outcome(success: bool | None) -> None:
    analyst = RuleAnalyst()
    for _, _, gold, steps in CASES:
        seen = analyst.label([episode(gold, *steps, success=success)])
        assert seen == analyst.label([episode(gold, *steps)])


def test_fields_that_the_reference_leaves_out_of_a_record_do_not_count() -> None:
    legs = [{"flight_number": "HAT1", "date": "2024-05-20", "origin": "EWR", "price": 3}]
    assert label("structured_data_reasoning", [update("A", "HAT1")], update("A", flights=legs)) == "PRESENT"
    legs[0]["flight_number"] = "HAT2"
    assert label("structured_data_reasoning", [update("A", "HAT1")], update("A", flights=legs)) == "LACKING"


@pytest.mark.parametrize("arguments", ["{oops", "null", "[1]", '"A"'])
def test_unreadable_arguments_are_a_refused_attempt_at_nothing(arguments: str) -> None:
    broken = episode([cancel("A")])
    calls = [{"id": "c", "function": {"name": "cancel_reservation", "arguments": arguments}}]
    broken = broken.model_copy(update={"messages": (*broken.messages, {"role": "assistant", "tool_calls": calls})})
    labels = RuleAnalyst().label([broken])[0]["t/0"]
    assert labels["permitted_action_completion"] == "NA"
    assert labels["precondition_verification"] == "NA"


def test_pairs_keep_the_order_of_the_reference() -> None:
    seen = compare_with_reference(episode([cancel("B"), bags("A"), cancel("A")], cancel("A")))
    assert seen is not None
    assert [p.gold for p in seen.pairs] == [cancel("B"), bags("A"), cancel("A")]
    assert [p.attempt is not None for p in seen.pairs] == [False, False, True]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(json_values, st.randoms(use_true_random=False))
def test_canonical_ignores_order_and_nothing_else_twice(value: Any, random: Any) -> None:
    def shuffled(v: Any) -> Any:
        if isinstance(v, list):
            return random.sample([shuffled(x) for x in v], len(v))
        return {k: shuffled(v[k]) for k in random.sample(list(v), len(v))} if isinstance(v, dict) else v

    assert canonical(shuffled(value)) == canonical(value)
    assert canonical(canonical(value)) == canonical(value)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (5, 5.0, True),
        ("5", 5, True),
        (" yes ", "yes", True),
        ({"a": 1, "b": None}, {"a": 1}, True),
        ("07302", "7302", False),
        (True, 1, True),  # JSON writers disagree on flags
        ("12345678901234567890", "12345678901234567891", False),
        (["a", "b"], ["a", "a"], False),
        ("1e3", 1000, False),
    ],
)
def test_canonical_knows_numbers_from_names(one: Any, other: Any, same: bool) -> None:
    assert (canonical(one) == canonical(other)) is same
