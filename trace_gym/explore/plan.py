"""Choice of the next call of an exploration: what the recordings have shown least."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from trace_gym.explore.sample import STRANGERS, WORDS, sampler
from trace_gym.targets.user.replays import parsed, refused
from trace_gym.types import Call, Interface

DRAWS = 3
"""Calls of each tool that are drawn for a choice."""
FEW = 3
"""Strings for new records in one episode."""
STRANGE = 0.25
"""How often a call about what no record holds is drawn as well."""
LOOKS = ("read", "generic")
Made = list[tuple[Call, str]]
"""Calls with what the agent read."""


@dataclass
class Explorer:
    """Chooses calls; what it has seen of all episodes decides what is worth another call."""

    interface: Interface
    given: Mapping[str, Sequence[Any]]
    seen: Counter[str] = field(default_factory=Counter)
    """How often each feature of a call was recorded."""

    words: Sequence[str] = WORDS
    """Strings for new records in the episode that is being recorded."""

    def begin(self, rng: Random) -> None:
        """Choose the strings of an episode: so few that records, relations and reads name the same ones."""
        self.words = rng.sample(WORDS, k=FEW)

    def learn(self, made: Made) -> None:
        """Count the features of an episode's calls."""
        written = False
        for call, told in made:
            self.seen.update(self._features(call, written))
            written = written or (self.interface.kinds[call.tool] == "write" and not refused(told))

    def choose(self, rng: Random, kinds: Iterable[str], made: Made) -> Call | None:
        """Return the drawn call that shows most of what was seen least; None where no tool of these kinds has one."""
        written = any(self.interface.kinds[c.tool] == "write" and not refused(told) for c, told in made)
        now = Counter(feature for call, _ in made for feature in self._features(call, written))
        best: tuple[float, Call] | None = None
        for call in self._drawn(rng, set(kinds), made):
            worth = sum(1 / (1 + self.seen[f] + now[f]) for f in self._features(call, written)) + rng.random() / 100
            if best is None or worth > best[0]:
                best = worth, call
        return best[1] if best else None

    def related(self, rng: Random, write: Call, made: Made) -> list[Call]:
        """Return reads that may show the effect of a write: of all records, and of those that its arguments name."""
        tools = self.fewest_arguments(["read"])
        if not tools:
            return []
        drawn = [self.draw(rng, tools[0], made)]
        known = sampler(rng, self.interface, [write.arguments], self.given, self.words)
        drawn += [known.call_of(tool) for tool in rng.sample(tools[1:], k=min(1, len(tools) - 1))]
        return [call for call in drawn if call is not None]

    def fewest_arguments(self, kinds: Iterable[str]) -> list[str]:
        """Return the tools of these kinds, those with the fewest required parameters first."""
        needed = {t["function"]["name"]: len(t["function"]["parameters"].get("required", ())) for t in self._tools()}
        return sorted((n for n in needed if self.interface.kinds[n] in set(kinds)), key=needed.__getitem__)

    def draw(self, rng: Random, tool: str, made: Made) -> Call | None:
        """Return a call of one tool; None where none fits its schema."""
        return sampler(rng, self.interface, _shown(made), self.given, self.words).call_of(tool)

    def _drawn(self, rng: Random, kinds: set[str], made: Made) -> Iterator[Call]:
        shown = list(_shown(made))
        known, strange = (sampler(rng, self.interface, shown, self.given, self.words, s) for s in (False, True))
        for tool, kind in self.interface.kinds.items():
            draws = [known] * DRAWS + [strange] * (rng.random() < STRANGE)
            for draw in draws if kind in kinds else ():
                if call := draw.call_of(tool):
                    yield call

    def _features(self, call: Call, written: bool) -> list[str]:
        """Return what a call shows: its tool before or after a write, its arguments, and its optional parameters."""
        schema = next(t["function"]["parameters"] for t in self._tools() if t["function"]["name"] == call.tool)
        optional = [p for p in schema.get("properties", {}) if p not in schema.get("required", ())]
        told = [f"{call.tool} {'with' if p in call.arguments else 'without'} {p}" for p in optional]
        chosen = {p: v for p, v in call.arguments.items() if isinstance(v, bool) or "enum" in schema["properties"][p]}
        told += [f"{call.tool} {p}={v}" for p, v in chosen.items()]
        body = json.dumps(call.arguments, sort_keys=True)
        strange = any(word in body for word in STRANGERS)
        told += [f"{call.tool} {'strange' if strange else 'known'}", f"{call.tool} {body}"]
        return [call.tool, f"{call.tool} {'after' if written else 'before'} a write", *told]

    def _tools(self) -> tuple[dict[str, Any], ...]:
        return self.interface.tools


def known_since_write(step: Call, made: Made, kinds: Mapping[str, str]) -> bool:
    """Return whether a read was made after the last write already."""
    for call, told in reversed(made):
        if call == step:
            return True
        if kinds[call.tool] == "write" and not refused(told):
            return False
    return False


def _shown(made: Made) -> Iterator[Any]:
    """Yield what the calls of an episode have shown and said."""
    for call, told in made:
        if not refused(told):
            yield call.arguments
            yield parsed(told)
