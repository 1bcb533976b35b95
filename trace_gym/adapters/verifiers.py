"""Every environment as a taskset of verifiers (v1), with the harness that plays it.

verifiers finds a taskset by the name of a top-level module, so a module of two lines makes one of this::

    from trace_gym.adapters.verifiers import *
    from trace_gym.adapters.verifiers import __all__

The harnesses that verifiers brings know tools and no user who answers. Ours plays the whole conversation in the
process of the evaluation, and sends every model call through verifiers, which limits, repeats and records it.
"""

# mypy: disable-error-code="misc, untyped-decorator"
# verifiers may be absent where types are checked, so that its classes and decorators have none.

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from trace_gym import registry
from trace_gym.adapters.gymnasium import WEIGHTS
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, MissingExtra
from trace_gym.score import reward
from trace_gym.types import Message, Scenario, Score

try:
    vf: Any = import_module("verifiers.v1")
    _openai: Any = import_module("openai")
except ImportError as error:
    missing = str(error.name).partition(".")[0]
    raise MissingExtra(f"{missing} is missing; pip install 'trace-gym[verifiers]'") from None

__all__ = ["TraceEnv", "TraceHarness", "TraceTaskset"]


class TraceData(vf.TaskData):
    """A scenario as verifiers stores it with a trace."""

    scenario: str
    """The address."""

    @classmethod
    def of(cls, scenario: Scenario) -> TraceData:
        """The opening of a scenario."""
        system, user = registry.episode(scenario).messages
        texts = {"system_prompt": system["content"], "prompt": user["content"]}
        return cls(scenario=str(scenario), name=str(scenario), **texts)


class TraceState(vf.State):
    """What the harness leaves for the scorer."""

    score: Score | None = None
    """None: nobody has played, or it ended in a fault."""
    closing: list[dict[str, Any]] = []
    """What answered the last turn; no request carries it any more."""


class TraceTaskConfig(vf.TaskConfig):
    """Settings of a task, ``--env.taskset.task.*``."""

    weights: str = "default"
    """How an attempt is paid, a key of `trace_gym.adapters.gymnasium.WEIGHTS`."""


class TraceTask(vf.Task[TraceData, TraceState, TraceTaskConfig]):
    """One scenario."""

    @property
    def key(self) -> str:
        return str(self.data.scenario)

    async def validate(self, runtime: Any) -> bool:
        """Whether the oracle succeeds; ``vf-validate`` asks it."""
        episode = registry.episode(self.data.scenario)
        for step in episode.start.oracle():
            episode.step(step)
        return episode.finish().success

    @vf.reward
    async def paid(self, trace: Any) -> float:
        if (weights := self.config.weights) not in WEIGHTS:
            raise ConfigError(f"weights {weights!r} is unknown; expected one of {', '.join(WEIGHTS)}")
        return reward(self._score(trace), WEIGHTS[weights])

    @vf.metric
    async def levels(self, trace: Any) -> dict[str, float]:
        """The score, from the loosest level to the strictest."""
        score = self._score(trace)
        levels = {
            "wellformed": score.wellformed,
            "conduct": score.conduct,
            "progress": score.progress,
            "success": score.success,
        }
        return {k: float(v) for k, v in {**levels, "broken": bool(score.broken)}.items()}

    def _score(self, trace: Any) -> Score:
        """What the harness has left, or what a task is worth that nobody touched."""
        score: Score | None = trace.state.score
        if score is None and trace.num_turns:
            raise ConfigError("no score was left; these tasks need the harness that comes with them, so name no other")
        return score or registry.episode(self.data.scenario).finish()


class TraceConfig(vf.TasksetConfig):
    """Which scenarios are played, ``--env.taskset.*``; they are those of `trace_gym.registry.scenarios`."""

    env: str = ""
    """An environment or a mixture, by name or gymnasium id."""
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
            known = ", ".join((*registry.names(), *registry.mixtures()))
            raise ConfigError(f"name an environment with --env.taskset.env; there are {known}")
        for scenario in registry.scenarios(chosen.env, chosen.split, chosen.n, chosen.levels, chosen.offset):
            yield TraceTask(TraceData.of(scenario), chosen.task)


class TraceHarness(vf.Harness[vf.HarnessConfig]):
    """Plays an episode: the model's turns come from the endpoint, the answers from the tools and the user."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, mcp_urls: dict[str, str], data: TraceData
    ) -> Any:
        """Play one attempt to its end.

        What verifiers cuts short, at a limit or a deadline, is scored as it stands. A call that failed is raised, and
        a fault of the environment is too: such an attempt has no reward.
        """
        episode, (system, opening) = registry.episode(data.scenario), self.resolve_prompt(data)
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
    """One agent. Nothing runs outside this process, so that no sandbox is needed."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class TraceEnv(vf.Env[TraceEnvConfig]):
    """One agent plays one scenario."""

    async def run(self, task: Any, agents: Any) -> None:
        await agents.agent.run(task)


async def _converse(client: Any, model: str, episode: Episode, talk: list[Message]) -> list[Message]:
    """Take turns until the episode is over, and return what answered the last one.

    A turn is sent back as the model wrote it, so that its tokens stay what they were. One that could not be read is
    sent back as the episode shows it, as no endpoint takes calls without an answer.
    """
    tools = {"tools": list(episode.tools)} if episode.tools else {}
    answers: list[Message] = []
    while not episode.done:
        completion = await client.chat.completions.create(model=model, messages=talk, **tools)
        turn: Message = completion.choices[0].message.model_dump(exclude_none=True)
        # An endpoint that does not parse calls leaves them in the text, where the episode finds them.
        answers = episode.step(turn if turn.get("tool_calls") else turn.get("content") or "")
        read = episode.messages[-1 - len(answers)]
        talk += [turn if bool(turn.get("tool_calls")) == ("tool_calls" in read) else read, *answers]
    return answers
