"""The 14 tools of the airline domain, with the effects and record shapes of tau2."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar

from trace_gym.targets.tau2.generic import HERE, GenericTools, found, interface_of_domain
from trace_gym.targets.tau2.policy import BAG_PRICE, INSURANCE_PRICE
from trace_gym.targets.tau2.recorded import AirlineRecorded
from trace_gym.targets.tau2.records import AIRPORTS, NOW, Data
from trace_gym.types import Interface
from trace_gym.world import ToolError, tool

__all__ = ["HERE", "AirlineTools", "airline_interface"]


def airline_interface() -> Interface:
    """Return the tau2 airline interface; see `interface_of_domain`."""
    return interface_of_domain("airline")


@dataclass(kw_only=True)
class AirlineTools(AirlineRecorded, GenericTools):
    """State of the airline domain (customers, reservations, flights) and the tools that read and change the state."""

    target: ClassVar[str] = "tau2_airline"
    users: dict[str, Data] = field(default_factory=dict)
    reservations: dict[str, Data] = field(default_factory=dict)
    flights: dict[str, Data] = field(default_factory=dict)
    transferred: bool = False

    @classmethod
    def interface(cls) -> Interface:
        return airline_interface()

    def status(self, number: str, date: str) -> str | None:
        """Return the status of a flight on a date, or None if the flight does not operate on this date."""
        on = self.flights.get(number, {}).get("dates", {}).get(date)
        return on["status"] if on else None

    def amounts(self) -> frozenset[int]:
        """Return all payments and flight prices in the reservations."""
        return frozenset(p["amount"] for r in self.reservations.values() for p in r["payment_history"]) | frozenset(
            f["price"] for r in self.reservations.values() for f in r["flights"]
        )

    @tool
    def get_user_details(self, user_id: str) -> Data:
        return found(self.users, user_id, "customer")

    @tool
    def get_reservation_details(self, reservation_id: str) -> Data:
        return found(self.reservations, reservation_id, "reservation")

    @tool
    def get_flight_status(self, flight_number: str, date: str) -> str:
        if (status := self.status(flight_number, date)) is None:
            raise ToolError(f"{flight_number} does not fly on {date}")
        return status

    @tool
    def list_all_airports(self) -> list[Data]:
        return [{"iata": code, "city": city} for code, city in AIRPORTS.items()]

    @tool
    def search_direct_flight(self, origin: str, destination: str, date: str) -> list[Data]:
        return self._search(origin, destination, date)

    @tool
    def search_onestop_flight(self, origin: str, destination: str, date: str) -> list[list[Data]]:
        found = []
        for first in self._search(origin, None, date):
            landed = first["scheduled_arrival_time_est"]  # tau2 marks an arrival on the next day with +1
            day = _next_day(date) if landed.endswith("+1") else date
            for second in self._search(first["destination"], destination, day):
                if second["scheduled_departure_time_est"] >= landed:
                    found.append([first, second])
        return found

    @tool(kind="write")
    def cancel_reservation(self, reservation_id: str) -> Data:
        booking = found(self.reservations, reservation_id, "reservation")
        if booking["status"] == "cancelled":
            raise ToolError(f"reservation {reservation_id} is cancelled already")
        paid = booking["payment_history"]
        booking["payment_history"] = paid + [{**p, "amount": -p["amount"]} for p in paid]
        booking["status"] = "cancelled"
        return booking

    @tool(kind="write")
    def update_reservation_baggages(
        self, reservation_id: str, total_baggages: int, nonfree_baggages: int, payment_id: str
    ) -> Data:
        booking = found(self.reservations, reservation_id, "reservation")
        if not 0 <= nonfree_baggages <= total_baggages <= 50:
            raise ToolError("bags must satisfy 0 <= nonfree_baggages <= total_baggages <= 50")
        price = BAG_PRICE * max(0, nonfree_baggages - booking["nonfree_baggages"])
        self._settle(booking, payment_id, price)
        booking.update(total_baggages=total_baggages, nonfree_baggages=nonfree_baggages)
        return booking

    @tool(kind="write")
    def update_reservation_flights(self, reservation_id: str, cabin: str, flights: list[Data], payment_id: str) -> Data:
        booking = found(self.reservations, reservation_id, "reservation")
        if not flights:
            raise ToolError("flights must hold at least one flight")
        legs = [self._leg(f, cabin, booking) for f in flights]
        people = len(booking["passengers"])
        price = (sum(leg["price"] for leg in legs) - sum(f["price"] for f in booking["flights"])) * people
        self._settle(booking, payment_id, price)
        booking.update(flights=legs, cabin=cabin)
        return booking

    @tool(kind="write")
    def update_reservation_passengers(self, reservation_id: str, passengers: list[Data]) -> Data:
        booking = found(self.reservations, reservation_id, "reservation")
        if len(passengers) != len(booking["passengers"]):
            raise ToolError(f"the reservation has {len(booking['passengers'])} passengers; their number may not change")
        booking["passengers"] = _passengers(passengers)
        return booking

    @tool(kind="write")
    def book_reservation(
        self, user_id: str, origin: str, destination: str, flight_type: str, cabin: str, flights: list[Data],
        passengers: list[Data], payment_methods: list[Data], total_baggages: int, nonfree_baggages: int, insurance: str,
    ) -> Data:  # fmt: skip
        owner = found(self.users, user_id, "customer")
        people = _passengers(passengers)
        if not flights or not people:
            raise ToolError("a booking needs at least one flight and one passenger")
        if not 0 <= nonfree_baggages <= total_baggages <= 50:
            raise ToolError("bags must satisfy 0 <= nonfree_baggages <= total_baggages <= 50")
        code = _free(("HATHAT", "HATHAU", "HATHAV", "HATHAW"), self.reservations)
        booking: Data = {
            "reservation_id": code, "user_id": user_id, "origin": origin, "destination": destination,
            "flight_type": flight_type, "cabin": cabin, "flights": [], "passengers": people, "payment_history": [],
            "created_at": NOW, "total_baggages": total_baggages, "nonfree_baggages": nonfree_baggages,
            "insurance": insurance, "status": None,
        }  # fmt: skip
        booking["flights"] = [self._leg(f, cabin, booking) for f in flights]
        extras = INSURANCE_PRICE * len(people) * (insurance == "yes") + BAG_PRICE * nonfree_baggages
        price = sum(f["price"] for f in booking["flights"]) * len(people) + extras
        paid: list[Data] = [{"payment_id": str(p.get("payment_id")), "amount": _amount(p)} for p in payment_methods]
        if len({p["payment_id"] for p in paid}) < len(paid):
            raise ToolError("each payment method can be named once")
        for payment in paid:
            method = found(owner["payment_methods"], payment["payment_id"], "stored payment method")
            if method.get("amount", payment["amount"]) < payment["amount"]:
                raise ToolError(f"{payment['payment_id']} holds {method['amount']} dollars only")
        if (offered := sum(p["amount"] for p in paid)) != price:
            raise ToolError(f"the trip costs {price} dollars and the payments add up to {offered}")
        for payment in paid:
            method = owner["payment_methods"][payment["payment_id"]]
            if method["source"] == "gift_card":
                method["amount"] -= payment["amount"]
            elif method["source"] == "certificate":
                del owner["payment_methods"][payment["payment_id"]]
        for leg in booking["flights"]:
            self.flights[leg["flight_number"]]["dates"][leg["date"]]["available_seats"][cabin] -= len(people)
        booking["payment_history"] = paid
        self.reservations[code] = booking
        owner["reservations"].append(code)
        return booking

    @tool(kind="write")
    def send_certificate(self, user_id: str, amount: int) -> str:
        owner = found(self.users, user_id, "customer")
        if not 0 < amount <= 10_000:
            raise ToolError("the amount must lie between 1 and 10000 dollars")
        key = _free([f"certificate_{n:07d}" for n in range(1, 100)], owner["payment_methods"])
        owner["payment_methods"][key] = {"source": "certificate", "id": key, "amount": amount}
        return f"{key} over {amount} dollars was added to {user_id}"

    def _search(self, origin: str, destination: str | None, date: str) -> list[Data]:
        found = []
        for f in self.flights.values():
            on = f["dates"].get(date)
            if f["origin"] == origin and destination in (None, f["destination"]) and on and on["status"] == "available":
                head = {k: v for k, v in f.items() if k != "dates"}
                seats, prices = on["available_seats"], on["prices"]
                found.append({**head, "status": "available", "date": date, "available_seats": seats, "prices": prices})
        return found

    def _leg(self, wanted: Data, cabin: str, booking: Data) -> Data:
        """Return the record of one flight in a reservation. A flight that stays in the reservation keeps its price."""
        number, date = str(wanted.get("flight_number")), str(wanted.get("date"))
        for kept in booking["flights"]:
            if (kept["flight_number"], kept["date"], booking["cabin"]) == (number, date, cabin):
                return dict(kept)
        plan = found(self.flights, number, "flight")
        on = plan["dates"].get(date)
        if on is None or on["status"] != "available":
            raise ToolError(f"{number} cannot be booked on {date}")
        if on["available_seats"][cabin] < len(booking["passengers"]):
            raise ToolError(f"{number} on {date} has {on['available_seats'][cabin]} {cabin} seats left")
        return {
            "flight_number": number, "origin": plan["origin"], "destination": plan["destination"], "date": date,
            "price": on["prices"][cabin],
        }  # fmt: skip

    def _settle(self, booking: Data, payment_id: str, price: int) -> None:
        """Charge a stored payment method, or refund the amount if the price is negative.

        If the payment method cannot be used, refuse before any record is changed.
        """
        methods = self.users[booking["user_id"]]["payment_methods"]
        method = found(methods, payment_id, "stored payment method")
        if method["source"] == "certificate":
            raise ToolError("a certificate cannot pay for a change; name a gift card or a credit card")
        if method["source"] == "gift_card":
            if method["amount"] < price:
                raise ToolError(f"{payment_id} holds {method['amount']} dollars only, {price} are due")
            method["amount"] -= price
        if price:
            booking["payment_history"] = [*booking["payment_history"], {"payment_id": payment_id, "amount": price}]


def _free(keys: Iterable[str], taken: dict[str, Data]) -> str:
    """Return the first key that is not in use."""
    for key in keys:
        if key not in taken:
            return key
    raise ToolError("no more of these can be made; hand the customer over")


def _next_day(date: str) -> str:
    return (datetime.fromisoformat(date) + timedelta(days=1)).date().isoformat()


def _passengers(passengers: list[Data]) -> list[Data]:
    names = ("first_name", "last_name", "dob")
    for p in passengers:
        if set(p) != set(names):
            raise ToolError("each passenger holds exactly first_name, last_name and dob")
    return [{n: str(p[n]) for n in names} for p in passengers]


def _amount(payment: Data) -> int:
    if not isinstance(amount := payment.get("amount"), int) or isinstance(amount, bool) or amount < 0:
        raise ToolError("each payment holds payment_id and a whole amount of dollars")
    return amount
