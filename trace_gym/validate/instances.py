"""TG1, second half: what happens in one attempt is no other attempt's business, and an attempt survives a journey."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress
from random import Random

from trace_gym.episode import Episode
from trace_gym.errors import EnvBug
from trace_gym.types import Scenario
from trace_gym.validate import worker
from trace_gym.validate.attempts import EXPERTS, spread
from trace_gym.validate.context import Context, Expert
from trace_gym.validate.draws import Draw, Values
from trace_gym.validate.probe import trace
from trace_gym.validate.properties import Broken, Held, prop
from trace_gym.validate.source import load
from trace_gym.validate.wrapped import WorldEnv, as_text, rows
from trace_gym.world import World

MOST = 32
"""Scenarios that are tried, evenly spread over the sample."""
SENT = 24
"""Episodes that a fresh process is sent."""
Attempt = tuple[Scenario, Expert]
ENDS = "print(episode.state_hash, episode.messages, episode.finish())"


@prop(
    "TG105",
    statement="An attempt is the same whatever is played beside it, and whatever its instance was used for before.",
    reason="Rollouts of a group run side by side, and one instance serves task after task.",
    mend="Keep the state in the fields of the world; no class attribute, module variable or cache may change.",
)
def instances_do_not_touch(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    chosen = spread(scenarios, MOST)
    expected = {(s, e): alone(context, s, e) for s in chosen for e in EXPERTS}
    for scenario, other in zip(chosen, [*chosen[1:], chosen[0]], strict=True):
        for mine, theirs in (EXPERTS, EXPERTS[::-1]):
            one, two = (scenario, mine), (other, theirs)
            for attempt, made in beside(context, one, two).items():
                if made != expected[attempt]:
                    raise _touched(context, attempt, one, two)
    reused = _reuse(context, chosen)
    says = f"{len(expected)} attempts are alike alone and beside others, and {reused} in an instance used before"
    return Held(says, {"beside": len(expected), "reused": reused})


def alone(context: Context, scenario: Scenario, expert: Expert) -> str:
    """All that can be seen of an expert's attempt, played by itself."""
    steps = context.plan(scenario, expert)
    with context.blame(scenario, steps, ENDS):
        episode = Episode(context.world, scenario)
        began = episode.state_hash
        for step in steps:
            if not episode.done:
                episode.step(step)
        return trace(began, episode)


def beside(context: Context, one: Attempt, other: Attempt) -> dict[Attempt, str]:
    """All that can be seen of two attempts that take turns, while a third one calls tools at random."""
    pairs = (one, other)
    episodes = [context.begin(scenario) for scenario, _ in pairs]
    began = [e.state_hash for e in episodes]
    plans = [context.plan(*attempt) for attempt in pairs]
    noise = context.begin(other[0])
    draw = Draw(Random(f"beside/{one[0]}"), context.interface, Values.of(noise.world))
    for turn in range(max(map(len, plans))):
        for episode, steps in zip(episodes, plans, strict=True):
            if turn < len(steps) and not episode.done:
                with context.blame(episode.scenario, steps[: turn + 1], ENDS):
                    episode.step(steps[turn])
        if context.interface.kinds:
            with suppress(EnvBug):  # another property's business
                noise.step(draw.call())
    return {attempt: trace(at, e) for attempt, at, e in zip(pairs, began, episodes, strict=True)}


def _touched(context: Context, attempt: Attempt, one: Attempt, other: Attempt) -> Broken:
    """A failure with the snippet that plays an attempt alone and beside another."""
    (scenario, expert), besides = attempt, other if attempt == one else one
    lines = (
        "from trace_gym.types import Scenario",
        "from trace_gym.validate import PROFILES, Context, load",
        "from trace_gym.validate.instances import alone, beside",
        "",
        f"context = Context(*load({context.reference!r}), PROFILES[{context.profile.name!r}])",
        *(f"{name} = (Scenario.parse({str(s)!r}), {e!r})" for name, (s, e) in (("one", one), ("other", other))),
        f"attempt = {'one' if attempt == one else 'other'}",
        "print(alone(context, *attempt), beside(context, one, other)[attempt], sep='\\n')",
    )
    says = f"{scenario}: the {expert}'s attempt is another beside the {besides[1]}'s at {besides[0]}"
    steps = context.plan(scenario, expert)
    return Broken(says, "\n".join(lines) + "\n", replay=context.broken(scenario, says, steps).replay)


