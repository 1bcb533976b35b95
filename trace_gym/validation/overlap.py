"""Property TG703: the environment contains no ids or wordings from the test tasks."""

from __future__ import annotations

import math
import os
import re
import string
from collections.abc import Iterable, Sequence

from trace_gym.types import Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.input_files import read_texts
from trace_gym.validation.oracle_rollouts import extend_sample, is_identifying, words_of
from trace_gym.validation.properties import Passed, Skipped, property_check
from trace_gym.validation.random_calls import StateValues
from trace_gym.world import World

RUN = 8
"""Length of the word n-grams that are compared. Ids and numbers in them are masked."""
COPIED = 0.3
"""Maximum fraction of a message's word n-grams that may occur in the test tasks. A few n-grams coincide by chance ("use
my credit card ending in # for"), but a copied message shares most of its n-grams."""
RARE = 10**6
"""Minimum number of possible ids that a format must have for its ids to be compared. Ids from smaller sets, such as
three-digit flight numbers, may coincide by chance."""

_time = re.compile(r"\d{4}-\d\d-\d\d.*|\d\d:\d\d.*")
WordRun = tuple[str, ...]
Runs = tuple[WordRun, ...]


@property_check(
    "TG703",
    statement="No id of the given test tasks appears in the environment, and no user message copies their wording.",
    reason="A test does not measure generalization if the policy was trained on its records or wordings.",
    fix="Generate new records, ids and wordings instead of copying them from the data of the target.",
)
def no_test_tasks_copied(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    if not context.inputs.against:
        raise Skipped("no test tasks were passed (--against)")
    found = [text for path in context.inputs.against for text in read_texts(path)]
    unknown = {word for word in set(words_of("\n".join(found))) if is_identifying(word) or "@" in word}
    ids, messages = _own(scenarios, context)
    for key in sorted(ids.keys() & unknown):
        raise context.failure(ids[key], f"{key!r} occurs in {_files(context)}", tail="print(episode.world)")
    known = _shared({run for runs in messages for run in runs}, found)
    copied = {runs: len(known.intersection(runs)) / len(runs) for runs in messages}
    metrics = {"ids": float(len(ids)), "messages": float(len(messages)), "copied": max(copied.values(), default=0.0)}
    for runs, share in copied.items():
        if share > COPIED:
            tail = "print(*(m['content'] for m in episode.messages[1:]), sep='\\n')"
            message = f"{share:.0%} of a user message occurs in {_files(context)}: {' '.join(runs[0])!r} ..."
            raise context.failure(messages[runs], message, context.plan(messages[runs], "oracle"), tail)
    message = f"none of {len(ids)} ids occurs in {_files(context)}, and at most {metrics['copied']:.0%} of a message"
    return Passed(message, metrics)


def _files(context: Context) -> str:
    return " or ".join(os.path.basename(path) for path in context.inputs.against)


def _own(scenarios: Sequence[Scenario], context: Context) -> tuple[dict[str, Scenario], dict[Runs, Scenario]]:
    """Return the ids in the records and the n-grams of the user's messages, each with a scenario that contains them."""
    fields: dict[str, dict[str, Scenario]] = {}
    messages: dict[Runs, Scenario] = {}
    for scenario in extend_sample(scenarios, context):
        episode = context.expert(scenario, "oracle")
        for name, values in StateValues.of(episode.start).by_field.items():
            own = fields.setdefault(name, {})
            for value in values:
                if isinstance(value, str) and (is_identifying(value) or "@" in value) and not _time.fullmatch(value):
                    own.setdefault(value, scenario)
        for message in episode.messages:
            if message["role"] == "user" and (runs := _runs(_masked(str(message["content"])))):
                messages.setdefault(runs, scenario)
    ids = {v: s for own in fields.values() if own and _possible(own) >= RARE for v, s in own.items()}
    return ids, messages


def _possible(values: Iterable[str]) -> int:
    """Return the number of possible ids of this format, computed from the characters after the common prefix."""
    known = sorted(values)
    pairs = zip(known[0], known[-1], strict=False)  # all sorted ids share the common prefix of the first and the last
    start = next((n for n, (a, b) in enumerate(pairs) if a != b), len(known[0]))
    if len(known) == 1:  # the leading letters of a single id are treated as the common prefix
        start = len(known[0]) - len(known[0].lstrip(string.ascii_letters))
    return min(math.prod(10 if c.isdigit() else 26 if c.isalpha() else 1 for c in v[start:]) for v in known)


def _masked(text: str) -> list[str]:
    """Return the lower-case words of a text, with a placeholder for words that contain a digit."""
    return ["#" if re.search(r"\d", word) else word for word in re.findall(r"[\w@'-]+", text.lower())]


def _runs(words: Sequence[str]) -> Runs:
    return tuple(tuple(words[n : n + RUN]) for n in range(len(words) - RUN + 1))


def _shared(wanted: set[WordRun], found: Iterable[str]) -> set[WordRun]:
    """Return the n-grams that occur in at least one of the texts."""
    begins = {run[0] for run in wanted}
    shared: set[WordRun] = set()
    for text in set(found):
        words = _masked(text) if len(text.split()) >= RUN else ()
        shared |= {r for n, w in enumerate(words) if w in begins and (r := tuple(words[n : n + RUN])) in wanted}
    return shared
