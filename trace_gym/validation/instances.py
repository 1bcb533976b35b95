"""Properties TG105 and TG106: rollouts do not affect each other, and episodes can be pickled."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress
from random import Random

from trace_gym.episode import Episode
from trace_gym.errors import EnvBug
from trace_gym.types import Scenario
from trace_gym.validation import fresh_process
from trace_gym.validation.context import Context, ExpertName
from trace_gym.validation.expert_plans import EXPERTS, evenly_spaced
from trace_gym.validation.gymnasium_env import WorldEnv, as_text, step_results
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.validation.random_calls import CallSampler, StateValues
from trace_gym.validation.scenario_digest import episode_trace
from trace_gym.validation.source import load
from trace_gym.world import World

MOST = 32
"""Maximum number of scenarios, evenly spaced over the sample."""
SENT = 24
"""Number of episodes that are sent to a fresh process."""
ExpertRun = tuple[Scenario, ExpertName]
ENDS = "print(episode.state_hash, episode.messages, episode.finish())"


@property_check(
    "TG105",
    statement="A rollout does not depend on other rollouts that run at the same time or that used the same environment "
    "instance before.",
    reason="The rollouts of a group run concurrently, and one environment instance runs many tasks in sequence.",
    fix="Keep the state in the fields of the world, and modify no class attribute, module variable or cache.",
)
def rollouts_are_independent(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    chosen = evenly_spaced(scenarios, MOST)
    expected = {(s, e): run_alone(context, s, e) for s in chosen for e in EXPERTS}
    for scenario, other in zip(chosen, [*chosen[1:], chosen[0]], strict=True):
        for first_expert, second_expert in (EXPERTS, EXPERTS[::-1]):
            one, two = (scenario, first_expert), (other, second_expert)
            for attempt, made in run_interleaved(context, one, two).items():
                if made != expected[attempt]:
                    raise _interference(context, attempt, one, two)
    reused = _reuse(context, chosen)
    message = f"{len(expected)} rollouts are identical alone and interleaved, and {reused} in a reused instance"
    return Passed(message, {"beside": len(expected), "reused": reused})


def run_alone(context: Context, scenario: Scenario, expert: ExpertName) -> str:
    """Run an expert's plan alone and return the trace of the episode."""
    steps = context.plan(scenario, expert)
    with context.catch_failures(scenario, steps, ENDS):
        episode = Episode(context.world, scenario)
        start_hash = episode.state_hash
        for step in steps:
            if not episode.done:
                episode.step(step)
        return episode_trace(start_hash, episode)


def run_interleaved(context: Context, one: ExpertRun, other: ExpertRun) -> dict[ExpertRun, str]:
    """Run two plans with interleaved turns and return both traces.

    Between the turns, a third episode makes random calls.
    """
    pairs = (one, other)
    episodes = [context.begin(scenario) for scenario, _ in pairs]
    start_hash = [e.state_hash for e in episodes]
    plans = [context.plan(*attempt) for attempt in pairs]
    third_episode = context.begin(other[0])
    draw = CallSampler(Random(f"beside/{one[0]}"), context.interface, StateValues.of(third_episode.world))
    for turn in range(max(map(len, plans))):
        for episode, steps in zip(episodes, plans, strict=True):
            if turn < len(steps) and not episode.done:
                with context.catch_failures(episode.scenario, steps[: turn + 1], ENDS):
                    episode.step(steps[turn])
        if context.interface.kinds:
            with suppress(EnvBug):  # property TG403 reports exceptions
                third_episode.step(draw.call())
    return {attempt: episode_trace(at, e) for attempt, at, e in zip(pairs, start_hash, episodes, strict=True)}


def _interference(context: Context, attempt: ExpertRun, one: ExpertRun, other: ExpertRun) -> CheckFailed:
    """Return a failure with a snippet that runs a rollout alone and interleaved with another rollout."""
    (scenario, expert), besides = attempt, other if attempt == one else one
    lines = (
        "from trace_gym.types import Scenario",
        "from trace_gym.validation import PROFILES, Context, load",
        "from trace_gym.validation.instances import run_alone, run_interleaved",
        "",
        f"context = Context(*load({context.reference!r}), PROFILES[{context.profile.name!r}])",
        *(f"{name} = (Scenario.parse({str(s)!r}), {e!r})" for name, (s, e) in (("one", one), ("other", other))),
        f"attempt = {'one' if attempt == one else 'other'}",
        "print(run_alone(context, *attempt), run_interleaved(context, one, other)[attempt], sep='\\n')",
    )
    message = (
        f"{scenario}: the {expert}'s rollout changes when it is interleaved with the {besides[1]}'s "
        f"rollout of {besides[0]}"
    )
    steps = context.plan(scenario, expert)
    return CheckFailed(message, "\n".join(lines) + "\n", replay=context.failure(scenario, message, steps).replay)


