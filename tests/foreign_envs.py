"""Tiny Gymnasium environments as strangers write them: a healthy one of one turn, one of two, and one fault each."""

from __future__ import annotations

import time
from random import Random
from typing import Any

import gymnasium
from gymnasium.spaces import Text

from trace_gym.adapters.gymnasium import UnicodeText

LETTERS = "bcdfghjklmnpqrstvwxz"

Step = tuple[str, float, bool, bool, dict[str, Any]]


class Backwards(gymnasium.Env[str, str]):
    """Spell a word backwards; half of it is paid half."""

    metadata: dict[str, Any] = {"render_modes": []}
    turns = 1

    def __init__(self) -> None:
        self.observation_space, self.action_space = UnicodeText(1000), UnicodeText(10**7)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.problem(seed if seed is not None else int(self.np_random.integers(2**31)))
        self.left = self.turns
        return self.prompt(), {}

    def problem(self, seed: int) -> None:
        self.word = self.draw(Random(f"backwards/{seed}"))

    def draw(self, rng: Random) -> str:
        return "".join(rng.choice(LETTERS) for _ in range(6))

    def prompt(self) -> str:
        return f"Spell this word backwards, and say nothing else: {self.word}"

    def answer(self) -> str:
        return self.word[::-1]

    def paid(self, action: str) -> float:
        said, right = action.strip(), self.answer()
        return 1.0 if said == right else 0.5 if len(said) == 6 and said[:3] == right[:3] else 0.0

    def step(self, action: str) -> Step:
        self.left -= 1
        return "", self.paid(action), self.left <= 0, False, {}

    def solution(self, seed: int) -> list[str]:
        self.reset(seed=seed)
        return [self.answer()]


class Locker(Backwards):
    """Look up a code, then say it: two turns, all or nothing."""

    turns = 3

    def draw(self, rng: Random) -> str:
        return f"{rng.randrange(10_000):04d}"

    def problem(self, seed: int) -> None:
        super().problem(seed)
        self.number = seed

    def prompt(self) -> str:
        return f"Locker {self.number} is shut. Say look to read the note beside it, then say the code."

    def step(self, action: str) -> Step:
        self.left -= 1
        if action.strip() == "look":
            return f"The note says {self.word}.", self.look(), self.left <= 0, False, {}
        return "", float(action.strip() == self.word), True, False, {}

    def look(self) -> float:
        return 0.0

    def solution(self, seed: int) -> list[str]:
        self.reset(seed=seed)
        return ["look", self.word]


class Mute(Backwards):
    rejected_by = "TG001"

    def prompt(self) -> str:
        return " "


class CountsResets(Backwards):
    rejected_by = "TG101"
    resets = 0

    def problem(self, seed: int) -> None:
        super().problem(seed)
        self.resets += 1
        self.word = self.word[self.resets % 2 :] + self.word[: self.resets % 2]


class OrderOfSet(Backwards):
    rejected_by = "TG102"

    def draw(self, rng: Random) -> str:
        return "".join(sorted(super().draw(rng), key=lambda letter: (hash(letter * 3), letter)))


class OneProblem(Backwards):
    rejected_by = "TG103"

    def problem(self, seed: int) -> None:
        super().problem(0)


class EchoesOneProblem(OneProblem):
    def step(self, action: str) -> Step:
        return action, *super().step(action)[1:]


class SharedWord(Backwards):
    rejected_by = "TG105"
    shared = ""

    def problem(self, seed: int) -> None:
        super().problem(seed)
        SharedWord.shared = self.word

    def answer(self) -> str:
        return SharedWord.shared[::-1]


class WrongReference(Backwards):
    rejected_by = "TG201"

    def solution(self, seed: int) -> list[str]:
        [right] = super().solution(seed)
        return [right if seed % 3 else right.upper()]


class PaidForLooking(Locker):
    rejected_by = "TG203"

    def look(self) -> float:
        return 1.0


