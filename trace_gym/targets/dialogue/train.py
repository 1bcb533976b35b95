"""Training of the classifiers of dialogue acts and of the aims of questions.

    python -m trace_gym.targets.dialogue.train benchmarks/dialogue_*.jsonl [--out FOLDER]

A corpus has one JSON object per line. Objects with `intent` and `text` train the classifier of clauses and messages:
the intent of a message determines the kind of its clauses with a question or an appeal, and the kind of the message
unless messages with this intent always contain a question (see `INTENTS`). Objects with `labels` and `text` train the
classifier of statements in context: `labels` has one letter for each clause (see `statements.KINDS`). That classifier
also learns from the messages with an intent and a single clause. Objects with `aim`, `text`, `clause` and `opening`
train the classifier of aims: `aim` is the letter for the aim (see `aims.AIMS`) of a clause of the message, and
`opening` is the user's first message.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from trace_gym import files, parsing
from trace_gym.errors import ReadError, TraceGymError
from trace_gym.targets.dialogue.aims import AIMS, in_request
from trace_gym.targets.dialogue.aims import WEIGHTS as AIM_WEIGHTS
from trace_gym.targets.dialogue.clarification import clarified
from trace_gym.targets.dialogue.classifier import ASKING, SCALE, TELLING, WEIGHTS, features
from trace_gym.targets.dialogue.clauses import Clause
from trace_gym.targets.dialogue.recognition import acts, split
from trace_gym.targets.dialogue.rules import appeals
from trace_gym.targets.dialogue.statements import KINDS, in_context
from trace_gym.targets.dialogue.statements import WEIGHTS as STATEMENT_WEIGHTS

EPOCHS = 12
RATE = 0.15
DECAY = 2e-4
RARE = 2
"""Minimum number of training examples in which a feature must occur."""
WEAK = 0.2
"""Minimum weight of a feature of the classifiers of statements and aims. A feature without such a weight is dropped."""

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

AMBIGUOUS = frozenset({"choice", "clarify", "complete_more"})
"""Intents that do not determine the kind of a message with a single clause."""
_KINDS = tuple(KINDS.values())
_AIMS = tuple(AIMS.values())
LabeledFeatures = tuple[Counter[str], int]
"""A training example: features with their counts, and the index of the kind."""


class Examples(NamedTuple):
    """Training examples of the two decisions of the classifier of messages, and of the other two classifiers."""

    asking: list[LabeledFeatures]
    telling: list[LabeledFeatures]
    statements: list[LabeledFeatures]
    aims: list[LabeledFeatures]


def read(text: str, name: str = "the corpus") -> Examples:
    """Return the examples of a corpus.

    Args:
        text: The content of a JSONL file.
        name: The name of the corpus in error messages.

    Raises:
        ReadError: A line is not a valid example.
    """
    found = Examples([], [], [], [])
    for number, row in parsing.json_lines(text, name):
        if isinstance(row, dict) and "aim" in row:
            found.aims.append(_question(row, f"{name}:{number}"))
            continue
        message, intent, labels = _example(row, f"{name}:{number}")
        parts = split(message)
        if labels is None:
            _add_message(found, parts, intent)
            labels = _sure_label(parts, intent)
        elif len(labels) != len(parts):
            raise ReadError(
                f"{name}:{number} does not have one label per clause: found {len(labels)} labels for the clauses "
                f"{[c.text for c in parts]}. Label each of these clauses with one letter"
            )
        rows = zip(in_context([(c.plain, c.question) for c in parts]), labels, strict=False)
        found.statements.extend((Counter([*names, ""]), _KINDS.index(KINDS[letter])) for names, letter in rows)
    return found


def _example(row: object, place: str) -> tuple[str, str, str | None]:
    """Return the text, the intent, and the labels of a row of a corpus. Either the intent or the labels are missing."""
    given = row if isinstance(row, dict) else {}
    text, intent, labels = (given.get(key) for key in ("text", "intent", "labels"))
    if isinstance(text, str) and isinstance(labels, str) and KINDS.keys() >= {*labels}:
        return text, "", labels
    if isinstance(text, str) and isinstance(intent, str) and intent in INTENTS:
        return text, intent, None
    raise ReadError(
        f"{place} is not a valid example: expected an object with a string `text`, and either `labels`, a string of "
        f"the letters {''.join(KINDS)}, or an `intent` that is one of {', '.join(INTENTS)}. Correct or delete the line"
    )


def _question(row: Mapping[str, object], place: str) -> LabeledFeatures:
    """Return the example that a row with an aim gives for the classifier of aims."""
    text, clause, opening, aim = (row.get(key) for key in ("text", "clause", "opening", "aim"))
    if isinstance(text, str) and isinstance(opening, str) and aim in AIMS:
        heard = clarified(acts(text))
        at = next((n for n, act in enumerate(heard) if act.text == clause), None)
        if at is not None:
            return Counter([*in_request(heard, at, opening), ""]), _AIMS.index(AIMS[str(aim)])
    raise ReadError(
        f"{place} is not a valid example: expected an object with the strings `text`, `opening` and `clause`, a clause "
        f"of the text, and an `aim` that is one of the letters {''.join(AIMS)}. Correct or delete the line"
    )


def _add_message(found: Examples, parts: Sequence[Clause], intent: str) -> None:
    """Add the examples that a message with an intent gives for the classifier of clauses and messages."""
    asks, tells = INTENTS[intent]
    told: Counter[str] = Counter()
    for n, c in enumerate(parts):
        names = [*features(c.plain, c.question, n == len(parts) - 1), ""]
        if appeals(c.plain, c.question):
            found.asking.append((Counter(names), ASKING.index(asks)))
        told.update(names)
    if tells and told:
        scaled = Counter({name: count * len(parts) ** -0.5 for name, count in told.items()})
        found.telling.append((scaled, TELLING.index(tells)))


def _sure_label(parts: Sequence[Clause], intent: str) -> str:
    """Return the label that an intent determines for the clause of a message, or `""` if there are several clauses."""
    asks, tells = INTENTS[intent]
    sure = len(parts) == 1 and intent not in AMBIGUOUS
    return next(letter for letter, kind in KINDS.items() if kind == (tells or asks)) if sure else ""


def train(examples: Examples) -> dict[str, list[int]]:
    """Train the classifier of clauses and messages, and return a mapping from feature to its weights."""
    asking, telling = _fit(examples.asking, len(ASKING)), _fit(examples.telling, len(TELLING))
    none = ([0] * len(ASKING), [0] * len(TELLING))
    names = sorted(asking.keys() | telling.keys())
    table = {name: [*asking.get(name, none[0]), *telling.get(name, none[1])] for name in names}
    return {name: row for name, row in table.items() if any(row)}


def train_statements(examples: Examples) -> dict[str, list[int]]:
    """Train the classifier of statements, and return a mapping from feature to its weights."""
    return _strong(_fit(examples.statements, len(KINDS)))


def train_aims(examples: Examples) -> dict[str, list[int]]:
    """Train the classifier of aims, and return a mapping from feature to its weights."""
    return _strong(_fit(examples.aims, len(AIMS)))


def _strong(table: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Return the features whose greatest weight is at least `WEAK`."""
    return {name: table[name] for name in sorted(table) if max(map(abs, table[name])) >= WEAK * SCALE}


