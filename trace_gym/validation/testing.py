"""Pytest integration: each property of an environment as a separate test, or all of them as one test.

    from trace_gym.validation.testing import property_tests

    test_my_environment = property_tests("my_envs/my_env.py")

This line generates one test per property. A failure prints the finding, the fix, and code that reproduces the failure.
Properties that do not apply are reported as skipped tests with a reason. `validate_or_fail` is the implementation of
the pytest fixture ``validate_environment``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import Any

from trace_gym.errors import TraceGymError
from trace_gym.types import Finding, Report
from trace_gym.validation.context import NO_INPUTS, ValidationInputs
from trace_gym.validation.properties import PROPERTIES
from trace_gym.validation.remedies import remedy
from trace_gym.validation.runner import validate
from trace_gym.validation.selection import select_codes
from trace_gym.validation.source import EnvironmentReference


def property_tests(
    target: EnvironmentReference,
    *,
    profile: str = "gate",
    seeds_per_level: int | None = None,
    only: Collection[str] | None = None,
    skip: Collection[str] = (),
    given: ValidationInputs = NO_INPUTS,
) -> Callable[[str], None]:
    """Return a parametrized test function. The arguments have the same meaning as those of `validate`.

    The environment is loaded and checked when the first test runs, and not during test collection.
    """
    import pytest

    codes = select_codes(only, skip)

    @cache
    def findings() -> dict[str, Finding]:
        report: Report = validate(
            target,
            profile=profile,
            seeds_per_level=seeds_per_level,
            only=only,
            skip=skip,
            given=given,
            progress=False,
        )
        return {f.code: f for f in report.findings}

    @pytest.mark.parametrize("code", codes, ids=[f"{c}-{PROPERTIES[c].name}" for c in codes])
    def test_property(code: str) -> None:
        finding = findings().get(code)
        if finding is None:
            pytest.skip("not checked because the environment does not load")
        if finding.verdict == "skipped":
            pytest.skip(finding.message)
        if not finding.passed:
            pytest.fail(failure_text(finding, target), pytrace=False)

    return test_property


def failure_text(finding: Finding, target: EnvironmentReference) -> str:
    """Return the message of a finding that did not pass, its fix, and the code that reproduces it."""
    fix = remedy(finding, target)
    said = "\n".join([finding.message, *([f"Fix: {fix}"] if fix else [])])
    return f"{said}\n\n{finding.counterexample}".rstrip()


def validate_or_fail(target: EnvironmentReference, **options: Any) -> Report:
    """Validate an environment, and return the report or fail the current test without a traceback.

    The test also fails if the validation cannot start, for example because the environment does not exist.

    Args:
        target: Environment, as in `validate`.
        **options: Other arguments of `validate`. ``progress`` is off.
    """
    import pytest

    __tracebackhide__ = True
    try:
        report = validate(target, **{"progress": False} | options)
    except TraceGymError as error:
        pytest.fail(f"{target} cannot be validated: {error}", pytrace=False)
    bad = [finding for finding in report.findings if not finding.passed]
    if bad:
        counted = f"{len(bad)} of {len(report.findings)} properties of {report.env or target} did not pass"
        parts = [f"{f.code} {f.property} ({f.verdict}): {failure_text(f, target)}" for f in bad]
        pytest.fail("\n\n".join((counted, *parts)), pytrace=False)
    return report
