"""Directions of amounts: charged now or in the past, refunded after a payment, and totals of paid bags."""

from __future__ import annotations

import pytest

from trace_gym.statements import tells

CHARGED = [
    "{} has been charged to your gift card.", "{} was charged to your card for the added bags.",
    "Your gift card has been charged {}.", "You have been charged {} in all for the added bags.",
    "Done! A total of {} has been charged to credit_card_1.", "Your card ending in 1234 was charged {}.",
    "A fee of {} has been charged to your gift card.", "The bags cost {}, which has been charged to your gift card.",
    "The bags have been added and {} has been charged to your card.", "credit_card_1 has been billed {}.",
    "The total of {} was billed to your card.", "The bags are on the trip, with {} charged to your gift card.",
    "All set. Charged: {} (gift card).", "Your account was debited {}.", "You've been charged {}.",
    "A charge of {} was made to your card.", "Payment: {} has been successfully charged to your card on file.",
    "{}.00 has now been charged to credit_card_1.", "The {} was charged to your gift card as requested.",
    "Your Visa was billed {} for the 3 bags.",
    "I've gone ahead and added the bags; {} has been charged to your credit card ending in 1234.",
    "The payment of {} has been charged to gift_card_1.", "Your card on file has now been charged a total of {}.",
    "Your bags are confirmed. You were charged {} for them.", "Total charged: {}",
    "{} has been billed to your gift card.", "Amount charged to your card: {}",
    "The {} baggage fee has been charged to your card.", "{} has been deducted from your gift card balance.",
    "As agreed, {} was charged to credit_card_1.", "The card was successfully charged {}.",
    "That's 4 paid bags, so your card has been charged {}.", "Payment of {} processed on your card.",
    "The difference of {} was paid from your gift card.",
]  # fmt: skip
NOT_CHARGED = [
    "{} has not been charged to your card.", "Your card was not charged {}.", "You were charged {} when you booked.",
    "You were charged {} or $250.", "{} has been refunded to your card.", "You originally paid {}.",
    "You said you were charged {}.", "Was your card charged {}?",
]  # fmt: skip
EARLIER = [
    "You were originally charged {}.", "The amount that was charged when you booked was {}.",
    "You were charged {} at the time of booking.", "{} was charged to your card when you made the reservation.",
    "At booking, your card was charged {}.", "You were initially billed {}.",
    "You had been charged {} for the order.", "{} was charged at booking.", "When you booked, you were charged {}.",
    "Your card was charged {} back when the trip was booked.", "At the time of purchase you were charged {}.",
    "The trip was originally billed at {}.", "You were charged {} for the original booking.",
    "The card was charged {} when the reservation was made.", "{} had been charged to your card.",
    "Your original charge was {}.", "At checkout your card was billed {}.", "You paid a total of {}.",
    "The {} that was charged at the time", "Trip X1Y2Z3 cost {}.", "You've been charged {} so far.",
]  # fmt: skip
BAGS = [
    "Paid bags: 3 x $50 = {}", "3 paid bags ({} total)", "The 3 paid bags come to {}.",
    "For the 3 paid bags, the total is {}.", "{} in total for 3 paid bags.", "6 bags: 3 free and 3 paid, {}.",
    "This means 3 free bags and 3 paid bags (3 \xd7 $50 = {}).", "3 free bags + 3 paid bags = {}",
    "That makes 3 paid bags, so {}.", "That leaves 3 paid bags: 3 \xd7 $50 = {}.",
    "Three paid checked bags at $50 each come to {}.", "Paid checked bags: 3 at $50 each, total {}",
    "3 bags are free and 3 are paid, which is {}.", "Total for the paid bags: {}",
    "Extra paid bags: 3, {} altogether", "Of the 6 bags, 3 are free and 3 are paid: 3 \xd7 $50 = {}.",
    "3 paid bags at $50 each = {}", "The cost for the 3 paid bags: {}", "3 additional paid bags would be {}.",
    "Number of paid bags: 3. Total: {}.", "3 paid checked bags: {}", "You would have 3 paid bags for {} in total.",
    "Paid bags (3): {}",
]  # fmt: skip
COST = [
    "Your 3 trips cost {} altogether.",
    "Trip X1Y2Z3 cost {}.", "The total cost of trip X1Y2Z3 was {}.", "Trip X1Y2Z3 cost you {}.",
    "X1Y2Z3 cost {} in total.", "Reservation X1Y2Z3 originally cost {}.", "The price of the trip was {}.",
    "Your trip cost a total of {}.", "The cost of reservation X1Y2Z3 is {}.", "- X1Y2Z3 cost {}", "It cost {}.",
    "The booking cost {} for 2 passengers.", "The total price of reservation X1Y2Z3 was {}.",
]  # fmt: skip
PAID_BACK = [
    "You paid {}, which will be fully refunded.", "The amount paid ({}) will be refunded in full.",
    "{} (the amount originally paid) will be refunded to your card.",
    "XPYXQF: business class, {} paid - full refund.", "You paid {} for this trip, and this amount will be refunded.",
    "You originally paid {}, and it will be returned to your card in full.",
    "You paid {} with credit_card_1, all of which will be refunded.",
    "The {} you paid will be refunded to your credit card.",
    "The {} that was charged to credit_card_1 will be refunded.", "{} paid \u2192 full refund",
    "You paid {} (credit_card_1), which is going to be refunded.", "Amount paid: {}, to be refunded in full.",
    "You'll be refunded the {} originally charged to your card.", "The price you paid, {}, will be refunded.",
    "You paid {}, so {} will be refunded.", "The cost of {} will be refunded.",
    "The original payment ({}) will be returned to your card.", "The total price of {} will be returned to you.",
    "You paid {}. This will be refunded in full.", "You paid {} for it and will get it all back.",
    "You paid {} in total; this amount will be refunded.", "The {} you paid is going to be refunded to your card.",
    "{} \u2014 the full amount you paid \u2014 will be returned to your gift card.",
    "The original cost of {} will be refunded in full.", "Total paid: {}, all of which will be refunded.",
    "You paid {} with gift_card_1, and that amount will be credited back.",
    "The price of the trip was {}, and you'll be refunded {}.",
    "The trip cost {}, which will be refunded to credit_card_1.",
    "Amount paid: {} (fully refundable, it will be refunded to your card).",
    "You'll get back everything you paid: {}.", "{} (your original payment) will go back to your card.",
    "You were charged {} originally, and it will be refunded in full.", "X1Y2Z3: {} paid, full refund to gift card",
]  # fmt: skip
KEPT = [
    "You paid {}, which will not be refunded.", "You paid {}, half of which will be refunded.",
    "The amount paid ({}) cannot be refunded.", "{} (the amount originally paid) will not be refunded.",
    "{} paid - no refund.", "You paid {}, none of which is refunded.", "You paid {}, which can't be returned.",
    "You paid {}, but only a part will be refunded.", "The {} you paid won't be refunded.",
    "{} paid, non-refundable.", "You paid {}, and it will be refunded $264.", "The {} you paid is not refundable.",
    "You paid {}. You will be refunded $264.", "You paid {}, but that won't be refunded.",
    "{} paid, no refund possible", "You paid {}, which we can't refund.", "You paid {}, so half will be refunded.",
    "You paid {} and the fee will be refunded.", "You paid {}; the bags will be refunded.",
    "The trip cost {}, and will be charged again.", "The trip cost {}.",
]  # fmt: skip
OUT = [
    "The difference of {} has been deducted from your gift card.",
    "The difference of {} is to be paid with your gift card.",
    "The fare went up by {}, which comes out of your gift card.",
    "The difference of {} has been paid with your gift card.", "The difference is {}, settled with your gift card.",
    "{} comes out of your gift card.", "{} was taken off your gift card.",
    "{} will be drawn from your gift card balance.", "The extra {} gets paid from your gift card.",
    "{} has been withdrawn from your gift card.", "The fare difference of {} will be settled from your gift card.",
    "The new trip is {} more expensive, paid using your gift card.",
    "An amount of {} is deducted from your gift card.", "The {} comes out of your gift card.",
    "The {} difference gets settled with your gift card.",
    "The price difference of {} will be paid by your gift card.", "The extra {} was drawn from your gift card.",
    "{} will be taken from your card.", "The difference of {} will be put on your card.",
    "There is a difference of {}, which will be deducted from gift_card_1.",
]  # fmt: skip
IN = [
    "The difference is a credit of {}, applied to your card.", "{} has been added to your gift card.",
    "The difference is {} in your favor and goes to your card.", "{} goes back onto your gift card.",
    "{} goes onto your gift card.",
    "The difference of {} will be refunded to your gift card, so no additional payment is needed.",
    "{} comes back to your card; you get it back, you don't pay.",
    "You get the difference of {} back rather than paying anything.", "{} has been put back on your gift card.",
    "The {} difference was credited, so nothing is charged to you.", "{} is in your favour.",
    "The difference of {} was loaded back onto your gift card.", "{} will be added back to your card.",
    "You'll see a {} credit on your card, and there is nothing to pay.",
    "The new flights are cheaper, and the {} difference is returned to you without any charge.",
    "The difference of {} is refunded instead of charged.",
    "There is no additional charge; instead, {} will be refunded to your gift card.",
    "{} was added back to your gift card.",
    "The difference of {} goes back onto your gift card, so you have nothing to pay.", "There's {} in your favor.",
    "A {} credit goes to your card; nothing is due.", "The {} was posted back onto your card.",
    "You get {} back and no charge is made.", "Rather than paying more, you get {} back.",
    "{} is credited, not charged.", "Instead of a charge, there is a refund of {}.",
    "No charge: {} will be refunded to your card.",
]  # fmt: skip
OPPOSED = [
    "You get {} back. You will be charged {}.", "{} is charged, not refunded.",
    "You pay {} rather than getting it back.", "{} will be refunded or charged.",
    "The difference of {} comes out of your gift card.", "{} will be deducted, not added to your gift card.",
]  # fmt: skip
RIVALS = [100, 200, 250, 264]


