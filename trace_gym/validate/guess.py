"""Guessing a decision from a text: how much better a single word does than a constant.

The guesser is as simple as can be, so that its verdict can be read: one word, or two in a row, that means that
the oracle keeps to what the request says on the face of it, or that it does not. What takes several words to tell stays
unseen.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from trace_gym.types import Call, Scenario
from trace_gym.validate.context import Context
from trace_gym.validate.gold import is_deed, more
from trace_gym.validate.properties import Broken
from trace_gym.world import Step, World

GAIN = 0.15
"""How much more often than a constant a word may guess a decision."""
DECIDED = 0.1
"""Share that both sides of a decision must have; a rarer one leaves nothing to guess."""
ENOUGH = 20
"""Scenarios with one naive plan, below which no guess is judged."""
OPENING = "print(episode.messages[-1]['content'])"

Text = Callable[[World, str], str]
"""What is read of a scenario, from its start state and its opening."""


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario for the guess: the words that are read, and whether the oracle drops a naive write."""

    scenario: Scenario
    words: frozenset[str]
    drops: bool


def guessed(context: Context, scenarios: Sequence[Scenario], text: Text) -> dict[str, float]:
    """How much better one word of a text guesses the oracle's decisions than a constant, by level.

    The naive plan is what the request says on the face of it, and is read from the text with right; among scenarios
    with one naive plan the text must not tell whether the oracle keeps to it. The word is chosen on one half
    of the seeds and tried on the other, and the other way round.

    Raises:
        Broken: It is better by more than `GAIN`, and by more than three standard errors.
    """
    gains: dict[str, float] = {}
    for level in sorted({s.level for s in scenarios}):
        groups = defaultdict[tuple[str, ...], list[Case]](list)
        for scenario in more([s for s in scenarios if s.level == level], context, factor=8, least=48):
            naive, case = _case(context, scenario, text)
            groups[naive].append(case)
        for naive, cases in sorted(groups.items()):
            share = sum(c.drops for c in cases) / len(cases)
            if len(cases) < ENOUGH or not DECIDED <= share <= 1 - DECIDED:
                continue
            right, word = tried(cases[::2], cases[1::2])
            other, _ = tried(cases[1::2], cases[::2])
            gain = (right + other) / len(cases) - max(share, 1 - share)
            name = f"gain_{level}"
            gains[name] = max(gain, gains.get(name, -1.0))
            if gain > max(GAIN, 3 * (0.25 / len(cases)) ** 0.5):
                says = f"{word!r} in the text guesses in {(right + other) / len(cases):.0%} of {len(cases)} scenarios"
                says += f" whether {' and '.join(naive)} is right; a constant would in {max(share, 1 - share):.0%}"
                told = next((c.scenario for c in cases if word in c.words), cases[0].scenario)
                raise Broken(f"{told}: {says}", context.snippet(told, tail=OPENING), gains)
    return gains


def _case(context: Context, scenario: Scenario, text: Text) -> tuple[tuple[str, ...], Case]:
    episode = context.begin(scenario)
    with context.blame(scenario):
        read = text(episode.start, str(episode.messages[1]["content"]))
        naive = _written(context, episode.start.ablated())
        gold = _written(context, episode.start.oracle())
    drops = bool(Counter(naive) - Counter(gold))
    words = [w for w in re.findall(r"\w+", read.lower()) if not re.search(r"\d", w)]  # ids do not come again
    pairs = (" ".join(pair) for pair in pairwise(words))
    return tuple(naive), Case(scenario, frozenset((*words, *pairs)), drops)


def _written(context: Context, steps: Iterator[Step]) -> list[str]:
    """The tools of the writes, and of a last call that hands over."""
    calls = [s for s in islice(steps, context.world.max_turns) if isinstance(s, Call)]
    return [c.tool for c in calls if is_deed(c, context.interface, ended=c is calls[-1])]


def tried(learnt: Sequence[Case], others: Sequence[Case]) -> tuple[int, str]:
    """How many of `others` the word guesses that guesses best on `learnt`, and the word."""
    drops = Counter(w for c in learnt if c.drops for w in c.words)
    seen = Counter(w for c in learnt for w in c.words)
    total = sum(c.drops for c in learnt)
    usual = 2 * total > len(learnt)

    def guesses(word: str) -> tuple[bool, bool]:
        """Whether a text with the word, and one without it, means that the write is dropped."""
        without, left = total - drops[word], len(learnt) - seen[word]
        return 2 * drops[word] > seen[word], 2 * without > left if left else usual

    def right(word: str) -> int:
        there, gone = guesses(word)
        without, left = total - drops[word], len(learnt) - seen[word]
        return (drops[word] if there else seen[word] - drops[word]) + (without if gone else left - without)

    word = max(sorted(seen), key=lambda w: (right(w), len(w)), default="")  # of equals the clearest
    there, gone = guesses(word)
    return sum((there if word in c.words else gone) == c.drops for c in others), word
