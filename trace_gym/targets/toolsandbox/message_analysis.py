"""Analysis of messages to the user: topics of questions, reports, refusals, and stated numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from trace_gym.statements import find_values, tells
from trace_gym.targets.constants import frozen
from trace_gym.targets.dialogue import Act, refuses
from trace_gym.targets.dialogue.clauses import sentences

TOPICS = frozen(
    {
        "which": re.compile(
            r"\bwhich (?:one|person|contact|of|\w+ (?:do|did) you mean|\w+ is)|\bwho(?:m|se|'s|'d)?\b|\b(?:full|last|"
            r"first|family) names?\b|\bsurname\b|"
            r"\b(?:the|a|whose|what|person's|contact's) name\b|\b(?:person|contact|recipient)\b|\bdo you mean\b|"
            r"\bdid you mean\b|\bwhich\b"
        ),
        "number": re.compile(
            r"(?<!account )(?<!card )(?<!order )(?<!passport )(?<!security )\bnumbers?\b|"
            r"\bdigits\b"
        ),
        "content": re.compile(
            r"\b(?:say|wording|worded|contents?|write|phrase[ds]?|put in)\b|"
            r"\bwhat\b(?!.{0,12}\bnumber\b).{0,40}\b(?:message|text)\b|"
            r"\b(?:text|message) (?:be|should|itself|to be)\b|"
            r"(?<!send )(?<!sent )(?<!get )(?<!gets )(?<!receive )\bthe (?:exact )?(?:text|words)\b|"
            r"\btext of\b|\breminder (?:is )?about\b|\bword it\b|\bwritten in\b|\b(?:reminder|message) text\b|"
            r"\bto read\b|\bwords do you\b|\bdictate\b|"
            r"\bwhat (?:do|would|should|shall|may|can) (?:you|i|we) (?:\w+ ){0,3}tell\b|"
            r"\bwhat\b.*\b(?:remind(?:ed)? (?:you )?(?:of|about|to)|reminder (?:is )?(?:for|about))\b"
        ),
        "time": re.compile(
            r"(?<!since )\bwhen\b(?! it (?:pops|goes|comes|rings)| (?:i|i've|we|we've)\b(?! (?:should|shall|"
            r"can|may|must|am to)))|\b(?:what|which|the|exact|a) (?:time|day|date|hour)\b|"
            r"\bat what\b|\bhow (?:late|early|soon)\b|"
            r"\bo'clock\b"
        ),
    }
)
"""Mapping from topic to a pattern of questions about it."""
CLOSE = 0.055 + 1e-9
"""Tolerance for a stated number, which may be rounded to two decimals and then to one decimal."""

_QUOTE = r"[\"\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}]"
_figure = re.compile(r"\d")
_negative = re.compile(
    r"(?<![-\N{MINUS SIGN}\d.])(?=\d)(\d+(?:\.\d+)?) ?(?:(?:\N{DEGREE SIGN}|degrees?\b|deg\b) ?(?:w|s)\b|"
    r"(?:\N{DEGREE SIGN}|degrees?\b|deg\b)? ?(?:west|south)\b)",
    re.IGNORECASE,
)
"""Pattern of a coordinate with a negative sign in words: ``95.97\N{DEGREE SIGN} W``, ``95.97 degrees west``."""
_denial = re.compile(
    r"\bno (tool|way|function|feature|result|information|data|forecast|stock|company|such|record|entry|number)s?\b|"
    r"\bnot (found|available|known|supported)\b|\bnothing (about|for|on)\b|"
    r"\b(do|does|did)(n't| not) (have|find|know|exist|offer|support|see)\b"
)


def reports(heard: Iterable[Act]) -> bool:
    """Return whether a message without questions reports a result, which is a completed action or a number."""
    kinds = {act.kind for act in heard}
    return "completion" in kinds or any(act.kind == "inform" and _figure.search(act.text) for act in heard)


def refused(names: Sequence[str], said: Iterable[str]) -> bool:
    """Return whether a message states that something is impossible or does not exist, and names the obstacle.

    One of `names` must occur in this sentence or an adjacent one.
    """
    lower = [_plain(name) for name in names]
    quoted = re.compile(rf"{_QUOTE}({'|'.join(map(re.escape, names))})[,.]?{_QUOTE}", re.IGNORECASE)
    for text in said:
        told = [_plain(s) for s in sentences(quoted.sub(r"\1", text))]
        for n, sentence in enumerate(told):
            near = " ".join(told[max(n - 1, 0) : n + 2])
            if (refuses(sentence) or _denial.search(sentence)) and any(name in near for name in lower):
                return True
    return False


def _plain(text: str) -> str:
    """Return a text in lowercase, with spaces in place of hyphens and `wifi` as one word."""
    return " ".join(text.lower().replace("-", " ").split()).replace("wi fi", "wifi")


def stated(value: float, rivals: Iterable[float], said: Sequence[str], role: str = "") -> bool:
    """Return whether messages state a number, possibly rounded to one decimal, and no rival number in the same role.

    Coordinates may have a compass direction instead of a sign.
    """
    said = [_negative.sub(r"-\1", text) for text in said] if role == "longitude" else said
    return tells(value, rivals, said, role, within=CLOSE)


def numbers(said: Iterable[str]) -> list[float]:
    """Return the numbers in messages, except those of dates and times."""
    return [v.value for text in said for v in find_values(text) if isinstance(v.value, float)]
