"""Interventions on the random draws of a generator: the same scenario with exactly one draw replaced.

`World.generate` builds a scenario from its random generator alone, so the generator's draws are the causes of
everything in the scenario. `DrawRecorder` produces the draws of an ordinary generator with the same seed, records them,
and can replace one of them. All later draws keep their values as long as `generate` makes the same calls. The result is
a *variant*: a different scenario that `generate` can also produce. Its derived values are consistent, and every
difference from the original scenario is an effect of the replaced draw.
"""

from __future__ import annotations

import pickle
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Self

from trace_gym.episode import Episode
from trace_gym.errors import EnvBug
from trace_gym.types import Scenario
from trace_gym.world import Step, World

METHODS = (
    *("random", "uniform", "triangular", "gauss", "normalvariate", "expovariate", "betavariate", "gammavariate"),
    *("lognormvariate", "paretovariate", "vonmisesvariate", "weibullvariate", "randint", "randrange", "choice"),
    *("choices", "sample", "shuffle", "getrandbits", "randbytes"),
)
"""Methods of a random generator. Each call from outside the generator counts as one draw."""
DRAWS = 40
"""Maximum number of draws that are replaced per scenario."""
VALUES = 3
"""Maximum number of different values that replace one draw."""
TRIES = 8
"""Number of attempts to find a value that differs from the recorded one."""
MAX_DRAWS = 20_000
"""Maximum number of draws of a variant. In a variant, a loop that draws until a condition is met may never end."""


@dataclass(frozen=True, slots=True)
class Draw:
    """One recorded draw."""

    index: int
    method: str
    value: Any
    fixed: bool
    """True if the draw has only one possible value."""
    place: str = ""
    """Code location of the call, such as ``my_env.py, line 12``; empty if it was not recorded."""


class DrawPlace(UserWarning):
    """Warning that reports the code location of a draw.

    The sandbox forbids access to frames, but warnings contain the location of the caller.
    """


class DrawRecorder(Random):
    """Random generator that records its draws and can replace one of them.

    Args:
        seed: Seed of the generator.
        replaced: Index of the draw to replace; None to record only.
        salt: Seed of the value that replaces the draw.
        report: Whether to issue a `DrawPlace` warning for each draw.
    """

    def __new__(cls, *_: Any, **__: Any) -> Self:
        return super().__new__(cls)

    def __init__(self, seed: str, replaced: int | None = None, salt: int = 0, report: bool = False) -> None:
        self.draws: list[Draw] = []
        self.endless = False
        self._inside = False
        self._replaced, self._salt, self._report = replaced, salt, report
        super().__init__(seed)

    def __reduce__(self) -> Any:
        return (Random, (), self.getstate())

    def draw(self, method: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Make one draw, record it, and return its value.

        Raises:
            RuntimeError: A variant makes more draws than `MAX_DRAWS`.
        """
        index, fixed = len(self.draws), False
        if self._replaced is not None and index >= MAX_DRAWS:
            self.endless = True
            raise RuntimeError("the variant makes too many random draws")
        before = value = _value(self, method, arguments, options)
        if index == self._replaced:
            others = (Random(f"{self._salt}/{index}/{attempt}") for attempt in range(TRIES))
            values = (_value(other, method, arguments, options) for other in others)
            value = next((v for v in values if v != before), before)
            fixed = value == before
        self.draws.append(Draw(index, method, value, fixed))
        if self._report:
            warnings.warn(DrawPlace(), stacklevel=3)
        if method == "shuffle":
            arguments[0][:] = value
            return None
        return value


def _value(rng: Random, method: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the value of a draw. The value of a shuffle is the shuffled list."""
    original: Callable[..., Any] = getattr(Random, method)
    if method != "shuffle":
        return original(rng, *arguments, **options)
    shuffled = list(arguments[0])
    original(rng, shuffled)
    return shuffled


def _recorded(name: str) -> Callable[..., Any]:
    """Return the method of `DrawRecorder` that makes one draw with a method of `Random`."""
    original = getattr(Random, name)

    def method(self: DrawRecorder, *arguments: Any, **options: Any) -> Any:
        if self._inside:  # a method that another method of the generator calls
            return original(self, *arguments, **options)
        self._inside = True
        try:
            return self.draw(name, arguments, options)
        finally:
            self._inside = False

    method.__name__ = name
    return method


for _name in METHODS:
    setattr(DrawRecorder, _name, _recorded(_name))


def recorded_draws(world: type[World], scenario: Scenario) -> tuple[Draw, ...]:
    """Return the draws of a scenario in order, with their code locations."""
    rng = DrawRecorder(str(scenario), report=True)
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always", DrawPlace)
        world.generate(rng, scenario.level)
    found = [w for w in log if isinstance(w.message, DrawPlace)]
    places = (f"{Path(w.filename).name}, line {w.lineno}" for w in found)
    return tuple(replace(draw, place=place) for draw, place in zip(rng.draws, places, strict=True))


@dataclass(frozen=True)
class Variant:
    """A scenario in which one draw has a different value, as an episode that has just started."""

    scenario: Scenario
    draw: Draw
    salt: int
    """Seed of the value that replaces the draw."""
    episode: Episode
    """The episode, which must not be stepped; see `copy`."""
    oracle: list[Step]
    """The oracle's plan for the variant."""

    def copy(self) -> Episode:
        """Return an independent copy of the episode."""
        return pickle.loads(pickle.dumps(self.episode, -1))  # type: ignore[no-any-return]


def start_variant(world: type[World], scenario: Scenario, replaced: int, salt: int = 0) -> Variant | None:
    """Start an episode of a variant of a scenario; return None if the draw cannot have a different value.

    The result is also None if a loop that draws until a condition is met never ends with the new value.

    Args:
        world: World class.
        scenario: The original scenario.
        replaced: Index of the draw to replace.
        salt: Seed of the new value.
    """
    rng = DrawRecorder(str(scenario), replaced, salt)
    try:
        episode = Episode(world, scenario, rng=rng)
    except EnvBug:
        if rng.endless:
            return None
        raise
    if len(rng.draws) <= replaced or rng.draws[replaced].fixed:
        return None
    return Variant(
        scenario, rng.draws[replaced], salt, episode, list(islice(episode.start.oracle(), world.max_turns + 1))
    )


def consequential_variants(world: type[World], scenario: Scenario, plan: Sequence[Step]) -> list[Variant]:
    """Return the variants of a scenario for which the oracle's plan differs from `plan`.

    At most `DRAWS` draws are replaced, from as many different code locations as possible. A draw that changes the plan
    is replaced by up to `VALUES` different values.
    """
    found = []
    for draw in spread(recorded_draws(world, scenario), DRAWS):
        values = [draw.value]
        for salt in range(VALUES):
            variant = start_variant(world, scenario, draw.index, salt)
            if variant is None or variant.oracle == plan:
                break
            if variant.draw.value not in values:
                values.append(variant.draw.value)
                found.append(replace(variant, draw=replace(variant.draw, place=draw.place)))
    return found


def spread(draws: Sequence[Draw], most: int) -> list[Draw]:
    """Return at most `most` draws: the first of every code location, then the second of every location, and so on."""
    by_place = defaultdict[str, list[Draw]](list)
    for draw in draws:
        by_place[draw.place].append(draw)
    ranked = sorted((n, draw.index) for same in by_place.values() for n, draw in enumerate(same))
    return [draws[index] for _, index in ranked[:most]]
