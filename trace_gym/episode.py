"""Episodes: one run of one scenario. All integrations, such as Gymnasium and TRL, wrap the class `Episode`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any, Literal

from trace_gym.actions import read_step, read_turn
from trace_gym.chat import canonical, storable, text_of_malformed, tool_call, tool_message
from trace_gym.chat_formats import FORMATS
from trace_gym.errors import EnvBug, PolicyError, ScenarioError, TraceGymError, expect_choice
from trace_gym.model_text import Malformed, clean
from trace_gym.schemas import complaint_about, settle
from trace_gym.score import fold
from trace_gym.speech import Speaker
from trace_gym.start_checks import checks_at_start, verifying
from trace_gym.types import Call, Check, Event, Interface, Message, Say, Scenario, Score
from trace_gym.world import Step, ToolError, World, call_tool, plan_of

__all__ = ["Action", "Episode", "complaint_about", "interface_of", "plan"]

Action = str | Message | Call | Say
"""Text in a chat format, an OpenAI assistant message, or a scripted step."""


class Episode:
    """One run of one scenario. An episode cannot be reset: create a new `Episode` for each run.

    Args:
        world: The world class.
        scenario: The scenario. Its level must be one of the world's levels.
        style: Chat format of text actions, a key of `trace_gym.chat_formats.FORMATS`. Policies that sample text set the
            attribute `style` to the format of their model.
        interface: Interface that replaces the world's interface, for example with the texts of an installed benchmark.
        share_start: Reuse the verifier's checks of the start state from an earlier episode with the same start state,
            such as another member of a GRPO group. This requires that the result of `verify` depends only on its
            arguments. Validation checks this requirement, so `trace_gym.registry.start_episode` sets the option.
        rng: Random generator of the scenario; by default, the one that the scenario's id seeds. Validation passes one
            that replaces a single draw.
        user: Speaker that rewords the messages of the scripted user, for example with a language model. The world still
            decides each answer and the end of the conversation.

    Raises:
        ScenarioError: The world does not have the level.
        ConfigError: The chat format does not exist.
        EnvBug: `generate` failed, or the initial message is not text.
    """

    user: Speaker | None = None
    failure: TraceGymError | None = None
    """Error of `user`, after which the episode cannot be scored. All later calls of `step` and `finish` raise it."""
    script: list[str]
    """Messages of the scripted user, without rewording."""
    fallbacks: int = 0
    """Number of messages of the script that `user` could not reword."""

    def __init__(
        self,
        world: type[World],
        scenario: Scenario,
        *,
        style: str = "hermes",
        interface: Interface | None = None,
        share_start: bool = False,
        rng: Random | None = None,
        user: Speaker | None = None,
    ) -> None:
        if scenario.level not in world.levels:
            raise ScenarioError(
                f"the scenario {scenario} does not exist: found level {scenario.level}, "
                f"but {world.id} has levels {list(world.levels)}"
            )
        expect_choice("chat format", style, FORMATS)
        self.scenario = scenario
        self.style = style
        self.share_start = share_start
        self.interface = interface or interface_of(world)
        try:
            self.world = world.generate(rng or Random(str(scenario)), scenario.level)
            self.start = self.world.copy()
            opening = storable(self.world.opening())
        except Exception as error:
            raise EnvBug(f"{scenario}: generate failed with {type(error).__name__}: {error}") from error
        self.messages: list[Message] = [
            {"role": "system", "content": self.interface.system_prompt},
            {"role": "user", "content": opening},
        ]
        self.turns = 0
        self.malformed = 0
        self.said: list[str] = []
        self.events: list[Event] = []
        self.done = False
        self.truncated = False
        self.score: Score | None = None
        self.script = [opening]
        if user is not None:
            self.user = user
            with suppress(PolicyError):  # the first step raises it, so that the episode can be recorded as not scored
                self._reword()

    @property
    def tools(self) -> tuple[Message, ...]:
        """Schemas of the tools in the OpenAI function format, in the order of the interface."""
        return self.interface.tools

    @property
    def state_hash(self) -> str:
        """SHA-256 digest of the current state in hexadecimal. All episodes of a scenario start with the same hash."""
        return hashlib.sha256(json.dumps(self.world, sort_keys=True, default=canonical).encode()).hexdigest()

    def step(self, action: Action) -> list[Message]:
        """Execute one assistant turn and return the messages that answer it.

        Errors of the model never raise an exception. If the turn cannot be parsed, or a call has an unknown tool or
        invalid arguments, the returned message describes the error, and the state does not change. After the end of the
        episode, every action returns the same notice.

        Raises:
            EnvBug: The world raised an exception other than ToolError, which is a bug of the environment.
            UserUnavailable: The language model that plays the user failed. The episode ends and is not scored.
        """
        self._require_user()
        if self.done:
            return [{"role": "user", "content": "The conversation is over; nothing was done."}]
        self.turns += 1
        scripted = len(self.script)
        try:
            turn, answers = self._take(action)
            self.messages += [turn, *answers]
            if not self.done and self.turns >= self.world.max_turns:
                self._finish(truncated=True)
        except Exception as error:  # `_call` handles ToolError
            raise self._bug(f"turn {self.turns}", error) from error
        if self.user is not None and len(self.script) > scripted and not self.done:
            self._reword()
        return answers

    def checks(self) -> Iterator[Check]:
        """Yield the goals, guards and conduct checks, evaluated on the current state."""
        yield from self.world.verify(self.start, self.said)
        yield from self.world.conduct(self.start, self.events)

    def finish(self) -> Score:
        """End the episode if it has not ended and return its score.

        Call this method if the agent stops, or if a budget is exhausted.

        Raises:
            EnvBug: The verifier failed.
            UserUnavailable: The language model that plays the user failed in an earlier turn.
        """
        self._require_user()
        if not self.done:
            try:
                self._finish(truncated=True)
            except Exception as error:
                raise self._bug("the verifier", error) from error
        assert self.score is not None
        return self.score

    def _reword(self) -> None:
        """Replace the last message, which comes from the script, with its rewording by `user`."""
        assert self.user is not None
        try:
            text, scripted = self.user.speak(self.scenario, self.script, self.messages[1:-1])
        except TraceGymError as error:
            self.failure = error
            self.done = len(self.script) > 1
            raise
        self.messages[-1]["content"] = text
        self.fallbacks += scripted

    def _require_user(self) -> None:
        """End the episode and raise the error of `user`, if `user` has failed."""
        if self.failure is not None:
            self.done = True
            raise self.failure

    def _take(self, action: Action) -> tuple[Message, list[Message]]:
        """Execute a turn, and return its message for the conversation and the messages that answer it."""
        try:
            text, calls = self._read(action)
        except Malformed as error:
            self.malformed += 1
            refusal = f"Error: {clean(str(error))}. Nothing was done. The tools are {', '.join(self.interface.kinds)}."
            return {"role": "assistant", "content": text_of_malformed(action)}, [{"role": "user", "content": refusal}]
        turn: Message = {"role": "assistant", "content": text}
        if not calls:
            return turn, self._say(text)
        ids = self._call_ids(action, len(calls))
        turn["tool_calls"] = [tool_call(c, i) for c, i in zip(calls, ids, strict=True)]
        return turn, self._act(text, calls, ids)

    def _read(self, action: Action) -> tuple[str, list[Call]]:
        if isinstance(action, (Call, Say)):
            return read_step(action)
        text, calls = read_turn(action, self.style, self.interface.tools)
        if not text and not calls:
            raise Malformed("the turn is empty; write to the user or call a tool")
        return text, calls

    def _call_ids(self, action: Action, count: int) -> list[str]:
        """Return one id per call: the id in the OpenAI message if the action is one and has ids, else a generated id.

        OpenAI clients match the results to the calls by these ids.
        """
        own = [f"call_{self.turns}_{n}" for n in range(count)]
        if not isinstance(action, dict):
            return own
        return [clean(str(c.get("id") or ""))[:200] or n for c, n in zip(action["tool_calls"], own, strict=True)]

    def _say(self, text: str) -> list[Message]:
        self.said.append(text)
        answer = self.world.reply(text)
        self.events.append(Event(Say(text), answer or ""))
        if answer is None or self.world.ended:
            self._finish()
        if answer is None:
            return []
        self.script.append(storable(answer))
        return [{"role": "user", "content": answer}]

    def _act(self, text: str, calls: list[Call], ids: list[str]) -> list[Message]:
        refusal = ""
        if len(calls) > self.interface.calls_per_turn:
            refusal = f"{len(calls)} calls in one turn; make at most {self.interface.calls_per_turn}"
        elif text and not self.interface.text_with_call:
            refusal = "a message and a tool call in one turn; send one or the other"
        if refusal:
            self.malformed += 1
            return [tool_message(c, i, f"Error: {refusal}. Nothing was done.") for c, i in zip(calls, ids, strict=True)]
        if text:
            self.said.append(text)
            self.events.append(Event(Say(text), ""))
        answers = [tool_message(c, i, self._call(c)) for c, i in zip(calls, ids, strict=True)]
        if self.world.ended:
            self._finish()
        return answers

    def _call(self, call: Call) -> str:
        arguments, complaint = settle(call, self.interface)
        if complaint:
            self.malformed += 1
            return clean(f"Error: {complaint}")
        refused = False
        try:
            answer = clean(self.world.format_result(call, call_tool(self.world, call.tool, arguments)))
        except ToolError as refusal:
            answer, refused = clean(f"Error: {refusal}"), True
        self.events.append(Event(Call(call.tool, arguments), answer, refused))
        return answer

    def _bug(self, where: str, error: Exception) -> EnvBug:
        return EnvBug(f"{self.scenario}: {where} raised {type(error).__name__}: {error}")

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to pickle. The interface is left out if it equals the interface of the world class."""
        own = self.interface is interface_of(type(self.world))
        return {k: v for k, v in vars(self).items() if not (own and k == "interface")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({"interface": interface_of(type(state["world"]))} | state)

    def _finish(self, truncated: bool = False) -> None:
        self.done, self.truncated = True, truncated
        with verifying(self.start):
            at_start = checks_at_start(self.start) if self.share_start else self.start.verify(self.start, [])
            self.score = fold(self.checks(), at_start, self.turns, self.malformed)


_interfaces: dict[type[World], Interface] = {}


def interface_of(world: type[World]) -> Interface:
    """Return the interface of a world class, which is built once per class."""
    known = _interfaces.get(world)
    return known if known is not None else _interfaces.setdefault(world, world.interface())


def plan(episode: Episode, expert: Literal["oracle", "ablated"]) -> list[Step]:
    """Return all steps of a world's expert, computed from the start state of the episode.

    Raises:
        EnvBug: The expert raised an exception.
    """
    try:
        return list(plan_of(episode.start, expert))
    except Exception as error:
        raise EnvBug(f"{episode.scenario}: {expert} raised {type(error).__name__}: {error}") from error
