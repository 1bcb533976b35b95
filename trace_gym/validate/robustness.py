"""TG4, third part: thousands of ugly turns, past the limit and past the end."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random
from typing import Any

from hypothesis import strategies as st

from trace_gym.actions import FORMATS
from trace_gym.episode import Episode
from trace_gym.types import Call, Scenario
from trace_gym.validate import ugly
from trace_gym.validate.attempts import spread
from trace_gym.validate.context import Context
from trace_gym.validate.draws import Draw, Values, plain
from trace_gym.validate.fuzz import explore
from trace_gym.validate.properties import Held, prop
from trace_gym.world import World

LONGEST = 8
"""Turns in one drawn sequence."""
TURNS = 6
"""Turns of a long episode for each drawn sequence of the profile."""
ROUND = 40
"""Turns of a long episode before they repeat."""
GROWTH = 4_096
"""Bytes by which a turn may make the state grow, besides what it brought along itself."""
ANSWER = 2**17
"""Characters of the answers to one turn, besides those of the turn."""
JUNK = (0.0, 0.0, 0.2)
"""Shares of the values that do not fit; each drawn turn draws one."""
CHATTER = (
    "...",
    "Hm, let me see.",
    "Shall I proceed?",
    "I am sorry, I cannot do that.",
    "Is there anything else?",
    "All done.",
    "Yes.",
)


@prop(
    "TG405",
    statement="Thousands of ugly turns, past the turn limit and past the end, raise nothing and cost bounded memory.",
    reason="An untrained model writes all of these, and one exception or leak ends a training run of days.",
    mend="Let `reply` and the tools take anything, for ever; log nothing that grows, and answer with what was asked.",
    raising=True,
)
def thousands_of_turns(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    drawn = _drawn(scenarios, context)
    turns = TURNS * context.profile.examples
    lasted = 0
    for scenario in {str(s): s for s in (scenarios[0], scenarios[-1])}.values():
        episode = context.begin(scenario)
        fault, taken = marathon(episode, turns)
        if fault:
            tail = f"from trace_gym.validate.robustness import marathon\nprint(marathon(episode, {turns}))"
            raise context.broken(scenario, fault, tail=tail)
        lasted += taken
    says = f"{drawn} turns in short sequences and {lasted} in long episodes were answered, at a bounded size"
    return Held(says, {"drawn": drawn, "lasted": lasted})


def faults(episode: Episode, action: Any) -> str:
    """Take a turn and say what is wrong with what it does; empty when nothing is."""
    over, before, count = episode.done, pickle.dumps(episode.world, -1), len(episode.messages)
    try:
        answers = episode.step(action)
    except Exception as error:
        cause = error.__cause__ or error
        return f"raises {type(cause).__name__}: {str(cause)[:200]}"
    after = pickle.dumps(episode.world, -1)
    unchanged = after == before or plain(pickle.loads(before)) == plain(episode.world)
    if over:
        return "" if unchanged and len(episode.messages) == count else "changes something after the end"
    texts = [str(m["content"]) for m in answers]
    if texts and all(t.startswith("Error") for t in texts) and not unchanged:
        return "is refused, and changes the state"
    brought = len(action) if isinstance(action, str) else len(repr(action))
    if sum(map(len, texts)) > ANSWER + brought:
        return f"is answered with {sum(map(len, texts))} characters"
    if (grown := len(after) - len(before)) > GROWTH + 4 * brought:
        return f"makes the state grow by {grown} bytes"
    return ""


def _drawn(scenarios: Sequence[Scenario], context: Context) -> int:
    """Let Hypothesis draw sequences of ugly turns, and shrink one that shows a fault; returns how many were taken."""
    taken = 0

    def attempt(scenario: Scenario, kinds: list[Any], seed: int) -> None:
        nonlocal taken
        episode, actions = context.begin(scenario), list[Any]()
        rng, values = Random(seed), Values.of(episode.start)  # Hypothesis's own Random is slow
        for kind in kinds:
            draw = Draw(rng, context.interface, values, rng.choice(JUNK))
            actions.append(kind(draw))
            taken += 1
            if fault := faults(episode, actions[-1]):
                raise context.broken(scenario, f"a turn of {kind.__name__.replace('_', ' ')} {fault}", actions)

    kinds = st.lists(st.sampled_from(ugly.KINDS), min_size=1, max_size=LONGEST)
    places = st.sampled_from(spread(scenarios, 16))
    explore(attempt, places, kinds, st.integers(0, 999), examples=context.profile.examples // 2)
    return taken


def marathon(episode: Episode, turns: int) -> tuple[str, int]:
    """What goes wrong in an episode of so many turns, past its limit (empty when nothing does), and the turns taken.

    First come turns that ask for no change, in rounds, then talk until the user hangs up, then turns after the end.
    """
    object.__setattr__(episode.world, "max_turns", 10 * turns)  # of this instance only, even where it is frozen
    draw = _Looking(Random(f"marathon/{episode.scenario}"), episode.interface, Values.of(episode.world))
    asked = list(islice(_no_change(draw), ROUND))
    taken = 0
    for actions, count in ((asked, turns), (CHATTER, turns), (asked, turns // 4)):
        fault, done = _rounds(episode, actions, count)
        taken += done
        if fault:
            return f"turn {taken} of a long episode {fault}", taken
        if actions is CHATTER and not episode.done:
            episode.finish()
    return "", taken


@dataclass(frozen=True)
class _Looking(Draw):
    """Draws look-ups only, where there are any."""

    def call(self, kinds: Collection[str] = ("read",)) -> Call:
        known = self.interface.kinds.values()
        return super().call(kinds) if "read" in known else Call("no_such_tool")


def _no_change(draw: Draw) -> Iterator[Any]:
    for kind in cycle(
        (ugly.octets, ugly.numbers, ugly.strays, ugly.nested, ugly.twice, ugly.several, ugly.long_values)
    ):
        yield kind(draw)
        yield FORMATS["hermes"].render(draw.call())


def _rounds(episode: Episode, actions: Sequence[Any], count: int) -> tuple[str, int]:
    """Repeat actions; the second round and the last are to cost the same."""
    sizes = list[int]()
    for action in islice(cycle(actions), count):
        before, over = len(episode.messages), episode.done
        if fault := faults(episode, action):
            return fault, len(sizes) + 1
        sizes.append(sum(len(m["content"]) for m in episode.messages[before:]))
        if episode.done and not over:
            return "", len(sizes)
    second, last = sum(sizes[len(actions) : 2 * len(actions)]), sum(sizes[-len(actions) :])
    if len(sizes) > 2 * len(actions) and last > 2 * second + GROWTH:
        says = f"and those before fill {last} characters; the same {len(actions)} turns once filled {second}"
        return says, len(sizes)
    return "", len(sizes)