def told(frame: str, role: str) -> bool:
    return tells(150, [150, *RIVALS], [frame.replace("{}", "$150")], role)


@pytest.mark.parametrize("frame", [*CHARGED, *OUT])
def test_charge_in_the_passive_is_a_charge_and_no_refund(frame: str) -> None:
    assert told(frame, "charge") and not told(frame, "refund")
    assert not tells(200, [150, 200], [frame.replace("{}", "$150")], "charge")
    assert not tells(150, [150, 200], [frame.replace("{}", "$150"), frame.replace("{}", "$200")], "charge")


@pytest.mark.parametrize("frame", NOT_CHARGED)
def test_charge_that_is_denied_hedged_or_in_the_past_is_no_charge(frame: str) -> None:
    assert not told(frame, "charge")


@pytest.mark.parametrize("frame", EARLIER)
def test_charge_at_the_time_of_booking_is_a_payment(frame: str) -> None:
    assert told(frame, "paid") and not told(frame, "refund")
    if "so far" not in frame:
        assert not told(frame, "charge")


@pytest.mark.parametrize("frame", BAGS)
def test_total_of_paid_bags_is_no_payment_of_the_past(frame: str) -> None:
    assert told(frame, "charge")
    assert not tells(150, [150, 200], [frame.replace("{}", "$200")], "charge")
    if " each" not in frame:
        assert not tells(150, [150, 200], [frame.replace("{}", "$150"), frame.replace("{}", "$200")], "charge")


