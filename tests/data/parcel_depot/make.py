"""Writes ten recorded episodes of a parcel depot: ``python tests/data/parcel_depot/make.py`` prints them.

The depot is invented, and this is its true program. Only its tool schemas, its policy and these episodes are given to
the toolkit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

Data = dict[str, Any]


def parcel(number: str, recipient: str, shelf: str, days: int, status: str = "waiting") -> Data:
    return {"parcel_id": number, "recipient": recipient, "shelf": shelf, "days_stored": days, "status": status}


STOCK = {
    p["parcel_id"]: p
    for p in (
        parcel("P1041", "Ada Brook", "A3", 2),
        parcel("P1042", "Ada Brook", "C1", 16),
        parcel("P1057", "Ben Okoro", "B2", 9),
        parcel("P1063", "Ben Okoro", "B4", 21),
        parcel("P1078", "Chen Li", "A1", 7),
        parcel("P1080", "Chen Li", "D2", 12),
        parcel("P1085", "Dora Falk", "C4", 15),
        parcel("P1090", "Dora Falk", "A2", 5, "handed over"),
        parcel("P1101", "Emil Roth", "D1", 14),
        parcel("P1112", "Emil Roth", "B1", 30, "sent back"),
    )
}


class Refused(Exception):
    """What the agent reads after ``Error: ``."""


class Depot:
    """The depot's program. It does not look at the storage limit: the agent has to."""

    def __init__(self) -> None:
        self.stock = deepcopy(STOCK)

    def find_parcels(self, recipient: str) -> list[Data]:
        found = [p for p in self.stock.values() if p["recipient"].lower() == recipient.lower()]
        return [{"parcel_id": p["parcel_id"], "status": p["status"]} for p in found]

    def get_parcel(self, parcel_id: str) -> Data:
        return self.known(parcel_id)

    def storage_fee(self, parcel_id: str, extra_days: int = 0) -> Data:
        days = self.known(parcel_id)["days_stored"] + extra_days
        return {"parcel_id": parcel_id, "fee": 0.5 * max(0, days - 7)}

    def hand_over(self, parcel_id: str, paid: float) -> Data:
        return self.leaves(parcel_id, {"status": "handed over", "paid": paid})

    def send_back(self, parcel_id: str, reason: str) -> Data:
        return self.leaves(parcel_id, {"status": "sent back", "reason": reason})

    def known(self, parcel_id: str) -> Data:
        if parcel_id not in self.stock:
            raise Refused(f"unknown parcel {parcel_id}")
        return self.stock[parcel_id]

    def leaves(self, parcel_id: str, change: Data) -> Data:
        if self.known(parcel_id)["status"] != "waiting":
            raise Refused(f"parcel {parcel_id} is not waiting")
        self.stock[parcel_id] |= change
        return self.stock[parcel_id]


def call(tool: str, **arguments: Any) -> tuple[str, Data]:
    return tool, arguments


def both(number: str, paid: float) -> list[Any]:
    """Look a parcel up, ask for its fee, and hand it over."""
    return [call("get_parcel", parcel_id=number), call("storage_fee", parcel_id=number),
            call("hand_over", parcel_id=number, paid=paid)]  # fmt: skip


EPISODES: list[tuple[bool, str, list[Any]]] = [
    (True, "I am Ada Brook. Please hand me P1041.", [*both("P1041", 0.0), "P1041 is handed over, free of charge."]),
    (True, "Ada Brook here, for P1042.", [call("get_parcel", parcel_id="P1042"),
        "I cannot hand over P1042: it has been here for 16 days."]),
    (False, "I am Ben Okoro, I come for P1063.", [call("storage_fee", parcel_id="P1063"),
        call("hand_over", parcel_id="P1063", paid=7.0), "P1063 is handed over."]),
    (True, "Ben Okoro. What do you have for me?", [call("find_parcels", recipient="Ben Okoro"), *both("P1057", 1.0),
        call("get_parcel", parcel_id="P1057"), call("get_parcel", parcel_id="P1063"),
        "P1057 is handed over. P1063 has been here for 21 days, I cannot."]),
    (True, "Chen Li, please hand me P1078 and P1080.", [*both("P1078", 0.0), *both("P1080", 2.5),
        "Both are handed over."]),
    (False, "Dora Falk, I would like P1085.", [*both("P1085", 4.0), "P1085 is handed over."]),
    (True, "Dora Falk, for P1090.", [call("find_parcels", recipient="dora falk"), call("get_parcel", parcel_id="P1090"),
        call("hand_over", parcel_id="P1090", paid=0.0), "I cannot: P1090 was handed over already."]),
    (True, "Emil Roth. What would P1101 cost in three days? I take it now.", [call("get_parcel", parcel_id="P1101"),
        call("storage_fee", parcel_id="P1101", extra_days=3), *both("P1101", 3.5)[1:], "5.00; it is handed over."]),
    (True, "Ada Brook. I do not want P1042.", [call("get_parcel", parcel_id="P9042"),
        call("get_parcel", parcel_id="P1042"), call("send_back", parcel_id="P1042", reason="unwanted"),
        call("get_parcel", parcel_id="P1042"), "P1042 is sent back."]),
    (False, "Emil Roth, for all my parcels.", [call("find_parcels", recipient="Emil Roth"),
        call("get_parcel", parcel_id="P1112"), call("send_back", parcel_id="P1112", reason="too long"),
        "P1112 was sent back."]),
]  # fmt: skip


def played(number: int, success: bool, opening: str, steps: list[Any]) -> Data:
    """One episode as one OpenAI conversation."""
    depot = Depot()
    messages: list[Data] = [{"role": "user", "content": opening}]
    for n, step in enumerate(steps):
        said = isinstance(step, str)
        messages += [{"role": "assistant", "content": step}] if said else turn(depot, f"call_{n}", step)
    return {"id": f"visit-{number}", "success": success, "messages": messages}


def turn(depot: Depot, name: str, step: tuple[str, Data]) -> Iterator[Data]:
    tool, arguments = step
    function = {"name": tool, "arguments": json.dumps(arguments)}
    yield {"role": "assistant", "content": None, "tool_calls": [{"id": name, "type": "function", "function": function}]}
    try:
        told = json.dumps(getattr(depot, tool)(**arguments))
    except Refused as error:
        told = f"Error: {error}"
    yield {"role": "tool", "tool_call_id": name, "content": told}


def lines() -> str:
    """The file of episodes."""
    return "".join(json.dumps(played(n, *episode)) + "\n" for n, episode in enumerate(EPISODES))


if __name__ == "__main__":
    sys.stdout.write(lines())
