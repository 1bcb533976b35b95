"""Classifier that labels every clause of a message in the context of the message.

The features are those of the clause itself (see `classifier.features`), the first words of the clauses next to it and
the rules that match them, the rules that match elsewhere in the message, and the position of the clause. If the
predicted label is probable enough, it replaces the kind that `recognition` finds for the clause.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from trace_gym.targets.dialogue.classifier import Classifier, features, most_probable, words_of
from trace_gym.targets.dialogue.recognition import CERTAIN, FINAL, Act, Plain
from trace_gym.targets.dialogue.rules import matched

__all__ = ["KINDS", "WEIGHTS", "in_context", "labeled", "labels", "trained"]

WEIGHTS = Path(__file__).with_name("statement_weights.json")
KINDS = {
    "A": "request", "Q": "choice", "C": "proposal", "O": "offer", "H": "hold", "I": "inform",
    "D": "completion", "P": "progress", "R": "refusal", "T": "transfer", "B": "closing",
}  # fmt: skip
"""Mapping from the letters of the corpus to kinds of dialogue acts."""
ANSWERED = frozenset({"request", "choice", "proposal", "offer"})
"""Kinds that the user has to answer."""
SOCIAL = frozenset({"greeting", "other"})
"""Recognized kinds without a corresponding label. The label ``inform`` does not replace them."""
NEEDED = (
    (frozenset({"proposal"}), frozenset({"request"}), 0.97),
    (frozenset({"inform", "hold", "progress"}), ANSWERED, 0.8),
    (frozenset({"transfer"}), frozenset({*KINDS.values(), *SOCIAL}), 0.9),
    (ANSWERED, frozenset({"offer"}), 0.95),
    (ANSWERED, ANSWERED, 0.8),
    (FINAL, frozenset({*KINDS.values(), *SOCIAL}) - FINAL, 0.9),
    (ANSWERED, frozenset(KINDS.values()) - ANSWERED, 0.6),
    (frozenset({"inform"}), FINAL | {"progress"}, 0.6),
)
"""Minimum probabilities at which a label replaces the recognized kind: labels, recognized kinds, and probability."""
ENDS = frozenset({"completion", "closing"})
"""Labels that may end the conversation. They replace another recognized kind only if a rule of their kind matches."""
PROBABLE = 0.4
"""Minimum probability of labels that `NEEDED` does not mention."""


def in_context(parts: Sequence[Plain]) -> Iterator[list[str]]:
    """Yield the features of each clause of a message."""
    rules = [matched(*part)[:1] or ("?" if part[1] else ".",) for part in parts]
    first = [rule for (rule,) in rules]
    for n, (plain, question) in enumerate(parts):
        last = n == len(parts) - 1
        before, after = {*first[:n]}, {*first[n + 1 :]}
        yield [
            *features(plain, question, last),
            "@only" if last and not n else "@first" if not n else "@last" if last else "@",
            *(f"~{rule}" for rule in sorted(before | after)),
            *(f"~<{rule}" for rule in sorted(before)),
            *(f"~>{rule}" for rule in sorted(after)),
            *((f"{first[n - 1]}<{first[n]}", *_beside(*parts[n - 1], "<")) if n else ("<|",)),
            *((">|",) if last else (f"{first[n]}>{first[n + 1]}", *_beside(*parts[n + 1], ">"))),
        ]


@lru_cache(maxsize=16384)
def _beside(plain: str, question: bool, side: str) -> tuple[str, ...]:
    """Return the features of a clause that stands before (``<``) or after (``>``) the clause to be labeled."""
    words = words_of(plain)[:2]
    rules = matched(plain, question) or ("",)
    mark = "?" if question else "."
    return (
        side + mark,
        f"{side}^{words[0] if words else ''}",
        f"{side}^{' '.join(words)}",
        *(f"{side}[{r}" for r in rules),
    )


def labeled(heard: Sequence[Act]) -> list[Act]:
    """Return the dialogue acts of a message with the label of each clause, or with its kind if no label is probable."""
    if not heard[0].plain:
        return [*heard]
    found = zip(heard, labels(tuple((act.plain, act.question) for act in heard)), strict=True)
    return [act._replace(kind=kind) if _replaces(kind, probability, act) else act for act, (kind, probability) in found]


def _replaces(kind: str, probability: float, act: Act) -> bool:
    """Return whether a label replaces the recognized kind of a clause."""
    if kind == "inform" and act.kind in SOCIAL:
        return False
    if kind in ENDS and act.kind not in FINAL and kind not in matched(act.plain, act.question):
        return False
    if kind == "proposal" and act.kind == "request" and act.text.endswith(":"):  # `could you confirm: ...`
        return False
    if act.question and act.kind in ANSWERED and kind not in ANSWERED:
        return probability >= CERTAIN
    needed = (p for labels, kinds, p in NEEDED if kind in labels and act.kind in kinds)
    return probability >= next(needed, PROBABLE)


@lru_cache(maxsize=4096)
def labels(parts: tuple[Plain, ...]) -> tuple[tuple[str, float], ...]:
    """Return the most probable kind of each clause of a message, and its probability."""
    kinds = tuple(KINDS.values())
    return tuple(most_probable(kinds, trained().score(names)) for names in in_context(parts))


@cache
def trained() -> Classifier:
    """Return the classifier with the trained weights that this package contains."""
    return Classifier(json.loads(WEIGHTS.read_text()), len(KINDS))


trained()  # load the weights at import, because sandboxed environments cannot open files
