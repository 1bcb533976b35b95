"""What a property may ask of a foreign environment, and the registry of the questions.

A question goes under the code of the property whose statement it examines. Properties without one do not apply, as
they need what a black box does not show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from trace_gym.errors import EnvBug
from trace_gym.types import Finding, Replay
from trace_gym.validate.context import NOTHING, Given, Profile
from trace_gym.validate.foreign.address import open_patiently
from trace_gym.validate.foreign.box import Attempt, BlackBox, Busy, attempt, exits_raise
from trace_gym.validate.properties import PROPERTIES, Broken, Held, Inapplicable, raised

Question = Callable[["Asked"], Held]
FOREIGN: dict[str, Question] = {}
"""The questions by the code of the property."""

STATE, EXPERTS, GOALS, TOOLS = "the state of a world", "an expert's calls", "goals and guards", "tools with schemas"
NEEDS = {
    "TG104": STATE,
    "TG106": "an episode that can be pickled",
    "TG202": EXPERTS,
    "TG204": "the rules that a call may break",
    "TG205": "an expert without the capability",
    "TG206": "an expert without the capability",
    "TG208": "a score that can be asked for again",
    "TG209": GOALS,
    "TG302": GOALS,
    "TG304": GOALS,
    "TG305": GOALS,
    "TG306": GOALS,
    "TG401": "the tools of a target",
    "TG403": TOOLS,
    "TG404": STATE,
    "TG406": "the user of a conversation, apart from the environment",
    "TG411": "the tools of a target",
    "TG412": TOOLS,
    "TG413": "the tools of a target",
    "TG602": TOOLS,
    "TG702": "hints",
    "TG705": "an expert without the capability",
    "TG801": STATE,
    "TG802": EXPERTS,
}
"""What a property needs that no black box shows."""


def foreign(code: str) -> Callable[[Question], Question]:
    """Register the decorated question under the code of a property.

    Raises:
        ValueError: The property has one already.
    """

    def register(question: Question) -> Question:
        if code in FOREIGN:
            raise ValueError(f"{code} is asked by {FOREIGN[code].__name__} already")
        FOREIGN[code] = question
        return question

    return register


def questions() -> dict[str, Question]:
    """Return all questions by the code of the property."""
    # Importing them registers the questions; they import the families, which must not depend on them.
    from trace_gym.validate.foreign import bank, payment, sameness, spaces, words  # noqa: F401

    return FOREIGN


def solved(share: float) -> bool:
    """Whether an attempt earned all there is."""
    return share >= 1 - 1e-9


@dataclass
class Asked:
    """One validation of one foreign environment. Attempts are kept, as several questions look at the same ones."""

    address: str
    seeds: Sequence[int]
    profile: Profile
    given: Given = NOTHING
    _box: BlackBox | None = None
    _attempts: dict[tuple[int, tuple[str, ...]], Attempt] = field(default_factory=dict)
    _solutions: dict[int, tuple[str, ...] | None] = field(default_factory=dict)

    @property
    def box(self) -> BlackBox:
        """The environment, opened when it is first needed."""
        if self._box is None:
            try:
                self._box = open_patiently(self.address)
            except Busy as error:
                raise Broken(f"{self.address} serves no session: {error}") from None
            except EnvBug as error:
                raise Broken(str(error), self.snippet(None)) from error
        return self._box

    def __call__(self, code: str) -> Finding:
        """What a property finds; one that has no question for black boxes does not apply."""
        found = PROPERTIES[code]
        with exits_raise():
            if code in questions():
                return found.judged(lambda: FOREIGN[code](self))
            needs = NEEDS.get(code, "the state or the experts of a world")
            return found.judged(lambda: self._lacks(needs))

    def _lacks(self, needs: str) -> NoReturn:
        raise Inapplicable(f"needs {needs}, which {self.box.kind} does not show")

    def close(self) -> None:
        """Close the environment; the next question opens it again."""
        if self._box is not None:
            self._box.close()
        self._box = None

    def play(self, seed: int, actions: Sequence[str]) -> Attempt:
        """An attempt, played once however often it is asked for."""
        key = (seed, tuple(actions))
        if key not in self._attempts:
            self._attempts[key] = self.replay(seed, actions)
        return self._attempts[key]

    def replay(self, seed: int, actions: Sequence[str]) -> Attempt:
        """An attempt, played anew."""
        with self.blame(seed, actions):
            made = attempt(self.box, seed, actions)
        if made.raised and self.box.served:
            self.close()  # the session may be lost with it
        return made

    def begin(self, seed: int) -> str:
        """The prompt of a problem."""
        return self.play(seed, ()).prompt

    def solution(self, seed: int) -> tuple[str, ...] | None:
        """The turns of the reference solution, if there is one."""
        if seed not in self._solutions:
            with self.blame(seed):
                made = self.box.solution(seed)
            self._solutions[seed] = None if made is None else tuple(made)
        return self._solutions[seed]

    def solutions(self, needed: str = "") -> dict[int, tuple[str, ...]]:
        """The reference solutions by seed.

        Raises:
            Inapplicable: There is none.
        """
        found = {seed: made for seed in self.seeds if (made := self.solution(seed)) is not None}
        if not found:
            raise Inapplicable(f"{self.box.kind} shows no reference solution here{needed}")
        return found

    def earned(self, seed: int, actions: Sequence[str]) -> float:
        """What an attempt is paid, as a share of the most there is; 0 is nothing, and less is a fine."""
        return self.play(seed, actions).paid / self.box.high

    def scaled(self, seed: int, actions: Sequence[str]) -> float:
        """What an attempt is paid, on a scale from 0 for the least there is to 1 for the most."""
        box, paid = self.box, self.play(seed, actions).paid
        return min(1.0, max(0.0, (paid - box.low) / (box.high - box.low))) if math.isfinite(paid) else 0.0

    def own_problems(self) -> None:
        """Go on if the problems are the environment's own.

        Raises:
            Inapplicable: They are made up here.
        """
        if self.box.lent:
            raise Inapplicable(f"the problems are made up here; name the environment's own: {self.address}@FILE.jsonl")

    @contextmanager
    def blame(self, seed: int, actions: Sequence[str] = ()) -> Iterator[None]:
        """Turn whatever the environment raises into `Broken`, with the snippet that repeats it."""
        try:
            yield
        except (Broken, Inapplicable):
            raise
        except (Exception, SystemExit) as error:
            raise self.broken(seed, raised(error)[:300], actions) from error

    def broken(
        self, seed: int, says: str, actions: Sequence[str] = (), figures: dict[str, float] | None = None
    ) -> Broken:
        """A failure at a seed, after some turns."""
        replay = Replay(
            scenario=f"{self.address}/0/{seed}", actions=tuple(a.encode(errors="replace").decode() for a in actions)
        )
        return Broken(f"seed {seed}: {says}", self.snippet(seed, actions), figures, replay=replay)

    def snippet(self, seed: int | None, actions: Sequence[str] = ()) -> str:
        """Code that takes turns in a problem and prints what comes of them."""
        lines = ["from trace_gym.validate.foreign import open_box", "", f"box = open_box({self.address!r})"]
        lines += [f"print(box.begin({seed}))"] if seed is not None else []
        if len(actions) > 2 and len(set(actions)) == 1:
            lines += [f"for _ in range({len(actions)}):", f"    print(box.act({source(actions[0])}))"]
        else:
            lines += [f"print(box.act({source(a)}))" for a in actions]
        return "\n".join(lines) + "\n"


def source(text: str) -> str:
    """Python source of a text; one that repeats a piece many times is written as a product."""
    if len(text) > 300:
        for width in range(1, 12):
            if len(text) % width == 0 and text == text[:width] * (len(text) // width):
                return f"{text[:width]!r} * {len(text) // width}"
    return repr(text)


def short(text: str, most: int = 60) -> str:
    """A text as it is quoted in a sentence."""
    return repr(text if len(text) <= most else f"{text[: most - 1]}…")
