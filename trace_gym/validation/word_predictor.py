"""Word-based predictor of the oracle's decisions, for detecting texts that reveal the correct decision.

The predictor uses the presence of a single word, or of two consecutive words, so that its result is easy to interpret.
It predicts whether the oracle carries out the user's literal request or deviates from the request. It does not detect
information that is spread over several words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from trace_gym.types import Call, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.oracle_rollouts import extend_sample, is_effective
from trace_gym.validation.properties import CheckFailed
from trace_gym.world import Step, World

GAIN = 0.15
"""Maximum difference between the accuracy of a prediction with a word and that of a constant prediction."""
MIN_SHARE = 0.1
"""Minimum relative frequency of the rarer of the two decisions. Below it, scenarios are not evaluated, because almost
all of them have the same decision."""
MIN_SCENARIOS = 20
"""Minimum number of scenarios in an evaluated group. All scenarios of a group have the same naive plan."""
OPENING = "print(episode.messages[-1]['content'])"

TextSource = Callable[[World, str], str]
"""Function that returns the text to evaluate. Its arguments are the start state and the first user message."""


@dataclass(frozen=True, slots=True)
class DecisionCase:
    """Features of one scenario: the words of the text, and whether the oracle omits a write of the naive plan."""

    scenario: Scenario
    words: frozenset[str]
    drops: bool


def prediction_gains(context: Context, scenarios: Sequence[Scenario], text: TextSource) -> dict[str, float]:
    """Return, by level, the gain in accuracy from predicting the oracle's decision with a word of a text.

    The gain is relative to a constant prediction. The *naive plan* carries out the user's request literally and can
    legitimately be derived from the text. Among scenarios with the same naive plan, the text must not reveal whether
    the oracle follows this plan. The best word is selected on one half of the seeds and evaluated on the other half,
    and vice versa.

    Raises:
        CheckFailed: The gain exceeds both `GAIN` and three standard errors.
    """
    gains: dict[str, float] = {}
    for level in sorted({s.level for s in scenarios}):
        groups = defaultdict[tuple[str, ...], list[DecisionCase]](list)
        for scenario in extend_sample([s for s in scenarios if s.level == level], context, factor=8, least=48):
            naive, case = _case(context, scenario, text)
            groups[naive].append(case)
        for naive, cases in sorted(groups.items()):
            share = sum(c.drops for c in cases) / len(cases)
            if len(cases) < MIN_SCENARIOS or not MIN_SHARE <= share <= 1 - MIN_SHARE:
                continue
            correct_on, word = correct_predictions(cases[::2], cases[1::2])
            other, _ = correct_predictions(cases[1::2], cases[::2])
            gain = (correct_on + other) / len(cases) - max(share, 1 - share)
            name = f"gain_{level}"
            gains[name] = max(gain, gains.get(name, -1.0))
            if gain > max(GAIN, 3 * (0.25 / len(cases)) ** 0.5):
                message = (
                    f"{word!r} in the text predicts in {(correct_on + other) / len(cases):.0%} of {len(cases)} "
                    f"scenarios"
                )
                message += (
                    f" whether {' and '.join(naive)} is correct; a constant prediction is correct in "
                    f"{max(share, 1 - share):.0%}"
                )
                example = next((c.scenario for c in cases if word in c.words), cases[0].scenario)
                raise CheckFailed(f"{example}: {message}", context.snippet(example, tail=OPENING), gains)
    return gains


def _case(context: Context, scenario: Scenario, text: TextSource) -> tuple[tuple[str, ...], DecisionCase]:
    episode = context.begin(scenario)
    with context.catch_failures(scenario):
        read = text(episode.start, str(episode.messages[1]["content"]))
        naive = _written(context, episode.start.ablated())
        oracle = _written(context, episode.start.oracle())
    drops = bool(Counter(naive) - Counter(oracle))
    words = [w for w in re.findall(r"\w+", read.lower()) if not re.search(r"\d", w)]  # ids rarely occur repeatedly
    pairs = (" ".join(pair) for pair in pairwise(words))
    return tuple(naive), DecisionCase(scenario, frozenset((*words, *pairs)), drops)


def _written(context: Context, steps: Iterator[Step]) -> list[str]:
    """Return the tools of the write calls, and of a final call that ends the conversation (a transfer to a human)."""
    calls = [s for s in islice(steps, context.world.max_turns) if isinstance(s, Call)]
    return [c.tool for c in calls if is_effective(c, context.interface, ended=c is calls[-1])]


def correct_predictions(training: Sequence[DecisionCase], held_out: Sequence[DecisionCase]) -> tuple[int, str]:
    """Return the number of correct predictions on `held_out`, and the word that predicts best on `training`."""
    drops = Counter(w for c in training if c.drops for w in c.words)
    seen = Counter(w for c in training for w in c.words)
    total = sum(c.drops for c in training)
    usual = 2 * total > len(training)

    def guesses(word: str) -> tuple[bool, bool]:
        """Return the prediction for a text with the word and for a text without the word.

        True means that the write is omitted.
        """
        without, left = total - drops[word], len(training) - seen[word]
        return 2 * drops[word] > seen[word], 2 * without > left if left else usual

    def correct_on(word: str) -> int:
        present, absent = guesses(word)
        without, left = total - drops[word], len(training) - seen[word]
        return (drops[word] if present else seen[word] - drops[word]) + (without if absent else left - without)

    word = max(sorted(seen), key=lambda w: (correct_on(w), len(w)), default="")  # among equals, prefer the longest word
    present, absent = guesses(word)
    return sum((present if word in c.words else absent) == c.drops for c in held_out), word