def _reuse(context: Context, chosen: Sequence[Scenario]) -> int:
    """Compare rollouts in one reused instance per level with rollouts in new instances, and return their number.

    Before each rollout, the reused instance runs and abandons another rollout.
    """
    place = load(context.world)[1]
    used = {level: WorldEnv(place, level) for level in {s.level for s in chosen}}
    for scenario, before in zip(chosen, [chosen[-1], *chosen[:-1]], strict=True):
        turns = as_text(context.plan(scenario, "oracle"))
        given_up = as_text(context.plan(scenario, "ablated"))[: len(turns) // 2]
        with context.catch_failures(scenario, turns, ENDS):
            fresh = step_results(WorldEnv(place, scenario.level), scenario.seed, turns)
            step_results(used[scenario.level], before.seed, given_up)
            again = step_results(used[scenario.level], scenario.seed, turns)
        if again != fresh:
            lines = (
                "from trace_gym.validation.gymnasium_env import WorldEnv, step_results",
                "",
                f"used, fresh = (WorldEnv({context.reference!r}, {scenario.level}) for _ in range(2))",
                f"step_results(used, {before.seed}, {given_up!r})",
                f"print(*(step_results(env, {scenario.seed}, {turns!r})[-1] for env in (used, fresh)), sep='\\n')",
            )
            message = f"{scenario}: a reused instance returns other results than a new one"
            raise CheckFailed(message, "\n".join(lines) + "\n", replay=context.failure(scenario, message, turns).replay)
    return len(chosen)


@property_check(
    "TG106",
    statement="An episode can be pickled after any turn and continues identically in this process and in a fresh "
    "process.",
    reason="Rollouts are resumed and sent to workers, and data that a pickle loses changes the problem in the middle "
    "of an episode.",
    fix="Keep only plain data in the fields of the world: no open files, generators or lambdas, and no state outside "
    "the fields.",
)
def survives_pickling(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    pickles = 0
    for scenario in evenly_spaced(scenarios, MOST):
        for expert in EXPERTS:
            pickles += _check_pickles(context, scenario, expert)
    sent_count = (
        _check_fresh_process(context, evenly_spaced(scenarios, SENT)) if context.profile.separate_processes else 0
    )
    message = f"{pickles} pickles, one after every turn of both experts, continued identically"
    return Passed(
        message + (f", and {sent_count} in a fresh process" if sent_count else ""),
        {"pickles": pickles, "sent": sent_count},
    )


def _check_pickles(context: Context, scenario: Scenario, expert: ExpertName) -> int:
    steps = context.plan(scenario, expert)
    expected = episode_trace("", context.expert(scenario, expert))
    with context.catch_failures(scenario, steps, "import pickle; pickle.dumps(episode)"):
        episode = Episode(context.world, scenario)
        for turn in range(len(steps) + 1):
            copy = pickle.loads(pickle.dumps(episode, -1))
            if copy.state_hash != episode.state_hash:
                raise context.failure(scenario, f"a pickle after {turn} turns loses part of the state", steps[:turn])
            for step in steps[turn:]:
                if not copy.done:
                    copy.step(step)
            if episode_trace("", copy) != expected:
                message = f"the {expert}'s rollout ends differently when it is pickled after {turn} turns"
                raise context.failure(
                    scenario, message, steps[:turn], "import pickle; pickle.loads(pickle.dumps(episode))"
                )
            if turn < len(steps) and not episode.done:
                episode.step(steps[turn])
        if episode_trace("", episode) != expected:
            raise context.failure(scenario, f"pickling changes how the {expert}'s rollout ends", steps)
    return len(steps) + 1


def _check_fresh_process(context: Context, chosen: Sequence[Scenario]) -> int:
    """Continue episodes in a fresh process, compare the final traces, and return the number of episodes.

    Every other episode is sent after half of its turns, and the rest before the first turn. The fresh process runs the
    episodes in reverse order, so that its state between episodes differs from the state of this process.
    """
    unfinished, taken = [], []
    for n, scenario in enumerate(reversed(chosen)):
        steps = context.plan(scenario, "oracle")
        taken.append(len(steps) // 2 if n % 2 else 0)
        with context.catch_failures(scenario, steps[: taken[-1]], ENDS):
            episode = Episode(context.world, scenario)
            for step in steps[: taken[-1]]:
                episode.step(step)
            unfinished.append(fresh_process.pack_episode(episode, steps[taken[-1] :]))
    ends = fresh_process.run_job({"world": load(context.world)[1], "unfinished": unfinished})
    for scenario, end, count in zip(reversed(chosen), ends, taken, strict=True):
        if end != episode_trace("", context.expert(scenario, "oracle")):
            tail = "from trace_gym.validation.fresh_process import pack_episode, run_job\n"
            tail += f"rest = list(episode.start.oracle())[{count}:]\n"
            tail += f"print(*run_job({{'world': {context.reference!r}, 'unfinished': [pack_episode(episode, rest)]}}))"
            message = f"the oracle's rollout ends differently when it continues in a fresh process after {count} turns"
            raise context.failure(scenario, message, context.plan(scenario, "oracle")[:count], tail)
    return len(chosen)
