"""The progress of `rollout` on stderr: a bar on a terminal, lines in a file or a pipe."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from toy_world import open_toy, toys

from trace_gym.episode import Episode
from trace_gym.policies import Oracle
from trace_gym.rollouts import rollout
from trace_gym.types import Scenario


class Clock:
    """A clock that advances with each episode."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.now, self.seconds = 0.0, seconds
        monkeypatch.setattr("trace_gym.rollouts.time", SimpleNamespace(monotonic=lambda: self.now))

    def open(self, scenario: Scenario) -> Episode:
        self.now += self.seconds
        return open_toy(scenario)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.5, ""),
        (2.0, "3 episodes in 6 s\n"),
        (20.0, "2 of 3 episodes\n3 episodes in 60 s\n"),
        (40.0, "1 of 3 episodes\n2 of 3 episodes\n3 episodes in 120 s\n"),
    ],
)
def test_slow_rollouts_print_lines_if_stderr_is_not_a_terminal(
    seconds: float, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rollout(Oracle(), toys(3), open_episode=Clock(monkeypatch, seconds).open)
    assert capsys.readouterr().err == shown
    rollout(Oracle(), toys(3), open_episode=Clock(monkeypatch, seconds).open, progress=False)
    assert capsys.readouterr().err == ""


def test_terminal_shows_a_bar_and_no_intermediate_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    rollout(Oracle(), toys(3), open_episode=Clock(monkeypatch, 40.0).open)
    shown = capsys.readouterr().err
    assert "episodes" in shown and "3 episodes in 120 s" in shown and "1 of 3" not in shown
    rollout(Oracle(), toys(3), open_episode=Clock(monkeypatch, 40.0).open, progress=False)
    assert capsys.readouterr().err == ""
