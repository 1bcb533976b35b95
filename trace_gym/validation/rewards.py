"""Properties TG301 to TG304: inactivity and damage are not rewarded, and partial success gets partial rewards."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from trace_gym.episode import Episode
from trace_gym.score import SPARSE_WEIGHTS, RewardWeights, fold, reward
from trace_gym.types import Call, Replay, Say, Scenario, Score
from trace_gym.validation.check_origins import described, with_origins
from trace_gym.validation.context import Context, episode_reward
from trace_gym.validation.experts import CHECKS
from trace_gym.validation.learning import sample_of_size
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.validation.random_calls import CallSampler, StateValues
from trace_gym.world import Step, ToolError, World, call_tool

NO_OP_MESSAGES = ("...", "Hello.", "Done.")
"""Messages of a policy that does nothing useful."""
TASK = RewardWeights(conduct=0.0)
"""Reward weights without conduct, so that rewards that differ only in conduct are not counted as distinct."""
JUDGED = "print(*episode.world.verify(episode.start, episode.said), sep='\\n')"
LEVELS = 4
"""Minimum number of distinct rewards of an environment."""
MAX_SEEDS = 50
"""Number of problems per level that are tried before the property fails, because some rewards may be rare."""


@property_check(
    "TG301",
    statement="A policy that makes no tool call gets no reward, whatever it writes.",
    reason="A reward for inactivity is the first shortcut that a policy finds.",
    fix="Make each goal depend on a change of state, or on a fact that only the records reveal.",
)
def no_op_policy_gets_no_reward(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    for scenario in scenarios:
        for text in NO_OP_MESSAGES:
            steps = [Say(text)] * world.max_turns
            _unpaid(context, scenario, context.run(scenario, steps), [Say(text)])
        _unpaid(context, scenario, context.run(scenario, []), [])
    return Passed(f"no reward in {len(scenarios)} scenarios for zero turns or the messages {', '.join(NO_OP_MESSAGES)}")


def _unpaid(context: Context, scenario: Scenario, episode: Episode, steps: Sequence[Step]) -> None:
    score = episode.finish()
    if rewards := reward(score) or reward(score, SPARSE_WEIGHTS):
        message = f"the reward is {rewards:.3g} for {episode.turns} turns of {steps[0] if steps else 'no action'}"
        raise context.failure(scenario, message, [step for step in steps for _ in range(episode.turns)], CHECKS)


@property_check(
    "TG302",
    statement="At the start, at least one goal is unmet and no guard is violated, and the descriptions of the checks "
    "stay the same during the episode.",
    reason="Goals that are met at the start are excluded from the reward and are identified by their descriptions, so "
    "the descriptions must not change.",
    fix="Build the description of each check from `start` and constants, use each description once, and let only the "
    "result of the check vary. Override the method that the message names if a base class defines it.",
)
def checks_are_valid_at_start(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    opened: Counter[int] = Counter()
    for scenario in scenarios:
        episode = context.begin(scenario)
        with context.catch_failures(scenario, tail=CHECKS):
            found = [*with_origins(episode.checks())]
        checks = [check for check, _ in found]
        if broken := [c.description for c in checks if c.kind == "guard" and not c.passed]:
            raise context.failure(
                scenario, f"a guard is violated at the start: {described(broken[0], found)}", tail=CHECKS
            )
        if not (count := sum(c.kind == "goal" and not c.passed for c in checks)):
            raise context.failure(scenario, "no goal is unmet at the start", tail=CHECKS)
        texts = [c.description for c in checks]
        if twice := [text for text, n in Counter(texts).items() if n > 1]:
            message = f"two checks have the same description: {described(twice[0], found)}"
            raise context.failure(scenario, message, tail=CHECKS)
        opened[count] += 1
        for expert in ("oracle", "ablated"):
            ended = context.expert(scenario, expert)
            if changed := {c.description for c in ended.finish().checks} ^ {*texts}:
                check = described(min(changed), [*found, *with_origins(ended.checks())])
                message = f"a check appears or disappears during the episode: {check}"
                raise context.failure(scenario, message, context.plan(scenario, expert), CHECKS)
    return Passed(f"{min(opened)} to {max(opened)} goals are unmet at the start", {"goals": max(opened)})


@property_check(
    "TG303",
    statement="Rewards are finite, lie in [0, 1] and take at least four different values before the deduction for "
    "conduct.",
    reason="GRPO learns from reward differences within a group, and an all-or-nothing reward is constant in most "
    "groups.",
    fix="Split the goal into parts that an agent can achieve one after the other.",
)
def reward_is_graded(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    rewards: Counter[float] = Counter()
    for n, scenario in enumerate(_more_scenarios(scenarios)):
        if (further := n >= len(scenarios)) and len(rewards) >= LEVELS:
            break
        for episode in _varied_rollouts(context, scenario, further):
            value = episode_reward(episode)
            if not (math.isfinite(value) and 0 <= value <= 1):
                raise context.failure(
                    scenario, f"the reward is {value}, expected a finite number from 0 to 1", tail=CHECKS
                )
            rewards[round(reward(episode.finish(), TASK), 6)] += 1
    levels = sorted(rewards)
    metrics = {f"paid_{value:g}": count / rewards.total() for value, count in sorted(rewards.items())}
    shown = ", ".join(f"{v:g}" for v in levels)
    if len(levels) < LEVELS:
        message = f"{rewards.total()} rollouts got only {len(levels)} different rewards: {shown}"
        raise CheckFailed(message, context.snippet(scenarios[0], context.plan(scenarios[0], "oracle"), CHECKS), metrics)
    return Passed(f"{rewards.total()} rollouts got {len(levels)} different rewards: {shown}", metrics)


def _more_scenarios(scenarios: Sequence[Scenario]) -> Iterator[Scenario]:
    """Yield the sampled scenarios, followed by scenarios with the next seeds of each level in ascending order."""
    yield from scenarios
    more = {s for level in {s.level for s in scenarios} for s in sample_of_size(scenarios, level, MAX_SEEDS)} - {
        *scenarios
    }
    yield from sorted(more, key=lambda s: (s.seed, s.level))


def _varied_rollouts(context: Context, scenario: Scenario, further: bool) -> Iterator[Episode]:
    """Yield rollouts of plans that range from good to bad, and of random plans.

    If `further` is True, omit plans that are unlikely to get a reward that has not occurred yet.
    """
    steps, kinds = context.plan(scenario, "oracle"), context.interface.kinds
    yield context.expert(scenario, "ablated")
    if not further:
        yield from (context.expert(scenario, "oracle", count) for count in range(len(steps) + 1))
    for n, step in enumerate(steps):
        if not (further and isinstance(step, Call) and kinds.get(step.tool) == "read"):
            yield context.run(scenario, [*steps[:n], *steps[n + 1 :]])
    rng = Random(f"attempts/{scenario}")
    if len(steps) > 1 and not further:
        n = rng.randrange(len(steps) - 1)
        yield context.run(scenario, [*steps[:n], steps[n + 1], steps[n], *steps[n + 2 :]])
    if kinds:
        draw = CallSampler(rng, context.interface, StateValues.of(context.begin(scenario).start))
        calls = [draw.call() for _ in range(6)]
        yield context.run(scenario, calls)
        yield context.run(scenario, [*calls, *steps])


@property_check(
    "TG304",
    statement="After the oracle succeeds, any further write that changes the state revokes the success.",
    reason="Otherwise a policy that writes at random gets the same reward as a policy that selects the correct write.",
    fix="Add a guard that requires all other records to be unchanged. List tools whose effects do not matter in the "
    "class attribute `harmless`.",
)
def damage_revokes_success(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    harmless = set(world.harmless)
    writes = {n for n, kind in context.interface.kinds.items() if kind == "write"} - harmless
    if not writes:
        return Passed("there is no write tool")
    tried: Counter[str] = Counter()
    for scenario in scenarios:
        episode, steps = context.expert(scenario, "oracle"), context.plan(scenario, "oracle")
        draw = CallSampler(Random(f"damage/{scenario}"), context.interface, StateValues.of(episode.world))
        known = [step for step in steps if isinstance(step, Call) and step.tool in writes]
        for n in range(context.profile.writes):
            call = draw.changed(draw.rng.choice(known)) if known and n % 2 else draw.call(("write",))
            if call.tool in harmless:
                continue
            tail = f"episode.world.{call.tool}(**{call.arguments!r})\n{JUDGED}"
            with context.catch_failures(scenario, steps, tail):
                score = _after(episode, call)
            if score is None:
                continue
            tried[call.tool] += 1
            if score.success:
                message = f"after the success, {call} changes the state without revoking the success"
                made, replay = context.failure(scenario, message, steps, tail), _in_time(context, scenario, steps, call)
                raise CheckFailed(made.message, made.counterexample, replay=replay or made.replay)
    message = f"{tried.total()} additional writes with {len(tried)} of {len(writes)} tools each revoked the success"
    message = message if tried else "all additional writes were rejected"
    return Passed(message, {"writes": tried.total(), "tools": len(tried)})


def _in_time(context: Context, scenario: Scenario, steps: Sequence[Step], call: Call) -> Replay | None:
    """Return the oracle's rollout with an additional call after its last call, or None if the rollout fails.

    The call must precede the final message, because actions after the end of an episode are ignored.
    """
    end = 1 + max((n for n, step in enumerate(steps) if isinstance(step, Call)), default=-1)
    actions = [*steps[:end], call, *steps[end:]]
    succeeds = context.run(scenario, actions).finish().success
    return context.failure(scenario, "", actions).replay if succeeds else None


def _after(episode: Episode, call: Call) -> Score | None:
    """Return the score after an additional call, or None if the call is rejected or does not change the state."""
    world = episode.world.copy()
    try:
        call_tool(world, call.tool, call.arguments)
    except ToolError:
        return None
    if StateValues.of(world) == StateValues.of(episode.world) and vars(world) == vars(episode.world):
        return None
    checks = world.verify(episode.start, episode.said)
    return fold(checks, episode.start.verify(episode.start, []), episode.turns, episode.malformed)
