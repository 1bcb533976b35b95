"""Identification of the customer of a tau2 task, and of the records that belong to the customer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trace_gym.targets.task_files import Task
from trace_gym.targets.tau2.generic import Data

Tables = Mapping[str, Mapping[str, Data]]
OWNED = ("reservations", "orders")
"""Tables with records that belong to a customer."""
USER_ID = re.compile(r"\b[a-z]+(?:_[a-z]+)+_\d{3,}\b")
EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+\.\w+\b")


def words(text: str) -> str:
    """Return a text in lowercase with single spaces, for comparisons."""
    return " ".join(text.lower().split())


def contains(text: str, part: str) -> bool:
    """Return whether a text contains another text as whole words."""
    return bool(part) and re.search(rf"(?<!\w){re.escape(words(part))}(?!\w)", words(text)) is not None


def customer_of(task: Task, tables: Tables) -> str:
    """Return the user id of the customer of a task; an empty string if it cannot be determined."""
    return next((key for key in _candidates(task, tables["users"]) if key in tables["users"]), "") or _owner(
        task, tables
    )


def _candidates(task: Task, users: Mapping[str, Data]) -> Iterator[str]:
    """Yield the user ids to which the instructions and the expected calls refer, starting with the most certain one."""
    text = task.instructions
    yield from USER_ID.findall(text)
    emails = {email.lower() for email in EMAIL.findall(text)}
    yield from (key for key, user in users.items() if user["email"].lower() in emails)
    named = [key for key, user in users.items() if contains(text, full_name(user))]
    yield from (key for key in named if contains(text, users[key]["address"]["zip"]))
    for call in task.calls:
        yield str(call.arguments.get("user_id", ""))
        yield from (key for key, user in users.items() if user["email"] == call.arguments.get("email"))
        if "zip" in call.arguments and "last_name" in call.arguments:
            asked = [words(str(call.arguments.get(part))) for part in ("first_name", "last_name", "zip")]
            yield from (key for key, user in users.items() if asked == _name_and_zip(user))
    if len(named) == 1:
        yield named[0]


def _owner(task: Task, tables: Tables) -> str:
    """Return the owner of the first record that an expected call names."""
    for call in task.calls:
        for name in OWNED:
            record = tables.get(name, {}).get(str(call.arguments.get(f"{name[:-1]}_id")))
            if record is not None:
                return str(record["user_id"])
    return ""


def full_name(user: Data) -> str:
    """Return the first and the last name of a customer."""
    return f"{user['name']['first_name']} {user['name']['last_name']}"


def _name_and_zip(user: Data) -> list[str]:
    return [words(user["name"]["first_name"]), words(user["name"]["last_name"]), words(user["address"]["zip"])]


def own_records(customer: str, tables: Tables) -> list[Any]:
    """Return the profile of a customer, and the customer's reservations or orders."""
    profile = [tables["users"][customer]] if customer in tables["users"] else []
    owned = [record for name in OWNED for record in tables.get(name, {}).values() if record["user_id"] == customer]
    return [*profile, *owned]
