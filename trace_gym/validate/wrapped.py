"""Any world as a `gymnasium.Env`, admitted or not: the adapter, over a class instead of a name of the registry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import VectorEnv

from trace_gym.actions import FORMATS
from trace_gym.adapters.gymnasium import TraceEnv, Turns, UnicodeText
from trace_gym.episode import Episode, interface_of
from trace_gym.types import Call, Message, Scenario
from trace_gym.validate.attempts import UNTOLD
from trace_gym.validate.source import load
from trace_gym.world import Step, World

STYLE = "hermes"

Row = list[Any]
"""What one step returned: observation, reward, terminated, truncated, conversation, score."""


class WorldEnv(TraceEnv):
    """One level of a world that need not be registered; all but the look-up by name is the adapter's.

    Args:
        world: Path of its module, or ``module:name``.
        level: The level of every task.
        render_mode: As for `TraceEnv`.
    """

    def __init__(self, world: str, level: int = 0, render_mode: str | None = None) -> None:
        self.world, _ = load(world)
        self.name, self.level, self.render_mode = self.world.id, level, render_mode
        self.split, self.weights, self.style = "train", "default", STYLE
        self.observation_space = UnicodeText(2**20)
        self.action_space = Turns({t["function"]["name"]: t for t in interface_of(self.world).tools}, STYLE)
        self._episode, self._scenario = None, None
        self._tools: list[Message] = []
        self._pickled: dict[str, bytes] = {}

    def _begin(self, scenario: Scenario) -> Episode:
        return Episode(self.world, scenario)


def spec_of(world: type[World], level: int) -> EnvSpec:
    """What makes an environment of one level, here or wherever the world can be imported."""
    return EnvSpec(
        id=f"trace/{world.id.replace('_', '-')}-v0",
        entry_point=f"{__name__}:WorldEnv",
        kwargs={"world": load(world)[1], "level": level},
    )


def as_text(steps: Sequence[Step]) -> list[str]:
    """An expert's steps as a model would write them."""
    return [FORMATS[STYLE].render(s) if isinstance(s, Call) else s.text for s in steps]


def rows(env: gymnasium.Env[Any, Any], seed: int, turns: Sequence[str]) -> list[Row]:
    """What an environment returns for the task `seed` and these turns, up to the end of the episode."""
    observation, info = env.reset(seed=seed)
    made = [_row(observation, 0.0, False, False, info)]
    for turn in turns:
        if made[-1][2] or made[-1][3]:
            break
        made.append(_row(*env.step(turn)))
    return made


def side_by_side(
    envs: VectorEnv[Any, Any, Any], seeds: Sequence[int], plans: Sequence[Sequence[str]]
) -> list[list[Row]]:
    """The same of every environment of a vector; what comes after an episode's end is left out."""
    observations, infos = envs.reset(seed=list(seeds))  # type: ignore[arg-type]  # the base class forgets lists
    made = [[_row(o, 0.0, False, False, _nth(infos, n))] for n, o in enumerate(observations)]
    for turn in range(max(map(len, plans))):
        told = tuple(plan[turn] if turn < len(plan) else UNTOLD for plan in plans)
        observations, paid, terminated, truncated, infos = envs.step(told)
        for n, own in enumerate(made):
            if turn < len(plans[n]) and not (own[-1][2] or own[-1][3]):
                own.append(_row(observations[n], paid[n], terminated[n], truncated[n], _nth(infos, n)))
    return made


def _row(observation: str, paid: Any, terminated: Any, truncated: Any, info: dict[str, Any]) -> Row:
    return [observation, float(paid), bool(terminated), bool(truncated), info["messages"], info.get("success")]


def _nth(infos: dict[str, Any], n: int) -> dict[str, Any]:
    """One environment's share of a vector's info; ``_key`` says for which of them ``key`` is there."""
    own = {k: v[n] for k, v in infos.items() if not k.startswith("_") and k in ("messages", "success")}
    return {k: bool(v) if k == "success" else v for k, v in own.items() if infos.get(f"_{k}", [True] * (n + 1))[n]}
