"""Policy engine of the airline domain, which derives permissions and prices from the records according to the rules."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from trace_gym.targets.tau2.desk import ALLOWED, Verdict
from trace_gym.targets.tau2.records import CABINS, NOW, Data

COVERED = ("health", "weather")
"""Reasons that the travel insurance covers."""
_NOW = datetime.fromisoformat(NOW)
BAG_PRICE = 50
INSURANCE_PRICE = 30


class AirlineRecords(Protocol):
    """The records that the rules of the airline domain read. Every base world of the domain has them."""

    users: dict[str, Data]
    reservations: dict[str, Data]

    def status(self, number: str, date: str) -> str | None:
        """Return the status of a flight on a date."""

    def certificate_due(self) -> int | None:
        """Return the amount of the certificate that the rules grant; None if no request is about certificates."""


def flown(desk: AirlineRecords, booking: Data) -> bool:
    """Return whether a flight of the reservation has taken off."""
    return any(desk.status(f["flight_number"], f["date"]) in ("landed", "flying") for f in booking["flights"])


def cancel(desk: AirlineRecords, booking: Data, reason: str) -> Verdict:
    """Return whether the rules allow cancelling a reservation.

    Args:
        reason: The customer's reason: ``change of plans``, ``health``, ``weather`` or ``airline``.
    """
    if booking["status"] == "cancelled":
        return Verdict(False, "it is cancelled already")
    if flown(desk, booking):
        return Verdict(False, "a flight has been flown", transfer=True)
    if _NOW - datetime.fromisoformat(booking["created_at"]) < timedelta(hours=24):
        return Verdict(True, "booked less than 24 hours ago")
    if any(desk.status(f["flight_number"], f["date"]) == "cancelled" for f in booking["flights"]):
        return Verdict(True, "the airline cancelled a flight")
    if booking["cabin"] == "business":
        return Verdict(True, "business class")
    if booking["insurance"] == "yes" and reason in COVERED:
        return Verdict(True, f"insured, and the reason is {reason}")
    return Verdict(False, f"{booking['cabin']}, booked {booking['created_at'][:10]}, insurance {booking['insurance']}")


def change_flights(desk: AirlineRecords, booking: Data) -> Verdict:
    """Return whether the rules allow changing the flights of a reservation. Requests never change the route."""
    if booking["status"] == "cancelled":
        return Verdict(False, "it is cancelled")
    if booking["cabin"] == "basic_economy":
        return Verdict(False, "basic_economy flights cannot be changed")
    return ALLOWED


def change_cabin(desk: AirlineRecords, booking: Data) -> Verdict:
    """Return whether the rules allow changing the cabin of a reservation."""
    if booking["status"] == "cancelled":
        return Verdict(False, "it is cancelled")
    return Verdict(False, "a flight has been flown") if flown(desk, booking) else ALLOWED


def free_bags(membership: str, cabin: str, passengers: int) -> int:
    """Return the number of free checked bags for the whole reservation."""
    return (("regular", "silver", "gold").index(membership) + CABINS.index(cabin)) * passengers


def refund(booking: Data) -> int:
    """Return the number of dollars that are refunded when the reservation is cancelled."""
    return sum(p["amount"] for p in booking["payment_history"])


def violations(desk: AirlineRecords, tool: str, arguments: Data, reason: str = "change of plans") -> list[str]:
    """Return the rules that a write call would break in the current state. The list is empty if the call is allowed."""
    booking = desk.reservations.get(arguments.get("reservation_id", ""))
    if tool == "send_certificate":
        due = desk.certificate_due()
        if due is None:
            return ["a certificate needs a complaint, which no request here makes"]
        return [] if due and arguments.get("amount") == due else [f"a certificate over {due or 'no'} dollars is due"]
    if booking is None:
        return [] if tool == "book_reservation" else [f"{tool} on a reservation that does not exist"]
    found: list[str] = []
    if tool == "cancel_reservation" and not (verdict := cancel(desk, booking, reason)).allowed:
        found.append(f"cancelled although {verdict.why}")
    if tool == "update_reservation_flights":
        route = [(f["flight_number"], f["date"]) for f in booking["flights"]]
        if [(f["flight_number"], f["date"]) for f in arguments["flights"]] != route:
            found += [v.why for v in [change_flights(desk, booking)] if not v.allowed]
        if arguments["cabin"] != booking["cabin"]:
            found += [v.why for v in [change_cabin(desk, booking)] if not v.allowed]
    if tool == "update_reservation_baggages":
        owner = desk.users[booking["user_id"]]
        free = free_bags(owner["membership"], booking["cabin"], len(booking["passengers"]))
        if arguments["total_baggages"] < booking["total_baggages"]:
            found.append("bags may not be removed")
        if arguments["nonfree_baggages"] != max(booking["nonfree_baggages"], arguments["total_baggages"] - free):
            found.append(f"{free} bags are free")
    if tool == "update_reservation_passengers" and len(arguments["passengers"]) != len(booking["passengers"]):
        found.append("the number of passengers may not change")
    if str(arguments.get("payment_id", "")).startswith("certificate"):
        found.append("a certificate cannot pay for a change")
    return found
