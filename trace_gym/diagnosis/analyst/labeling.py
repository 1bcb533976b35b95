"""Labeling of capabilities by a language model. Each label has a quote that must occur in the trajectory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import TypeGuard

from trace_gym.diagnosis.analyst.options import AnalystOptions
from trace_gym.diagnosis.analyst.prompts import ShownEpisode, label_request
from trace_gym.diagnosis.analyst.records import Evidence, LabelAnswers, NotLabeled
from trace_gym.diagnosis.analyst.transcript import find_quote, transcript
from trace_gym.errors import ModelError
from trace_gym.llm import Completion, Model, ModelRequest, ask
from trace_gym.threads import in_threads
from trace_gym.types import Label, Trajectory

ROUNDS = 2
"""Maximum number of times that a label is requested. Labels that are still missing after that are reported."""


@dataclass(frozen=True)
class LabelJob:
    """Request for the labels of several trajectories in one label run."""

    run: int
    batch: int
    shown: tuple[ShownEpisode, ...]
    capabilities: tuple[tuple[str, str, str], ...]
    """Number (as in the prompt), name and description of each capability."""
    outcome_aware: bool
    temperature: float
    round: int = 1
    missing: Mapping[tuple[str, str], str] | None = None
    """Pairs of trajectory id and capability whose label is missing, with the reason; None for all pairs."""

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of trajectory id and capability that this job labels."""
        if self.missing is not None:
            return list(self.missing)
        return [(s.trajectory.id, name) for s in self.shown for _, name, _ in self.capabilities]

    @property
    def request(self) -> ModelRequest:
        """Request to the language model."""
        wanted = None
        if self.missing is not None:
            wanted = {
                s.number: [number for number, name, _ in self.capabilities if (s.trajectory.id, name) in self.missing]
                for s in self.shown
            }
        again = "" if self.round == 1 else f" again {self.round}"
        return label_request(
            self.shown,
            self.capabilities,
            wanted,
            purpose=f"label run {self.run + 1} batch {self.batch}{again}",
            run=self.run,
            outcome_aware=self.outcome_aware,
            temperature=self.temperature,
        )


@dataclass
class LabelResults:
    """Labels, missing labels and completions of all runs."""

    evidence: list[Evidence] = field(default_factory=list)
    not_labeled: list[NotLabeled] = field(default_factory=list)
    completions: list[Completion] = field(default_factory=list)


def label_jobs(
    trajectories: Sequence[Trajectory], descriptions: Mapping[str, str], options: AnalystOptions
) -> Iterator[LabelJob]:
    """Yield the jobs of all runs. The order of trajectories and of capabilities differs between runs."""
    transcripts = {t.id: transcript(t, options.trajectory_tokens) for t in trajectories}
    for run in range(options.runs):
        rng = Random(f"labels/{options.seed}/{run}")
        order = rng.sample(list(trajectories), len(trajectories))
        names = rng.sample(list(descriptions), len(descriptions))
        capabilities = tuple((f"C{n}", name, descriptions[name]) for n, name in enumerate(names, 1))
        for batch, start in enumerate(range(0, len(order), options.label_batch), 1):
            group = order[start : start + options.label_batch]
            shown = tuple(ShownEpisode(f"T{n}", t, transcripts[t.id]) for n, t in enumerate(group, 1))
            yield LabelJob(run, batch, shown, capabilities, options.outcome_aware, options.temperature)


def label(
    model: Model, jobs: Sequence[LabelJob], concurrency: int, advance: Callable[[int], None], log: Callable[[str], None]
) -> LabelResults:
    """Send the jobs, and request labels again if they are missing or their quote is wrong.

    A failed request does not stop the others. The model caches its answers, so an interrupted run can be resumed
    without sending completed requests again.

    Args:
        model: Language model.
        jobs: Jobs of all runs.
        concurrency: Maximum number of concurrent requests.
        advance: Function that receives the number of finished jobs after each job.
        log: Function that receives progress messages.

    Raises:
        BudgetSpent: The next request might cost more than the remaining budget.
        ConfigError: The endpoint rejects the key, or does not serve the model.
    """
    results, current = LabelResults(), list(jobs)
    for number in range(1, ROUNDS + 1):
        repeated = []
        with in_threads(lambda job: _labels(model, job), current, concurrency) as answers:
            for job, evidence, missing, completions in answers:
                results.evidence += evidence
                results.completions += completions
                if number == 1:
                    advance(1)
                if missing and number < ROUNDS:
                    repeated.append(_reduced(job, missing))
                elif missing:
                    results.not_labeled += [
                        NotLabeled(run=job.run, trajectory=i, capability=name, reason=reason)
                        for (i, name), reason in missing.items()
                    ]
        if not repeated:
            break
        log(f"{sum(len(job.pairs) for job in repeated)} labels are requested again in {len(repeated)} requests")
        current = sorted(repeated, key=lambda job: (job.run, job.batch))
    results.evidence.sort(key=lambda e: (e.run, e.trajectory, e.capability))
    results.not_labeled.sort(key=lambda e: (e.run, e.trajectory, e.capability))
    return results


Answered = tuple[LabelJob, list[Evidence], dict[tuple[str, str], str], list[Completion]]


def _labels(model: Model, job: LabelJob) -> Answered:
    """Return the valid labels of a job, the missing pairs with reasons, and the completions."""
    try:
        answer, completions = ask(model, job.request, LabelAnswers)
    except ModelError as error:
        return job, [], dict.fromkeys(job.pairs, str(error)), []
    missing = dict.fromkeys(job.pairs, "the answer does not contain the label")
    shown = {s.number: s for s in job.shown}
    names = {number: name for number, name, _ in job.capabilities}
    evidence = []
    for given in answer.labels:
        place, name = shown.get(given.trajectory.strip()), names.get(given.capability.strip())
        if place is None or name is None or (pair := (place.trajectory.id, name)) not in missing:
            continue
        value = given.label.strip().upper()
        if not _is_label(value):
            missing[pair] = f"the label is not valid: found {given.label[:40]!r}, expected NA, PRESENT or LACKING"
            continue
        turn = find_quote(place.turns, given.quote) if value != "NA" else None
        if value != "NA" and turn is None:
            missing[pair] = f"the quote does not occur in the trajectory: {given.quote[:80]!r}"
            continue
        del missing[pair]
        evidence.append(
            Evidence(
                run=job.run,
                trajectory=pair[0],
                capability=name,
                label=value,
                turn=turn.number if turn else None,
                quote=given.quote if turn else "",
            )
        )
    return job, evidence, missing, completions


def _is_label(value: str) -> TypeGuard[Label]:
    return value in ("NA", "PRESENT", "LACKING")


def _reduced(job: LabelJob, missing: Mapping[tuple[str, str], str]) -> LabelJob:
    """Return the job for the missing labels only."""
    ids = {i for i, _ in missing}
    names = {name for _, name in missing}
    return LabelJob(
        job.run,
        job.batch,
        tuple(s for s in job.shown if s.trajectory.id in ids),
        tuple(c for c in job.capabilities if c[1] in names),
        job.outcome_aware,
        job.temperature,
        job.round + 1,
        dict(missing),
    )
