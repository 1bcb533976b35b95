"""What a module stands on: the target's modules that it imports from, and what of the target the sandbox is lent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from trace_gym.errors import ConfigError
from trace_gym.sandbox.names import TARGET_IMPORTS
from trace_gym.targets.catalogue import TARGETS, foundation, target
from trace_gym.targets.user.coverage import ANSWERABLE
from trace_gym.targets.user.folder import ANY, TRAJECTORIES, TargetFolder, find
from trace_gym.targets.user.replays import answers, refused
from trace_gym.types import Finding, Report, Spec
from trace_gym.validate import PROPERTIES, Broken

BASE = "base"
"""Blueprint of the specs of base worlds."""
REPLAY = "TG413"
"""The property by which a base world is compared with the recorded episodes."""


@dataclass(frozen=True)
class Ground:
    """What a module stands on; by default, on any of the targets that ship."""

    imports: Sequence[str] = TARGET_IMPORTS
    lent: Mapping[str, str] = field(default_factory=dict)
    """Files of a target of the user's own, by their place in its folder."""
    recordings: tuple[str, ...] = ()
    """Those of them with recorded episodes."""
    judged: Callable[[Report], Report] = lambda report: report
    """Asks more of a report than its properties do."""


def ground_of(spec: Spec) -> Ground:
    """What the module of a spec stands on.

    Raises:
        TamperedEnv: It stands on a base world that is not admitted.
        ReadError: A file of the target cannot be read.
    """
    if spec.target in TARGETS:
        return Ground()
    try:
        home = find(spec.target)
    except ConfigError:
        return Ground()  # a property says that there is no such target
    if spec.blueprint == BASE:
        lent = home.files(base=False)
        return Ground(foundation(home).modules, lent, (TRAJECTORIES,), lambda report: demanding(report, home))
    return Ground(target(spec.target).modules, home.files(), (TRAJECTORIES,))


def demanding(report: Report, home: TargetFolder) -> Report:
    """The report of a base world, failed where too few recorded calls could be compared to prove anything."""
    found = {f.code: f for f in report.findings}
    if not report.passed or REPLAY not in found or not (why := _unproven(found[REPLAY], home)):
        return report
    failed = PROPERTIES[REPLAY].failed(Broken(why, figures=found[REPLAY].figures))
    return report.model_copy(update={"passed": False, "findings": tuple((found | {REPLAY: failed}).values())})


def _unproven(finding: Finding, home: TargetFolder) -> str:
    """Why replay says too little; empty where it says enough."""
    if finding.verdict == "inapplicable":
        return f"nothing was compared: {finding.says}"
    exempt = {tool for tool, fields in home.settings.not_compared.items() if ANY in fields}
    tools = home.kinds.keys() - exempt
    made = [call.tool for e in home.episodes for call, told in answers(e) if call.tool in tools and not refused(told)]
    known = {tool: int(finding.figures.get(f"computable_{tool}", 0)) for tool in tools}
    keep = "let `from_records` keep all that answers show, and `knows` say yes wherever that suffices"
    if unknown := sorted(tool for tool in {*made} if not known[tool]):
        return f"{unknown[0]}: none of {made.count(unknown[0])} answered calls is said to be answerable; {keep}"
    if sum(known.values()) < ANSWERABLE * len(made):
        return f"{sum(known.values())} calls are said to be answerable, where {len(made)} were answered; {keep}"
    return ""
