"""Context for checks of third-party environments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from trace_gym.errors import EnvBug
from trace_gym.types import Replay
from trace_gym.validation.context import NO_INPUTS, Profile, ValidationInputs
from trace_gym.validation.properties import CheckFailed, Skipped, describe_exception
from trace_gym.validation.third_party.answer_forms import AnswerParts, split_answer
from trace_gym.validation.third_party.black_box import BlackBox, BlackBoxRollout, Busy, run_black_box
from trace_gym.validation.third_party.near_misses import kind_of
from trace_gym.validation.third_party.reference_format import AnswerFormat, recognize
from trace_gym.validation.third_party.uri import open_with_retry

TYPED = ("JSON", "code", "date", "fraction")
"""Types of answers of which only a part may vary between the problems."""


def is_full_reward(share: float) -> bool:
    """Return whether a reward fraction is the full reward."""
    return share >= 1 - 1e-9


@dataclass
class BlackBoxContext:
    """Context of the validation of one third-party environment.

    Rollouts are cached, because several checks use them.
    """

    address: str
    seeds: Sequence[int]
    profile: Profile
    inputs: ValidationInputs = NO_INPUTS
    _box: BlackBox | None = None
    _attempts: dict[tuple[int, tuple[str, ...]], BlackBoxRollout] = field(default_factory=dict)
    _solutions: dict[int, tuple[str, ...] | None] = field(default_factory=dict)

    @property
    def box(self) -> BlackBox:
        """The environment, which is opened at the first access."""
        if self._box is None:
            try:
                self._box = open_with_retry(self.address)
            except Busy as error:
                raise CheckFailed(f"{self.address} accepts no session: {error}") from None
            except EnvBug as error:
                raise CheckFailed(str(error), self.snippet(None)) from error
        return self._box

    def close(self) -> None:
        """Close the environment. The next access opens it again."""
        if self._box is not None:
            self._box.close()
        self._box = None

    def run(self, seed: int, actions: Sequence[str]) -> BlackBoxRollout:
        """Return the rollout of these actions. Each rollout is run once and then cached."""
        key = (seed, tuple(actions))
        if key not in self._attempts:
            self._attempts[key] = self.rerun(seed, actions)
        return self._attempts[key]

    def rerun(self, seed: int, actions: Sequence[str]) -> BlackBoxRollout:
        """Run the actions and return the rollout, without using the cache."""
        with self.catch_failures(seed, actions):
            result = run_black_box(self.box, seed, actions)
        if result.raised and self.box.served:
            self.close()  # the exception may have ended the session
        return result

    def begin(self, seed: int) -> str:
        """Return the prompt of a problem."""
        return self.run(seed, ()).prompt

    def solution(self, seed: int) -> tuple[str, ...] | None:
        """Return the turns of the reference solution; None if there is no reference solution."""
        if seed not in self._solutions:
            with self.catch_failures(seed):
                result = self.box.solution(seed)
            self._solutions[seed] = None if result is None else tuple(result)
        return self._solutions[seed]

    def solutions(self) -> dict[int, tuple[str, ...]]:
        """Return the reference solutions by seed.

        Raises:
            Skipped: There is no reference solution.
        """
        found = {seed: result for seed in self.seeds if (result := self.solution(seed)) is not None}
        if not found:
            raise Skipped(self.box.missing_reference)
        return found

    @cached_property
    def answer_format(self) -> AnswerFormat | None:
        """Format of the last turns of the reference solutions; None if they share no format."""
        return recognize([turns[-1] for seed in self.seeds if (turns := self.solution(seed))])

    def split_answer(self, text: str) -> AnswerParts:
        """Split the last turn of a reference solution into the answer and the format around it."""
        parts = split_answer(text)
        if self.answer_format is None or kind_of(parts.core) in TYPED:
            return parts
        return self.answer_format.parts.get(text, parts)

    def reward_fraction(self, seed: int, actions: Sequence[str]) -> float:
        """Return the total reward of a rollout as a fraction of the maximum. The fraction can be negative."""
        return self.run(seed, actions).total_reward / self.box.high

    def scaled_reward(self, seed: int, actions: Sequence[str]) -> float:
        """Return the total reward of a rollout, scaled to [0, 1] from the range of the environment."""
        box, paid = self.box, self.run(seed, actions).total_reward
        return min(1.0, max(0.0, (paid - box.low) / (box.high - box.low))) if math.isfinite(paid) else 0.0

    def require_native_problems(self) -> None:
        """Check that the environment provides its own problems.

        Raises:
            Skipped: The adapter generates synthetic problems.
        """
        if self.box.synthetic:
            raise Skipped(f"the problems are synthetic; pass the environment's data set: {self.address}@FILE.jsonl")

    @contextmanager
    def catch_failures(self, seed: int, actions: Sequence[str] = ()) -> Iterator[None]:
        """Convert every exception of the environment into `CheckFailed` with a snippet that reproduces it."""
        try:
            yield
        except (CheckFailed, Skipped):
            raise
        except (Exception, SystemExit) as error:
            raise self.failure(seed, describe_exception(error)[:300], actions) from error

    def failure(
        self, seed: int, message: str, actions: Sequence[str] = (), metrics: dict[str, float] | None = None
    ) -> CheckFailed:
        """Return a failure of the problem with this seed after the given actions."""
        replay = Replay(
            scenario=f"{self.address}/0/{seed}", actions=tuple(a.encode(errors="replace").decode() for a in actions)
        )
        return CheckFailed(f"seed {seed}: {message}", self.snippet(seed, actions), metrics, replay=replay)

    def snippet(self, seed: int | None, actions: Sequence[str] = ()) -> str:
        """Return code that takes the actions in a problem and prints the results."""
        lines = ["from trace_gym.validation.third_party import open_box", "", f"box = open_box({self.address!r})"]
        lines += [f"print(box.begin({seed}))"] if seed is not None else []
        if len(actions) > 2 and len(set(actions)) == 1:
            lines += [f"for _ in range({len(actions)}):", f"    print(box.act({python_source(actions[0])}))"]
        else:
            lines += [f"print(box.act({python_source(a)}))" for a in actions]
        return "\n".join(lines) + "\n"


def python_source(text: str) -> str:
    """Return a Python expression for a text. A repetition of a short piece is written like ``'ab' * 100``."""
    if len(text) > 300:
        for width in range(1, 12):
            if len(text) % width == 0 and text == text[:width] * (len(text) // width):
                return f"{text[:width]!r} * {len(text) // width}"
    return repr(text)


def quoted(text: str, most: int = 60) -> str:
    """Return a shortened quotation of a text."""
    return repr(text if len(text) <= most else f"{text[: most - 1]}…")
