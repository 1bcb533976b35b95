"""Properties TG403 and TG404, tested with random call sequences.

Hypothesis generates and shrinks the sequences. Arguments are sampled from the values in the state.
"""

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
from trace_gym.validation.context import Context
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.validation.random_calls import CallSampler, StateValues
from trace_gym.world import World

LONGEST = 6
"""Maximum number of calls in one sequence."""
JUNK = (0.0, 0.0, 0.2)
"""Probabilities of replacing a value with a junk value. One of them is drawn for each call."""

Judge = Callable[[Episode, Call], str]
"""Function that makes a call in an episode and returns a description of a defect, or an empty string if there is
none."""


@property_check(
    "TG403",
    statement="Tools raise no exception other than ToolError, for any arguments and any order of calls.",
    reason="A KeyError is a bug of the environment that would count against the agent or end the training run.",
    fix="Look up every id before you use it, and raise a ToolError that states the valid options.",
    raising=True,
)
def only_tool_errors(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    def judge(episode: Episode, call: Call) -> str:
        try:
            answers = episode.step(call)
        except EnvBug as error:
            return f"{call.tool} raised {type(error.__cause__).__name__}: {error.__cause__}"
        return "" if answers else f"{call.tool} returned no message"

    made = fuzz(scenarios, context, judge)
    return Passed(f"{made} calls in random sequences returned a result or a ToolError", {"calls": made})


@property_check(
    "TG404",
    statement="Read calls and rejected calls do not change the state.",
    reason="An agent must not be penalized for reading, and a call that writes before it is rejected leaves a partial "
    "change.",
    fix="Check all conditions before the first assignment. A read tool may return records but must not modify them.",
)
def reads_and_refusals_change_nothing(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    kept = 0

    def judge(episode: Episode, call: Call) -> str:
        nonlocal kept
        before = episode.state_hash
        try:
            answer = str(episode.step(call)[-1]["content"])
        except EnvBug:  # property TG403 reports exceptions
            return ""
        refused, read = answer.startswith("Error"), context.interface.kinds.get(call.tool) == "read"
        kept += refused or read
        if not (refused or read) or episode.state_hash == before:
            return ""
        return (
            f"{call.tool} changes the state "
            f"{'although the call is rejected' if refused else 'although it is a read tool'}"
        )

    fuzz(scenarios, context, judge)
    return Passed(f"{kept} read calls and rejected calls in random sequences did not change the state", {"calls": kept})


def fuzz(scenarios: Sequence[Scenario], context: Context, judge: Judge) -> int:
    """Generate call sequences, evaluate each call with `judge` and return the number of calls.

    Raises:
        CheckFailed: `judge` found a defect. The counterexample is the shortest sequence that Hypothesis found.
    """
    if not context.interface.kinds:
        return 0
    made = 0
    chosen = list(
        scenarios[:: max(1, len(scenarios) // 16)]
    )  # with a small sample, Hypothesis uses each scenario several times

    def attempt(scenario: Scenario, length: int, rng: Random) -> None:
        nonlocal made
        episode, calls = context.begin(scenario), list[Call]()
        for _ in range(length):
            if episode.done:
                break
            calls.append(CallSampler(rng, context.interface, StateValues.of(episode.world), rng.choice(JUNK)).call())
            made += 1
            if fault := judge(episode, calls[-1]):
                raise context.failure(scenario, fault, calls)

    lengths, randoms = st.integers(1, LONGEST), st.randoms(use_true_random=False)
    explore(attempt, st.sampled_from(chosen), lengths, randoms, examples=context.profile.examples)
    return made


def explore(attempt: Callable[..., None], *drawn: SearchStrategy[Any], examples: int) -> None:
    """Run `attempt` with arguments that Hypothesis generates, and shrink arguments for which it raises `CheckFailed`.

    The generated arguments are deterministic: no database, deadline or clock is used.

    Raises:
        CheckFailed: The exception of `attempt` for the shrunk arguments.
    """
    found: list[CheckFailed] = []

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
        except CheckFailed as broken:
            found.append(broken)
            raise

    home = storage_directory(intent_to_write=False).home_directory
    with tempfile.TemporaryDirectory() as folder:  # Hypothesis would write its database to the working directory
        set_hypothesis_home_dir(folder)
        try:
            kept()
        except CheckFailed:
            raise found[-1] from None
        finally:
            set_hypothesis_home_dir(home)
