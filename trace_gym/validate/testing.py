"""Every property as a test of your own suite, in one line of a test file.

    from trace_gym.validate.testing import property_tests

    test_my_environment = property_tests("my_envs/my_env.py")

pytest then shows one test for each property; a failure prints what was found, what to do, and a snippet that
repeats it. Properties that do not apply are skipped with their reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache

from trace_gym.types import Finding, Report
from trace_gym.validate.context import NOTHING, Given
from trace_gym.validate.gate import chosen, validate
from trace_gym.validate.properties import PROPERTIES, remedy
from trace_gym.validate.source import Target


def property_tests(
    target: Target,
    *,
    profile: str = "gate",
    seeds_per_level: int | None = None,
    only: Collection[str] | None = None,
    skip: Collection[str] = (),
    given: Given = NOTHING,
) -> Callable[[str], None]:
    """A parametrised test function; the arguments are those of `validate`.

    The environment is loaded and checked when the first of the tests runs, so that collecting stays quick.
    """
    import pytest

    codes = chosen(only, skip)

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
            pytest.skip("the environment does not load, so nothing else can be said of it")
        if finding.verdict == "inapplicable":
            pytest.skip(finding.says)
        if not finding.passed:
            said = "\n".join(filter(None, (finding.says, remedy(finding, target))))
            pytest.fail(f"{said}\n\n{finding.counterexample}".rstrip(), pytrace=False)

    return test_property
