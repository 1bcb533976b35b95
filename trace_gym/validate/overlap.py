"""TG7, second half: the environment repeats nothing of the tasks that an agent will be tested on."""

from __future__ import annotations

import math
import os
import re
import string
from collections.abc import Iterable, Sequence

from trace_gym.types import Scenario
from trace_gym.validate.context import Context
from trace_gym.validate.draws import Values
from trace_gym.validate.files import texts
from trace_gym.validate.gold import more, telling, words_of
from trace_gym.validate.properties import Held, Inapplicable, prop
from trace_gym.world import World

RUN = 8
"""Words in a row that are looked for; ids and numbers in them count as equal."""
COPIED = 0.3
"""Share of the runs of a message that may be found. One run is found by chance ("use my credit card ending in # for");
a message that was copied, and framed with words of one's own, has most of its runs from there."""
RARE = 10**6
"""An id from fewer possible ones may be the same by chance, such as a flight number of three digits."""

_time = re.compile(r"\d{4}-\d\d-\d\d.*|\d\d:\d\d.*")
Run = tuple[str, ...]
Runs = tuple[Run, ...]


@prop(
    "TG703",
    statement="No id of the named test tasks occurs in the environment, and no message is made of their words.",
    reason="What was trained on the test's records or wordings proves nothing in the test.",
    mend="Generate the records, ids and wordings anew instead of drawing them from the target's data.",
)
def not_the_targets_test_tasks(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    if not context.given.against:
        raise Inapplicable("no file of test tasks is named")
    found = [text for path in context.given.against for text in texts(path)]
    foreign = {word for word in set(words_of("\n".join(found))) if telling(word) or "@" in word}
    ids, messages = _own(scenarios, context)
    for key in sorted(ids.keys() & foreign):
        raise context.broken(ids[key], f"{key!r} occurs in {_files(context)}", tail="print(episode.world)")
    known = _shared({run for runs in messages for run in runs}, found)
    copied = {runs: len(known.intersection(runs)) / len(runs) for runs in messages}
    figures = {"ids": float(len(ids)), "messages": float(len(messages)), "copied": max(copied.values(), default=0.0)}
    for runs, share in copied.items():
        if share > COPIED:
            tail = "print(*(m['content'] for m in episode.messages[1:]), sep='\\n')"
            says = f"{share:.0%} of a message of the customer stands in {_files(context)}: {' '.join(runs[0])!r} ..."
            raise context.broken(messages[runs], says, context.plan(messages[runs], "oracle"), tail)
    says = f"none of {len(ids)} ids occurs in {_files(context)}, and at most {figures['copied']:.0%} of a message"
    return Held(says, figures)


def _files(context: Context) -> str:
    return " or ".join(os.path.basename(path) for path in context.given.against)


def _own(scenarios: Sequence[Scenario], context: Context) -> tuple[dict[str, Scenario], dict[Runs, Scenario]]:
    """The ids in the records, and the customers' messages as runs of words, each with a scenario that has it."""
    fields: dict[str, dict[str, Scenario]] = {}
    messages: dict[Runs, Scenario] = {}
    for scenario in more(scenarios, context):
        episode = context.expert(scenario, "oracle")
        for name, values in Values.of(episode.start).by_field.items():
            own = fields.setdefault(name, {})
            for value in values:
                if isinstance(value, str) and (telling(value) or "@" in value) and not _time.fullmatch(value):
                    own.setdefault(value, scenario)
        for message in episode.messages:
            if message["role"] == "user" and (runs := _runs(_masked(str(message["content"])))):
                messages.setdefault(runs, scenario)
    ids = {v: s for own in fields.values() if own and _possible(own) >= RARE for v, s in own.items()}
    return ids, messages


def _possible(values: Iterable[str]) -> int:
    """How many ids there are of this form: what differs after the common beginning, digit by digit."""
    known = sorted(values)
    pairs = zip(known[0], known[-1], strict=False)  # what the first and the last share, all do
    start = next((n for n, (a, b) in enumerate(pairs) if a != b), len(known[0]))
    if len(known) == 1:  # of one alone, the letters in front are taken for the common beginning
        start = len(known[0]) - len(known[0].lstrip(string.ascii_letters))
    return min(math.prod(10 if c.isdigit() else 26 if c.isalpha() else 1 for c in v[start:]) for v in known)


def _masked(text: str) -> list[str]:
    """The words in lower case, with one sign for whatever holds a digit."""
    return ["#" if re.search(r"\d", word) else word for word in re.findall(r"[\w@'-]+", text.lower())]


def _runs(words: Sequence[str]) -> Runs:
    return tuple(tuple(words[n : n + RUN]) for n in range(len(words) - RUN + 1))


def _shared(wanted: set[Run], found: Iterable[str]) -> set[Run]:
    """The runs that stand in one of the texts."""
    begins = {run[0] for run in wanted}
    shared: set[Run] = set()
    for text in set(found):
        words = _masked(text) if len(text.split()) >= RUN else ()
        shared |= {r for n, w in enumerate(words) if w in begins and (r := tuple(words[n : n + RUN])) in wanted}
    return shared
