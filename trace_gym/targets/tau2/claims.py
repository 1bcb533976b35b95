"""Detection of statements about a reservation that give its booking date, or a wrong cabin or insurance status."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from trace_gym.statements import normalize, states_pattern
from trace_gym.statements.citation import without_rules
from trace_gym.targets.constants import frozen
from trace_gym.targets.tau2.generic import Data
from trace_gym.world import asserted

_BOOKED_IN = (
    r"(?:is|was|it's|its|booked|made|travell?ing|fl(?:y|ies|ying)) (?:(?!not |never |neither |nor |"
    r"no )\w+ ){0,2}?(?:in |as |an? |for )?|"
    r"(?:booked|made|created|bought|purchased) (?:on )?(?:\w+ \d{1,2}(?:\w\w)?(?:,? \d{4})?|"
    r"\d{4}-\d\d-\d\d),? (?:in|as) (?:an? )?|"
    r"cabin(?: class)?:? (?:is |was )?|(?:your|this|the) |"
    r"(?:\b[a-z0-9]{6}: |\()(?=[a-z _]+,? (?:(?:booked|made|created|bought|purchased)(?! (?:within|in|less))|"
    r"(?:no |without |travel )*insurance|not insured)\b)"
)
_OTHERS = (
    r"(?: class)?(?! (?:class )?(?:fares?|tickets?|cabin) (?:is|are|would)\b)"
    r"(?! (?:class )?(?:conditions?|rules?|requirements?|criteri(?:a|on)|exceptions?|exemption|provision)\b)"
)
CABIN_CLAIMS: Mapping[str, str] = frozen({
    "basic_economy": rf"(?:{_BOOKED_IN})basic[\s_-]economy{_OTHERS}",
    "economy": rf"(?:{_BOOKED_IN})(?<!basic[ _-])economy{_OTHERS}",
    "business": rf"(?:{_BOOKED_IN})business{_OTHERS}",
})  # fmt: skip
"""Mapping from cabin to a pattern of statements that a reservation is in this cabin."""
INSURANCE_CLAIMS: Mapping[str, str] = frozen({
    "yes": (
        r"(?:is|was|are|being|it's) (?:fully )?insured|insurance(?: status)?(?::| is| was)? yes|"
        r"covered by (?:the |travel |your )*insurance|"
        r"(?:has|have|had|includes?|bought|with) (?:an? |the |travel |trip )*insurance(?! (?:would|could))"
    ),
    "no": (
        r"(?:no|without) (?:travel |trip |any )*insurance|not insured(?! (?:for|against)\b)|uninsured|"
        r"insurance(?: status)?(?::| is| was)? no(?! longer)|(?:does|do|did|has|have)"
        r"(?:n't| not) (?:have |include |carry |buy |purchase |got )?(?:any |an? |travel |trip )*insurance"
    ),
})  # fmt: skip
"""Mapping from insurance status (``yes`` or ``no``) to a pattern of statements of this status."""

_VERDICT = r"(?:\u2705|\u2714\ufe0f?|\u274c|\u2717|\u2718|\u2716\ufe0f?)"
_checked = re.compile(
    rf"(?:(?<=\n)|^|(?<=[.!?] ))(?P<lead>[^\w\n]*(?:\d{{1,2}}[.)] ?)?)(?P<label>[a-z][^?:\n.!;|]{{2,80}}?) ?"
    rf"(?:\?|[:|]|->| - )\s*(?=(?P<verdict>(?:{_VERDICT}\W*)?(?:yes|no|none|not|nope|n/a|true|false)\b|{_VERDICT}))"
)
"""Pattern of a checklist item with its result, such as ``Business class? No`` or ``Booked within 24 hours: No``."""
_question = re.compile(r"(?P<label>[a-z][^?\n.!;:]{2,80})\?(?= *[^\s?])")
_affirmed = re.compile(rf"(?:{_VERDICT}\W*)?(?:yes|true)\b|\u2705|\u2714")
_within_a_day = re.compile(
    r"\b(?:book(?:ed|ing)|made|created|reserv(?:ed|ation)|purchas(?:ed|e)|bought)\b[^\n:?|]{0,40}"
    rf"\b(?:24|hours?|day)\b[^\n:?|]{{0,20}}?(?:[:?|]|->| - )\s*(?:{_VERDICT}\W*)?(?:(?:no|not met|failed|false)\b)?"
    rf"[\s(,:-]*(?=\w)(?!yes|true)"
)
_insurance = re.compile(r"(?:\w+ ){0,3}insur(?:ance|ed)")
_inverted = re.compile(r"^(?:is|was) (?:it|this|the trip|the reservation|your trip) (?:an? |in )?")


def _resolved(text: str) -> str:
    """Return a text in lowercase with checklist items rewritten as statements. Remove denied items and questions."""
    text = _checked.sub(_verdict, normalize(text))
    return _question.sub("", text)


def _verdict(match: re.Match[str]) -> str:
    """Convert a checklist item with its mark, such as "yes", "no" or a check mark, to a statement."""
    label = _inverted.sub("", match["label"])
    before, comma, last = label.rpartition(", ")
    if comma and _insurance.fullmatch(last):  # an ordinary sentence that ends with the insurance status
        return f"{match['lead']}{before}, insurance: {'yes' if _affirmed.match(match['verdict']) else 'no'}, "
    insurance = _insurance.fullmatch(label) is not None
    if _affirmed.match(match["verdict"]):
        return f"{match['lead']}{'it is insured' if insurance else f'it is {label}'}: "
    return f"{match['lead']}insurance: no, " if insurance else match["lead"]


def misinformed(booking: Data, cabins: Collection[str], records: Iterable[str], said: list[str]) -> bool:
    """Return whether messages claim a wrong cabin or insurance status of a reservation. Quoted rules do not count.

    Args:
        booking: The record of the reservation.
        cabins: The cabins that may be claimed: the booked cabin, and a cabin that the customer asked for.
        records: The ids of all reservations that messages may be about.
        said: The messages.
    """
    false = [words for cabin, words in CABIN_CLAIMS.items() if cabin not in cabins]
    false += [words for insured, words in INSURANCE_CLAIMS.items() if insured != booking["insurance"]]
    known = tuple(records)
    said = [_resolved(text) for text in said]
    return any(states_pattern(words, said, booking["reservation_id"], known, cited=False) for words in false)


def booking_told(created: str, days: Iterable[str], said: list[str]) -> bool:
    """Return whether messages state the booking date. Dates in a quoted rule ("booked since May 14") do not count.

    Args:
        created: The booking date.
        days: Dates that messages may state.
        said: The messages.
    """
    known = tuple(days)
    said = [_within_a_day.sub("booked on ", normalize(text)) for text in said]
    return asserted(created, known, said, "booking") or (
        asserted(created, known, [without_rules(text) for text in said], "booking")
    )
