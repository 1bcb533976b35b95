"""Properties TG305 and TG306: achieving more goals never lowers the reward, and a violated guard always lowers it.

Goals and guards are the checks of an environment's verifier. A goal tests for progress, a guard for harm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from statistics import fmean

from trace_gym.episode import Episode
from trace_gym.errors import EnvBug
from trace_gym.score import DEFAULT_WEIGHTS, SPARSE_WEIGHTS, reward
from trace_gym.types import Call, Curves, Scenario, Score
from trace_gym.validation.context import Context, episode_reward
from trace_gym.validation.expert_plans import evenly_spaced, is_write, state_after
from trace_gym.validation.experts import CHECKS
from trace_gym.validation.properties import Passed, Skipped, property_check
from trace_gym.validation.random_calls import CallSampler, StateValues
from trace_gym.world import Step, World

MOST = 24
"""Maximum number of scenarios, evenly spaced over the sample."""
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
TOLERANCE = 1e-9
"""Differences below this value are ignored when rewards are compared."""


@property_check(
    "TG305",
    statement="Achieving more goals never lowers the reward, for all partial plans between no action and the complete "
    "oracle plan.",
    reason="If a step toward the goal lowers the reward, training teaches the policy to stop before that step.",
    fix="Return the same goals in every state, and no goal that a later step of the oracle has to undo.",
)
def reward_is_monotone(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    pairs = dips = 0
    along: dict[float, list[float]] = {q: [] for q in QUARTERS}
    chosen = evenly_spaced(scenarios, MOST)
    for scenario in chosen:
        runs = list(_partial_plans(context, scenario))
        plan = context.plan(scenario, "oracle")
        rewards = [episode_reward(context.expert(scenario, "oracle", count)) for count in range(len(plan) + 1)]
        for steps, episode in runs:
            if not rewards[0] - TOLERANCE <= episode_reward(episode) <= rewards[-1] + TOLERANCE:
                message = f"the reward {episode_reward(episode):g} is not between {rewards[0]:g} (no action) and "
                message += f"{rewards[-1]:g} (oracle)"
                raise context.failure(scenario, message, steps, CHECKS)
        pairs += _check_pairs(context, scenario, runs)
        dips += any(later < sooner - TOLERANCE for sooner, later in pairwise(rewards))
        for quarter in QUARTERS:
            along[quarter].append(rewards[round(quarter * len(plan))])
    points = tuple((quarter, fmean(values)) for quarter, values in along.items())
    shown = Curves(
        title="Reward along the oracle's plan",
        x="completed share of the plan",
        y="mean reward",
        series={"oracle": points},
    )
    metrics = {"pairs": float(pairs), "dips": dips / len(chosen), "halfway": fmean(along[0.5])}
    message = f"in {pairs} pairs of rollouts, the one that achieved more goals gets at least the same reward"
    dipping = f"; the reward decreases temporarily in {metrics['dips']:.0%} of the plans" if dips else ""
    return Passed(message + dipping, metrics, (shown,))


def _partial_plans(context: Context, scenario: Scenario) -> Iterator[tuple[Sequence[Step], Episode]]:
    """Yield variants of both experts' plans with their rollouts.

    The variants are prefixes of both plans, combinations of both, and the oracle's plan without one of its steps.
    """
    oracle, ablated = context.plan(scenario, "oracle"), context.plan(scenario, "ablated")
    for count in range(len(oracle) + 1):
        yield oracle[:count], context.expert(scenario, "oracle", count)
    for count in range(1, len(ablated) + 1):
        yield ablated[:count], context.expert(scenario, "ablated", count)
    for n in range(len(oracle)):
        plan = [*oracle[:n], *oracle[n + 1 :]]
        yield plan, context.run(scenario, plan)
    extra_writes = [s for s in ablated if is_write(s, context.interface)]
    for plan in ([*extra_writes, *oracle], [*oracle[:-1], *extra_writes, *oracle[-1:]]):
        yield plan, context.run(scenario, plan)


def _check_pairs(context: Context, scenario: Scenario, runs: Sequence[tuple[Sequence[Step], Episode]]) -> int:
    """Check the rewards of all comparable pairs of rollouts and return the number of pairs.

    A pair is comparable if one rollout achieved all goals of the other and violated no additional guard.
    """
    known = [(*_goals_and_violations(e.finish()), _protocol_scores(e.finish()), e.finish(), steps) for steps, e in runs]
    pairs = 0
    for goals, broken, formed, less, _ in known:
        for others, harm, care, more, steps in known:
            if goals <= others and harm <= broken and _not_above(formed, care) and less.wellformed:
                pairs += 1
                for weights in (DEFAULT_WEIGHTS, SPARSE_WEIGHTS):
                    if reward(less, weights) > reward(more, weights) + TOLERANCE:
                        message = f"the reward for {len(others)} goals is {reward(more, weights):g}, "
                        message += f"and for only {len(goals)} of them"
                        raise context.failure(scenario, f"{message} {reward(less, weights):g}", steps, CHECKS)
    return pairs


def _protocol_scores(score: Score) -> tuple[float, float]:
    """Return the scores for well-formed turns and for conduct."""
    return score.wellformed, score.conduct


def _not_above(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def _goals_and_violations(score: Score) -> tuple[frozenset[str], frozenset[str]]:
    """Return the goals that the agent achieved (and that were not achieved at the start), and the violated guards."""
    goals = (c.description for c in score.checks if c.kind == "goal" and c.passed and not c.at_start)
    return frozenset(goals), frozenset(score.broken)


@property_check(
    "TG306",
    statement="A write that violates a guard costs success and reward, even if the rest of the task is completed "
    "correctly.",
    reason="If a correct ending hides damage, agents learn to cause the damage.",
    fix="Compare the final state with `start` in every guard, and let no guard depend on the goals or on the last "
    "call.",
)
def violated_guard_costs_reward(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    if "write" not in context.interface.kinds.values():
        raise Skipped("there is no write tool, so no write can violate a guard")
    counts: Counter[str] = Counter()
    guards: set[str] = set()
    for scenario in evenly_spaced(scenarios, MOST):
        oracle_run, plan = context.expert(scenario, "oracle"), context.plan(scenario, "oracle")
        for call in _random_writes(context, scenario):
            if not (broken := _broken_guards(context, scenario, call)):
                counts["harmless so far"] += 1
                continue
            episode = context.run(scenario, [call, *plan])
            if state_after(episode) == state_after(oracle_run):
                counts["made good"] += 1  # the oracle makes the same write, or reverts it
                continue
            counts["broken"] += 1
            guards |= broken
            if episode.finish().success or episode_reward(episode) >= episode_reward(oracle_run):
                message = f"{call} violates a guard ({min(broken)}), but the completed task gets the reward "
                message += f"{episode_reward(episode):g}"
                raise context.failure(scenario, message, [call, *plan], CHECKS)
    metrics = {"broken": float(counts["broken"]), "made_good": float(counts["made good"]), "guards": float(len(guards))}
    if not counts["broken"]:
        return Passed("none of the tried writes violates a guard permanently", metrics)
    return Passed(
        f"{counts['broken']} writes violated a guard before the oracle's plan, and each of them revoked the success",
        metrics,
    )


def _random_writes(context: Context, scenario: Scenario) -> Iterator[Call]:
    """Yield random writes, and the experts' writes with one argument changed."""
    start = context.begin(scenario).start
    draw = CallSampler(Random(f"harm/{scenario}"), context.interface, StateValues.of(start))
    plans = [*context.plan(scenario, "oracle"), *context.plan(scenario, "ablated")]
    known = [s for s in plans if isinstance(s, Call) and is_write(s, context.interface)]
    harmless = context.world.harmless
    for n in range(context.profile.writes):
        call = draw.changed(draw.rng.choice(known)) if known and n % 2 else draw.call(("write",))
        if call.tool not in harmless:
            yield call


def _broken_guards(context: Context, scenario: Scenario, call: Call) -> set[str]:
    """Return the guards that a single write violates; an empty set if the write is rejected."""
    with context.catch_failures(scenario, [call], CHECKS):
        episode = Episode(context.world, scenario)
        try:
            episode.step(call)
        except EnvBug:  # property TG403 reports exceptions
            return set()
        return set() if episode.malformed else set(episode.finish().broken)
