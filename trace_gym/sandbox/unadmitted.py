"""Operations on unadmitted modules, which have not passed validation and therefore run in the sandbox."""

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
from trace_gym.parsing import parse_python
from trace_gym.sandbox.filesystem_view import WORK
from trace_gym.sandbox.limits import Limits
from trace_gym.sandbox.sandbox import Sandbox
from trace_gym.sandbox.sandboxed_episode import SandboxedEpisode, SandboxedWorld
from trace_gym.targets.user.bases import PACKAGE, SUFFIX
from trace_gym.targets.user.folder import find
from trace_gym.types import Description, Report, Scenario
from trace_gym.validation import PROFILES, PROPERTIES
from trace_gym.validation.context import NO_INPUTS, ValidationInputs
from trace_gym.validation.input_files import check_readable
from trace_gym.validation.learning import check_policy_rewards
from trace_gym.validation.policy_groups import check_policy
from trace_gym.validation.selection import sample_by_name

POLICY = "TG502"
"""Code of the property that runs a policy of the user's choice."""
DESCRIBING = Limits(cpu_seconds=120.0, wall_seconds=120.0)


@dataclass(frozen=True)
class SandboxRequirements:
    """Imports and files that must be available to a module inside the sandbox."""

    imports: tuple[str, ...] = ()
    """Full names of modules to import in advance, so that imports in the module do not access files."""
    target_files: dict[str, str] = field(default_factory=dict)
    """Text of the files of the module's custom target, by path relative to the target folder."""


def find_requirements(path: Path, source: bytes) -> SandboxRequirements:
    """Return the requirements of a module without running it.

    Raises:
        ReadError: A file of the module's target cannot be read.
    """
    imports = tuple(dict.fromkeys(_imports(source)))
    for name in (f"{PACKAGE}.{path.stem}", *imports):
        package, _, module = name.rpartition(".")
        if package == PACKAGE and module.endswith(SUFFIX):
            with suppress(ConfigError):  # if the target does not exist, validation reports the failed import
                own = module == path.stem  # a base world does not require itself
                return SandboxRequirements(imports, find(module.removesuffix(SUFFIX)).files(base=not own))
    return SandboxRequirements(imports)


def describe(path: Path, source: bytes) -> Description:
    """Return the description of a module for its manifest, computed in a sandbox.

    Raises:
        EnvBug: The module cannot be loaded or fails to generate scenarios.
        ConfigError: The levels are not numbered from 0.
        SandboxError: This machine cannot isolate the module.
    """
    needs = find_requirements(path, source)
    try:
        return _described(path.stem, source, needs.imports, tuple(sorted(needs.target_files.items())))
    except (EnvBug, ConfigError) as error:
        message = re.sub(rf"({re.escape(WORK)}|/\S*/trace-gym-\w+)/{re.escape(path.name)}", str(path), str(error))
        raise type(error)(message) from None


def check(
    path: Path,
    *,
    profile: str = "gate",
    seeds_per_level: int | None = None,
    levels: Collection[int] | None = None,
    given: ValidationInputs = NO_INPUTS,
    workers: int = 1,
    budget: float | None = None,
    only: Collection[str] | None = None,
    skip: Collection[str] = (),
    **options: Any,
) -> Report:
    """Validate a module file in a sandbox, with the policy and the files that the user passes.

    The policy runs outside the sandbox, because it may require a network or a model. It steps episodes that run inside.
    The named arguments are those of `trace_gym.validation.validate`. `options` are other arguments of
    `Sandbox.validate`.

    Raises:
        ReadError: The module or a file in `given` cannot be read.
        ConfigError: An argument is invalid.
        SandboxError: This machine cannot isolate the module.
    """
    if given.policy:
        check_policy(given.policy)
    check_readable(given)
    if workers < 1 or (budget is not None and not budget > 0):
        raise ConfigError(
            f"invalid limits: found workers={workers} and budget={budget}, expected workers >= 1 and budget > 0 "
            "(seconds)"
        )
    needs = find_requirements(path.resolve(), file_bytes(path))
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
            target_files=needs.target_files,
            **options,
        )
    if not given.policy or POLICY not in {f.code for f in report.findings} or report.findings[0].verdict != "passed":
        return report
    with SandboxedWorld(path, target_imports=needs.imports, target_files=needs.target_files) as world:
        count = PROFILES[profile].seeds_per_level if seeds_per_level is None else seeds_per_level
        scenarios = sample_by_name(world.id, len(world.levels), count, levels)
        found = PROPERTIES[POLICY].evaluate(lambda: check_policy_rewards(world, scenarios, given.policy))
    findings = tuple(found if f.code == POLICY else f for f in report.findings)
    return report.model_copy(update={"findings": findings, "passed": all(f.passed for f in findings)})


def start_sandboxed_episode(path: str | os.PathLike[str], scenario: str) -> SandboxedEpisode:
    """Start an episode of a module in a new sandbox, and return the episode. The sandbox ends when this process ends.

    Raises:
        ReadError: The module cannot be read.
        EnvBug: The module cannot be loaded or fails to generate the scenario.
        SandboxError: This machine cannot isolate the module.
    """
    place = Path(path).resolve()
    needs = find_requirements(place, file_bytes(place))
    world = SandboxedWorld(place, target_imports=needs.imports, target_files=needs.target_files)
    return world.episode(Scenario.parse(scenario))


def _limits(workers: int, budget: float | None) -> Limits:
    """Return resource limits for a number of workers. The wall-clock limit is more than ten times the budget."""
    usual = Limits()
    return replace(
        usual,
        processes=usual.processes + 6 * workers,
        memory_mib=usual.memory_mib + 256 * workers,
        wall_seconds=usual.wall_seconds if budget is None else 60 + 10 * budget,
    )


@lru_cache(maxsize=64)
def _described(
    name: str, source: bytes, imports: tuple[str, ...], target_files: tuple[tuple[str, str], ...]
) -> Description:
    with Sandbox(DESCRIBING) as sandbox:
        return sandbox.describe(name, source, target_imports=imports, target_files=dict(target_files))


def _imports(source: bytes) -> Iterator[str]:
    """Yield the full names of all modules that the source imports."""
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # validation reports the error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module.startswith("trace_gym."))
