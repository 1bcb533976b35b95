"""Rollouts with asynchronous libraries, to which the caller supplies the turns of the model one at a time."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from functools import cache
from queue import SimpleQueue
from typing import Any, NamedTuple

from trace_gym.errors import ConfigError
from trace_gym.nested import parse_if_json
from trace_gym.validation.third_party.black_box import BlackBox, TurnResponse

Ask = Callable[[str], Awaitable[str]]
"""Function that takes the text that the model sees since its last turn, and returns its next turn."""


class RolloutOutcome(NamedTuple):
    """Result of a finished rollout."""

    reward: float
    observation: str = ""
    """Text of the environment after the last turn."""


def event_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of this process that runs rollouts in a background thread."""
    return _event_loop_of(os.getpid())  # a forked process has no background thread


@cache
def _event_loop_of(process: int) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="trace-gym-rollouts", daemon=True).start()
    return loop


class ScriptedRollout:
    """Rollout in progress. It runs until it asks for a turn, and continues when `act` supplies the turn."""

    def __init__(self, run: Callable[[Ask], Coroutine[Any, Any, RolloutOutcome]]) -> None:
        self._asked: SimpleQueue[str | None] = SimpleQueue()
        self._turn: asyncio.Future[str] | None = None
        self._future: Future[RolloutOutcome] = asyncio.run_coroutine_threadsafe(run(self._ask), event_loop())
        self._future.add_done_callback(lambda _: self._asked.put(None))
        self.seen: str | None = self._asked.get()
        """Text that the model sees before its next turn; None if the rollout is finished."""

    async def _ask(self, seen: str) -> str:
        self._turn = asyncio.get_running_loop().create_future()
        self._asked.put(seen)
        return await self._turn

    @property
    def done(self) -> bool:
        return self.seen is None

    def act(self, text: str) -> None:
        """Supply a turn, and wait until the rollout asks for the next one or finishes."""
        assert self._turn is not None and not self.done
        event_loop().call_soon_threadsafe(self._turn.set_result, text)
        self.seen = self._asked.get()

    def result(self) -> RolloutOutcome:
        """Return the result of a finished rollout, or raise its exception."""
        return self._future.result()

    def close(self) -> None:
        """Cancel the rollout if it is not finished."""
        if not self.done:
            self._future.cancel()
            self.seen = None


class ScriptedBox(BlackBox):
    """Environment of an asynchronous library. Its rollout requests the turns of the agent one at a time."""

    _rollout: ScriptedRollout | None = None

    @abstractmethod
    async def rollout(self, seed: int, ask: Ask) -> RolloutOutcome:
        """Run the rollout of a problem, and return its result."""

    def begin(self, seed: int) -> str:
        self.close()
        self._rollout = ScriptedRollout(lambda ask: self.rollout(seed, ask))
        if self._rollout.seen is None:
            self._rollout.result()  # raises the exception that ended the rollout
            return ""
        return self._rollout.seen

    def act(self, text: str) -> TurnResponse:
        if self._rollout is None or self._rollout.done:
            return TurnResponse("", 0.0, True)
        self._rollout.act(encodable(text))
        if self._rollout.seen is not None:
            return TurnResponse(self._rollout.seen, 0.0, False)
        reward, observation = self._rollout.result()
        return TurnResponse(observation, reward, True)

    def close(self) -> None:
        if self._rollout is not None:
            self._rollout.close()
        self._rollout = None


def content_text(content: Any) -> str:
    """Return the text of the content of a message, which is a text or a list of parts; other parts are omitted."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") if isinstance(part, Mapping) else getattr(part, "text", None) for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


def new_text(messages: list[Any]) -> str:
    """Return the text of the messages after the last one of the assistant."""
    roles = [message["role"] if isinstance(message, Mapping) else message.role for message in messages]
    start = max((n for n, role in enumerate(roles) if role == "assistant"), default=-1) + 1
    contents = (m.get("content") if isinstance(m, Mapping) else m.content for m in messages[start:])
    return "\n\n".join(filter(None, map(content_text, contents)))


def as_tool_call(text: str) -> tuple[str, dict[str, Any]] | None:
    """Return the name and the arguments of a turn that is a JSON object with these two fields; None for other turns."""
    data = parse_if_json(text, scalars=True)
    if not (isinstance(data, dict) and data.keys() == {"name", "arguments"}):
        return None
    name, arguments = data["name"], data["arguments"]
    return (name, arguments) if isinstance(name, str) and isinstance(arguments, dict) else None


def encodable(text: str) -> str:
    """Return the text in a form that can be encoded as UTF-8, as an endpoint requires."""
    return text.encode(errors="replace").decode()


REFERENCE = "{answer}"
"""Default of the URI option ``reference``."""


def fill_reference(template: str, fields: Mapping[str, Any], uri: str) -> str | None:
    """Return the reference solution: the template with the names in braces replaced by fields of the problem.

    Return None if a field is empty, or if the default template is used and the problem has no such field.

    Raises:
        ConfigError: The template contains no field, or a field that the problem does not have.
    """
    named = re.findall(r"\{(\w+)\}", template)
    unknown = [name for name in named if name not in fields]
    if not named or (unknown and template != REFERENCE):
        raise ConfigError(
            f"invalid option 'reference' in {uri}: found {template!r}, expected a text with at least one of the "
            f"fields {', '.join('{' + name + '}' for name in fields)}"
        )
    if unknown or any(fields[name] in (None, "") for name in named):
        return None
    return re.sub(r"\{(\w+)\}", lambda found: str(fields[found[1]]), template)
