"""Requests of airline customers. Each class defines the rules, the write call and the checks of one kind of request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trace_gym.targets.tau2 import desk as base
from trace_gym.targets.tau2 import policy
from trace_gym.targets.tau2.claims import booking_told as booking_told  # environments import these from here
from trace_gym.targets.tau2.claims import misinformed as misinformed
from trace_gym.targets.tau2.desk import PRECISION, PRECONDITION, STRUCTURED, Verdict
from trace_gym.targets.tau2.differences import neutral as neutral
from trace_gym.targets.tau2.methods import by_id as by_id
from trace_gym.targets.tau2.prices import wrong_fares as wrong_fares
from trace_gym.targets.tau2.records import FARES, Data, day
from trace_gym.targets.tau2.refunds import exchanged
from trace_gym.world import Call, Check, asserted

if TYPE_CHECKING:
    from trace_gym.targets.tau2.airline import AirlineDesk

BOOKING_DAYS = tuple(day(n) for n in range(-14, 0))
OTHER_PRICES = frozenset(FARES) | frozenset(f + 30 for f in FARES)


@dataclass
class Request(base.CustomerRequest["AirlineDesk"]):
    """Base class of requests about one reservation."""

    reservation: str

    @property
    def record(self) -> str:
        return self.reservation

    def reads(self, desk: AirlineDesk, skills: frozenset[str]) -> Iterator[Call]:
        yield Call("get_reservation_details", {"reservation_id": self.reservation})

    def refusal_checks(self, start: AirlineDesk, said: list[str]) -> Iterator[Check]:
        booking = start.reservations[self.reservation]
        others = {b["created_at"][:10] for b in start.reservations.values()}  # may be told of the other reservations
        booked = booking_told(booking["created_at"][:10], set(BOOKING_DAYS) - others, said)
        refused = start.refused(self.reservation, said, booked) and not self.claimed_done(start, said)
        yield Check.goal(f"the customer was told that {self.reservation} cannot be served", refused)
        cabins = {booking["cabin"], *(r.cabin for r in start.requests if isinstance(r, Upgrade))}
        told = refused and booked and not misinformed(booking, cabins, start.reservations, said)
        yield Check.goal(f"the customer was told on which day {self.reservation} was booked", told)


@dataclass
class Cancel(Request):
    """Request to cancel a whole reservation, with a reason."""

    kind: ClassVar[str] = "cancel"
    done: ClassVar[str] = "cancelled|refunded"
    reason: str = "change of plans"

    def reads(self, desk: AirlineDesk, skills: frozenset[str]) -> Iterator[Call]:
        yield from super().reads(desk, skills)
        if self.reason == "airline" and PRECONDITION in skills:  # believe the records, not the customer
            for leg in desk.reservations[self.reservation]["flights"]:
                yield Call("get_flight_status", {"flight_number": leg["flight_number"], "date": leg["date"]})

    def verdict(self, desk: AirlineDesk) -> Verdict:
        return policy.cancel(desk, desk.reservations[self.reservation], self.reason)

    def call(self, desk: AirlineDesk, skills: frozenset[str]) -> Call:
        return Call("cancel_reservation", {"reservation_id": self.reservation})

    def offer(self, desk: AirlineDesk, skills: frozenset[str]) -> str:
        return f"cancel {self.reservation}, refund {policy.refund(desk.reservations[self.reservation])}"

    def checks(self, desk: AirlineDesk, start: AirlineDesk, want: AirlineDesk, said: list[str]) -> Iterator[Check]:
        cancelled = desk.reservations[self.reservation]["status"] == "cancelled"
        yield Check.goal(f"{self.reservation} is cancelled", cancelled)
        # Refunds of several reservations may be told in one message; any other refund is a competing claim.
        back = policy.refund(start.reservations[self.reservation])
        told = cancelled and asserted(back, OTHER_PRICES - start.amounts(), said, "refund")
        told = told and not self.exchanged(start, said) and not wrong_fares(start, want, said)
        yield Check.goal(f"the customer was told what comes back for {self.reservation}", told)

    def exchanged(self, start: AirlineDesk, said: list[str]) -> bool:
        """Return whether messages confuse the refund of this cancellation with another one; see `refunds.exchanged`."""
        booked = {r.record: start.reservations[r.record] for r in start.requests if isinstance(r, Cancel)}
        backs = {code: policy.refund(booking) for code, booking in booked.items()}
        own = {leg["price"] for leg in start.reservations[self.reservation]["flights"]}
        return exchanged(self.reservation, backs, own, start.reservations, said)


@dataclass
class PaidReservationChange(Request):
    """Base class of a request for a change whose price difference goes to a stored payment method of the customer."""

    method: str = ""
    """Id of the payment method that the customer means."""
    named: str = ""
    """The customer's name for the payment method, such as ``my gift card``; empty for the original payment method."""

    def reads(self, desk: AirlineDesk, skills: frozenset[str]) -> Iterator[Call]:
        yield from super().reads(desk, skills)
        if self.named and PRECISION in skills:
            yield Call("get_user_details", {"user_id": desk.customer})

    def payment(self, desk: AirlineDesk, skills: frozenset[str]) -> str:
        """Return the payment method in an expert's call: without precision, the one that paid for the booking."""
        original: str = desk.reservations[self.reservation]["payment_history"][0]["payment_id"]
        return self.method if self.named and PRECISION in skills else original

    def charged(self, desk: AirlineDesk, want: AirlineDesk) -> bool:
        return self._payments(desk) == self._payments(want)

    def settled(self, desk: AirlineDesk, start: AirlineDesk, want: AirlineDesk, said: list[str]) -> bool:
        """Return whether the right payment method was charged or refunded and no message states a wrong amount."""
        return self.charged(desk, want) and not wrong_fares(start, want, said)

    def _payments(self, desk: AirlineDesk) -> list[Data]:
        payments: list[Data] = desk.reservations[self.reservation]["payment_history"]
        return payments


