"""Property TG215: rollouts of a solver, the verdicts of a reader on the failed rollouts, and the finding."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from trace_gym.errors import EnvBug, ModelError
from trace_gym.llm import Model, ModelRequest, ask_for
from trace_gym.llm.answers import parse
from trace_gym.modules import file_bytes
from trace_gym.prompts import template
from trace_gym.review.solver_rollouts import MAX_RECORD, THREADS, SolverRollout, run_solver
from trace_gym.review.tested import lines, run_episode
from trace_gym.sandbox import SandboxedWorld
from trace_gym.sandbox.unadmitted import find_requirements
from trace_gym.threads import in_threads
from trace_gym.types import Finding, Record, Replay, Scenario
from trace_gym.validation import PROPERTIES, CheckFailed, Passed
from trace_gym.validation.model_review import SOLVER
from trace_gym.validation.properties import Skipped
from trace_gym.validation.repeat_snippets import episode_snippet
from trace_gym.validation.selection import sample_by_name

DEFECT = "environment_defect"


class Judgment(Record):
    """Verdict of the reader on a failed rollout."""

    verdict: Literal["agent_error", "environment_defect"]
    reason: str
    quote: str
    """Decisive words, copied from the policy, the tools, the transcript or the failed checks."""


@dataclass(frozen=True)
class Judged:
    """A failed rollout with its verdict."""

    rollout: SolverRollout
    judgment: Judgment | None
    outage: str = ""
    """Error of the reader; empty if there is a judgment."""

    @property
    def defect(self) -> bool:
        """Whether the reader attributes the failure to the environment."""
        return self.judgment is not None and self.judgment.verdict == DEFECT


def solve(
    path: Path,
    model: Model,
    reader: Model | None = None,
    *,
    count: int = 2,
    levels: Collection[int] | None = None,
    reference: str = "",
) -> Finding:
    """Run episodes of a solver in the environment of a module file, which runs in the sandbox.

    Args:
        path: Module file.
        model: Language model in the role of the agent.
        reader: Language model that judges the failures; by default the same model.
        count: Number of scenarios per level.
        levels: Levels of the scenarios; all by default.
        reference: Location of the world class for the snippet of a counterexample; by default the path.

    Raises:
        ReadError: The module cannot be read.
        EnvBug: The module cannot be loaded.
        SandboxError: This machine cannot isolate the module.
        BudgetSpent: The budget of a model is spent.
        ConfigError: A model is not configured correctly, or a level does not exist.
    """
    needs = find_requirements(path.resolve(), file_bytes(path))
    with SandboxedWorld(path, target_imports=needs.imports, target_files=needs.target_files) as world:
        scenarios = sample_by_name(world.id, len(world.levels), count, levels)
        return solve_world(world, scenarios, model, reader, reference or str(path))


def solve_world(
    world: SandboxedWorld, scenarios: Sequence[Scenario], model: Model, reader: Model | None, reference: str
) -> Finding:
    """Run episodes of a solver in an environment in the sandbox; see `solve`."""
    rollouts = run_solver(world, scenarios, model)
    failed = [r for r in rollouts if r.score is not None and not r.score.success]
    with in_threads(lambda r: judged(world, r, reader or model), failed, THREADS) as results:
        failures = sorted(results, key=lambda f: rollouts.index(f.rollout))
    return PROPERTIES[SOLVER].evaluate(partial(conclusion, rollouts, failures, reference))


def judged(world: SandboxedWorld, failed: SolverRollout, reader: Model) -> Judged:
    """Request a verdict on a failed rollout from a reader, who does not see the code of the environment."""
    policy = world.interface.system_prompt
    tools = [json.dumps(tool["function"], ensure_ascii=False) for tool in world.interface.tools]
    transcript = failed.transcript(longest=MAX_RECORD)
    shown = "\n".join([policy, *tools, transcript, *failed.unmet])
    try:
        prompt = template.render(
            "solve_judge.md.jinja",
            policy=policy,
            tools=tools,
            transcript=transcript,
            unmet=failed.unmet,
            accepted="\n".join(lines(run_episode(world, str(failed.scenario), "oracle").messages, MAX_RECORD)),
        )
        messages = (
            {"role": "system", "content": template.render("review_system.md.jinja")},
            {"role": "user", "content": prompt},
        )
        request = ModelRequest(
            messages=messages,
            purpose=f"judge {failed.scenario}",
            answer=Judgment.model_json_schema(),
            temperature=0.0,
        )
        judgment, _ = ask_for(reader, request, partial(_read_judgment, shown))
    except (ModelError, EnvBug) as error:
        return Judged(failed, None, str(error))
    return Judged(failed, judgment)


def conclusion(rollouts: Sequence[SolverRollout], failures: Sequence[Judged], reference: str) -> Passed:
    """Return the result of the rollouts.

    Raises:
        CheckFailed: The environment raised an error, or the reader attributes a failure to it.
        Skipped: There is no defect, but not every rollout was finished and judged.
    """
    solved = sum(r.score is not None and r.score.success for r in rollouts)
    outages = [*(r.outage for r in rollouts if r.outage), *(f.outage for f in failures if f.outage)]
    defects = [f for f in failures if f.defect]
    metrics = {
        "scenarios": float(len(rollouts)),
        "solved": float(solved),
        "defects": float(len(defects)),
        "agent_errors": float(sum(f.judgment is not None and not f.defect for f in failures)),
        "unfinished": float(len(outages)),
    }
    if bug := next((r for r in rollouts if r.bug), None):
        raise _failure(bug, bug.bug, reference, metrics)
    if defects:
        first = defects[0]
        assert first.judgment is not None
        message = (
            f"{first.rollout.scenario}: an agent could not know what is expected, according to the reader: "
            f"{first.judgment.reason} (quote: {first.judgment.quote!r}). Not satisfied: "
            f"{'; '.join(first.rollout.unmet)}. The solver solved {solved} of {len(rollouts)} scenarios, and the "
            f"reader found such a defect in {len(defects)} of them"
        )
        raise _failure(first.rollout, message, reference, metrics)
    if outages:
        raise Skipped(
            f"{len(outages)} of {len(rollouts)} scenarios were not decided, because the language model failed: "
            f"{outages[0]}"
        )
    errors = f"; the reader attributes the other {len(failures)} to errors of the solver" if failures else ""
    return Passed(f"the solver solved {solved} of {len(rollouts)} scenarios{errors}", metrics)


def _failure(rollout: SolverRollout, message: str, reference: str, metrics: dict[str, float]) -> CheckFailed:
    """Return the failure with a snippet that repeats the episode, and its transcript."""
    snippet = episode_snippet(reference, str(rollout.scenario), rollout.actions)
    transcript = "".join(f"# {line}\n" for line in rollout.transcript().splitlines())
    replay = Replay(scenario=str(rollout.scenario), actions=rollout.actions)
    return CheckFailed(message, f"{snippet}\n{transcript}", metrics, replay=replay)


def _read_judgment(shown: str, text: str) -> Judgment:
    """Parse a verdict. The quote of a defect must occur in the texts that the reader was shown.

    Raises:
        ModelError: The verdict is not valid.
    """
    judgment = parse(Judgment, text)
    if judgment.verdict == DEFECT and not _occurs(judgment.quote, shown):
        raise ModelError(
            f"the quote does not occur in the policy, the tools, the transcript or the unmet checks: found "
            f"{judgment.quote[:200]!r}, expected words that are copied from them"
        )
    return judgment


def _occurs(quote: str, text: str) -> bool:
    """Return whether all parts of a quote occur in a text. Case, spaces and punctuation do not matter."""
    words = _words(text)
    parts = [part for part in map(_words, re.split(r"\.\.\.|…", quote)) if part.strip()]
    return bool(parts) and all(part in words for part in parts)


def _words(text: str) -> str:
    return " ".join(["", *re.findall(r"\w+", text.lower()), ""])
