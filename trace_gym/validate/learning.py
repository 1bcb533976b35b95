"""TG5: GRPO finds something to learn from, at some competence, and with the policy that the user names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from trace_gym.errors import ConfigError, MissingExtra, PolicyError, ReadError
from trace_gym.statistics import wilson
from trace_gym.types import Bars, Curves, Scenario
from trace_gym.validate.context import Context, worth
from trace_gym.validate.experts import CHECKS, needed
from trace_gym.validate.measure import BANDS, LOOKS, VarianceVerdict, inside, measure, measure_until_clear, words
from trace_gym.validate.policies import Playable, place, played, resolve
from trace_gym.validate.properties import Broken, Held, Inapplicable, prop
from trace_gym.validate.variance import COMPETENCES, Group, Pair, Spread, mixture
from trace_gym.world import World

SIZES = (8, 16)
"""Attempts in a group."""
FINE = tuple(n / 100 for n in range(101))
"""Competences at which the bands are tried."""
WIDTH = 0.2
"""How far apart the ends of the range must lie: training raises the competence, and should not leave it at once."""
NEEDED = 0.2
"""Share of a level's problems that must need the capability; the others teach nothing about it."""
LEAST = 16
"""Problems of a level that are looked at, even if the sample holds fewer."""
AXES = {
    "mean": "mean reward",
    "success": "successes",
    "informative": "informative groups",
    "all_zero": "groups that earn nothing",
    "all_one": "groups that earn all",
    "signal": "mean absolute advantage",
}
"""Quantities as pictures name them."""
PAID = "print(episode.finish().success, episode.finish().progress)"


