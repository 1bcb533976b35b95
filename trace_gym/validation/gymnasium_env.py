"""Gymnasium adapter that the validation uses for worlds, including worlds that are not registered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import VectorEnv

from trace_gym.adapters.gymnasium import TraceEnv, Turns, UnicodeText
from trace_gym.chat_formats import FORMATS
from trace_gym.environment import Environment
from trace_gym.episode import Episode
from trace_gym.types import Call, Message, Scenario
from trace_gym.validation.expert_plans import FILLER_MESSAGE
from trace_gym.validation.source import load
from trace_gym.world import Step, World

STYLE = "hermes"

StepResult = list[Any]
"""Result of one step: observation, reward, terminated, truncated, messages and success."""


class WorldEnv(TraceEnv):
    """Gymnasium environment for one level of a world. The world does not need to be registered.

    Args:
        world: Path of the world's module, or ``module:class``.
        level: Level of every task.
        render_mode: Render mode, as for `TraceEnv`.
    """

    def __init__(self, world: str, level: int = 0, render_mode: str | None = None) -> None:
        self.world, _ = load(world)
        self.environment = Environment(self.world.id, len(self.world.levels), {self.world.id: self.world})
        self.level, self.render_mode = level, render_mode
        self.split, self.weights, self.style = "train", "default", STYLE
        self.observation_space = UnicodeText(2**20)
        self.action_space = Turns(self.environment.tools, STYLE)
        self._episode, self._scenario = None, None
        self._tools: list[Message] = []
        self._pickled: dict[str, bytes] = {}

    def _begin(self, scenario: Scenario) -> Episode:
        return self.environment.start(scenario, share_start=False)


def spec_of(world: type[World], level: int) -> EnvSpec:
    """Return the Gymnasium spec of one level of a world. It is valid in every process that can import the world."""
    return EnvSpec(
        id=f"trace/{world.id.replace('_', '-')}-v0",
        entry_point=f"{__name__}:WorldEnv",
        kwargs={"world": load(world)[1], "level": level},
    )


def as_text(steps: Sequence[Step]) -> list[str]:
    """Return an expert's steps as text in the form of model output."""
    return [FORMATS[STYLE].render(s) if isinstance(s, Call) else s.text for s in steps]


def step_results(env: gymnasium.Env[Any, Any], seed: int, turns: Sequence[str]) -> list[StepResult]:
    """Reset an environment to the task `seed`, take the turns and return the results up to the end of the episode."""
    observation, info = env.reset(seed=seed)
    results = [_row(observation, 0.0, False, False, info)]
    for turn in turns:
        if results[-1][2] or results[-1][3]:
            break
        results.append(_row(*env.step(turn)))
    return results


def vector_results(
    envs: VectorEnv[Any, Any, Any], seeds: Sequence[int], plans: Sequence[Sequence[str]]
) -> list[list[StepResult]]:
    """Return the results of every environment of a vector, without the steps after the end of an episode."""
    observations, infos = envs.reset(seed=list(seeds))  # type: ignore[arg-type]  # the annotation of the base class excludes lists
    results = [[_row(o, 0.0, False, False, _nth(infos, n))] for n, o in enumerate(observations)]
    for turn in range(max(map(len, plans))):
        actions = tuple(plan[turn] if turn < len(plan) else FILLER_MESSAGE for plan in plans)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        for n, own in enumerate(results):
            if turn < len(plans[n]) and not (own[-1][2] or own[-1][3]):
                own.append(_row(observations[n], rewards[n], terminated[n], truncated[n], _nth(infos, n)))
    return results


def _row(observation: str, rewards: Any, terminated: Any, truncated: Any, info: dict[str, Any]) -> StepResult:
    return [observation, float(rewards), bool(terminated), bool(truncated), info["messages"], info.get("success")]


def _nth(infos: dict[str, Any], n: int) -> dict[str, Any]:
    """Return the info of environment `n` from the info of a vector, in which ``_key`` is the mask array of ``key``."""
    own = {k: v[n] for k, v in infos.items() if not k.startswith("_") and k in ("messages", "success")}
    return {k: bool(v) if k == "success" else v for k, v in own.items() if infos.get(f"_{k}", [True] * (n + 1))[n]}
