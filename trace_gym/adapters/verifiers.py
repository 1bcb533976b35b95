"""Adapter for verifiers (v1): a taskset of scenarios, and a harness that runs them.

verifiers loads a taskset by the name of a top-level module. To create such a module, write these two lines into it::

    from trace_gym.adapters.verifiers import *
    from trace_gym.adapters.verifiers import __all__

The harnesses of verifiers support tools, but not a user who answers. The harness of this module runs the whole
conversation in the process of the evaluation. It sends every model call through verifiers, which applies limits and
retries, and records the call.
"""

# mypy: disable-error-code="misc, untyped-decorator"
# If verifiers is not installed when types are checked, its classes and decorators are untyped.

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from trace_gym import registry
from trace_gym.adapters.gymnasium import WEIGHTS
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, MissingExtra, expect_choice
from trace_gym.score import reward
from trace_gym.types import Message, Scenario, Score

try:
    vf: Any = import_module("verifiers.v1")
    _openai: Any = import_module("openai")
except ImportError as error:
    missing = str(error.name).partition(".")[0]
    raise MissingExtra(f"{missing} is missing; pip install 'trace-gym[verifiers]'") from None

__all__ = ["TraceVerifiersEnv", "TraceHarness", "TraceTaskset"]


class TraceData(vf.TaskData):
    """Data of a scenario, which verifiers stores with the trace of a rollout."""

    scenario: str
    """The scenario id."""

    @classmethod
    def of(cls, scenario: Scenario) -> TraceData:
        """Return the data of a scenario, with the system message and the first user message as its prompt."""
        system, user = registry.start_episode(scenario).messages
        texts = {"system_prompt": system["content"], "prompt": user["content"]}
        return cls(scenario=str(scenario), name=str(scenario), **texts)


class TraceState(vf.State):
    """Results of the harness, from which the reward and the metrics are computed."""

    score: Score | None = None
    """Score of the episode; None if no episode was run, or if the episode failed with an error."""
    closing: list[dict[str, Any]] = []
    """Messages that answer the last turn. verifiers does not record them, because they are not part of a request."""


class TraceTaskConfig(vf.TaskConfig):
    """Settings of a task, ``--env.taskset.task.*``."""

    weights: str = "default"
    """Name of the reward weights, a key of `trace_gym.adapters.gymnasium.WEIGHTS`."""


class TraceTask(vf.Task[TraceData, TraceState, TraceTaskConfig]):
    """A task in verifiers. It contains one scenario."""

    @property
    def key(self) -> str:
        return str(self.data.scenario)

    async def validate(self, runtime: Any) -> bool:
        """Return whether the oracle succeeds. ``vf-validate`` calls this method."""
        episode = registry.start_episode(self.data.scenario)
        for step in episode.start.oracle():
            episode.step(step)
        return episode.finish().success

    @vf.reward
    async def paid(self, trace: Any) -> float:
        expect_choice("value of weights", self.config.weights, WEIGHTS)
        return reward(self._score(trace), WEIGHTS[self.config.weights])

    @vf.metric
    async def levels(self, trace: Any) -> dict[str, float]:
        """Return the components of the score as metrics, and ``broken`` (whether a guard was violated)."""
        score = self._score(trace)
        levels = {
            "wellformed": score.wellformed,
            "conduct": score.conduct,
            "progress": score.progress,
            "success": score.success,
        }
        return {k: float(v) for k, v in {**levels, "broken": bool(score.broken)}.items()}

    def _score(self, trace: Any) -> Score:
        """Return the score from the harness or, if no turns were taken, the score of an episode without turns."""
        score: Score | None = trace.state.score
        if score is None and trace.num_turns:
            raise ConfigError(
                "the trace has no score, because it was not created by the harness of trace_gym.adapters.verifiers. "
                "Remove the setting that selects another harness"
            )
        return score or registry.start_episode(self.data.scenario).finish()


class TraceConfig(vf.TasksetConfig):
    """Selection of scenarios, ``--env.taskset.*``, with the arguments of `trace_gym.registry.scenarios`."""

    env: str = ""
    """Name or gymnasium id of an environment or a mixture."""
    split: str = "train"
    n: int = 100
    levels: list[int] | None = None
    offset: int = 0
    task: TraceTaskConfig = TraceTaskConfig()


class TraceTaskset(vf.Taskset[TraceTask, TraceConfig]):
    """Scenarios of one environment or mixture."""

    def load(self) -> Iterator[TraceTask]:
        chosen = self.config
        if not chosen.env:
            known = ", ".join((*registry.list_environments(), *registry.list_mixtures()))
            raise ConfigError(f"no environment is selected. Set --env.taskset.env to one of {known}")
        for scenario in registry.scenarios(chosen.env, chosen.split, chosen.n, chosen.levels, chosen.offset):
            yield TraceTask(TraceData.of(scenario), chosen.task)


class TraceHarness(vf.Harness[vf.HarnessConfig]):
    """A harness that runs an episode. The endpoint returns the model's turns; tools and the user answer them."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, mcp_urls: dict[str, str], data: TraceData
    ) -> Any:
        """Run one rollout to its end.

        A rollout that verifiers stops at a limit or a deadline is scored in its current state. A failed model call or
        an error of the environment is raised; such a rollout has no reward.
        """
        episode, (system, opening) = registry.start_episode(data.scenario), self.resolve_prompt(data)
        talk = [{"role": "system", "content": system}, {"role": "user", "content": opening}]
        try:
            async with _openai.AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
                closing = await _converse(client, ctx.model, episode, talk)
        except (_openai.OpenAIError, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) or trace.stop_condition is not None:
                trace.state.score = episode.finish()
            raise
        trace.state.score, trace.state.closing = episode.finish(), closing
        return vf.ProgramResult(0, "", "")


class TraceEnvConfig(vf.EnvConfig):
    """Configuration with one agent. No code runs outside this process, so no sandbox is required."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class TraceVerifiersEnv(vf.Env[TraceEnvConfig]):
    """An environment of verifiers in which one agent runs one scenario."""

    async def run(self, task: Any, agents: Any) -> None:
        await agents.agent.run(task)


async def _converse(client: Any, model: str, episode: Episode, talk: list[Message]) -> list[Message]:
    """Run the turns of an episode to its end, and return the messages that answer the last turn.

    Requests contain each earlier turn exactly as the model wrote it, so that its tokens do not change. A turn that the
    episode could not parse is an exception: the episode's version replaces it, because endpoints reject tool calls
    without results.
    """
    tools = {"tools": list(episode.tools)} if episode.tools else {}
    answers: list[Message] = []
    while not episode.done:
        completion = await client.chat.completions.create(model=model, messages=talk, **tools)
        turn: Message = completion.choices[0].message.model_dump(exclude_none=True)
        # An endpoint that does not parse tool calls returns them as text, which the episode parses.
        answers = episode.step(turn if turn.get("tool_calls") else turn.get("content") or "")
        read = episode.messages[-1 - len(answers)]
        talk += [turn if bool(turn.get("tool_calls")) == ("tool_calls" in read) else read, *answers]
    return answers
