"""The command `diagnose`, which finds the capabilities that an agent lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trace_gym import terminal
from trace_gym.cli.options import reject_options, reject_overwriting
from trace_gym.errors import ConfigError
from trace_gym.terminal import say

if TYPE_CHECKING:
    from trace_gym.diagnosis import Diagnosis
    from trace_gym.diagnosis.analyst import ModelAnalyst
    from trace_gym.targets.source import SkippedRecord
    from trace_gym.types import Trajectory

RULES = "rules"
MODEL_OPTIONS = {"runs", "keep", "outcome_aware", "dry_run", "work", "tokens", "dollars", "price"}
"""Options that require a language model."""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(diagnose)


def diagnose(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            help="Results of tau-bench, tau2 or ToolSandbox, a log of Inspect, traces of OpenAI's Agents SDK, JSONL of "
            "trace-gym rollout, or JSONL with conversations in the format of OpenAI."
        ),
    ],
    delta: Annotated[
        float,
        typer.Option(help="Minimum contrastive gap: error rate of the capability in failed minus passed trajectories."),
    ] = 0.20,
    rho: Annotated[float, typer.Option(help="Minimum share of failed trajectories that lack the capability.")] = 0.10,
    alpha: Annotated[
        float,
        typer.Option(
            help="Level of the permutation test, corrected for the number of capabilities. 1 disables the test."
        ),
    ] = 0.05,
    confidence: Annotated[
        float,
        typer.Option(
            help="Confidence level of the intervals. The interval of a selected capability's gap does not contain 0."
        ),
    ] = 0.95,
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            help="File with labels to use instead of the rules: an earlier diagnosis, or lists of ids. Repeat the "
            "option for several label runs."
        ),
    ] = None,
    consistent: Annotated[
        float | None,
        typer.Option(
            help="Minimum share of the label runs in which a selected capability reaches delta and rho: 0.8 by default."
        ),
    ] = None,
    analyst: Annotated[
        str,
        typer.Option(
            help="rules, or a language model that discovers and labels capabilities: openai:MODEL, openai:MODEL@URL, "
            "replay:DIR or files:DIR."
        ),
    ] = RULES,
    runs: Annotated[int, typer.Option(min=1, help="Number of label runs of a language model.")] = 10,
    keep: Annotated[
        int | None,
        typer.Option(
            min=1, help="Minimum number of the label runs in which a selected capability reaches delta and rho: 80 %."
        ),
    ] = None,
    outcome_aware: Annotated[
        bool, typer.Option("--outcome-aware", help="Show the outcomes to the language model while it labels.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the estimated requests, tokens and cost of a language model.")
    ] = False,
    work: Annotated[
        Path, typer.Option(help="Folder for the answers, the ledger and the report of a language model.")
    ] = Path("diagnosis_work"),
    tokens: Annotated[int | None, typer.Option(min=1, help="Budget in tokens for all requests in the folder.")] = None,
    dollars: Annotated[float | None, typer.Option(min=0, help="Budget in US dollars; requires --price.")] = None,
    price: Annotated[
        str, typer.Option(help="US dollars per million tokens as prompt/completion, such as 0.5/1.5.")
    ] = "",
    scorer: Annotated[
        str, typer.Option(help="Score that is the outcome, for logs of Inspect with several: NAME or NAME.KEY.")
    ] = "",
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Skip invalid and repeated records, and print their number.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write an HTML page with the capabilities, all labels, and example episodes.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the diagnosis as JSON.")] = None,
) -> None:
    """Find the missing capabilities that explain an agent's failures.

    Exit code 1: no trajectory has a score.

    Example: trace-gym diagnose results.json --out diagnosis.json

    With a language model:  trace-gym diagnose results.json --analyst openai:gpt-4o --dry-run
    """
    from trace_gym import diagnosis as stage
    from trace_gym.files import write
    from trace_gym.llm.opening import price_of

    reject_overwriting(out, source, *(labels or ()))
    if out is not None and out == html:
        raise ConfigError(f"--out and --html are the same file: found {out} twice. Choose two files")
    reject_overwriting(html, source, *(labels or ()), option="--html")
    if consistent is not None and len(labels or ()) < 2:
        raise ConfigError(
            "--consistent requires at least two label runs. Pass --labels at least twice, or remove --consistent"
        )
    if analyst == RULES:
        reject_options(context, MODEL_OPTIONS, f"on analyst {RULES}")
    else:
        reject_options(context, {"labels", "consistent"}, "on a language model; use --keep for the label runs")
        if keep is not None and keep > runs:
            raise ConfigError(f"--keep is too large: found {keep}, expected at most {runs}, the number of label runs")
    records, quotes = Records(source, scorer, skip_invalid), dict[str, str]()
    # The rules need one trajectory at a time, and a language model needs all of them several times.
    trajectories = records.stream() if analyst == RULES else list(records.stream())
    with _analyst(analyst, labels, runs, outcome_aware, work, tokens, dollars, price, dry_run) as chosen:
        if dry_run:
            say(chosen.estimate(trajectories, price_of(price)))
            return
        found = stage.diagnose(
            trajectories,
            delta=delta,
            rho=rho,
            alpha=alpha,
            confidence=confidence,
            consistent=keep / runs if keep is not None else 0.8 if consistent is None else consistent,
            analyst=chosen,
        )
        if analyst != RULES:
            quotes = _quotes(found, chosen)
            write(work / "analyst.json", chosen.report().model_dump_json(indent=1) + "\n")
            say(f"capabilities, quotes and agreement of the model: {work / 'analyst.json'}", err=True)
    if report := records.report(found.unscored):
        say(report)
    terminal.console().print(stage.render(found))
    if out is not None:
        write(out, found.model_dump_json(indent=1) + "\n")
        follows = f"; next: trace-gym synthesize --from {out}" if found.selected else ""
        say(f"written to {out}{follows}")
    if html is not None:
        from trace_gym.report.diagnosis import render_diagnosis

        write(html, render_diagnosis(found, records.stream() if analyst == RULES else trajectories, quotes))
        say(f"page: {html}")
    if found.unscored == found.n:
        raise typer.Exit(1)


def _quotes(found: Diagnosis, analyst: ModelAnalyst) -> dict[str, str]:
    """Return the evidence quotes from the episodes that the HTML page shows, by capability and trajectory."""
    shown = [(c.name, i) for c in found.capabilities for i in (*c.evidence[:1], *c.contrast[:1])]
    return {f"{name}/{i}": analyst.evidence(i, name) for name, i in shown}


class Records:
    """The trajectories of a results file, and the number of records that were skipped."""

    def __init__(self, source: Path, scorer: str, skip_invalid: bool) -> None:
        self._source, self._scorer, self._skip = source, scorer, skip_invalid
        self._skipped: list[SkippedRecord] = []
        self._equal: list[str] = []

    def stream(self) -> Iterator[Trajectory]:
        """Yield the trajectories. Each call reads the file again."""
        from trace_gym.targets.results import stream_results

        self._skipped, self._equal = [], []
        on_invalid = self._skipped.append if self._skip else None
        return stream_results(self._source, scorer=self._scorer, on_invalid=on_invalid, on_equal=self._equal.append)

    def report(self, unscored: int) -> str:
        """Return the number of records that were skipped or have no outcome, and the first error.

        If records are not skipped, return the number of equal records, or an empty string if there are none.

        Args:
            unscored: Number of trajectories without an outcome.
        """
        if not self._skip:
            count = len(self._equal)
            return f"equal to earlier records: {count}, the first: {self._equal[0]}" if count else ""
        counts = Counter(record.reason for record in self._skipped)
        text = (
            f"skipped: {counts['unreadable']} unreadable, {counts['duplicate']} duplicate; excluded: {unscored} not "
            "scored"
        )
        return f"{text}. The first skipped: {self._skipped[0].message}" if self._skipped else text


@contextmanager
def _analyst(
    analyst: str,
    labels: list[Path] | None,
    runs: int,
    outcome_aware: bool,
    work: Path,
    tokens: int | None,
    dollars: float | None,
    price: str,
    dry_run: bool,
) -> Iterator[Any]:
    """Yield the analyst that the options select."""
    from trace_gym import diagnosis as stage

    if analyst == RULES:
        yield stage.GivenLabels(labels) if labels else RULES
        return
    from trace_gym.diagnosis.analyst import AnalystOptions
    from trace_gym.diagnosis.analyst.opening import open_analyst

    options = AnalystOptions(runs=runs, outcome_aware=outcome_aware)
    with open_analyst(
        analyst,
        options,
        work,
        lambda line: say(line, err=True),
        tokens=tokens,
        dollars=dollars,
        price=price,
        dry=dry_run,
    ) as chosen:
        yield chosen
