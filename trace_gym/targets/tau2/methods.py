"""Replacement of informal names of payment methods with their ids in messages."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trace_gym.targets.tau2.generic import Data

__all__ = ["by_id"]

_BEHIND = r"(?!\W{0,3}(?:ending|ends|with id|ids?\b|credit_card|gift_card|certificate_))"
"""Lookahead that rejects a name that is followed by a specification, as in ``your gift card ending in 7447``."""


def by_id(text: str, methods: Mapping[str, Data]) -> str:
    """Replace each name that identifies one of the customer's payment methods with the id of the method.

    For example, ``your gift card`` identifies a method if the customer has only one gift card, and ``card ending in
    7447`` if one card has these digits.
    """
    brands = "|".join(sorted({str(m["brand"]) for m in methods.values() if m.get("brand")}))
    card = rf"\b(?:(?:your|the|that) )?(?:credit card|card{f'|{brands}' if brands else ''})"
    for key, method in methods.items():
        if digits := method.get("last_four"):
            behind = rf"(?:,? (?:that |which )?(?:ending|ends) (?:in|with) | \W{{1,6}}){re.escape(str(digits))}\b"
            text = re.sub(rf"{card}{behind}", key, text, flags=re.IGNORECASE)
    for kind in ("gift_card", "credit_card", "certificate"):
        same = [key for key, method in methods.items() if method["source"] == kind]
        if len(same) == 1:
            name = rf"\b(?:your|the|that) {kind.replace('_', ' ')}\b{_BEHIND}"
            text = re.sub(name, same[0], text, flags=re.IGNORECASE)
    return text
