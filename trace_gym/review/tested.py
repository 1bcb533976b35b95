"""Execution of the reviewer's claims in the sandbox."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trace_gym.episode import Episode
from trace_gym.errors import EnvBug, TraceGymError
from trace_gym.parsing import parse_python
from trace_gym.review.claims import EpisodeClaim, MeasurementClaim
from trace_gym.sandbox import SandboxedWorld
from trace_gym.sandbox.episode_server import as_action
from trace_gym.types import Message, Scenario
from trace_gym.world import Step

MAX_LINE = 1_500
"""Maximum number of characters of one line of a transcript. Longer lines are truncated."""
MEASURED_SEEDS = 40
"""Number of scenarios per level for which a measurement is made."""
MAX_VALUES = 12
"""Maximum number of different values per level in the table of a measurement."""


@dataclass(frozen=True)
class TestedEpisode:
    """A claim about an episode, with the episode."""

    claim: EpisodeClaim
    error: str = ""
    """Reason why the episode could not be run; empty if it was run."""
    actions: tuple[Step, ...] = ()
    facts: str = ""
    """Transcript of the lookups."""
    transcript: str = ""
    success: bool = False
    failed_checks: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        """Whether the environment's decision differs from the decision that the claim demands."""
        return not self.error and self.success != self.claim.should_succeed


@dataclass(frozen=True)
class TestedMeasurement:
    """A claim about many scenarios, with the measured values."""

    claim: MeasurementClaim
    error: str = ""
    table: str = ""
    """One line per level with the frequency of each value."""

    @property
    def supported(self) -> bool:
        return not self.error


def lines(messages: Sequence[Message], longest: int = MAX_LINE) -> Iterator[str]:
    """Yield one line per message or tool call of a conversation, without the system message.

    Args:
        messages: Messages of the conversation.
        longest: Maximum number of characters of a message.
    """
    names = {"user": "USER", "assistant": "AGENT", "tool": "RESULT"}
    for message in messages:
        if message["role"] == "system":
            continue
        text = " ".join(str(message.get("content") or "").split())
        if text:
            cut = f"{text[:longest]} ... ({len(text)} characters)" if len(text) > longest else text
            yield f"{names.get(message['role'], message['role'])}: {cut}"
        for call in message.get("tool_calls") or ():
            yield f"CALL: {call['function']['name']} {call['function']['arguments']}"


def run_episode(world: SandboxedWorld, scenario: str, steps: Sequence[Step] | str) -> Episode:
    """Run an episode with the given actions, or with the plan of the named expert, and return the finished episode."""
    episode = world.episode(Scenario.parse(scenario))
    for action in episode.plan(steps) if isinstance(steps, str) else steps:
        if episode.done:
            break
        episode.step(action)
    episode.finish()
    return episode


def execute_episode(world: SandboxedWorld, claim: EpisodeClaim) -> TestedEpisode:
    """Run the episode that a claim describes."""
    try:
        facts = (
            run_episode(world, claim.scenario, [as_action(dict(data)) for data in claim.lookups])
            if claim.lookups
            else None
        )
        start = world.episode(Scenario.parse(claim.scenario))
        oracle = claim.steps is None
        actions = tuple(start.plan("oracle")) if oracle else tuple(as_action(dict(data)) for data in claim.steps or ())
        episode = run_episode(world, claim.scenario, actions)
    except TraceGymError as error:
        return TestedEpisode(claim, error=str(error))
    score = episode.finish()
    end = ["(the user ends the conversation)"] if episode.done else []
    return TestedEpisode(
        claim,
        actions=actions,
        facts="\n".join(lines(facts.messages)) if facts else "",
        transcript="\n".join([*lines(episode.messages), *end]),
        success=score.success,
        failed_checks=tuple(f"{check.kind}: {check.description}" for check in score.checks if not check.passed),
    )


def execute_measurement(path: Path, claim: MeasurementClaim, levels: int, **options: Any) -> TestedMeasurement:
    """Append the function of a claim to a copy of the module, and evaluate it in a new sandbox."""
    try:
        parse_python(claim.code)
    except (SyntaxError, ValueError) as error:
        return TestedMeasurement(claim, error=f"the code cannot be parsed: {error}")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_text(f"{path.read_text(encoding='utf-8')}\n\n{claim.code}\n", encoding="utf-8")
        try:
            with SandboxedWorld(copy, **options) as world:
                rows = [_row(world, level) for level in range(levels)]
        except EnvBug as error:
            return TestedMeasurement(claim, error=str(error)[:400])
    return TestedMeasurement(claim, table="\n".join(rows))


def _row(world: SandboxedWorld, level: int) -> str:
    """Return the frequencies of the measured values on one level."""
    values = Counter(
        world.measure(Scenario(env=world.id, level=level, seed=seed)) for seed in range(MEASURED_SEEDS)
    ).most_common()
    shown = ", ".join(f"{json.dumps(value)}: {count}" for value, count in values[:MAX_VALUES])
    more = f", and {len(values) - MAX_VALUES} other values" if len(values) > MAX_VALUES else ""
    return f"level {level}, {MEASURED_SEEDS} scenarios: {shown}{more}"
