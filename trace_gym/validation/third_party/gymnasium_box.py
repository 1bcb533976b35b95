"""Adapter for Gymnasium environments with text actions and text observations."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, ClassVar

import gymnasium

from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.validation.third_party.black_box import BlackBox, TurnResponse, solution_turns
from trace_gym.validation.third_party.uri import SEARCHED, EnvironmentURI, creation_error

STEPS = 30
"""Turn limit of environments that do not declare a limit."""


class GymBox(BlackBox):
    """Gymnasium environment ``gym:module:id``. Options are passed to `gymnasium.make`.

    An observation is text or a list of chat messages. If the unwrapped environment has a method ``solution(seed)`` that
    returns a text or a list of turns, its result is the reference solution. For native environments, the oracle
    provides the reference solution.
    """

    kind: ClassVar[str] = "a Gymnasium environment"

    def __init__(self, address: EnvironmentURI) -> None:
        import trace_gym  # noqa: F401  # registers ours

        self.options = dict(address.options)
        try:
            with no_warnings():
                self.env: gymnasium.Env[Any, Any] = gymnasium.make(address.name, **self.options)
        except ModuleNotFoundError as error:
            raise EnvNotFound(
                f"{address.name}: {str(error).partition('. ')[0]}; expected module:id. {SEARCHED}"
            ) from None
        except gymnasium.error.UnregisteredEnv as error:
            raise EnvNotFound(
                f"{address.name}: {error}; expected module:id, with the module that registers the id"
            ) from None
        except Exception as error:
            raise creation_error(address.name, error) from error
        spec = self.env.spec
        self.limit = (spec and spec.max_episode_steps) or STEPS
        low, high = getattr(self.env.unwrapped, "reward_range", (0.0, 1.0))
        if abs(low) != float("inf") and abs(high) != float("inf"):
            self.low, self.high = float(low), float(high)

    def begin(self, seed: int) -> str:
        with no_warnings():
            observation, self.info = self.env.reset(seed=seed)
        return as_text(observation)

    def act(self, text: str) -> TurnResponse:
        with no_warnings():
            observation, reward, terminated, truncated, _ = self.env.step(text)
        return TurnResponse(as_text(observation), float(reward), bool(terminated or truncated))

    def solution(self, seed: int) -> list[str] | None:
        if callable(made := getattr(self.env.unwrapped, "solution", None)):
            return solution_turns(made(seed), f"solution({seed}) of {type(self.env.unwrapped).__name__}")
        self.begin(seed)
        return _oracle(self.env.unwrapped, self.info)

    @property
    def missing_reference(self) -> str:  # type: ignore[override]
        """Message if no problem has a reference solution."""
        if callable(getattr(self.env.unwrapped, "solution", None)):
            return "the method `solution(seed)` returns None; let it return a text or a list of texts"
        return "this environment has no method `solution(seed)`; add one that returns a text or a list of texts"

    def sample(self, rng: Random, prompt: str) -> str:
        space = self.env.action_space
        space.seed(rng.randrange(2**31))
        drawn = space.sample()
        return drawn if isinstance(drawn, str) else super().sample(rng, prompt)

    def close(self) -> None:
        self.env.close()


@contextmanager
def no_warnings() -> Iterator[None]:
    """Suppress warnings within the context. Property TG901 reports the warnings of Gymnasium."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def as_text(observation: Any) -> str:
    """Return an observation as text.

    Raises:
        ConfigError: The observation is neither text nor a list of chat messages.
    """
    match observation:
        case str():
            return observation
        case list() | tuple() if all(isinstance(m, dict) and "content" in m for m in observation):
            return "\n\n".join(f"{m.get('role', '')}: {m['content']}" for m in observation)
    raise ConfigError(
        f"invalid observation: found {type(observation).__name__}, expected text or a list of chat messages. "
        "trace_gym validates environments for language models, whose observations and actions are texts"
    )


def _oracle(env: Any, info: dict[str, Any]) -> list[str] | None:
    """Return the oracle's plan as text turns for an environment of this library, else None."""
    from trace_gym import registry
    from trace_gym.chat_formats import FORMATS
    from trace_gym.errors import TraceGymError
    from trace_gym.types import Call, Scenario

    style = getattr(env, "style", None)
    if style not in FORMATS or not {"scenario", "tools"} <= info.keys():
        return None
    try:
        start = registry.start_episode(Scenario.parse(info["scenario"]), style=style).start
    except TraceGymError:
        return None
    return [FORMATS[style].render(step) if isinstance(step, Call) else step.text for step in start.oracle()]
