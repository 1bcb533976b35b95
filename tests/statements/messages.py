"""Agent messages as customers read them, each labeled with whether it tells a fact.

The messages were written and labeled before the parser was run on them. `SEEN` was used during development; `UNSEEN`
was evaluated once at the end, with 30 of 30 labels reproduced. Of `LATER`, written after the parser and labeled before
it was run on them, 81 of 103 labels were reproduced at first; the failures led to corrections.
"""

from __future__ import annotations

from typing import NamedTuple

DAYS = tuple(f"2024-05-{n:02d}" for n in range(1, 15))
MONEY = (52, 80, 120, 150, 200, 230, 270, 350, 415)
STATUSES = (
    "pending", "processed", "delivered", "cancelled", "pending (item modified)", "exchange requested",
    "return requested",
)  # fmt: skip
TIMES = ("10:05", "11:35", "12:20", "14:05", "16:20", "21:50")


class Row(NamedTuple):
    """One message, one fact, and the label."""

    said: str
    value: str | int
    role: str
    told: bool
    rivals: tuple[str | int, ...] = MONEY


def day(said: str, value: str, told: bool, role: str = "booking") -> Row:
    return Row(said, value, role, told, DAYS)


def clock(said: str, value: str, told: bool, role: str) -> Row:
    return Row(said, value, role, told, TIMES)


def status(said: str, value: str, told: bool) -> Row:
    return Row(said, value, "status", told, STATUSES)


SEEN = (
    day(
        "I'm afraid I can't cancel this one. You booked it on May 12, 2024, which is more than 24 hours ago.",
        "2024-05-12",
        True,
    ),
    day(
        "Unfortunately ABC123 isn't eligible: the reservation was created on 05/12/2024 in basic economy.",
        "2024-05-12",
        True,
    ),
    day("Your booking from 12 May is outside the 24-hour window, so I won't be able to cancel it.", "2024-05-12", True),
    day(
        "According to our records the booking was made 2024-05-12T08:33:01 - no refund is possible.", "2024-05-12", True
    ),
    day("You told me you booked on May 12th, but our records show May 9th, so I can't cancel.", "2024-05-12", False),
    day("You told me you booked on May 12th, but our records show May 9th, so I can't cancel.", "2024-05-09", True),
    day("It was booked either on May 12 or on May 11, I can't tell exactly.", "2024-05-12", False),
    day("The flight leaves on May 12 and the reservation was created on May 3.", "2024-05-12", False),
    Row(
        "All set! ABC123 is cancelled and $350 will go back to your Visa within 5 to 7 business days.",
        350,
        "refund",
        True,
    ),
    Row(
        "I've processed the cancellation. The $350.00 you paid will be refunded to the original payment method.",
        350,
        "refund",
        True,
    ),
    Row(
        "Upgrading to business costs $350; cancelling the other booking gets you 120 dollars back.", 120, "refund", True
    ),
    Row(
        "Upgrading to business costs $350; cancelling the other booking gets you 120 dollars back.",
        350,
        "refund",
        False,
    ),
    Row("Your card will be charged $150.", 150, "refund", False),
    Row("Your refund comes to $150, or possibly $200.", 150, "refund", False),
    Row("So that's $120 for the first trip plus $80 for the second, for a total refund of $200.", 200, "refund", True),
    Row("The refund is not 150 dollars as I first calculated but 120 dollars.", 120, "refund", True),
    Row("The refund is not 150 dollars as I first calculated but 120 dollars.", 150, "refund", False),
    Row("I understand you expected $150 back. The refund for this booking is $120.", 150, "refund", False),
    Row("The fare is $230 per person; for the two of you I would charge $415 in all.", 415, "charge", True),
    Row("The refund could be 52, 80, 120, 150, 200, 230, 270, 350 or 415 dollars.", 120, "refund", False),
    clock("Your new flight departs at 2:05 PM and lands at 4:20 PM.", "14:05", True, "departure"),
    clock("Your new flight departs at 2:05 PM and lands at 4:20 PM.", "16:20", False, "departure"),
    clock("You would now arrive at 16:20 instead of 12:20.", "16:20", True, "arrival"),
    clock(
        "The flight at 10:05 is cheaper but sold out, so I suggest the one leaving at 11:35.",
        "11:35",
        True,
        "departure",
    ),
    clock("HAT021 takes off at 11:35 am EST. Shall I book it?", "11:35", True, "departure"),
    status("I can't cancel this order because its items were already modified.", "pending (item modified)", True),
    status("Only pending orders can be cancelled, and yours has already been delivered.", "delivered", True),
    status("Only pending orders can be cancelled, and yours has already been delivered.", "pending", False),
    status("That order hasn't been delivered yet.", "delivered", False),
    Row("I can't take that order back; you paid one hundred and fifty dollars for it in March.", 150, "paid", True),
)

