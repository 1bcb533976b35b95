"""Rollouts of a solver, a language model in the role of the agent. It receives only what an agent receives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trace_gym.episode import Episode
from trace_gym.errors import EnvBug, ModelError
from trace_gym.llm import Completion, Model, ModelRequest
from trace_gym.review.tested import lines
from trace_gym.sandbox import SandboxedWorld
from trace_gym.threads import in_threads
from trace_gym.types import Message, Scenario, Score

TEMPERATURE = 0.0
THREADS = 8
"""Maximum number of rollouts that wait for an answer at the same time."""
MAX_RECORD = 20_000
"""Maximum number of characters of one line in the reader's transcript. Tool results may contain many records."""


@dataclass(frozen=True)
class SolverRollout:
    """Episode that the solver ran, with its score or the error that ended it."""

    scenario: Scenario
    actions: tuple[Message, ...]
    messages: tuple[Message, ...]
    """Conversation, starting with the system message."""
    user_ended: bool = False
    """Whether the episode ended before the turn limit."""
    score: Score | None = None
    """Score of a finished episode."""
    outage: str = ""
    """Error of the language model, which ended the rollout; empty if there was none."""
    bug: str = ""
    """Error of the environment; empty if there was none."""

    @property
    def unmet(self) -> tuple[str, ...]:
        """Goals and guards that fail at the end."""
        checks = self.score.checks if self.score else ()
        return tuple(f"{c.kind}: {c.description}" for c in checks if not c.passed and c.kind != "conduct")

    def transcript(self, **options: int) -> str:
        """Return the conversation with one line per message or tool call. The options are those of `lines`."""
        end = "(the conversation has ended)" if self.user_ended else "(the agent reached the turn limit)"
        return "\n".join([*lines(self.messages, **options), *([end] if self.score else [])])


def run_solver(world: SandboxedWorld, scenarios: Sequence[Scenario], solver: Model) -> list[SolverRollout]:
    """Run one episode of the solver per scenario, concurrently, and return the rollouts sorted by level and seed."""
    with in_threads(lambda scenario: solve_scenario(world, scenario, solver), scenarios, THREADS) as results:
        return sorted(results, key=lambda r: (r.scenario.level, r.scenario.seed))


def solve_scenario(world: SandboxedWorld, scenario: Scenario, solver: Model) -> SolverRollout:
    """Run one episode of the solver. Errors of the language model and of the environment end it and are returned.

    Raises:
        BudgetSpent: The budget of the solver is spent.
        ConfigError: The solver is not configured correctly.
    """
    actions: list[Message] = []
    messages: list[Message] = []
    try:
        episode = world.episode(scenario)
        messages = episode.messages
        while not episode.done:
            actions.append(_turn(solver.complete(_request(episode, len(actions) + 1))))
            episode.step(actions[-1])
        score = episode.finish()
    except ModelError as error:
        return SolverRollout(scenario, tuple(actions), tuple(messages), outage=str(error))
    except EnvBug as error:
        return SolverRollout(scenario, tuple(actions), tuple(messages), bug=str(error))
    return SolverRollout(scenario, tuple(actions), tuple(messages), not episode.truncated, score)


def _request(episode: Episode, turn: int) -> ModelRequest:
    """Return the request for the next turn of an episode.

    Its purpose appears in request files, so it does not contain the name of the environment, which an agent does not
    see either.
    """
    purpose = f"solve level {episode.scenario.level} seed {episode.scenario.seed} turn {turn}"
    return ModelRequest(messages=tuple(episode.messages), tools=episode.tools, purpose=purpose, temperature=TEMPERATURE)


def _turn(completion: Completion) -> Message:
    """Return a completion as an assistant message."""
    calls = {"tool_calls": list(completion.tool_calls)} if completion.tool_calls else {}
    return {"role": "assistant", "content": completion.text, **calls}
