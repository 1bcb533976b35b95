"""Each label both ways on small episodes, planted deficits found again, and the recorded episodes."""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from trace_gym.diagnose import Diagnosis, RuleAnalyst, diagnose, markdown, render
from trace_gym.diagnose.compare import canonical, contrast
from trace_gym.diagnose.rules import RULES
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError
from trace_gym.rollout import trajectory
from trace_gym.targets.results import read_results
from trace_gym.targets.tau2.results import KINDS
from trace_gym.types import Call, Label, Scenario, Trajectory

REAL = Path(__file__).parents[2] / "shared" / "data" / "tau_bench_airline_gpt4o.json.gz"
needs_real = pytest.mark.skipif(not REAL.exists(), reason="the 100 recorded gpt-4o episodes are not at ../shared/data")

TOOLS = KINDS["airline"] | KINDS["retail"]


def cancel(reservation: str) -> Call:
    return Call("cancel_reservation", {"reservation_id": reservation})


def update(reservation: str, *flights: str, **changed: Any) -> Call:
    legs = [{"flight_number": f, "date": "2024-05-20"} for f in flights]
    return Call(
        "update_reservation_flights",
        {"reservation_id": reservation, "cabin": "economy", "flights": legs, "payment_id": "card_1"} | changed,
    )


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


class Refused(Call):
    """A call that the tool does not accept."""


def refused(call: Call) -> Call:
    return Refused(call.tool, call.arguments)


def episode(
    gold: Sequence[Call] | None,
    *steps: Call | str,
    success: bool | None = False,
    outputs: Sequence[str] = (),
    name: str = "t/0",
    task: str = "",
) -> Trajectory:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Hello."}]
    for n, step in enumerate(steps):
        if isinstance(step, str):
            messages.append({"role": "assistant", "content": step})
            continue
        function = {"name": step.tool, "arguments": json.dumps(step.arguments)}
        messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": f"c{n}", "function": function}]})
        answer = "Error: no" if isinstance(step, Refused) else "{}"
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "name": step.tool, "content": answer})
    return Trajectory(
        id=name,
        task=task or name,
        messages=tuple(messages),
        success=success,
        gold=None if gold is None else tuple(gold),
        outputs=tuple(outputs),
        tools=TOOLS,
    )


def label(capability: str, gold: Sequence[Call], *steps: Call | str, outputs: Sequence[str] = ()) -> Label:
    return RuleAnalyst().label([episode(gold, *steps, outputs=outputs)])["t/0"][capability]


