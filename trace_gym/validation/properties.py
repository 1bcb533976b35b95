"""Registry of properties: the conditions that every environment must satisfy, each with a stable code.

Codes are grouped by prefix: TG0 loading, TG1 determinism, TG2 experts, TG3 reward, TG4 tools and user, TG5 learning
signal, TG6 exploits, TG7 leakage, TG8 diversity, TG9 Gymnasium. A check is a function that takes a world, sampled
scenarios and a `Context`. It returns measurements (`Passed`) or raises `CheckFailed` or `Skipped`. Any module can
register a check with the decorator `property_check`, and `validate` runs all registered checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trace_gym.terminal import unstyled
from trace_gym.types import Exhibit, Finding, FindingVerdict, Replay, Scenario
from trace_gym.world import World

if TYPE_CHECKING:
    from trace_gym.validation.context import Context


@dataclass(frozen=True, slots=True)
class Passed:
    """Result of a passed check: a one-sentence message, metrics, and optional charts."""

    message: str
    metrics: dict[str, float] = field(default_factory=dict)
    exhibits: tuple[Exhibit, ...] = ()
    warning: bool = False
    """True if the check could not evaluate the property, although it found no defect."""


class CheckFailed(Exception):
    """Exception that reports a failed check, with a message, an executable counterexample and replay data."""

    def __init__(
        self,
        message: str,
        counterexample: str = "",
        metrics: dict[str, float] | None = None,
        exhibits: tuple[Exhibit, ...] = (),
        replay: Replay | None = None,
    ) -> None:
        super().__init__(message, counterexample, metrics, exhibits, replay)
        self.message = message
        self.counterexample = counterexample
        self.metrics = metrics or {}
        self.exhibits = exhibits
        self.replay = replay


class Skipped(Exception):
    """Exception that reports that a property does not apply to an environment. The message states the reason."""


CheckFunction = Callable[[type[World], Sequence[Scenario], "Context"], Passed]


@dataclass(frozen=True, slots=True)
class Property:
    """Property of an environment: the condition, its reason, the fix for a failure, and the function that checks it."""

    code: str
    name: str
    statement: str
    reason: str
    fix: str
    check: CheckFunction
    raising: bool = False
    """True if the property tests for exceptions, so that `fix` also applies if the environment raises one."""

    def __call__(self, world: type[World], scenarios: Sequence[Scenario], context: Context) -> Finding:
        """Check the property and return the finding. An exception of the environment becomes a failed finding."""
        return self.evaluate(lambda: self.check(world, scenarios, context))

    def evaluate(self, check: Callable[[], Passed]) -> Finding:
        """Run a check and return the finding."""
        try:
            result = check()
        except Skipped as why:
            return self.finding("skipped", str(why))
        except CheckFailed as failure:
            return self.failed(failure)
        except (Exception, SystemExit) as error:
            return self.failed(CheckFailed(f"the check {describe_exception(error)}"))
        return Finding(
            code=self.code,
            property=self.name,
            verdict="warning" if result.warning else "passed",
            message=result.message,
            metrics=result.metrics,
            exhibits=result.exhibits,
        )

    def finding(self, verdict: FindingVerdict, message: str) -> Finding:
        """Return a finding that contains only a verdict and a message."""
        return Finding(code=self.code, property=self.name, verdict=verdict, message=message)

    def failed(self, failure: CheckFailed) -> Finding:
        """Return the finding for a failed check. Characters that cannot be encoded in UTF-8 are escaped."""
        return Finding(
            code=self.code,
            property=self.name,
            verdict="failed",
            message=failure.message.encode(errors="backslashreplace").decode(),
            counterexample=failure.counterexample,
            replay=failure.replay,
            metrics=failure.metrics,
            exhibits=failure.exhibits,
        )


PROPERTIES: dict[str, Property] = {}
"""All properties by code. Codes are never reused."""


DIED = "the process that checked it died"
"""Beginning of the message of a finding whose process died."""


def describe_exception(error: BaseException) -> str:
    """Return the description of an exception in the form that `trace_gym.validation.remedies.remedy` recognizes."""
    return f"raised {type(error).__name__}: {unstyled(str(error))}"


def property_check(
    code: str, *, statement: str, reason: str, fix: str, raising: bool = False
) -> Callable[[CheckFunction], CheckFunction]:
    """Register the decorated check under `code`. The name of the property is the function name with hyphens.

    Raises:
        ValueError: The code is already registered.
    """

    def register(check: CheckFunction) -> CheckFunction:
        if code in PROPERTIES:
            raise ValueError(
                f"the property code {code} is already registered as {PROPERTIES[code].name}. Choose another code"
            )
        name = check.__name__.replace("_", "-")
        PROPERTIES[code] = Property(code, name, statement, reason, fix, check, raising)
        return check

    return register
