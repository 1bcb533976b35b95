"""Facts that agents tell: every usual format states a value, and hedged, denied or stuffed messages do not."""

from __future__ import annotations

import time
from datetime import date, timedelta
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statements.messages import LATER, SEEN, UNSEEN, Row

from trace_gym.statements import ROLES, find_values, states_done, states_status, tells
from trace_gym.world import asserted

MAY = "2024-05-12"
DAYS = [(date(2024, 5, 1) + timedelta(n)).isoformat() for n in range(28)]
ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
FARES = list(range(52, 600, 7))


def as_dates(iso: str) -> list[str]:
    """A date in every format that people use for it."""
    on = date.fromisoformat(iso)
    month, short, n, y = f"{on:%B}", f"{on:%b}", on.day, on.year
    suffix = "th" if 10 <= n <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return [
        iso, f"{iso}T08:33:01", f"{iso} 08:33", f"{month} {n}, {y}", f"{month} {n}{suffix}, {y}", f"{month} {n}",
        f"{month} {n}{suffix}", f"{short} {n}", f"{short}. {n}, {y}", f"{n} {month} {y}", f"{n} {month}",
        f"the {n}{suffix} of {month}", f"{n}{suffix} of {month} {y}", f"{n} {short} {y}", f"{on.month:02d}/{n:02d}/{y}",
        f"{on.month}/{n}/{y}", f"{on.month}/{n}", f"{on.month:02d}/{n:02d}/{y % 100:02d}", f"{month.upper()} {n}",
        f"{month}\N{NO-BREAK SPACE}{n}", f"{y}/{on.month:02d}/{n:02d}", f"{on:%A}, {month} {n}",
    ]  # fmt: skip