@dataclass
class Upgrade(PaidReservationChange):
    """Request to fly the same flights in another cabin."""

    kind: ClassVar[str] = "upgrade"
    done: ClassVar[str] = "upgraded"
    cabin: str = "business"

    def verdict(self, desk: AirlineDesk) -> Verdict:
        return policy.change_cabin(desk, desk.reservations[self.reservation])

    def call(self, desk: AirlineDesk, skills: frozenset[str]) -> Call:
        legs = _legs(desk.reservations[self.reservation])
        payment = self.payment(desk, skills)
        arguments = {"reservation_id": self.reservation, "cabin": self.cabin, "flights": legs, "payment_id": payment}
        return Call("update_reservation_flights", arguments)

    def offer(self, desk: AirlineDesk, skills: frozenset[str]) -> str:
        return f"{self.cabin} for {self.reservation}, charged to {self.payment(desk, skills)}"

    def checks(self, desk: AirlineDesk, start: AirlineDesk, want: AirlineDesk, said: list[str]) -> Iterator[Check]:
        booking, wanted = desk.reservations[self.reservation], want.reservations[self.reservation]
        moved = booking["cabin"] == self.cabin and booking["flights"] == wanted["flights"]
        yield Check.goal(f"{self.reservation} flies in {self.cabin}", moved)
        settled = moved and self.settled(desk, start, want, said)
        yield Check.goal(f"the difference for {self.reservation} is on {self.method}, and not misstated", settled)


