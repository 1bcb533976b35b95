"""Backend for environments of verifiers 0.3, which have a data set, a rubric, and their own rollouts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from trace_gym.errors import ConfigError
from trace_gym.validation.third_party.scripted_rollout import Ask, RolloutOutcome, as_tool_call, new_text
from trace_gym.validation.third_party.uri import EnvironmentURI

MAX_TURNS = 8
"""Turn limit of an environment that does not declare one."""


class LegacyBackend:
    """Environment that the function ``load_environment`` of a module returns."""

    def __init__(self, address: EnvironmentURI, options: Mapping[str, Any]) -> None:
        library: Any = import_module("verifiers")
        import_module("datasets").disable_progress_bars()  # every worker process would print them
        self._env: Any = library.load_environment(address.name, **options)
        rubrics = list(_rubrics(self._env.rubric))
        if any(isinstance(rubric, library.JudgeRubric) for rubric in rubrics):
            raise ConfigError(
                f"{address.text} has a reward that a language model computes, which the validation cannot test. Remove "
                "the JudgeRubric, for example with an option of the environment"
            )
        if any(getattr(rubric, "has_group_rewards", False) for rubric in rubrics):
            raise ConfigError(
                f"{address.text} has a reward that is computed for a group of rollouts, but the validation runs single "
                "rollouts. Use an option of the environment to select rewards for single rollouts"
            )
        self._rows: Any = _dataset(self._env)
        self.problems: int | None = len(self._rows)
        turns = int(getattr(self._env, "max_turns", -1))
        self.limit = turns if turns > 0 else MAX_TURNS
        weights = [float(weight) for rubric in rubrics for weight in getattr(rubric, "weights", ())]
        self.low = sum(weight for weight in weights if weight < 0)
        self.high = sum(weight for weight in weights if weight > 0) or 1.0

    def fields(self, seed: int) -> Mapping[str, Any]:
        """Return the row of a problem."""
        row: Mapping[str, Any] = self._rows[seed]
        return row

    async def rollout(self, seed: int, limit: int, ask: Ask) -> RolloutOutcome:
        """Run the rollout of a row in the environment."""
        for env in (self._env, *getattr(self._env, "envs", ())):
            if hasattr(env, "max_turns"):
                env.max_turns = min(limit, env.max_turns) if env.max_turns > 0 else limit
        client, row = _client_class()(ask), dict(self._rows[seed])
        output = await self._env.run_rollout(row, client, "scripted", {}, state_columns=["error"])
        if output.get("error"):
            raise RuntimeError(f"the rollout failed: {output['error']}")
        completion = output.get("completion")
        return RolloutOutcome(float(output["reward"]), new_text(completion) if isinstance(completion, list) else "")


def _rubrics(rubric: Any) -> Iterator[Any]:
    """Yield a rubric, or the rubrics of a rubric group."""
    yield rubric
    for part in getattr(rubric, "rubrics", ()):
        yield from _rubrics(part)


def _dataset(env: Any) -> Any:
    """Return the training data of an environment, or its evaluation data if it has no training data."""
    try:
        return env.get_dataset()
    except (AssertionError, ValueError):
        return env.get_eval_dataset()


@cache
def _client_class() -> Any:
    """Return a client class for verifiers. The caller supplies the responses of the client."""
    clients: Any = import_module("verifiers.clients")
    types: Any = import_module("verifiers.types")

    class ScriptedClient(clients.Client):  # type: ignore[misc, name-defined, unused-ignore]
        """Client that asks for the turns of a scripted rollout instead of sending requests."""

        def __init__(self, ask: Ask) -> None:
            super().__init__(None)
            self._ask = ask

        def setup_client(self, config: Any) -> None:
            """Return no client, because no requests are sent."""

        async def to_native_tool(self, tool: Any) -> Any:
            return tool

        async def to_native_prompt(self, messages: Any) -> tuple[Any, dict[str, Any]]:
            return messages, {}

        async def get_native_response(
            self, prompt: Any, model: str, sampling_args: Any, tools: Any = None, **options: Any
        ) -> Any:
            text = await self._ask(prompt if isinstance(prompt, str) else new_text(list(prompt)))
            if tools and (call := as_tool_call(text)):
                arguments = json.dumps(call[1])
                calls = [types.ToolCall(id="call", name=call[0], arguments=arguments)]
                return types.ResponseMessage(
                    content=None, tool_calls=calls, finish_reason="tool_calls", is_truncated=False
                )
            return types.ResponseMessage(content=text, finish_reason="stop", is_truncated=False)

        async def raise_from_native_response(self, response: Any) -> None:
            """Accept every response."""

        async def from_native_response(self, response: Any) -> Any:
            return types.Response(id="scripted", created=0, model="scripted", message=response)

        async def close(self) -> None:
            """Do nothing, because no connection is open."""

    return ScriptedClient
