"""Consistency checks of the ids and names in a tau2 task against the database."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trace_gym.targets.task_files import Task
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.task_people import EMAIL, OWNED, USER_ID, Tables, full_name, words

RECORD_ID = {
    "reservations": re.compile(r"\b(?!HAT\d{3}\b)(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{6}\b"),
    "orders": re.compile(r"#W\d{6,8}\b"),
}
FLIGHT = re.compile(r"\bHAT\d{3}\b")
NAME = re.compile(r"\b(?:[Yy]ou are|[Yy]our name is|[Yy]ou name is) ([A-Z][a-z]+ [A-Z][a-z]+)\b")
METHOD = re.compile(r"\b(?:gift_card|credit_card|paypal|certificate)_\d{5,}\b")
LAST_FOUR = re.compile(r"\bending (?:in|with|on) (\d{4})\b")
ZIP = re.compile(r"\bzip(?: code)?(?: is| of|:)? (\d{5})\b")


def errors(task: Task, customer: str, tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield each incorrect reference in a task as a (found, expected) pair.

    Args:
        task: The task.
        customer: User id of the customer; empty if unknown.
        tables: Tables of the database.
    """
    owner = tables["users"].get(customer)
    if owner is None:
        yield "no customer", "a user id, an email, or a name with a zip code of a user in the database"
        return
    text = task.instructions
    for key in sorted({*USER_ID.findall(text)} - {*owner["payment_methods"], *tables["users"]}):
        yield f"the user id {key}", "a user in the database"
    for email in sorted({*EMAIL.findall(text)}):
        if email.lower() not in {user["email"].lower() for user in tables["users"].values()}:
            yield f"the email {email}", f"{owner['email']}, the email of {customer}"
    yield from _name_errors(text, owner)
    yield from _record_errors(task, customer, tables)
    for number in sorted({*FLIGHT.findall(text)} - tables.get("flights", {}).keys() if "flights" in tables else set()):
        yield f"the flight {number}", "a flight in the database"
    methods = owner["payment_methods"]
    for key in sorted({*METHOD.findall(text)} - methods.keys()):
        yield f"the payment method {key}", f"a payment method of {customer}: {', '.join(methods)}"
    for four in sorted({*LAST_FOUR.findall(text)} - {m.get("last_four") for m in methods.values()}):
        yield f"a card ending in {four}", f"a card of {customer}: {', '.join(methods)}"


def _name_errors(text: str, owner: Data) -> Iterator[tuple[str, str]]:
    """Yield each name or zip code in a text that differs from the profile as a (found, expected) pair."""
    for sentence in re.split(r"\.\s|\n", text):
        for name in NAME.findall(sentence):
            if words(name) != words(full_name(owner)):
                yield f"the name {name}", f"{full_name(owner)}, the name of {owner['user_id']}"
        known = NAME.search(sentence) and ZIP.search(sentence)
        if known and known.group(1) != owner["address"]["zip"]:
            yield f"the zip code {known.group(1)}", f"{owner['address']['zip']}, the zip code of {owner['user_id']}"


def _record_errors(task: Task, customer: str, tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield an error for each referenced record that does not exist or belongs to another customer."""
    for table in OWNED:
        if table not in tables:
            continue
        named = {*RECORD_ID[table].findall(task.instructions)}
        named |= {
            str(call.arguments[f"{table[:-1]}_id"]) for call in task.calls if f"{table[:-1]}_id" in call.arguments
        }
        for key in sorted(named):
            record = tables[table].get(key)
            if record is None:
                yield f"the {table[:-1]} {key}", f"a {table[:-1]} in the database"
            elif record["user_id"] != customer:
                yield f"the {table[:-1]} {key} of {record['user_id']}", f"a {table[:-1]} of {customer}"
    others = {str(call.arguments["user_id"]) for call in task.calls if "user_id" in call.arguments} - {customer}
    for key in sorted(others):
        yield f"a call for the user {key}", f"calls for {customer}, the customer of the task"
