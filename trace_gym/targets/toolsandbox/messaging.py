"""Contacts and messages of the phone, and operations on tables that other tools use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from trace_gym.targets.toolsandbox.matching import most_alike
from trace_gym.targets.toolsandbox.refusals import check_number, check_timestamps, refusal
from trace_gym.targets.toolsandbox.settings import Settings
from trace_gym.world import tool

Data = dict[str, Any]
Condition = tuple[str, Any, Callable[[list[Data], str, Any], list[Data]]]
"""Search condition: a field, a value (None if the condition is not used), and a function that filters the records."""


@dataclass(kw_only=True)
class PhoneClock(Settings):
    """Base class for tools that use the phone's clock. The time does not advance during an episode."""

    now: float = 1767225600.0
    """Current time as a POSIX timestamp."""


@dataclass(kw_only=True)
class Messaging(PhoneClock):
    """Tables of contacts and messages by id, with their tools."""

    contacts: dict[str, Data] = field(default_factory=dict)
    messages: dict[str, Data] = field(default_factory=dict)

    @tool(kind="write")
    def add_contact(
        self, name: str, phone_number: str, relationship: str | None = None, is_self: bool = False
    ) -> str:  # fmt: skip
        check_number(phone_number)
        if is_self:
            self._one_self("")
        key = fresh("contact", self.contacts)
        self.contacts[key] = {
            "person_id": key, "name": name, "phone_number": phone_number, "relationship": relationship,
            "is_self": is_self,
        }  # fmt: skip
        return key

    @tool(kind="write")
    def modify_contact(
        self, person_id: str, name: str | None = None, phone_number: str | None = None,
        relationship: str | None = None, is_self: bool | None = None,
    ) -> None:  # fmt: skip
        changes = given(name=name, phone_number=phone_number, relationship=relationship, is_self=is_self)
        if not changes:
            raise refusal("ValueError", "nothing to change; give name, phone_number, relationship or is_self")
        check_number(phone_number)
        if is_self:
            self._one_self(person_id)
        revise(self.contacts, person_id, changes)

    @tool(kind="write")
    def remove_contact(self, person_id: str) -> None:
        remove(self.contacts, person_id)

    @tool
    def search_contacts(
        self, person_id: str | None = None, name: str | None = None, phone_number: str | None = None,
        relationship: str | None = None, is_self: bool | None = None,
    ) -> list[Data]:  # fmt: skip
        check_number(phone_number)
        return chosen(
            self.contacts,
            ("person_id", person_id, equal),
            ("name", name, like(90)),
            ("phone_number", phone_number, equal),
            ("relationship", relationship, like(90)),
            ("is_self", is_self, equal),
        )

    @tool(kind="write")
    def send_message_with_phone_number(self, phone_number: str, content: str) -> str:
        check_number(phone_number)
        self.needs_cellular()
        own = [c for c in self.contacts.values() if c["is_self"]]
        if len(own) != 1:
            raise refusal("DuplicateError", f"one contact must be the user, and {len(own)} are")
        known = next((c["person_id"] for c in self.contacts.values() if c["phone_number"] == phone_number), None)
        key = fresh("message", self.messages)
        self.messages[key] = {
            "message_id": key, "sender_person_id": own[0]["person_id"], "sender_phone_number": own[0]["phone_number"],
            "recipient_person_id": known, "recipient_phone_number": phone_number, "content": content,
            "creation_timestamp": self.now,
        }  # fmt: skip
        return key

    @tool
    def search_messages(
        self, message_id: str | None = None, sender_person_id: str | None = None,
        sender_phone_number: str | None = None, recipient_person_id: str | None = None,
        recipient_phone_number: str | None = None, content: str | None = None,
        creation_timestamp_lowerbound: float | None = None, creation_timestamp_upperbound: float | None = None,
    ) -> list[Data]:  # fmt: skip
        check_number(sender_phone_number)
        check_number(recipient_phone_number)
        check_timestamps(
            creation_timestamp_lowerbound=creation_timestamp_lowerbound,
            creation_timestamp_upperbound=creation_timestamp_upperbound,
        )
        return chosen(
            self.messages,
            ("message_id", message_id, equal),
            ("sender_person_id", sender_person_id, equal),
            ("sender_phone_number", sender_phone_number, equal),
            ("recipient_person_id", recipient_person_id, equal),
            ("recipient_phone_number", recipient_phone_number, equal),
            ("content", content, like(50)),
            ("creation_timestamp", creation_timestamp_lowerbound, at_least),
            ("creation_timestamp", creation_timestamp_upperbound, at_most),
        )

    def _one_self(self, person_id: str) -> None:
        """Refuse to mark a contact as the user if another contact is marked."""
        if next((c["person_id"] for c in self.contacts.values() if c["is_self"]), person_id) != person_id:
            raise refusal("DuplicateError", "another contact is the user already")


def fresh(kind: str, table: dict[str, Data]) -> str:
    """Return an unused id in the format of the benchmark. It is deterministic and depends only on the table."""
    keys = (str(uuid5(NAMESPACE_URL, f"trace_gym/{kind}/{n}")) for n in count(len(table)))
    return next(k for k in keys if k not in table)


def given(**values: Any) -> Data:
    """Return the arguments that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def revise(table: dict[str, Data], key: str, changes: Data) -> None:
    """Update a record. If any value changes, move the record to the end of the table, as the benchmark does."""
    _found(table, key)
    if (changed := {**table[key], **changes}) != table[key]:
        del table[key]
        table[key] = changed


def remove(table: dict[str, Data], key: str) -> None:
    """Delete a record from a table."""
    _found(table, key)
    del table[key]


def _found(table: dict[str, Data], key: str) -> None:
    if key not in table:
        raise refusal("NoDataError", f"there is no entry {key[:40]!r}")


def chosen(table: dict[str, Data], *conditions: Condition) -> list[Data]:
    """Return the records that satisfy all conditions that are used.

    The records are in the order of the table or, if a condition compares by similarity, by descending similarity.
    """
    used = [c for c in conditions if c[1] is not None]
    if not used:
        raise refusal("ValueError", f"no condition is given; give {', '.join(dict.fromkeys(c[0] for c in conditions))}")
    records: list[Data] = list(table.values())
    for name, value, choose in used:
        records = choose(records, name, value)
    return records


def equal(records: Iterable[Data], name: str, value: Any) -> list[Data]:
    """Return the records whose field is equal to the value."""
    return [r for r in records if r[name] == value]


def at_least(records: Iterable[Data], name: str, value: Any) -> list[Data]:
    """Return the records whose field is greater than or equal to the value."""
    return [r for r in records if r[name] >= value]


def at_most(records: Iterable[Data], name: str, value: Any) -> list[Data]:
    """Return the records whose field is less than or equal to the value."""
    return [r for r in records if r[name] <= value]


def like(threshold: float) -> Callable[[list[Data], str, Any], list[Data]]:
    """Return a filter for records whose field is similar to the value; see `matching`."""

    def choose(records: list[Data], name: str, value: Any) -> list[Data]:
        return [records[n] for n in most_alike(value, [r[name] for r in records], threshold)]

    return choose
