"""Checks TG2, TG3 and TG5 for third-party environments: rewards of reference solutions, no-op turns and policies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from statistics import fmean

from trace_gym.errors import ConfigError, MissingExtra, PolicyError, ReadError
from trace_gym.types import Curves
from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.learning import COMPETENCE_GRID, GROUP_SIZES, MIN_WIDTH, QUANTITY_LABELS
from trace_gym.validation.properties import CheckFailed, Passed, Skipped
from trace_gym.validation.third_party.black_box_context import BlackBoxContext, is_full_reward, quoted
from trace_gym.validation.third_party.heuristic_answers import HEURISTICS
from trace_gym.validation.third_party.heuristic_answers import MOST as HEURISTIC_SAMPLE
from trace_gym.validation.third_party.no_op_checks import MOST
from trace_gym.validation.third_party.policy_rollouts import policy_groups
from trace_gym.validation.third_party.recorded_rollouts import RecordedBox
from trace_gym.validation.third_party.surface_checks import VARIANTS
from trace_gym.validation.variance import COMPETENCES, ExpertPair, mixture_statistics
from trace_gym.validation.variance_verdict import TARGET_RANGES, in_range, label, variance_verdict

MAX_CONSTANT = 0.5
"""Share of problems with a constant reward above which the reward is considered independent of the answer."""


def reference_is_paid(context: BlackBoxContext) -> Passed:
    """The reference solution gets the full reward."""
    made = context.solutions()
    earned = {seed: context.reward_fraction(seed, turns) for seed, turns in made.items()}
    wrong = [seed for seed, share in earned.items() if not is_full_reward(share)]
    metrics = {"solved": 1 - len(wrong) / len(made), "mean": fmean(earned.values())}
    if wrong:
        rewards = context.run(wrong[0], made[wrong[0]]).total_reward
        message = (
            f"the reference solution {quoted(made[wrong[0]][-1])} gets the reward {rewards:g} of {context.box.high:g}"
        )
        if (last := context.run(wrong[0], made[wrong[0]])).raised:
            message = f"the reference solution {quoted(made[wrong[0]][-1])} {last.turns[-1].observation}"
        more = f"; {len(wrong)} of {len(made)} reference solutions do not get the full reward"
        raise context.failure(wrong[0], message + more, made[wrong[0]], metrics)
    return Passed(f"the reference solutions of {len(made)} problems get the full reward", metrics)


def no_part_is_enough(context: BlackBoxContext) -> Passed:
    """A reference solution without its last turns does not get the full reward."""
    made = {seed: turns for seed, turns in context.solutions().items() if len(turns) > 1}
    if not made:
        raise Skipped("every reference solution is a single turn")
    for seed, turns in made.items():
        for count in range(1, len(turns)):
            if is_full_reward(context.reward_fraction(seed, turns[:count])):
                message = f"the first {count} of {len(turns)} turns of the reference solution get the full reward"
                raise context.failure(seed, message, turns[:count])
    return Passed(f"none of {len(made)} reference solutions gets the full reward without its last turn")


def rewards_are_in_range(context: BlackBoxContext) -> Passed:
    """Rewards are finite and in range, and depend on the answer in most problems that have a reference solution.

    The finding reports the number of different rewards and its effect on GRPO. Without a reference solution, it is a
    warning if no turn gets a reward.
    """
    box = context.box
    rewards: Counter[float] = Counter()
    constant: dict[int, bool] = {}
    for seed in evenly_spaced(context.seeds, HEURISTIC_SAMPLE):
        own = set[float]()
        for turns in _varied_turns(context, seed):
            made = context.run(seed, turns)
            value = made.total_reward
            if not (math.isfinite(value) and box.low - 1e-9 <= value <= box.high + 1e-9):
                message = f"the reward is {value:g} after {len(made.turns)} turns, expected {box.low:g} to {box.high:g}"
                bound = "low" if value < box.low else "high"
                option = f"{context.address}{'&' if '?' in context.address else '?'}{bound}=..."
                raise context.failure(
                    seed, f"{message}; if this is intended, specify the range: {option}", made.actions
                )
            rewards[round(value, 6)] += 1
            own.add(round(value, 6))
        if context.solution(seed):
            constant[seed] = len(own) == 1
    levels = sorted(rewards)
    metrics = {f"paid_{value:g}": count / rewards.total() for value, count in sorted(rewards.items())[:12]}
    metrics["levels"] = float(len(levels))
    shown = ", ".join(f"{v:g}" for v in levels[:8]) + (", ..." if len(levels) > 8 else "")
    message = f"{rewards.total()} rollouts got {len(levels)} different rewards: {shown}"
    same = [seed for seed, alike in constant.items() if alike]
    metrics["constant"] = len(same) / max(1, len(constant))
    if same and metrics["constant"] >= MAX_CONSTANT:
        message += f"; in {len(same)} of {len(constant)} problems, the reference solution and all other turns get the "
        raise context.failure(same[0], f"{message}same reward", context.solution(same[0]) or (), metrics)
    if not constant and levels[-1] <= 0:
        message = f"not evaluated: none of {rewards.total()} rollouts got a reward, and {box.missing_reference}"
        return Passed(message, metrics, warning=True)
    return Passed(message + _meaning(len(levels)), metrics)


def _meaning(levels: int) -> str:
    """Return a text that explains the effect of the number of different rewards on GRPO."""
    if levels < 2:
        return "; all tried turns get the same reward, and GRPO learns only from differences"
    if levels > 2:
        return ""
    low = next(
        p
        for p in COMPETENCE_GRID
        if 1 - p ** GROUP_SIZES[0] - (1 - p) ** GROUP_SIZES[0] >= TARGET_RANGES["informative"][0]
    )
    message = (
        f"the reward is binary: half of the groups of {GROUP_SIZES[0]} are informative if the policy "
        f"solves {low:.0%} to {1 - low:.0%}"
    )
    return f"; {message}, and none if it solves no problem"


def _varied_turns(context: BlackBoxContext, seed: int) -> Iterator[tuple[str, ...]]:
    """Yield sequences of turns for a problem: correct ones, incorrect ones, and those of heuristics."""
    repeated = min(context.box.limit, 10)
    prompt = context.begin(seed)
    if turns := context.solution(seed):
        yield from (turns[:count] for count in range(1, len(turns) + 1))
        yield from ((*turns[:-1], vary(turns[-1])) for vary in VARIANTS.values())
        # A reward for a single turn must not be available again and again.
        room = max(0, min(context.box.limit, 30) - len(turns))
        yield from ((*turns[:n], *(turns[n],) * room, *turns[n:]) for n in range(len(turns)) if len(turns) > 1)
        half = turns[-1][: len(turns[-1]) // 2]
        other = next((own for s in context.seeds if (own := context.solution(s)) not in (None, turns)), None)
        yield from ((half, *turns), (*turns[:-1], half), ((other or turns)[-1], *turns))
    yield from ((guess(prompt),) * repeated for guess in HEURISTICS.values())


def reference_spreads_rewards(context: BlackBoxContext) -> Passed:
    """Groups of a simulated agent have rewards in the target ranges.

    The agent gives the reference solution with probability p, and a no-op message otherwise.
    """
    made = context.solutions()
    chosen = evenly_spaced(list(made), MOST)
    no_op = ("...",) * context.box.limit
    pairs = [
        ExpertPair(
            context.scaled_reward(s, made[s]),
            context.scaled_reward(s, no_op),
            is_full_reward(context.reward_fraction(s, made[s])),
            False,
        )
        for s in chosen
    ]
    fits = [p for p in COMPETENCE_GRID if all(_fits(pairs, p, k) for k in GROUP_SIZES)]
    runs: list[list[float]] = [[]]
    for p in fits:
        if runs[-1] and p - runs[-1][-1] > 0.015:
            runs.append([])
        runs[-1].append(p)
    widest = max(runs, key=len)
    reference, nothing = fmean(p.oracle for p in pairs), fmean(p.ablated for p in pairs)
    metrics = {"reference": reference, "nothing": nothing}
    if not widest or widest[-1] - widest[0] < MIN_WIDTH - 1e-9:
        found = (
            f"are satisfied only from {widest[0]:.2f} to {widest[-1]:.2f}"
            if widest
            else "are not satisfied at any competence"
        )
        message = (
            f"the target ranges {found}; mean scaled reward of the reference solution {reference:.2f}, of "
            f"no-op messages {nothing:.2f}"
        )
        raise context.failure(chosen[0], message, made[chosen[0]], metrics)
    metrics |= {"from_0": widest[0], "to_0": widest[-1]}
    line = tuple((p, mixture_statistics(pairs, p, GROUP_SIZES[0]).informative) for p in COMPETENCES)
    title = f"Informative groups over competence, K = {GROUP_SIZES[0]}"
    curve = Curves(
        title=title,
        x="competence p",
        y=QUANTITY_LABELS["informative"],
        series={"all problems": line},
        target_range=TARGET_RANGES["informative"],
    )
    message = (
        f"all target ranges are satisfied for an agent that gives the reference solution in "
        f"{widest[0]:.0%} to {widest[-1]:.0%} of its rollouts"
    )
    return Passed(message, metrics, (curve,))


def _fits(pairs: list[ExpertPair], p: float, k: int) -> bool:
    found = mixture_statistics(pairs, p, k)
    return all(in_range(getattr(found, quantity), target_range) for quantity, target_range in TARGET_RANGES.items())


def rewards_of_the_policy_spread(context: BlackBoxContext) -> Passed:
    """Groups of rollouts of the given policy, or of recorded rollouts, have rewards in the target ranges."""
    if isinstance(context.box, RecordedBox):
        groups, name = context.box.groups, "the recorded policy"
    elif context.inputs.policy:
        name = context.inputs.policy
        try:
            groups = policy_groups(context, name)
        except (PolicyError, ConfigError, MissingExtra, ReadError) as error:  # not an error of the environment
            raise Skipped(f"{name} cannot be evaluated: {error}") from None
    else:
        raise Skipped("no policy was passed; pass the policy to be trained with --policy")
    try:
        verdict = variance_verdict(groups)
    except ConfigError as error:
        raise Skipped(str(error)) from None
    metrics: dict[str, float] = {
        "groups": verdict.groups,
        "std": verdict.statistics.std,
        "signal": verdict.statistics.signal,
    }
    for quantity, e in verdict.estimates.items():
        metrics |= {quantity: e.value, f"{quantity}_low": e.low, f"{quantity}_high": e.high}
    metrics |= {f"pass_at_{k}": share for k, share in verdict.statistics.pass_at.items()}
    message = f"{name}: {verdict.message}"
    if not verdict.passed:
        wanted = ", ".join(f"{label(q)} {low:g} to {high:g}" for q, (low, high) in TARGET_RANGES.items())
        raise CheckFailed(f"{message}; the target ranges are {wanted}", "", metrics)
    return Passed(message, metrics)