@pytest.mark.parametrize("frame", COST)
def test_cost_of_a_trip_is_no_opposite_of_its_refund(frame: str) -> None:
    assert not told(frame, "refund")
    assert told(f"{frame} You will receive a refund of {{}}.", "refund")
    assert not told(f"{frame} You will receive a refund of $264.", "refund")


@pytest.mark.parametrize("frame", PAID_BACK)
def test_payment_that_will_be_refunded_is_a_refund(frame: str) -> None:
    assert told(frame, "refund") and not told(frame, "charge")
    assert not tells(150, [150, 200], [frame.replace("{}", "$150"), frame.replace("{}", "$200")], "refund")


@pytest.mark.parametrize("frame", KEPT)
def test_payment_that_is_kept_is_no_refund(frame: str) -> None:
    assert not told(frame, "refund")


@pytest.mark.parametrize("frame", IN)
def test_refund_with_a_denied_charge_is_a_refund(frame: str) -> None:
    assert told(frame, "refund") and not told(frame, "charge")
    assert not told(f"{frame} You will be charged {{}}.", "refund")


@pytest.mark.parametrize("frame", OPPOSED)
def test_both_directions_are_no_refund(frame: str) -> None:
    assert not told(frame, "refund")


def test_charge_of_the_past_does_not_compete_with_a_charge() -> None:
    assert tells(150, [150, 528], ["You were charged $528 for the trip. I will charge $150."], "charge")
    assert not tells(528, [150, 528], ["You were charged $528 for the trip. I will charge $150."], "charge")
    assert tells(528, [], ["You were charged $528 for this trip. I will refund $528."], "refund")
