"""Episode: one attempt at one scenario, the narrow waist that every integration wraps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from random import Random
from typing import Any

from trace_gym.actions import FORMATS, Malformed, clean, read_step, read_turn
from trace_gym.errors import ConfigError, EnvBug, PolicyError, ScenarioError, TraceGymError
from trace_gym.schemas import complaint_about, settle
from trace_gym.score import fold
from trace_gym.speech import Speaker
from trace_gym.start_checks import checks_at_start, verifying
from trace_gym.types import Call, Check, Event, Interface, Message, Say, Scenario, Score
from trace_gym.world import ToolError, World, call_tool

__all__ = ["Action", "Episode", "complaint_about", "interface_of"]

Action = str | Message | Call | Say
"""Text in a chat format, an OpenAI assistant message, or a scripted step."""


class Episode:
    """One attempt at one scenario. Single use: there is no reset; build another one.

    Args:
        world: The world class.
        scenario: The address; its level must be one of the world's.
        style: Chat format of text actions, a key of `trace_gym.actions.FORMATS`.
        interface: Replaces the world's own interface, for example by the exact texts of an installed benchmark.
        share_start: Take the verifier's checks of the start state from an earlier episode that began in the same
            state, as the members of a GRPO group do. Only for a world whose `verify` depends on nothing but its
            arguments; validation checks that, so `trace_gym.registry.episode` sets it.
        user: Rewords what the scripted user of the world says, for example with a language model. The world still
            decides every answer and the end of the conversation.

    Raises:
        ScenarioError: The level does not exist.
        ConfigError: There is no such chat format.
        EnvBug: `generate` failed, or the opening is no text.
    """

    user: Speaker | None = None
    failure: TraceGymError | None = None
    """The error of `user` that makes the episode unscorable; every further call raises it."""
    script: list[str]
    """Messages of the scripted user, before they were reworded."""
    fallbacks: int = 0
    """Messages of the script that `user` could not reword."""

    def __init__(
        self,
        world: type[World],
        scenario: Scenario,
        *,
        style: str = "hermes",
        interface: Interface | None = None,
        share_start: bool = False,
        user: Speaker | None = None,
    ) -> None:
        if scenario.level not in world.levels:
            raise ScenarioError(f"{world.id} has levels {list(world.levels)}, not {scenario.level}")
        if style not in FORMATS:
            raise ConfigError(f"{style!r} is no chat format; registered are {', '.join(FORMATS)}")
        self.scenario = scenario
        self.style = style
        self.share_start = share_start
        self.interface = interface or interface_of(world)
        try:
            self.world = world.generate(Random(str(scenario)), scenario.level)
            self.start = self.world.copy()
            opening = _storable(self.world.opening())
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
        """The OpenAI function tools, raw JSON Schemas in the target's order."""
        return self.interface.tools

    @property
    def state_hash(self) -> str:
        """Hex digest of the canonical state; equal for all members of a group at the start."""
        return hashlib.sha256(json.dumps(self.world, sort_keys=True, default=_canonical).encode()).hexdigest()

    def step(self, action: Action) -> list[Message]:
        """Take one assistant turn and return the messages that answer it.

        Whatever the model wrote is answered, never raised: a turn that cannot be read, an unknown
        tool or an ill-typed argument leaves the state as it was. After the end every action is
        answered by the same notice.

        Raises:
            EnvBug: The world raised something other than ToolError; the fault is the environment's.
            UserUnavailable: The language model behind the user failed; the episode ends and is not scored.
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
        except Exception as error:  # ToolError is answered where the tool is called
            raise self._bug(f"turn {self.turns}", error) from error
        if self.user is not None and len(self.script) > scripted and not self.done:
            self._reword()
        return answers

    def checks(self) -> Iterator[Check]:
        """Evaluate the goals, guards and conduct checks on the present state."""
        yield from self.world.verify(self.start, self.said)
        yield from self.world.conduct(self.start, self.events)

    def finish(self) -> Score:
        """End the episode now (an agent that stops, a budget that ran out) and return its score.

        Raises:
            EnvBug: The verifier failed.
            UserUnavailable: The language model behind the user failed before.
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
        """Replace the last message, which the script wrote, by the words of `user`."""
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
        """Raise the error that the user's model failed with, if it has failed."""
        if self.failure is not None:
            self.done = True
            raise self.failure

    def _take(self, action: Action) -> tuple[Message, list[Message]]:
        """The turn as it stands in the conversation, and what answers it."""
        try:
            text, calls = self._read(action)
        except Malformed as error:
            self.malformed += 1
            refusal = f"Error: {clean(str(error))}. Nothing was done. The tools are {', '.join(self.interface.kinds)}."
            return {"role": "assistant", "content": _shown(action)}, [{"role": "user", "content": refusal}]
        turn: Message = {"role": "assistant", "content": text}
        if not calls:
            return turn, self._say(text)
        ids = self._call_ids(action, len(calls))
        turn["tool_calls"] = [_wire(c, i) for c, i in zip(calls, ids, strict=True)]
        return turn, self._act(text, calls, ids)

    def _read(self, action: Action) -> tuple[str, list[Call]]:
        if isinstance(action, (Call, Say)):
            return read_step(action)
        text, calls = read_turn(action, self.style)
        if not text and not calls:
            raise Malformed("the turn is empty; write to the user or call a tool")
        return text, calls

    def _call_ids(self, action: Action, count: int) -> list[str]:
        """The ids of an OpenAI message's calls (its client matches answers by them), or our own."""
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
        self.script.append(_storable(answer))
        return [{"role": "user", "content": answer}]

    def _act(self, text: str, calls: list[Call], ids: list[str]) -> list[Message]:
        refusal = ""
        if len(calls) > self.interface.calls_per_turn:
            refusal = f"{len(calls)} calls in one turn; make at most {self.interface.calls_per_turn}"
        elif text and not self.interface.text_with_call:
            refusal = "a message and a tool call in one turn; send one or the other"
        if refusal:
            self.malformed += 1
            return [_answer(c, i, f"Error: {refusal}. Nothing was done.") for c, i in zip(calls, ids, strict=True)]
        if text:
            self.said.append(text)
            self.events.append(Event(Say(text), ""))
        answers = [_answer(c, i, self._call(c)) for c, i in zip(calls, ids, strict=True)]
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
        """Everything but the world's own interface, which the receiver has."""
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
    """The world's own interface, built once per class."""
    known = _interfaces.get(world)
    return known if known is not None else _interfaces.setdefault(world, world.interface())


def _storable(words: Any) -> str:
    """The words of a user, which every log must be able to hold.

    Raises:
        TypeError, UnicodeEncodeError: They are no text, or hold half a surrogate pair.
    """
    if not isinstance(words, str):
        raise TypeError(f"the user says {words!r}, which is no text")
    words.encode()
    return words


def _answer(call: Call, call_id: str, content: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "name": call.tool, "content": content}


def _wire(call: Call, call_id: str) -> Message:
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    return {"id": call_id, "type": "function", "function": function}


def _shown(action: Any) -> str:
    """A malformed turn as it stays in the conversation: text, bounded."""
    try:
        text = action if isinstance(action, str) else json.dumps(action)
    except (TypeError, ValueError, RecursionError):
        text = f"<{type(action).__name__}>"
    return clean(text[:2000])


def _canonical(value: Any) -> Any:
    """What JSON shall hold for a value of a world's state that it does not know."""
    if is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    return vars(value) if isinstance(value, World) else str(value)
