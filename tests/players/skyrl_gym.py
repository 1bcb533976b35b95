"""skyrl-gym, through `skyrl_gym.make` with a row of a data set, as SkyRL's generator makes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from players import text_of
from trace_gym import registry
from trace_gym.episode import Action
from trace_gym.types import Message, Scenario


class Session:
    def __init__(self, env: Any, prompt: list[Message]) -> None:
        self.env, self.done, self.paid = env, False, 0.0
        self.messages, _ = env.init(prompt)

    @property
    def tools(self) -> list[Message]:
        """Read from the system message, where the model reads them."""
        _, _, listed = self.messages[0]["content"].partition("<tools>\n")
        return [json.loads(line) for line in listed.partition("\n</tools>")[0].splitlines()]

    def act(self, action: Action) -> list[str]:
        answer = self.env.step(text_of(action))
        self.paid, self.done = self.paid + answer["reward"], answer["done"]
        return [m["content"] for m in answer["observations"]]

    def reward(self) -> float | None:
        return self.paid


class SkyrlGym:
    name, talks = "skyrl-gym", True

    @contextmanager
    def open(self, scenario: Scenario) -> Iterator[Session]:
        import skyrl_gym

        from trace_gym.adapters.skyrl import opening_of, register_all

        env_id = registry.gym_id(scenario.env)
        if env_id not in skyrl_gym.registry:  # of a folder that was added since
            register_all()
        env = skyrl_gym.make(env_id, extras={"scenario": str(scenario), "max_turns": 100})
        yield Session(env, opening_of(scenario))
        env.close()


PLAYERS: list[SkyrlGym] = [SkyrlGym()] if find_spec("skyrl_gym") else []
MISSING = "" if PLAYERS else "pip install 'trace-gym[skyrl-gym]': skyrl-gym is not installed"
