"""TG3: nothing is paid for nothing, and what is paid comes in steps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from trace_gym.episode import Episode
from trace_gym.score import SPARSE_WEIGHTS, RewardWeights, fold, reward
from trace_gym.types import Call, Replay, Say, Scenario, Score
from trace_gym.validate.context import Context, worth
from trace_gym.validate.draws import Draw, Values
from trace_gym.validate.experts import CHECKS
from trace_gym.validate.learning import at_least
from trace_gym.validate.properties import Broken, Held, prop
from trace_gym.world import Step, ToolError, World, call_tool

NOTHINGS = ("...", "Hello.", "Done.")
"""Turns that serve nobody."""
TASK = RewardWeights(conduct=0.0)
"""What is paid for the task alone; good and bad conduct would make two steps of each one."""
JUDGED = "print(*episode.world.verify(episode.start, episode.said), sep='\\n')"
LEVELS = 4
"""Distinct rewards that an environment must be seen to pay."""
FURTHER = 50
"""Problems of a level that are tried before the rewards are called too few; one of them may be rare."""


@prop(
    "TG301",
    statement="Doing nothing earns nothing, whatever is said meanwhile.",
    reason="A reward for idling is the first thing that a policy finds.",
    mend="Make each goal depend on a change of state, or on a fact that only the records reveal.",
)
def idling_earns_nothing(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    for scenario in scenarios:
        for text in NOTHINGS:
            steps = [Say(text)] * world.max_turns
            _unpaid(context, scenario, context.play(scenario, steps), [Say(text)])
        _unpaid(context, scenario, context.play(scenario, []), [])
    return Held(f"no reward in {len(scenarios)} scenarios for no turn at all, nor for saying {', '.join(NOTHINGS)}")


def _unpaid(context: Context, scenario: Scenario, episode: Episode, steps: Sequence[Step]) -> None:
    score = episode.finish()
    if paid := reward(score) or reward(score, SPARSE_WEIGHTS):
        says = f"pays {paid:.3g} for {episode.turns} turns of {steps[0] if steps else 'nothing'}"
        raise context.broken(scenario, says, [step for step in steps for _ in range(episode.turns)], CHECKS)


@prop(
    "TG302",
    statement="Some goal is open at the start, no guard is broken, and the sentences stay the same to the end.",
    reason="What held at the start pays nothing; it is recognised by its sentence, so that must not change.",
    mend="Write checks from `start` and constants, one sentence each; put what varies into `holds`.",
)
def start_pays_nothing(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    opened: Counter[int] = Counter()
    for scenario in scenarios:
        episode = context.begin(scenario)
        with context.blame(scenario, tail=CHECKS):
            checks = [*episode.start.verify(episode.start, []), *episode.start.conduct(episode.start, [])]
        says = [c.says for c in checks]
        if broken := [c.says for c in checks if c.kind == "guard" and not c.holds]:
            raise context.broken(scenario, f"a guard is broken at the start: {broken[0]}", tail=CHECKS)
        if not (count := sum(c.kind == "goal" and not c.holds for c in checks)):
            raise context.broken(scenario, "no goal is open at the start", tail=CHECKS)
        if twice := [text for text, n in Counter(says).items() if n > 1]:
            raise context.broken(scenario, f"two checks share the sentence {twice[0]!r}", tail=CHECKS)
        opened[count] += 1
        for expert in ("oracle", "ablated"):
            ended = context.expert(scenario, expert)
            if changed := {c.says for c in ended.finish().checks} ^ set(says):
                steps = context.plan(scenario, expert)
                raise context.broken(scenario, f"a check comes or goes on the way: {min(changed)!r}", steps, CHECKS)
    return Held(f"{min(opened)} to {max(opened)} goals are open at the start", {"goals": max(opened)})


@prop(
    "TG303",
    statement="Rewards are finite, lie in [0, 1] and come in at least four steps without what conduct costs.",
    reason="GRPO learns from differences within a group; an all-or-nothing reward is constant for most groups.",
    mend="Split the goal into parts that can be reached one after the other.",
)
def reward_is_graded(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    paid: Counter[float] = Counter()
    for n, scenario in enumerate(_further(scenarios)):
        if (further := n >= len(scenarios)) and len(paid) >= LEVELS:
            break
        for episode in _attempts(context, scenario, further):
            value = worth(episode)
            if not (math.isfinite(value) and 0 <= value <= 1):
                raise context.broken(scenario, f"pays {value}", tail=CHECKS)
            paid[round(reward(episode.finish(), TASK), 6)] += 1
    levels = sorted(paid)
    figures = {f"paid_{value:g}": count / paid.total() for value, count in sorted(paid.items())}
    shown = ", ".join(f"{v:g}" for v in levels)
    if len(levels) < LEVELS:
        says = f"{paid.total()} attempts earned only {len(levels)} different rewards: {shown}"
        raise Broken(says, context.snippet(scenarios[0], context.plan(scenarios[0], "oracle"), CHECKS), figures)
    return Held(f"{paid.total()} attempts earned {len(levels)} different rewards: {shown}", figures)


def _further(scenarios: Sequence[Scenario]) -> Iterator[Scenario]:
    """The scenarios, then the next seeds of all levels, lowest first."""
    yield from scenarios
    more = {s for level in {s.level for s in scenarios} for s in at_least(scenarios, level, FURTHER)} - {*scenarios}
    yield from sorted(more, key=lambda s: (s.seed, s.level))


def _attempts(context: Context, scenario: Scenario, further: bool) -> Iterator[Episode]:
    """Good, bad and random attempts at a scenario; at a further one, those that most likely earn something else."""
    steps, kinds = context.plan(scenario, "oracle"), context.interface.kinds
    yield context.expert(scenario, "ablated")
    if not further:
        yield from (context.expert(scenario, "oracle", count) for count in range(len(steps) + 1))
    for n, step in enumerate(steps):
        if not (further and isinstance(step, Call) and kinds.get(step.tool) == "read"):
            yield context.play(scenario, [*steps[:n], *steps[n + 1 :]])
    rng = Random(f"attempts/{scenario}")
    if len(steps) > 1 and not further:
        n = rng.randrange(len(steps) - 1)
        yield context.play(scenario, [*steps[:n], steps[n + 1], steps[n], *steps[n + 2 :]])
    if kinds:
        draw = Draw(rng, context.interface, Values.of(context.begin(scenario).start))
        calls = [draw.call() for _ in range(6)]
        yield context.play(scenario, calls)
        yield context.play(scenario, [*calls, *steps])


@prop(
    "TG304",
    statement="After success, one more write that changes something costs it.",
    reason="A policy that writes at random, and much, would otherwise be paid as well as one that knows.",
    mend="Add a guard that nothing else has changed; a harmless tool is named in the class attribute `harmless`.",
)
def damage_costs_success(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    harmless = set(getattr(world, "harmless", ()))
    writes = {n for n, kind in context.interface.kinds.items() if kind == "write"} - harmless
    if not writes:
        return Held("there is no tool that writes")
    tried: Counter[str] = Counter()
    for scenario in scenarios:
        episode, steps = context.expert(scenario, "oracle"), context.plan(scenario, "oracle")
        draw = Draw(Random(f"damage/{scenario}"), context.interface, Values.of(episode.world))
        known = [step for step in steps if isinstance(step, Call) and step.tool in writes]
        for n in range(context.profile.writes):
            call = draw.changed(draw.rng.choice(known)) if known and n % 2 else draw.call(("write",))
            if call.tool in harmless:
                continue
            tail = f"episode.world.{call.tool}(**{call.arguments!r})\n{JUDGED}"
            with context.blame(scenario, steps, tail):
                score = _after(episode, call)
            if score is None:
                continue
            tried[call.tool] += 1
            if score.success:
                says = f"a further {call} changes the state and costs nothing"
                made, replay = context.broken(scenario, says, steps, tail), _in_time(context, scenario, steps, call)
                raise Broken(made.says, made.counterexample, replay=replay or made.replay)
    says = f"{tried.total()} further writes with {len(tried)} of {len(writes)} tools each cost the success"
    says = says if tried else "no further write was accepted, so none could do harm"
    return Held(says, {"writes": tried.total(), "tools": len(tried)})


def _in_time(context: Context, scenario: Scenario, steps: Sequence[Step], call: Call) -> Replay | None:
    """The attempt with the further call before the closing words, as nothing is heard after them, if it succeeds so."""
    end = 1 + max((n for n, step in enumerate(steps) if isinstance(step, Call)), default=-1)
    actions = [*steps[:end], call, *steps[end:]]
    succeeds = context.play(scenario, actions).finish().success
    return context.broken(scenario, "", actions).replay if succeeds else None


def _after(episode: Episode, call: Call) -> Score | None:
    """The score once a further call is made; None when it is refused or changes nothing."""
    world = episode.world.copy()
    try:
        call_tool(world, call.tool, call.arguments)
    except ToolError:
        return None
    if Values.of(world) == Values.of(episode.world) and vars(world) == vars(episode.world):
        return None
    checks = world.verify(episode.start, episode.said)
    return fold(checks, episode.start.verify(episode.start, []), episode.turns, episode.malformed)
