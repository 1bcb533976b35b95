"""The counterexamples of a report, played again: ``python -m trace_gym.report.replays``.

They are played in a process of their own, as an environment that failed may hang, quit or print. The program reads
``{"env": <as the report names it>, "replays": [...]}`` from standard input and writes a JSON object a line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from trace_gym.episode import Episode
from trace_gym.errors import TraceGymError
from trace_gym.registry import is_admitted
from trace_gym.sandbox import begin_confined
from trace_gym.types import Call, Message, Record, Replay, Say, Trajectory
from trace_gym.validate.foreign import is_foreign
from trace_gym.validate.foreign.transcript import transcript
from trace_gym.validate.lifeline import die_with_parent
from trace_gym.validate.source import begin, file_behind

TIME_LIMIT = 60.0
"""Seconds for all replays of a report."""


class Played(Record):
    """A replay as a conversation, and what kept it from being played to its end."""

    trajectory: Trajectory | None = None
    """None where it did not begin; not scored where the environment failed on the way."""
    trouble: str = ""


def played(env: str, replays: Sequence[Replay], seconds: float = TIME_LIMIT) -> list[Played]:
    """What comes of each replay now; whatever the environment does ends in words.

    Args:
        env: The environment, as its report names it.
        replays: Its counterexamples.
        seconds: For all of them together.
    """
    if not replays:
        return []
    job = json.dumps({"env": env, "replays": [r.model_dump(mode="json") for r in replays]})
    path = os.pathsep.join(p or os.getcwd() for p in sys.path)
    with tempfile.TemporaryFile() as out:
        try:
            ended = subprocess.run(
                [sys.executable, "-W", "ignore", "-m", "trace_gym.report.replays"],
                env={**os.environ, "PYTHONPATH": path},
                input=job.encode(),
                stdout=out,  # a file keeps what was written before the time was over
                stderr=subprocess.DEVNULL,
                timeout=seconds,
            )
            cause = f"the process that played it ended with exit code {ended.returncode}"
        except subprocess.TimeoutExpired:
            cause = f"it was not over after {seconds:g} seconds"
        out.seek(0)
        made = [Played.model_validate_json(line) for line in out.read().splitlines(keepends=True) if line[-1:] == b"\n"]
    rest = [cause, *["not tried, as one before it did not end"] * len(replays)]
    return [*made, *(Played(trouble=why) for why in rest[: len(replays) - len(made)])]


def action(data: Any) -> Any:
    """The action that a report holds as JSON."""
    match data:
        case {"tool": str(name), "arguments": dict(arguments)}:
            return Call(name, arguments)
        case {"say": str(text)}:
            return Say(text)
    return data


def main() -> None:
    """Play what standard input names, one after the other."""
    die_with_parent()
    asked = json.load(sys.stdin)
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # what the environment prints is no answer
        for replay in asked["replays"]:
            print(_line(asked["env"], Replay.model_validate(replay)), file=answers, flush=True)


def _line(env: str, replay: Replay) -> str:
    try:
        return _play(env, replay).model_dump_json()
    except (Exception, SystemExit) as error:
        return Played(trouble=_words(error)).model_dump_json()


def _play(env: str, replay: Replay) -> Played:
    if is_foreign(env):
        return Played(trajectory=transcript(env, replay))
    path = file_behind(env)
    if path is None or is_admitted(path):
        episode = begin(env, replay.scenario)
    else:
        episode = begin_confined(path, replay.scenario)
    trouble = ""
    for taken, step in enumerate(map(action, replay.actions)):
        if episode.done:
            trouble = f"the conversation was over after {taken} of {len(replay.actions)} turns"
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
    """The episode as it is, without asking the experts anything."""
    return Trajectory(
        id=str(episode.scenario),
        task=str(episode.scenario),
        messages=(*episode.messages, *more),
        success=episode.score.success if episode.score else None,
        score=episode.score,
        tools=episode.interface.kinds,
    )


def _turn(step: Any) -> Message:
    """A turn that the environment did not live to write down."""
    match step:
        case Call(tool, arguments):
            call = {"id": "", "function": {"name": tool, "arguments": json.dumps(arguments)}}
            return {"role": "assistant", "content": "", "tool_calls": [call]}
        case Say(text) | str(text):
            return {"role": "assistant", "content": text}
    return {"role": "assistant", "content": json.dumps(step)}


def _words(error: BaseException) -> str:
    told = str(error) if isinstance(error, TraceGymError) else f"{type(error).__name__}: {error}"
    return told.encode(errors="replace").decode()


if __name__ == "__main__":
    main()