@prop(
    "TG501",
    statement="On every level, groups of 8 and of 16 attempts lie in the bands over a range of competences.",
    reason="A group whose attempts all earn the same has no gradient, whatever the number of rollouts.",
    mend="Pay the expert without the capability less, or the oracle more; draw more problems that need the capability.",
)
def reward_spreads(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    figures: dict[str, float] = {}
    needing: dict[int, list[Pair]] = {}
    every: list[Pair] = []
    ranges = []
    for level in sorted({s.level for s in scenarios}):
        chosen = at_least(scenarios, level, LEAST)
        pairs = {s: _pair(context, s) for s in chosen}
        every += pairs.values()
        needing[level] = [pairs[s] for s in chosen if needed(context, s)]
        figures |= _share(context, level, len(needing[level]), chosen)
        low, high = _range(context, level, needing[level], chosen)
        figures |= {
            f"from_{level}": low,
            f"to_{level}": high,
            f"ablated_{level}": fmean(p.ablated for p in pairs.values()),
        }
        ranges.append((low, high))
    low, high = max(a for a, _ in ranges), min(b for _, b in ranges)
    figures |= _figures(
        [p for pairs in needing.values() for p in pairs], every, (low + high) / 2 if low <= high else 0.4
    )
    told = f"from {low:.2f} to {high:.2f}" if low <= high else "in another range on each level"
    share = sum(map(len, needing.values())) / len(every)
    says = f"all bands hold on every level for an agent of competence {told}, over the {share:.0%} of the problems"
    return Held(f"{says} that need the capability", figures, _curves(needing, every))


def _pair(context: Context, scenario: Scenario) -> Pair:
    oracle, ablated = (context.expert(scenario, e) for e in ("oracle", "ablated"))
    return Pair(worth(oracle), worth(ablated), oracle.finish().success, ablated.finish().success)


def at_least(scenarios: Sequence[Scenario], level: int, count: int) -> list[Scenario]:
    """The scenarios of a level, and the seeds that follow, so that there are `count` of them."""
    own = [s for s in scenarios if s.level == level]
    first = max(s.seed for s in own) + 1
    more = range(first, first + max(0, count - len(own)))
    return [*own, *(Scenario(env=own[0].env, level=level, seed=seed) for seed in more)]


def _share(context: Context, level: int, count: int, chosen: Sequence[Scenario]) -> dict[str, float]:
    """The share of a level's problems that need the capability; `Broken` where it is surely too small."""
    bounds = wilson(count, len(chosen))
    assert bounds is not None  # there are some
    figures = {
        f"needs_{level}": count / len(chosen),
        f"needs_{level}_low": bounds.low,
        f"needs_{level}_high": bounds.high,
    }
    if bounds.high < NEEDED or not count:
        says = f"{count} of {len(chosen)} problems of level {level} need the capability; expected {NEEDED:.0%} or more"
        raise Broken(says, context.snippet(chosen[0], context.plan(chosen[0], "ablated"), PAID), figures)
    return figures


def _range(context: Context, level: int, pairs: Sequence[Pair], chosen: Sequence[Scenario]) -> tuple[float, float]:
    """The widest range of competences at which every band holds; `Broken` where it is too narrow."""
    runs: list[list[float]] = [[]]
    for p in FINE:
        if any(_outside(mixture(pairs, p, k)) for k in SIZES):
            runs.append([])
        else:
            runs[-1].append(p)
    widest = max(runs, key=len)
    if widest and widest[-1] - widest[0] >= WIDTH - 1e-9:
        return widest[0], widest[-1]
    oracle, ablated = fmean(p.oracle for p in pairs), fmean(p.ablated for p in pairs)
    found = f"hold from {widest[0]:.2f} to {widest[-1]:.2f} only" if widest else "hold at no competence"
    wrong = "" if widest else f", not at 0.4 as {'; '.join(_outside(mixture(pairs, 0.4, SIZES[0])))}"
    says = f"level {level}: the bands {found}{wrong}; the oracle earns {oracle:.2f}, the ablated expert {ablated:.2f}"
    at = next((s for s in chosen if needed(context, s)), chosen[0])
    steps = context.plan(at, "oracle" if oracle < 1 - ablated else "ablated")
    figures = {f"oracle_{level}": oracle, f"ablated_{level}": ablated}
    raise Broken(says, context.snippet(at, steps, CHECKS), figures, replay=context.broken(at, "", steps).replay)


def _outside(found: Spread) -> list[str]:
    """The quantities that lie outside their bands."""
    values = ((q, getattr(found, q), band) for q, band in BANDS.items())
    return [f"{words(q)} is {value:.2f}" for q, value, band in values if not inside(value, band)]


def _figures(needing: Sequence[Pair], every: Sequence[Pair], p: float) -> dict[str, float]:
    """What the groups are like in the middle of the range; `every_` counts the problems that do not need it, too."""
    made = {"p": p}
    for k in SIZES:
        found = mixture(needing, p, k)
        made |= {f"{q}_{k}": getattr(found, q) for q in ("std", "informative", "all_zero", "all_one", "signal")}
        made |= {f"pass_at_{n}": share for n, share in found.pass_at.items()}
        made[f"every_informative_{k}"] = mixture(every, p, k).informative
    return made | {"mean": found.mean}


def _curves(needing: dict[int, list[Pair]], every: Sequence[Pair]) -> tuple[Curves, ...]:
    """Mean, informative groups and signal over competence, for each level and for all problems."""

    def lines(title: str, quantity: str, band: tuple[float, float] | None, sizes: Sequence[int]) -> Curves:
        def line(pairs: Sequence[Pair], k: int) -> tuple[tuple[float, float], ...]:
            return tuple((p, getattr(mixture(pairs, p, k), quantity)) for p in COMPETENCES)

        of = f", K = {SIZES[0]}" if len(sizes) == 1 else ""
        series = {f"level {level}": line(pairs, sizes[0]) for level, pairs in needing.items()}
        for k in sizes:
            series["all problems" if len(sizes) == 1 else f"all problems, K = {k}"] = line(every, k)
        return Curves(title=f"{title}{of}", x="competence p", y=AXES[quantity], series=series, band=band)

    return (
        lines("Mean reward over competence", "mean", BANDS["mean"], SIZES[:1]),
        lines("Informative groups over competence", "informative", BANDS["informative"], SIZES),
        lines("Groups that earn nothing over competence", "all_zero", BANDS["all_zero"], SIZES),
        lines("Mean absolute advantage over competence", "signal", None, SIZES),
    )


@prop(
    "TG502",
    statement="On some level, groups of attempts by the policy that is to be trained lie in the bands.",
    reason="A policy that always or never succeeds learns nothing; it needs an easier level, a harder one, or none.",
    mend="Train on the level whose figures come nearest, move the levels, or begin with demonstrations.",
)
def policy_rewards_spread(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    if not context.given.policy:
        raise Inapplicable("no policy is named; name the one to be trained with --policy")
    return fits_policy(world, scenarios, context.given.policy)


def fits_policy(world: type[World] | Playable, scenarios: Sequence[Scenario], policy: str) -> Held:
    """Judge the groups of a policy, which may be played in another process than the world."""
    verdicts = judged_by_policy(world, scenarios, policy)
    says = "; ".join(f"{part}: {v.says}" for part, v in verdicts.items())
    figures = {f"{name}_{part.split()[-1]}": x for part, v in verdicts.items() for name, x in _told(v).items()}
    shown = tuple(_bars(part, v) for part, v in verdicts.items())
    if not any(v.passed for v in verdicts.values()):
        raise Broken(f"{policy} fits no level: {says}", "", figures, shown)
    fit = " and ".join(part for part, v in verdicts.items() if v.passed)
    return Held(f"{policy} can be trained on {fit}; {says}", figures, shown)


def judged_by_policy(
    world: type[World] | Playable, scenarios: Sequence[Scenario], policy: str
) -> dict[str, VarianceVerdict]:
    """The verdict for each level; the groups of a foreign log are judged together."""
    try:
        subject = resolve(policy)
        if isinstance(subject, list):
            return by_part(subject, world.id)

        def draw(level: int) -> Callable[[int, int], list[Group]]:
            return lambda first, last: played(subject, world, at_least(scenarios, level, last)[first:last])

        levels = sorted({s.level for s in scenarios})
        return {f"level {level}": measure_until_clear(draw(level), looks=LOOKS) for level in levels}
    except (PolicyError, ConfigError, MissingExtra, ReadError) as error:  # not the environment's fault
        raise Inapplicable(f"{policy} cannot be judged: {error}") from None


def by_part(groups: Sequence[Group], env: str) -> dict[str, VarianceVerdict]:
    """The verdict on recorded groups, for each level of an environment, or for a foreign log as a whole.

    Raises:
        ConfigError: There is no group of this environment, nor a foreign one.
    """
    parts: dict[str, list[Group]] = {}
    for group in groups:
        at = place(group.problem)
        if at is None or at[0] == env:
            parts.setdefault(f"level {at[1]}" if at else "all that is recorded", []).append(group)
    if not parts:
        raise ConfigError(f"it holds no attempt at a problem of {env}")
    return {part: measure(own) for part, own in sorted(parts.items())}


def _told(verdict: VarianceVerdict) -> dict[str, float]:
    """A verdict as figures."""
    found = verdict.spread
    made: dict[str, float] = {"groups": verdict.groups, "std": found.std, "signal": found.signal}
    for quantity, e in verdict.estimates.items():
        made |= {quantity: e.value, f"{quantity}_low": e.low, f"{quantity}_high": e.high}
    return made | {f"pass_at_{k}": share for k, share in found.pass_at.items()}


def _bars(part: str, verdict: VarianceVerdict) -> Bars:
    told = {AXES[q]: e.value for q, e in verdict.estimates.items()}
    title = f"{verdict.groups} groups, {verdict.attempts} attempts: {part}"
    return Bars(title=title, unit="share", bars=told | {AXES["signal"]: verdict.spread.signal})
