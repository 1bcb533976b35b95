"""Context of a validation: profiles, the user's inputs, cached rollouts of one environment, and failure snippets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from trace_gym.episode import Episode, interface_of
from trace_gym.errors import EnvBug
from trace_gym.score import reward
from trace_gym.types import Call, Interface, Replay, Say, Scenario
from trace_gym.validation.interventions import Variant, consequential_variants
from trace_gym.validation.properties import CheckFailed, describe_exception
from trace_gym.validation.repeat_snippets import episode_snippet
from trace_gym.world import Step, World, plan_of

ExpertName = Literal["oracle", "ablated"]


@dataclass(frozen=True, slots=True)
class Profile:
    """Sample sizes and limits of a validation."""

    name: str
    seeds_per_level: int
    examples: int
    """Number of call sequences that Hypothesis generates per property."""
    processes: int
    """Number of fresh processes, each with a different hash seed and time zone. The minimum is two, because one of the
    hash seeds may equal that of the current process."""
    writes: int
    """Number of random writes per scenario."""
    solver_scenarios: int
    """Number of scenarios per level that the solver gets (TG215)."""
    separate_processes: bool
    """True if some rollouts also run in separate processes, which take seconds to start."""


PROFILES = {
    "quick": Profile(
        "quick", seeds_per_level=3, examples=15, processes=2, writes=4, solver_scenarios=1, separate_processes=False
    ),
    "gate": Profile(
        "gate", seeds_per_level=25, examples=150, processes=3, writes=12, solver_scenarios=2, separate_processes=True
    ),
}


@dataclass(frozen=True, slots=True)
class ValidationInputs:
    """Optional inputs of a validation. Properties that require a missing input are skipped."""

    policy: str = ""
    """Policy that will be trained: ``openai:MODEL``, ``hf:MODEL``, or ``rollouts:FILE`` with recorded rewards."""
    recordings: tuple[str, ...] = ()
    """Files with recorded episodes of the target, whose calls are replayed."""
    against: tuple[str, ...] = ()
    """Files with test tasks of the target. The environment must not contain these tasks."""


NO_INPUTS = ValidationInputs()


@dataclass
class Context:
    """Context of the validation of one world. Plans and rollouts are cached, because several properties use them."""

    world: type[World]
    reference: str
    """Location from which a fresh process loads the class: the path of its module, or ``module:name``."""
    profile: Profile
    inputs: ValidationInputs = NO_INPUTS
    _plans: dict[tuple[str, ExpertName], list[Step]] = field(default_factory=dict)
    _episodes: dict[tuple[str, ExpertName, int], Episode] = field(default_factory=dict)
    _variants: dict[str, list[Variant]] = field(default_factory=dict)

    @property
    def interface(self) -> Interface:
        return interface_of(self.world)

    def begin(self, scenario: Scenario) -> Episode:
        """Start and return a new episode."""
        with self.catch_failures(scenario):
            return Episode(self.world, scenario)

    def plan(self, scenario: Scenario, expert: ExpertName) -> list[Step]:
        """Return an expert's steps, truncated to one step more than the turn limit."""
        key = (str(scenario), expert)
        if key not in self._plans:
            with self.catch_failures(scenario, tail=f"print(list(episode.start.{expert}()))"):
                episode = Episode(self.world, scenario)
                steps = list(islice(plan_of(episode.start, expert), self.world.max_turns + 1))
                if wrong := [s for s in steps if not isinstance(s, (Call, Say))]:
                    raise TypeError(
                        f"the method {expert}() returned an invalid step: found {wrong[0]!r}, expected a Call or a Say"
                    )
            self._plans[key] = steps
        return self._plans[key]

    def expert(self, scenario: Scenario, expert: ExpertName, steps: int | None = None) -> Episode:
        """Return the finished episode of an expert's plan, or of the first `steps` steps of the plan.

        The episode is cached and must not be stepped.
        """
        plan = self.plan(scenario, expert)
        key = (str(scenario), expert, len(plan) if steps is None else steps)
        if key not in self._episodes:
            self._episodes[key] = self.run(scenario, plan[: key[2]])
        return self._episodes[key]

    def variants(self, scenario: Scenario) -> list[Variant]:
        """Return variants of a scenario in which one random draw, and therefore the oracle's plan, is different.

        The variants are cached, and their episodes must not be stepped.
        """
        plan = self.plan(scenario, "oracle")
        if str(scenario) not in self._variants:
            with self.catch_failures(scenario):
                self._variants[str(scenario)] = consequential_variants(self.world, scenario, plan)
        return self._variants[str(scenario)]

    def run(self, scenario: Scenario, actions: Sequence[Any]) -> Episode:
        """Take the actions until the episode is done, finish the episode and return it."""
        with self.catch_failures(scenario, actions):
            episode = Episode(self.world, scenario)
            for action in actions:
                if episode.done:
                    break
                episode.step(action)
            episode.finish()
            return episode

    @contextmanager
    def catch_failures(self, scenario: Scenario, actions: Sequence[Any] = (), tail: str = "") -> Iterator[None]:
        """Convert every exception of the environment into `CheckFailed` with a snippet that reproduces it."""
        try:
            yield
        except CheckFailed:
            raise
        except (Exception, SystemExit) as error:
            cause = str(error) if isinstance(error, EnvBug) else f"{scenario}: {describe_exception(error)}"
            raise CheckFailed(
                cause, self.snippet(scenario, actions, tail), replay=_replay(scenario, actions)
            ) from error

    def failure(self, scenario: Scenario, message: str, actions: Sequence[Any] = (), tail: str = "") -> CheckFailed:
        """Return a failure of a scenario after the given actions.

        Args:
            scenario: The scenario.
            message: Description of the failure.
            actions: Actions that reproduce the failure.
            tail: Last line of the snippet.
        """
        text = f"{scenario}: {message}"
        return CheckFailed(text, self.snippet(scenario, actions, tail), replay=_replay(scenario, actions))

    def snippet(self, scenario: Scenario, actions: Sequence[Any] = (), tail: str = "") -> str:
        """Return code that takes the actions in a scenario and prints the results."""
        return episode_snippet(self.reference, str(scenario), actions, tail)


def episode_reward(episode: Episode) -> float:
    """Return the reward of a finished episode with the default weights."""
    return reward(episode.finish())


def _replay(scenario: Scenario, actions: Sequence[Any]) -> Replay:
    return Replay(scenario=str(scenario), actions=tuple(map(_to_json, actions)))


def _to_json(action: Any) -> Any:
    """Return an action as JSON data.

    Values that JSON does not support become text, and lone surrogates become question marks.
    """
    match action:
        case Call(tool, arguments):
            action = {"tool": tool, "arguments": arguments}
        case Say(text):
            action = {"say": text}
    encoded = json.dumps(action, default=repr, ensure_ascii=False).encode(errors="replace")
    return json.loads(encoded, parse_constant=str)  # NaN is not valid JSON
