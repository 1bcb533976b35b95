"""The counterexample of a foreign environment, played again as a conversation."""

from __future__ import annotations

from contextlib import closing

from trace_gym.types import Message, Replay, Trajectory
from trace_gym.validate.foreign.address import open_patiently
from trace_gym.validate.foreign.box import exits_raise, take


def transcript(address: str, replay: Replay) -> Trajectory:
    """What is said and paid when the turns of a counterexample are taken now; it is not scored.

    Raises:
        TraceGymError: The environment cannot be opened.
    """
    seed = int(replay.scenario.rpartition("/")[2])
    with exits_raise(), closing(open_patiently(address)) as box:
        messages: list[Message] = [{"role": "user", "content": box.begin(seed)}]
        for action in replay.actions:
            turn = take(box, str(action))
            end = ", and it is over" if turn.done else ""
            told = f"{turn.observation}\n\n" if turn.observation else ""
            messages += [
                {"role": "assistant", "content": str(action)},
                {"role": "user", "content": f"{told}(paid {turn.reward:g}{end})"},
            ]
    return Trajectory(id=replay.scenario, task=replay.scenario, messages=tuple(messages))
