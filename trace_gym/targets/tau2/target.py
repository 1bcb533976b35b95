"""The targets of tau2-bench: the airline domain and the retail domain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import parse_json
from trace_gym.targets.base import Reader, Roles, Specific, Target
from trace_gym.targets.constants import frozen
from trace_gym.targets.tau2.needs import DESCRIPTIONS
from trace_gym.targets.tau2.results import read_tau2, read_tau_bench
from trace_gym.types import Trajectory

_PACKAGE = "trace_gym.targets.tau2"
_SHARED = ("users.scripted", "users.answers")

ROLES = Roles(
    entities=("reservation_id", "order_id", "user_id"),  # a booking has no reservation id, so it acts on its customer
    selectors=frozenset({"flights", "cabin", "origin", "destination", "item_ids", "new_item_ids"}),
    creates=frozenset({"book_reservation", "send_certificate"}),
    routine=frozenset(
        {"book_reservation", "modify_user_address", "update_reservation_baggages", "update_reservation_passengers"}
    ),
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
"""Roles of the tools and arguments of both domains."""


def _is_tau_bench(data: Any) -> bool:
    if not isinstance(data, list):
        return False
    return not data or (isinstance(data[0], dict) and {"task_id", "reward", "traj"} <= data[0].keys())


def _read_tau_bench(data: Any, path: Path, where: str, model: str) -> list[Trajectory]:
    return read_tau_bench(data, where, model)


def _is_tau2(data: Any) -> bool:
    return isinstance(data, dict) and {"info", "tasks"} <= data.keys()


def _read_tau2(data: Any, path: Path, where: str, model: str) -> list[Trajectory]:
    if not data.get("simulations"):
        data = {**data, "simulations": _simulations(path.parent / "simulations", data.get("simulation_index"))}
    return read_tau2(data, where, model)


def _simulations(folder: Path, index: Any) -> list[Any]:
    """Return the simulations that tau2 stored in separate files next to ``results.json``."""
    files = {file.stem: file for file in sorted(folder.glob("*.json"))}
    listed = [str(entry["id"]) for entry in index or () if isinstance(entry, dict) and "id" in entry]
    if missing := [name for name in listed if name not in files]:
        raise ReadError(
            f"{folder} lacks {len(missing)} of the {len(listed)} simulations in results.json, for example "
            f"{missing[0]}.json. Copy the complete folder of the run"
        )
    return [parse_json(read_text(files[name]), str(files[name]), nan=True) for name in listed or files]


READERS = (
    Reader("a tau-bench results list, such as [{task_id, reward, info, traj, trial}, ...]", _is_tau_bench,
           _read_tau_bench),
    Reader("a tau2 results file {info, tasks, simulations} or its folder", _is_tau2, _read_tau2, "results.json"),
)  # fmt: skip
"""Readers of the results of tau-bench and tau2."""

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
)
TARGETS = (AIRLINE, RETAIL)
