"""Property TG405: thousands of malformed turns, even after the end of an episode, do not make an environment fail."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random
from typing import Any

from hypothesis import strategies as st

from trace_gym.chat_formats import FORMATS
from trace_gym.episode import Episode
from trace_gym.types import Call, Scenario
from trace_gym.validation import malformed_inputs
from trace_gym.validation.context import Context
from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.fuzz import explore
from trace_gym.validation.properties import Passed, property_check
from trace_gym.validation.random_calls import CallSampler, StateValues, to_plain_data
from trace_gym.world import World

LONGEST = 8
"""Maximum number of turns in one generated sequence."""
TURNS = 6
"""Number of turns in a long episode, as a multiple of the profile's number of examples."""
ROUND = 40
"""Number of different turns in a long episode. The sequence of these turns is repeated."""
GROWTH = 4_096
"""Maximum growth of the state per turn in bytes, in addition to growth in proportion to the size of the turn."""
ANSWER = 2**17
"""Maximum length of the answers to one turn in characters, in addition to the length of the turn."""
JUNK = (0.0, 0.0, 0.2)
"""Probabilities of replacing a value with a junk value. One of them is drawn for each turn."""
CHATTER = (
    "...",
    "Hm, let me see.",
    "Shall I proceed?",
    "I am sorry, I cannot do that.",
    "Is there anything else?",
    "All done.",
    "Yes.",
)


@property_check(
    "TG405",
    statement="Thousands of malformed turns, including turns after the turn limit and after the end, raise no "
    "exception and use bounded memory.",
    reason="Untrained models write such turns, and a single exception or memory leak ends a training run of several "
    "days.",
    fix="Let `reply` and the tools accept any input at any time, keep no log that grows, and return only the requested "
    "data.",
    raising=True,
)
def thousands_of_turns(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    drawn_turns = _run_drawn_sequences(scenarios, context)
    turns = TURNS * context.profile.examples
    long_turns = 0
    for scenario in {str(s): s for s in (scenarios[0], scenarios[-1])}.values():
        episode = context.begin(scenario)
        fault, turns_taken = long_episode(episode, turns)
        if fault:
            tail = f"from trace_gym.validation.robustness import long_episode\nprint(long_episode(episode, {turns}))"
            raise context.failure(scenario, fault, tail=tail)
        long_turns += turns_taken
    message = (
        f"{drawn_turns} turns in short sequences and {long_turns} in long episodes got an answer, with a "
        f"bounded state size"
    )
    return Passed(message, {"drawn": drawn_turns, "lasted": long_turns})


def turn_defect(episode: Episode, action: Any) -> str:
    """Take a turn and return a description of the defect in the response, or an empty string."""
    over, before, count = episode.done, pickle.dumps(episode.world, -1), len(episode.messages)
    try:
        answers = episode.step(action)
    except Exception as error:
        cause = error.__cause__ or error
        return f"raises {type(cause).__name__}: {str(cause)[:200]}"
    after = pickle.dumps(episode.world, -1)
    unchanged = after == before or to_plain_data(pickle.loads(before)) == to_plain_data(episode.world)
    if over:
        return "" if unchanged and len(episode.messages) == count else "changes the state or the messages after the end"
    texts = [str(m["content"]) for m in answers]
    if texts and all(t.startswith("Error") for t in texts) and not unchanged:
        return "is rejected but changes the state"
    action_size = len(action) if isinstance(action, str) else len(repr(action))
    if sum(map(len, texts)) > ANSWER + action_size:
        return f"is answered with {sum(map(len, texts))} characters"
    if (grown := len(after) - len(before)) > GROWTH + 4 * action_size:
        return f"makes the state grow by {grown} bytes"
    return ""


def _run_drawn_sequences(scenarios: Sequence[Scenario], context: Context) -> int:
    """Test sequences of malformed turns that Hypothesis generates and shrinks, and return the number of turns."""
    turns_taken = 0

    def attempt(scenario: Scenario, kinds: list[Any], seed: int) -> None:
        nonlocal turns_taken
        episode, actions = context.begin(scenario), list[Any]()
        rng, values = Random(seed), StateValues.of(episode.start)  # the Random object of Hypothesis is slow
        for kind in kinds:
            draw = CallSampler(rng, context.interface, values, rng.choice(JUNK))
            actions.append(kind(draw))
            turns_taken += 1
            if fault := turn_defect(episode, actions[-1]):
                raise context.failure(scenario, f"a turn from the generator `{kind.__name__}` {fault}", actions)

    kinds = st.lists(st.sampled_from(malformed_inputs.KINDS), min_size=1, max_size=LONGEST)
    places = st.sampled_from(evenly_spaced(scenarios, 16))
    explore(attempt, places, kinds, st.integers(0, 999), examples=context.profile.examples // 2)
    return turns_taken


def long_episode(episode: Episode, turns: int) -> tuple[str, int]:
    """Run a very long episode, and return a description of a defect (or an empty string) and the number of turns.

    The episode starts with `turns` turns that do not change the state, continues with messages until the user ends the
    conversation, and ends with turns after the end. The turn limit is raised, so that it does not end the episode.
    """
    object.__setattr__(
        episode.world, "max_turns", 10 * turns
    )  # this affects only this instance, and it also works for frozen dataclasses
    draw = _ReadSampler(Random(f"marathon/{episode.scenario}"), episode.interface, StateValues.of(episode.world))
    read_only = list(islice(_read_only_turns(draw), ROUND))
    turns_taken = 0
    for actions, count in ((read_only, turns), (CHATTER, turns), (read_only, turns // 4)):
        fault, done = _repeat(episode, actions, count)
        turns_taken += done
        if fault:
            return f"turn {turns_taken} of a long episode {fault}", turns_taken
        if actions is CHATTER and not episode.done:
            episode.finish()
    return "", turns_taken


@dataclass(frozen=True)
class _ReadSampler(CallSampler):
    """Sampler that generates only read calls, if there is a read tool."""

    def call(self, kinds: Collection[str] = ("read",)) -> Call:
        known = self.interface.kinds.values()
        return super().call(kinds) if "read" in known else Call("no_such_tool")


def _read_only_turns(draw: CallSampler) -> Iterator[Any]:
    for kind in cycle(
        (
            malformed_inputs.random_bytes,
            malformed_inputs.invalid_numbers,
            malformed_inputs.non_turns,
            malformed_inputs.nested_arguments,
            malformed_inputs.duplicate_keys,
            malformed_inputs.several_calls,
            malformed_inputs.long_values,
        )
    ):
        yield kind(draw)
        yield FORMATS["hermes"].render(draw.call())


def _repeat(episode: Episode, actions: Sequence[Any], count: int) -> tuple[str, int]:
    """Repeat the actions; return a description of a defect (or an empty string) and the number of turns.

    The last repetition must not produce much more output than the second.
    """
    sizes = list[int]()
    for action in islice(cycle(actions), count):
        before, over = len(episode.messages), episode.done
        if fault := turn_defect(episode, action):
            return fault, len(sizes) + 1
        sizes.append(sum(len(m["content"]) for m in episode.messages[before:]))
        if episode.done and not over:
            return "", len(sizes)
    second, last = sum(sizes[len(actions) : 2 * len(actions)]), sum(sizes[-len(actions) :])
    if len(sizes) > 2 * len(actions) and last > 2 * second + GROWTH:
        message = f"and the {len(actions)} turns up to it produce {last} characters, and in the second round {second}"
        return message, len(sizes)
    return "", len(sizes)
