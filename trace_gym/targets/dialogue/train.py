"""Training of the dialogue act classifier.

    python -m trace_gym.targets.dialogue.train benchmarks/dialogue_*.jsonl [--out weights.json]

A corpus has one JSON object with `intent` and `text` per line. The intent of a message determines the kind of its
clauses with a question or an appeal. If it has none, it determines the kind of the message.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from trace_gym import files, parsing
from trace_gym.errors import ReadError, TraceGymError
from trace_gym.targets.dialogue.classifier import ASKING, SCALE, TELLING, WEIGHTS, features
from trace_gym.targets.dialogue.clauses import clauses
from trace_gym.targets.dialogue.rules import appeals

EPOCHS = 12
RATE = 0.15
DECAY = 2e-4
RARE = 2
"""Minimum number of training examples in which a feature must occur."""

_FACTS = ("identity", "record", "two_facts", "reason", "payment", "other_fact", "who", "number", "content", "time")
INTENTS: Mapping[str, tuple[str, str]] = {
    **{f"ask_{fact}": ("request", "") for fact in _FACTS},
    "empathy_ask": ("request", ""),
    "choice": ("choice", ""),
    "clarify": ("choice", ""),
    "propose": ("proposal", ""),
    "propose_short": ("proposal", ""),
    "facts_then_question": ("proposal", ""),
    "refuse_and_propose": ("proposal", ""),
    "progress_ask": ("proposal", ""),
    "refuse": ("none", "refusal"),
    "refuse_short": ("none", "refusal"),
    "refuse_again": ("none", "refusal"),
    "not_found": ("none", "refusal"),
    "progress": ("none", "progress"),
    "complete": ("none", "completion"),
    "complete_more": ("offer", "completion"),
    "closing": ("none", "closing"),
    "hold": ("none", "hold"),
    "inform": ("none", "inform"),
    "transfer": ("none", "transfer"),
}
"""Mapping from the intent of a message to two kinds: that of its clauses with a question or an appeal, and that of the
message. The kind of the message is empty if messages with this intent always contain a question."""

Row = tuple[Counter[str], int]
"""A training example: features with their counts, and the index of the kind."""


class Examples(NamedTuple):
    """Training examples of the two decisions of the classifier (see `classifier`)."""

    asking: list[Row]
    telling: list[Row]


def read(text: str, name: str = "the corpus") -> Examples:
    """Return the examples of a corpus.

    Args:
        text: The content of a JSONL file.
        name: The name of the corpus in error messages.

    Raises:
        ReadError: A line is not a valid example.
    """
    found = Examples([], [])
    for number, row in parsing.json_lines(text, name):
        intent, message = _example(row, f"{name}:{number}")
        asks, tells = INTENTS[intent]
        parts = [c for c in clauses(message) if any(map(str.isalnum, c.plain))]
        told: Counter[str] = Counter()
        for n, c in enumerate(parts):
            names = [*features(c.plain, c.question, n == len(parts) - 1), ""]
            if appeals(c.plain, c.question):
                found.asking.append((Counter(names), ASKING.index(asks)))
            told.update(names)
        if tells and told:
            scaled = Counter({name: count * len(parts) ** -0.5 for name, count in told.items()})
            found.telling.append((scaled, TELLING.index(tells)))
    return found


def _example(row: object, place: str) -> tuple[str, str]:
    """Return the intent and the text of a row of the corpus."""
    intent, text = (row.get("intent"), row.get("text")) if isinstance(row, dict) else (None, None)
    if not isinstance(intent, str) or intent not in INTENTS or not isinstance(text, str):
        raise ReadError(
            f"{place} is not a valid example: expected an object with a string `text` and an `intent` that is one of "
            f"{', '.join(INTENTS)}"
        )
    return intent, text


def train(examples: Examples) -> dict[str, list[int]]:
    """Train a classifier, and return a mapping from feature to its weights."""
    asking, telling = _fit(examples.asking, len(ASKING)), _fit(examples.telling, len(TELLING))
    none = ([0] * len(ASKING), [0] * len(TELLING))
    names = sorted(asking.keys() | telling.keys())
    table = {name: [*asking.get(name, none[0]), *telling.get(name, none[1])] for name in names}
    return {name: row for name, row in table.items() if any(row)}


def _fit(rows: Sequence[Row], kinds: int) -> dict[str, list[int]]:
    """Fit a multinomial logistic regression by stochastic gradient descent.

    Return the weights by feature, averaged over the second half of the epochs.
    """
    rng = Random(0)
    seen = Counter(name for names, _ in rows for name in names)
    table = {name: [0.0] * kinds for name, count in seen.items() if count >= RARE}
    total = {name: [0.0] * kinds for name in table}
    known = [([(table[n], count) for n, count in names.items() if n in table], kind) for names, kind in rows]
    for epoch in range(EPOCHS):
        rng.shuffle(known)
        rate = RATE / (1 + epoch / 4)
        for weights, kind in known:
            sums = [sum(row[k] * count for row, count in weights) for k in range(kinds)]
            top = max(sums)
            odds = [math.exp(s - top) for s in sums]
            whole = sum(odds)
            step = [-rate * o / whole for o in odds]
            step[kind] += rate
            for row, count in weights:
                for k, s in enumerate(step):
                    row[k] += s * count - rate * DECAY * row[k]
        if epoch >= EPOCHS // 2:
            for name, row in table.items():
                total[name] = [a + b for a, b in zip(total[name], row, strict=True)]
    share = SCALE / (EPOCHS - EPOCHS // 2)
    return {name: [round(w * share) for w in row] for name, row in total.items()}


def main(*arguments: str) -> None:
    """Train the classifier on the corpora in the command line arguments, and write its weights."""
    parser = argparse.ArgumentParser(
        prog="python -m trace_gym.targets.dialogue.train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("corpora", nargs="+", metavar="CORPUS", help="JSONL files with `intent` and `text`")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="weights file (default: the one of this package)")
    chosen = parser.parse_args(arguments)
    examples = Examples([], [])
    for corpus in chosen.corpora:
        found = read(files.read_text(corpus), corpus)
        examples.asking.extend(found.asking)
        examples.telling.extend(found.telling)
    weights = train(examples)
    if not weights:
        raise ReadError(
            f"the corpus is too small: no feature occurs in at least {RARE} messages of {', '.join(chosen.corpora)}. "
            "Pass a larger corpus"
        )
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in weights.items())
    files.write(chosen.out, f"{{\n{rows}\n}}\n")
    print(f"{len(weights)} features, {chosen.out.stat().st_size:,} bytes in {chosen.out}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except TraceGymError as error:
        sys.exit(f"error: {error}")
