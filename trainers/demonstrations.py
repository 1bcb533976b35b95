"""Token sequences of demonstrations: episodes whose assistant turns were written by the oracle or recorded earlier."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trace_gym.actions import read_turn
from trace_gym.chat_formats import FORMATS
from trace_gym.episode import Action, Episode
from trace_gym.errors import ConfigError
from trace_gym.policies.base import Policy
from trace_gym.policies.chat import Chat
from trace_gym.records import read_records
from trace_gym.trainers.batch import TrainingSample
from trace_gym.types import Call, Message, Say, Trajectory


class RecordedPolicy:
    """Policy that repeats the assistant turns of a recorded episode."""

    name = "recorded"

    def __init__(self, record: Trajectory) -> None:
        self._turns: Iterator[Message] = iter([m for m in record.messages if m["role"] == "assistant"])

    def act(self, episode: Episode) -> Action:
        """Return the next recorded turn."""
        return next(self._turns)


def successful(paths: tuple[Path, ...], environments: list[str]) -> list[Trajectory]:
    """Return the successful episodes of the environments in the files of ``trace-gym rollout``.

    Raises:
        ReadError: A file cannot be read.
        ConfigError: The files contain no successful episode of the environments.
    """
    records = [record for path in paths for record in read_records(path)]
    found = [r for r in records if r.success and r.task.partition("/")[0] in environments]
    if not found:
        raise ConfigError(
            f"the files in rollouts contain no successful episode of {' or '.join(environments)}: found {len(records)} "
            "other episodes. Use files with successful episodes"
        )
    return found


def demonstrate(chat: Chat, episode: Episode, policy: Policy, max_tokens: int) -> TrainingSample | None:
    """Run a policy in an episode, and return the tokens of the conversation with the assistant's tokens as targets.

    The tokens are the same as in a rollout in which the model writes these turns.

    Args:
        chat: Renderer of the model.
        episode: A new episode.
        policy: Policy that writes the turns.
        max_tokens: Maximum number of tokens.

    Returns:
        The sample, or None if the conversation is too long.
    """
    episode.style = chat.style
    ids = chat.opening(episode.messages, episode.tools)
    mask = [False] * len(ids)
    while not episode.done:
        text = turn_text(policy.act(episode), chat.style)
        turn = [*chat.ids(text), chat.eos]
        answers = episode.step(text)
        ids, mask = [*ids, *turn], [*mask, *[True] * len(turn)]
        if len(ids) > max_tokens:
            return None
        if not episode.done:
            following = chat.answer(answers, episode.tools)
            ids, mask = [*ids, *following], [*mask, *[False] * len(following)]
    return TrainingSample(ids, mask, [0.0] * len(ids), 1.0)


def turn_text(action: Action, style: str) -> str:
    """Return an assistant turn as the text that a model with this chat format writes."""
    match action:
        case Call() as call:
            return FORMATS[style].render(call)
        case Say(text) | str(text):
            return text
        case message:
            text, calls = read_turn(message)
            return "\n".join(filter(None, [text, *map(FORMATS[style].render, calls)]))
