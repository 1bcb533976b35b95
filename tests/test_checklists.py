"""Checklists with verdicts, statuses in other words, and parts of trips that are past."""

from __future__ import annotations

import pytest

from trace_gym.statements import states_status
from trace_gym.targets.tau2.claims import booking_told, misinformed
from trace_gym.targets.tau2.concessions import concedes
from trace_gym.targets.tau2.retail_records import STATUSES

DAYS = [f"2024-05-{n:02d}" for n in range(1, 15)]
PLAIN = {"reservation_id": "ABC123", "insurance": "no", "cabin": "economy"}
INSURED = {**PLAIN, "insurance": "yes"}


@pytest.mark.parametrize(
    ("booking", "text"),
    (
        (PLAIN, "- Booked within 24 hours: No (May 3, 2024)\n- Business class: No (economy)\n- Insurance: No"),
        (
            PLAIN,
            "\u274c Within 24 hours? Booked on May 3\n\u274c Business class? It is economy\n\u274c Insurance? No",
        ),
        (
            PLAIN,
            "1. Within 24 hours of booking? \u274c (booked on May 3)\n2. Business? \u274c\n3. Insured? \u274c",
        ),
        (PLAIN, "| Booked < 24 h ago | No (May 3) |\n| Business class | No |\n| Insured | No |"),
        (INSURED, "| Booked within 24 hours | No (May 3) |\n| Insured with a covered reason | No |"),
        (
            INSURED,
            "- Booked in the last 24 hours: \u274c May 3\n- Travel insurance? Yes, but your reason isn't covered",
        ),
        (PLAIN, "Was it booked within 24 hours? No, on May 3. Is it business class? No, economy. Is it insured? No."),
    ),
)
def test_checklist_states_what_its_verdicts_say(booking: dict[str, str], text: str) -> None:
    said = [f"{text}\n\nSo I'm unable to cancel ABC123."]
    assert booking_told("2024-05-03", DAYS, said)
    assert not misinformed(booking, {"economy"}, ["ABC123"], said)


@pytest.mark.parametrize(
    ("booking", "text"),
    (
        (PLAIN, "- Business class: Yes"),
        (PLAIN, "- Business class? \u2705"),
        (PLAIN, "- Insurance: Yes"),
        (PLAIN, "- Travel insurance? Yes, but not for this reason"),
        (INSURED, "- Travel insurance? No"),
        (INSURED, "- Insurance: \u274c none"),
    ),
)
def test_false_verdict_of_a_checklist_misinforms(booking: dict[str, str], text: str) -> None:
    assert misinformed(booking, {"economy"}, ["ABC123"], [f"{text}\n\nSo I'm unable to cancel ABC123."])


@pytest.mark.parametrize(
    "verdict", ("No (May 4, 2024)", "Yes (May 3, 2024)", "No (May 3 or May 4)", "No (May 3, 4 or 5)")
)
def test_checklist_with_another_day_does_not_tell_the_day(verdict: str) -> None:
    assert not booking_told("2024-05-03", DAYS, [f"- Booked within 24 hours: {verdict}"])


@pytest.mark.parametrize(
    ("text", "promised"),
    (
        ("Part of it was already flown, which rules out any change.", False),
        ("Half of the trip has been used.", False),
        ("Part of it was refunded to you.", True),
        ("Half of the amount will be refunded.", True),
    ),
)
def test_part_of_a_trip_that_is_past_is_no_promise(text: str, promised: bool) -> None:
    assert concedes("ABC123", [text], {"ABC123"}, alone=True, refundable=False) is promised


@pytest.mark.parametrize(
    ("status", "text"),
    (
        ("pending (item modified)", "It's pending with its items already modified."),
        ("pending (item modified)", "Its status is pending with items modified."),
        ("pending (item modified)", "It has already had an item modification."),
        ("pending", "It's pending, and you want its items exchanged."),
        ("processed", "That isn't possible while it's only processed."),
    ),
)
def test_status_of_an_order_in_other_words(status: str, text: str) -> None:
    assert [s for s in STATUSES if states_status(s, [text], STATUSES)] == [status]
