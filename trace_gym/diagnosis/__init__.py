"""Diagnosis of an agent, which compares failed and successful trajectories to find missing capabilities."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from trace_gym.diagnosis.given import GivenLabels
from trace_gym.diagnosis.records import Control, Diagnosis, Summary
from trace_gym.diagnosis.rule_analyst import RuleAnalyst
from trace_gym.diagnosis.selection import Criteria, Labels, lacking_capabilities, majority, select
from trace_gym.diagnosis.tables import markdown, render
from trace_gym.errors import ConfigError
from trace_gym.types import Trajectory

__all__ = ["Analyst", "Control", "Diagnosis", "GivenLabels", "RuleAnalyst", "diagnose", "markdown", "render"]


class Analyst(Protocol):
    """Interface for labeling trajectories, by rules or with a language model.

    An analyst can also have an attribute `notes`, a sequence of sentences that are shown with the diagnosis.
    """

    @property
    def name(self) -> str:
        """Name of the analyst in reports."""
        ...

    @property
    def descriptions(self) -> Mapping[str, str]:
        """Mapping from capability name to description, in a fixed order."""
        ...

    def label(self, trajectories: Iterable[Trajectory]) -> Sequence[Labels]:
        """Return one or more label runs. Each run is a mapping from trajectory id to capability to label.

        The trajectories can be iterated only once, because they may be read from a file during the iteration.

        An analyst that uses rules returns one run. One that uses a language model may return several runs, because the
        answers of the model vary. A run omits trajectories that cannot be labeled.
        """
        ...


def diagnose(
    trajectories: Iterable[Trajectory],
    *,
    delta: float = 0.20,
    rho: float = 0.10,
    alpha: float = 0.05,
    consistent: float = 0.8,
    confidence: float = 0.95,
    analyst: Analyst | str = "rules",
    permutations: int = 1000,
    seed: int = 0,
) -> Diagnosis:
    """Find the missing capabilities that explain an agent's failures.

    Args:
        trajectories: Passed and failed trajectories of one agent, with unique ids. The rule analyst processes them one
            at a time, so you can pass the iterator that `trace_gym.targets.results.stream_results` returns.
        delta: Minimum gap of a selected capability. The gap is the difference between the error rates of failed and
            passed trajectories.
        rho: Minimum coverage of a selected capability. The coverage is the fraction of failures that lack the
            capability.
        alpha: Significance level of the permutation test. A selected capability has a p-value below `alpha` after
            correction for the number of capabilities, and a confidence interval of its gap that does not contain 0. Set
            it to 1 to disable both conditions.
        consistent: Minimum fraction of the label runs in which a selected capability reaches `delta` and `rho`.
        confidence: Confidence level of the intervals of the gap and the coverage.
        analyst: ``"rules"``, or an `Analyst`.
        permutations: Number of permutations of the outcomes in the control, and of bootstrap samples.
        seed: Seed of the control and of the bootstrap.

    Raises:
        ConfigError: A threshold is not between 0 and 1, the confidence is 0 or 1, an id occurs twice, or the analyst is
            unknown.
    """
    shares = {"delta": delta, "rho": rho, "alpha": alpha, "consistent": consistent, "confidence": confidence}
    _check(shares, permutations)
    chosen, seen = _analyst(analyst), _SummaryCollector()
    iterated = seen.iterate(trajectories)
    given = chosen.label(iterated)
    deque(iterated, maxlen=0)  # trajectories that the analyst did not look at are counted as well
    ids, names = [t.id for t in seen.summaries], list(chosen.descriptions)
    runs = [majority([run], ids, names) for run in given]
    labels = runs[0] if len(runs) == 1 else majority(given, ids, names)
    labeled = {i for run in given for i in run}
    scored = [t for t in seen.summaries if t.success is not None]
    failed = [t for t in scored if not t.success]
    needed = {name for own in labels.values() for name, label in own.items() if label != "NA"}
    capabilities, remarks, control = select(
        {name: text for name, text in chosen.descriptions.items() if name in needed} if failed else {},
        scored,
        labels,
        runs,
        Criteria(**shares),
        analyst=chosen.name,
        permutations=permutations,
        seed=seed,
    )
    return Diagnosis(
        source=", ".join(sorted(seen.sources - {""})),
        n=len(ids),
        failed=len(failed),
        passed=len(scored) - len(failed),
        unscored=len(ids) - len(scored),
        delta=delta,
        rho=rho,
        alpha=alpha,
        confidence=confidence,
        runs=len(runs),
        consistent=consistent,
        capabilities=tuple(capabilities),
        remarks=remarks,
        control=control,
        labels=labels,
        uncovered=tuple(t.id for t in failed if t.id in labeled and not lacking_capabilities(labels[t.id])),
        unlabelled=tuple(i for i in ids if i not in labeled),
        analyst=chosen.name,
        notes=tuple(getattr(chosen, "notes", ())),
    )


class _SummaryCollector:
    """Collector of the summaries and sources of trajectories while an analyst iterates over them."""

    def __init__(self) -> None:
        self.summaries: list[Summary] = []
        self.sources: set[str] = set()

    def iterate(self, trajectories: Iterable[Trajectory]) -> Iterator[Trajectory]:
        """Yield the trajectories, and store a summary of each."""
        ids = set[str]()
        for t in trajectories:
            if t.id in ids:
                raise ConfigError(
                    f"a trajectory id occurs more than once: found {t.id!r} again. Pass the trajectories of one run of "
                    "one agent"
                )
            ids.add(t.id)
            self.sources.add(t.source)
            self.summaries.append(Summary.of(t))
            yield t


def _analyst(analyst: Analyst | str) -> Analyst:
    if not isinstance(analyst, str):
        return analyst
    if analyst != "rules":
        raise ConfigError(
            f"unknown analyst: found {analyst!r}, expected 'rules' or an object with `descriptions` and `label`"
        )
    return RuleAnalyst()


def _check(shares: Mapping[str, float], permutations: int) -> None:
    for name, value in shares.items():
        if not 0 <= value <= 1:
            raise ConfigError(f"invalid {name}: found {value}, expected a number from 0 to 1, such as 0.2")
    if shares["confidence"] in (0, 1):
        raise ConfigError(f"invalid confidence: found {shares['confidence']}, expected more than 0 and less than 1")
    if permutations < 0:
        raise ConfigError(f"invalid permutations: found {permutations}, expected 0 or more")
