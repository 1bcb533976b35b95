"""What a message to the user says: questions, refusals, answers, and numbers that are claimed."""

from __future__ import annotations

import re
from collections.abc import Iterable

TOPICS = {
    "which": re.compile(r"\bwhich\b|\bwho do you mean\b|\b(full|last) name\b|\bsurname\b"),
    "number": re.compile(r"\bnumber\b"),
    "content": re.compile(r"\bsay\b|\bmessage\b|\bwrite\b|\bcontent\b"),
    "time": re.compile(r"\bwhen\b|\bwhat (time|day|date)\b|\bat what\b"),
}
"""What the user may be asked for."""
CLOSE = 0.05 + 1e-9
"""How far a number that is told may lie from the right one: it may be rounded to one decimal."""

_asks = re.compile(
    r"\?|\bplease (tell|give|provide|specify|clarify|choose|share)\b|\blet me know\b|\bi need (to know|the)\b"
)
_consent = re.compile(
    r"(^|[.!?,]\s+)(shall|should|may|can) i\b|"
    r"\b((want|like) me to|confirm|proceed|go ahead|is that (ok|right))\b"
)
_refusal = re.compile(
    r"\b(cannot|can't|could not|couldn't|unable|not able|not possible|impossible|no way to|not allowed|failed to)\b"
)
_intention = re.compile(
    r"\b(i will|i'll|let me|going to|i need to|first i|one moment)\b|\b(will|now) (send|switch|turn|set|look|check|try)"
)
_done = re.compile(
    r"\b(done|sent|set|moved|added|removed|changed|updated|switched|turned|found|has been|have been|is now|are now|"
    r"it is|they are|there is|there are|you are|says|goodbye)\b|\d"
)
_courtesy = re.compile(r"\b(anything|something|what) (else|more)\b")


def heard(text: str) -> str:
    """What the user takes a message for: question, consent, refusal, intention, done or other."""
    plain = "".join(_sentences(text)).strip()
    asked = topics(text)
    if "?" in plain and _consent.search(plain) and asked in ([], ["content"]):  # a message that it is to send
        return "consent"
    if asked:
        return "question"
    if _refusal.search(plain):
        return "refusal"
    if _intention.search(plain):
        return "intention"
    return "done" if _done.search(plain) else "other"


def topics(text: str) -> list[str]:
    """What the sentences of a message that ask something ask for."""
    asked = " ".join(s for s in _sentences(text) if _asks.search(s))
    return [name for name, pattern in TOPICS.items() if pattern.search(asked)]


def _sentences(text: str) -> list[str]:
    """Sentences in small letters, without what stands in quotation marks and without offers of further help."""
    unquoted = re.sub(r"\"[^\"]*\"", " ", text.lower())
    return [s for s in re.findall(r"[^.!?]+[.!?]*", unquoted) if not _courtesy.search(s)]


def refused(name: str, said: Iterable[str]) -> bool:
    """Whether a sentence says that something cannot be done, and names what prevents it."""
    sentences = (s.lower() for text in said for s in re.split(r"(?<=[.!?])\s", text))
    return any(_refusal.search(s) and name.lower() in s for s in sentences)


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
