"""Pytest integration: each property of an environment as a separate test.

    from trace_gym.validation.testing import property_tests

    test_my_environment = property_tests("my_envs/my_env.py")

This line generates one test per property. A failure prints the finding, the fix, and code that reproduces the failure.
Properties that do not apply are reported as skipped tests with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache

from trace_gym.types import Finding, Report
from trace_gym.validation.context import NO_INPUTS, ValidationInputs
from trace_gym.validation.properties import PROPERTIES, remedy
from trace_gym.validation.runner import validate
from trace_gym.validation.selection import select_codes
from trace_gym.validation.source import Target


def property_tests(
    target: Target,
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
            said = "\n".join(filter(None, (finding.message, remedy(finding, target))))
            pytest.fail(f"{said}\n\n{finding.counterexample}".rstrip(), pytrace=False)

    return test_property