READ = Call("get_reservation_details", {"reservation_id": "A"})
CASES: list[tuple[str, Label, Sequence[Call], Sequence[Call | str]]] = [
    # precondition_verification
    ("precondition_verification", "LACKING", [], [cancel("A")]),
    ("precondition_verification", "LACKING", [cancel("A")], [cancel("A"), cancel("B")]),
    ("precondition_verification", "LACKING", [cancel("A")], [cancel("B")]),
    ("precondition_verification", "LACKING", [bags("A")], [update("A", "HAT1"), bags("A")]),
    ("precondition_verification", "LACKING", [book()], [book(), book("Bob")]),
    ("precondition_verification", "PRESENT", [READ], [READ, "That is not possible."]),
    ("precondition_verification", "PRESENT", [], [refused(cancel("A"))]),
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
    for name in RULES.keys() - {"information_communication"}:
        assert {(name, e) for e in ("NA", "PRESENT", "LACKING")} <= tested


def test_information_communication_reads_what_was_said() -> None:
    name = "information_communication"
    assert label(name, [], "You saved $23,553.", outputs=["23553"]) == "PRESENT"
    assert label(name, [], "You saved $10,519.", outputs=["23553"]) == "LACKING"
    assert label(name, [], "You own 4 cards.", outputs=["4", "9"]) == "LACKING"
    assert label(name, [], "Hello.") == "NA"
    user_said_it = episode([], outputs=["Hello."])
    assert RuleAnalyst().label([user_said_it])["t/0"][name] == "LACKING", "only what the agent said counts"


@pytest.mark.parametrize("success", [True, False, None])
def test_labels_are_blind_to_the_outcome(success: bool | None) -> None:
    analyst = RuleAnalyst()
    for _, _, gold, steps in CASES:
        seen = analyst.label([episode(gold, *steps, success=success)])
        assert seen == analyst.label([episode(gold, *steps)])


def test_fields_that_the_reference_leaves_out_of_a_record_do_not_count() -> None:
    legs = [{"flight_number": "HAT1", "date": "2024-05-20", "origin": "EWR", "price": 3}]
    assert label("structured_data_reasoning", [update("A", "HAT1")], update("A", flights=legs)) == "PRESENT"
    legs[0]["date"] = "2024-05-21"
    assert label("structured_data_reasoning", [update("A", "HAT1")], update("A", flights=legs)) == "LACKING"


@pytest.mark.parametrize("arguments", ["{oops", "null", "[1]", '"A"'])
def test_unreadable_arguments_are_a_refused_attempt_at_nothing(arguments: str) -> None:
    broken = episode([cancel("A")])
    calls = [{"id": "c", "function": {"name": "cancel_reservation", "arguments": arguments}}]
    broken = broken.model_copy(update={"messages": (*broken.messages, {"role": "assistant", "tool_calls": calls})})
    labels = RuleAnalyst().label([broken])["t/0"]
    assert labels["permitted_action_completion"] == "NA"
    assert labels["precondition_verification"] == "NA"


def test_pairs_keep_the_order_of_the_reference() -> None:
    seen = contrast(episode([cancel("B"), bags("A"), cancel("A")], cancel("A")))
    assert seen is not None
    assert [p.gold for p in seen.pairs] == [cancel("B"), bags("A"), cancel("A")]
    assert [p.done is not None for p in seen.pairs] == [False, False, True]


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


# ---- selection


def group(success: bool, **counts: int) -> list[Trajectory]:
    """Episodes on reservation changes: wrong flights (lacking), right ones (present), none needed (na)."""
    made = {
        "lacking": ([update("A", "HAT1")], [update("A", "HAT2")]),
        "present": ([update("A", "HAT1")], [update("A", "HAT1")]),
        "na": ([cancel("A")], [cancel("A")]),
    }
    outcome = "passed" if success else "failed"
    return [
        episode(made[kind][0], *made[kind][1], success=success, name=f"{outcome}/{kind}/{n}")
        for kind, count in counts.items()
        for n in range(count)
    ]


def structured(found: Diagnosis) -> Any:
    return next(c for c in found.capabilities if c.name == "structured_data_reasoning")


def test_the_figures_are_those_of_the_paper() -> None:
    found = diagnose(group(False, lacking=6, present=2, na=12) + group(True, lacking=1, present=9, na=10))
    capability = structured(found)
    assert (capability.er_failed, capability.er_passed, capability.coverage) == (6 / 8, 1 / 10, 6 / 20)
    assert capability.gap == pytest.approx(0.65)
    assert capability.gap_interval == pytest.approx(
        (0.1933, 0.8465), abs=1e-4
    )  # Wilson 0.4093-0.9285 and 0.0179-0.4042
    assert capability.retained
    assert capability.labels == {
        "lacking_failed": 6, "present_failed": 2, "na_failed": 12,
        "lacking_passed": 1, "present_passed": 9, "na_passed": 10,
    }  # fmt: skip
    assert (found.n, found.failed, found.passed, found.unscored) == (40, 20, 20, 0)
    assert [c.coverage for c in found.capabilities] == sorted((c.coverage for c in found.capabilities), reverse=True)
    assert len(found.uncovered) == 14


def test_thresholds_are_reached_by_equality_and_missed_below() -> None:
    passed = group(True, present=10)
    assert structured(diagnose(group(False, lacking=2, present=8) + passed)).retained
    found = diagnose(group(False, lacking=1, present=9) + passed)
    assert not structured(found).retained
    assert found.remarks["structured_data_reasoning"] == "gap 0.10 is below 0.20"
    found = diagnose(group(False, lacking=1, na=11) + passed)
    assert structured(found).gap == 1.0
    assert not structured(found).retained
    assert found.remarks["structured_data_reasoning"] == "coverage 0.08 is below 0.10"
    assert structured(diagnose(group(False, lacking=1, na=11) + passed, rho=0.05)).retained


def test_a_missing_denominator_is_missing_and_not_zero() -> None:
    capability = structured(found := diagnose(group(False, na=5) + group(True, present=5)))
    assert (capability.er_failed, capability.er_passed, capability.gap, capability.gap_interval) == (
        None,
        0.0,
        None,
        None,
    )
    assert found.remarks[capability.name] == "no failed trajectory needs it"
    assert found.control[capability.name].p is None


@pytest.mark.parametrize(
    ("others", "retained", "says"),
    [(0, True, "kept on its coverage alone"), (12, True, "kept on"), (13, False, "coverage 0.19 alone is below 0.20")],
)
def test_a_total_deficit_is_judged_by_its_coverage(others: int, retained: bool, says: str) -> None:
    capability = structured(found := diagnose(group(False, lacking=3, na=others) + group(True, na=9)))
    assert (capability.er_passed, capability.gap, capability.retained) == (None, None, retained)
    assert found.remarks[capability.name].startswith("no successful trajectory needs it")
    assert says in found.remarks[capability.name]


def test_nothing_is_retained_when_nothing_passed() -> None:
    found = diagnose(group(False, lacking=9))
    assert not found.retained
    assert "nothing passed" in found.remarks["structured_data_reasoning"]


def test_nothing_is_diagnosed_when_nothing_failed() -> None:
    found = diagnose(group(True, present=3))
    assert (found.capabilities, found.uncovered, found.control) == ((), (), {})
    assert "nothing to diagnose" in markdown(found)


def test_evidence_is_ranked_by_clarity_and_contrast_by_task() -> None:
    clear = episode([update("A", "HAT1")], update("A", "HAT2"), "Bye.", name="clear", task="7")
    mixed = episode([update("A", "HAT1"), cancel("B")], update("A", "HAT2"), name="mixed", task="8")
    other = episode([update("A", "HAT1")], update("A", "HAT1"), success=True, name="a", task="9")
    twin = episode([update("A", "HAT1")], "Sure.", update("A", "HAT1"), success=True, name="b", task="7")
    capability = structured(diagnose([mixed, clear, other, twin]))
    assert capability.evidence == ("clear", "mixed")
    assert capability.contrast == ("b", "a")


def test_unscored_and_unlabelled_episodes_are_counted_apart() -> None:
    unknown = episode(None, cancel("A"), name="no-reference")
    foreign = episode([cancel("A")], cancel("A"), name="no-kinds").model_copy(update={"tools": {}})
    unscored = episode([], cancel("A"), success=None, name="unscored")
    found = diagnose([unknown, foreign, unscored, *group(False, lacking=1), *group(True, present=1)])
    assert (found.n, found.failed, found.passed, found.unscored) == (5, 3, 1, 1)
    assert found.unlabelled == ("no-reference", "no-kinds")
    assert set(found.labels["no-reference"].values()) == {"NA"}
    assert found.labels["unscored"]["precondition_verification"] == "LACKING"
    assert found.uncovered == ()
    assert next(c for c in found.capabilities if c.name == "precondition_verification").coverage == 0


def test_shuffled_outcomes_leave_no_gap() -> None:
    trajectories = group(False, lacking=20, present=5, na=15) + group(True, present=25, na=15)
    control = diagnose(trajectories).control["structured_data_reasoning"]
    assert control.mean == pytest.approx(0, abs=0.02)
    assert control.high is not None
    assert 0.1 < control.high < 0.4
    assert control.p == pytest.approx(1 / 1001)
    assert diagnose(trajectories) == diagnose(trajectories)
    assert diagnose(trajectories, seed=1).control != diagnose(trajectories).control
    assert diagnose(trajectories, permutations=0).control["structured_data_reasoning"].mean is None


def test_trials_of_a_task_are_shuffled_together() -> None:
    """A gap that comes from two tasks alone is no evidence, however often each of them was tried."""
    failed = [t.model_copy(update={"task": "hard"}) for t in group(False, lacking=20)]
    passed = [t.model_copy(update={"task": "easy"}) for t in group(True, present=20)]
    control = diagnose(failed + passed).control["structured_data_reasoning"]
    assert control.p == pytest.approx(0.5, abs=0.06)
    assert control.mean == pytest.approx(0, abs=0.12)


def test_another_analyst_can_label() -> None:
    class Coin:
        name = "coin"
        descriptions: Mapping[str, str] = {"luck": "Be lucky."}

        def label(self, trajectories: Sequence[Trajectory]) -> dict[str, dict[str, Label]]:
            return {
                t.id: {"luck": "PRESENT" if t.success else "LACKING"} for t in trajectories if t.id != "failed/na/0"
            }

    found = diagnose(group(False, na=4) + group(True, na=4), analyst=Coin())
    assert (found.analyst, found.unlabelled) == ("coin", ("failed/na/0",))
    assert [(c.name, c.description, c.gap, c.coverage, c.analyst) for c in found.retained] == [
        ("luck", "Be lucky.", 1.0, 0.75, "coin")
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"delta": 1.5}, "delta must lie between 0 and 1"),
        ({"rho": -0.1}, "rho must lie between 0 and 1"),
        ({"permutations": -1}, "permutations must not be negative"),
        ({"analyst": "oracle"}, "there is no analyst 'oracle'; give 'rules'"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        diagnose(group(False, na=1), **options)


def test_repeated_ids_are_refused() -> None:
    with pytest.raises(ConfigError, match="1 trajectory ids occur more than once, 'failed/na/0' first"):
        diagnose(group(False, na=1) * 2)


def test_a_diagnosis_survives_json() -> None:
    found = diagnose(group(False, lacking=3, na=2) + group(True, present=3))
    assert Diagnosis.model_validate_json(found.model_dump_json()) == found


def test_tables_show_the_figures_and_no_markup_of_others() -> None:
    odd = group(False, lacking=3, na=2)
    odd[0] = odd[0].model_copy(update={"id": "a|b[red]", "source": "[bold]log"})
    found = diagnose(odd + group(True, present=3))
    text = markdown(found)
    assert "| structured_data_reasoning | 0.60 | 1.00 (3/3) | 0.00 (0/3) | 1.00 (0.21 to 1.00) |" in text
    assert "a\\|b[red]" in text
    out = io.StringIO()
    Console(file=out, width=200).print(render(found))
    for shown in ("structured_data_reasoning", "1.00 (3/3)", "a|b[red]", "[bold]log: 5 failed, 3 passed"):
        assert shown in out.getvalue()


# ---- planted deficits: the scripted expert without one capability, on problems of our own

PLANTED = ("multi_step_completion", "precondition_verification", "structured_data_reasoning", "tool_precision")


def planted(env: str, missing: str, seeds: int) -> list[Trajectory]:
    module = importlib.import_module(f"trace_gym.generated_envs.{env}")
    world: Any = next(w for w in vars(module).values() if getattr(w, "id", "") == env)
    made = []
    for level in world.levels:
        for seed in range(seeds):
            played = Episode(world, Scenario(env=env, level=level, seed=seed))
            for step in world.serve(played.world.copy(), frozenset(PLANTED) - {missing}):
                if not played.done:
                    played.step(step)
            played.finish()
            made.append(trajectory(played))
    return made


@pytest.mark.parametrize("missing", PLANTED)
def test_a_planted_deficit_is_the_one_that_is_found(missing: str) -> None:
    found = diagnose(planted("tau2_airline_desk", missing, seeds=40))
    counts = {c.name: c.labels["lacking_failed"] + c.labels["lacking_passed"] for c in found.capabilities}
    assert counts.pop(missing) > 0
    # An expert who serves the first request only may have nothing to write for it: a stalled request, to the rules.
    stalled = counts.pop("permitted_action_completion")
    assert stalled == 0 or missing == "multi_step_completion"
    assert not any(counts.values())


def test_the_whole_expert_lacks_nothing() -> None:
    labels = RuleAnalyst().label(planted("tau2_airline_desk", "", seeds=20))
    assert not [(i, name) for i, given in labels.items() for name, value in given.items() if value == "LACKING"]


# ---- the recorded episodes


@needs_real
def test_recorded_episodes_carry_the_labels_that_reading_them_gives() -> None:
    """Read by hand, messages against reference: what each failed episode lacks."""
    labels = diagnose(read_results(REAL)).labels
    by_hand = {
        "airline/0/0": {"tool_precision"},  # pays for a bag that is free
        "airline/2/0": {"multi_step_completion", "information_communication"},  # two of five downgrades, wrong total
        "airline/2/1": set(),  # all done and told; ran out of turns
        "airline/4/0": {"multi_step_completion", "tool_precision"},  # upgrade on the card, nothing else
        "airline/6/1": {"structured_data_reasoning"},  # a dearer connection
        "airline/7/1": {"permitted_action_completion"},  # asks for an id that it could look up, to the end
        "airline/10/0": {"multi_step_completion", "tool_precision"},  # books with a bag too many, never cancels
        "airline/11/1": {"tool_precision"},  # round trip instead of one way, certificate instead of card
        "airline/13/0": {"precondition_verification"},  # moves a trip to another city
        "airline/19/0": {"structured_data_reasoning", "tool_precision"},  # wrong day; a bag for free
        "airline/22/0": {"multi_step_completion"},  # upgrade and change in one write instead of two
        "airline/25/0": {"precondition_verification", "tool_precision"},  # forbidden cancellation, invented birthday
        "airline/26/1": {"precondition_verification", "tool_precision"},  # one cancellation too many, another card
        "airline/28/1": {"precondition_verification"},  # two cancellations too many
        "airline/30/0": {"permitted_action_completion"},  # refuses a business cancellation and hands over
        "airline/33/1": {"precondition_verification", "multi_step_completion"},
        "airline/43/1": {"permitted_action_completion"},  # refuses a name change that is allowed
        "airline/44/1": {"information_communication"},  # believes the customer to be a gold member
    }
    assert {i: {name for name, v in labels[i].items() if v == "LACKING"} for i in by_hand} == by_hand


@needs_real
def test_recorded_episodes_support_the_capabilities_of_the_paper() -> None:
    found = diagnose(read_results(REAL))
    assert (found.failed, found.passed, found.unlabelled, found.uncovered) == (57, 43, (), ("airline/2/1",))
    assert set(PLANTED) <= {c.name for c in found.retained}
    assert found.capabilities[0].name == "precondition_verification"
    for capability in found.capabilities:
        control = found.control[capability.name]
        assert control.mean == pytest.approx(0, abs=0.04)
        assert control.p is not None
        assert control.p < 0.05
