"""Property TG211: the oracle uses only information that the agent can observe (noninterference).

The property replaces one random draw of a scenario at a time (see `trace_gym.validation.interventions`) and compares
the scenario with its variant. If the oracle acts differently in the variant, something that an agent observes before
that step must differ as well: the first user message, an answer of the user, or a tool result. Otherwise no agent can
know which of the two actions is correct. The property ignores two cases: the oracle's original plan also succeeds in
the variant, or read calls that the oracle did not make would have shown the difference.
"""

from __future__ import annotations

import pickle
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from trace_gym.episode import Episode
from trace_gym.policies.exploits import look
from trace_gym.policies.seen import Seen
from trace_gym.types import Call, Say, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.interventions import Variant
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.world import Step, World

SCENARIOS = 12
"""Maximum number of scenarios per level."""
ALLOWED = 0.02
"""Maximum share of scenarios in which the oracle may use hidden information."""


@dataclass(frozen=True)
class Hidden:
    """One variant in which the oracle acts differently, although all observations before this step are equal."""

    variant: Variant
    step: int
    original: Step | None
    changed: Step | None

    @property
    def message(self) -> str:
        draw = self.variant.draw
        return (
            f"step {self.step + 1} of the oracle is {describe(self.original)}, but {describe(self.changed)} if the "
            f"random draw `{draw.method}` ({draw.place}) has another value; everything that an agent observes before "
            f"this step, including the results of further read calls, is the same, so no agent can know which is right"
        )


@property_check(
    "TG211",
    statement="If another value of one random draw changes the oracle's plan, an agent observes a difference before.",
    reason="If the correct action depends on information that is never shown, the reward is a coin toss.",
    fix="Show the drawn value to the agent in the first user message, in an answer, or in a tool result.",
)
def oracle_acts_on_observations(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    replaced = 0
    found = defaultdict[int, list[Hidden]](list)
    tried: Counter[int] = Counter()
    for level in sorted({s.level for s in scenarios}):
        for scenario in evenly_spaced([s for s in scenarios if s.level == level], SCENARIOS):
            tried[level] += 1
            variants = context.variants(scenario)
            replaced += len(variants)
            if hidden := next((h for v in variants if (h := compare(context, v))), None):
                found[level].append(hidden)
    metrics = {f"hidden_{level}": len(found[level]) / count for level, count in tried.items()} | {"variants": replaced}
    for level, cases in found.items():
        if len(cases) > ALLOWED * tried[level]:
            raise _failure(context, cases, tried[level], metrics)
    return Passed(
        f"in {replaced} variants of {tried.total()} scenarios with one replaced random draw, an agent observes a "
        f"difference before the oracle acts differently",
        metrics,
    )


def _failure(context: Context, cases: Sequence[Hidden], count: int, metrics: dict[str, float]) -> CheckFailed:
    case = cases[0]
    scenario = case.variant.scenario
    message = f"{case.message} ({len(cases)} of {count} scenarios of level {scenario.level})"
    tail = (
        f"variant = begin_variant({context.reference!r}, {str(scenario)!r}, {case.variant.draw.index}, "
        f"{case.variant.salt})\n"
        "print(*episode.start.oracle(), sep='\\n')\nprint(*variant.start.oracle(), sep='\\n')"
    )
    made = context.failure(scenario, message, tail=tail)
    snippet = made.counterexample.replace("import begin\n", "import begin, begin_variant\n")
    return CheckFailed(made.message, snippet, metrics)


def compare(context: Context, variant: Variant) -> Hidden | None:
    """Return the step at which the oracle uses hidden information; None if there is none."""
    scenario, other = variant.scenario, variant.oracle
    plan = context.plan(scenario, "oracle")
    step = next((n for n, (a, b) in enumerate(zip(plan, other, strict=False)) if a != b), min(len(plan), len(other)))
    pair = Episode(context.world, scenario), variant.copy()
    with context.catch_failures(scenario, plan):
        if differ(pair, plan[:step]) or succeeds(variant.copy(), plan) or differ_on_reads(pair):
            return None
    return Hidden(variant, step, *(p[step] if step < len(p) else None for p in (plan, other)))


def differ(pair: Sequence[Episode], steps: Sequence[Step]) -> bool:
    """Take the same steps in two episodes and return whether something observable differs."""
    if shown(pair[0]) != shown(pair[1]):
        return True
    for step in steps:
        for episode in pair:
            episode.step(step)
        if pair[0].done != pair[1].done or shown(pair[0]) != shown(pair[1]):
            return True
        if pair[0].done:
            break
    return False


def differ_on_reads(pair: Sequence[Episode]) -> bool:
    """Return whether read calls with the values shown so far give different results in two episodes."""
    pair = [pickle.loads(pickle.dumps(episode, -1)) for episode in pair]
    start = len(pair[0].messages)
    while not pair[0].done and len(pair[0].messages) - start < 100:
        recent = [m for m in pair[0].messages[:start] if m["role"] != "assistant"] + pair[0].messages[start:]
        call = look(Seen(pair[0].messages), recent, pair[0].tools)
        if call is None or differ(pair, [call]):
            return call is not None
    return False


def shown(episode: Episode) -> list[tuple[str, str]]:
    """Return the observations of the agent: messages of the user and tool results."""
    return [(m["role"], str(m["content"])) for m in episode.messages if m["role"] in ("user", "tool")]


def succeeds(episode: Episode, plan: Sequence[Step]) -> bool:
    """Take the steps of a plan in an episode and return whether it succeeds."""
    for step in plan:
        if episode.done:
            break
        episode.step(step)
    return episode.finish().success


def describe(step: Step | None) -> str:
    """Return a short description of a step for a message."""
    match step:
        case Call(tool, arguments):
            return f"{tool}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})"[:300]
        case Say(text):
            return f"the message {text[:200]!r}"
    return "missing"
