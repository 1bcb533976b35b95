"""Plugin for pytest: a fixture that validates an environment.

    def test_my_environment(validate_environment):
        validate_environment("my_module:MyEnv", profile="quick")

The plugin is a module outside of the package `trace_gym`, because pytest imports it in every run and the package
registers its environments with Gymnasium when it is imported. The package is imported when the fixture is used.
"""

from __future__ import annotations

from typing import Any, Protocol

import pytest

PROFILE_OPTION = "--trace-gym-profile"


class ValidateEnvironment(Protocol):
    """Type of the fixture `validate_environment`."""

    def __call__(self, target: Any, **options: Any) -> Any:
        """Validate an environment and return its report, or fail the test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that sets the profile of all validations."""
    parser.getgroup("trace-gym").addoption(
        PROFILE_OPTION,
        choices=("quick", "gate"),
        help="Profile of the fixture validate_environment in all tests. It overrides the profile that a test passes.",
    )


@pytest.fixture
def validate_environment(request: pytest.FixtureRequest) -> ValidateEnvironment:
    """Return a function that validates an environment and fails the test if the environment does not pass.

    The function takes the arguments of `trace_gym.validation.validate` and returns the report.
    """

    def run(target: Any, **options: Any) -> Any:
        from trace_gym.validation.testing import validate_or_fail

        profile = request.config.getoption(PROFILE_OPTION)
        return validate_or_fail(target, **options | ({"profile": profile} if profile else {}))

    return run
