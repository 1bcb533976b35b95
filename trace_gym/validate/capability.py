"""TG2, second half: the score moves with the capability, and with nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from trace_gym.episode import Episode
from trace_gym.score import fold
from trace_gym.types import Bars, Call, Message, Say, Scenario
from trace_gym.validate.attempts import EXPERTS, hybrids, left, spread
from trace_gym.validate.context import Context, Expert, worth
from trace_gym.validate.draws import plain
from trace_gym.validate.experts import CHECKS, needed
from trace_gym.validate.properties import Broken, Held, Inapplicable, prop
from trace_gym.validate.wordings import WORDINGS, other_reads
from trace_gym.world import Step, World

MOST = 32
"""Scenarios that are tried, evenly spread over the sample."""
TWICE = "for _ in range(2):\n    print(*episode.world.verify(episode.start, episode.said), sep='\\n')"
MUTE = "says all that the oracle says and does nothing"
REFUSALS = (
    "I cannot do that.",
    "I am sorry, the rules do not allow it, so it is not possible.",
    "No. I am unable to help you with this request.",
)


@prop(
    "TG206",
    statement="Where the capability is needed, each step taken without it costs reward, in an oracle's plan too.",
    reason="A reward that a wrong deed beside the right one does not lower teaches to try everything.",
    mend="Judge the final state, not the calls made; let `ablated` differ from `oracle` only where it matters.",
)
def reward_moves_with_the_capability(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    needing = [s for s in spread(scenarios, 2 * MOST) if needed(context, s)][:MOST]
    if not needing:
        raise Inapplicable("no scenario of the sample needs the capability, so there is nothing to take away")
    paid: list[float] = []
    inert = 0
    for scenario in needing:
        gold = context.expert(scenario, "oracle")
        oracle, ablated = (context.plan(scenario, e) for e in EXPERTS)
        wanted = left(gold)
        for plan in hybrids(oracle, ablated, context.interface):
            episode = context.play(scenario, plan)
            if left(episode) == wanted:
                inert += 1
                continue
            paid.append(worth(episode))
            if episode.finish().success or paid[-1] >= worth(gold):
                says = f"a step of the ablated expert leaves another state and is paid {paid[-1]:g} all the same"
                raise context.broken(scenario, says, plan, CHECKS)
        if worth(context.expert(scenario, "ablated")) >= worth(gold):
            says = f"the ablated expert is paid no less than the oracle, {worth(gold):g}"
            raise context.broken(scenario, says, ablated, CHECKS)
    means = {e: fmean(worth(context.expert(s, e)) for s in needing) for e in EXPERTS}
    bars = {"oracle": means["oracle"], "a step without it": fmean(paid or [0.0]), "ablated": means["ablated"]}
    shown = Bars(title="Reward as the capability is taken away", unit="mean reward", bars=bars)
    says = f"{len(paid)} plans with a step or more of the ablated expert earn less; {inert} changed no deed"
    return Held(says, {"plans": len(paid), "inert": inert, "mean": bars["a step without it"]}, (shown,))


@prop(
    "TG207",
    statement="Other spacing or letters, and other, repeated or reordered look-ups, change no reward.",
    reason="What is paid for besides the capability is learnt instead of it, as it is easier.",
    mend="Judge values and states, not sentences and calls; compare words without regard to case and spacing.",
)
def only_the_capability_counts(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    tried = dict.fromkeys([*WORDINGS, "reads"], 0)
    for scenario in spread(scenarios, MOST):
        for expert in EXPERTS:
            steps, made = context.plan(scenario, expert), context.expert(scenario, expert)
            if made.malformed or not steps:
                continue  # other turns change the share that the fee is taken from
            for name, wording in WORDINGS.items():
                with context.blame(scenario):
                    reworded = [Say(wording(s.text, made.start)) if isinstance(s, Say) else s for s in steps]
                tried[name] += _counts_not(context, scenario, expert, reworded, name)
            for plan in other_reads(made, steps, context.interface):
                tried["reads"] += _counts_not(context, scenario, expert, plan, "other look-ups")
    figures = {k.replace(" ", "_"): float(v) for k, v in tried.items()}
    says = ", ".join(f"{count} with {name}" for name, count in tried.items() if count)
    return Held(f"attempts earn the same said or looked up otherwise: {says or 'none had a choice'}", figures)


def _counts_not(context: Context, scenario: Scenario, expert: Expert, plan: Sequence[Step], what: str) -> int:
    """Check that a variant of an expert's plan is scored as the plan is; returns 1 where it differs at all."""
    if plan == context.plan(scenario, expert) or len(plan) > context.world.max_turns:
        return 0
    usual, varied = context.expert(scenario, expert), context.play(scenario, plan)
    one, other = usual.finish(), varied.finish()
    if (one.success, one.progress, set(one.broken)) != (other.success, other.progress, set(other.broken)):
        pairs = zip(one.checks, other.checks, strict=False)
        changed = next((c.says for c, d in pairs if c != d), "the number of checks")
        says = f"with {what} the {expert} earns {worth(varied):g} instead of {worth(usual):g}; this changed: {changed}"
        raise context.broken(scenario, says, plan, CHECKS)
    return 1


