"""Graders for OpenEnv's validation. They implement checks that OpenEnv's policy names but OpenEnv does not implement.

These classes are registered as entry points in the group ``openenv.validation.graders``, which
``GraderRegistry.load_entry_points()`` loads. A grader checks the running server and returns pass, fail or skip.
OpenEnv's policy determines the weight of a failure. This module requires OpenEnv, and only OpenEnv imports it.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

from openenv.validation import (  # type: ignore[import-not-found]  # openenv and verifiers exclude each other
    CheckResult,
    CheckStatus,
    Level,
)

from trace_gym.types import Finding, FindingVerdict
from trace_gym.validation.context import PROFILES
from trace_gym.validation.remedies import remedy
from trace_gym.validation.third_party.black_box_context import BlackBoxContext
from trace_gym.validation.third_party.checks import BlackBoxFindings

SERVER = "openenv:"
"""URI scheme of the graded environments."""
SEEDS = 8
"""Number of problems per check."""
STATUS: dict[FindingVerdict, Any] = {
    "passed": CheckStatus.PASS,
    "failed": CheckStatus.FAIL,
    "skipped": CheckStatus.SKIP,
    "unfinished": CheckStatus.SKIP,
    "warning": CheckStatus.SKIP,
}


class Grader:
    """Base class of the graders. A grader checks one property of an environment on a running server."""

    check_id: ClassVar[str]
    code: ClassVar[str]
    level: ClassVar[Any] = Level.RUNTIME
    requires_capabilities: ClassVar[frozenset[str]] = frozenset()
    requires_provider: ClassVar[frozenset[Any]] = frozenset()
    depends_on: ClassVar[tuple[str, ...]] = ("runtime.startup",)

    def applies_to(self, manifest: Any) -> bool:
        """Return whether the reward is deterministic, which is not the case if a language model is the judge."""
        return not manifest.capabilities.llm_judged

    def run(self, subject: Any) -> Any:
        """Run the check on the running server and return an OpenEnv check result."""
        started = time.monotonic()
        if subject.running is None:
            return self._result(started, CheckStatus.SKIP, ["the environment is not running"])
        low, high = subject.manifest.reward.range
        address = f"{SERVER}{subject.running.base_url}?low={min(low, 0.0)}&high={high}"
        findings = BlackBoxFindings(BlackBoxContext(address, range(SEEDS), PROFILES["quick"]))
        try:
            return self.result_of(findings(self.code), subject.manifest, started)
        finally:
            findings.close()

    def result_of(self, finding: Finding, manifest: Any, started: float) -> Any:
        """Convert a finding to an OpenEnv check result."""
        remediation = remedy(finding, SERVER) or None
        return self._result(started, STATUS[finding.verdict], [finding.message], dict(finding.metrics), remediation)

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
    """Grader for TG101: the same seed and turns produce the same responses, regardless of earlier rollouts."""

    check_id, code = "runtime.episode_determinism", "TG101"


class EpisodeIsolation(Grader):
    """Grader for TG105: two interleaved sessions respond in the same way as separate sessions.

    The check is skipped if the server accepts only one session at a time.
    """

    check_id, code = "runtime.episode_isolation", "TG105"


class FloorGap(Grader):
    """Grader for TG301: no-op messages and garbage get less than the maximum reward, by at least a declared margin."""

    check_id, code, level = "semantic.floor_gap", "TG301", Level.SEMANTIC
    depends_on = ("runtime.startup", "runtime.episode_determinism")

    def result_of(self, finding: Finding, manifest: Any, started: float) -> Any:
        paid = {name: value for name, value in finding.metrics.items() if name.startswith("paid_for_")}
        if not paid and finding.verdict == "failed":
            return super().result_of(finding, manifest, started)
        top, margin = manifest.reward.range[1], manifest.reward.floor_margin
        floor = max(paid.values(), default=0.0) * top
        measured = {"measured_floor": floor, "declared_margin": margin, **finding.metrics}
        status = CheckStatus.PASS if top - floor >= margin else CheckStatus.FAIL
        remediation = None if status is CheckStatus.PASS else remedy(finding, SERVER) or None
        return self._result(started, status, [finding.message], measured, remediation)
