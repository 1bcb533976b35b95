"""Analyst that discovers and labels capabilities with a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from trace_gym import registry
from trace_gym.diagnosis.analyst.agreement import mean_kappa
from trace_gym.diagnosis.analyst.discovery import discover
from trace_gym.diagnosis.analyst.estimate import Estimate, estimate
from trace_gym.diagnosis.analyst.labeling import LabelResults, label, label_jobs
from trace_gym.diagnosis.analyst.options import AnalystOptions
from trace_gym.diagnosis.analyst.records import AnalystReport, Found
from trace_gym.errors import ModelError
from trace_gym.llm import Completion, Model, Price
from trace_gym.terminal import progress_bar
from trace_gym.types import Label, Trajectory


class ModelAnalyst:
    """Analyst that discovers and labels capabilities with a language model.

    Args:
        model: Language model.
        options: Options of the analyst.
        registered: Mapping from the name of a capability to its description. Discovered capabilities that train the
            same skill get this name. By default, the capabilities of the registered environments.
        capabilities: Mapping from name to description of the capabilities to label. If it is given, nothing is
            discovered.
        log: Function that receives progress messages.
    """

    def __init__(
        self,
        model: Model,
        options: AnalystOptions | None = None,
        *,
        registered: Mapping[str, str] | None = None,
        capabilities: Mapping[str, str] | None = None,
        log: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.model, self.options, self.log = model, options or AnalystOptions(), log
        self.registered = registered_capabilities() if registered is None else dict(registered)
        self._given = capabilities
        self._found: list[Found] = []
        self._results = LabelResults()
        self._completions: list[Completion] = []
        self._runs: list[dict[str, dict[str, Label]]] = []

    @property
    def name(self) -> str:
        """Name of the model, with a note if the label prompts contain the outcomes of the trajectories."""
        return f"{self.model.name}{' (outcome-aware)' if self.options.outcome_aware else ''}"

    @property
    def descriptions(self) -> dict[str, str]:
        """Mapping from capability name to description. It is empty before `label`, unless capabilities were given."""
        return {c.name: c.description for c in self._found} if self._found else dict(self._given or {})

    @property
    def notes(self) -> list[str]:
        """Sentences about the registered capabilities that the model matched, and about missing labels."""
        notes = [f"The model found {', '.join(c.found_as)}. {c.match}" for c in self._found if c.found_as != (c.name,)]
        if missing := self._results.not_labeled:
            count = len(self._results.evidence) + len(missing)
            notes.append(
                f"{len(missing)} of {count} labels are missing, for example of {missing[0].trajectory} in run "
                f"{missing[0].run + 1}: {missing[0].reason}."
            )
        return notes

    def label(self, trajectories: Iterable[Trajectory]) -> list[dict[str, dict[str, Label]]]:
        """Discover capabilities, and return one mapping from trajectory id to capability to label per run.

        If no trajectory failed, nothing is discovered, and the runs are empty.

        Raises:
            ModelError: The model returned no usable answer to the discovery, or not a single valid label.
            BudgetSpent: The next request might cost more than the remaining budget.
            ConfigError: The endpoint rejects the key, or does not serve the model.
        """
        trajectories = list(trajectories)
        self._found, self._completions = self._capabilities(trajectories)
        descriptions = {c.name: c.description for c in self._found}
        jobs = list(label_jobs(trajectories, descriptions, self.options)) if descriptions else []
        self.log(
            f"labels: {len(trajectories)} trajectories x {len(descriptions)} capabilities x {self.options.runs} runs "
            f"in {len(jobs)} requests"
        )
        with progress_bar("label requests", len(jobs), shown=bool(jobs)) as update:
            self._results = label(
                self.model, jobs, self.options.concurrency, lambda count: update(advance=count), self.log
            )
        self._completions += self._results.completions
        if jobs and not self._results.evidence:
            raise ModelError(f"{self.model.name} returned no valid label: {self._results.not_labeled[-1].reason}")
        self._runs = [{} for _ in range(self.options.runs)]
        for item in self._results.evidence:
            self._runs[item.run].setdefault(item.trajectory, {})[item.capability] = item.label
        self._log_results()
        return self._runs

    def evidence(self, trajectory_id: str, capability: str) -> str:
        """Return the quote for the most frequent label of a trajectory and capability, or `""` if there is none."""
        found = [e for e in self._results.evidence if (e.trajectory, e.capability) == (trajectory_id, capability)]
        labels = [e.label for e in found]
        best = max(labels, key=labels.count, default=None)
        return next((f"[{e.turn}] {e.quote}" for e in found if e.label == best and e.quote), "")

    def report(self) -> AnalystReport:
        """Return a report of the capabilities, the evidence, the missing labels, and the agreement between the runs."""
        return AnalystReport(
            model=self.model.name,
            outcome_aware=self.options.outcome_aware,
            capabilities=tuple(self._found),
            evidence=tuple(self._results.evidence),
            not_labeled=tuple(self._results.not_labeled),
            kappa=mean_kappa(self._runs),
            requests=len(self._completions),
            cached=sum(c.cached for c in self._completions),
            prompt_tokens=sum(c.prompt_tokens for c in self._completions),
            completion_tokens=sum(c.completion_tokens for c in self._completions),
        )

    def estimate(self, trajectories: Sequence[Trajectory], price: Price | None = None) -> Estimate:
        """Estimate the requests, tokens and cost of `label`. No request is sent."""
        return estimate(trajectories, len(self.registered), self.options, price)

    def _capabilities(self, trajectories: Sequence[Trajectory]) -> tuple[list[Found], list[Completion]]:
        if self._given is not None:
            return [Found(name=n, description=d, found_as=(n,)) for n, d in self._given.items()], []
        if not any(t.success is False for t in trajectories):
            return [], []
        return discover(self.model, trajectories, self.registered, self.options, self.log)

    def _log_results(self) -> None:
        kappa = mean_kappa(self._runs)
        agreement = "" if kappa is None else f", kappa between runs {kappa:.2f}"
        cached = sum(c.cached for c in self._completions)
        self.log(f"{len(self._results.evidence)} labels, {len(self._completions)} answers ({cached} cached){agreement}")
        if missing := self._results.not_labeled:
            self.log(f"{len(missing)} labels are missing, for example of {missing[0].trajectory}: {missing[0].reason}")


def registered_capabilities() -> dict[str, str]:
    """Return the names and descriptions of the capabilities for which an environment is registered."""
    found: dict[str, str] = {}
    for card in sorted(registry.manifests(), key=lambda card: card.id):
        if card.capability:
            rationale = card.spec.rationale if card.spec else ""
            found.setdefault(card.capability, f"{card.title} {rationale}".strip())
    return found
