"""TG4, second half: sequences of calls that Hypothesis draws and shrinks, with values taken from the state."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir, storage_directory
from hypothesis.strategies import SearchStrategy

from trace_gym.episode import Episode
from trace_gym.errors import EnvBug
from trace_gym.types import Call, Scenario
from trace_gym.validate.context import Context
from trace_gym.validate.draws import Draw, Values
from trace_gym.validate.properties import Broken, Held, prop
from trace_gym.world import World

LONGEST = 6
"""Calls in one sequence."""
JUNK = (0.0, 0.0, 0.2)
"""Shares of the values that do not fit; each call draws one."""

Judge = Callable[[Episode, Call], str]
"""Takes a call in an episode and says what is wrong with it; empty when nothing is."""


@prop(
    "TG403",
    statement="Tools raise nothing but ToolError, whatever they are called with, in whatever order.",
    reason="A KeyError is a fault of the environment that would be blamed on the agent, or end the training run.",
    mend="Look every id up before it is used, and raise ToolError with what is possible.",
    raising=True,
)
def only_tool_errors(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    def judge(episode: Episode, call: Call) -> str:
        try:
            answers = episode.step(call)
        except EnvBug as error:
            return f"{call.tool} raised {type(error.__cause__).__name__}: {error.__cause__}"
        return "" if answers else f"{call.tool} is not answered"

    made = fuzz(scenarios, context, judge)
    return Held(f"{made} calls in random sequences were answered or refused", {"calls": made})


@prop(
    "TG404",
    statement="Reading changes nothing, and neither does a call that is refused.",
    reason="An agent that only looks must not be punished, and a refusal that writes first leaves half a change.",
    mend="Check everything before the first assignment; return copies or the records themselves, and change none.",
)
def reads_and_refusals_change_nothing(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    kept = 0

    def judge(episode: Episode, call: Call) -> str:
        nonlocal kept
        before = episode.state_hash
        try:
            answer = str(episode.step(call)[-1]["content"])
        except EnvBug:  # another property's business
            return ""
        refused, read = answer.startswith("Error"), context.interface.kinds.get(call.tool) == "read"
        kept += refused or read
        if not (refused or read) or episode.state_hash == before:
            return ""
        return f"{call.tool} changes the state {'although it refuses' if refused else 'although it only reads'}"

    fuzz(scenarios, context, judge)
    return Held(f"{kept} reads and refusals in random sequences left the state as it was", {"calls": kept})


def fuzz(scenarios: Sequence[Scenario], context: Context, judge: Judge) -> int:
    """Draw sequences of calls and judge each call; returns how many were made.

    Raises:
        Broken: `judge` found a fault; the counterexample is the shortest sequence that Hypothesis could shrink to.
    """
    if not context.interface.kinds:
        return 0
    made = 0
    chosen = list(scenarios[:: max(1, len(scenarios) // 16)])  # few enough to cover each several times

    def attempt(scenario: Scenario, length: int, rng: Random) -> None:
        nonlocal made
        episode, calls = context.begin(scenario), list[Call]()
        for _ in range(length):
            if episode.done:
                break
            calls.append(Draw(rng, context.interface, Values.of(episode.world), rng.choice(JUNK)).call())
            made += 1
            if fault := judge(episode, calls[-1]):
                raise context.broken(scenario, fault, calls)

    lengths, randoms = st.integers(1, LONGEST), st.randoms(use_true_random=False)
    explore(attempt, st.sampled_from(chosen), lengths, randoms, examples=context.profile.examples)
    return made


def explore(attempt: Callable[..., None], *drawn: SearchStrategy[Any], examples: int) -> None:
    """Let Hypothesis draw the arguments of `attempt`, and shrink those with which it raises `Broken`.

    The draws are the same for the same code: no database, no deadline, no clock.

    Raises:
        Broken: What `attempt` raised with the shortest arguments.
    """
    found: list[Broken] = []

    @hypothesis.settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(st.tuples(*drawn))
    def kept(arguments: tuple[Any, ...]) -> None:
        try:
            attempt(*arguments)
        except Broken as broken:
            found.append(broken)
            raise

    home = storage_directory(intent_to_write=False).home_directory
    with tempfile.TemporaryDirectory() as folder:  # Hypothesis would keep notes in the working directory
        set_hypothesis_home_dir(folder)
        try:
            kept()
        except Broken:
            raise found[-1] from None
        finally:
            set_hypothesis_home_dir(home)
