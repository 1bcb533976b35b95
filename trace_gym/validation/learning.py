"""Properties TG501 and TG502: rewards vary within groups of rollouts of the same problem.

TG501 tests simulated policies. At each step, a simulated policy follows the oracle with a probability called its
competence, and otherwise the ablated expert, which lacks the capability. TG502 tests the policy to be trained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from trace_gym.errors import ConfigError, MissingExtra, PolicyError, ReadError
from trace_gym.statistics import wilson
from trace_gym.types import Bars, Curves, Scenario
from trace_gym.validation.context import Context, episode_reward
from trace_gym.validation.experts import CHECKS, needs_capability
from trace_gym.validation.policy_groups import EpisodeSource, env_and_level, open_policy_or_groups, rollout_groups
from trace_gym.validation.properties import CheckFailed, Passed, Skipped, property_check
from trace_gym.validation.variance import COMPETENCES, ExpertPair, GroupStatistics, RewardGroup, mixture_statistics
from trace_gym.validation.variance_verdict import (
    LOOKS,
    TARGET_RANGES,
    VarianceVerdict,
    in_range,
    label,
    sequential_variance_verdict,
    variance_verdict,
)
from trace_gym.world import World

GROUP_SIZES = (8, 16)
"""Tested numbers of rollouts per group."""
COMPETENCE_GRID = tuple(n / 100 for n in range(101))
"""Competences at which the target ranges are tested."""
MIN_WIDTH = 0.2
"""Minimum width of the interval of competences in which all quantities are in their target ranges.

Training raises the competence, and rewards should remain informative for some time while it rises.
"""
MIN_NEEDING = 0.2
"""Minimum fraction of a level's problems that need the capability. Other problems give no signal about it."""
MIN_PROBLEMS = 16
"""Minimum number of problems per level, even if the sample is smaller."""
QUANTITY_LABELS = {
    "mean": "mean reward",
    "success": "successes",
    "informative": "informative groups",
    "all_zero": "groups without reward",
    "all_one": "groups with full reward",
    "signal": "mean absolute advantage",
}
"""Labels of the quantities in charts."""
PRINT_OUTCOME = "print(episode.finish().success, episode.finish().progress)"