def as_times(clock: str) -> list[str]:
    hour, minute = map(int, clock.split(":"))
    half, twelve = ("am", "pm")[hour // 12], (hour - 1) % 12 + 1
    return [
        clock, f"{clock}:00", f"{twelve}:{minute:02d} {half}", f"{twelve}:{minute:02d}{half}", f"{clock} est",
        f"{twelve}:{minute:02d} {half.upper()}", f"{twelve}.{minute:02d} {half[0]}.m.", f"{hour:02d}{minute:02d} hours",
        f"{hour:02d}h{minute:02d}", f"{twelve}:{minute:02d}\N{NARROW NO-BREAK SPACE}{half.upper()}",
        f"{twelve}:{minute:02d} {'in the morning' if hour < 12 else 'in the afternoon'}",
    ]  # fmt: skip


def as_amounts(number: float) -> list[str]:
    """An amount of dollars in every format that people use for it."""
    exact = f"{number:,.2f}"
    forms = [
        f"${exact}",
        f"{exact} dollars",
        f"USD {exact}",
        f"{exact} USD",
        f"US${exact}",
        f"**${exact}**",
        f"$ {exact}",
    ]
    if number == int(number):
        n = int(number)
        forms += [f"${n}", f"${n:,}", f"{n} dollars", f"{n:,} dollars", f"{n}", f"{n} bucks", f"{n}$", in_words(n)]
        forms += [str(n).translate({ord(str(d)): 0xFF10 + d for d in range(10)}) + " dollars"]
    else:
        forms += [f"{int(number)} dollars and {round(number % 1 * 100)} cents", exact.replace(",", "")]
    return forms


def in_words(n: int) -> str:
    ones, tens = ONES.split(), TENS.split()

    def below(k: int) -> str:
        if k < 20:
            return ones[k]
        if k < 100:
            return tens[k // 10 - 2] + (f"-{ones[k % 10]}" if k % 10 else "")
        return f"{ones[k // 100]} hundred" + (f" and {below(k % 100)}" if k % 100 else "")

    words = f"{below(n // 1000)} thousand " if n >= 1000 else ""
    return f"{words}{below(n % 1000) if n % 1000 or not words else ''}".strip() + " dollars"


BOOKED = [
    "Your reservation was booked on {}.", "You booked it on {}, so I cannot cancel it.",
    "I'm sorry, it was created on {} and cannot be refunded.", "The booking is from {}.", "Booking date: {}",
    "Our records show that the booking was made {}; that is too long ago.", "- Booked: {}\n- Insurance: no",
    "I can\N{RIGHT SINGLE QUOTATION MARK}t cancel ABC123 \N{EM DASH} it was booked on {}.",
]  # fmt: skip
REFUND = [
    "Your refund is {}.", "I will refund {} to your card.", "{} will be refunded to your gift card.",
    "You get {} back.",
    "{} goes back to credit_card_1234567.", "I cancelled it, and {} will be returned to your card.", "Refund: {}",
    "A credit of {} was issued.", "We are giving {} back to you within 5 to 7 business days.", "You will receive {}.",
    "The {} you paid will be refunded.", "ABC123 is cancelled; the refund of {} goes to your original payment method.",
]  # fmt: skip
CHARGE = [
    "I will charge {} to your card.", "The upgrade costs {}.", "You will be charged {}.", "You'll need to pay {}.",
    "The amount due is {}.", "That will be an additional {}.", "You owe {}.", "{} will be charged to your gift card.",
    "It'll cost you {} extra, billed to credit_card_1234567.", "A charge of {} goes on your card.",
]  # fmt: skip
LEAVES = [
    "Your flight departs at {}.", "It leaves at {}.", "HAT021 leaves at {} and lands much later.", "Departure: {}",
    "I would book the one that takes off at {}.", "The flight at {} is the cheapest one.",
]  # fmt: skip
DENIALS = [
    "It is not {}.", "It isn't {}.", "You said {}.", "You mentioned {}, I believe.",
    "Instead of {} it is another value.",
    "It might be {}.", "Maybe {}?", "Perhaps it is {}.", "It is probably {}.", "I am not sure whether it is {}.",
    "Is it {}?", "Was it {}?", "You thought it was {}.", "It could be {}.", "If it is {}, that is fine.",
    "It was never {}.", "According to you it is {}.", "It is no longer {}.", "You expected {}.",
]  # fmt: skip


@pytest.mark.parametrize("frame", BOOKED)
def test_date_of_booking_is_told_in_every_format(frame: str) -> None:
    for written in as_dates(MAY):
        said = [frame.format(written)]
        assert tells(MAY, DAYS, said, "booking"), said
        assert tells(MAY, DAYS, said), said
        assert not any(tells(other, DAYS, said, "booking") for other in DAYS if other != MAY), said


@pytest.mark.parametrize("frame", LEAVES)
@pytest.mark.parametrize("clock", ["14:05", "08:10", "00:30", "12:45", "21:00"])
def test_time_of_departure_is_told_in_every_format(frame: str, clock: str) -> None:
    rivals = ["02:05", "14:50", "20:10", "12:30", "00:45", "09:00", "14:05", "08:10", "00:30", "12:45", "21:00"]
    for written in as_times(clock):
        said = [frame.format(written)]
        assert tells(clock, rivals, said, "departure"), said
        assert not any(tells(other, rivals, said, "departure") for other in rivals if other != clock), said


@pytest.mark.parametrize(("role", "frame"), [*product(["refund"], REFUND), *product(["charge"], CHARGE)])
def test_amount_is_told_in_every_format_and_only_in_its_direction(role: str, frame: str) -> None:
    other = {"refund": "charge", "charge": "refund"}[role]
    for amount in (150.0, 1250.0, 83.75, 1234.5):
        for written in as_amounts(amount):
            said = [frame.format(written)]
            assert tells(amount, [150, 1250, 83.75, 1234.5, 15, 83, 75], said, role), said
            assert tells(amount, [150, 1250, 83.75, 1234.5, 15, 83, 75], said), said
            assert not tells(amount, [], said, other), said
            assert not any(tells(near, [], said, role) for near in (amount + 1, amount / 10, amount + 100, 2)), said


@pytest.mark.parametrize("frame", DENIALS)
@pytest.mark.parametrize(("value", "written"), [(150, "$150"), (MAY, "May 12"), ("14:05", "14:05"), ("Gold", "gold")])
def test_value_that_is_denied_hedged_or_repeated_is_not_told(frame: str, value: str | int, written: str) -> None:
    question = frame.startswith(("Is ", "Was "))
    assert tells(value, [], [frame.format(written)]) is (question and value == "Gold")  # a name in a question is a name


@pytest.mark.parametrize("frame", [*REFUND[:4], *CHARGE[:4], "It is {}.", "{}"])
@pytest.mark.parametrize("join", [" or ", "/", ", or ", " or maybe ", " and ", ", ", "-", " to ", "; "])
def test_two_candidates_are_not_told(frame: str, join: str) -> None:
    role = "refund" if frame in REFUND else "charge" if frame in CHARGE else ""
    for pair in permutations((150, 200)):
        said = [frame.format(join.join(f"${n}" for n in pair))]
        assert not any(tells(n, [150, 200], said, r) for n in pair for r in {role, ""}), said


@pytest.mark.parametrize("join", [", ", " ", "\n", " or ", ". ", "; ", " and ", " + ", " = "])
def test_naming_all_candidates_fails_in_every_role(join: str) -> None:
    for role in ("", "refund", "charge", "total", "fare", "paid"):
        lead = {"": "It is", "paid": "You paid"}.get(role, f"The {role} is")
        for said in (
            [f"{lead} {join.join(map(str, FARES))}."],
            [f"{lead} {n}." for n in FARES],
            [join.join(f"{lead} ${n}" for n in FARES)],
        ):
            assert not any(tells(n, FARES, said, role) for n in FARES[:9]), (role, said[0][:80])
    days = [join.join(f"Booked on {d}" for d in DAYS)]
    assert not any(tells(d, DAYS, days, r) for d in DAYS for r in ("", "booking"))


def test_naming_all_candidates_in_different_roles_fails_without_a_role() -> None:
    said = ["The refund is 150, you paid 200, your limit is 250, the balance is 300."]
    assert not any(tells(n, [150, 200, 250, 300], said) for n in (150, 200, 250, 300))


CONTEXT = {
    "paid": "You had paid ${} for it.",
    "fare": "The fare is ${} per person.",
    "limit": "That is below your limit of ${}.",
    "balance": "The balance on your gift card is ${}.",
    "fee": "The fee for a checked bag is ${}.",
    "charge": "The upgrade of the other trip will be charged: ${}.",
    "refund": "For the other trip, ${} will be refunded.",
}
MAIN = {
    "refund": "Your refund is ${}.",
    "charge": "I will charge ${}.",
    "paid": "You paid ${}.",
    "fare": "The fare is ${}.",
    "balance": "Your balance is ${}.",
}


@pytest.mark.parametrize(("asked", "other"), [(a, o) for a in MAIN for o in CONTEXT if a != o])
def test_value_in_another_role_does_not_compete(asked: str, other: str) -> None:
    for order in (1, -1):
        said = [" ".join([MAIN[asked].format(150), CONTEXT[other].format(200)][::order])]
        assert tells(150, [150, 200], said, asked), said
        assert not tells(200, [150, 200], said, asked), said


@pytest.mark.parametrize("said", [
    "You had paid 270 dollars. I refund 150 dollars.", "I refund 150 dollars of the 270 that you had paid.",
    "The fare was 270 per person. You will be refunded 150.", "$150 is refunded; the limit you set was $270.",
    "Your refund: 150 dollars (you paid 270 dollars).",
])  # fmt: skip
def test_context_of_an_answer_does_not_compete_without_a_role(said: str) -> None:
    assert asserted(150, [150, 270], [said])
    assert not asserted(270, [150, 270], [said])


@pytest.mark.parametrize("said", [
    "$120 + $80 = $200.", "120 dollars for the first and 80 dollars for the second, 200 dollars in total.",
    "In total you get 200 dollars back: 120 for ABC123 and 80 for DEF456.", "2 x 100 = 200 dollars.",
    "Two bags at $100 each: the total is $200.", "The total comes to $200 ($120 plus $80).",
])  # fmt: skip
def test_parts_of_a_sum_do_not_compete_with_its_total(said: str) -> None:
    for role in ("", "total"):
        assert asserted(200, [80, 100, 120, 200, 320], [said], role), role
        assert not asserted(120, [80, 100, 120, 200], [said], role) and not asserted(320, [200], [said], role)


@pytest.mark.parametrize("said", [
    "You would now land at 16:20 instead of 12:20.", "The landing time moves from 12:20 to 16:20.",
    "It used to land at 12:20; now it lands at 16:20.", "The old arrival was 12:20, the new arrival is 4:20 pm.",
    "Your arrival was 12:20 and is now 16:20.", "It leaves at 12:20 and lands at 16:20.",
    "It flies from 12:20 to 16:20.",
])  # fmt: skip
def test_old_time_and_departure_do_not_compete_with_the_arrival(said: str) -> None:
    assert asserted("16:20", ["12:20", "16:20"], [said], "arrival")
    assert not asserted("12:20", ["12:20", "16:20"], [said], "arrival")


@pytest.mark.parametrize("said", [
    "HAT001 at 11:05 is full, so I would book HAT002, which leaves at 12:10.",
    "The cheaper flight at 11:05 has only 2 seats left. I suggest the one at 12:10.",
    "There are not enough seats on the 11:05 flight; the next best departs at 12:10.",
])  # fmt: skip
def test_explanation_why_a_flight_is_full_does_not_compete(said: str) -> None:
    for role in ("", "departure"):
        assert asserted("12:10", ["11:05", "12:10"], [said], role)
        assert not asserted("11:05", ["11:05", "12:10"], [said], role)


@pytest.mark.parametrize("said", ["Ada Berg", "BERG, ADA", "ada  berg", "\u00c1da Berg", "It is Ada-Berg."])
def test_name_is_told_whatever_its_case_accents_and_order(said: str) -> None:
    assert asserted("Ada Berg", ["Ada Berg", "Bo Falk"], [said])
    assert not asserted("Bo Falk", [], [said]) and not asserted("Ada Berg", ["Bo Falk"], [f"{said} or Bo Falk"])


@pytest.mark.parametrize(("value", "said"), [
    ("#W1234567", "Order W1234567 is done."), ("#W1234567", "order #w1234567"), ("HAT021", "Flight HAT-021."),
    ("HAT021", "HAT 021 it is"), ("ABC123", "abc-123"), ("basic_economy", "a basic economy fare"),
    ("credit_card_1234567", "**credit_card_1234567**"), ("Gold", "You are a GOLD member"),
])  # fmt: skip
def test_id_is_told_with_any_separators(value: str, said: str) -> None:
    assert asserted(value, [value, "HAT022", "economy"], [said])
    assert not asserted(f"{value}0", [], [said]) and not asserted(value[:-1], [], [said])


def test_role_that_does_not_exist_or_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown role 'refnd' for a value in a statement: expected one of .*refund"):
        asserted(50, [], [], "refnd")
    with pytest.raises(ValueError, match="the date '2024-05-12' cannot have the role 'refund': expected booking"):
        asserted(MAY, [], [], "refund")
    with pytest.raises(ValueError, match="the phrase 'gold' cannot have the role"):
        asserted("gold", [], [], "refund")
    assert {"refund", "charge", "fare", "paid", "total", "booking", "departure", "arrival", "duration"} <= ROLES


@pytest.mark.parametrize(("said", "days"), [
    ("It was booked yesterday.", 14), ("It was booked today", 15), ("tomorrow", 16), ("on Friday", 17),
    ("last Friday", 10), ("next Wednesday", 22),
])  # fmt: skip
def test_relative_day_is_read_where_today_is_given(said: str, days: int) -> None:
    assert tells(f"2024-05-{days:02d}", DAYS, [said], today="2024-05-15T15:00:00")
    assert not tells(f"2024-05-{days:02d}", DAYS, [said])


STATUSES = ("pending", "processed", "delivered", "cancelled", "pending (item modified)", "exchange requested",
            "return requested")  # fmt: skip
SAYS = {
    "pending": ["it is still pending", "your order's status: pending", "the order has not been shipped yet"],
    "processed": ["it has already been processed", "it's processed", "it is being processed right now"],
    "delivered": ["it was delivered", "your delivered order can't be cancelled", "it has been delivered already"],
    "cancelled": ["it was cancelled before", "it is canceled already", "it has been called off"],
    "pending (item modified)": ["its items were already modified", "it is pending (item modified)",
                                "the items have been changed before", "an item of it was already exchanged"],
    "exchange requested": ["an exchange has already been requested for it", "its status is exchange requested"],
    "return requested": ["a return was requested for it", "a return is already under way"],
}  # fmt: skip


@pytest.mark.parametrize("status", STATUSES)
def test_status_is_told_in_other_words_and_no_other_status_is(status: str) -> None:
    for words in SAYS[status]:
        said = [f"I'm sorry, I can\N{RIGHT SINGLE QUOTATION MARK}t change #W1 because {words}. You paid $80."]
        assert states_status(status, said, STATUSES), said
        assert not any(states_status(s, said, STATUSES) for s in STATUSES if s != status), said


@pytest.mark.parametrize("said", [
    "It is pending, processed, delivered, cancelled, pending (item modified), exchange requested and return requested.",
    "It is not delivered.", "Only delivered orders can be returned.", "If it is delivered, you can return it.",
    "It has to be delivered first.", "You said it was delivered.", "It is delivered. It is pending.",
    "Maybe it is delivered or cancelled.", "Orders that are delivered can be returned.",
])  # fmt: skip
def test_status_that_is_stuffed_denied_or_conditional_is_not_told(said: str) -> None:
    assert not states_status("delivered", [said], STATUSES)


def test_status_of_another_record_does_not_count() -> None:
    said = ["I cannot cancel #W1: it is delivered. #W2, however, is pending."]
    orders = ["#W1", "#W2"]
    assert states_status("delivered", said, STATUSES, "#W1", orders)
    assert states_status("pending", said, STATUSES, "#W2", orders)
    assert not states_status("pending", said, STATUSES, "#W1", orders)


@pytest.mark.parametrize(("said", "done"), [
    ("I have cancelled ABC123 and refunded you in full.", True), ("ABC123 has been cancelled.", True),
    ("I've successfully canceled it.", True), ("Your reservation is now cancelled.", True),
    ("I cannot cancel ABC123.", False), ("ABC123 cannot be cancelled.", False), ("It has not been cancelled.", False),
    ("Once it has been cancelled, you get a refund.", False), ("I have not cancelled it.", False),
    ("I have cancelled DEF456.", False), ("It can't be cancelled, as no flight has been cancelled by us.", False),
    ("I can't say that I have cancelled it.", False),
])  # fmt: skip
def test_claim_that_an_action_is_done_is_recognized(said: str, done: bool) -> None:
    records = ["ABC123", *(["DEF456"] if "DEF456" in said else [])]
    assert states_done("cancelled", [said], "ABC123", records) is done


@pytest.mark.parametrize("said", [
    "Your reservation has been cancelled.", "All three have been cancelled.", "The other one has been cancelled.",
    "All other reservations have been cancelled.",
])  # fmt: skip
def test_one_of_several_records_must_be_named_by_a_claim_that_it_is_done(said: str) -> None:
    refused = "I cannot cancel ABC123. I will cancel DEF456."
    assert not states_done("cancelled", [refused, said], "ABC123", ["ABC123", "DEF456"])


def label(row: Row) -> bool:
    if row.role == "status":
        return states_status(str(row.value), [row.said], [str(r) for r in row.rivals])
    return tells(row.value, row.rivals, [row.said], row.role)


@pytest.mark.parametrize("row", [*SEEN, *UNSEEN, *LATER], ids=lambda r: r.said[:50])
def test_label_of_message(row: Row) -> None:
    assert label(row) is row.told, row


days = st.dates(date(2000, 1, 1), date(2099, 12, 31))
cents = st.integers(1, 99_999_99).map(lambda n: n / 100)


@given(days, st.integers(0, 21))
def test_every_format_of_any_date_is_read_back(on: date, form: int) -> None:
    written = as_dates(on.isoformat())[form]
    read = [v.value for v in find_values(f"Booked on {written}.") if v.kind == "date"]
    assert [d[1:] for d in read] == [(on.month, on.day)] and read[0][0] in (None, on.year), written


@given(cents, st.integers(0, 20))
def test_every_format_of_any_amount_is_read_back(amount: float, form: int) -> None:
    forms = as_amounts(amount)
    written = forms[form % len(forms)]
    assert [v.value for v in find_values(f"It is {written}.")] == [pytest.approx(amount)], written


@given(st.integers(1, 9999))
def test_any_amount_in_words_is_read_back(n: int) -> None:
    assert [v.value for v in find_values(f"It costs {in_words(n)} in all.")] == [n]


@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 9))
def test_every_format_of_any_time_is_read_back(hour: int, minute: int, form: int) -> None:
    written = as_times(f"{hour:02d}:{minute:02d}")[form]
    assert [v.value for v in find_values(f"at {written}")] == [f"{hour:02d}:{minute:02d}"], written


