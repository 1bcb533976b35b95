"""Interface of what puts the answers of a scripted user into words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from trace_gym.types import Message, Scenario


class Spoken(NamedTuple):
    """The words of a user."""

    text: str
    scripted: bool = False
    """True if the words of the script are used because no other words passed the check."""


class Speaker(Protocol):
    """Rewords what the script of a user says. It decides neither what is answered nor when the conversation ends."""

    @property
    def name(self) -> str:
        """Recorded with the trajectory; two speakers that use other words have different names."""
        ...

    def speak(self, scenario: Scenario, script: Sequence[str], conversation: Sequence[Message]) -> Spoken:
        """Return other words for the last message of the script.

        Args:
            scenario: Scenario of the episode.
            script: Everything that the script has said in this episode. The first message is the opening.
            conversation: User and agent messages so far. It is empty for the opening.

        Raises:
            UserUnavailable: The infrastructure failed, so the episode cannot be scored.
        """
        ...