UNSEEN = (
    day(
        "Sorry, no can do: this reservation dates from the 12th of May, so the free cancellation period is over.",
        "2024-05-12",
        True,
    ),
    day("Reservation XYZ789 (created 2024-05-12 at 08:33) is non-refundable.", "2024-05-12", True),
    day(
        "Since the ticket was purchased on 5/12, more than a day has passed and I can't refund it.", "2024-05-12", True
    ),
    day("I see the booking date is May 11, not May 12, hence I'm unable to cancel.", "2024-05-12", False),
    day("I see the booking date is May 11, not May 12, hence I'm unable to cancel.", "2024-05-11", True),
    day("Did you make the booking on May 12?", "2024-05-12", False),
    day(
        "You fly on May 14. The booking itself was made on Sunday, May 12, so it is too late to cancel for free.",
        "2024-05-12",
        True,
    ),
    day("It might have been booked on 2024-05-12.", "2024-05-12", False),
    Row("Done. You'll get 350 USD back on your gift card.", 350, "refund", True),
    Row("Your reservation has been cancelled; a credit of $350 has been issued to your card.", 350, "refund", True),
    Row(
        "The upgrade is $230 and goes on your MasterCard. For the cancelled trip, we are returning $80 to you.",
        80,
        "refund",
        True,
    ),
    Row(
        "The upgrade is $230 and goes on your MasterCard. For the cancelled trip, we are returning $80 to you.",
        230,
        "charge",
        True,
    ),
    Row("You owe us $150 for the change.", 150, "refund", False),
    Row("You owe us $150 for the change.", 150, "charge", True),
    Row("Refunds: trip A $120, trip B $80, trip C $150 - altogether that makes $350.", 350, "refund", True),
    Row("The difference is either $120 or $150, depending on the fare class.", 120, "charge", False),
    Row("You had originally paid $270. After the change, we give $120 back to you.", 120, "refund", True),
    Row("I won't charge you $150 for that.", 150, "charge", False),
    Row("Three bags at $50 each: the total charge is $150.", 150, "charge", True),
    Row("Your gift card balance is $415, so the charge of $270 is covered.", 270, "charge", True),
    Row("Your gift card balance is $415, so the charge of $270 is covered.", 415, "charge", False),
    clock("It leaves at 14:05 and gets in at 21:50.", "21:50", True, "arrival"),
    clock("Previously you landed at 12:20; the new arrival time is 4:20 p.m.", "16:20", True, "arrival"),
    clock(
        "We can put you on the 11:35 departure; the 10:05 has only one seat left in economy.",
        "11:35",
        True,
        "departure",
    ),
    clock("Departures that day: 10:05, 11:35, 12:20, 14:05, 16:20 and 21:50.", "11:35", False, "departure"),
    status(
        "The items of this order have been changed before, so I can't modify it again.", "pending (item modified)", True
    ),
    status(
        "I'm sorry, but it arrived at your address already, so cancelling is no longer an option.", "delivered", True
    ),
    status(
        "Your order is currently being processed, which means that it cannot be cancelled any more.", "processed", True
    ),
    status("If the order were delivered, I could take it back.", "delivered", False),
    Row(
        "I'm not able to cancel it. For the record, the order came to $230.00, charged to your PayPal account.",
        230,
        "paid",
        True,
    ),
)

