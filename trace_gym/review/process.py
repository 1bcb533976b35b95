"""Review of one environment: claims of a reviewer, their execution, the verdicts of a reader, and the finding."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trace_gym.llm import Model, ModelRequest, ask
from trace_gym.modules import file_bytes
from trace_gym.parsing import parse_python
from trace_gym.prompts import evidence, template
from trace_gym.review.claims import MAX_CLAIMS, Review, Verdicts
from trace_gym.review.tested import (
    MEASURED_SEEDS,
    TestedEpisode,
    TestedMeasurement,
    execute_episode,
    execute_measurement,
    lines,
    run_episode,
)
from trace_gym.sandbox import SandboxedWorld
from trace_gym.sandbox.episode_server import as_data
from trace_gym.sandbox.unadmitted import find_requirements
from trace_gym.types import Finding, Replay, Scenario
from trace_gym.validation import PROPERTIES, CheckFailed, Passed
from trace_gym.validation.model_review import REVIEW

SAMPLES_PER_LEVEL = 2
"""Number of scenarios of each level whose episodes the reviewer sees."""
TEMPERATURE = 0.3


@dataclass(frozen=True)
class ReviewedEpisode:
    """Episode of an expert in the reviewer's prompt."""

    title: str
    text: str


@dataclass(frozen=True)
class Subject:
    """The environment under review."""

    path: Path
    source: str
    world: SandboxedWorld
    capability: str
    options: dict[str, Any]

    @property
    def facts(self) -> dict[str, Any]:
        """Template variables that reviewer and reader share: documentation, policy and tools."""
        interface = self.world.interface
        return {
            "env": self.world.id,
            "capability": self.capability,
            "documentation": documentation(self.source),
            "policy": interface.system_prompt,
            "tools": evidence.signatures(interface),
        }


def review(path: Path, model: Model, reader: Model | None = None) -> Finding:
    """Review the environment in a module file, which runs in the sandbox.

    Args:
        path: Module file.
        model: Language model that reviews the environment.
        reader: Language model that judges the evidence without knowing the code; by default the same model.

    Raises:
        ReadError: The module cannot be read.
        EnvBug: The module cannot be loaded.
        SandboxError: This machine cannot isolate the module.
        ModelError: The model did not answer, or its answer is not valid.
    """
    source = file_bytes(path)
    needs = find_requirements(path.resolve(), source)
    options = {"target_imports": needs.imports, "target_files": needs.target_files}
    with SandboxedWorld(path, **options) as world:
        text = source.decode()
        subject = Subject(path, text, world, attribute(text, "capability"), options)
        episodes, measurements = supported_claims(subject, model)
        verdicts = judged(subject, reader or model, episodes, measurements)
    return finding(episodes, measurements, verdicts)


def finding(
    episodes: Sequence[TestedEpisode], measurements: Sequence[TestedMeasurement], verdicts: Verdicts
) -> Finding:
    """Return the finding of a review: a failure if the reader confirms a claim."""
    metrics = {"claims": float(len(episodes) + len(measurements)), "confirmed": 0.0}
    if confirmed := list(_confirmed(episodes, measurements, verdicts)):
        metrics["confirmed"] = len(confirmed)
        first = confirmed[0]
        return PROPERTIES[REVIEW].failed(
            CheckFailed(first.message, first.counterexample, metrics, first.exhibits, first.replay)
        )
    message = (
        f"{metrics['claims']:.0f} claims of the reviewer are supported by their evidence; the reader confirms none"
    )
    return PROPERTIES[REVIEW].evaluate(lambda: Passed(message, metrics))


def supported_claims(subject: Subject, model: Model) -> tuple[list[TestedEpisode], list[TestedMeasurement]]:
    """Return the reviewer's claims that are supported by the execution of their evidence."""
    name = subject.world.id
    prompt = template.render(
        "review_claims.md.jinja",
        **subject.facts,
        source=subject.source,
        samples=list(samples(subject.world)),
        seeds=MEASURED_SEEDS,
        most=MAX_CLAIMS,
    )
    first = request(f"review {name}", prompt)
    claims, completions = ask(model, first, Review)
    tested = tested_claims(subject, claims)
    if any(tested):
        results = template.render("review_results.md.jinja", episodes=tested[0], measurements=tested[1])
        turns = ({"role": "assistant", "content": completions[-1].text}, {"role": "user", "content": results})
        second = first.model_copy(update={"messages": (*first.messages, *turns), "purpose": f"review {name}, results"})
        final, _ = ask(model, second, Review)
        tested = tested_claims(subject, final)
    return [e for e in tested[0] if e.supported], [m for m in tested[1] if m.supported]


