"""Sessions for OpenEnv's harness, which TRL's asynchronous trainer uses. Episodes run in this process or on a server.

All rollouts of a group receive the same seed and therefore the same scenario. The policy sees the exact tool schemas
of the target.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from trace_gym.adapters.openenv.client import Remote
from trace_gym.adapters.problems import Problems
from trace_gym.adapters.rollout import AdapterRollout, library
from trace_gym.errors import ConfigError, ScenarioError
from trace_gym.types import Message, Scenario

_core: Any = library("openenv.core", "openenv")
_harness: Any = library("openenv.core.harness", "openenv")

_log = logging.getLogger(__name__)


class Session(_harness.ResourceSession):  # type: ignore[misc]  # openenv is an optional dependency
    """One rollout. After an error of the environment or of the connection, the reward is None and not 0."""

    def __init__(self, rollout: AdapterRollout | Remote) -> None:
        self.rollout = rollout
        self._failed = False

    def initial_messages(self) -> list[Message]:
        """Return the system message and the first user message."""
        return [dict(m) for m in self.rollout.messages[:2]]

    def list_tools(self) -> list[Any]:
        """Return the environment's tools with their raw schemas."""
        functions = [t["function"] for t in self.rollout.tools]
        return [
            _core.Tool(name=f["name"], description=f["description"], input_schema=f["parameters"]) for f in functions
        ]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """Take a turn that consists of one tool call, and return the result."""
        call = {"id": "", "type": "function", "function": {"name": name, "arguments": arguments}}
        [answer] = self.take({"role": "assistant", "content": "", "tool_calls": [call]})
        text = str(answer["content"])
        refused = text if text.startswith("Error:") else None
        return _harness.ToolResult(data=text, done=self.rollout.done, error=refused)

    def take(self, turn: str | Message) -> list[Message]:
        """Take a turn (text or an OpenAI message) and return the messages that answer the turn."""
        try:
            return self.rollout.take(turn)
        except Exception:  # an error of the environment or of the connection
            self._failed = True
            raise

    def verify(self, transcript: list[Message], final_state: object = None) -> Any:
        """End and score the episode.

        Args:
            transcript: The conversation. If the last message is text of the agent, the text is first sent to the user.
            final_state: Ignored.
        """
        episode_reward = None
        try:
            if not self._failed:
                if not self.rollout.done and (last := _final_text(transcript)):
                    self.rollout.take(last)
                episode_reward = self.rollout.finish()
        except Exception as error:
            _log.warning("not scored: %s: %s", type(error).__name__, error)
        if episode_reward is None:
            return _harness.VerifyResult(env_reward=None)
        score = self.rollout.result["score"]
        measured = {k: float(score[k]) for k in ("success", "progress", "wellformed", "conduct")}
        return _harness.VerifyResult(
            env_reward=episode_reward, done=True, metrics=measured, artifacts=self.rollout.result
        )

    def close(self) -> None:
        self.rollout.close()