LATER = (
    Row(
        "Good news! Your cancellation went through. Refund amount: $150.00 → credit_card_1234567",
        150,
        "refund",
        True,
        MONEY,
    ),
    Row("| Item | Amount |\n|---|---|\n| Refund | $150.00 |\n| Paid | $270.00 |", 150, "refund", True, MONEY),
    Row(
        "Here's the breakdown:\n- Original fare: $270\n- Cancellation fee: $120\n- **Refund: $150**",
        150,
        "refund",
        True,
        MONEY,
    ),
    Row("Your total refund is $270 - $120 = $150.", 150, "refund", True, MONEY),
    Row(
        "The new fare is $350, you already paid $200, so the difference of $150 will be charged to your card.",
        150,
        "charge",
        True,
        MONEY,
    ),
    Row("New price 350, old price 200, which leaves 150 to pay.", 150, "charge", True, MONEY),
    Row("That'd be 150 bucks extra.", 150, "charge", True, MONEY),
    Row("We'll be putting $150 back onto your Mastercard.", 150, "refund", True, MONEY),
    Row("I've issued a $150 refund.", 150, "refund", True, MONEY),
    Row("$150 refund issued.", 150, "refund", True, MONEY),
    Row("The refund amount would be $150. Would you like me to proceed?", 150, "refund", True, MONEY),
    Row("Should I cancel it and refund $150 to your card?", 150, "refund", True, MONEY),
    Row("Can you confirm that you want me to cancel ABC123 for a refund of $150?", 150, "refund", True, MONEY),
    Row("Is it okay if I refund $150 to your gift card?", 150, "refund", True, MONEY),
    Row("You are going to get one-fifty back.", 150, "refund", False, MONEY),
    Row("I'm refunding you a hundred and fifty dollars.", 150, "refund", True, MONEY),
    Row("I would normally refund $270, but due to the policy it is $150.", 150, "refund", False, MONEY),
    Row("There is no refund; instead there is a charge of $150.", 150, "charge", True, MONEY),
    Row("There is no refund; instead there is a charge of $150.", 150, "refund", False, MONEY),
    Row("I'll go ahead and bill your Visa ending in 7447 $150.", 150, "charge", True, MONEY),
    Row("Your gift card covers the $150 (balance: $270).", 150, "charge", True, MONEY),
    Row("it is delivered, 150.00 paid", 150, "paid", True, MONEY),
    Row("You were charged $150 for this order.", 150, "paid", True, MONEY),
    Row("The order, worth $150, is already delivered.", 150, "paid", True, MONEY),
    Row("Total paid: $150.", 150, "paid", True, MONEY),
    Row("HAT012 costs $230 per passenger, $415 for both.", 230, "fare", True, MONEY),
    Row("The business fare on HAT012 is 230 dollars a person; your limit is 270.", 230, "fare", True, MONEY),
    Row("HAT012 costs $230 per passenger, $415 for both.", 415, "total", True, MONEY),
    Row("Altogether you paid 350 dollars: 120, 80 and 150.", 350, "total", True, MONEY),
    Row("You paid 120 for A, 80 for B and 150 for C. That makes 350.", 350, "", True, MONEY),
    Row("Since you booked more than 24 hours ago (May 12, 8:33 AM), I can't.", "2024-05-12", "booking", True, DAYS),
    Row("Booked: Sun, 12 May 2024 08:33", "2024-05-12", "booking", True, DAYS),
    Row("Your trip from May 14 to May 20 was booked on May 12.", "2024-05-12", "booking", True, DAYS),
    Row("The reservation was created 3 days ago, on 12.05.2024.", "2024-05-12", "booking", True, DAYS),
    Row("Reservation ABC123 was made on the 12th of this month.", "2024-05-12", "booking", True, DAYS),
    Row("It was booked on May 12 and not on May 13 as you thought.", "2024-05-12", "booking", True, DAYS),
    Row("As you said, it was booked on May 12.", "2024-05-12", "booking", True, DAYS),
    Row("I have moved your flight to May 12.", "2024-05-12", "departure", True, DAYS),
    Row("I have moved your flight from May 10 to May 12.", "2024-05-12", "departure", True, DAYS),
    Row("I've rebooked you onto HAT123 on Sunday, May 12th.", "2024-05-12", "departure", True, DAYS),
    Row("The second Sunday of May is May 12.", "2024-05-12", "departure", True, DAYS),
    Row("HAT123: 14:05 -> 16:20", "14:05", "departure", True, TIMES),
    Row("HAT123 (14:05 - 16:20) is the best one.", "14:05", "departure", True, TIMES),
    Row("HAT123 on 2024-05-20 at 14:05 and HAT200 on 2024-05-28 at 16:20", "14:05", "departure", False, TIMES),
    Row("HAT123 departs 14:05, arrives 16:20.", "16:20", "arrival", True, TIMES),
    Row("with a departure at 14:05 and an arrival at 16:20", "16:20", "arrival", True, TIMES),
    Row("You'll be in Boston by 4:20 pm", "16:20", "arrival", True, TIMES),
    Row("the earliest after noon leaves at five past two", "14:05", "departure", False, TIMES),
    Row("I booked the 2:05 PM flight.", "14:05", "departure", True, TIMES),
    Row("The layover is three hours.", 3, "duration", True, (2, 3, 4)),
    Row("You have two free bags left.", 2, "", True, (1, 2, 3)),
    Row("Both bags are free.", 2, "", True, (1, 2, 3)),
    Row("within 24 hours", 24, "", True, (24, 48)),
    Row("You get a 15 % discount", 15, "percent", True, (10, 15)),
    Row("The high today is 25.3 degrees and the low is 14.2.", 25.3, "highest", True, (25.3, 14.2)),
    Row("ACME trades at $42.57.", 42.57, "", True, (42.57, 99.9)),
    Row(
        "Hi Aino, thanks for your patience! I went ahead and cancelled ABC123. "
        "You should see $200 back on your card in about a week.",
        200,
        "refund",
        True,
        MONEY,
    ),
    Row("Since you're insured, the full $200 can be refunded.", 200, "refund", True, MONEY),
    Row("If you'd like, I can cancel the trip and you'd get your $200 back.", 200, "refund", True, MONEY),
    Row("Cancelling won't cost you anything, and the $200 will land on your gift card.", 200, "refund", True, MONEY),
    Row("We don't offer refunds of $200.", 200, "refund", False, MONEY),
    Row("I thought it would be $200, but the system shows $230 as your refund.", 200, "refund", False, MONEY),
    Row("I thought it would be $200, but the system shows $230 as your refund.", 230, "refund", True, MONEY),
    Row("The refund for both trips together: $200 ($120 + $80).", 200, "refund", True, MONEY),
    Row("You'll be charged $80 for the bags and reimbursed $120 for the cancelled trip.", 120, "refund", True, MONEY),
    Row("You'll be charged $80 for the bags and reimbursed $120 for the cancelled trip.", 80, "charge", True, MONEY),
    Row("You'll be charged $80 for the bags and reimbursed $120 for the cancelled trip.", 120, "charge", False, MONEY),
    Row("$80 goes onto your bill, while $120 is coming back to you.", 120, "refund", True, MONEY),
    Row("$80 goes onto your bill, while $120 is coming back to you.", 80, "charge", True, MONEY),
    Row(
        "Moving to HAT120 raises the price from $80 to $350, so I'd charge the difference of $270.",
        270,
        "charge",
        True,
        MONEY,
    ),
    Row("HAT120 is $350, you've paid $80, difference $270 on your Visa. OK?", 270, "charge", True, MONEY),
    Row(
        "There's a fare difference of two hundred seventy dollars, payable with your card.", 270, "charge", True, MONEY
    ),
    Row("Nothing is due: the $270 stay on your gift card.", 270, "charge", False, MONEY),
    Row("The cheaper cabin saves you $270, which I'll credit to gift_card_1234567.", 270, "refund", True, MONEY),
    Row("It's $270 that you'd be getting. Shall I?", 270, "refund", True, MONEY),
    Row(
        "I'm sorry, but order #W1 was delivered and you paid $350 for it, so cancelling isn't possible.",
        350,
        "paid",
        True,
        MONEY,
    ),
    Row("The payment of $350 was taken from PayPal.", 350, "paid", True, MONEY),
    Row("Payment history: $350.00 via paypal_1234567.", 350, "paid", True, MONEY),
    Row("It shows a total of $350, of which nothing was refunded.", 350, "paid", True, MONEY),
    Row("A business seat on HAT120 goes for $120.", 120, "fare", True, MONEY),
    Row(
        "HAT120 costs $120 in business (your cap is $150, so that's fine); HAT121 would be $230.",
        120,
        "fare",
        False,
        MONEY,
    ),
    Row("Your trips cost $415 all together, namely $270, $65 and $80.", 415, "total", True, MONEY),
    Row("The booking's timestamp reads May 8, 7:05 in the morning.", "2024-05-08", "booking", True, DAYS),
    Row("Reserved on: 5/8/24. Sorry!", "2024-05-08", "booking", True, DAYS),
    Row(
        "I can only cancel within 24 hours of booking. Yours was placed on the 8th of May.",
        "2024-05-08",
        "booking",
        True,
        DAYS,
    ),
    Row("Neither May 8 nor May 9 is right.", "2024-05-08", "booking", False, DAYS),
    Row("Booked May 8; you mentioned May 9.", "2024-05-08", "booking", True, DAYS),
    Row(
        "Today is May 14 and you made this reservation on May 8, so 24 hours have long passed.",
        "2024-05-08",
        "booking",
        True,
        DAYS,
    ),
    Row("You'd fly out May 10 rather than May 9.", "2024-05-10", "departure", True, DAYS),
    Row("The second Friday in May is the 10th, so I'd move you to May 10.", "2024-05-10", "departure", True, DAYS),
    Row(
        "I'd go for HAT222: it leaves 11:35, there are 4 seats left and it's $120 cheaper than the one at 12:20.",
        "11:35",
        "departure",
        False,
        TIMES,
    ),
    Row("HAT222 departs at 11:35 local time and touches down at 14:05.", "11:35", "departure", True, TIMES),
    Row("HAT222 departs at 11:35 local time and touches down at 14:05.", "14:05", "arrival", True, TIMES),
    Row("Outbound: HAT222, 11:35. Return: HAT223, 16:20.", "11:35", "departure", False, TIMES),
    Row(
        "There's one at 10:05, but it doesn't have enough room for all of you. The 11:35 does.",
        "11:35",
        "departure",
        True,
        TIMES,
    ),
    Row("This order got to you already, it's marked delivered.", "delivered", "status", True, STATUSES),
    Row("Your order is past the pending stage: it has been processed.", "processed", "status", True, STATUSES),
    Row(
        "You already changed the items of that order once, so no more changes.",
        "pending (item modified)",
        "status",
        True,
        STATUSES,
    ),
    Row("There's nothing left to change, the order was cancelled.", "cancelled", "status", True, STATUSES),
    Row("You've already asked to return items from this order.", "return requested", "status", True, STATUSES),
    Row("An exchange is already in the works for that order.", "exchange requested", "status", True, STATUSES),
    Row("It will be delivered tomorrow.", "delivered", "status", False, STATUSES),
    Row("It is no longer pending.", "pending", "status", False, STATUSES),
)
