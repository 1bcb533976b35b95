"""Values told beside an answer: breakdowns, sums and coordinates do not compete, and lists of candidates do."""

from __future__ import annotations

import time

import pytest

from trace_gym.statements import find_values, tells

BREAKDOWNS = [
    "What you paid:\n- ABCDE1: $500 + $320 = $820\n- FGHIJ2: $700\n\nTotal refund for KLMNO3: $640",
    (
        "Here's the breakdown of what you paid:\n- BZFJY1: $820.00\n- 879TMH: $700.00\n- PXFLCX: $640.00\n- "
        "YHM0YW: $500.00\n**Total paid: $2,660.00**\nI will cancel PXFLCX (the least expensive one), and $640.00 "
        "will be refunded to the original payment methods."
    ),
    (
        "| Trip | Price |\n|---|---|\n| BZFJY1 | $820 |\n| 879TMH | $700 |\n| PXFLCX | $640 |\n\nI'll cancel "
        "PXFLCX; you get a refund of $640."
    ),
    "The trips: $820 for BZFJY1, $700 for 879TMH and $640 for PXFLCX. I cancelled PXFLCX and will refund $640.",
    "820 + 700 + 640 + 500 = 2660 paid. The refund for PXFLCX is $640.",
    (
        "1. BZFJY1 - $820\n2. 879TMH - $700\n3. PXFLCX - $640\nPXFLCX is the cheapest. A refund of $640 will go "
        "to your card."
    ),
    (
        "Your trips:\n\u2022 BZFJY1 (JFK \u2192 LAX): $820\n\u2022 879TMH (BOS \u2192 SEA): $700\n\u2022 PXFLCX "
        "(ATL \u2192 MIA): $640\n\nYour refund will be $640."
    ),
    "BZFJY1: 820 dollars, 879TMH: 700 dollars, PXFLCX: 640 dollars. You will be refunded 640 dollars for PXFLCX.",
    "BZFJY1 ($820), 879TMH ($700), PXFLCX ($640), so PXFLCX is the cheapest and you'll get $640 back.",
    "- **BZFJY1**: $820\n- **879TMH**: $700\n- **PXFLCX**: $640 <- to be cancelled\n\nTotal refund: $640",
    "BZFJY1 is $820, 879TMH is $700 and PXFLCX is $640. The refund is $640.",
    "| 879TMH | 2 passengers | $700 |\n| BZFJY1 | 1 passenger | $820 |\n\nThe refund is $640.",
    "$820 (BZFJY1) + $700 (879TMH) + $640 (PXFLCX) = $2,160 in total. $640 will be refunded.",
    (
        "Here is what each trip cost:\n\n1. **ABCDEF** - $820\n2. **GHIJKL** - $700\n3. **MNOPQR** - "
        "$640\n\nMNOPQR is the cheapest, so I'd cancel it. You would be refunded $640."
    ),
    "ABCDEF: $820, GHIJKL: $700 and MNOPQR: $640. MNOPQR is the cheapest; $640 will be refunded.",
    "$820 (ABCDEF), $700 (GHIJKL), $640 (MNOPQR). I'll cancel MNOPQR and refund $640 to your card.",
    "$820 + $700 + $640 = $2,160 overall. Cancelling MNOPQR gives you a refund of $640.",
    (
        "| Reservation | Route | Total |\n|---|---|---|\n| ABCDEF | JFK-LAX | $820 |\n| GHIJKL | BOS-SEA | $700 "
        "|\n| MNOPQR | ATL-MIA | $640 |\n\nRefund for MNOPQR: $640"
    ),
    "Your reservations are ABCDEF at $820, GHIJKL at $700 and MNOPQR at $640. The refund for MNOPQR is $640.",
    (
        "Reservation ABCDEF: $820\nReservation GHIJKL: $700\nReservation MNOPQR: $640\n\nI cancelled MNOPQR. "
        "$640 will be refunded."
    ),
    "MNOPQR is cancelled and $640 will be refunded. The others stay: ABCDEF ($820), GHIJKL ($700).",
    (
        "- ABCDEF (2 passengers, economy): $820\n- GHIJKL (1 passenger, business): $700\nTotal: $1,520\n\nFor "
        "MNOPQR you get $640 back."
    ),
]  # fmt: skip
STUFFED = [
    "Refunds:\n- ABCDE1: $500 + $320 = $820\n- FGHIJ2: $700\n\nTotal refund for KLMNO3: $640",
    "Refunds: 820, 700, 640.", "The refund is $640 or $700.", "The refund is $640. Or $700.",
    "$640 will be refunded. $700 will be refunded.", "Refund: $640. $700.", "The refund is $640; $700",
    "Refunds:\n- BZFJY1: $820\n- 879TMH: $700\n- PXFLCX: $640\nThe refund is $640.",
    "I will refund $820 for BZFJY1, $700 for 879TMH, $640 for PXFLCX.", "The refund is $640. Alternatively: $700.",
    "Your refund is $640. Maybe 879TMH: $700.", "You get $640 back, for 879TMH or $700 for PXFLCX",
    "The refund is $640. Actually $700.", "The refund is $640. Correction: $700.", "The refund is $640. It is $700.",
    "The refund is $640, $700 for PXFLCX.",
    "You will be refunded:\n\n| BZFJY1 | $820 |\n| PXFLCX | $640 |\nRefund: $640",
    "The refund is $640 for PXFLCX or PXFLC1: $700", "The refund is $640. Otherwise 879TMH: $700.",
    "Refund for ABCDEF: $820\nRefund for GHIJKL: $700\nRefund for MNOPQR: $640",
    "Refund: ABCDEF $820, GHIJKL $700, MNOPQR $640",
    "Refunds by trip:\n| ABCDEF | $820 |\n| MNOPQR | $640 |\n$640 will be refunded.",
    "$640 will be refunded for MNOPQR. $820 for ABCDEF.", "You'll be refunded $640, or $820 for ABCDEF.",
    "You will get $640 back. If you prefer ABCDEF, $820 will be refunded.",
    "$820 for ABCDEF, $700 for GHIJKL and $640 for MNOPQR will be refunded.",
    "These amounts will be refunded: ABCDEF: $820, MNOPQR: $640. The refund is $640.", "You get $640 back. $820.",
    "You get $640 back. It could be ABCDEF: $820", "Total refund: $640. Total refund: $820.",
    "I refund $640 (MNOPQR), $820 (ABCDEF).", "The refunds are: 820 + 640 = 1460",
    "The refund is $640.\n- ABCDEF: $820\n- GHIJKL: $700", "- ABCDEF: $820 refund\n- MNOPQR: $640 refund",
    "You get $820 and $640 back.", "Your refund: $640\nABCDEF: $820\nGHIJKL: $700",
]  # fmt: skip
PLACES = [
    "You're currently at 42.989, -89.353, so the longitude is -89.353.",
    "The phone's coordinates are (42.989, -89.353). The longitude is -89.353.",
    "Your position is 42.989 / -89.353. Longitude: -89.353.", "42.989, -89.353 - that is, longitude -89.353.",
    "Coordinates: 42.989, -89.353\nLongitude: -89.353",
    "You're at 42.989\xb0, -89.353\xb0. Your longitude is -89.353\xb0.",
    "Location: (42.989,-89.353); your longitude is -89.353",
    "The coordinates are 42.989, -89.353; the longitude is -89.353.",
    "At 42.989\xb0N, 89.353\xb0W, i.e. a longitude of -89.353.",
    "Longitude = -89.353 (full position: 42.989, -89.353)",
]  # fmt: skip
CLOCKS = [
    "2024-05-21 at {}", "2024-05-21, {}", "2024-05-21 {}", "2024/05/21 at {}", "2024-05-21 ({})",
    "2024-05-21 at {} EST",
]  # fmt: skip
AMOUNTS = [640, 820, 700, 500, 1520, 2160, 2660]