def tested_claims(subject: Subject, claims: Review) -> tuple[list[TestedEpisode], list[TestedMeasurement]]:
    """Execute the evidence of all claims."""
    levels = len(subject.world.levels)
    return (
        [execute_episode(subject.world, claim) for claim in claims.episodes],
        [execute_measurement(subject.path, claim, levels, **subject.options) for claim in claims.measurements],
    )


def judged(
    subject: Subject, model: Model, episodes: Sequence[TestedEpisode], measurements: Sequence[TestedMeasurement]
) -> Verdicts:
    """Request a verdict on the evidence from a reader, who sees neither the code nor the rewards."""
    if not episodes and not measurements:
        return Verdicts()
    prompt = template.render("review_judge.md.jinja", **subject.facts, episodes=episodes, measurements=measurements)
    verdicts, _ = ask(model, request(f"judge {subject.world.id}", prompt), Verdicts)
    return verdicts


def _confirmed(
    episodes: Sequence[TestedEpisode],
    measurements: Sequence[TestedMeasurement],
    verdicts: Verdicts,
) -> Iterator[CheckFailed]:
    """Yield the claims that the reader confirms."""
    by_item = {v.item: v for v in verdicts.episodes}
    severity = {v.item: v for v in verdicts.measurements}
    for number, e in enumerate(episodes, 1):
        verdict = by_item.get(f"E{number}")
        if verdict is not None and verdict.success == ("yes" if e.claim.should_succeed else "no"):
            decided = "succeeds, although it must fail" if e.success else "fails, although it must succeed"
            message = f"{e.claim.scenario}: this behavior {decided}: {e.claim.reason} The reader: {verdict.reason}"
            replay = Replay(scenario=e.claim.scenario, actions=tuple(as_data(a) for a in e.actions))
            yield CheckFailed(message, f"{e.transcript}\n", replay=replay)
    for number, m in enumerate(measurements, 1):
        judged = severity.get(f"M{number}")
        if judged is not None and judged.severity != "harmless":
            message = f"{m.claim.reason} The reader: {judged.reason}"
            yield CheckFailed(message, f"{m.claim.code.rstrip()}\n\n# {m.table}\n".replace("\nlevel", "\n# level"))


def samples(world: SandboxedWorld) -> Iterator[ReviewedEpisode]:
    """Yield episodes of the oracle on every level, and of the ablated expert on scenarios that it does not solve."""
    for level in world.levels:
        for seed in range(SAMPLES_PER_LEVEL):
            scenario = Scenario(env=world.id, level=level, seed=seed)
            for expert in ("oracle", "ablated"):
                score = (episode := run_episode(world, str(scenario), expert)).finish()
                checks = [f"{'passed' if c.passed else 'FAILED'} {c.kind}: {c.description}" for c in score.checks]
                title = f"{scenario}, {expert}: {'success' if score.success else 'failure'}"
                if expert == "oracle":
                    yield ReviewedEpisode(title, "\n".join([*lines(episode.messages), *checks]))
                elif not score.success:
                    yield ReviewedEpisode(title, "\n".join(c for c in checks if c.startswith("FAILED")))


def request(purpose: str, prompt: str) -> ModelRequest:
    """Return the first request of a conversation."""
    messages = (
        {"role": "system", "content": template.render("review_system.md.jinja")},
        {"role": "user", "content": prompt},
    )
    return ModelRequest(messages=messages, purpose=purpose, temperature=TEMPERATURE)


def documentation(source: str) -> str:
    """Return the docstrings of the module and of its last class, without running the module."""
    tree = parse_python(source)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    texts = [ast.get_docstring(tree), *(ast.get_docstring(node) for node in classes[-1:])]
    return "\n\n".join(filter(None, texts))


def attribute(source: str, name: str) -> str:
    """Return the text that a class of the module assigns to an attribute; empty if there is none."""
    for node in ast.walk(parse_python(source)):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Constant(value=value)) if target == name:
                return str(value)
    return ""
