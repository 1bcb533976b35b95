"""Where a foreign environment comes from: ``scheme:name``, with options after a question mark.

    gym:module:id?level=1              a Gymnasium environment with text actions; the module registers the id
    reasoning-gym:chain_sum?min_terms=3
    skyrl:gsm8k@tasks.jsonl            a skyrl-gym environment and the tasks that it is fed with
    openenv:http://localhost:8000      a running OpenEnv server
    rollouts:log.jsonl@-1..1           rewards that any trainer has logged

An address is all that a fresh process needs, so it stands in reports and in snippets.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from trace_gym.errors import ConfigError, EnvBug, MissingExtra
from trace_gym.validate.foreign.box import BlackBox, Busy

PATIENCE = 5.0
"""Seconds that a session which was just closed may take to become free."""
COMMON: dict[str, type] = {"low": float, "high": float, "limit": int}
"""Options that every environment has: the range of what an attempt is paid, and the turns it is given."""


@dataclass(frozen=True, slots=True)
class Address:
    """An address, taken apart."""

    text: str
    scheme: str
    name: str
    options: dict[str, Any] = field(default_factory=dict)


Opener = Callable[[Address], BlackBox]


def _later(module: str, name: str) -> Opener:
    """An adapter that is imported when it is used."""

    def opener(address: Address) -> BlackBox:
        box: BlackBox = getattr(import_module(f"trace_gym.validate.foreign.{module}"), name)(address)
        return box

    return opener


SCHEMES: dict[str, Opener] = {
    "gym": _later("gym", "GymBox"),
    "reasoning-gym": _later("reasoning", "ReasoningBox"),
    "skyrl": _later("skyrl", "SkyrlBox"),
    "openenv": _later("openenv", "OpenEnvBox"),
    "rollouts": _later("recorded", "RecordedBox"),
}
"""What opens an environment, by the scheme of its address; another kind of environment is one more entry."""


def is_foreign(target: object) -> bool:
    """Whether a target of `validate` is the address of an environment that is none of ours."""
    return isinstance(target, str) and target.partition(":")[0] in SCHEMES and ":" in target


def parse(text: str) -> Address:
    """Take an address apart.

    Raises:
        ConfigError: It is none, or an option is no ``key=value``.
    """
    scheme, _, rest = text.partition(":")
    name, _, query = rest.partition("?")
    if scheme not in SCHEMES or not name:
        raise ConfigError(f"{text!r} is no environment; expected {', '.join(f'{s}:NAME' for s in SCHEMES)}")
    options: dict[str, Any] = {}
    for pair in query.split("&") if query else ():
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise ConfigError(f"{text!r} has the option {pair!r}; expected key=value")
        options[key] = _value(value)
    return Address(text, scheme, name, options)


def _value(text: str) -> Any:
    """JSON where it is some, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def open_box(text: str) -> BlackBox:
    """Open the environment of an address.

    Raises:
        ConfigError: The address, or one of its options, is none.
        MissingExtra: The library that the environment belongs to is not installed.
        EnvNotFound, ReadError: There is no such environment, or no such file.
        EnvBug: It cannot be made.
        Busy: It serves no further session.
    """
    address = parse(text)
    common = {k: address.options.pop(k) for k in list(address.options) if k in COMMON}
    try:
        box = SCHEMES[address.scheme](address)
    except SystemExit as error:  # of a module that ends the program, or of a constructor
        raise trouble(text, error) from None
    box.name = text
    for key, value in common.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ConfigError(f"{text}: {key} is {value!r}; expected a number")
        setattr(box, key, COMMON[key](value))
    if not box.low <= 0 < box.high or box.limit < 1:
        says = f"pays {box.low:g} to {box.high:g} within {box.limit} turns"
        raise ConfigError(f"{text} {says}; expected low <= 0 < high, and a turn at least")
    return box


def needed(module: str, extra: str, address: Address) -> Any:
    """The module that an environment needs.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(f"{address.text} needs {error.name}: pip install 'trace-gym[{extra}]'") from None


def open_patiently(text: str) -> BlackBox:
    """Open an environment whose only session may have been closed a moment ago.

    Raises:
        Busy: It is still not free after `PATIENCE` seconds.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return open_box(text)
        except Busy:
            if time.monotonic() > end:
                raise
        time.sleep(0.05)


def trouble(what: str, error: BaseException) -> EnvBug:
    """An environment that cannot be made, in words."""
    return EnvBug(f"{what} cannot be made: {type(error).__name__}: {str(error)[:300]}")