def _reuse(context: Context, chosen: Sequence[Scenario]) -> int:
    """Play in one instance a level what fresh instances play, with attempts given up in between."""
    place = load(context.world)[1]
    used = {level: WorldEnv(place, level) for level in {s.level for s in chosen}}
    for scenario, before in zip(chosen, [chosen[-1], *chosen[:-1]], strict=True):
        turns = as_text(context.plan(scenario, "oracle"))
        given_up = as_text(context.plan(scenario, "ablated"))[: len(turns) // 2]
        with context.blame(scenario, turns, ENDS):
            fresh = rows(WorldEnv(place, scenario.level), scenario.seed, turns)
            rows(used[scenario.level], before.seed, given_up)
            again = rows(used[scenario.level], scenario.seed, turns)
        if again != fresh:
            lines = (
                "from trace_gym.validate.wrapped import WorldEnv, rows",
                "",
                f"used, fresh = (WorldEnv({context.reference!r}, {scenario.level}) for _ in range(2))",
                f"rows(used, {before.seed}, {given_up!r})",
                f"print(*(rows(env, {scenario.seed}, {turns!r})[-1] for env in (used, fresh)), sep='\\n')",
            )
            says = f"{scenario}: an instance that was used before shows something else than a fresh one"
            raise Broken(says, "\n".join(lines) + "\n", replay=context.broken(scenario, says, turns).replay)
    return len(chosen)


@prop(
    "TG106",
    statement="An episode can be pickled at any turn, and goes on alike here and in a fresh process.",
    reason="Rollouts are resumed, and travel to workers; what a pickle loses changes the problem half-way.",
    mend="Keep plain data in the fields of the world: no open file, generator or lambda, and nothing beside them.",
)
def survives_pickling(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    pickles = 0
    for scenario in spread(scenarios, MOST):
        for expert in EXPERTS:
            pickles += _travels(context, scenario, expert)
    sent = _sent(context, spread(scenarios, SENT)) if context.profile.apart else 0
    says = f"{pickles} pickles, one after every turn of both experts, played on alike"
    return Held(says + (f", and {sent} in a fresh process" if sent else ""), {"pickles": pickles, "sent": sent})


def _travels(context: Context, scenario: Scenario, expert: Expert) -> int:
    steps = context.plan(scenario, expert)
    expected = trace("", context.expert(scenario, expert))
    with context.blame(scenario, steps, "import pickle; pickle.dumps(episode)"):
        episode = Episode(context.world, scenario)
        for turn in range(len(steps) + 1):
            twin = pickle.loads(pickle.dumps(episode, -1))
            if twin.state_hash != episode.state_hash:
                raise context.broken(scenario, f"a pickle after {turn} turns loses some of the state", steps[:turn])
            for step in steps[turn:]:
                if not twin.done:
                    twin.step(step)
            if trace("", twin) != expected:
                says = f"the {expert}'s attempt ends differently when it is pickled after {turn} turns"
                raise context.broken(scenario, says, steps[:turn], "import pickle; pickle.loads(pickle.dumps(episode))")
            if turn < len(steps) and not episode.done:
                episode.step(steps[turn])
        if trace("", episode) != expected:
            raise context.broken(scenario, f"the {expert}'s attempt ends differently for having been pickled", steps)
    return len(steps) + 1


def _sent(context: Context, chosen: Sequence[Scenario]) -> int:
    """Send episodes to a fresh process, every other one half-way, and compare the ends.

    They go in reverse: what one attempt leaves behind in the process has then come from another one.
    """
    unfinished, taken = [], []
    for n, scenario in enumerate(reversed(chosen)):
        steps = context.plan(scenario, "oracle")
        taken.append(len(steps) // 2 if n % 2 else 0)
        with context.blame(scenario, steps[: taken[-1]], ENDS):
            episode = Episode(context.world, scenario)
            for step in steps[: taken[-1]]:
                episode.step(step)
            unfinished.append(worker.packed(episode, steps[taken[-1] :]))
    ends = worker.ask({"world": load(context.world)[1], "unfinished": unfinished})
    for scenario, end, count in zip(reversed(chosen), ends, taken, strict=True):
        if end != trace("", context.expert(scenario, "oracle")):
            tail = f"from trace_gym.validate.worker import ask, packed\nrest = list(episode.start.oracle())[{count}:]\n"
            tail += f"print(*ask({{'world': {context.reference!r}, 'unfinished': [packed(episode, rest)]}}))"
            says = f"sent to a fresh process after {count} turns, the oracle's attempt ends differently"
            raise context.broken(scenario, says, context.plan(scenario, "oracle")[:count], tail)
    return len(chosen)