@dataclass
class Bags(PaidReservationChange):
    """Request to check in more bags."""

    kind: ClassVar[str] = "add bags to"
    done: ClassVar[str] = "added"
    extra: int = 1

    def reads(self, desk: AirlineDesk, skills: frozenset[str]) -> Iterator[Call]:
        yield from Request.reads(self, desk, skills)
        if PRECISION in skills:  # the allowance depends on the membership
            yield Call("get_user_details", {"user_id": desk.customer})

    def call(self, desk: AirlineDesk, skills: frozenset[str]) -> Call:
        booking = desk.reservations[self.reservation]
        total = booking["total_baggages"] + self.extra
        member = desk.users[booking["user_id"]]["membership"]
        free = policy.free_bags(member, booking["cabin"], len(booking["passengers"])) if PRECISION in skills else 0
        arguments = {
            "reservation_id": self.reservation,
            "total_baggages": total,
            "nonfree_baggages": max(booking["nonfree_baggages"], total - free),
            "payment_id": self.payment(desk, skills),
        }
        return Call("update_reservation_baggages", arguments)

    def offer(self, desk: AirlineDesk, skills: frozenset[str]) -> str:
        arguments = self.call(desk, skills).arguments
        bags = f"{arguments['total_baggages']} bags, {arguments['nonfree_baggages']} of them paid"
        return f"{bags}, for {self.reservation}, charged to {arguments['payment_id']}"

    def checks(self, desk: AirlineDesk, start: AirlineDesk, want: AirlineDesk, said: list[str]) -> Iterator[Check]:
        booking, wanted = desk.reservations[self.reservation], want.reservations[self.reservation]
        total = booking["total_baggages"] == wanted["total_baggages"]
        paid = total and booking["nonfree_baggages"] == wanted["nonfree_baggages"]
        yield Check.goal(f"{self.reservation} has {wanted['total_baggages']} bags", total)
        yield Check.goal(f"{wanted['nonfree_baggages']} bags of {self.reservation} are paid for", paid)
        if wanted["payment_history"] != start.reservations[self.reservation]["payment_history"]:
            settled = total and self.settled(desk, start, want, said)
            yield Check.goal(f"the bags of {self.reservation} are on {self.method}, at no other price", settled)


@dataclass
class ChangeFlights(PaidReservationChange):
    """Request to move to the cheapest flight of the same route on a given day that meets the customer's conditions."""

    kind: ClassVar[str] = "move"
    chosen: ClassVar[bool] = True
    done: ClassVar[str] = "moved|rebooked"
    date: str = ""
    after: int = 0
    """Earliest hour of departure that suits the customer."""

    def reads(self, desk: AirlineDesk, skills: frozenset[str]) -> Iterator[Call]:
        yield from super().reads(desk, skills)
        booking = desk.reservations[self.reservation]
        route = {"origin": booking["origin"], "destination": booking["destination"], "date": self.date}
        yield Call("search_direct_flight", route)

    def verdict(self, desk: AirlineDesk) -> Verdict:
        return policy.change_flights(desk, desk.reservations[self.reservation])

    def choice(self, desk: AirlineDesk, skills: frozenset[str]) -> str:
        """Return the flight number that an expert chooses: without structured reasoning, the first one in the list."""
        booking = desk.reservations[self.reservation]
        found = desk.search_direct_flight(booking["origin"], booking["destination"], self.date)
        if STRUCTURED not in skills:
            return str(found[0]["flight_number"])
        cabin, people = booking["cabin"], len(booking["passengers"])
        fits = [
            f for f in found
            if int(f["scheduled_departure_time_est"][:2]) >= self.after and f["available_seats"][cabin] >= people
        ]  # fmt: skip
        return str(min(fits, key=lambda f: f["prices"][cabin])["flight_number"])

    def call(self, desk: AirlineDesk, skills: frozenset[str]) -> Call:
        arguments = {
            "reservation_id": self.reservation,
            "cabin": desk.reservations[self.reservation]["cabin"],
            "flights": [{"flight_number": self.choice(desk, skills), "date": self.date}],
            "payment_id": self.payment(desk, skills),
        }
        return Call("update_reservation_flights", arguments)

    def offer(self, desk: AirlineDesk, skills: frozenset[str]) -> str:
        return f"{self.choice(desk, skills)} on {self.date} for {self.reservation}"

    def checks(self, desk: AirlineDesk, start: AirlineDesk, want: AirlineDesk, said: list[str]) -> Iterator[Check]:
        booking, wanted = desk.reservations[self.reservation], want.reservations[self.reservation]
        moved = [f["date"] for f in booking["flights"]] == [self.date]
        yield Check.goal(f"{self.reservation} flies on {self.date}", moved)
        best = moved and booking["flights"] == wanted["flights"]
        yield Check.goal(f"{self.reservation} flies with the cheapest fitting flight", best)
        settled = best and self.settled(desk, start, want, said)
        yield Check.goal(f"the difference for {self.reservation} is settled, and not misstated", settled)


def _legs(booking: Data) -> list[Data]:
    return [{"flight_number": f["flight_number"], "date": f["date"]} for f in booking["flights"]]