@given(
    st.lists(st.sampled_from(FARES), min_size=2, max_size=6, unique=True),
    st.sampled_from([", ", " or ", " and ", "; "]),
)
def test_list_of_candidates_tells_none_of_them(listed: list[int], join: str) -> None:
    said = [f"The refund is {join.join(f'${n}' for n in listed)}."]
    assert not any(tells(n, FARES, said, role) for n in listed for role in ("", "refund"))


@given(st.text(max_size=300), st.sampled_from(["", "refund", "total"]))
def test_any_text_is_read_without_an_error(text: str, role: str) -> None:
    assert isinstance(tells(50, [60], [text], role), bool)
    assert isinstance(states_status("delivered", [text], STATUSES, "#W1", ["#W2"]), bool)
    for value in find_values(text, "2024-05-15"):
        assert 0 <= value.start < value.end


def test_long_messages_are_read_in_linear_time() -> None:
    texts = [
        "not a the on at " * 20_000,
        "1,234 " * 20_000,
        "$50 or " * 3_000,
        "12 May " * 10_000,
        "you paid " * 20_000,
    ]
    for text in texts:
        start = time.process_time()
        tells(50, [60, 1234], [text], "refund")
        states_done("cancelled", [text]), states_status("delivered", [text], STATUSES)
        assert time.process_time() - start < 5, text[:20]


def test_slashes_of_a_date_do_not_make_times_options() -> None:
    said = ["HAT266 on 05/19/2024 leaves at 10:15 and HAT038 on 05/30/2024 leaves at 11:30."]
    assert tells("10:15", [], said, "departure") and tells("11:30", [], said, "departure")
    assert not tells("10:15", [], ["It leaves at 10:15 or 11:30."])


def test_what_a_method_gets_back_or_pays_has_a_direction() -> None:
    assert not tells(120, [], ["Your card gets $120 back."], "charge")
    assert tells(120, [], ["Your card gets 120 dollars back."], "refund")
    assert not tells(120, [], ["Your gift card pays $120."], "refund")
    assert tells(120, [], ["Your gift card pays $120."], "charge")