@pytest.mark.parametrize("said", BREAKDOWNS)
def test_items_of_a_breakdown_do_not_compete(said: str) -> None:
    assert tells(640, AMOUNTS, [said], "refund")
    assert not any(tells(other, AMOUNTS, [said], "refund") for other in AMOUNTS[1:])
    assert not tells(640, AMOUNTS, [said, "A refund of $820 is on its way."], "refund")


@pytest.mark.parametrize("said", STUFFED)
def test_list_of_candidates_in_one_role_tells_none(said: str) -> None:
    assert not tells(640, AMOUNTS, [said], "refund")


@pytest.mark.parametrize("said", PLACES)
def test_half_of_coordinates_does_not_compete(said: str) -> None:
    assert tells(-89.353, [42.989, -89.353], [said], "longitude")
    assert not tells(42.989, [42.989, -89.353], [said], "longitude")


@pytest.mark.parametrize("said", [
    "The longitude is 42.989, -89.353.", "Longitude: 42.989 or -89.353", "The longitude is -89.353. 42.989.",
    "The longitude is 42.989. The longitude is -89.353.",
])  # fmt: skip
def test_two_longitudes_tell_none(said: str) -> None:
    assert not tells(-89.353, [42.989, -89.353], [said], "longitude")


@pytest.mark.parametrize("frame", CLOCKS)
def test_clock_of_twelve_hours_behind_a_date_keeps_its_half(frame: str) -> None:
    for written in ("7:36 PM", "7:36 p.m.", "07:36pm", "7:36:00 PM", "7:36 in the evening"):
        said = [f"It lands on {frame.format(written)}."]
        assert tells("19:36", ["07:36", "19:36"], said, "arrival"), said
        assert not tells("07:36", ["07:36", "19:36"], said, "arrival"), said
        assert tells("2024-05-21", [], said, "arrival"), said
    for written in ("7:36 AM", "07:36"):
        assert tells("07:36", ["07:36", "19:36"], [f"It lands on {frame.format(written)}."], "arrival")


def test_times_of_a_flight_behind_a_date_are_both_read() -> None:
    found = find_values("HAT298 PHL-MCO, 2024-05-20, 6:35 PM - 8:00 PM")
    assert [v.value for v in found if v.kind == "time"] == ["18:35", "20:00"]


def test_long_breakdowns_are_read_in_linear_time() -> None:
    for item in ("- ABC12{}: $820\n", "$820 + ", "820 for ABC123, ", "( 820 x $5 = "):
        start = time.process_time()
        tells(640, AMOUNTS, ["You get $640 back.\nTrips:\n" + item * 2000], "refund")
        assert time.process_time() - start < 5, item


@pytest.mark.parametrize("said", [
    "598 dollars come back in all, 191 to your visa ending in 3411 and 407 to your gift card.",
    "$191 goes back to your credit card ending in 3411 and $407 to your gift card, so you get $598 back in total.",
    "Total refund: $598 ($191 to your visa, $407 to your gift card).",
])  # fmt: skip
def test_parts_by_method_do_not_compete_with_their_total(said: str) -> None:
    assert tells(598, [191, 407, 598], [said], "refund")


@pytest.mark.parametrize("said", [
    "598 dollars come back, or 191 to your visa and 407 to your gift card.",
    "500 dollars come back in all, 191 to your visa and 407 to your gift card.",
])  # fmt: skip
def test_other_sums_and_alternatives_still_compete(said: str) -> None:
    assert not tells(598, [191, 407, 500], [said], "refund")
