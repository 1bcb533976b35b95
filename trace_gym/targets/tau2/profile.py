"""Answers of the scripted customer to questions about the customer's profile and payment method."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trace_gym.targets.constants import filled, frozen
from trace_gym.targets.tau2.generic import Data

__all__ = ["facts_asked", "pays", "stated"]

_field = re.compile(r"{(\w+)}")
_SAYS = frozen(
    {
        "name": "My name is {first_name} {last_name}.",
        "email": "My email is {email}.",
        "birth": "I was born on {dob}.",
        "zip": "My zip code is {zip}.",
        "address": "My address is {address1}, {city}, {state} {zip}.",
    }
)
"""Mapping from each fact of the profile to the template of the sentence in which the customer states it."""
_FACTS = frozen(
    {
        "name": re.compile(
            r"\b(?:your|the (?:full|last|first)|full|last|first) (?:full |first |last )?names?\b|\bsurname\b"
        ),
        "email": re.compile(r"\be-?mails?\b(?! (?:me|it)\b)|\bmail address\b|\b(?:what|which) mail\b"),
        "birth": re.compile(r"(?<!'s )\b(?:date of birth|birth ?(?:date|day)|dob|were you born)\b"),
        "zip": re.compile(r"\b(?:zip|(?:postal|post) ?code)\b"),
        "address": re.compile(
            r"(?<!e)(?<!mail)(?<!e-mail) (?:home|billing|mailing|postal|current|street|delivery|shipping) address\b|"
            r"\bwhere do you live\b|\byour address\b"
        ),
    }
)
"""Mapping from each fact of the profile to a pattern of lowercase questions that ask for it."""


def facts_asked(asked: str) -> list[str]:
    """Return the facts of the customer's profile that a lowercase question asks for."""
    return [fact for fact, pattern in _FACTS.items() if pattern.search(asked)]


def stated(fact: str, me: Data) -> str:
    """Return the sentence in which a customer states a fact of the profile, or `""` if the profile lacks the fact."""
    known = {**me, **me.get("address", {}), **me.get("name", {})}
    line = _SAYS[fact]
    return filled(line, **known) if all(name in known for name in _field.findall(line)) else ""


def pays(named: Sequence[tuple[str, str]]) -> str:
    """Return the customer's answer to a question about payment.

    Args:
        named: Pairs of the id of a record and the payment method for its change, which may be empty.
    """
    if len({method for _, method in named}) > 1:
        return " ".join(f"For {record}, use {method or 'what I paid with'}." for record, method in named)
    return f"Please use {named[0][1]}." if named and named[0][1] else "Use what I paid with."
