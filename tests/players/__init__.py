"""Episodes of the same environments through each library that they support, for `test_contract`.

A module here is one library. It ends with `PLAYERS`, a list; where its package is missing the list is empty and
`MISSING` states the reason, which the suite prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from trace_gym.chat_formats import FORMATS
from trace_gym.episode import Action
from trace_gym.types import Call, Message, Say, Scenario


class Session(Protocol):
    """One rollout of a scenario through a library."""

    @property
    def tools(self) -> Sequence[Message]:
        """The OpenAI function tools that the policy sees, in their order."""

    def act(self, action: Action) -> list[str]:
        """Take one assistant turn, a scripted step or a text as a model wrote it; the contents that answer it."""

    @property
    def done(self) -> bool:
        """Whether the library knows that the rollout is over."""

    def reward(self) -> float | None:
        """Return the reward that the library reports for the rollout at this point; None is 'not scored'."""


class Player(Protocol):
    """A library as it plays our environments.

    One that cannot carry every text, or answers some by itself, has `ugly`: those of them that an episode answers.
    """

    name: str
    talks: bool
    """Whether a word to the user is answered; where not, a turn without a call ends the rollout."""

    def open(self, scenario: Scenario) -> AbstractContextManager[Session]:
        """Begin a rollout; the session closes with the block."""


def text_of(action: Action) -> str:
    """The assistant turn as a model writes it."""
    if isinstance(action, Call):
        return FORMATS["hermes"].render(action)
    assert isinstance(action, (Say, str))
    return action if isinstance(action, str) else action.text


def players() -> Iterator[Player]:
    for module in iter_modules(__path__):
        yield from import_module(f"{__name__}.{module.name}").PLAYERS


def missing() -> dict[str, str]:
    """The libraries that are not here, and why."""
    found = ((m.name, getattr(import_module(f"{__name__}.{m.name}"), "MISSING", "")) for m in iter_modules(__path__))
    return {name: reason for name, reason in found if reason}
