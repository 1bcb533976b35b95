"""Rules of the tau2 policies for the expected calls of a task.

The rules of the base worlds (`policy` and `retail_policy`) apply, except for those that depend on the user's consent.
This module adds rules for calls that never occur in a base world: compensation, changes of the route, and bookings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from trace_gym.targets.task_files import Task
from trace_gym.targets.tau2 import policy, retail_policy
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.retail import RetailDesk
from trace_gym.targets.tau2.retail_tools import CANCEL_REASONS
from trace_gym.types import Call
from trace_gym.world import World

COVERED = re.compile(
    r"\b(?:sick|ill|illness|unwell|health|medical|hospital|surgery|injur\w+|disease|flu|fever|covid|pregnan\w+|weather|"
    r"storm|hurricane|snow\w*|blizzard)\b",
    re.IGNORECASE,
)
"""Pattern of words that state a reason for a cancellation that travel insurance covers."""
DENIED = re.compile(r"\b(?:not?|never|healthy|isn't|don't|without)\b", re.IGNORECASE)
MOST_PASSENGERS = 5
MOST_METHODS = {"certificate": 1, "credit_card": 1, "gift_card": 3}
"""Maximum number of payment methods of each kind for one reservation."""
CANCELLED, DELAYED = 100, 50
"""Value of a certificate in dollars per passenger, for a cancelled flight and for a delayed flight."""
CHANGES = ("cancel_reservation", "update_reservation_flights")


def violations(task: Task, world: World, call: Call, before: Mapping[str, Mapping[str, Data]]) -> list[str]:
    """Return the rules that a write call breaks in the current state of a world.

    Args:
        task: The task.
        world: World in which the earlier expected calls were run.
        call: The call.
        before: Tables of the database before the task.
    """
    if isinstance(world, RetailDesk):
        reason = str(call.arguments.get("reason", CANCEL_REASONS[0]))
        return retail_policy.violations(world, call.tool, call.arguments, reason)
    assert isinstance(world, AirlineDesk)
    if call.tool == "send_certificate":
        return list(_certificate(task, world, call.arguments, before))
    if call.tool == "book_reservation":
        return list(_booking(world, call.arguments))
    found = policy.violations(world, call.tool, call.arguments, stated_reason(task.instructions))
    return found + (list(_route(world, call.arguments)) if call.tool == "update_reservation_flights" else [])


def stated_reason(text: str) -> str:
    """Return the user's reason for a cancellation in the form that `policy.violations` expects.

    Return ``health`` if a sentence of the instructions states, and does not deny, a reason that the insurance covers.
    Otherwise, return ``change of plans``, because the rules do not distinguish other reasons.
    """
    sentences = re.split(r"[.!?\n]+", text)
    covered = any(COVERED.search(sentence) and not DENIED.search(sentence) for sentence in sentences)
    return "health" if covered else "change of plans"


def _certificate(task: Task, desk: AirlineDesk, given: Data, before: Mapping[str, Mapping[str, Data]]) -> Iterator[str]:
    """Yield the reasons why no complaint of the user justifies a certificate of this amount."""
    changed = {call.arguments.get("reservation_id") for call in task.calls if call.tool in CHANGES}
    owner = desk.users.get(str(given.get("user_id")), {})
    amounts: set[int] = set()
    for key, booking in before["reservations"].items():
        if booking["user_id"] != given.get("user_id"):
            continue
        states = {desk.status(leg["flight_number"], leg["date"]) for leg in booking["flights"]}
        business = booking["cabin"] == "business"
        eligible = owner.get("membership") != "regular" or booking["insurance"] == "yes" or business
        people = len(booking["passengers"])
        amounts |= {CANCELLED * people} if eligible and "cancelled" in states else set()
        amounts |= {DELAYED * people} if eligible and "delayed" in states and key in changed else set()
    if given.get("amount") not in amounts:
        yield (
            "no flight of the customer justifies this certificate: a delayed flight requires that the reservation is "
            "changed or cancelled, and a cancelled flight a member, an insurance or business class; amounts that the "
            f"rules allow: {', '.join(map(str, sorted(amounts))) or 'none'}"
        )


def _route(desk: AirlineDesk, given: Data) -> Iterator[str]:
    """Yield a message if the new flights change the origin, the destination or the trip type of a reservation."""
    booking = desk.reservations.get(str(given.get("reservation_id")))
    ends = _ends(desk, given["flights"]) if booking else None
    if booking is None or ends is None:
        return
    start, stops, end = ends
    back = booking["flight_type"] == "round_trip"
    fits = start == booking["origin"] and end == (start if back else booking["destination"])
    if not fits or booking["destination"] not in stops:
        yield (
            f"the {booking['flight_type'].replace('_', ' ')} from {booking['origin']} to {booking['destination']} "
            f"becomes {' - '.join([start, *stops])}"
        )


def _booking(desk: AirlineDesk, given: Data) -> Iterator[str]:
    """Yield the rules for new reservations that a booking breaks."""
    people = len(given["passengers"])
    if people > MOST_PASSENGERS:
        yield f"{people} passengers are booked, and the rules allow {MOST_PASSENGERS}"
    owner = desk.users.get(str(given["user_id"]), {})
    methods = owner.get("payment_methods", {})
    kinds = Counter(methods[p["payment_id"]]["source"] for p in given["payment_methods"] if p["payment_id"] in methods)
    for kind, most in MOST_METHODS.items():
        if kinds[kind] > most:
            yield f"{kinds[kind]} methods of the kind {kind} pay, and the rules allow {most}"
    free = policy.free_bags(owner["membership"], given["cabin"], people) if owner else 0
    if owner and given["nonfree_baggages"] != max(0, given["total_baggages"] - free):
        yield f"{given['nonfree_baggages']} of {given['total_baggages']} bags are paid, and {free} bags are free"
    ends = _ends(desk, given["flights"])
    if ends is not None:
        start, stops, end = ends
        back = given["flight_type"] == "round_trip"
        if start != given["origin"] or given["destination"] not in stops or (end == start) != back:
            yield f"the flights {' - '.join([start, *stops])} are not from {given['origin']} to {given['destination']}"


def _ends(desk: AirlineDesk, legs: list[Data]) -> tuple[str, list[str], str] | None:
    """Return the first airport of a trip, the airports after it, and the last one; None if a flight does not exist."""
    plans = [desk.flights.get(str(leg.get("flight_number"))) for leg in legs]
    if not plans or any(plan is None for plan in plans):
        return None
    known = [plan for plan in plans if plan is not None]
    stops = [str(plan["destination"]) for plan in known]
    return str(known[0]["origin"]), stops, stops[-1]
