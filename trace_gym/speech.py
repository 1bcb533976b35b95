"""Interface for models that reword the messages of a scripted user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from trace_gym.types import Message, Scenario


class Spoken(NamedTuple):
    """A reworded message of the user."""

    text: str
    scripted: bool = False
    """Whether the text of the script was kept because no reworded text passed the check."""


class Speaker(Protocol):
    """Interface for rewording a scripted user. The script still decides each answer and the end of the conversation."""

    @property
    def name(self) -> str:
        """Name that is recorded with the trajectory. Speakers that reword messages differently have different names."""
        ...

    def speak(self, scenario: Scenario, script: Sequence[str], conversation: Sequence[Message]) -> Spoken:
        """Return a rewording of the last message of the script.

        Args:
            scenario: Scenario of the episode.
            script: All messages of the script in this episode. The first message is the opening.
            conversation: User and agent messages so far. It is empty for the opening.

        Raises:
            UserUnavailable: The infrastructure failed, so the episode cannot be scored.
        """
        ...
