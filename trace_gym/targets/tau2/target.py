"""The targets of tau2-bench: the airline domain and the retail domain."""

from __future__ import annotations

from trace_gym.targets.base import Reader, Roles, Specific, Target
from trace_gym.targets.constants import frozen
from trace_gym.targets.tau2.needs import DESCRIPTIONS
from trace_gym.targets.tau2.results import is_tau2, read_tau2
from trace_gym.targets.tau2.tau_bench_results import is_tau_bench, read_tau_bench

_PACKAGE = "trace_gym.targets.tau2"
_TASK_FILE = f"{_PACKAGE}.task_file:read_task_file"
_SHARED = ("users.scripted", "users.answers")

ROLES = Roles(
    entities=("reservation_id", "order_id", "user_id"),  # a booking has no reservation id, so it acts on its customer
    selectors=frozenset({"flights", "cabin", "origin", "destination", "new_item_ids"}),
    creates=frozenset({"book_reservation", "send_certificate"}),
    routine=frozenset(
        {"book_reservation", "modify_user_address", "update_reservation_baggages", "update_reservation_passengers"}
    ),
    lookups=(
        (
            frozenset(
                {
                    "cancel_reservation",
                    "update_reservation_baggages",
                    "update_reservation_flights",
                    "update_reservation_passengers",
                }
            ),
            frozenset({"get_reservation_details"}),
        ),
        (frozenset({"book_reservation", "send_certificate"}), frozenset({"get_user_details"})),
        (
            frozenset(
                {
                    "cancel_pending_order",
                    "exchange_delivered_order_items",
                    "modify_pending_order_address",
                    "modify_pending_order_items",
                    "modify_pending_order_payment",
                    "return_delivered_order_items",
                }
            ),
            frozenset({"get_order_details"}),
        ),
    ),
    endings=frozenset({"transfer_to_human_agents"}),
    specific=(
        Specific(
            "baggage_allowance",
            "Compute how many checked bags are free, and how many must be paid.",
            ("nonfree_baggages",),
            requires=r'"membership"',
        ),
        Specific("relative_date_reasoning", "Compute the date that a request describes.", ("flights.date",)),
        Specific(
            "passenger_correction",
            "Correct the wrong fields of the right passengers, and keep all other fields.",
            ("update_reservation_passengers.passengers",),
        ),
    ),
    claims=(
        (r"\b(is|are|was) insured|\b(have|has|bought|with|includes?) (travel )?insurance", r'"insurance": "no"'),
        (
            r"\bnot (insured|buy (travel )?insurance)|\bno insurance|n't (buy|have) (travel )?insurance",
            r'"insurance": "yes"',
        ),
        (r"\bgold member\b", r'"membership": "(silver|regular)"'),
        (r"\bsilver member\b", r'"membership": "(gold|regular)"'),
        (r"\bregular member\b", r'"membership": "(gold|silver)"'),
    ),
)
"""Roles of the tools and of their arguments in both domains."""


READERS = (
    Reader(
        "a tau-bench results list, such as [{task_id, reward, info, traj, trial}, ...]", is_tau_bench, read_tau_bench
    ),
    Reader(
        "a tau2 results file {info, tasks, simulations} or its folder",
        is_tau2,
        read_tau2,
        main_file="results.json",
        parts="simulations",
        records="simulations",
    ),
)
"""Readers of the results files of tau-bench and tau2."""

AIRLINE = Target(
    name="tau2_airline",
    prefix="tau2",
    package=_PACKAGE,
    base="AirlineDesk",
    open=("airline", "requests"),
    whole=("policy", "records"),
    read=("desk", "request_base"),
    shared=_SHARED,
    example="tau2_precondition",
    tasks="tau2_airline_desk",
    benchmark="tau2",
    domain="airline",
    roles=ROLES,
    descriptions=frozen(DESCRIPTIONS),
    readers=READERS,
    task_file=_TASK_FILE,
)
RETAIL = Target(
    name="tau2_retail",
    prefix="tau2_retail",
    package=_PACKAGE,
    base="RetailDesk",
    open=("retail", "retail_requests", "retail_items"),
    whole=("retail_policy", "retail_records"),
    read=("desk", "request_base"),
    shared=_SHARED,
    example="tau2_retail_precondition",
    tasks="tau2_retail_desk",
    benchmark="tau2",
    domain="retail",
    roles=ROLES,
    descriptions=frozen(DESCRIPTIONS),
    readers=READERS,
    task_file=_TASK_FILE,
)
TARGETS = (AIRLINE, RETAIL)
