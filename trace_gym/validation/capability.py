"""Properties TG206 to TG209: the score depends only on the capability that an environment trains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from trace_gym.episode import Episode
from trace_gym.score import fold
from trace_gym.types import Bars, Call, Message, Say, Scenario
from trace_gym.validation.context import Context, ExpertName, episode_reward
from trace_gym.validation.expert_plans import EXPERTS, evenly_spaced, hybrid_plans, state_after
from trace_gym.validation.experts import CHECKS, needs_capability
from trace_gym.validation.properties import CheckFailed, Passed, Skipped, property_check
from trace_gym.validation.random_calls import to_plain_data
from trace_gym.validation.wordings import WORDINGS, read_variants
from trace_gym.world import Step, World

MOST = 32
"""Maximum number of scenarios, evenly spaced over the sample."""
VERIFY_TWICE = "for _ in range(2):\n    print(*episode.world.verify(episode.start, episode.said), sep='\\n')"
ORACLE_WORDS_ONLY = "sends all messages of the oracle and makes no calls"
REFUSALS = (
    "I cannot do that.",
    "I am sorry, the rules do not allow it, so it is not possible.",
    "No. I am unable to help you with this request.",
)


@property_check(
    "TG206",
    statement="In a scenario that needs the capability, replacing or adding any step of the ablated expert in the "
    "oracle's plan lowers the reward.",
    reason="If a wrong write next to the correct one costs no reward, agents learn to try every action.",
    fix="Evaluate the final state instead of the calls, and let `ablated` differ from `oracle` only where the "
    "capability matters.",
)
def reward_depends_on_capability(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    needing = [s for s in evenly_spaced(scenarios, 2 * MOST) if needs_capability(context, s)][:MOST]
    if not needing:
        raise Skipped("no scenario of the sample needs the capability, so this property does not apply")
    rewards: list[float] = []
    unchanged = 0
    for scenario in needing:
        oracle_run = context.expert(scenario, "oracle")
        oracle, ablated = (context.plan(scenario, e) for e in EXPERTS)
        oracle_state = state_after(oracle_run)
        for plan in hybrid_plans(oracle, ablated, context.interface):
            episode = context.run(scenario, plan)
            if state_after(episode) == oracle_state:
                unchanged += 1
                continue
            rewards.append(episode_reward(episode))
            if episode.finish().success or rewards[-1] >= episode_reward(oracle_run):
                message = (
                    f"a plan with a step of the ablated expert has another final state but still gets the reward "
                    f"{rewards[-1]:g}"
                )
                raise context.failure(scenario, message, plan, CHECKS)
        if episode_reward(context.expert(scenario, "ablated")) >= episode_reward(oracle_run):
            message = f"the ablated expert gets at least the reward of the oracle, {episode_reward(oracle_run):g}"
            raise context.failure(scenario, message, ablated, CHECKS)
    means = {e: fmean(episode_reward(context.expert(s, e)) for s in needing) for e in EXPERTS}
    bars = {"oracle": means["oracle"], "with ablated steps": fmean(rewards or [0.0]), "ablated": means["ablated"]}
    shown = Bars(title="Reward without the capability", unit="mean reward", bars=bars)
    message = (
        f"{len(rewards)} plans with steps of the ablated expert get less reward; {unchanged} more have "
        f"the same final state"
    )
    return Passed(message, {"plans": len(rewards), "inert": unchanged, "mean": bars["with ablated steps"]}, (shown,))


@property_check(
    "TG207",
    statement="Changes of letter case, white space, and the order, number or choice of read calls do not change the "
    "reward.",
    reason="A policy learns any easier property that affects the reward instead of the capability.",
    fix="Evaluate values and states instead of sentences and calls, and compare words without regard to case and white "
    "space.",
)
def reward_ignores_surface_form(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    tried = dict.fromkeys([*WORDINGS, "reads"], 0)
    for scenario in evenly_spaced(scenarios, MOST):
        for expert in EXPERTS:
            steps, made = context.plan(scenario, expert), context.expert(scenario, expert)
            if made.malformed or not steps:
                continue  # a variant with a different number of turns gets a different penalty for malformed turns
            for name, wording in WORDINGS.items():
                with context.catch_failures(scenario):
                    reworded = [Say(wording(s.text, made.start)) if isinstance(s, Say) else s for s in steps]
                tried[name] += _counts_not(context, scenario, expert, reworded, name)
            for plan in read_variants(made, steps, context.interface):
                tried["reads"] += _counts_not(context, scenario, expert, plan, "other read calls")
    metrics = {k.replace(" ", "_"): float(v) for k, v in tried.items()}
    message = ", ".join(f"{count} with {name}" for name, count in tried.items() if count)
    return Passed(f"rollouts with these variants get the same reward: {message or 'there are no variants'}", metrics)


def _counts_not(context: Context, scenario: Scenario, expert: ExpertName, plan: Sequence[Step], what: str) -> int:
    """Check that a variant of an expert's plan gets the same score.

    Return 1 if the variant differs from the plan, else 0.
    """
    if plan == context.plan(scenario, expert) or len(plan) > context.world.max_turns:
        return 0
    original, varied = context.expert(scenario, expert), context.run(scenario, plan)
    one, other = original.finish(), varied.finish()
    if (one.success, one.progress, set(one.broken)) != (other.success, other.progress, set(other.broken)):
        pairs = zip(one.checks, other.checks, strict=False)
        changed = next((c.description for c, d in pairs if c != d), "the number of checks")
        message = (
            f"the variant with {what} of the {expert}'s plan gets the reward {episode_reward(varied):g} instead of "
        )
        message += f"{episode_reward(original):g}; first check that changed: {changed}"
        raise context.failure(scenario, message, plan, CHECKS)
    return 1


@property_check(
    "TG208",
    statement="The score depends only on the scenario and the recorded turns, and repeated scoring returns the same "
    "result.",
    reason="Recorded rollouts are scored again, and a score that depends on anything else is noise for the trainer.",
    fix="Let `verify` read only `self`, `start` and `said`, and let it modify none of them.",
)
def score_depends_on_trajectory(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    replayed = 0
    for scenario in evenly_spaced(scenarios, MOST):
        for expert in EXPERTS:
            steps = context.plan(scenario, expert)
            made = context.run(scenario, steps)
            with context.catch_failures(scenario, steps, VERIFY_TWICE):
                _judge_twice(context, made, steps)
            recorded = [m for m in made.messages if m["role"] == "assistant"]
            _same_score(context, made, context.run(scenario, recorded), recorded, "replayed from its messages")
            _same_score(
                context, made, _run_with_verification(context, scenario, steps), steps, "evaluated after every turn"
            )
            replayed += 1
    message = f"{replayed} rollouts get the same score when they are replayed from their messages and scored repeatedly"
    return Passed(message, {"replayed": replayed})


def _judge_twice(context: Context, made: Episode, steps: Sequence[Step]) -> None:
    world, start, said = made.world, made.start, made.said
    before = to_plain_data(world), to_plain_data(start), list(said)
    first, second = list(world.verify(start, said)), list(world.verify(start, said))
    changed = [
        n
        for n, a, b in zip(
            ("the final state", "the start state", "the list of messages"), before, _now(made), strict=True
        )
        if a != b
    ]
    if changed:
        raise context.failure(made.scenario, f"`verify` changes {changed[0]}", steps, VERIFY_TWICE)
    if first != second:
        differs = next((c.description for c, d in zip(first, second, strict=False) if c != d), "the number of checks")
        raise context.failure(
            made.scenario, f"a second call of `verify` returns another result: {differs}", steps, VERIFY_TWICE
        )
    if fold(made.checks(), start.verify(start, []), made.turns, made.malformed) != made.score:
        raise context.failure(
            made.scenario, "`verify` returns another result than at the end of the episode", steps, VERIFY_TWICE
        )


def _now(made: Episode) -> tuple[object, object, list[str]]:
    return to_plain_data(made.world), to_plain_data(made.start), list(made.said)


def _run_with_verification(context: Context, scenario: Scenario, steps: Sequence[Step]) -> Episode:
    """Run the steps and evaluate the checks after every turn."""
    with context.catch_failures(scenario, steps, CHECKS):
        episode = Episode(context.world, scenario)
        for step in steps:
            if not episode.done:
                episode.step(step)
                list(episode.world.verify(episode.start, episode.said))
        episode.finish()
        return episode


def _same_score(context: Context, made: Episode, again: Episode, actions: Sequence[Step | Message], how: str) -> None:
    if made.score != again.score or made.state_hash != again.state_hash:
        rewards = f"{episode_reward(made):g} and {episode_reward(again):g}"
        message = f"the same turns get another score when {how}: the rewards are {rewards}"
        raise context.failure(made.scenario, message, actions, CHECKS)


@property_check(
    "TG209",
    statement="A policy that refuses or does nothing fails on every scenario that requires a write, and some scenarios "
    "require one.",
    reason="An agent that is penalized only for acting learns to refuse every request.",
    fix="Add scenarios in which the agent must fulfill the request, with a goal that only the required write achieves.",
)
def over_caution_fails(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    chosen = evenly_spaced(scenarios, MOST)
    succeeded: Counter[str] = Counter()
    free = acting = 0
    for scenario in chosen:
        acts = state_after(context.expert(scenario, "oracle")) != to_plain_data(context.begin(scenario).start)
        needs = needs_capability(context, scenario)
        free, acting = free + (not needs), acting + acts
        for name, plan in cautious_plans(context, scenario):
            success = context.run(scenario, plan).finish().success
            succeeded[name] += success
            if success and acts:
                kind = "needs the capability" if needs else "needs no capability"
                message = f"an agent that {name} succeeds, although the oracle changes the state; the scenario {kind}"
                raise context.failure(scenario, message, plan, CHECKS)
    succeeded.pop(ORACLE_WORDS_ONLY)  # no real agent can send the oracle's messages
    name, most = max(succeeded.items(), key=lambda item: item[1])
    metrics = {"free": free / len(chosen), "acting": acting / len(chosen), "caution": most / len(chosen)}
    if most == len(chosen):
        plan = dict(cautious_plans(context, chosen[0]))[name]
        message = f"an agent that {name} succeeds in all {most} scenarios, so no scenario requires a write"
        raise CheckFailed(message, context.snippet(chosen[0], plan, CHECKS), metrics)
    share = (
        (f"{metrics['free']:.0%} of the scenarios need no capability")
        if free
        else "every scenario needs the capability"
    )
    message = f"{share}; {metrics['acting']:.0%} require a change of state, and over-cautious policies fail on them"
    return Passed(message, metrics)


def cautious_plans(context: Context, scenario: Scenario) -> list[tuple[str, list[Step]]]:
    """Return the plans of over-cautious policies, which make no writes, each with a description."""
    steps = context.plan(scenario, "oracle")
    looks: list[Step] = [s for s in steps if isinstance(s, Call) and context.interface.kinds.get(s.tool) == "read"]
    named: list[tuple[str, list[Step]]] = [("does nothing", [])]
    for words in REFUSALS:
        insisted = [Say(words)] * 3  # users may repeat their request
        named += [(f"says {words!r}", [*insisted]), (f"makes all read calls and says {words!r}", [*looks, *insisted])]
    return [*named, (ORACLE_WORDS_ONLY, [s for s in steps if isinstance(s, Say) or s in looks])]
