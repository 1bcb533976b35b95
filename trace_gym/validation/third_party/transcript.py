"""Conversion of a third-party environment's counterexample to a conversation for display."""

from __future__ import annotations

from contextlib import closing

from trace_gym.types import Message, Replay, Trajectory
from trace_gym.validation.third_party.black_box import exits_raise, take_turn
from trace_gym.validation.third_party.uri import open_with_retry


def transcript(address: str, replay: Replay) -> Trajectory:
    """Replay the turns of a counterexample and return the conversation, which includes the reward of each turn.

    Raises:
        TraceGymError: The environment cannot be opened.
    """
    seed = int(replay.scenario.rpartition("/")[2])
    with exits_raise(), closing(open_with_retry(address)) as box:
        messages: list[Message] = [{"role": "user", "content": box.begin(seed)}]
        for action in replay.actions:
            turn = take_turn(box, str(action))
            end = ", end of the rollout" if turn.done else ""
            observation = f"{turn.observation}\n\n" if turn.observation else ""
            messages += [
                {"role": "assistant", "content": str(action)},
                {"role": "user", "content": f"{observation}(reward {turn.reward:g}{end})"},
            ]
    return Trajectory(id=replay.scenario, task=replay.scenario, messages=tuple(messages))
