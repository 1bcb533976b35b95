"""Patterns of the usual words for the statuses of orders, reservations and flights."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_AGAIN = r"(?:already |just |since |previously |recently |once |now )*"
_CHANGED = r"(?:modified|changed|exchanged|replaced|swapped|altered|updated)"
SYNONYMS: Mapping[str, str] = MappingProxyType({
    "cancelled": r"cancell?ed|called off",
    "delivered": (
        r"delivered|(?:has|have|had|already|was|it) arrived|been (?:dropped off|received)|(?:have|has|had|"
        r"you) (?:already )?received"
    ),
    "pending": (
        r"pending|(?:not|n't) (?:yet )?(?:been )?(?:shipped|sent out|dispatched)|waiting to be (?:processed|"
        r"shipped)"
    ),
    "processed": r"processed|being (?:processed|prepared)|in processing|processing",
    "shipped": r"shipped|dispatched|on its way|in transit|sent out",
    "pending (item modified)": (
        rf"pending \(items? modified\)|item modified|item (?:modification|change)s?|"
        rf"(?:with|but) (?:its |the |some |one or more )?items? {_AGAIN}{_CHANGED}|"
        rf"(?:items?|products?|articles?)\b[^.;!?]{{0,40}}?\b(?:was|were|"
        rf"has|have|had|been|is|are) "
        rf"{_AGAIN}(?:been )?{_AGAIN}{_CHANGED}|{_AGAIN}{_CHANGED} (?:the |its |your |some )?items?|"
        rf"(?:has|have|had) {_AGAIN}(?:its|the|your|some) items? {_AGAIN}{_CHANGED}"
    ),
    "exchange requested": (
        r"exchange(?:'s)? (?:was |has |had |is |been )*(?:already |now )*(?:been )?(?:requested|under way|underway|"
        r"in progress|pending|open|initiated|started)|"
        r"requested (?:an|the) exchange|asked (?:to exchange|for an exchange)|"
        r"exchange is (?:already )?in the works|exchange request|being exchanged"
    ),
    "return requested": (
        r"return(?:'s)? (?:was |has |had |is |been )*(?:already |now )*(?:been )?(?:requested|under way|underway|"
        r"in progress|pending|open|initiated|started)|"
        r"requested (?:a|the) return|asked (?:to return|for a return)|"
        r"return is (?:already )?in the works|return request|being returned|on its way back"
    ),
    "landed": (
        r"landed|(?:been|was|were) flown|already flown|flown already|arrived|been completed|touched down|flew already|"
        r"already flew|taken place"
    ),
    "flying": (
        r"flying|taken off|took off|departed|in the air|airborne|under way|underway|left already|already left|"
        r"en route"
    ),
    "delayed": r"delayed|running late|behind schedule|late",
    "on time": r"on time|on schedule|as scheduled|as planned",
    "available": r"available|open for booking|bookable",
})  # fmt: skip
"""Mapping from status to a pattern of the phrases that state it. All other statuses are stated by their names."""
IMPLIED: Mapping[str, frozenset[str]] = MappingProxyType({
    "pending (item modified)": frozenset({"pending"}),
    "exchange requested": frozenset({"delivered", "processed"}),
    "return requested": frozenset({"delivered", "processed"}),
    "delivered": frozenset({"processed", "shipped"}),
    "landed": frozenset({"flying"}),
})  # fmt: skip
"""Mapping from status to other statuses that a record with this status also has or had.

A message may state them in addition to the correct status.
"""
