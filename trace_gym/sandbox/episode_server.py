"""Server that runs episodes inside the sandbox and responds to requests from outside.

Requests are JSON objects, one per line, with the operation in ``op``. Each request gets one response. Responses are
plain data, which `trace_gym.sandbox.sandboxed_episode` validates outside the sandbox.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from trace_gym.episode import Action, Episode, interface_of
from trace_gym.errors import TraceGymError
from trace_gym.types import Call, Say, Scenario
from trace_gym.world import World

ServerAnswer = dict[str, Any]

MAX_VALUE = 80
"""Maximum number of characters of a measured value. Longer values are truncated."""


def as_data(action: Action) -> Any:
    """Return an action as JSON data, in the form that reports use."""
    match action:
        case Call(tool, arguments):
            return {"tool": tool, "arguments": arguments}
        case Say(text):
            return {"say": text}
    return action


def as_action(data: Any) -> Any:
    """Convert JSON data from `as_data` back to an action."""
    match data:
        case {"tool": str(name), "arguments": dict(arguments)}:
            return Call(name, arguments)
        case {"say": str(text)}:
            return Say(text)
    return data


def serve(world: type[World], requests: Iterable[str], emit: Callable[..., None]) -> None:
    """Emit a description of the world, and then one response per request until the input ends."""
    server = _EpisodeServer(world)
    interface = interface_of(world).model_dump(mode="json")
    emit(answer={"id": world.id, "levels": len(world.levels), "max_turns": world.max_turns, "interface": interface})
    for line in requests:
        request = json.loads(line)
        try:
            emit(answer=_OPERATIONS[request.pop("op")](server, **request))
        except TraceGymError as error:
            emit(error=type(error).__name__, message=str(error))
        except BaseException as error:  # an exception of the module must not end the session without a response
            emit(error="EnvBug", message=f"{type(error).__name__}: {error}")


class _EpisodeServer:
    """Operations on the episodes of one session."""

    def __init__(self, world: type[World]) -> None:
        self.world = world
        self.episodes: dict[int, Episode] = {}
        self.count = 0

    def start(self, scenario: str) -> ServerAnswer:
        episode = Episode(self.world, Scenario.parse(scenario))
        self.count += 1
        self.episodes[self.count] = episode
        return {"number": self.count, **_state(episode, 0)}

    def step(self, number: int, action: Any, style: str) -> ServerAnswer:
        episode = self.episodes[number]
        episode.style = style
        before = len(episode.messages)
        answers = episode.step(as_action(action))
        return {**_state(episode, before), "answers": list(answers)}

    def finish(self, number: int) -> ServerAnswer:
        episode = self.episodes[number]
        episode.finish()
        return _state(episode, len(episode.messages))

    def plan(self, number: int, expert: str) -> ServerAnswer:
        episode = self.episodes[number]
        steps = islice(getattr(episode.start, expert)(), self.world.max_turns + 1)
        return {"steps": [as_data(step) for step in steps]}

    def measure(self, scenario: str) -> ServerAnswer:
        """Call the module's function ``measure`` with the start state of a scenario."""
        episode = Episode(self.world, Scenario.parse(scenario))
        plan = [as_data(step) for step in islice(episode.start.copy().oracle(), self.world.max_turns + 1)]
        measure = sys.modules[self.world.__module__].measure  # a function that was appended to the module
        return {"value": str(measure(episode.start.copy(), episode.messages[-1]["content"], plan))[:MAX_VALUE]}

    def drop(self, number: int) -> ServerAnswer:
        self.episodes.pop(number, None)
        return {}


_OPERATIONS: dict[str, Callable[..., ServerAnswer]] = {
    name: getattr(_EpisodeServer, name) for name in ("start", "step", "finish", "plan", "measure", "drop")
}


def _state(episode: Episode, before: int) -> ServerAnswer:
    """Return the state of an episode, with all messages except for the first `before`."""
    return {
        "messages": episode.messages[before:],
        "turns": episode.turns,
        "malformed": episode.malformed,
        "said": len(episode.said),
        "done": episode.done,
        "truncated": episode.truncated,
        "ended": bool(episode.world.ended),
        "hash": episode.state_hash,
        "score": episode.score.model_dump(mode="json") if episode.score else None,
    }
