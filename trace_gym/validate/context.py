"""What a property may use: episodes, plans and plays of one environment, and the snippet that shows a failure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from typing import Any, Literal

from trace_gym.episode import Episode, interface_of
from trace_gym.errors import EnvBug
from trace_gym.score import reward
from trace_gym.types import Call, Interface, Replay, Say, Scenario
from trace_gym.validate.properties import Broken, raised
from trace_gym.world import Step, World, plan_of

Expert = Literal["oracle", "ablated"]


@dataclass(frozen=True, slots=True)
class Profile:
    """How much a validation tries."""

    name: str
    seeds_per_level: int
    examples: int
    """Sequences of calls that Hypothesis draws for each of its properties."""
    processes: int
    """Fresh processes, each under another hash seed and time zone; with one, the verdict would hang on our own seed."""
    writes: int
    """Random writes tried after each success."""
    apart: bool
    """Whether attempts are also played in processes of their own, which take seconds to start."""


PROFILES = {
    "quick": Profile("quick", seeds_per_level=3, examples=15, processes=2, writes=4, apart=False),
    "gate": Profile("gate", seeds_per_level=25, examples=150, processes=3, writes=12, apart=True),
}


@dataclass(frozen=True, slots=True)
class Given:
    """What the user names besides the environment; properties that need what is not given do not apply."""

    policy: str = ""
    """Whose rewards are to spread: ``openai:MODEL``, ``hf:FOLDER``, or ``rollouts:FILE``."""
    recordings: tuple[str, ...] = ()
    """Files with recorded episodes of the target, whose calls are replayed."""
    against: tuple[str, ...] = ()
    """Files with tasks that the agent will be tested on, which must not occur here."""


NOTHING = Given()


@dataclass
class Context:
    """One validation of one world. Plans and plays are kept, as several properties look at the same ones."""

    world: type[World]
    reference: str
    """How a fresh process finds the class: the path of its module, or ``module:name``."""
    profile: Profile
    given: Given = NOTHING
    _plans: dict[tuple[str, Expert], list[Step]] = field(default_factory=dict)
    _plays: dict[tuple[str, Expert, int], Episode] = field(default_factory=dict)

    @property
    def interface(self) -> Interface:
        return interface_of(self.world)

    def begin(self, scenario: Scenario) -> Episode:
        """A fresh episode."""
        with self.blame(scenario):
            return Episode(self.world, scenario)

    def plan(self, scenario: Scenario, expert: Expert) -> list[Step]:
        """An expert's steps, at most one more than there are turns."""
        key = (str(scenario), expert)
        if key not in self._plans:
            with self.blame(scenario, tail=f"print(list(episode.start.{expert}()))"):
                begun = Episode(self.world, scenario)
                steps = list(islice(plan_of(begun.start, expert), self.world.max_turns + 1))
                if wrong := [s for s in steps if not isinstance(s, (Call, Say))]:
                    raise TypeError(f"the {expert} takes the step {wrong[0]!r}; expected a Call or a Say")
            self._plans[key] = steps
        return self._plans[key]

    def expert(self, scenario: Scenario, expert: Expert, steps: int | None = None) -> Episode:
        """The finished episode of an expert's plan, or of its first `steps`. It is shared: do not step it."""
        plan = self.plan(scenario, expert)
        key = (str(scenario), expert, len(plan) if steps is None else steps)
        if key not in self._plays:
            self._plays[key] = self.play(scenario, plan[: key[2]])
        return self._plays[key]

    def play(self, scenario: Scenario, actions: Sequence[Any]) -> Episode:
        """Take `actions` until the episode is over, and finish it."""
        with self.blame(scenario, actions):
            episode = Episode(self.world, scenario)
            for action in actions:
                if episode.done:
                    break
                episode.step(action)
            episode.finish()
            return episode

    @contextmanager
    def blame(self, scenario: Scenario, actions: Sequence[Any] = (), tail: str = "") -> Iterator[None]:
        """Turn whatever the environment raises into `Broken`, with the snippet that repeats it."""
        try:
            yield
        except Broken:
            raise
        except (Exception, SystemExit) as error:
            cause = str(error) if isinstance(error, EnvBug) else f"{scenario}: {raised(error)}"
            raise Broken(cause, self.snippet(scenario, actions, tail), replay=_replay(scenario, actions)) from error

    def broken(self, scenario: Scenario, says: str, actions: Sequence[Any] = (), tail: str = "") -> Broken:
        """A failure at a scenario, after some actions; `tail` is the snippet's last line."""
        told = f"{scenario}: {says}"
        return Broken(told, self.snippet(scenario, actions, tail), replay=_replay(scenario, actions))

    def snippet(self, scenario: Scenario, actions: Sequence[Any] = (), tail: str = "") -> str:
        """Code that takes `actions` in a scenario of this environment and prints what comes of it."""
        names = sorted({type(a).__name__ for a in actions if isinstance(a, (Call, Say))})
        lines = [f"from trace_gym.types import {', '.join(names)}"] if names else []
        lines += ["from trace_gym.validate import begin", ""]
        lines += [f"episode = begin({self.reference!r}, {str(scenario)!r})"]
        lines += [f"print(episode.step({_source(a)}))" for a in actions]
        return "\n".join([*lines, tail or "print(episode.finish())"]) + "\n"


def worth(episode: Episode) -> float:
    """The reward of a finished episode under the default weights."""
    return reward(episode.finish())


def _replay(scenario: Scenario, actions: Sequence[Any]) -> Replay:
    return Replay(scenario=str(scenario), actions=tuple(map(_plain, actions)))


def _plain(action: Any) -> Any:
    """An action as JSON; what JSON does not know stands there as text, and a question mark for half a letter."""
    match action:
        case Call(tool, arguments):
            action = {"tool": tool, "arguments": arguments}
        case Say(text):
            action = {"say": text}
    told = json.dumps(action, default=repr, ensure_ascii=False).encode(errors="replace")
    return json.loads(told, parse_constant=str)  # NaN is no JSON


def _source(action: Any) -> str:
    """Python source of an action; a megabyte of one letter is written as a product."""
    match action:
        case str() if len(action) > 200 and len(set(action)) == 1:
            return f"{action[0]!r} * {len(action)}"
        case Say(text):
            return f"Say({_source(text)})"
        case Call(tool, arguments):
            return f"Call({_source(tool)}, {_source(arguments)})"
        case dict():
            return "{" + ", ".join(f"{k!r}: {_source(v)}" for k, v in action.items()) + "}"
        case list():
            return "[" + ", ".join(map(_source, action)) + "]"
        case float() if not isfinite(action):
            return f"float({str(action)!r})"
    return repr(action)
