"""TRL in both modes of the adapter, one rollout at a time; `test_trl` plays whole batches through the trainer."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from tempfile import mkdtemp
from typing import Any

from players import text_of
from trace_gym import registry
from trace_gym.adapters import trl
from trace_gym.adapters.trl.environment import TrlEnvironment, environment_class
from trace_gym.adapters.trl.rollout_function import TokenConversation
from trace_gym.episode import Action
from trace_gym.policies.chat import Chat
from trace_gym.types import Call, Message, Scenario

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")  # a warning, and so an error


@cache
def speaker() -> Any:
    """A tokenizer that shows tools as JSON."""
    from tiny_model import tiny_tokenizer

    return trl.read_hermes(tiny_tokenizer())


@cache
def trainer(envs: tuple[str, ...]) -> Any:
    """A real trainer in simple mode."""
    from tiny_model import tiny_model

    library: Any = import_module("trl")
    made = library.GRPOTrainer(
        model=tiny_model(len(speaker()), layers=1),
        processing_class=speaker(),
        args=library.GRPOConfig(output_dir=mkdtemp(), use_cpu=True, bf16=False, report_to="none"),
        train_dataset=trl.dataset(envs[0], n=1),
        environment_factory={env: trl.tool_class(env) for env in envs},
    )
    trl.exact_schemas(made)
    return made


class SimpleSession:
    """Does with a call what the trainer's loop does: looks the method up, and turns an exception into an answer."""

    def __init__(self, environment: TrlEnvironment, scenario: Scenario) -> None:
        environment.reset(scenario=str(scenario))
        self.environment, self.done, self.env = environment, False, scenario.env
        found = inspect.getmembers(type(environment), predicate=inspect.isfunction)
        self.methods = {
            name: getattr(environment, name)
            for name, _ in found
            if name not in ("reset", "get_reward") and not name.startswith("_")
        }

    @property
    def tools(self) -> list[Message]:
        return list(trainer(tuple(registry.list_environments()))._env_tools[self.env])

    def act(self, action: Action) -> list[str]:
        if not isinstance(action, Call):
            self.done = True
            return []
        try:
            return [str(self.methods[action.tool](**action.arguments))]
        except Exception as error:
            return [str({"error": str(error)})]

    def reward(self) -> float | None:
        return self.environment.get_reward()


class Simple:
    name, talks = "trl-simple", False
    ugly: tuple[str, ...] = ()
    """TRL itself takes what it cannot read for a last word, and answers the call of an unknown tool."""

    @contextmanager
    def open(self, scenario: Scenario) -> Iterator[SimpleSession]:
        yield SimpleSession(trl.tool_class(scenario.env)(), scenario)


class FullSession:
    """Speaks tokens, and reads what a model would."""

    def __init__(self, environment: TrlEnvironment, scenario: Scenario) -> None:
        environment.reset(scenario=str(scenario))
        assert environment.episode is not None
        self.episode, chat = environment.episode, Chat(speaker())
        prompt = chat.opening(self.episode.messages, environment._schemas)
        self.talk = TokenConversation(environment, chat, prompt, token_budget=10**9, ends={chat.eos})

    @property
    def tools(self) -> list[Message]:
        _, _, listed = speaker().decode(self.talk.prompt).partition("<tools>\n")
        return [json.loads(line) for line in listed.partition("\n</tools>")[0].splitlines()]

    @property
    def done(self) -> bool:
        return self.talk.over

    def act(self, action: Action) -> list[str]:
        if self.talk.over:
            return [m["content"] for m in self.talk.environment._take(text_of(action))]
        known, before = len(self.episode.messages), len(self.talk.ids)
        turn = speaker()(text_of(action), add_special_tokens=False)["input_ids"]
        self.talk.take([*turn, speaker().eos_token_id])
        answers = [m["content"] for m in self.episode.messages[known + 1 :]]
        if not self.talk.over:
            read = speaker().decode(self.talk.ids[before + len(turn) :])
            assert all(answer in read for answer in answers)
        return answers

    def reward(self) -> float | None:
        return self.talk.environment.get_reward()


class Full:
    name, talks = "trl-full", True
    ugly = ("", "<tool_call>{", '<tool_call>{"name": "rm", "arguments": {}}</tool_call>', "\x00", "x" * 100_000)
    """No tokens stand for half a surrogate pair."""

    @contextmanager
    def open(self, scenario: Scenario) -> Iterator[FullSession]:
        yield FullSession(environment_class(scenario.env)(), scenario)


PLAYERS: list[Simple | Full] = [Simple(), Full()] if find_spec("trl") and find_spec("datasets") else []
MISSING = "" if PLAYERS else "pip install 'trace-gym[trl]': trl or datasets is not installed"
