"""Cues by kind of value. A cue is a regular expression for words that indicate a value's role, as in ``refund of``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

_CARD = r"(?:gift|paypal|travel (?:credit|certificate)|(?:account )?balance|gift_card|certificate)"
_BY = r"(?:with|from|via|using|through|out of|by (?=your|the|credit|gift|card|paypal))"
_NO_BAGS = (
    r"(?! (?:(?:checked|extra|additional|more|other|of|the|your) )*(?:bags?|suitcases?|pieces?|luggage|baggage)\b)"
)
_BEFORE_BAGS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "is", "are", "be", "being")
_COUNTED = "".join(rf"(?<!\b{word} )" for word in _BEFORE_BAGS)
_TRIP = r"(?:trip|reservation|booking|order|ticket|purchase)"
_COST = (
    rf"(?:{_TRIP}(?:s|\(s\))?(?: \w+)?|it|(?=\w*\d)\w{{5,8}}|(?!change|switch|really|should|always|actual|"
    rf"extras|pieces|"
    rf"places|flight|"
    r"people|adults|cabins|prices|ticket|higher|upgrad)[a-z]{6})(?: originally)? cost(?=(?: (?:you|us|a|total|"
    r"of|only|just))* ?$)"
)
_COST_OF = rf"(?:costs?|price) (?:of|for) (?:(?:the|your|this|that|entire|whole) )*(?:{_TRIP}\b|(?=\w*\d)\w{{5,8}}\b)"
_REFUND = (
    r"(?<!non-)(?<!non )refund\w*|reimburse\w*|re-?credit\w*|credit(?:ed|s|ing)?(?! ?cards?\b)(?!_)|(?:given|"
    r"gave|give|gives|giving|brings?(?: you)?|"
    r"paid|pay|paying|"
    r"goes|go|going|went|comes?|coming|came|gets?|getting|got|sent|send|sending|put|transferred|returned|receive|"
    r"have|money|"
    r"\d|dollars?|that|this|it|usd) back\b|back (?:to|on|onto|into|from us)\b|back for\b|(?:return(?:ed|ing|s)?|goes|"
    r"go|going) "
    r"(?:\S+ ){0,3}?(?:to|onto) (?:you\b|(?:your|the|my) (?:\w+ )?(?:card|account|paypal|gift|credit|original|visa|"
    r"mastercard|method)|(?:whatever|what|wherever|however|the way) (?:you|it)\b)"
    r"|return(?:ed|ing|s)? $|you(?:'ll| will| would| should)? (?:also )?(?:receive|get)\b|(?:would|will|to|"
    r"should) receive\b|repa(?:y|id|"
    r"yment)\w*|returns? of money|payout|paid out|"
    r"give (?=\S+ (?:\w+ )?back)|(?:(?<=\d )|(?<=dollars )|(?<=usd ))back\b|"
    rf"added (?:back\b|(?:on)?to (?:your |the )?{_CARD})|in your favou?r\b|"
    rf"(?:loaded|put|posted) (?:back )?onto\b|"
    rf"(?:goes|going|go) onto (?:your |the )?{_CARD}"
)
_PAID = (
    r"(?:you|he|she|they|customer|was|were|been|already|had|have|originally|initially|amount)(?:'ve|'d| have| had|"
    r" has)? "
    r"(?:originally |already |initially |first )?(?:paid|spent)\b"
    rf"{_NO_BAGS}|{_COUNTED}(?<![ (,]\d )\bpaid\b(?! back| out){_NO_BAGS}|{_COST}|{_COST_OF}|"
    r"(?:original|earlier|"
    r"previous|first|"
    r"initial) (?:payment|purchase|charge|price|amount|cost|fare)s?\b(?! methods?)|"
    r"your (?:payment|purchase)s?\b(?! method)|purchase price|order (?:came|amounted) to|bought (?:\S+ ){0,4}?for|"
    r"payments? of\b|(?:(?:originally|initially|previously|first|already|had)"
    r"(?: been)? |(?<=was )|(?<=were )|(?<=been ))(?:charged|billed|debited)\b|order total"
)
_CHARGE = (
    r"charg(?:e|es|ed|ing)\b|bill(?:ed|ing|s)?\b|debit(?:ed|s|ing)?\b(?! ?cards?)|you(?:'ll| will|"
    r" would)? (?:need to |have to |"
    r"must )?(?:pay|owe)\b|(?:to|additional|extra|further|still) pay(?:ment)?\b|payable|\bdue\b|\bowed?\b|\bowing\b|"
    r"surcharge|"
    r"extra cost|deduct\w*|taken from|taking|take $|costs?\b|costing|additional|extra $|on top\b|"
    r"collect(?:ed|ing)?\b|"
    r"pays \$?$|goes on\b|put (?:it )?on your|upgrade (?:is|comes to|price)|com(?:es?|ing) out of\b|"
    r"taken (?:off|out of)\b|(?:with)?drawn\b|settled (?:with|from|by|via|using|through|out of)\b|payments? of\b|"
    rf"(?:(?:was|were|been|is|are|be|being|gets?) )?paid {_BY}|{_COST_OF}"
)
_MONEY: Mapping[str, str] = {
    "refund": _REFUND,
    "paid": _PAID,
    "charge": _CHARGE,
    "fare": (
        r"(?:fares?|prices?d?)\b(?! differ)|ticket\b|per (?:person|passenger|travell?er|head|seat|ticket|adult)|(?:a|"
        r"each) (?:person|passenger|"
        r"travell?er|seat|ticket)\b|costs?\b|apiece|"
        rf"{_COST}|{_COST_OF}"
    ),
    "fee": (
        r"fees?\b|(?:per|a|each|every) (?:checked |extra |additional )?(?:bag|suitcase|piece)\b|insurance|bags? costs?|"
        r"(?:bag|baggage|luggage|checked bag) (?:charge|price|rate)s?\b"
    ),
    "each": (
        r"\beach\b|\bper (?!cent)\w+|\bapiece\b|\ba (?:person|passenger|travell?er|bag|piece|head|seat)\b|"
        r"unit price"
    ),
    "total": (
        r"\btotals?\b|totall?ing|for (?:both|all|everyone|everybody|the two|two|three|four|five)\b|"
        r"in all\b|all in all|altogether|all together|comes to|came to|come to|sums?\b|"
        r"overall|combined|in sum|"
        r"adds up|makes\b|="
    ),
    "difference": r"differ\w*|\bgap\b",
    "limit": (
        r"limits?\b|at most\b|no more than|not more than|maximum|max\b|up to (?=\S*\d)|budget|\bcap\b|threshold|"
        r"ceiling|"
        r"(?:must|should|have to|"
        r"has to|want to) (?:keep|stay|remain)\b|at least|minimum"
    ),
    "balance": (
        r"balance\w*|(?:left|remaining|remains?|available|stays?|still) (?:on|in)\b|\bremain(?:s|der)\b"
        r"(?! (?:pending|processed|delivered|active|valid|booked|open|unchanged|confirmed|as|in place|in effect|"
        r"the same)\b)|"
        r"\bremaining (?:balance|amount|credit|value|sum|money)\b|"
        r"would be left|"
        r"is left|are left|\bholds\b|gift card (?:has|had)\b|worth of credit"
    ),
}
UNAVAILABLE = (
    r"(?:is|are|was|were|it's|completely|already|flight|cabin|class|but) full\b|"
    r"sold out|(?:not|\w+n't) (?:have |has )?enough|"
    r"fully booked|(?:no|not enough|too few|fewer|only (?:\w+ ){0,2}?\w+|insufficient) (?:free |"
    r"available |business |"
    r"economy )*(?:seats?|room|places|space)|unavailable|not available|no longer available|"
    r"has (?:only )?\w+ seats? left"
)
_PLACES: Mapping[str, str] = {
    "unavailable": UNAVAILABLE,
    "highest": (
        r"high(?:est|s)?\b|max(?:imum)?\b|warmest|hottest|\bpeak\w*|(?:reach|top)\w*\b|"
        r"(?:gets?|going|goes|climbs?|rises?|warms?) up to\b"
    ),
    "lowest": (
        r"low(?:est|s)?\b|min(?:imum)?\b|coldest|coolest|drops? to\b|"
        r"(?:gets?|going|goes|drops?|falls?|cools?) (?:down|as low)\b"
    ),
    "average": r"average\w*|\bmean\b",
    "longitude": r"longitude|\blon\b|\blng\b",
    "latitude": r"latitude|\blat\b",
}
_DATES: Mapping[str, str] = {
    "booking": (
        r"booked\b|booking(?= (?:was|is|dates?|on|from|itself|made)|:)|"
        r"reserv(?:ed|ation) (?:\S+ )?(?:on|was|is|made|created|date)|created|"
        r"creation|purchas\w+|bought|made\b|placed|issued|"
        r"ordered|date(?:s|d)? (?:from|back)"
    ),
    "departure": (
        r"depart\w*|leav(?:e|es|ing)\b|\bleft\b|fl(?:y|ies|ying|ew|own)\b|flights?\b|tak(?:es?|ing) off|took off|"
        r"travel\w*|move[ds]?\b|"
        r"trips?\b|rebook\w*|new date|outbound|inbound|return(?:s|ing)? (?:flight|on|trip)|hat\d+"
    ),
    "arrival": (
        r"arriv\w*|land(?:s|ed|ing)?\b|gets? (?:you )?in\b|gets? (?:you )?there|reach\w*|touch\w* ?down|getting in"
    ),
    "delivery": r"deliver\w*|ship\w*",
    "birth": r"born|birth\w*|dob\b",
    "today": r"today\w*|current date",
    "deadline": r"deadline|no later than|until\b|within\b|by $",
    "unavailable": UNAVAILABLE,
}
_TIMES: Mapping[str, str] = {
    "departure": (
        r"depart\w*|leav(?:e|es|ing)\b|\bleft\b|tak(?:es?|ing) off|takeoff|took off|sets? off|starts?\b|fl(?:y|ies|"
        r"ying|ew)\b(?! in)|"
        r"from $|outbound|boards?\b|flights?\b"
    ),
    "arrival": (
        r"arriv\w*|land(?:s|ed|ing)?\b|gets? (?:you )?in\b|gets? (?:you )?there|reach\w*|touch\w* ?down|to $|"
        r"getting in|until"
    ),
    "booking": r"booked (?:on|at) $|created|creation|placed|purchased|issued",
    "today": _DATES["today"],
    "deadline": r"deadline|no later than",
    "unavailable": UNAVAILABLE,
}
_TABLES = (("number", {**_MONEY, **_PLACES}), ("date", _DATES), ("time", _TIMES))
CUES: Mapping[str, Mapping[str, re.Pattern[str]]] = MappingProxyType({
    kind: MappingProxyType({role: re.compile(rf"(?<!\w)(?:{pattern})") for role, pattern in table.items()})
    for kind, table in _TABLES
})  # fmt: skip
"""Patterns of the words that indicate a role, by kind of value and role."""
ANY_CUE: Mapping[str, re.Pattern[str]] = MappingProxyType({
    kind: re.compile(rf"(?<!\w)(?:{'|'.join(table.values())})") for kind, table in _TABLES
})  # fmt: skip
"""Union of the patterns of all roles, by kind of value."""
UNITS = frozenset({"money", "percent", "duration", "count"})
ROLES = frozenset(role for table in CUES.values() for role in table) | UNITS
"""Every role that a value can have."""
NEUTRAL = frozenset({"total", "difference", "each"})
"""Roles of amounts that do not indicate whether the amount is refunded or charged."""
