"""What a message to the user says: questions, refusals, answers, and numbers that are claimed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from trace_gym.targets.constants import frozen

TOPICS = frozen(
    {
        "which": re.compile(r"\bwhich\b|\bwho do you mean\b|\b(full|last) name\b|\bsurname\b"),
        "number": re.compile(r"\bnumber\b"),
        "content": re.compile(r"\bsay\b|\bmessage\b|\bwrite\b|\bcontent\b"),
        "time": re.compile(r"\bwhen\b|\bwhat (time|day|date)\b|\bat what\b"),
    }
)
"""What the user may be asked for."""
CLOSE = 0.05 + 1e-9
"""How far a number that is told may lie from the right one: it may be rounded to one decimal."""

_asks = re.compile(r"\?|\bplease (tell|give|provide|specify|clarify|choose|share)\b|\blet me know\b")
_lacks = re.compile(r"\bi need (to know|the)\b")
_wants = re.compile(r"\b(what|which|who|whom|when|have|get|know|tell|give|share)\b")
"""Tells a question that begins like a request for consent from one: ``May I have the number?``."""
_consent = re.compile(
    r"(^|[.!?,]\s+)(shall|should|may|can) i\b|"
    r"\b((want|like) me to|confirm|proceed|go ahead|is that (ok|right))\b"
)
_refusal = re.compile(
    r"\b(cannot|can't|could not|couldn't|unable|not able|not possible|impossible|no way to|not allowed|failed to)\b"
)
_intention = re.compile(
    r"\b(i will|i'll|let me(?! know)|going to|i need to(?! know)|first i|one moment)\b|"
    r"\b(will|now) (send|switch|turn|set|look|check|try)"
)
_done = re.compile(
    r"\b(done|sent|set|moved|added|removed|changed|updated|switched|turned|found|has been|have been|is now|are now|"
    r"it is|they are|there is|there are|you are|says|goodbye)\b|\d"
)
_denial = re.compile(
    r"\bno (tool|way|function|feature|result|information|data|forecast|stock|company|such|record|entry|number)s?\b|"
    r"\bnot (found|available|known|supported)\b|\bnothing (about|for|on)\b|"
    r"\b(do|does|did)(n't| not) (have|find|know|exist|offer|support|see)\b"
)
_courtesy = re.compile(r"\b(anything|something|what) (else|more)\b")


def heard(text: str) -> str:
    """What the user takes a message for: question, consent, refusal, intention, done or other."""
    plain = " ".join(_sentences(text))
    if topics(text):
        return "question"
    if "?" in plain and _consent.search(plain):
        return "consent"
    if _refusal.search(plain):
        return "refusal"
    if _intention.search(plain):
        return "intention"
    return "done" if _done.search(plain) else "other"


def topics(text: str) -> list[str]:
    """What the sentences of a message that ask something ask for.

    Who asks for consent names what is to be done, and who goes on alone what for; neither asks for it.
    """
    sentences = _sentences(text)
    alone = any(_intention.search(s) for s in sentences)
    asked = [s for s in sentences if _asks.search(s) and (_wants.search(s) or not _consent.search(s))]
    asked += [s for s in sentences if _lacks.search(s) and not alone]
    return [name for name, pattern in TOPICS.items() if any(map(pattern.search, asked))]


def _sentences(text: str) -> list[str]:
    """Sentences in small letters, without what stands in quotation marks and without offers of further help."""
    unquoted = re.sub(r"\"[^\"]*\"", " ", _small(text))
    return [s.strip() for s in re.findall(r"[^.!?]+[.!?]*", unquoted) if not _courtesy.search(s)]


def _small(text: str) -> str:
    """Small letters, and apostrophes as they are typed."""
    return text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def refused(names: Sequence[str], said: Iterable[str]) -> bool:
    """Whether a sentence says that something cannot be done or is not there, and names what prevents it."""
    sentences = (s for text in said for s in re.split(r"(?<=[.!?])\s", _small(text)))
    denied = [s for s in sentences if _refusal.search(s) or _denial.search(s)]
    return any(name.lower() in s for s in denied for name in names)


def stated(value: float, rivals: Iterable[float], said: Iterable[str]) -> bool:
    """Whether the user was told a number, perhaps rounded to one decimal, and none of its rivals beside it."""
    told = numbers(said)
    near = [n for n in told if abs(n - value) <= CLOSE]
    rest = [n for n in told if abs(n - value) > CLOSE]
    return bool(near) and not any(abs(n - rival) <= CLOSE for n in rest for rival in rivals)


def numbers(said: Iterable[str]) -> list[float]:
    """The numbers in messages; commas between digits separate thousands."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", " ".join(said))
    return [float(n) for n in re.findall(r"(?<![\d.])-?\d+(?:\.\d+)?", text)]
