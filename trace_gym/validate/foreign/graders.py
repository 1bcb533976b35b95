"""Checks of ours as graders of OpenEnv's own validation, under ids of its policy that have no implementation there.

The entry points of the group ``openenv.validation.graders`` name these classes, and whoever calls
``GraderRegistry.load_entry_points()`` has them. A grader measures the running server and says pass, fail or skip; how
much a failure weighs is for OpenEnv's policy. Only OpenEnv imports this module, so it imports OpenEnv.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

from openenv.validation import (  # type: ignore[import-not-found]  # openenv and verifiers exclude each other
    CheckResult,
    CheckStatus,
    Level,
)

from trace_gym.types import Finding, Verdict
from trace_gym.validate.context import PROFILES
from trace_gym.validate.foreign.asked import Asked
from trace_gym.validate.properties import remedy

SERVER = "openenv:"
"""Scheme of the address of every environment that is graded here."""
SEEDS = 8
"""Problems that are asked about."""
STATUS: dict[Verdict, Any] = {
    "passed": CheckStatus.PASS,
    "failed": CheckStatus.FAIL,
    "inapplicable": CheckStatus.SKIP,
    "unfinished": CheckStatus.SKIP,
}


class Grader:
    """A property, asked of a running server."""

    check_id: ClassVar[str]
    code: ClassVar[str]
    level: ClassVar[Any] = Level.RUNTIME
    requires_capabilities: ClassVar[frozenset[str]] = frozenset()
    requires_provider: ClassVar[frozenset[Any]] = frozenset()
    depends_on: ClassVar[tuple[str, ...]] = ("runtime.startup",)

    def applies_to(self, manifest: Any) -> bool:
        """Every served environment; with a judge in its reward two attempts may differ."""
        return not manifest.capabilities.llm_judged

    def run(self, subject: Any) -> Any:
        """Ask the server that was started."""
        started = time.monotonic()
        if subject.running is None:
            return self._result(started, CheckStatus.SKIP, ["the environment is not running"])
        low, high = subject.manifest.reward.range
        address = f"{SERVER}{subject.running.base_url}?low={min(low, 0.0)}&high={high}"
        asked = Asked(address, range(SEEDS), PROFILES["quick"])
        try:
            return self.judged(asked(self.code), subject.manifest, started)
        finally:
            asked.close()

    def judged(self, finding: Finding, manifest: Any, started: float) -> Any:
        """What a finding means to OpenEnv."""
        told = remedy(finding, SERVER) or None
        return self._result(started, STATUS[finding.verdict], [finding.says], dict(finding.figures), told)

    def _result(
        self, started: float, status: Any, evidence: list[str], measured: Any = None, remediation: str | None = None
    ) -> Any:
        return CheckResult(
            check_id=self.check_id,
            status=status,
            measured=measured or {},
            evidence=evidence,
            remediation=remediation,
            duration_s=time.monotonic() - started,
        )


class EpisodeDeterminism(Grader):
    """TG101: the same seed and turns are answered alike, whatever was played in between."""

    check_id, code = "runtime.episode_determinism", "TG101"


class EpisodeIsolation(Grader):
    """TG105: two sessions that take turns answer as each does alone; skipped where one is served at a time."""

    check_id, code = "runtime.episode_isolation", "TG105"


class FloorGap(Grader):
    """TG301: what idle words and garbage are paid, whichever most, lies the declared margin below the maximum."""

    check_id, code, level = "semantic.floor_gap", "TG301", Level.SEMANTIC
    depends_on = ("runtime.startup", "runtime.episode_determinism")

    def judged(self, finding: Finding, manifest: Any, started: float) -> Any:
        paid = {name: value for name, value in finding.figures.items() if name.startswith("paid_for_")}
        if not paid and finding.verdict == "failed":
            return super().judged(finding, manifest, started)
        top, margin = manifest.reward.range[1], manifest.reward.floor_margin
        floor = max(paid.values(), default=0.0) * top
        measured = {"measured_floor": floor, "declared_margin": margin, **finding.figures}
        status = CheckStatus.PASS if top - floor >= margin else CheckStatus.FAIL
        told = None if status is CheckStatus.PASS else remedy(finding, SERVER) or None
        return self._result(started, status, [finding.says], measured, told)
