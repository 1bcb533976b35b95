"""Adapter for environments of the library verifiers, which use its interface of version 0.3 or 0.4."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Protocol

from trace_gym.errors import ConfigError, EnvNotFound, TraceGymError
from trace_gym.validation.third_party.scripted_rollout import (
    REFERENCE,
    Ask,
    RolloutOutcome,
    ScriptedBox,
    fill_reference,
)
from trace_gym.validation.third_party.uri import EnvironmentURI, creation_error, import_required

TASKSETS = "verifiers.v1.tasksets"
"""Package with the tasksets that verifiers contains."""


class VerifiersBackend(Protocol):
    """Backend for environments of one version of the verifiers interface."""

    problems: int | None
    limit: int
    low: float
    high: float

    async def rollout(self, seed: int, limit: int, ask: Ask) -> RolloutOutcome:
        """Run the rollout of a problem with a turn limit."""

    def fields(self, seed: int) -> Mapping[str, Any]:
        """Return the data of a problem, from which the reference solution is created."""


class VerifiersBox(ScriptedBox):
    """An environment of verifiers, with a URI such as ``verifiers:my-env?reference=<answer>{answer}</answer>``.

    The name is that of an installed environment, as for `verifiers.load_environment`. A seed is the number of a
    row or a task. The whole rollout runs in the environment; the validation supplies only the turns of the model. The
    reward is that of the environment after the last turn. The URI option ``reference`` is the form of the reference
    solution. The other options are passed to the environment.
    """

    missing_reference = (
        "the rows have no value for the reference; set the option `reference` to a template with their fields"
    )
    kind: ClassVar[str] = "a verifiers environment"

    def __init__(self, address: EnvironmentURI) -> None:
        options = dict(address.options)
        self._reference = str(options.pop("reference", REFERENCE))
        try:
            self._backend = _backend(address, options)
            fields = self._backend.fields(0)
        except TraceGymError:
            raise
        except (Exception, SystemExit) as error:
            raise creation_error(address.text, error) from error
        fill_reference(self._reference, fields, address.text)
        self._uri = address.text
        self.problems, self.limit = self._backend.problems, self._backend.limit
        self.low, self.high = self._backend.low, self._backend.high

    async def rollout(self, seed: int, ask: Ask) -> RolloutOutcome:
        """Run the rollout of a row or a task in the environment."""
        return await self._backend.rollout(seed, self.limit, ask)

    def solution(self, seed: int) -> list[str] | None:
        turn = fill_reference(self._reference, self._backend.fields(seed), self._uri)
        return None if turn is None else [turn]


def _backend(address: EnvironmentURI, options: dict[str, Any]) -> VerifiersBackend:
    library = import_required("verifiers", "verifiers", address)
    name = address.name
    module = name.rpartition("/")[2].partition("@")[0].replace("-", "_")
    builtin = find_spec(f"{TASKSETS}.{module.lower()}") if find_spec(TASKSETS) else None
    spec = builtin or _module_spec(module)
    if spec is None:
        raise EnvNotFound(
            f"{address.text} does not exist: found no module {module}. Install the environment, or run the command in "
            "the folder that contains the module"
        )
    supported = find_spec("verifiers.legacy") is not None
    if not supported and _names_loader(spec):  # such a module cannot be imported with another version
        raise ConfigError(
            f"{address.text} has the function load_environment, which verifiers {library.__version__} does not "
            "support. Install the last version that supports it: pip install 'verifiers>=0.3,<0.4'"
        )
    if not hasattr(import_module(spec.name), "load_environment"):
        from trace_gym.validation.third_party.verifiers_tasks import TaskBackend

        return TaskBackend(address, options)
    from trace_gym.validation.third_party.verifiers_legacy import LegacyBackend

    return LegacyBackend(address, options)


def _module_spec(module: str) -> ModuleSpec | None:
    """Return the specification of a module; None if it does not exist."""
    try:
        return find_spec(module)
    except (ImportError, ValueError):
        return None


def _names_loader(spec: ModuleSpec) -> bool:
    """Return whether the source code of a module names the function ``load_environment``."""
    if not spec.origin or not spec.origin.endswith(".py"):
        return False
    return "load_environment" in Path(spec.origin).read_text(encoding="utf-8", errors="replace")