@property_check(
    "TG501",
    statement="On every level, groups of 8 and of 16 rollouts have rewards in the target ranges for a sufficiently "
    "wide interval of agent competences.",
    reason="A group in which all rollouts get the same reward has no gradient, whatever the number of rollouts.",
    fix="Lower the reward of the ablated expert, raise the reward of the oracle, or generate more scenarios that need "
    "the capability.",
)
def reward_varies_within_groups(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    metrics: dict[str, float] = {}
    needing: dict[int, list[ExpertPair]] = {}
    all_pairs: list[ExpertPair] = []
    ranges = []
    for level in sorted({s.level for s in scenarios}):
        chosen = sample_of_size(scenarios, level, MIN_PROBLEMS)
        pairs = {s: _pair(context, s) for s in chosen}
        all_pairs += pairs.values()
        needing[level] = [pairs[s] for s in chosen if needs_capability(context, s)]
        metrics |= _share(context, level, len(needing[level]), chosen)
        low, high = _range(context, level, needing[level], chosen)
        metrics |= {
            f"from_{level}": low,
            f"to_{level}": high,
            f"ablated_{level}": fmean(p.ablated for p in pairs.values()),
        }
        ranges.append((low, high))
    low, high = max(a for a, _ in ranges), min(b for _, b in ranges)
    metrics |= _group_metrics(
        [p for pairs in needing.values() for p in pairs], all_pairs, (low + high) / 2 if low <= high else 0.4
    )
    range_text = f"from {low:.2f} to {high:.2f}" if low <= high else "in a different interval on each level"
    share = sum(map(len, needing.values())) / len(all_pairs)
    message = (
        f"all target ranges are satisfied on every level for an agent of competence {range_text}, in the "
        f"{share:.0%} of the problems"
    )
    return Passed(f"{message} that need the capability", metrics, _curves(needing, all_pairs))


def _pair(context: Context, scenario: Scenario) -> ExpertPair:
    oracle, ablated = (context.expert(scenario, e) for e in ("oracle", "ablated"))
    return ExpertPair(
        episode_reward(oracle), episode_reward(ablated), oracle.finish().success, ablated.finish().success
    )


def sample_of_size(scenarios: Sequence[Scenario], level: int, count: int) -> list[Scenario]:
    """Return at least `count` scenarios of a level: those in the sample, followed by the next seeds."""
    own = [s for s in scenarios if s.level == level]
    first = max(s.seed for s in own) + 1
    more = range(first, first + max(0, count - len(own)))
    return [*own, *(Scenario(env=own[0].env, level=level, seed=seed) for seed in more)]


def _share(context: Context, level: int, count: int, chosen: Sequence[Scenario]) -> dict[str, float]:
    """Return the fraction of a level's problems that need the capability, with its confidence interval, as metrics.

    Raises:
        CheckFailed: The fraction is significantly too small.
    """
    bounds = wilson(count, len(chosen))
    assert bounds is not None  # the sample is not empty
    metrics = {
        f"needs_{level}": count / len(chosen),
        f"needs_{level}_low": bounds.low,
        f"needs_{level}_high": bounds.high,
    }
    if bounds.high < MIN_NEEDING or not count:
        message = f"{count} of {len(chosen)} problems of level {level} need the capability; "
        message += f"expected at least {MIN_NEEDING:.0%}"
        raise CheckFailed(
            message, context.snippet(chosen[0], context.plan(chosen[0], "ablated"), PRINT_OUTCOME), metrics
        )
    return metrics


def _range(
    context: Context, level: int, pairs: Sequence[ExpertPair], chosen: Sequence[Scenario]
) -> tuple[float, float]:
    """Return the widest interval of competences in which all quantities are in their target ranges.

    Raises:
        CheckFailed: The interval is too narrow.
    """
    runs: list[list[float]] = [[]]
    for p in COMPETENCE_GRID:
        if any(_outside(mixture_statistics(pairs, p, k)) for k in GROUP_SIZES):
            runs.append([])
        else:
            runs[-1].append(p)
    widest = max(runs, key=len)
    if widest and widest[-1] - widest[0] >= MIN_WIDTH - 1e-9:
        return widest[0], widest[-1]
    oracle, ablated = fmean(p.oracle for p in pairs), fmean(p.ablated for p in pairs)
    found = (
        (f"are satisfied only from {widest[0]:.2f} to {widest[-1]:.2f}")
        if widest
        else "are not satisfied at any competence"
    )
    wrong = "" if widest else f"; at 0.4, {'; '.join(_outside(mixture_statistics(pairs, 0.4, GROUP_SIZES[0])))}"
    message = (
        f"level {level}: the target ranges {found}{wrong}; mean reward of the oracle {oracle:.2f}, of "
        f"the ablated expert {ablated:.2f}"
    )
    at = next((s for s in chosen if needs_capability(context, s)), chosen[0])
    steps = context.plan(at, "oracle" if oracle < 1 - ablated else "ablated")
    metrics = {f"oracle_{level}": oracle, f"ablated_{level}": ablated}
    raise CheckFailed(
        message, context.snippet(at, steps, CHECKS), metrics, replay=context.failure(at, "", steps).replay
    )


def _outside(found: GroupStatistics) -> list[str]:
    """Return descriptions of the quantities that are outside their target ranges."""
    values = ((q, getattr(found, q), target_range) for q, target_range in TARGET_RANGES.items())
    return [f"{label(q)} is {value:.2f}" for q, value, target_range in values if not in_range(value, target_range)]


def _group_metrics(needing: Sequence[ExpertPair], all_pairs: Sequence[ExpertPair], p: float) -> dict[str, float]:
    """Return group metrics at one competence.

    Metrics with the prefix ``every_`` also count problems that do not need the capability.
    """
    made = {"p": p}
    for k in GROUP_SIZES:
        found = mixture_statistics(needing, p, k)
        made |= {f"{q}_{k}": getattr(found, q) for q in ("std", "informative", "all_zero", "all_one", "signal")}
        made |= {f"pass_at_{n}": share for n, share in found.pass_at.items()}
        made[f"every_informative_{k}"] = mixture_statistics(all_pairs, p, k).informative
    return made | {"mean": found.mean}


def _curves(needing: dict[int, list[ExpertPair]], all_pairs: Sequence[ExpertPair]) -> tuple[Curves, ...]:
    """Return charts of reward and group statistics over competence, with a line per level and one for all problems."""

    def lines(title: str, quantity: str, target_range: tuple[float, float] | None, sizes: Sequence[int]) -> Curves:
        def line(pairs: Sequence[ExpertPair], k: int) -> tuple[tuple[float, float], ...]:
            return tuple((p, getattr(mixture_statistics(pairs, p, k), quantity)) for p in COMPETENCES)

        of = f", K = {GROUP_SIZES[0]}" if len(sizes) == 1 else ""
        series = {f"level {level}": line(pairs, sizes[0]) for level, pairs in needing.items()}
        for k in sizes:
            series["all problems" if len(sizes) == 1 else f"all problems, K = {k}"] = line(all_pairs, k)
        return Curves(
            title=f"{title}{of}",
            x="competence p",
            y=QUANTITY_LABELS[quantity],
            series=series,
            target_range=target_range,
        )

    return (
        lines("Mean reward over competence", "mean", TARGET_RANGES["mean"], GROUP_SIZES[:1]),
        lines("Informative groups over competence", "informative", TARGET_RANGES["informative"], GROUP_SIZES),
        lines("Groups without reward over competence", "all_zero", TARGET_RANGES["all_zero"], GROUP_SIZES),
        lines("Mean absolute advantage over competence", "signal", None, GROUP_SIZES),
    )


@property_check(
    "TG502",
    statement="On at least one level, groups of rollouts of the policy to be trained have rewards in the target "
    "ranges.",
    reason="A policy that always or never succeeds gets no gradient; it needs a level with another difficulty, or no "
    "training.",
    fix="Train on the level whose metrics are nearest to the target ranges, change the difficulty of the levels, or "
    "start with supervised training on demonstrations.",
)
def policy_rewards_vary_within_groups(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    if not context.inputs.policy:
        raise Skipped("no policy was passed; pass the policy to be trained with --policy")
    return check_policy_rewards(world, scenarios, context.inputs.policy)


def check_policy_rewards(world: type[World] | EpisodeSource, scenarios: Sequence[Scenario], policy: str) -> Passed:
    """Check that a policy's rewards vary within groups. The policy and the world may run in different processes."""
    verdicts = policy_verdicts(world, scenarios, policy)
    message = "; ".join(f"{part}: {v.message}" for part, v in verdicts.items())
    metrics = {
        f"{name}_{part.split()[-1]}": x for part, v in verdicts.items() for name, x in _verdict_metrics(v).items()
    }
    shown = tuple(_bars(part, v) for part, v in verdicts.items())
    if not any(v.passed for v in verdicts.values()):
        raise CheckFailed(f"no level is suitable for {policy}: {message}", "", metrics, shown)
    fit = " and ".join(part for part, v in verdicts.items() if v.passed)
    return Passed(f"{policy} can be trained on {fit}; {message}", metrics, shown)


def policy_verdicts(
    world: type[World] | EpisodeSource, scenarios: Sequence[Scenario], policy: str
) -> dict[str, VarianceVerdict]:
    """Return the verdict for each level. A log of a third-party trainer, which has no levels, gets a single verdict."""
    try:
        subject = open_policy_or_groups(policy)
        if isinstance(subject, list):
            return recorded_verdicts(subject, world.id)

        def draw(level: int) -> Callable[[int, int], list[RewardGroup]]:
            return lambda first, last: rollout_groups(
                subject, world, sample_of_size(scenarios, level, last)[first:last]
            )

        levels = sorted({s.level for s in scenarios})
        return {f"level {level}": sequential_variance_verdict(draw(level), looks=LOOKS) for level in levels}
    except (PolicyError, ConfigError, MissingExtra, ReadError) as error:  # not an error of the environment
        raise Skipped(f"{policy} cannot be evaluated: {error}") from None


def recorded_verdicts(groups: Sequence[RewardGroup], env: str) -> dict[str, VarianceVerdict]:
    """Return the verdicts on recorded groups.

    There is one verdict per level of the environment, and one for all groups whose problem ids are not scenario ids.

    Raises:
        ConfigError: All groups belong to other environments.
    """
    parts: dict[str, list[RewardGroup]] = {}
    for group in groups:
        at = env_and_level(group.problem)
        if at is None or at[0] == env:
            parts.setdefault(f"level {at[1]}" if at else "all recorded groups", []).append(group)
    if not parts:
        raise ConfigError(
            f"the log contains no rollouts of the environment {env!r}. Pass a log with rollouts of this environment"
        )
    return {part: variance_verdict(own) for part, own in sorted(parts.items())}


def _verdict_metrics(verdict: VarianceVerdict) -> dict[str, float]:
    """Return the metrics of a verdict."""
    found = verdict.statistics
    made: dict[str, float] = {"groups": verdict.groups, "std": found.std, "signal": found.signal}
    for quantity, e in verdict.estimates.items():
        made |= {quantity: e.value, f"{quantity}_low": e.low, f"{quantity}_high": e.high}
    return made | {f"pass_at_{k}": share for k, share in found.pass_at.items()}


def _bars(part: str, verdict: VarianceVerdict) -> Bars:
    range_text = {QUANTITY_LABELS[q]: e.value for q, e in verdict.estimates.items()}
    title = f"{verdict.groups} groups, {verdict.attempts} rollouts: {part}"
    return Bars(title=title, unit="share", bars=range_text | {QUANTITY_LABELS["signal"]: verdict.statistics.signal})
