"""Sessions of OpenEnv's harness, which TRL's asynchronous trainer drives: in its own process, or on a server.

All members of a group are given one seed, hence one scenario, and the policy sees the target's exact schemas.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from trace_gym import registry
from trace_gym.adapters.attempt import Attempt, library
from trace_gym.adapters.openenv_client import Remote
from trace_gym.adapters.problems import Problems
from trace_gym.errors import ConfigError, ScenarioError
from trace_gym.types import Message, Scenario

_core: Any = library("openenv.core", "openenv")
_harness: Any = library("openenv.core.harness", "openenv")

_log = logging.getLogger(__name__)


class Session(_harness.ResourceSession):  # type: ignore[misc]  # openenv is imported when it is there
    """One rollout. What fails in the environment, or on the way to it, makes the rollout unscored, never a 0."""

    def __init__(self, attempt: Attempt | Remote) -> None:
        self.attempt = attempt
        self._failed = False

    def initial_messages(self) -> list[Message]:
        """The system message and the user's first."""
        return [dict(m) for m in self.attempt.messages[:2]]

    def list_tools(self) -> list[Any]:
        """The environment's tools, with their raw schemas."""
        functions = [t["function"] for t in self.attempt.tools]
        return [
            _core.Tool(name=f["name"], description=f["description"], input_schema=f["parameters"]) for f in functions
        ]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """Take a turn that is one call."""
        call = {"id": "", "type": "function", "function": {"name": name, "arguments": arguments}}
        [answer] = self.take({"role": "assistant", "content": "", "tool_calls": [call]})
        text = str(answer["content"])
        refused = text if text.startswith("Error:") else None
        return _harness.ToolResult(data=text, done=self.attempt.done, error=refused)

    def take(self, turn: str | Message) -> list[Message]:
        """Take a turn, text or an OpenAI message, and return the messages that answer it."""
        try:
            return self.attempt.take(turn)
        except Exception:  # of the environment, or of the way to it
            self._failed = True
            raise

    def verify(self, transcript: list[Message], final_state: object = None) -> Any:
        """End the attempt and score it.

        Args:
            transcript: The conversation; where it ends with words of the agent, these are its last to the user.
            final_state: Nothing of it is read.
        """
        paid = None
        try:
            if not self._failed:
                if not self.attempt.done and (last := _last_words(transcript)):
                    self.attempt.take(last)
                paid = self.attempt.finish()
        except Exception as error:
            _log.warning("not scored: %s: %s", type(error).__name__, error)
        if paid is None:
            return _harness.VerifyResult(env_reward=None)
        score = self.attempt.result["score"]
        measured = {k: float(score[k]) for k in ("success", "progress", "wellformed", "conduct")}
        return _harness.VerifyResult(env_reward=paid, done=True, metrics=measured, artifacts=self.attempt.result)

    def close(self) -> None:
        self.attempt.close()


class Sessions(_harness.ResourceSessionFactory):  # type: ignore[misc]
    """Makes the sessions of a run.

    Args:
        envs: Environments; seeds take turns at them.
        url: A server that plays them; None plays in this process.
        level: Level of every scenario; None draws one from the seed.
        split: Which seeds are counted through, a key of `trace_gym.registry.SPLITS`.
        weights: How an attempt is paid, a key of `trace_gym.adapters.gymnasium.WEIGHTS`; a server has its own.

    Raises:
        EnvNotFound, ConfigError, ScenarioError: An argument is none of its choices.
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
        """Begin a session.

        Args:
            task: Text or messages of a data set. Where they end with an address, ``env/level/seed``, it is played.
            seed: Stands for the scenario in all other cases; TRL gives the number of the group.
            episode_id: A name of the caller's own, for the server.

        Raises:
            ConfigError: There is neither an address nor a seed, or the address is of another environment.
            EnvBug: The scenario does not begin.
        """
        if (at := _address(task)) is None:
            if seed is None:
                raise ConfigError(f"{str(task)[:80]!r} ends with no address and there is no seed; give one of them")
            at = self.problems.at(seed)
        at = self.problems.exactly(at)
        if self.url is None:
            return Session(Attempt(registry.episode(at), weights=self.weights))
        remote = Remote(self.url)
        try:
            remote.reset(scenario=str(at), episode_id=episode_id)
        except BaseException:
            remote.close()
            raise
        return Session(remote)


class Conversation(_harness.HarnessAdapter):  # type: ignore[misc]
    """A harness for whole conversations: the user answers, and the environment says when it is over.

    OpenEnv's `MCPHarnessAdapter` stops at the first turn without a call. Here every turn goes to the session as it is,
    its words and all of its calls, and what answers it stands in the next prompt.
    """

    def run_white_box(self, model_step: Callable[..., Any], session: Session, limits: Any = None) -> Any:
        """Play a session with a model that is sampled turn by turn; after `limits.max_turns` it is left as it is."""
        limit = limits.max_turns if limits else None
        sampling = dict(limits.sampling) if limits else {}
        done = _harness.HarnessRolloutResult(messages=session.initial_messages())
        tools, turns = session.list_tools(), 0
        while not session.attempt.done and turns != limit:
            made, turns = model_step(done.messages, tools, sampling), turns + 1
            turn = made.response.to_message_dict()
            answers = session.take(turn)
            done.messages += [turn, *answers]
            done.prompt_ids += made.prompt_ids
            done.completion_ids += made.completion_ids
            done.logprobs += made.logprobs
            calls = made.response.tool_calls
            done.tool_trace += [_traced(c, m) for c, m in zip(calls, answers, strict=False)]
        done.done = session.attempt.done
        done.metrics |= {"turns": turns, "tool_calls": len(done.tool_trace)}
        return done

    def run_black_box(self, session: Session, limits: Any = None) -> Any:
        raise NotImplementedError("an opaque agent plays by calls alone: take openenv's CLIHarnessAdapter")


def _traced(call: Any, answer: Message) -> Any:
    text = str(answer["content"])
    result = _harness.ToolResult(data=text, error=text if text.startswith("Error:") else None)
    return _harness.ToolTraceEntry(tool_name=call.name, arguments=dict(call.args), result=result)


def _last_words(transcript: list[Message]) -> Message | None:
    """The agent's words that a conversation ends with."""
    last = transcript[-1] if transcript else {}
    spoken = last.get("role") == "assistant" and last.get("content") and not last.get("tool_calls")
    return last if spoken else None


def _address(task: Any) -> Scenario | None:
    """The address that a task is, or that its last message is."""
    if isinstance(task, Scenario):
        return task
    if isinstance(task, Sequence) and not isinstance(task, str) and task and isinstance(task[-1], dict):
        task = task[-1].get("content")
    try:
        return Scenario.parse(task.strip()) if isinstance(task, str) else None
    except ScenarioError:
        return None
