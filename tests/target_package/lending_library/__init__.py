"""The targets of a lending library in one package: everything that trace_gym has to know about them."""

from __future__ import annotations

from lending_library.results import READER
from trace_gym.targets.base import Roles, Target

CITY = Target(
    name="lending_city",
    prefix="lending",
    package="lending_library",
    base="LendingDesk",
    open=("desk",),
    example="lending_loans",
    tasks="lending_loans",
    benchmark="lending_bench",
    domain="city",
    roles=Roles(entities=("copy",), selectors=frozenset({"card"}), routine=frozenset({"take_back"})),
    descriptions={"resolve_before_write": "Take back the late books of a card before lending another book."},
    readers=(READER,),
)
TARGETS = (CITY,)
