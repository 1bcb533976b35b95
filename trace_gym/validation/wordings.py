"""Variants of plans with different letter case and white space, or with different read calls.

The letter case of words that are values in the state is not changed, and white space is changed only between sentences
and at the ends. The module `paraphrase` rewords messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random

from trace_gym.episode import Episode
from trace_gym.nested import walk
from trace_gym.schemas import complaint_about
from trace_gym.types import Call, Interface
from trace_gym.validation.random_calls import CallSampler, StateValues
from trace_gym.world import Step, World

Wording = Callable[[str, World], str]
"""Function that changes the appearance of a message. Its arguments are the message and the start state."""

SENTENCE = 5
"""Minimum number of words of a string that is treated as a sentence. Shorter strings are treated as values."""
EXTRA = 4
"""Number of read calls that are added to a plan."""


def upper_case(text: str, start: World) -> str:
    """Return the message in upper case, except for words that are values in the state."""
    return _recased(text, start, str.upper)


def lower_case(text: str, start: World) -> str:
    """Return the message in lower case, except for words that are values in the state."""
    return _recased(text, start, str.lower)


def paragraphs(text: str, start: World) -> str:
    """Return the message with each sentence as a separate paragraph, surrounded by white space."""
    return "\n " + re.sub(r"(?<=[.!?])\s+", "\n\n", text) + " \n"


WORDINGS: dict[str, Wording] = {
    "capitals": upper_case,
    "small letters": lower_case,
    "paragraphs": paragraphs,
}


def _recased(text: str, start: World, change: Callable[[str], str]) -> str:
    known = _words(start)
    words = re.split(r"(\s+)", text)
    return "".join(change(w) if _bare(w).isalpha() and _bare(w).lower() not in known else w for w in words)


def _bare(word: str) -> str:
    return word.strip(".,:;!?()'\"")


def _words(start: World) -> set[str]:
    """Return the words of all values in the state, in lower case. Sentences, such as user messages, are excluded."""
    values = (text for text in StateValues.of(start).strings if len(text.split()) < SENTENCE)
    return {w for text in values for w in re.findall(r"\w+", text.lower())}


def read_variants(made: Episode, steps: Sequence[Step], interface: Interface) -> Iterator[list[Step]]:
    """Yield variants of a plan with repeated, additional or reordered read calls."""
    reads = [n for n, s in enumerate(steps) if isinstance(s, Call) and interface.kinds.get(s.tool) == "read"]
    yield [s for n, step in enumerate(steps) for s in [step] * (1 + (n in reads))]
    yield _with_more(made, steps, [steps[n] for n in reads], interface)
    for n, following in pairwise(reads):
        if following == n + 1 and _independent(made, steps[n], steps[following]):
            yield [*steps[:n], steps[following], steps[n], *steps[following + 1 :]]


def _with_more(made: Episode, steps: Sequence[Step], own: Sequence[Step], interface: Interface) -> list[Step]:
    """Return the plan with additional read calls, which are repetitions of calls in the plan or random calls."""
    rng = Random(f"reads/{made.scenario}")
    plan = list(steps)
    draw = CallSampler(rng, interface, StateValues.of(made.start))
    for n in range(min(EXTRA, made.world.max_turns - len(steps)) if "read" in interface.kinds.values() else 0):
        read = rng.choice(own) if own and n % 2 else draw.call(("read",))
        if isinstance(read, Call) and not complaint_about(read, interface):
            plan.insert(rng.randrange(len(plan)), read)
    return plan


def _independent(made: Episode, first: Step, second: Step) -> bool:
    """Return whether the arguments of the second read call do not depend on the result of the first read call."""
    assert isinstance(first, Call) and isinstance(second, Call)
    wired = {"name": first.tool, "arguments": json.dumps(first.arguments)}
    asked = [n for n, m in enumerate(made.messages) if any(c["function"] == wired for c in m.get("tool_calls", ()))]
    if not asked:  # the episode ended before this call
        return False
    before = "\n".join(str(m["content"]) for m in made.messages[: asked[0]])
    answer = str(made.messages[asked[0] + 1]["content"])
    return all(v in before or v not in answer for _, v, *_ in walk(second.arguments) if isinstance(v, str))
