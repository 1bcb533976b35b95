"""Scripted customer of the tau2 domains, who answers questions about the profile and declines alternatives."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from trace_gym.targets.dialogue import Act, refused
from trace_gym.targets.dialogue.alternatives import offers_after_refusal, offers_alternative
from trace_gym.targets.dialogue.patterns import RECORD_ID
from trace_gym.targets.tau2.profile import facts_asked, stated
from trace_gym.targets.users import ScriptedUser

_methods = (re.compile(r"paypal"), re.compile(r"gift[ _]card"), re.compile(r"credit[ _]card|visa|mastercard"))
_original = re.compile(
    r"\b(?:original|same) (?:form of )?(?:payment|method|card)|\bmethod (?:that )?(?:was used|you (?:used|paid))"
)

REASONLESS = ("I have no particular reason.", "There is no particular reason for it.")
"""Answers of a customer who has no reason for the request."""
_own_fact = re.compile(
    r"\byour (?:own )?(?:e-?mail|(?:full |last |first )?name|date of birth|birth ?date|"
    r"zip)\b(?! on)"
)
"""Pattern of a question for the customer's own data, regardless of what else the message is about."""


@dataclass(kw_only=True)
class Customer(ScriptedUser):
    """Mixin class of `Desk` with the customer's answers about the profile and about offered alternatives.

    The customer declines changes offered in place of a refused request.
    """

    identity: ClassVar[frozenset[str]] = frozenset(
        {"user_id", "identity", "personal", "reason", "reservation", "order"}
    )
    """Topics that a question may have if the customer answers it with facts from the profile."""

    def offered_other(self, text: str, heard: tuple[Act, ...]) -> bool:
        wanted = vars(self).get("requests", ())
        requests = {r.record: str(vars(r).get("named", "")) for r in wanted}
        chosen = {r.record for r in wanted if r.chosen}
        return bool(requests) and offers_other(text, heard, self.opening(), requests, chosen)

    def personal(self, asked: str, topics: Sequence[str]) -> Sequence[str]:
        """Return sentences that state the facts from the customer's profile that a question asks for."""
        if {*topics} - {*self.identity}:
            asked = " ".join(_own_fact.findall(asked))
        return [line for fact in facts_asked(asked) for line in self.own(fact)]

    def own(self, fact: str) -> Sequence[str]:
        """Return the sentences in which the customer states a fact from the profile."""
        state = vars(self)
        line = stated(fact, state.get("users", {}).get(state.get("customer"), {}))
        return [line] if line else []

    def does_not_know(self, topics: list[str]) -> str:
        return self.varied(REASONLESS) if topics[0] == "reason" else super().does_not_know(topics)

    def _objection(self, text: str) -> str:
        """Return the objection to a refusal, or `""` if the refusal names a record that the customer only described."""
        found = len({*RECORD_ID.findall(text)}) == 1 and not RECORD_ID.search(self.opening())
        return "" if found else super()._objection(text)


def offers_other(
    text: str, heard: Sequence[Act], opening: str, requests: Mapping[str, str], chosen: Collection[str] = ()
) -> bool:
    """Return whether a message refuses a request and offers something else in its place.

    If there are several requests, the result is False if the offer names a record whose request is not refused.

    Args:
        text: The message.
        heard: The dialogue acts of the message.
        opening: The customer's request.
        requests: Mapping from the record of each request to the customer's name for the payment method, or `""`.
        chosen: Records of requests for which the agent chooses among options. Another option for such a request does
            not count as something else.
    """
    offer = offers_after_refusal(heard)
    if not offer:
        return False
    names = {record: record.lstrip("#").lower() for record in requests}
    named = any(name in text.lower() for name in names.values()) and len(requests) > 1
    denied = [record for record in requests if not named or refused(record, [text], [*requests])]
    if (
        not denied
        or {*chosen} & {*denied}
        or any(name in offer for record, name in names.items() if record not in denied)
    ):
        return False
    return offers_alternative(heard, opening) or any(_other_method(offer, requests[record]) for record in denied)


def _other_method(offer: str, named: str) -> bool:
    """Return whether an offer names payment methods, but not the one that the customer named."""
    wanted = [kind for kind in _methods if kind.search(named.lower())]
    if not wanted or any(kind.search(offer) for kind in wanted):
        return False
    return bool(_original.search(offer)) or any(kind.search(offer) for kind in _methods)
