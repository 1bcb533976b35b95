"""Gymnasium, through `gymnasium.make`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium

from players import text_of
from trace_gym import registry
from trace_gym.episode import Action
from trace_gym.types import Message, Scenario


class Session:
    def __init__(self, env: gymnasium.Env[str, Any], scenario: Scenario) -> None:
        self.env, self.done, self.paid = env, False, 0.0
        _, self.info = env.reset(options={"scenario": str(scenario)})

    @property
    def tools(self) -> list[Message]:
        return list(self.info["tools"])

    def act(self, action: Action) -> list[str]:
        known = len(self.info["messages"])
        observation, paid, ended, cut, self.info = self.env.step(text_of(action))
        self.paid, was_done, self.done = self.paid + paid, self.done, ended or cut
        return [observation] if was_done else [m["content"] for m in self.info["messages"][known + 1 :]]

    def reward(self) -> float | None:
        return self.paid


class Gymnasium:
    name, talks = "gymnasium", True

    @contextmanager
    def open(self, scenario: Scenario) -> Iterator[Session]:
        env = gymnasium.make(registry.gym_id(scenario.env))
        yield Session(env, scenario)
        env.close()


PLAYERS = [Gymnasium()]
