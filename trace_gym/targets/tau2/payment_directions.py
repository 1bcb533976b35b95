"""Detection of messages that confuse the charge and the refund when the payment method of an order changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from trace_gym.statements.text import normalize
from trace_gym.targets.constants import frozen

__all__ = ["exchanges_charge_and_refund"]

_NAMES = frozen(
    {
        "paypal": r"\bpaypal\b",
        "gift_card": r"\bgift card\b",
        "credit_card": r"\b(?:credit card|visa|mastercard)\b",
    }
)
"""Mapping from kind of payment method to a pattern of its names."""
_sentence = re.compile(r"(?<=[.!?])\s|\n")
_conditional = re.compile(
    r"\b(?:if|unless|when|should you) (?!(?:you|that|this) (?:agree|confirm|approve|like|is|are)\b)"
)
_clause = re.compile(r"[;!?\n]|[.,:](?!\d)|\b(?:and|while|whereas|but|then|after|before|once|so)\b")
_refund = re.compile(r"\b(?:refund\w*|reimburs\w*|credited|returned|(?:goes|go|going|comes?|get|pay) back|back)\b")
_charge = re.compile(
    r"\b(?:will|'ll|would|can|could|shall|should|may|to|is|are|be|i|we)(?: be| now| then| also| i| we)* "
    r"(?:charg|debit|bill)(?:e|ed|ing)?\b|^\W*(?:then )?(?:charge|debit|bill)\b"
)
_unreal = re.compile(
    r"\b(?:not|no|never|without|instead|rather|later|future|off|from|original\w*|previous\w*|initial\w*|"
    r"current\w*|was|were|been|had|paid|cancel\w*|revers\w*|remov\w*|void\w*|undo\w*|stop\w*)\b|n't\b"
)
"""Pattern of words that indicate that a clause denies a charge or refund, or is about another time."""


def exchanges_charge_and_refund(new: str, old: str, methods: Mapping[str, Any], said: Iterable[str]) -> bool:
    """Return whether messages state a refund to the new payment method, or a charge of the old payment method.

    Args:
        new: Id of the new payment method, which is charged.
        old: Id of the old payment method, which gets the refund.
        methods: The customer's stored payment methods by id.
        said: The messages.
    """
    sentences = (sentence for text in said for sentence in _sentence.split(normalize(text)))
    for sentence in sentences:
        for clause in () if _conditional.search(sentence) else _clause.split(sentence):
            if _unreal.search(clause):
                continue
            to_new, to_old = (_names(key, other, methods, clause) for key, other in ((new, old), (old, new)))
            refund, charge = _refund.search(clause), _charge.search(clause)
            if (to_new and not to_old and refund and not charge) or (to_old and not to_new and charge and not refund):
                return True
    return False


def _names(key: str, other: str, methods: Mapping[str, Any], clause: str) -> bool:
    """Return whether a clause names a payment method in words that do not also fit the other method."""
    if key.lower() in clause:
        return True
    method, others = methods[key], methods.get(other, {})
    clause = clause.replace(other.lower(), " ")
    if method["source"] == others.get("source"):
        last = str(method.get("last_four", ""))
        return bool(last) and last != str(others.get("last_four", "")) and last in clause
    return re.search(_NAMES.get(method["source"], "$^"), clause) is not None
