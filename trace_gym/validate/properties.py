"""The registry of properties: what must hold of every environment, each under a stable code.

Codes are grouped as linters group theirs: TG0 loading, TG1 determinism, TG2 experts, TG3 reward, TG4 tools. The
check of a property is a function of a world, of sampled scenarios and of a `Context`. It returns what it
measured (`Held`) or raises `Broken`. `prop` registers one from anywhere, and `validate` runs all there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trace_gym.terminal import unstyled
from trace_gym.types import Exhibit, Finding, Replay, Scenario, Verdict
from trace_gym.world import World

if TYPE_CHECKING:
    from trace_gym.validate.context import Context


@dataclass(frozen=True, slots=True)
class Held:
    """A property holds: what was measured, in one sentence and in figures."""

    says: str
    figures: dict[str, float] = field(default_factory=dict)
    exhibits: tuple[Exhibit, ...] = ()


class Broken(Exception):
    """A property does not hold: what went wrong, a snippet that shows it when pasted, and the same as data."""

    def __init__(
        self,
        says: str,
        counterexample: str = "",
        figures: dict[str, float] | None = None,
        exhibits: tuple[Exhibit, ...] = (),
        replay: Replay | None = None,
    ) -> None:
        super().__init__(says, counterexample, figures, exhibits, replay)
        self.says = says
        self.counterexample = counterexample
        self.figures = figures or {}
        self.exhibits = exhibits
        self.replay = replay


class Inapplicable(Exception):
    """A property cannot be asked of this environment; the message says why."""


Check = Callable[[type[World], Sequence[Scenario], "Context"], Held]


@dataclass(frozen=True, slots=True)
class Property:
    """One property: what must hold, why it matters, and what to do where it does not."""

    code: str
    name: str
    statement: str
    reason: str
    mend: str
    check: Check
    raising: bool = False
    """It is about what is raised, so that `mend` fits when something is."""

    def __call__(self, world: type[World], scenarios: Sequence[Scenario], context: Context) -> Finding:
        """Check the property; whatever a bad environment raises becomes a finding that failed."""
        return self.judged(lambda: self.check(world, scenarios, context))

    def judged(self, check: Callable[[], Held]) -> Finding:
        """The finding that a check comes to, whatever it is made on."""
        try:
            held = check()
        except Inapplicable as why:
            return self.finding("inapplicable", str(why))
        except Broken as broken:
            return self.failed(broken)
        except (Exception, SystemExit) as error:
            return self.failed(Broken(f"the check {raised(error)}"))
        return Finding(
            code=self.code,
            property=self.name,
            verdict="passed",
            says=held.says,
            figures=held.figures,
            exhibits=held.exhibits,
        )

    def finding(self, verdict: Verdict, says: str) -> Finding:
        """A finding that says no more than a verdict."""
        return Finding(code=self.code, property=self.name, verdict=verdict, says=says)

    def failed(self, broken: Broken) -> Finding:
        """The finding of a failure; it can be written down whatever the environment said."""
        return Finding(
            code=self.code,
            property=self.name,
            verdict="failed",
            says=broken.says.encode(errors="backslashreplace").decode(),
            counterexample=broken.counterexample,
            replay=broken.replay,
            figures=broken.figures,
            exhibits=broken.exhibits,
        )


PROPERTIES: dict[str, Property] = {}
"""Every property by its code; codes are never reused."""


RAISED = "Run the snippet: the last line of its traceback names the fault, and the lines above it the place."
"""What to do where something was raised that a property is not about."""
DIED = "the process that checked it died"
ENDS = "Remove what ends or crashes the process: an environment raises an error instead."
"""What to do where an environment ended the process that checked it."""
_ended = re.compile(f"{DIED}|the sandbox (stopped it: its process|does not believe its report: the process ended) ")
_told_so = re.compile(r"(\S+/\d+/\d+: |seed \d+: )?(generate failed with|(turn \d+ |the \w+ )?raised) \w+:")


def raised(error: BaseException) -> str:
    """What was raised, in the words by which `remedy` knows it again."""
    return f"raised {type(error).__name__}: {unstyled(str(error))}"


def remedy(finding: Finding, env: object = "") -> str:
    """Return what to do about a failure; empty if nothing failed, or if that is not known.

    Args:
        finding: What a property found.
        env: The environment as reports name it. For a third-party environment, the text is about its own code and not
            about worlds.
    """
    from trace_gym.validate.foreign.address import is_foreign  # it imports this module
    from trace_gym.validate.foreign.remedies import remedy_for

    known = PROPERTIES.get(finding.code)
    if known is None or finding.verdict != "failed":
        return ""
    if _ended.match(finding.says):
        return ENDS
    if known.raising or not _told_so.match(finding.says):
        return remedy_for(finding.code, str(env)) if is_foreign(env) else known.mend
    return RAISED if finding.counterexample else ""


def prop(code: str, *, statement: str, reason: str, mend: str, raising: bool = False) -> Callable[[Check], Check]:
    """Register the decorated check under `code`; its name, with hyphens, is the property's.

    Raises:
        ValueError: The code is taken.
    """

    def register(check: Check) -> Check:
        if code in PROPERTIES:
            raise ValueError(f"{code} is {PROPERTIES[code].name} already; choose another code")
        name = check.__name__.replace("_", "-")
        PROPERTIES[code] = Property(code, name, statement, reason, mend, check, raising)
        return check

    return register
