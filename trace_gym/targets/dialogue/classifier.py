"""Linear classifiers of clauses and messages in plain Python. The features are words, word pairs and word prefixes.

The classifier of this module makes two decisions. For a clause that contains a question or an appeal, such as ``please
tell me``, it determines the kind of the clause (`ASKING`). For a message without such a clause, it determines the kind
of the message (`TELLING`). The scores of a message are the sums of the scores of its clauses, so each clause is scored
only once. The classifier in `statements` labels every clause in the context of its message.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from trace_gym.targets.dialogue.rules import matched

WEIGHTS = Path(__file__).with_name("weights.json")
ASKING = ("request", "choice", "proposal", "offer", "none")
"""Kinds of clauses that contain a question or an appeal. The kind `none` is for clauses that do not ask anything."""
TELLING = ("hold", "inform", "progress", "completion", "closing", "refusal", "transfer")
"""Kinds of messages without a question or an appeal."""
SCALE = 64
"""Scale of the weights, which are stored as integers in units of ``1 / SCALE``."""
STEM = 5
"""Number of leading letters to which longer words are shortened, so that all forms of a word share a feature."""
_LANE = 24
_MASK, _HALF = (1 << _LANE) - 1, 1 << (_LANE - 1)

_word = re.compile(r"[a-z]+(?:'[a-z]+)?|0|[?!,:;]")


def words_of(plain: str) -> list[str]:
    """Return the first 60 words and punctuation marks of a lowercase clause."""
    return _word.findall(plain)[:60]


def features(plain: str, question: bool, last: bool) -> list[str]:
    """Return the features of a clause: words, word pairs, word prefixes, first words and matching rules.

    Args:
        plain: The clause in lowercase.
        question: Whether the clause is a question.
        last: Whether the clause is the last clause of the message.
    """
    words = words_of(plain)
    mark = "?" if question else "."
    rules = matched(plain, question) or ("",)
    made = [f"{kind}{mark}" for kind in rules]
    if last:
        made += [f"{name}$" for name in made]
    made += [f"{mark}{min(len(words) // 4, 4)}", f"^{mark} {' '.join(words[:2])}", f"^{mark} {' '.join(words[:1])}"]
    made += words
    made += [f"{word[:STEM]}-" for word in words if len(word) > STEM]
    made += map("{} {}".format, ["^", *words], [*words, "$"])
    return made


class Classifier:
    """Linear classifier with a weight for each feature and kind.

    The weights of a feature are packed into one integer, so that one addition adds the weights for all kinds.
    """

    def __init__(self, weights: Mapping[str, Sequence[int]], kinds: int = len(ASKING) + len(TELLING)) -> None:
        """Pack `weights`, a mapping from feature to one integer per kind, by default of `ASKING` and `TELLING`."""
        self._kinds = kinds
        self._packed = {name: sum(w << (_LANE * n) for n, w in enumerate(row)) for name, row in weights.items()}

    def knows(self, word: str) -> bool:
        """Return whether a word is a feature, because it occurred in the training corpus."""
        return word in self._packed

    def score(self, names: Iterable[str]) -> list[float]:
        """Return the score of each kind for a clause with the given features."""
        total = sum(filter(None, map(self._packed.get, names)), self._packed.get("", 0))
        scores = []
        for _ in range(self._kinds):
            lane = total & _MASK
            lane = lane - _MASK - 1 if lane >= _HALF else lane
            scores.append(lane / SCALE)
            total = (total - lane) >> _LANE
        return scores


def most_probable(kinds: Sequence[str], scores: Sequence[float]) -> tuple[str, float]:
    """Return the kind with the highest score, and its probability."""
    top = max(scores)
    return kinds[scores.index(top)], 1 / sum(math.exp(s - top) for s in scores)


def of_message(scores: Sequence[Sequence[float]]) -> list[float]:
    """Return the scores of a message for each kind of `TELLING`, given the scores of its clauses."""
    scale = len(scores) ** -0.5
    return [scale * sum(column) for column in zip(*(s[len(ASKING) :] for s in scores), strict=True)]


@cache
def trained() -> Classifier:
    """Return the classifier with the trained weights that this package contains."""
    return Classifier(json.loads(WEIGHTS.read_text()))


trained()  # load the weights at import, because sandboxed environments cannot open files
