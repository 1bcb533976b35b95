"""URIs of third-party environments: ``scheme:name``, with options after a question mark.

    gym:module:id?level=1              a Gymnasium environment with text actions; the module registers the id
    reasoning-gym:chain_sum?min_terms=3
    skyrl:gsm8k@tasks.jsonl            a skyrl-gym environment with its tasks
    openenv:http://localhost:8000      a running OpenEnv server
    verifiers:my-env                   an environment of verifiers
    inspect:file.py@task               a task of Inspect
    rollouts:log.jsonl@-1..1           rewards that a trainer has logged
    function:module:reward@cases.jsonl  a reward function with prompts and references

A URI is sufficient for a fresh process to open the environment, so reports and snippets contain it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from trace_gym.errors import ConfigError, EnvBug, MissingExtra
from trace_gym.nested import parse_if_json
from trace_gym.validation.third_party.black_box import BlackBox, Busy

RETRY_SECONDS = 5.0
"""Maximum time in seconds for retries of opening an environment. A server may release a closed session with a delay."""
COMMON: dict[str, type] = {"low": float, "high": float, "limit": int, "tolerance": float}
"""Options of all environments: the range of the total reward of a rollout, the turn limit, and the relative error that
the environment intentionally accepts in numeric answers."""

SEARCHED = (
    "Modules are searched in the working directory and in the folders of PYTHONPATH. Run the command in the folder of "
    "the module, or add the folder to PYTHONPATH"
)
"""Advice for a module that does not exist."""


@dataclass(frozen=True, slots=True)
class EnvironmentURI:
    """Parsed URI of an environment."""

    text: str
    scheme: str
    name: str
    options: dict[str, Any] = field(default_factory=dict)


Opener = Callable[[EnvironmentURI], BlackBox]


def _later(module: str, name: str) -> Opener:
    """Return a function that opens an environment and imports the adapter's module only when it is called."""

    def opener(address: EnvironmentURI) -> BlackBox:
        box: BlackBox = getattr(import_module(f"trace_gym.validation.third_party.{module}"), name)(address)
        return box

    return opener


SCHEMES: dict[str, Opener] = {
    "gym": _later("gymnasium_box", "GymBox"),
    "reasoning-gym": _later("reasoning", "ReasoningBox"),
    "skyrl": _later("skyrl", "SkyrlBox"),
    "openenv": _later("openenv", "OpenEnvBox"),
    "verifiers": _later("verifiers_box", "VerifiersBox"),
    "inspect": _later("inspect_box", "InspectBox"),
    "rollouts": _later("recorded_rollouts", "RecordedBox"),
    "function": _later("reward_function", "FunctionBox"),
}
"""Functions that open an environment, by URI scheme. Add an entry to support another kind of environment."""


def is_third_party(target: object) -> bool:
    """Return whether a target of `validate` is the URI of a third-party environment."""
    return isinstance(target, str) and target.partition(":")[0] in SCHEMES and ":" in target


def parse_uri(text: str, schemes: Collection[str] = SCHEMES) -> EnvironmentURI:
    """Parse a URI.

    Args:
        text: The URI.
        schemes: Schemes that the URI may have.

    Raises:
        ConfigError: The URI is not valid, or an option does not have the form ``key=value``.
    """
    scheme, _, rest = text.partition(":")
    name, _, query = rest.partition("?")
    if scheme not in schemes or not name:
        raise ConfigError(
            f"{text!r} is not a valid environment URI: expected one of {', '.join(f'{s}:NAME' for s in schemes)}"
        )
    options: dict[str, Any] = {}
    for pair in query.split("&") if query else ():
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise ConfigError(f"{text!r} has an invalid option: found {pair!r}, expected key=value")
        options[key] = parse_if_json(value, scalars=True)
    return EnvironmentURI(text, scheme, name, options)


def open_box(text: str) -> BlackBox:
    """Open the environment of a URI.

    Raises:
        ConfigError: The URI, or one of its options, is not valid.
        MissingExtra: The library of the environment is not installed.
        EnvNotFound, ReadError: The environment or a file does not exist.
        EnvBug: The environment cannot be created.
        Busy: The server accepts no further session.
    """
    address = parse_uri(text)
    common = {k: address.options.pop(k) for k in list(address.options) if k in COMMON}
    try:
        box = SCHEMES[address.scheme](address)
    except SystemExit as error:  # raised by an imported module or a constructor
        raise creation_error(text, error) from None
    box.name = text
    for key, value in common.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ConfigError(f"invalid option {key!r} in {text}: found {value!r}, expected a number")
        setattr(box, key, COMMON[key](value))
    if not box.low <= 0 < box.high or box.limit < 1:
        raise ConfigError(
            f"invalid options in {text}: found low={box.low:g}, high={box.high:g} and limit={box.limit}, expected "
            "low <= 0 < high and limit >= 1"
        )
    if box.tolerance is not None and not 0 <= box.tolerance < 1:
        raise ConfigError(f"invalid option 'tolerance' in {text}: found {box.tolerance:g}, expected 0 <= tolerance < 1")
    return box


def import_required(module: str, extra: str, address: EnvironmentURI) -> Any:
    """Import and return a module that an environment requires.

    Raises:
        MissingExtra: The module is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(f"{address.text} requires {error.name}. Run pip install 'trace-gym[{extra}]'") from None


def open_with_retry(text: str) -> BlackBox:
    """Open an environment, and retry while its server accepts no further session.

    Raises:
        Busy: The server accepted no session within `RETRY_SECONDS` seconds.
    """
    end = time.monotonic() + RETRY_SECONDS
    while True:
        try:
            return open_box(text)
        except Busy:
            if time.monotonic() > end:
                raise
        time.sleep(0.05)


def creation_error(what: str, error: BaseException) -> EnvBug:
    """Return the error for an environment that cannot be created."""
    return EnvBug(f"{what} cannot be created: {type(error).__name__}: {str(error)[:300]}")
