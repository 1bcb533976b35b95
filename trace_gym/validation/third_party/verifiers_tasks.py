"""Backend for tasksets of verifiers 0.4, which scores a single turn or runs a whole rollout of an environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from itertools import islice
from typing import Any

from trace_gym.errors import ConfigError
from trace_gym.validation.third_party.scripted_endpoint import scripted_endpoint
from trace_gym.validation.third_party.scripted_rollout import Ask, RolloutOutcome, as_tool_call, new_text
from trace_gym.validation.third_party.uri import EnvironmentURI

MAX_TURNS = 8
"""Turn limit of an environment with its own harness."""


class TaskBackend:
    """Taskset that a module exports.

    If the module also exports a harness or an environment class, this harness or class determines how a rollout runs.
    Otherwise, the model takes a single turn, and the rewards of the task are computed for this turn.
    """

    def __init__(self, address: EnvironmentURI, options: Mapping[str, Any]) -> None:
        self._vf: Any = import_module("verifiers.v1")
        loaders: Any = import_module("verifiers.v1.utils.loaders")
        self._uri, self._name = address.text, address.name
        self._taskset: Any = self._vf.load_taskset(
            loaders.taskset_config_type(address.name).model_validate({"id": address.name, **options})
        )
        self._stream = iter(self._taskset)
        self._tasks: list[Any] = list(islice(self._stream, 1) if self._taskset.INFINITE else self._stream)
        if not self._tasks:
            raise ConfigError(f"{address.text} contains no tasks: expected at least one. Pass other options")
        self.problems = None if self._taskset.INFINITE else len(self._tasks)
        own_env = loaders.environment_class(address.name) is not self._vf.SingleAgentEnv
        self._whole = own_env or loaders.default_harness_id(address.name) == address.name
        self._settings = {"taskset": {"id": address.name, **options}}
        self.limit = MAX_TURNS if self._whole else 1
        first = self._tasks[0]
        self._reject_unsupported(first)
        weights = [float(getattr(reward, "_vf_weight", 1.0)) for reward in first.hooks("reward")]
        self.low = sum(weight for weight in weights if weight < 0)
        self.high = sum(weight for weight in weights if weight > 0) or 1.0

    def _reject_unsupported(self, task: Any) -> None:
        if task.plugged_judges():
            raise ConfigError(
                f"{self._uri} has a reward that a language model computes, which the validation cannot test. Remove "
                "the judges from the configuration of the task"
            )
        if type(task).NEEDS_CONTAINER or task.data.image:
            raise ConfigError(
                f"{self._uri} requires a container, but the validation does not start containers. Choose a task that "
                "can run without a container"
            )
        tools = [*type(task).toolsets(task.config), *type(self._taskset).toolsets(self._taskset.config)]
        if tools and not self._whole:
            raise ConfigError(
                f"{self._uri} has tools but no harness, so the validation cannot run its rollouts. Export a harness "
                "from the module that defines the taskset"
            )

    def _task(self, seed: int) -> Any:
        self._tasks.extend(islice(self._stream, max(0, seed + 1 - len(self._tasks))))
        return self._tasks[seed]

    def fields(self, seed: int) -> Mapping[str, Any]:
        """Return the data of a task."""
        data: dict[str, Any] = self._task(seed).data.model_dump()
        return data

    async def rollout(self, seed: int, limit: int, ask: Ask) -> RolloutOutcome:
        """Run the rollout of a task."""
        task = self._task(seed)
        return await (self._run_environment(task, limit, ask) if self._whole else self._score_turn(task, ask))

    async def _score_turn(self, task: Any, ask: Ask) -> RolloutOutcome:
        """Compute the rewards of a task for a trace with one turn."""
        vf, data = self._vf, task.data
        graph: Any = import_module("verifiers.v1.graph")
        runtimes: Any = import_module("verifiers.v1.runtimes")
        decorators: Any = import_module("verifiers.v1.utils.decorators")
        state: Any = import_module("verifiers.v1.state")
        prompt = [vf.SystemMessage(content=data.system_prompt)] if data.system_prompt else []
        prompt += [vf.UserMessage(content=data.prompt or "")] if isinstance(data.prompt or "", str) else data.prompt
        config = vf.SubprocessConfig()
        runtime = runtimes.make_runtime(config)
        trace = vf.Trace(
            task=vf.TraceTask(type=type(task).__name__, data=data, key=task.key, hash=task.hash),
            state=state.state_cls(type(task))(),
            agent=vf.AgentInfo(config=vf.AgentConfig(runtime=config)),
        )
        try:
            runtime.env = dict(task.runtime_env())
            await runtime.start()
            signals = {"trace": trace, "runtime": runtime}
            await decorators.invoke(task.setup, signals)
            message = vf.AssistantMessage(content=await ask(new_text(prompt)))
            response = vf.Response(id="scripted", created=0, model="scripted", message=message, finish_reason="stop")
            graph.prepare_turn(trace, prompt).commit(response)
            trace.stop("agent_completed")
            await decorators.invoke(task.finalize, signals)
            await task.score(trace, runtime)
        finally:
            await runtime.stop()
        return RolloutOutcome(float(trace.reward))

    async def _run_environment(self, task: Any, limit: int, ask: Ask) -> RolloutOutcome:
        """Run a rollout of the environment with an endpoint that returns the given turns."""
        vf = self._vf
        loaders: Any = import_module("verifiers.v1.utils.loaders")
        async with scripted_endpoint(lambda body: _reply(body, ask)) as url:
            env = vf.load_environment(loaders.resolve_env_config(self._settings))
            for agent in agents_of(env.config):
                agent.max_turns = min(limit, agent.max_turns or limit)
                agent.runtime = vf.SubprocessConfig()
            client = vf.EvalClientConfig(base_url=url, api_key_var="TRACE_GYM_NO_KEY")
            async with env.serving():
                episode = await env.run_episode(task, vf.ModelContext(model="scripted", client=client))
        errors = [*episode.errors, *(error for trace in episode.traces for error in trace.errors)]
        if errors or len(episode.traces) != 1:
            found = f"{errors[0].type}: {errors[0].message}" if errors else f"{len(episode.traces)} traces"
            raise RuntimeError(f"the rollout of {self._name} has no reward: found {found}, expected one complete trace")
        return RolloutOutcome(float(episode.traces[0].reward))


def agents_of(config: Any) -> list[Any]:
    """Return the settings of the agents of an environment."""
    found: dict[str, Any] = import_module("verifiers.v1.configs.agent").agent_config_fields(config)
    return list(found.values())


async def _reply(body: Mapping[str, Any], ask: Ask) -> dict[str, Any]:
    """Return the message of the assistant for a request to the endpoint."""
    text = await ask(new_text(list(body["messages"])))
    call = as_tool_call(text) if body.get("tools") else None
    if call is None:
        return {"role": "assistant", "content": text}
    function = {"name": call[0], "arguments": json.dumps(call[1])}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call", "type": "function", "function": function}],
    }
