"""Choice of the next call of an exploration, which prefers calls with features that are rare in the recordings."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any

from trace_gym.explore.goals import Goal, Made, Situation, call_for, goals_of, is_strange, reached, situations
from trace_gym.explore.sample import WORDS, sampler
from trace_gym.nested import parse_if_json
from trace_gym.targets.user.replays import refused
from trace_gym.types import Call, Interface

DRAWS = 3
"""Number of calls that are sampled for each tool before the explorer chooses one."""
FEW = 3
"""Number of different strings that are used for new records in one episode."""
STRANGE = 0.25
"""Probability that the candidates for the next call include one with an unknown id."""
MISSING = 2
"""Bonus in the score of a candidate call for each goal that no earlier call has reached."""
REFUSED = 0.3
"""Weight with which the features of a refused call are counted.

It is less than 1 so that the features are tried again with other arguments, and more than 0 to limit the number of
tries.
"""
LOOKS = ("read", "generic")
CallCounts = defaultdict[str, float]


@dataclass
class Explorer:
    """Explorer that chooses the next call based on the features of all calls that have been recorded."""

    interface: Interface
    given: Mapping[str, Sequence[Any]]
    """Mapping from parameter name to the values to try."""
    seen: CallCounts = field(default_factory=lambda: defaultdict(float))
    """Weighted number of recorded calls with each feature."""

    words: Sequence[str] = WORDS
    """Strings for new records in the episode that is being recorded."""

    def begin(self, rng: Random) -> None:
        """Choose a few strings for an episode, so that calls that create, link and read records use the same ones."""
        self.words = rng.sample(WORDS, k=FEW)

    def learn(self, made: Made) -> None:
        """Count the features of the calls of an episode."""
        for feature, count in self._shown(made).items():
            self.seen[feature] += count

    def choose(self, rng: Random, kinds: Iterable[str], made: Made) -> Call | None:
        """Return the sampled call with the rarest features, or None if no tool of these kinds can be sampled."""
        *_, situation = situations(made, self.interface.kinds)
        now = self._shown(made)
        best: tuple[float, Call] | None = None
        for call in self._drawn(rng, set(kinds), made, now):
            features = self._features(call, situation)
            worth = sum(1 / (1 + self.seen[f] + now[f]) for f in features) + rng.random() / 100
            worth += MISSING * sum(self.seen[f] + now[f] < 1 for f in features if f in self.names)
            if best is None or worth > best[0]:
                best = worth, call
        return best[1] if best else None

    def related(self, rng: Random, write: Call, made: Made) -> list[Call]:
        """Return reads that may show the effect of a write: of all records, and of the records in its arguments."""
        tools = self.fewest_arguments(["read"])
        if not tools or is_strange(write):
            return []
        known = sampler(rng, self.interface, [write.arguments], self.given, self.words, exact=True)
        now = self._shown(made)
        chosen: list[Call] = []

        def seen(name: str) -> float:
            return self.seen[f"{write.tool} > {name}"] + now[f"{write.tool} > {name}"]

        others = sorted(tools[1:], key=lambda tool: (seen(tool), rng.random()))
        for tool in [tools[0], *others[:1]]:
            calls = [known.call_of(tool) for _ in range(DRAWS)]
            calls += [call_for(goal, tool, known) for goal in self.goals[tool] if goal.parameter]
            rated = [
                (sum(1 / (1 + seen(name)) for name in self._arguments(call)) + rng.random() / 100, call)
                for call in calls
                if call is not None
            ]
            chosen += [max(rated, key=lambda pair: pair[0])[1]] if rated else []
        return chosen

    def _arguments(self, call: Call) -> list[str]:
        """Return the features of a call's arguments, preceded by the name of its tool."""
        goals = (goal for goal in self.goals[call.tool] if goal.parameter and reached(goal, call, Situation()))
        return [call.tool, *(f"{call.tool} {goal.text}" for goal in goals)]

    def fewest_arguments(self, kinds: Iterable[str]) -> list[str]:
        """Return the tools of these kinds, sorted by the number of required parameters."""
        needed = {t["function"]["name"]: len(t["function"]["parameters"].get("required", ())) for t in self._tools()}
        return sorted((n for n in needed if self.interface.kinds[n] in set(kinds)), key=needed.__getitem__)

    def draw(self, rng: Random, tool: str, made: Made) -> Call | None:
        """Return a sampled call of one tool, or None if no sample matches its schema."""
        return sampler(rng, self.interface, _results(made), self.given, self.words).call_of(tool)

    def _drawn(self, rng: Random, kinds: set[str], made: Made, now: CallCounts) -> Iterator[Call]:
        """Yield candidates for the next call: random calls of each tool, and calls for goals not reached yet."""
        results = list(_results(made))
        known, strange, exact = (
            sampler(rng, self.interface, results, self.given, self.words, s, e)
            for s, e in ((False, False), (True, False), (False, True))
        )
        for tool in (name for name, kind in self.interface.kinds.items() if kind in kinds):
            draws = [known] * DRAWS + [exact] + [strange] * (rng.random() < STRANGE)
            calls = [draw.call_of(tool) for draw in draws]
            known_of = {goal: f"{tool} {goal.text}" for goal in self.goals[tool]}
            missing = [goal for goal, name in known_of.items() if self.seen[name] + now[name] < 1]
            calls += [call_for(goal, tool, strange if goal.how == "unknown id" else exact) for goal in missing]
            yield from (call for call in calls if call is not None)

    def _shown(self, made: Made) -> CallCounts:
        """Return how many calls of an episode have each feature. A refused call counts with the weight `REFUSED`."""
        counts: CallCounts = defaultdict(float)
        for (call, told), situation in zip(made, situations(made, self.interface.kinds), strict=False):
            expected = is_strange(call) or not refused(told)
            for feature in self._features(call, situation):
                counts[feature] += 1 if expected else REFUSED
            if situation.change and self.interface.kinds[call.tool] == "read":
                for name in self._arguments(call):
                    counts[f"{situation.change} > {name}"] += 1
        return counts

    def _features(self, call: Call, situation: Situation) -> list[str]:
        """Return the features of a call: its tool, its arguments, and the goals that it reaches."""
        body = json.dumps(call.arguments, sort_keys=True)
        known = [
            f"{name}={value}"
            for name, value in call.arguments.items()
            if isinstance(value, (int, float)) or (isinstance(value, str) and value in situation.strings)
        ]
        goals = [goal.text for goal in self.goals[call.tool] if reached(goal, call, situation)]
        return [call.tool, *(f"{call.tool} {feature}" for feature in (body, *known, *goals))]

    @cached_property
    def goals(self) -> dict[str, tuple[Goal, ...]]:
        """Mapping from tool to its coverage goals."""
        return {tool: goals_of(self.interface, tool) for tool in self.interface.kinds}

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the features that correspond to a coverage goal, for all tools."""
        return frozenset(f"{tool} {goal.text}" for tool, goals in self.goals.items() for goal in goals)

    def _tools(self) -> tuple[dict[str, Any], ...]:
        return self.interface.tools


def known_since_write(step: Call, made: Made, kinds: Mapping[str, str]) -> bool:
    """Return whether the same read was already made after the last accepted write."""
    for call, told in reversed(made):
        if call == step:
            return True
        if kinds[call.tool] == "write" and not refused(told):
            return False
    return False


def _results(made: Made) -> Iterator[Any]:
    """Yield the arguments and the result of each accepted call of an episode."""
    for call, told in made:
        if not refused(told):
            yield call.arguments
            yield parse_if_json(told)
