"""Recognition of refusals and claims of success about single records in an agent's messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from trace_gym.statements.text import places_of
from trace_gym.targets.dialogue.clauses import bounded
from trace_gym.targets.dialogue.recognition import parsed
from trace_gym.targets.dialogue.rules import matched

_DONE = (
    r"(?:cancell?ed|refunded|changed|moved|upgraded|exchanged|returned|redirected|updated|added|done|made|corrected|"
    r"sent)"
)
_CHANGES = frozenset({"proposal", "choice"})
"""Kinds of dialogue acts that propose to change a record."""
_LONGEST = 50
"""Maximum number of words in a statement about one record. A longer sentence is treated as a list of the record's
data."""
_limits = re.compile(
    r"\b(?:no|not|cannot|never|none|nothing|neither|nor|without|already|only|too|keeps?|stays?|remains?|fixed|"
    r"locked|final|"
    r"off|skip\w*|sorry|afraid|unfortunately|since|because|so|which|however|rules?|policy|declin\w+)\b|n't\b"
)
"""Pattern of a sentence that states the reason why something stays unchanged."""
_claims = re.compile(
    rf"\bi(?:'ve| have)? (?:now |just |successfully |also |gone ahead and |went ahead and )*{_DONE}\b|"
    rf"\b(?:has|have|'s|was|were) (?:now |just |successfully |both |all |"
    rf"also )*been (?:successfully )?{_DONE}\b(?! by the airline)|"
    rf"\b(?:is|are) (?:now |successfully )+{_DONE}\b|\b(?:cancellation|refund|change|return|exchange) (?:went|"
    rf"is) through\b|"
    rf"^{_DONE}\b"
)
_denies = re.compile(r"\b(?:not|nothing|never|no|cannot|unless|until|if|once|when|before|after|already)\b|n't\b")
_several = re.compile(r"\b(?:both|neither|either|all|any|none|these|those|they|them)\b")
_EVERY = (
    r"(?:both|all)(?: (?:of|your|the|these|those|them|two|three|four|requested))*"
    r"(?: (?:trips|reservations|bookings|flights|orders))?"
)
_collective = re.compile(
    rf"\b{_EVERY}(?: (?:have|are|were|now|both|all|successfully|been))* (?!done|made){_DONE}\b|"
    rf"\bi(?:'ve| have)? (?:now |just |successfully )*{_DONE} {_EVERY}(?: (?:for you|as requested|now))*\W*$"
)


def refuses(text: str) -> bool:
    """Return whether a message states that something cannot be done."""
    return any(True for _ in _refusals(bounded(text)))


def refused(record: str, said: Iterable[str], records: Sequence[str] = (), grounds: bool = False) -> bool:
    """Return whether the agent refused a request about a record and did not claim to have carried it out.

    Args:
        record: The id of the record. The agent may omit a leading ``#``.
        said: The messages of the agent.
        records: The ids of all records that the user's requests are about. If there is only one, a refusal does not
            have to contain its id. If there are several, a refusal without an id applies to the record or records that
            the message mentions last before it.
        grounds: Whether the agent stated the facts that forbid the request. If so, any statement that the record
            remains unchanged counts as a refusal, unless the agent also proposes the change.
    """
    messages = [bounded(text) for text in said]
    found = any(record in about for text in messages for about in _about(text, _refusals(text), record, records))
    found = found or (grounds and _leaves(record, messages, records))
    return found and not claims_done(record, messages, records)


def _leaves(record: str, messages: Sequence[str], records: Sequence[str]) -> bool:
    """Return whether some sentence states that a record remains unchanged, and no sentence proposes to change it."""
    alone = {record, *records} == {record}
    stays = False
    for parts, acts in map(parsed, messages):
        for n, act in enumerate(acts if parts else ()):
            if _names(parts[n].text, record) or (alone and act.kind in _CHANGES):
                if act.kind in _CHANGES:
                    return False
                near = " ".join(p.plain for p in parts[max(0, n - 1) : n + 2])
                stays = stays or (len(parts[n].plain.split()) <= _LONGEST and _limits.search(near) is not None)
    return stays


def claims_done(record: str, said: Iterable[str], records: Sequence[str] = ()) -> bool:
    """Return whether the agent claimed to have carried out a request that concerns a record.

    The arguments are those of `refused`. If there are several records, the message must contain the id of this record,
    because ``All three are cancelled`` may refer to the other records.
    """
    messages = [text for text in map(bounded, said) if not {*records} - {record} or _names(text, record)]
    return any(record in about for text in messages for about in _about(text, _successes(text), record, records))


def claims_all(said: Iterable[str]) -> bool:
    """Return whether the agent claimed that both or all records were changed, as in ``Both trips are cancelled.``.

    Restricted statements, such as ``Both trips that I could cancel are cancelled.``, do not count.
    """
    parts = (clause for text in map(bounded, said) for clause in parsed(text)[0])
    return any(not p.question and _collective.search(p.plain) and not _denies.search(p.plain) for p in parts)


def _about(text: str, chosen: Iterable[int], record: str, records: Sequence[str]) -> Iterator[set[str]]:
    """Yield the ids of the records that each of the chosen clauses concerns.

    Args:
        text: The message.
        chosen: Indices of the clauses.
        record: The id of one record.
        records: The ids of all records.
    """
    everything = {record, *records}
    parts, _ = parsed(text)
    named = [{r for r in everything if _names(c.text, r)} for c in parts]
    for n in chosen:
        if named[n] or len(everything) == 1:
            yield named[n] or everything
        elif _several.search(parts[n].plain):
            yield set().union(*named) or everything
        else:
            before = [names for names in named[:n] if names][-1:]
            after = [names for names in named[n:] if names][:1]
            yield (before or after or [set()])[0]


@lru_cache(maxsize=4096)
def _names(text: str, record: str) -> bool:
    plain = record.lstrip("#")
    if text.isascii() and plain.isascii():
        return bool(places_of(plain.lower(), text.lower()))
    return re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", text, re.IGNORECASE) is not None


def _refusals(text: str) -> Iterator[int]:
    """Yield the indices of the clauses that refuse something."""
    for n, (clause, act) in enumerate(zip(*parsed(text), strict=False)):
        if act.kind == "refusal" or (act.kind == "inform" and "refusal" in matched(clause.plain, clause.question)):
            yield n


def _successes(text: str) -> Iterator[int]:
    """Yield the indices of the clauses that claim a success."""
    for n, clause in enumerate(parsed(text)[0]):
        if not clause.question and _claims.search(clause.plain) and not _denies.search(clause.plain):
            yield n