def _fit(rows: Sequence[LabeledFeatures], kinds: int) -> dict[str, list[int]]:
    """Fit a multinomial logistic regression by stochastic gradient descent.

    Return the weights by feature, averaged over the second half of the epochs.
    """
    rng = Random(0)
    seen = Counter(name for names, _ in rows for name in names)
    place = {name: n for n, name in enumerate(name for name, count in seen.items() if count >= RARE)}
    table = np.zeros((len(place), kinds))
    total = np.zeros_like(table)
    known = []
    for names, kind in rows:
        counts = {place[name]: count for name, count in names.items() if name in place}
        known.append((np.array([*counts], dtype=np.intp), np.array([*counts.values()], dtype=float), kind))
    for epoch in range(EPOCHS):
        rng.shuffle(known)
        rate = RATE / (1 + epoch / 4)
        for own, count, kind in known:
            weights = table[own]
            sums = count @ weights
            odds = np.exp(sums - sums.max(initial=-np.inf))
            step = -rate * odds / odds.sum()
            step[kind] += rate
            table[own] = weights * (1 - rate * DECAY) + count[:, None] * step
        if epoch >= EPOCHS // 2:
            total += table
    scaled = np.rint(total * (SCALE / (EPOCHS - EPOCHS // 2))).astype(int).tolist()
    return {name: scaled[n] for name, n in place.items()}


def main(*arguments: str) -> None:
    """Train the classifier on the corpora in the command line arguments, and write its weights."""
    parser = argparse.ArgumentParser(
        prog="python -m trace_gym.targets.dialogue.train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("corpora", nargs="+", metavar="CORPUS", help="JSONL files with `text` and `intent` or `labels`")
    parser.add_argument(
        "--out", type=Path, default=WEIGHTS.parent, help="folder of the weights (default: this package)"
    )
    chosen = parser.parse_args(arguments)
    examples = Examples([], [], [], [])
    for corpus in chosen.corpora:
        for every, found in zip(examples, read(files.read_text(corpus), corpus), strict=True):
            every.extend(found)
    trained = (
        (WEIGHTS.name, train(examples)),
        (STATEMENT_WEIGHTS.name, train_statements(examples)),
        (AIM_WEIGHTS.name, train_aims(examples)),
    )
    for name, weights in trained:
        if not weights:
            raise ReadError(
                f"the corpora are too small for {name}: no feature occurs in at least {RARE} examples of "
                f"{', '.join(chosen.corpora)}. Pass larger corpora"
            )
        rows = ",\n".join(f"{json.dumps(n)}: {json.dumps(row, separators=(',', ':'))}" for n, row in weights.items())
        files.write(chosen.out / name, f"{{\n{rows}\n}}\n")
        print(f"{len(weights)} features, {(chosen.out / name).stat().st_size:,} bytes in {chosen.out / name}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except TraceGymError as error:
        sys.exit(f"error: {error}")
