"""Scripted customer of the tau2 domains, who declines an alternative that the agent offers with a refusal."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from trace_gym.targets.dialogue import Act, refused
from trace_gym.targets.dialogue.alternatives import offers_after_refusal, offers_alternative
from trace_gym.targets.users import ScriptedUser

_methods = (re.compile(r"paypal"), re.compile(r"gift[ _]card"), re.compile(r"credit[ _]card|visa|mastercard"))
_original = re.compile(
    r"\b(?:original|same) (?:form of )?(?:payment|method|card)|\bmethod (?:that )?(?:was used|you (?:used|paid))"
)


@dataclass(kw_only=True)
class Customer(ScriptedUser):
    """Mixin class of `Desk` that makes the customer decline changes offered in place of a refused request."""

    def offered_other(self, text: str, heard: tuple[Act, ...]) -> bool:
        wanted = vars(self).get("requests", ())
        requests = {r.record: str(vars(r).get("named", "")) for r in wanted}
        chosen = {r.record for r in wanted if r.chosen}
        return bool(requests) and offers_other(text, heard, self.opening(), requests, chosen)


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
