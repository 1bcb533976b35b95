"""Dialogue acts of an agent's message: what it asks, proposes, reports, refuses or announces."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from trace_gym.targets.dialogue.classifier import ASKING, TELLING, most_probable, of_message, trained, words_of
from trace_gym.targets.dialogue.clauses import Clause, bounded, clauses
from trace_gym.targets.dialogue.rules import ALTERNATIVES, CONSENT, NEGATION, OPEN_QUESTION, WHOLE, appeals, matched

__all__ = ["Act", "acts", "gist"]

UNSURE = 0.4
"""A kind with a smaller probability counts only if a rule matches, or as `inform` if most words are familiar."""
FINAL = frozenset({"completion", "closing", "refusal"})
"""Kinds that may end the conversation. They need a rule that matches; a refusal may have a negation instead."""
SURE = 0.8
"""Below this probability, the only rule that matches decides what a clause asks for."""
CERTAIN = 0.95
"""From this probability on, a message refuses something with a negation, or states facts with a rule for a refusal."""
KEPT = frozenset({"greeting", "offer", "inform", "refusal", "hold"})
"""Kinds of clauses that stay what they are, whatever the message does."""
ORDER = (
    "request", "choice", "proposal", "transfer", "refusal",
    "progress", "completion", "closing", "offer", "hold", "inform",
)  # fmt: skip
"""Kinds by what the user answers first: a question outranks a report."""


class Act(NamedTuple):
    """A part of a message that does one thing."""

    kind: str
    text: str
    """The words of the part."""
    confidence: float = 1.0


Plain = tuple[str, bool]
"""The words of a clause in small letters, and whether it is a question."""
Found = tuple[str, float]
"""A kind and its probability."""


def acts(text: str) -> tuple[Act, ...]:
    """Return the dialogue acts of a message in order; a message that is not understood is one act `other`."""
    return parsed(bounded(text))[1]


@lru_cache(maxsize=4096)
def parsed(text: str) -> tuple[tuple[Clause, ...], tuple[Act, ...]]:
    """Return the clauses of a message of bounded length, and the dialogue act of each."""
    parts = tuple(c for c in clauses(text) if any(map(str.isalnum, c.plain)))
    if not parts:
        return (), (Act("other", text),)
    found = _kinds(tuple((c.plain, c.question) for c in parts))
    return parts, tuple(Act(kind, c.text, confidence) for c, (kind, confidence) in zip(parts, found, strict=True))


@lru_cache(maxsize=4096)
def _kinds(parts: tuple[Plain, ...]) -> tuple[Found, ...]:
    """Return the kind of each clause of a message. Messages that differ only in ids and numbers share the result."""
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
    kept = kept | {"completion"} if kind == "refusal" else kept  # of another record
    found = tuple((k if k in kept else kind, c) for k, c in found)
    if kind in {k for k, _ in found}:
        return found
    # The message as a whole does something that no clause does by a rule: the clause that contributes most does it.
    lane = len(ASKING) + (TELLING.index(kind) if kind in TELLING else 0)
    best = max((n for n, (k, _) in enumerate(found) if k != "offer"), key=lambda n: scores[n][lane])
    return tuple((kind, confidence) if n == best else one for n, one in enumerate(found))


def _told(parts: tuple[Plain, ...], kinds: set[str], kind: str, confidence: float) -> Found:
    """Return what a message without a question does, given the most probable kind and the rules that match."""
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
    """Return the share of the words of a clause that the classifier knows."""
    words = words_of(part[0])
    return sum(map(trained().knows, words)) / len(words) if words else 0.0


def _asked(plain: str, question: bool, scores: list[float]) -> Found | None:
    """Return what a clause asks for; None if it asks nothing."""
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
    if kind != "offer" and CONSENT.search(f" {plain}"):
        kind = "proposal"
    elif kind == "proposal" and question:
        kind = "request" if OPEN_QUESTION.search(plain) else "choice" if ALTERNATIVES.search(f" {plain}") else kind
    return None if kind == "none" else (kind, confidence)


def _ruled(plain: str, question: bool) -> Found:
    """Return what a clause that asks nothing does by the first rule that matches."""
    kinds = [k for k in matched(plain, question) if k not in ("request", "choice", "proposal")]
    return (kinds[0] if kinds else "inform"), 1.0


@lru_cache(maxsize=16384)
def _scores(plain: str, question: bool, last: bool) -> list[float]:
    return trained().score(plain, question, last)


def gist(text: str) -> str:
    """Return the kind of act that the user answers first."""
    kinds = {act.kind for act in acts(text)}
    return next((kind for kind in ORDER if kind in kinds), "other")


def clear() -> None:
    """Forget all cached results, after a change of the classifier."""
    parsed.cache_clear()
    _kinds.cache_clear()
    _scores.cache_clear()