@prop(
    "TG208",
    statement="A score follows from the scenario and the recorded turns, however often it is asked for.",
    reason="Recorded rollouts are scored again, and a score that depends on anything else is noise to the trainer.",
    mend="Let `verify` read `self`, `start` and `said`, change none of them, and use nothing else.",
)
def judged_from_the_trajectory(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    replayed = 0
    for scenario in spread(scenarios, MOST):
        for expert in EXPERTS:
            steps = context.plan(scenario, expert)
            made = context.play(scenario, steps)
            with context.blame(scenario, steps, TWICE):
                _judge_twice(context, made, steps)
            recorded = [m for m in made.messages if m["role"] == "assistant"]
            _same_score(context, made, context.play(scenario, recorded), recorded, "played again from its messages")
            _same_score(context, made, _watched(context, scenario, steps), steps, "judged after every turn")
            replayed += 1
    says = f"{replayed} attempts score the same played again from their messages, and judged again and again"
    return Held(says, {"replayed": replayed})


def _judge_twice(context: Context, made: Episode, steps: Sequence[Step]) -> None:
    world, start, said = made.world, made.start, made.said
    before = plain(world), plain(start), list(said)
    first, second = list(world.verify(start, said)), list(world.verify(start, said))
    changed = [
        n for n, a, b in zip(("the state", "the start", "what was said"), before, _now(made), strict=True) if a != b
    ]
    if changed:
        raise context.broken(made.scenario, f"`verify` changes {changed[0]}", steps, TWICE)
    if first != second:
        differs = next((c.says for c, d in zip(first, second, strict=False) if c != d), "the number of checks")
        raise context.broken(made.scenario, f"`verify` says something else the second time: {differs}", steps, TWICE)
    if fold(made.checks(), start.verify(start, []), made.turns, made.malformed) != made.score:
        raise context.broken(made.scenario, "`verify` says something else than at the end of the episode", steps, TWICE)


def _now(made: Episode) -> tuple[object, object, list[str]]:
    return plain(made.world), plain(made.start), list(made.said)


def _watched(context: Context, scenario: Scenario, steps: Sequence[Step]) -> Episode:
    """The attempt of someone who asks for the checks after every turn."""
    with context.blame(scenario, steps, CHECKS):
        episode = Episode(context.world, scenario)
        for step in steps:
            if not episode.done:
                episode.step(step)
                list(episode.world.verify(episode.start, episode.said))
        episode.finish()
        return episode


def _same_score(context: Context, made: Episode, again: Episode, actions: Sequence[Step | Message], how: str) -> None:
    if made.score != again.score or made.state_hash != again.state_hash:
        paid = f"{worth(made):g} and {worth(again):g}"
        says = f"the same turns do not make the same score when {how}: {paid}"
        raise context.broken(made.scenario, says, actions, CHECKS)


@prop(
    "TG209",
    statement="Refusing, or doing nothing, fails wherever something is to be done; some scenarios are of that kind.",
    reason="An agent that is only punished for acting learns to refuse everything.",
    mend="Add scenarios in which the request is to be served, with a goal that only the deed can reach.",
)
def over_caution_fails(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    chosen = spread(scenarios, MOST)
    succeeded: Counter[str] = Counter()
    free = acting = 0
    for scenario in chosen:
        acts = left(context.expert(scenario, "oracle")) != plain(context.begin(scenario).start)
        needs = needed(context, scenario)
        free, acting = free + (not needs), acting + acts
        for name, plan in cautious(context, scenario):
            success = context.play(scenario, plan).finish().success
            succeeded[name] += success
            if success and acts:
                kind = "needs the capability" if needs else "needs no capability"
                says = f"an agent that {name} succeeds, although there is something to be done; the scenario {kind}"
                raise context.broken(scenario, says, plan, CHECKS)
    succeeded.pop(MUTE)  # what the oracle says is nothing that an agent knows
    name, most = max(succeeded.items(), key=lambda item: item[1])
    figures = {"free": free / len(chosen), "acting": acting / len(chosen), "caution": most / len(chosen)}
    if most == len(chosen):
        plan = dict(cautious(context, chosen[0]))[name]
        says = f"an agent that {name} succeeds in all {most} scenarios: there is never something to be done"
        raise Broken(says, context.snippet(chosen[0], plan, CHECKS), figures)
    share = f"{figures['free']:.0%} of the scenarios need no capability" if free else "no scenario is free of need"
    says = f"{share}; something is to be done in {figures['acting']:.0%}, and over-caution fails there"
    return Held(says, figures)


def cautious(context: Context, scenario: Scenario) -> list[tuple[str, list[Step]]]:
    """What over-cautious agents do, by name."""
    steps = context.plan(scenario, "oracle")
    looks: list[Step] = [s for s in steps if isinstance(s, Call) and context.interface.kinds.get(s.tool) == "read"]
    named: list[tuple[str, list[Step]]] = [("does nothing", [])]
    for words in REFUSALS:
        insisted = [Say(words)] * 3  # users may insist
        named += [(f"says {words!r}", [*insisted]), (f"looks everything up and says {words!r}", [*looks, *insisted])]
    return [*named, (MUTE, [s for s in steps if isinstance(s, Say) or s in looks])]
