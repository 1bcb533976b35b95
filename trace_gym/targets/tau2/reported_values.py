"""Detection of messages in which the agent reports a change with a wrong value, such as a wrong cabin or flight."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from trace_gym.statements.text import places_of, sentence_at
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.outcomes import RecordChanges, contains, lines_of, plain, record_at

_AMOUNT = r"(?<![\w$.,#-])\$ ?(\d[\d,]*(?:\.\d{1,2})?)(?![\w,.]\d)"
_amount = re.compile(_AMOUNT)
_each = re.compile(r"(?:\dx|\d x|\*|times|at) ?$")
"""Pattern of the text before the price of one of several bags or passengers."""
_pair = re.compile(rf"(?: ?\)| -+>?|:| =| \()+ ?(?:refund(?: of)?:? |cost:? |paid:? )?{_AMOUNT}")
_together = re.compile(
    r"\b(?:total|together|sum|overall|combined|both|all|other|second|first|third|respectively|rest|remaining|each|also|"
    r"another|plus|from|before|instead|if|would|not|no|never|whether|cannot)\b|n't\b|\+|\?"
)
"""Pattern of words that indicate that the amounts in a line may concern several records."""
_cabin = re.compile(
    r"\b(?:(?:is|are) now (?:booked )?in|(?:upgraded|changed|moved|switched|downgraded|updated) to) "
    r"(?:the )?(basic[ _-]economy|economy|business)\b(?! days?\b)"
)
_flights = re.compile(
    r"\b(?:(?:you are|you're|it is|is) now (?:booked|confirmed) (?:on|for)|rebooked (?:on|onto|to)|"
    r"(?:has|have) been (?:\w+ly )?(?:changed|moved|switched) (?:to|onto)) (?:the )?(?:flights? )?(hat\d{3})\b"
)
_street = re.compile(
    r"\b(?:ship\w*|sent|send|deliver\w*|address|goes?|going|redirected|rerouted|updated|changed|moved)\b"
    r"[^.;!?\n]{0,50}?(?<!from)(?: to|:| is| now) (?:your |the )?(?:new )?(?:address )?(?:at |of |is |- |: ?)?"
    r"(\d{1,5} [a-z]+ [a-z]+)(?=,|\.|$| in\b|\n)"
)
_member = re.compile(
    r"\b(?:as an?|you(?:'re| are) an?|you have|with) (?:\w+ )?(gold|silver|regular)(?:[ -](?:tier|level|status))? "
    r"members?(?:hip)?\b|\byour (gold|silver|regular) (?:membership|status)\b|"
    r"\b(?:upgraded|changed|set|raised|updated) your (?:membership|status|tier)(?: \w+)? to (gold|silver|regular)\b"
)
_free = re.compile(r"\bthere (?:is|was|were) no (?:price |fare )?difference(?: in (?:price|fare))?\b")
"""Pattern of a statement that a change costs nothing and refunds nothing."""
_leg = re.compile(r"\b(?:flight|leg|segment|return|outbound|onward|hat\d+|item|for|between)\b")
_item = re.compile(
    r"\b(?:replaced (?:by|with)|exchanged for|changed to|swapped (?:for|with)|modified to) (?:[a-z]+ ){0,4}?"
    r"(?:\(?(?:item )?(?:id )?#?)?(\d{10})\b"
)
_unreal = re.compile(
    r"\b(?:not|no|never|cannot|if|unless|whether|would|could|might|may|instead|rather|once|until|should|when|from|said|"
    r"say|mention\w*|claim\w*|told|stated?|indicat\w*|think|thought|believ\w*|although|though|even|but|only|unlike|"
    r"assum\w*|expect\w*|however|while|actually|previously|was|were|or)\b|n't\b|'d\b|\?"
)

_denied = re.compile(
    r"\b(?:if|unless|whether|would|could|might|until|should|when|said|told|think|thought|or)\b|'d\b|\?"
)


def wrong_values(
    before: Mapping[str, Data], after: Mapping[str, Data], profile: Data, outcome: RecordChanges, said: Sequence[str]
) -> bool:
    """Return whether reports state a wrong cabin, flight or address for a change, or a wrong membership level.

    Args:
        before: The reservations or orders at the start, by id.
        after: The reservations or orders at the end, by id.
        profile: The record of the customer.
        outcome: What happened in the episode.
        said: The normalized reports; see `outcomes.reports`.
    """
    changed = {key: after[key] for key in outcome.moves}
    moved = any("address" in r and r["address"] != before[key]["address"] for key, r in changed.items())
    for text in said:
        for match, record in _claims(_cabin, text, outcome) if contains(text, ("economy", "business")) else ():
            held = [changed[key] for key in ([record] if record else changed) if key in changed]
            if held and match[1].replace(" ", "_").replace("-", "_") not in {r.get("cabin") for r in held}:
                return True
        if "hat" in text and _names_other(_flights, text, outcome, _held(changed, "flights", "flight_number")):
            return True
        if contains(text, _REPLACED) and _names_other(_item, text, outcome, _held(changed, "items", "item_id")):
            return True
        if moved and _names_other(_street, text, outcome, _streets([*after.values(), profile])):
            return True
    return False


_REPLACED = ("replaced", "exchanged", "changed", "swapped", "modified")


def _names_other(pattern: re.Pattern[str], text: str, outcome: RecordChanges, known: Collection[str]) -> bool:
    """Return whether a claim contains a value that is not one of the known values."""
    return bool(known) and any(match[1] not in known for match, _ in _claims(pattern, text, outcome))


def _held(changed: Mapping[str, Data], table: str, name: str) -> set[str]:
    """Return the flights or items of changed records, including new items of exchanges."""
    found = {str(part[name]).lower() for record in changed.values() for part in record.get(table, ())}
    return found | {i for record in changed.values() for i in record.get("exchange_new_items") or ()}


def _streets(records: Iterable[Data]) -> set[str]:
    return {str(r["address"]["address1"]).lower() for r in records if "address" in r}


def wrong_membership(profile: Data, said: Sequence[str]) -> bool:
    """Return whether messages state a wrong membership level of the customer as a fact."""
    own = profile.get("membership")
    return own is not None and any(
        (match[1] or match[2] or match[3]) != own
        for text in said
        if "member" in text or " status" in text
        for match in _member.finditer(text)
        if not _unreal.search(text, *sentence_at(text, match.start()))
    )


def exchanges_amounts(before: Mapping[str, Data], outcome: RecordChanges, said: Sequence[str]) -> bool:
    """Return whether reports state an amount of one record for another record.

    Args:
        before: The reservations or orders at the start, by id.
        outcome: What happened in the episode.
        said: The normalized reports; see `outcomes.reports`.
    """
    moves = {key: {round(abs(m), 2) for m in amounts} for key, amounts in outcome.moves.items()}
    for text in said if len(moves) > 1 else ():
        if "$" not in text or not all(places_of(plain(key), text) for key in moves):
            continue
        for line, named in lines_of(text, outcome):
            if named not in moves or _together.search(line):
                continue
            for amount in (_number(m[1]) for m in _amount.finditer(line) if not _each.search(line, 0, m.start())):
                others = any(amount in found for key, found in moves.items() if key != named)
                if others and amount not in {*_amounts(before.get(named), outcome.moves[named])}:
                    return True
    return False


def exchanges_listed_amounts(before: Mapping[str, Data], outcome: RecordChanges, said: Sequence[str]) -> bool:
    """Return whether a list such as ``A: $90, B: $80`` states an amount of one record for another record.

    Args:
        before: The reservations or orders at the start, by id.
        outcome: What happened in the episode.
        said: The normalized messages.
    """
    known: dict[str, set[float]] = {}
    for text in said:
        for key in outcome.records if "$" in text else ():
            for at in places_of(plain(key), text):
                if match := _pair.match(text, at + len(plain(key))):
                    known = known or {k: {*_amounts(before.get(k), outcome.moves.get(k, ()))} for k in outcome.records}
                    amount = _number(match[1])
                    others = any(amount in found for other, found in known.items() if other != key)
                    if others and amount not in known[key]:
                        return True
    return False


def denies_difference(outcome: RecordChanges, said: Sequence[str]) -> bool:
    """Return whether there is exactly one change and reports deny its price difference.

    Args:
        outcome: What happened in the episode.
        said: The normalized reports; see `outcomes.reports`.
    """
    if len(outcome.moves) != 1 or not sum(next(iter(outcome.moves.values()))):
        return False
    found = ((text, match) for text in said for match in _free.finditer(text))
    return any(not _leg.search(text, *sentence_at(text, m.start())) and _is_claimed(text, m) for text, m in found)


def _amounts(before: Data | None, moves: Sequence[float]) -> Iterator[float]:
    """Yield the amounts of a record: its payments, its prices, the amounts of its changes, and their sums."""
    yield from (round(abs(m), 2) for m in moves)
    yield round(abs(sum(moves)), 2)
    if before is None:
        return
    yield from (float(p["amount"]) for p in before["payment_history"])
    people = len(before.get("passengers", (1,)))
    prices = [float(part["price"]) for part in before.get("flights") or before.get("items") or ()]
    yield from (round(n * price, 2) for price in (*prices, sum(prices)) for n in {1, people})
    yield from (round(abs(m) / people, 2) for m in moves)


def _claims(pattern: re.Pattern[str], text: str, outcome: RecordChanges) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the claims that match a pattern, each with the record that it concerns."""
    for match in pattern.finditer(text):
        if _is_claimed(text, match):
            yield match, record_at(text, match.start(), outcome)


def _is_claimed(text: str, match: re.Match[str]) -> bool:
    start, _ = sentence_at(text, match.start())
    past = match.re in (_free, _item, _flights)  # they may be stated in the past tense
    return not (_denied if past else _unreal).search(text, start, match.end())


def _number(digits: str) -> float:
    return float(digits.replace(",", ""))
