"""Property TG213: plans that are as good as the oracle's plan succeed as well.

The plans are derived from the oracle's plan in three ways: messages without content are added, a message is sent
sentence by sentence, or two writes are swapped if both orders obey the rules and lead to the same final state. TG207
tests plans with different read calls, and TG210 tests different wordings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from trace_gym.types import Call, Say, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.expert_plans import evenly_spaced, is_write, state_after
from trace_gym.validation.experts import CHECKS, broken_rules
from trace_gym.validation.hidden_information import describe
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.world import Step, World

MOST = 32
"""Maximum number of scenarios, evenly spaced over the sample."""
PLACES = 4
"""Maximum number of places at which a message is added."""
FILLERS = (Say("One moment, please."), Say("Let me check."))
"""Messages that do not ask, propose or report anything."""
SLACK = 2
"""Number of turns that an agent may need more than the oracle."""
ALLOWED = 0.05
"""Maximum share of plans that may fail."""


@property_check(
    "TG213",
    statement="The oracle's plan also succeeds with two more turns, split messages, and independent writes exchanged.",
    reason="If only the oracle's exact plan is rewarded, correct agents are punished, and the reward is noise.",
    fix="Increase `max_turns`, let the user tolerate empty messages, and judge all messages together.",
)
def right_variants_succeed(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    tried: Counter[str] = Counter()
    failures: dict[str, list[CheckFailed]] = {}
    for scenario in evenly_spaced(scenarios, MOST):
        if not context.expert(scenario, "oracle").finish().success:
            continue  # TG201 reports it
        for name, plan in right_plans(context, scenario):
            tried[name] += 1
            if failure := _failure(context, scenario, name, plan):
                failures.setdefault(name, []).append(failure)
    metrics = {f"{name.replace(' ', '_')}": 1 - len(failures.get(name, ())) / n for name, n in tried.items()}
    for name, found in failures.items():
        if len(found) > ALLOWED * tried[name]:
            message = f"{found[0].message} ({len(found)} of {tried[name]} such plans fail)"
            raise CheckFailed(message, found[0].counterexample, metrics, (), found[0].replay)
    shares = ", ".join(f"{count} with {name}" for name, count in tried.items())
    return Passed(f"plans that are as good as the oracle's succeed: {shares or 'none exist'}", metrics)


def _failure(context: Context, scenario: Scenario, name: str, plan: Sequence[Step]) -> CheckFailed | None:
    """Return the failure of a plan that must succeed; None if it succeeds."""
    if len(plan) > context.world.max_turns:
        count, limit = len(context.plan(scenario, "oracle")), context.world.max_turns
        return context.failure(scenario, f"the oracle needs {count} of at most {limit} turns, with no slack", plan)
    episode = context.run(scenario, plan)
    if episode.finish().success:
        return None
    failed = next((c.description for c in episode.finish().checks if not c.passed), "no goal is unmet at the start")
    first = next((b for a, b in zip(context.plan(scenario, "oracle"), plan, strict=False) if a != b), None)
    message = (
        f"the oracle's plan with {name} fails because of this check: {failed}; the first change is {describe(first)}"
    )
    return context.failure(scenario, message, plan, CHECKS)


def right_plans(context: Context, scenario: Scenario) -> Iterator[tuple[str, list[Step]]]:
    """Yield plans that must succeed, each with a description of its difference from the oracle's plan.

    A user may end the conversation after the first sentence of a refusal. Therefore a plan with a split message that
    cannot be completed is not counted as a failure.
    """
    plan = context.plan(scenario, "oracle")
    yield f"{SLACK} more turns", [*FILLERS, *plan]
    calls = [n + 1 for n, step in enumerate(plan) if isinstance(step, Call)]
    for place in evenly_spaced(calls, PLACES):
        if len(plan) < context.world.max_turns:
            yield "a message without content", [*plan[:place], FILLERS[0], *plan[place:]]
    split = [part for step in plan for part in _sentences(step)]
    if plan != split and len(split) <= context.world.max_turns and context.run(scenario, split).turns == len(split):
        yield "each message sent sentence by sentence", split
    final = state_after(context.expert(scenario, "oracle"))
    for a, b in pairwise(n for n, step in enumerate(plan) if is_write(step, context.interface)):
        exchanged = [*plan[:a], plan[b], *plan[a + 1 : b], plan[a], *plan[b + 1 :]]
        same = plan[a] != plan[b] and state_after(context.run(scenario, exchanged)) == final
        if same and not any(broken_rules(context, scenario, exchanged)):
            yield "two independent writes exchanged", exchanged


def _sentences(step: Step) -> list[Step]:
    """Return one message per sentence of a message, and any other step unchanged."""
    return [Say(part) for part in re.split(r"(?<=[.!?]) ", step.text)] if isinstance(step, Say) else [step]
