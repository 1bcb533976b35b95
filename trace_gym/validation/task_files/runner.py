"""Validation of a task file by its URI, such as ``BENCHMARK-tasks:tasks.json?db=db.json``."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path

from trace_gym.errors import ConfigError
from trace_gym.targets.catalogue import registered
from trace_gym.targets.task_files import TaskFile, TaskFileReader
from trace_gym.types import Finding, Report

# Importing these modules registers their properties.
from trace_gym.validation.task_files import call_checks, information_checks  # noqa: F401
from trace_gym.validation.task_files.registry import TASK_PROPERTIES, TaskFileContext, markdown
from trace_gym.validation.third_party.uri import parse_uri

__all__ = ["is_task_file", "markdown", "open_task_file", "schemes", "validate_task_file"]

SUFFIX = "-tasks"
OPTIONS = ("domain", "db")


def schemes() -> dict[str, str]:
    """Return the URI schemes of task files, each with the function that reads a file, as ``package.module:NAME``."""
    return {f"{t.benchmark or t.name}{SUFFIX}": t.task_file for t in registered().values() if t.task_file}


def is_task_file(target: object) -> bool:
    """Return whether a target of `validate` is the URI of a task file."""
    scheme, colon, _ = target.partition(":") if isinstance(target, str) else ("", "", "")
    return bool(colon) and scheme.endswith(SUFFIX) and scheme in schemes()


def open_task_file(text: str) -> TaskFile:
    """Read the task file of a URI.

    Raises:
        ConfigError: The URI, or one of its options, is not valid.
        ReadError: A file cannot be read or has a different format.
    """
    address = parse_uri(text, schemes())
    if unknown := sorted(address.options.keys() - set(OPTIONS)):
        raise ConfigError(f"{text!r} has an unknown option: found {unknown[0]!r}, expected {' or '.join(OPTIONS)}")
    module, _, name = schemes()[address.scheme].partition(":")
    reader: TaskFileReader = getattr(import_module(module), name)
    database = Path(str(address.options["db"])) if "db" in address.options else None
    return reader(Path(address.name), str(address.options.get("domain", "")), database)


def validate_task_file(
    text: str,
    *,
    only: Collection[str] | None = None,
    skip: Collection[str] = (),
    budget: float | None = None,
    on_finding: Callable[[Finding], None] = lambda finding: None,
) -> Report:
    """Check the properties of a task file in this process and return a report.

    Args:
        text: URI of the task file.
        only: Codes, or prefixes of codes, of the properties to check; all by default.
        skip: Codes, or prefixes of codes, to exclude.
        budget: Time limit in seconds, after which the remaining properties are reported as unfinished.
        on_finding: Callback that is called with each finding.

    Raises:
        ConfigError: The URI or a code is not valid.
        ReadError: A file cannot be read or has a different format.
    """
    codes = _select(only, skip)
    context = TaskFileContext(open_task_file(text))
    end = time.monotonic() + budget if budget is not None else None
    findings: list[Finding] = []
    for code in codes:
        late = end is not None and time.monotonic() > end
        found = TASK_PROPERTIES[code].unfinished(budget) if late else TASK_PROPERTIES[code](context)
        findings.append(found)
        on_finding(found)
    passed = all(finding.passed for finding in findings)
    return Report(env=text, passed=passed, findings=tuple(findings), scenarios=len(context.file.tasks))


def _select(only: Collection[str] | None, skip: Collection[str]) -> list[str]:
    """Return the codes that match a prefix in `only` and no prefix in `skip`."""
    for start in (*(only or ()), *skip):
        if not any(code.startswith(start) for code in TASK_PROPERTIES):
            raise ConfigError(
                f"unknown property of task files: found {start!r}, expected one of {', '.join(TASK_PROPERTIES)}"
            )
    wanted = [code for code in sorted(TASK_PROPERTIES) if only is None or code.startswith(tuple(only))]
    chosen = [code for code in wanted if not code.startswith(tuple(skip) or ("?",))]
    if not chosen:
        raise ConfigError(
            "there are no properties to check: every selected property is skipped. Remove codes from skip, or add "
            "codes to only"
        )
    return chosen
