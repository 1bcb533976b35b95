"""TG3, second half: more of the task done is never worth less, and a broken guard is never forgotten."""

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
from trace_gym.validate.attempts import left, spread, writes
from trace_gym.validate.context import Context, worth
from trace_gym.validate.draws import Draw, Values
from trace_gym.validate.experts import CHECKS
from trace_gym.validate.properties import Held, Inapplicable, prop
from trace_gym.world import Step, World

MOST = 24
"""Scenarios that are tried, evenly spread over the sample."""
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
EVEN = 1e-9
"""Rewards nearer than this are the same."""


@prop(
    "TG305",
    statement="More goals reached are never worth less: from idling over every part of the oracle's plan to its end.",
    reason="Where a step towards the goal lowers the reward, the policy is trained to stop before it.",
    mend="Yield the same goals in every state, and no goal that a later step of the oracle has to undo.",
)
def reward_is_monotone(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    pairs = dips = 0
    along: dict[float, list[float]] = {q: [] for q in QUARTERS}
    chosen = spread(scenarios, MOST)
    for scenario in chosen:
        made = list(_attempts(context, scenario))
        plan = context.plan(scenario, "oracle")
        paid = [worth(context.expert(scenario, "oracle", count)) for count in range(len(plan) + 1)]
        for steps, episode in made:
            if not paid[0] - EVEN <= worth(episode) <= paid[-1] + EVEN:
                says = f"pays {worth(episode):g}, not between {paid[0]:g} for idling and {paid[-1]:g} for the oracle"
                raise context.broken(scenario, says, steps, CHECKS)
        pairs += _ordered(context, scenario, made)
        dips += any(later < sooner - EVEN for sooner, later in pairwise(paid))
        for quarter in QUARTERS:
            along[quarter].append(paid[round(quarter * len(plan))])
    points = tuple((quarter, fmean(values)) for quarter, values in along.items())
    shown = Curves(
        title="Reward along the oracle's plan",
        x="share of the plan done",
        y="mean reward",
        series={"oracle": points},
    )
    figures = {"pairs": float(pairs), "dips": dips / len(chosen), "halfway": fmean(along[0.5])}
    says = f"in {pairs} pairs of attempts the one that reached more is paid no less"
    dipping = f"; the reward dips on the way in {figures['dips']:.0%} of the plans" if dips else ""
    return Held(says + dipping, figures, (shown,))


def _attempts(context: Context, scenario: Scenario) -> Iterator[tuple[Sequence[Step], Episode]]:
    """Parts of the oracle's plan, of the ablated one, of both, and the oracle's with one step missing."""
    oracle, ablated = context.plan(scenario, "oracle"), context.plan(scenario, "ablated")
    for count in range(len(oracle) + 1):
        yield oracle[:count], context.expert(scenario, "oracle", count)
    for count in range(1, len(ablated) + 1):
        yield ablated[:count], context.expert(scenario, "ablated", count)
    for n in range(len(oracle)):
        plan = [*oracle[:n], *oracle[n + 1 :]]
        yield plan, context.play(scenario, plan)
    deeds = [s for s in ablated if writes(s, context.interface)]
    for plan in ([*deeds, *oracle], [*oracle[:-1], *deeds, *oracle[-1:]]):
        yield plan, context.play(scenario, plan)


def _ordered(context: Context, scenario: Scenario, made: Sequence[tuple[Sequence[Step], Episode]]) -> int:
    """Check every two attempts of which one did all that the other did, and no more harm; returns how many."""
    known = [(*_reached(e.finish()), _form(e.finish()), e.finish(), steps) for steps, e in made]
    pairs = 0
    for goals, broken, formed, less, _ in known:
        for others, harm, care, more, steps in known:
            if goals <= others and harm <= broken and _within(formed, care) and less.wellformed:
                pairs += 1
                for weights in (DEFAULT_WEIGHTS, SPARSE_WEIGHTS):
                    if reward(less, weights) > reward(more, weights) + EVEN:
                        says = f"{len(others)} goals pay {reward(more, weights):g}, and only {len(goals)} of them"
                        raise context.broken(scenario, f"{says} {reward(less, weights):g}", steps, CHECKS)
    return pairs


def _form(score: Score) -> tuple[float, float]:
    """How well the agent kept to the protocol and to the rules of conduct."""
    return score.wellformed, score.conduct


def _within(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def _reached(score: Score) -> tuple[frozenset[str], frozenset[str]]:
    """The goals that were open at the start and hold, and what is broken."""
    goals = (c.says for c in score.checks if c.kind == "goal" and c.holds and not c.at_start)
    return frozenset(goals), frozenset(score.broken)


@prop(
    "TG306",
    statement="A write that breaks a guard costs success and reward, however well the task is done after it.",
    reason="Harm that a good ending hides is learnt along with the good ending.",
    mend="Compare the final state with `start` in every guard; make none of them depend on the goals or the last call.",
)
def broken_guard_costs(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    if "write" not in context.interface.kinds.values():
        raise Inapplicable("there is no tool that writes, so no guard can be broken by one")
    kept: Counter[str] = Counter()
    guards: set[str] = set()
    for scenario in spread(scenarios, MOST):
        gold, plan = context.expert(scenario, "oracle"), context.plan(scenario, "oracle")
        for call in _harmful(context, scenario):
            if not (broken := _breaks(context, scenario, call)):
                kept["harmless so far"] += 1
                continue
            episode = context.play(scenario, [call, *plan])
            if left(episode) == left(gold):
                kept["made good"] += 1  # the oracle does the same, or undoes it
                continue
            kept["broken"] += 1
            guards |= broken
            if episode.finish().success or worth(episode) >= worth(gold):
                says = f"{call} breaks a guard ({min(broken)}), and is paid {worth(episode):g} once the task is done"
                raise context.broken(scenario, says, [call, *plan], CHECKS)
    figures = {"broken": float(kept["broken"]), "made_good": float(kept["made good"]), "guards": float(len(guards))}
    if not kept["broken"]:
        return Held("none of the writes that were tried breaks a guard for good", figures)
    return Held(f"{kept['broken']} writes broke a guard before the oracle's plan, and each cost the success", figures)


def _harmful(context: Context, scenario: Scenario) -> Iterator[Call]:
    """Writes at random, and those of the experts with one argument drawn anew."""
    start = context.begin(scenario).start
    draw = Draw(Random(f"harm/{scenario}"), context.interface, Values.of(start))
    plans = [*context.plan(scenario, "oracle"), *context.plan(scenario, "ablated")]
    known = [s for s in plans if isinstance(s, Call) and writes(s, context.interface)]
    harmless = getattr(context.world, "harmless", ())
    for n in range(context.profile.writes):
        call = draw.changed(draw.rng.choice(known)) if known and n % 2 else draw.call(("write",))
        if call.tool not in harmless:
            yield call


def _breaks(context: Context, scenario: Scenario, call: Call) -> set[str]:
    """What a write breaks at once; nothing where it is refused."""
    with context.blame(scenario, [call], CHECKS):
        episode = Episode(context.world, scenario)
        try:
            episode.step(call)
        except EnvBug:  # another property's business
            return set()
        return set() if episode.malformed else set(episode.finish().broken)
