"""Replay of the counterexamples of a report: ``python -m trace_gym.report.replays``.

The replays run in a separate process, because an environment that failed may hang, exit or print. The program reads
``{"env": <environment of the report>, "replays": [...]}`` from standard input and writes one JSON object per line.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from trace_gym.episode import Episode
from trace_gym.errors import TraceGymError
from trace_gym.interpreter import complete_lines
from trace_gym.parent_death import die_with_parent
from trace_gym.registry import is_admitted
from trace_gym.sandbox import start_sandboxed_episode
from trace_gym.types import Call, Message, Record, Replay, Say, Trajectory
from trace_gym.validation.source import begin, file_behind
from trace_gym.validation.third_party import is_third_party
from trace_gym.validation.third_party.transcript import transcript

TIME_LIMIT = 60.0
"""Time limit in seconds for all replays of a report together."""


class Played(Record):
    """Result of a replay: the trajectory, and the error message if the replay stopped early."""

    trajectory: Trajectory | None = None
    """The replayed episode; None if it did not start. It is not scored if the environment failed during the replay."""
    trouble: str = ""


def played(env: str, replays: Sequence[Replay], seconds: float = TIME_LIMIT) -> list[Played]:
    """Replay counterexamples in a separate process, and return the results. Failures are returned in `Played.trouble`.

    Args:
        env: The environment, as named in its report.
        replays: The counterexamples.
        seconds: Time limit for all replays together.
    """
    if not replays:
        return []
    job = {"env": env, "replays": [r.model_dump(mode="json") for r in replays]}
    lines, code = complete_lines("trace_gym.report.replays", job, seconds)
    made = [Played.model_validate_json(line) for line in lines]
    cause = f"the replay process ended with exit code {code}"
    if code is None:
        cause = f"the replay exceeded the time limit of {seconds:g} seconds"
    rest = [cause, *["not replayed, because an earlier replay did not finish"] * len(replays)]
    return [*made, *(Played(trouble=why) for why in rest[: len(replays) - len(made)])]


def action(data: Any) -> Any:
    """Convert an action from its JSON representation in a report."""
    match data:
        case {"tool": str(name), "arguments": dict(arguments)}:
            return Call(name, arguments)
        case {"say": str(text)}:
            return Say(text)
    return data


def main() -> None:
    """Read replays from standard input, run them in order, and print one result per line."""
    die_with_parent()
    request = json.load(sys.stdin)
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # the output of the environment goes to stderr
        for replay in request["replays"]:
            print(_line(request["env"], Replay.model_validate(replay)), file=answers, flush=True)


def _line(env: str, replay: Replay) -> str:
    try:
        return _play(env, replay).model_dump_json()
    except (Exception, SystemExit) as error:
        return Played(trouble=_words(error)).model_dump_json()


def _play(env: str, replay: Replay) -> Played:
    if is_third_party(env):
        return Played(trajectory=transcript(env, replay))
    path = file_behind(env)
    if path is None or is_admitted(path):
        episode = begin(env, replay.scenario)
    else:
        episode = start_sandboxed_episode(path, replay.scenario)
    trouble = ""
    for taken, step in enumerate(map(action, replay.actions)):
        if episode.done:
            trouble = f"the conversation ended after {taken} of {len(replay.actions)} turns"
            break
        try:
            episode.step(step)
        except (Exception, SystemExit) as error:
            return Played(trajectory=_record(episode, _turn(step)), trouble=_words(error))
    try:
        episode.finish()
    except (Exception, SystemExit) as error:
        trouble = _words(error)
    return Played(trajectory=_record(episode), trouble=trouble)


def _record(episode: Episode, *more: Message) -> Trajectory:
    """Return the episode as a trajectory, without running the oracle."""
    return Trajectory(
        id=str(episode.scenario),
        task=str(episode.scenario),
        messages=(*episode.messages, *more),
        success=episode.score.success if episode.score else None,
        score=episode.score,
        tools=episode.interface.kinds,
    )


def _turn(step: Any) -> Message:
    """Return the assistant message for an action during which the environment failed."""
    match step:
        case Call(tool, arguments):
            call = {"id": "", "function": {"name": tool, "arguments": json.dumps(arguments)}}
            return {"role": "assistant", "content": "", "tool_calls": [call]}
        case Say(text) | str(text):
            return {"role": "assistant", "content": text}
    return {"role": "assistant", "content": json.dumps(step)}


def _words(error: BaseException) -> str:
    text = str(error) if isinstance(error, TraceGymError) else f"{type(error).__name__}: {error}"
    return text.encode(errors="replace").decode()


if __name__ == "__main__":
    main()
