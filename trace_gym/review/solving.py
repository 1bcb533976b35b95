"""Attempts to solve an environment: episodes of a solver, the verdicts of a reader on the failures, and the finding."""

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
from trace_gym.review.attempts import MAX_RECORD, THREADS, Attempt, attempts
from trace_gym.review.tested import lines, play
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
    """Verdict of the reader on a failed attempt."""

    verdict: Literal["agent_error", "environment_defect"]
    reason: str
    quote: str
    """Decisive words, copied from the policy, the tools, the transcript or the failed checks."""


@dataclass(frozen=True)
class Judged:
    """A failed attempt with its verdict."""

    attempt: Attempt
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
    """Let a solver play scenarios of the environment in a module file, which runs in the sandbox.

    Args:
        path: Module file.
        model: Language model that plays the scenarios as the agent.
        reader: Language model that judges the failures; by default the same model.
        count: Number of scenarios per level.
        levels: Levels to play; all by default.
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
    """Let a solver play scenarios of an environment in the sandbox; see `solve`."""
    made = attempts(world, scenarios, model)
    failed = [a for a in made if a.score is not None and not a.score.success]
    with in_threads(lambda a: judged(world, a, reader or model), failed, THREADS) as results:
        failures = sorted(results, key=lambda f: made.index(f.attempt))
    return PROPERTIES[SOLVER].evaluate(partial(conclusion, made, failures, reference))


def judged(world: SandboxedWorld, failed: Attempt, reader: Model) -> Judged:
    """Request a verdict on a failed attempt from a reader, who does not see the code of the environment."""
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
            accepted="\n".join(lines(play(world, str(failed.scenario), "oracle").messages, MAX_RECORD)),
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


def conclusion(made: Sequence[Attempt], failures: Sequence[Judged], reference: str) -> Passed:
    """Return the result of the attempts.

    Raises:
        CheckFailed: The environment raised an error, or the reader attributes a failure to it.
        Skipped: There is no defect, but not every attempt was finished and judged.
    """
    solved = sum(a.score is not None and a.score.success for a in made)
    outages = [*(a.outage for a in made if a.outage), *(f.outage for f in failures if f.outage)]
    defects = [f for f in failures if f.defect]
    metrics = {
        "scenarios": float(len(made)),
        "solved": float(solved),
        "defects": float(len(defects)),
        "agent_errors": float(sum(f.judgment is not None and not f.defect for f in failures)),
        "unfinished": float(len(outages)),
    }
    if bug := next((a for a in made if a.bug), None):
        raise _failure(bug, bug.bug, reference, metrics)
    if defects:
        first = defects[0]
        assert first.judgment is not None
        message = (
            f"{first.attempt.scenario}: an agent could not know what is expected, according to the reader: "
            f"{first.judgment.reason} (quote: {first.judgment.quote!r}). Not satisfied: "
            f"{'; '.join(first.attempt.unmet)}. The solver solved {solved} of {len(made)} scenarios, and the reader "
            f"found such a defect in {len(defects)} of them"
        )
        raise _failure(first.attempt, message, reference, metrics)
    if outages:
        raise Skipped(
            f"{len(outages)} of {len(made)} scenarios were not decided, because the language model failed: {outages[0]}"
        )
    errors = f"; the reader attributes the other {len(failures)} to errors of the solver" if failures else ""
    return Passed(f"the solver solved {solved} of {len(made)} scenarios{errors}", metrics)


def _failure(attempt: Attempt, message: str, reference: str, metrics: dict[str, float]) -> CheckFailed:
    """Return the failure with a snippet that repeats the episode, and its transcript."""
    snippet = episode_snippet(reference, str(attempt.scenario), attempt.actions)
    transcript = "".join(f"# {line}\n" for line in attempt.transcript().splitlines())
    replay = Replay(scenario=str(attempt.scenario), actions=attempt.actions)
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
