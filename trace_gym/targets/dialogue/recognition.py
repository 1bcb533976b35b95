"""Recognition of dialogue acts in an agent's message: requests, proposals, reports, refusals and announcements."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from trace_gym.targets.dialogue.classifier import (
    ASKING,
    TELLING,
    features,
    most_probable,
    of_message,
    trained,
    words_of,
)
from trace_gym.targets.dialogue.clauses import Clause, bounded, clauses
from trace_gym.targets.dialogue.rules import ALTERNATIVES, CONSENT, NEGATION, OPEN_QUESTION, WHOLE, appeals, matched

__all__ = ["Act", "acts", "gist"]

UNSURE = 0.4
"""Minimum probability for accepting the kind that the classifier finds for a message. A less probable kind is replaced
by a kind with a matching rule, or by `inform`."""
FINAL = frozenset({"completion", "closing", "refusal"})
"""Kinds that may end the conversation. They are accepted only if a rule matches or, for a refusal, a negation."""
SURE = 0.8
"""Minimum probability at which the classifier overrules the only matching rule for the kind of a question."""
CERTAIN = 0.95
"""Minimum probability for accepting a refusal with a negation but no matching rule, and for ignoring a rule that
detects a refusal in a message that otherwise states facts."""
KEPT = frozenset({"greeting", "offer", "inform", "refusal", "hold"})
"""Kinds of clauses that keep their kind regardless of the kind of the message."""
ORDER = (
    "request", "choice", "proposal", "transfer", "refusal",
    "progress", "completion", "closing", "offer", "hold", "inform",
)  # fmt: skip
"""Kinds in the order in which the user reacts to them. For example, a question precedes a report."""


class Act(NamedTuple):
    """Dialogue act: a part of a message and its kind, such as `request` or `proposal`."""

    kind: str
    text: str
    """Text of the part."""
    confidence: float = 1.0
    plain: str = ""
    """The part in lowercase and without numbers; see `Clause`. It is empty if the part is not a clause of a message."""
    question: bool = False
    """Whether the part is a question; see `Clause`."""


_confirm = re.compile(
    r"\bplease (?:confirm|reply|answer|respond) ?(?:(?:with )?\(?\"?yes\"?(?: ?/ ?| or )\"?no\"?\)?|"
    r"(?:if|whether) you(?:'d| would)? (?:like|want|wish)(?: me)? to (?:proceed|go ahead|continue)"
    r"(?!(?: [\w,]+){0,8} or\b)(?: \(yes ?/ ?no\))?)",
    re.IGNORECASE,
)
"""Pattern of a request for consent that has the form of a question about a fact."""
Plain = tuple[str, bool]
"""A clause in lowercase, and a flag that is True if the clause is a question."""
ScoredKind = tuple[str, float]
"""A kind of dialogue act, and its probability."""


def acts(text: str) -> tuple[Act, ...]:
    """Return the dialogue acts of a message in order. Text that is not understood has the kind `other`."""
    return parsed(bounded(text))[1]


@lru_cache(maxsize=4096)
def parsed(text: str) -> tuple[tuple[Clause, ...], tuple[Act, ...]]:
    """Return the clauses of a message and the dialogue act of each clause. See `bounded` for the maximum length."""
    parts = split(text)
    if not parts:
        return (), (Act("other", text),)
    found = _kinds(tuple((c.plain, c.question) for c in parts))
    return parts, tuple(
        Act(kind, c.text, confidence, c.plain, c.question) for c, (kind, confidence) in zip(parts, found, strict=True)
    )


def split(text: str) -> tuple[Clause, ...]:
    """Return the clauses of a message that contain a word or a number."""
    return tuple(c for c in clauses(_confirm.sub("please confirm", text)) if any(map(str.isalnum, c.plain)))


@lru_cache(maxsize=4096)
def _kinds(parts: tuple[Plain, ...]) -> tuple[ScoredKind, ...]:
    """Return the kind of each clause of a message.

    The result is cached. Messages that differ only in ids and numbers share a cache entry.
    """
    scores = [_scores(*part, n == len(parts) - 1) for n, part in enumerate(parts)]
    found = tuple(_asked(*part, s) or _ruled(*part) for part, s in zip(parts, scores, strict=True))
    kinds = {kind for kind, _ in found}
    if kinds & {"request", "choice", "proposal"}:
        return tuple(("progress", c) if kind == "completion" else (kind, c) for kind, c in found)
    told = [s for s, (kind, _) in zip(scores, found, strict=True) if kind not in ("offer", "greeting")]
    if not told:
        return found
    ruled = (matched(*part) for part, (kind, _) in zip(parts, found, strict=True) if kind != "offer")
    kinds = kinds.union(*ruled) - {"inform", *ASKING}
    kind, confidence = _told(parts, kinds, *most_probable(TELLING, of_message(told)))
    kept = KEPT if kind not in ("inform", "hold") or confidence < CERTAIN else KEPT - {"refusal"}
    kept = kept | {"completion"} if kind == "refusal" else kept  # the completed change may concern another record
    found = tuple((k if k in kept else kind, c) for k, c in found)
    if kind in {k for k, _ in found}:
        return found
    # No clause has the kind of the message, so assign the kind to the clause that contributes most to its score.
    lane = len(ASKING) + (TELLING.index(kind) if kind in TELLING else 0)
    best = max((n for n, (k, _) in enumerate(found) if k != "offer"), key=lambda n: scores[n][lane])
    return tuple((kind, confidence) if n == best else one for n, one in enumerate(found))


def _told(parts: tuple[Plain, ...], kinds: set[str], kind: str, confidence: float) -> ScoredKind:
    """Return the kind of a message without a question.

    Args:
        parts: The clauses of the message.
        kinds: Kinds of the clauses and of their matching rules.
        kind: The most probable kind according to the classifier.
        confidence: Probability of this kind.
    """
    negated = kind == "refusal" and confidence >= CERTAIN and any(NEGATION.search(f" {plain}") for plain, _ in parts)
    if (kind in FINAL and kind not in kinds and not negated) or confidence < UNSURE:
        whole = kind == "completion" and any(WHOLE.search(f" {plain}") for plain, _ in parts)
        kind = "completion" if whole else next((k for k in ORDER if k in kinds), "inform")
    if kind in ("progress", "completion"):
        if kinds & {"hold", "progress"}:
            return "progress", confidence
        return ("completion" if "completion" in kinds or kind == "completion" else "inform"), confidence
    if kind == "inform" and sum(map(_familiar, parts)) < len(parts) / 2:
        return "other", confidence
    return kind, confidence


def _familiar(part: Plain) -> float:
    """Return the fraction of the words in a clause that occur in the training corpus."""
    words = words_of(part[0])
    return sum(map(trained().knows, words)) / len(words) if words else 0.0


_offers_more = re.compile(
    r"\b(?:do|would|if) you (?:need|want|like) (?:any |some )?help with (?:another|any|some)|"
    r"\bis (?:all|everything) (?:\w+ )?(?:settled|taken care of|sorted(?: out)?|in order|resolved|wrapped up)\b|"
    r"\b(?:did|have) i (?:get|got|cover(?:ed)?|catch|caught|handled?|take care of|taken care of) everything\b"
)
"""Pattern of an offer of further help, or of a question whether all is done. A person does not answer with consent."""
_would_tell = re.compile(r"\b(?:do|would) you mind (?:telling|giving|sharing|sending|confirming|repeating|spelling)")
"""Pattern of a polite request for a fact, which a person does not answer with ``yes``."""


def _asked(plain: str, question: bool, scores: list[float]) -> ScoredKind | None:
    """Return the kind of request in a clause, such as `choice` or `proposal`, or None if there is no request."""
    if not appeals(plain, question):
        return None
    kind, confidence = most_probable(ASKING, scores[: len(ASKING)])
    rules = [k for k in matched(plain, question) if k in ASKING]
    if kind != "choice" and "offer" in rules:
        kind = "offer"
    elif len(rules) == 1 and (confidence < SURE or kind == "offer" or (kind, *rules) == ("proposal", "request")):
        kind = rules[0]
    elif kind == "offer":
        return None
    if _would_tell.search(plain):
        return "request", confidence
    if _offers_more.search(plain):
        return "offer", confidence
    if kind != "offer" and CONSENT.search(f" {plain}"):
        kind = "proposal"
    elif kind == "proposal" and question:
        kind = "request" if OPEN_QUESTION.search(plain) else "choice" if ALTERNATIVES.search(f" {plain}") else kind
    return None if kind == "none" else (kind, confidence)


def _ruled(plain: str, question: bool) -> ScoredKind:
    """Return the kind of a clause without a request, according to the first matching rule."""
    kinds = [k for k in matched(plain, question) if k not in ("request", "choice", "proposal")]
    return (kinds[0] if kinds else "inform"), 1.0


@lru_cache(maxsize=16384)
def _scores(plain: str, question: bool, last: bool) -> list[float]:
    return trained().score(features(plain, question, last))


def gist(text: str) -> str:
    """Return the kind of the dialogue act in a message to which the user reacts first."""
    kinds = {act.kind for act in acts(text)}
    return next((kind for kind in ORDER if kind in kinds), "other")


def clear() -> None:
    """Clear all caches. This is required after a change of the classifier."""
    parsed.cache_clear()
    _kinds.cache_clear()
    _scores.cache_clear()
