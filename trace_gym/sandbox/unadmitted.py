"""Module files that are not admitted yet: everything that is done with them happens in the sandbox."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from trace_gym.errors import ConfigError, EnvBug
from trace_gym.modules import file_bytes
from trace_gym.sandbox.confine import Sandbox
from trace_gym.sandbox.limits import Limits
from trace_gym.sandbox.session import ConfinedEpisode, ConfinedWorld
from trace_gym.sandbox.view import WORK
from trace_gym.targets.user.bases import PACKAGE, SUFFIX
from trace_gym.targets.user.folder import find
from trace_gym.types import Description, Report, Scenario
from trace_gym.validate import PROFILES, PROPERTIES
from trace_gym.validate.context import NOTHING, Given
from trace_gym.validate.files import readable
from trace_gym.validate.gate import sampled
from trace_gym.validate.learning import fits_policy
from trace_gym.validate.policies import known

POLICY = "TG502"
"""The property about the policy that the user names."""
DESCRIBING = Limits(cpu_seconds=120.0, wall_seconds=120.0)


@dataclass(frozen=True)
class Footing:
    """What a module needs inside the sandbox besides itself."""

    imports: tuple[str, ...] = ()
    """Modules that it imports. They are imported first, so that the module itself causes no file to be read."""
    lent: dict[str, str] = field(default_factory=dict)
    """Files of the user's own target that it is made for, by their place in its folder."""


def footing_of(path: Path, source: bytes) -> Footing:
    """Find out what a module needs, without running it.

    Raises:
        ReadError: A file of its target cannot be read.
    """
    imports = tuple(dict.fromkeys(_imports(source)))
    for name in (f"{PACKAGE}.{path.stem}", *imports):
        package, _, module = name.rpartition(".")
        if package == PACKAGE and module.endswith(SUFFIX):
            with suppress(ConfigError):  # there is no such target; validation reports that the import fails
                own = module == path.stem  # a base world does not need itself
                return Footing(imports, find(module.removesuffix(SUFFIX)).files(base=not own))
    return Footing(imports)


def describe(path: Path, source: bytes) -> Description:
    """Return what a manifest says of a module, computed in a sandbox.

    Raises:
        EnvBug: The module cannot be loaded or does not generate.
        ConfigError: Its levels do not count from 0.
        SandboxError: This machine cannot isolate it.
    """
    needs = footing_of(path, source)
    try:
        return _described(path.stem, source, needs.imports, tuple(sorted(needs.lent.items())))
    except (EnvBug, ConfigError) as error:
        says = re.sub(rf"({re.escape(WORK)}|/\S*/trace-gym-\w+)/{re.escape(path.name)}", str(path), str(error))
        raise type(error)(says) from None


def check(
    path: Path,
    *,
    profile: str = "gate",
    seeds_per_level: int | None = None,
    levels: Collection[int] | None = None,
    given: Given = NOTHING,
    workers: int = 1,
    budget: float | None = None,
    only: Collection[str] | None = None,
    skip: Collection[str] = (),
    **options: Any,
) -> Report:
    """Check a module file in a sandbox, with what the user names besides it.

    A policy stays outside, as it may need a network or a model, and plays episodes that run in the sandbox.

    Args:
        path: The module.
        profile, seeds_per_level, levels, given, workers, budget, only, skip: As for `trace_gym.validate.validate`.
        options: Other arguments of `Sandbox.validate`.

    Raises:
        ReadError: The module or a file in `given` cannot be read.
        ConfigError: Something that is asked for does not exist.
        SandboxError: This machine cannot isolate the module.
    """
    if given.policy:
        known(given.policy)
    readable(given)
    if workers < 1 or (budget is not None and not budget > 0):
        raise ConfigError(f"found {workers} workers and {budget} seconds, expected at least 1 and more than 0")
    needs = footing_of(path.resolve(), file_bytes(path))
    with Sandbox(_limits(workers, budget)) as sandbox:
        report = sandbox.validate(
            path,
            profile=profile,
            seeds_per_level=seeds_per_level,
            levels=levels,
            only=only,
            skip=skip,
            engine="processes" if workers > 1 else "here",
            workers=workers,
            budget=budget,
            given=replace(given, policy=""),
            target_imports=needs.imports,
            lent=needs.lent,
            **options,
        )
    if not given.policy or POLICY not in {f.code for f in report.findings} or report.findings[0].verdict != "passed":
        return report
    with ConfinedWorld(path, target_imports=needs.imports, lent=needs.lent) as world:
        count = PROFILES[profile].seeds_per_level if seeds_per_level is None else seeds_per_level
        scenarios = sampled(world.id, len(world.levels), count, levels)
        found = PROPERTIES[POLICY].judged(lambda: fits_policy(world, scenarios, given.policy))
    findings = tuple(found if f.code == POLICY else f for f in report.findings)
    return report.model_copy(update={"findings": findings, "passed": all(f.passed for f in findings)})


def begin_confined(path: str | os.PathLike[str], scenario: str) -> ConfinedEpisode:
    """Start an episode of a module in a sandbox, which ends with this process.

    Raises:
        ReadError: The module cannot be read.
        EnvBug: It cannot be loaded, or does not generate.
        SandboxError: This machine cannot isolate it.
    """
    place = Path(path).resolve()
    needs = footing_of(place, file_bytes(place))
    world = ConfinedWorld(place, target_imports=needs.imports, lent=needs.lent)
    return world.episode(Scenario.parse(scenario))


def _limits(workers: int, budget: float | None) -> Limits:
    """Limits that grow with the number of workers; the confirming run has ten times the budget."""
    usual = Limits()
    return replace(
        usual,
        processes=usual.processes + 6 * workers,
        memory_mib=usual.memory_mib + 256 * workers,
        wall_seconds=usual.wall_seconds if budget is None else 60 + 10 * budget,
    )


@lru_cache(maxsize=64)
def _described(name: str, source: bytes, imports: tuple[str, ...], lent: tuple[tuple[str, str], ...]) -> Description:
    with Sandbox(DESCRIBING) as sandbox:
        return sandbox.describe(name, source, target_imports=imports, lent=dict(lent))


def _imports(source: bytes) -> Iterator[str]:
    """The full names of the modules that are imported anywhere in the text."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # validation reports what is wrong with it
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module.startswith("trace_gym."))
