"""Episodes of an unadmitted module, run inside the sandbox for a caller outside of it.

Requests are JSON objects, one per line, with the operation as ``op``; each has one answer. What leaves is plain data,
and `trace_gym.sandbox.session` checks it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from trace_gym.episode import Action, Episode, interface_of
from trace_gym.errors import TraceGymError
from trace_gym.types import Call, Say, Scenario
from trace_gym.world import World

Answer = dict[str, Any]


def as_data(action: Action) -> Any:
    """Return an action as JSON data, in the form that reports use."""
    match action:
        case Call(tool, arguments):
            return {"tool": tool, "arguments": arguments}
        case Say(text):
            return {"say": text}
    return action


def as_action(data: Any) -> Any:
    """Return the action that `as_data` wrote."""
    match data:
        case {"tool": str(name), "arguments": dict(arguments)}:
            return Call(name, arguments)
        case {"say": str(text)}:
            return Say(text)
    return data


def serve(world: type[World], requests: Iterable[str], tell: Callable[..., None]) -> None:
    """Answer requests until there are no more."""
    desk = _Desk(world)
    interface = interface_of(world).model_dump(mode="json")
    tell(answer={"id": world.id, "levels": len(world.levels), "max_turns": world.max_turns, "interface": interface})
    for line in requests:
        asked = json.loads(line)
        try:
            tell(answer=_OPERATIONS[asked.pop("op")](desk, **asked))
        except TraceGymError as error:
            tell(error=type(error).__name__, says=str(error))
        except BaseException as error:  # whatever the module raised must not end the session in silence
            tell(error="EnvBug", says=f"{type(error).__name__}: {error}")


class _Desk:
    """The episodes of one session."""

    def __init__(self, world: type[World]) -> None:
        self.world = world
        self.episodes: dict[int, Episode] = {}
        self.count = 0

    def begin(self, scenario: str, style: str) -> Answer:
        episode = Episode(self.world, Scenario.parse(scenario), style=style)
        self.count += 1
        self.episodes[self.count] = episode
        return {"number": self.count, **_state(episode, 0)}

    def step(self, number: int, action: Any) -> Answer:
        episode = self.episodes[number]
        before = len(episode.messages)
        answers = episode.step(as_action(action))
        return {**_state(episode, before), "answers": list(answers)}

    def finish(self, number: int) -> Answer:
        episode = self.episodes[number]
        episode.finish()
        return _state(episode, len(episode.messages))

    def plan(self, number: int, expert: str) -> Answer:
        episode = self.episodes[number]
        steps = islice(getattr(episode.start, expert)(), self.world.max_turns + 1)
        return {"steps": [as_data(step) for step in steps]}

    def drop(self, number: int) -> Answer:
        self.episodes.pop(number, None)
        return {}


_OPERATIONS: dict[str, Callable[..., Answer]] = {
    name: getattr(_Desk, name) for name in ("begin", "step", "finish", "plan", "drop")
}


def _state(episode: Episode, before: int) -> Answer:
    """The state of an episode, with the messages after the first `before`."""
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