class CountsSpaces(Backwards):
    rejected_by = "TG207"

    def paid(self, action: str) -> float:
        return super().paid(action) if action == action.strip() else 0.0


class PaysIdlers(Backwards):
    rejected_by = "TG301"

    def paid(self, action: str) -> float:
        return max(super().paid(action), 0.05 if len(action) < 4 else 0.0)


class PaysForStaying(Locker):
    rejected_by = "TG301"

    def step(self, action: str) -> Step:
        if action.strip() in ("look", self.word):
            return super().step(action)
        self.left -= 1
        return "Yes?", 0.1 if self.left <= 0 else 0.0, self.left <= 0, False, {}


class PaysThrice(Backwards):
    rejected_by = "TG303"

    def paid(self, action: str) -> float:
        return 3 * super().paid(action)


class PaysNotANumber(Backwards):
    rejected_by = "TG303"

    def paid(self, action: str) -> float:
        return super().paid(action) if action else float("nan")


class Raises(Backwards):
    rejected_by = "TG402"

    def paid(self, action: str) -> float:
        return super().paid(action.encode().decode())  # a lone surrogate cannot be encoded


class Runs(Backwards):
    rejected_by = "TG402"

    def paid(self, action: str) -> float:
        try:
            return super().paid(eval(action))
        except BaseException:
            return super().paid(action)


class Hangs(Backwards):
    rejected_by = "TG402"

    def paid(self, action: str) -> float:
        while action.startswith("9**9"):
            time.sleep(0.01)
        return super().paid(action)


class NoFurther(Backwards):
    rejected_by = "TG405"

    def step(self, action: str) -> Step:
        assert self.left > 0, "it is over"
        return super().step(action)


class ReadsHalf(Backwards):
    rejected_by = "TG304"

    def paid(self, action: str) -> float:
        return float(action.strip()[:3] == self.answer()[:3])


class PaysHalfForAnything(Backwards):
    rejected_by = "TG501"

    def paid(self, action: str) -> float:
        return max(super().paid(action), 0.5)


class PaysEchoes(Backwards):
    rejected_by = "TG601"

    def paid(self, action: str) -> float:
        return 1.0 if self.word in action else super().paid(action)


class TellsTheAnswer(Backwards):
    rejected_by = "TG701"

    def prompt(self) -> str:
        return f"{super().prompt()} (that is, {self.answer()})"


class FewProblems(Backwards):
    rejected_by = "TG704"

    def problem(self, seed: int) -> None:
        super().problem(seed % 500)


class MostlyYes(Backwards):
    rejected_by = "TG804"

    def problem(self, seed: int) -> None:
        super().problem(seed)
        self.vowel = seed % 10 == 0

    def prompt(self) -> str:
        return f"Is there no vowel in {'a' * self.vowel}{self.word}? Yes or no."

    def answer(self) -> str:
        return "no" if self.vowel else "yes"


class TellsTheTime(Backwards):
    rejected_by = "TG901"

    def step(self, action: str) -> Step:
        return *super().step(action)[:4], {"at": time.perf_counter_ns()}


class SharedInVectors(SharedWord):
    rejected_by = "TG902"


class OutsideItsSpace(Backwards):
    rejected_by = "TG903"

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Text(20)


HEALTHY = (Backwards, Locker)
FAULTS = (
    Mute, CountsResets, OrderOfSet, OneProblem, EchoesOneProblem,
    SharedWord, WrongReference, PaidForLooking, CountsSpaces, PaysIdlers,
    PaysForStaying,
    PaysThrice, PaysNotANumber, Raises, Runs, Hangs, NoFurther, ReadsHalf, PaysHalfForAnything, PaysEchoes,
    TellsTheAnswer, FewProblems, MostlyYes, TellsTheTime, SharedInVectors, OutsideItsSpace,
)  # fmt: skip

for made in (*HEALTHY, *FAULTS):
    gymnasium.register(f"strangers/{made.__name__}-v0", entry_point=f"{__name__}:{made.__name__}", max_episode_steps=3)