class Sessions(_harness.ResourceSessionFactory):  # type: ignore[misc]
    """Factory of the sessions of a training run.

    Args:
        envs: Environments. Consecutive seeds alternate between multiple environments.
        url: URL of a server that runs the episodes; None runs them in this process.
        level: Level of every scenario; None draws a level from the seed.
        split: Split of the seeds, a key of `trace_gym.registry.SPLITS`.
        weights: Name of the reward weights, a key of `trace_gym.adapters.gymnasium.WEIGHTS`. Ignored if `url` is set,
            because the server has its own weights.

    Raises:
        EnvNotFound, ConfigError, ScenarioError: An argument is not valid.
    """

    def __init__(
        self,
        envs: Sequence[str],
        *,
        url: str | None = None,
        level: int | None = None,
        split: str = "train",
        weights: str = "default",
    ) -> None:
        self.problems, self.url, self.weights = Problems(envs, level, split), url, weights

    def create(self, task: Any, seed: int | None = None, episode_id: str | None = None) -> Session:
        """Create a session and start its episode.

        Args:
            task: Text or messages from a dataset. If the text or the last message is a scenario id
                (``env/level/seed``), the session uses this scenario.
            seed: Seed of the scenario if the task does not contain a scenario id. TRL passes the number of the group.
            episode_id: Identifier that the caller chooses; sent to the server.

        Raises:
            ConfigError: There is neither a scenario id nor a seed, or the scenario belongs to another environment.
            EnvBug: The environment fails when the scenario is started.
        """
        if (at := _scenario_in(task)) is None:
            if seed is None:
                raise ConfigError(
                    f"the task {str(task)[:80]!r} contains no scenario id, and no seed is given. Pass a scenario id "
                    "(env/level/seed) or a seed"
                )
            at = self.problems.at(seed)
        at = self.problems.exactly(at)
        if self.url is None:
            return Session(AdapterRollout(self.problems.start(at), weights=self.weights))
        remote = Remote(self.url)
        try:
            remote.reset(scenario=str(at), episode_id=episode_id)
        except BaseException:
            remote.close()
            raise
        return Session(remote)


class Conversation(_harness.HarnessAdapter):  # type: ignore[misc]
    """A harness for whole conversations, in which the user answers and the environment ends the episode.

    OpenEnv's `MCPHarnessAdapter` stops at the first turn without a tool call. In contrast, this harness passes every
    turn to the session unchanged, with its text and all of its tool calls, and adds the answers to the next prompt.
    """

    def run_white_box(self, model_step: Callable[..., Any], session: Session, limits: Any = None) -> Any:
        """Run a session with a model that is sampled one turn at a time, for at most `limits.max_turns` turns."""
        limit = limits.max_turns if limits else None
        sampling = dict(limits.sampling) if limits else {}
        done = _harness.HarnessRolloutResult(messages=session.initial_messages())
        tools, turns = session.list_tools(), 0
        while not session.rollout.done and turns != limit:
            made, turns = model_step(done.messages, tools, sampling), turns + 1
            turn = made.response.to_message_dict()
            answers = session.take(turn)
            done.messages += [turn, *answers]
            done.prompt_ids += made.prompt_ids
            done.completion_ids += made.completion_ids
            done.logprobs += made.logprobs
            calls = made.response.tool_calls
            done.tool_trace += [_trace_entry(c, m) for c, m in zip(calls, answers, strict=False)]
        done.done = session.rollout.done
        done.metrics |= {"turns": turns, "tool_calls": len(done.tool_trace)}
        return done

    def run_black_box(self, session: Session, limits: Any = None) -> Any:
        raise NotImplementedError(
            "this harness does not support black-box agents, because they only call tools and send no messages to the "
            "user. Use CLIHarnessAdapter of openenv"
        )


def _trace_entry(call: Any, answer: Message) -> Any:
    text = str(answer["content"])
    result = _harness.ToolResult(data=text, error=text if text.startswith("Error:") else None)
    return _harness.ToolTraceEntry(tool_name=call.name, arguments=dict(call.args), result=result)


def _final_text(transcript: list[Message]) -> Message | None:
    """Return the last message if it is a text of the agent without tool calls, otherwise None."""
    last = transcript[-1] if transcript else {}
    spoken = last.get("role") == "assistant" and last.get("content") and not last.get("tool_calls")
    return last if spoken else None


def _scenario_in(task: Any) -> Scenario | None:
    """Return the scenario if the task, or the content of its last message, is a scenario id; otherwise None."""
    if isinstance(task, Scenario):
        return task
    if isinstance(task, Sequence) and not isinstance(task, str) and task and isinstance(task[-1], dict):
        task = task[-1].get("content")
    try:
        return Scenario.parse(task.strip()) if isinstance(task, str) else None
    except ScenarioError:
        return None
