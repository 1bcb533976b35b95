"""The same messages with other letters and spacing, and the same plan with other look-ups.

Letters change only in words that are no value of the state, and spacing only between sentences. Other words for the
same content are in `paraphrase`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random

from trace_gym.episode import Episode
from trace_gym.schemas import complaint_about
from trace_gym.types import Call, Interface
from trace_gym.validate.draws import Draw, Values
from trace_gym.world import Step, World

Wording = Callable[[str, World], str]
"""Takes a message and the start state, and says the same otherwise."""

SENTENCE = 5
"""Words of a string from which on it is no value."""
EXTRA = 4
"""Look-ups that are added to a plan."""


def capitals(text: str, start: World) -> str:
    """All words but values in capitals."""
    return _recased(text, start, str.upper)


def small(text: str, start: World) -> str:
    """All words but values in small letters."""
    return _recased(text, start, str.lower)


def paragraphs(text: str, start: World) -> str:
    """Every sentence in a paragraph of its own, and space around them."""
    return "\n " + re.sub(r"(?<=[.!?])\s+", "\n\n", text) + " \n"


WORDINGS: dict[str, Wording] = {
    "capitals": capitals,
    "small letters": small,
    "paragraphs": paragraphs,
}


def _recased(text: str, start: World, change: Callable[[str], str]) -> str:
    known = _words(start)
    words = re.split(r"(\s+)", text)
    return "".join(change(w) if _bare(w).isalpha() and _bare(w).lower() not in known else w for w in words)


def _bare(word: str) -> str:
    return word.strip(".,:;!?()'\"")


def _words(start: World) -> set[str]:
    """Every word of every value in the state, in small letters; longer texts, such as openings, are no values."""
    values = (text for text in Values.of(start).strings if len(text.split()) < SENTENCE)
    return {w for text in values for w in re.findall(r"\w+", text.lower())}


def other_reads(made: Episode, steps: Sequence[Step], interface: Interface) -> Iterator[list[Step]]:
    """The plan with each look-up made twice, with further ones in between, and with two neighbours exchanged."""
    reads = [n for n, s in enumerate(steps) if isinstance(s, Call) and interface.kinds.get(s.tool) == "read"]
    yield [s for n, step in enumerate(steps) for s in [step] * (1 + (n in reads))]
    yield _with_more(made, steps, [steps[n] for n in reads], interface)
    for n, following in pairwise(reads):
        if following == n + 1 and _independent(made, steps[n], steps[following]):
            yield [*steps[:n], steps[following], steps[n], *steps[following + 1 :]]


def _with_more(made: Episode, steps: Sequence[Step], own: Sequence[Step], interface: Interface) -> list[Step]:
    """The plan with look-ups added before some of its steps: its own ones, and of whatever the state holds."""
    rng = Random(f"reads/{made.scenario}")
    plan = list(steps)
    draw = Draw(rng, interface, Values.of(made.start))
    for n in range(min(EXTRA, made.world.max_turns - len(steps)) if "read" in interface.kinds.values() else 0):
        read = rng.choice(own) if own and n % 2 else draw.call(("read",))
        if isinstance(read, Call) and not complaint_about(read, interface):
            plan.insert(rng.randrange(len(plan)), read)
    return plan


def _independent(made: Episode, first: Step, second: Step) -> bool:
    """Whether all that the second look-up is given was known before the first was answered."""
    assert isinstance(first, Call) and isinstance(second, Call)
    wired = {"name": first.tool, "arguments": json.dumps(first.arguments)}
    asked = [n for n, m in enumerate(made.messages) if any(c["function"] == wired for c in m.get("tool_calls", ()))]
    if not asked:  # the episode was over before
        return False
    before = "\n".join(str(m["content"]) for m in made.messages[: asked[0]])
    answer = str(made.messages[asked[0] + 1]["content"])
    return all(v in before or v not in answer for v in _strings(second.arguments))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (s for part in value.values() for s in _strings(part))
    elif isinstance(value, list):
        yield from (s for part in value for s in _strings(part))
