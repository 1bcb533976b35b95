"""Property TG706: the simulated user does not reveal what the agent has to find out.

The property tests the user in three ways that do not require the capability:

- *Nudges*, messages such as "Please decide.", are sent in a scenario and in a variant in which one random draw has a
  different value (see `trace_gym.validation.interventions`). Both have the same first user message, and the oracle
  writes different values. If the oracle finds the difference in tool results and not in the user's answers, the user's
  answers to the nudges must not contain these values.
- *Proposals* name the value that the oracle writes and the value that the ablated expert writes. The answers must not
  depend on which of them is correct, unless the user has mentioned one of the values first.
- *Reminders*: if the ablated expert makes fewer writes with a tool, the user must not name the records of the missing
  writes after the ablated expert's last call.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from trace_gym.episode import Episode
from trace_gym.types import Call, Say, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.expert_plans import EXPERTS, evenly_spaced
from trace_gym.validation.interventions import Variant
from trace_gym.validation.oracle_rollouts import is_effective, is_identifying, scalars_by_path
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.world import Step, World

SCENARIOS = 12
"""Maximum number of scenarios per level. Every second one is compared with variants."""
ALLOWED = {"nudge": 0.0, "proposal": 0.2, "reminder": 0.5}
"""Maximum share of cases in which a probe may reveal something. A user who repeats the whole request in an answer may
remind the agent by coincidence."""
LEAST = {"nudge": 1, "proposal": 3, "reminder": 5}
"""Minimum number of cases with a leak."""
NUDGES = (
    *("Okay.", "Please decide.", "Which one do you want?", "What should I take?", "Could you tell me more?"),
    "Please confirm.",
)
PROPOSALS = ("I think it is {}. Is that right?", "Shall I take {}?")
CLOSINGS = ("Okay.", "That is done.", "Is there anything else?")


@property_check(
    "TG706",
    statement="The user's answers to nudges, proposals and an agent that stops early do not reveal the solution.",
    reason="An agent can ask the user until the answer changes, and never needs the capability.",
    fix="Let the user answer only from the request, and agree to every proposal that fits it.",
)
def user_reveals_no_answer(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    leaks = defaultdict[tuple[str, int], list[CheckFailed]](list)
    tried = defaultdict[tuple[str, int], int](int)
    for level in sorted({s.level for s in scenarios}):
        for n, scenario in enumerate(evenly_spaced([s for s in scenarios if s.level == level], SCENARIOS)):
            probes = [*_proposals(context, scenario), *_reminders(context, scenario)]
            for name, leak in [*probes, *(_nudges(context, scenario) if n % 2 == 0 else ())]:
                tried[name, level] += 1
                if leak is not None:
                    leaks[name, level].append(leak)
    metrics = {f"{name}_{level}": len(leaks[name, level]) / count for (name, level), count in sorted(tried.items())}
    for (name, level), found in leaks.items():
        count = tried[name, level]
        if len(found) >= LEAST[name] and len(found) > ALLOWED[name] * count:
            message = f"{found[0].message} (in {len(found)} of {count} cases of level {level})"
            raise CheckFailed(message, found[0].counterexample, metrics, (), found[0].replay)
    total = sum(tried.values())
    return Passed(f"the user's answers reveal nothing in {total} conversations with probes", metrics)


Probe = Iterator[tuple[str, CheckFailed | None]]


def _nudges(context: Context, scenario: Scenario) -> Probe:
    """Compare the answers to nudges with those in variants with the same first message and a different solution."""
    plan = context.plan(scenario, "oracle")
    opening = context.begin(scenario).messages[1]["content"]
    for variant in context.variants(scenario):
        if variant.episode.messages[1]["content"] != opening:
            continue
        writes = [_effective(context, steps) for steps in (plan, variant.oracle)]
        if writes[0] == writes[1] or _user_differs(context, variant):
            continue
        solution = _named(writes[0]) ^ _named(writes[1])
        with context.catch_failures(scenario, list(map(Say, NUDGES))):
            pair = context.begin(scenario), variant.copy()
            for n, nudge in enumerate(NUDGES):
                one, two = (answer(episode, nudge) for episode in pair)
                if one != two and any(value in one + two for value in solution):
                    message = (
                        f"the user answers {nudge!r} with {one!r}, but with {two!r} in a scenario with the same first "
                        f"message and another solution (random draw: {variant.draw.place}); the oracle has to look "
                        f"this up"
                    )
                    yield "nudge", context.failure(scenario, message, [Say(text) for text in NUDGES[: n + 1]])
                    break
            else:
                yield "nudge", None


def _user_differs(context: Context, variant: Variant) -> bool:
    """Return whether the user sends the oracle different messages before its first effective call."""
    plan = context.plan(variant.scenario, "oracle")
    effective = _effective(context, plan)
    pair = context.begin(variant.scenario), variant.copy()
    for step in plan[: next((n for n, step in enumerate(plan) if step in effective), len(plan))]:
        if pair[0].done or pair[1].done:
            break
        one, two = ([m["content"] for m in e.step(step) if m["role"] == "user"] for e in pair)
        if one != two:
            return True
    return False


def _proposals(context: Context, scenario: Scenario) -> Probe:
    """Propose the oracle's and the ablated expert's value of the first argument in which their writes differ."""
    oracle, ablated = (_effective(context, context.plan(scenario, expert)) for expert in EXPERTS)
    opening = str(context.begin(scenario).messages[1]["content"])
    pairs = [(o, a) for o, a in zip(oracle, ablated, strict=False) if o.tool == a.tool][:1]
    for path, right, wrong in ((p, o, a) for pair in pairs for p, o, a in _differing(*pair)):
        if right in opening or wrong in opening:
            continue
        answers = [[_masked(context, scenario, form, value) for form in PROPOSALS] for value in (right, wrong)]
        if answers[0] == answers[1]:
            yield "proposal", None
            continue
        n = next(n for n, (a, b) in enumerate(zip(*answers, strict=True)) if a != b)
        message = (
            f"the user answers {PROPOSALS[n].format(right)!r} with {answers[0][n]!r}, but the same message with the "
            f"incorrect {path} {wrong} with {answers[1][n]!r}, so an agent can guess until the answer changes"
        )
        yield "proposal", context.failure(scenario, message, [Say(PROPOSALS[n].format(wrong))])


def _differing(one: Call, other: Call) -> Iterator[tuple[str, str, str]]:
    """Yield the name and both values of each text argument in which two calls differ."""
    values = dict(scalars_by_path(other.arguments))
    for path, value in scalars_by_path(one.arguments):
        rival = values.get(path)
        if isinstance(value, str) and isinstance(rival, str) and value != rival:
            yield path[-1], value, rival


def _masked(context: Context, scenario: Scenario, form: str, value: str) -> str:
    episode = context.begin(scenario)
    with context.catch_failures(scenario, [Say(form.format(value))]):
        return answer(episode, form.format(value)).replace(value, "#")


def _reminders(context: Context, scenario: Scenario) -> Probe:
    """Run the ablated expert, continue with closing messages, and search the answers for the missing records."""
    oracle, ablated = (_effective(context, context.plan(scenario, expert)) for expert in EXPERTS)
    surplus = Counter(c.tool for c in oracle) - Counter(c.tool for c in ablated)  # an omission, not another choice
    missing = _named([c for c in oracle if c not in ablated and surplus[c.tool]]) - _named(ablated)
    if not missing:
        return
    plan: list[Step] = [*context.plan(scenario, "ablated"), *map(Say, CLOSINGS)]
    last = max((n for n, step in enumerate(plan) if isinstance(step, Call)), default=-1)
    episode, heard = context.begin(scenario), ""
    with context.catch_failures(scenario, plan):
        for n, step in enumerate(plan):
            if not episode.done:
                said = " ".join(str(m["content"]) for m in episode.step(step))
                heard += f" {said}" * (n > last)
    named = [value for value in sorted(missing) if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", heard)]
    message = f"after the ablated expert's last call, the user reminds it of {', '.join(named)}: {heard.strip()!r}"
    yield "reminder", context.failure(scenario, message, plan) if named else None


def _effective(context: Context, plan: Sequence[Step]) -> list[Call]:
    calls = [s for s in plan if isinstance(s, Call)]
    return [c for c in calls if is_effective(c, context.interface, ended=c is calls[-1])]


def _named(calls: Sequence[Call]) -> set[str]:
    """Return the identifying values in calls."""
    return {str(v) for c in calls for _, v in scalars_by_path(c.arguments) if is_identifying(v)}


def answer(episode: Episode, text: str) -> str:
    """Send a message and return the user's answer, with a note if it ends the conversation."""
    if episode.done:
        return "(ended)"
    said = " ".join(str(m["content"]) for m in episode.step(Say(text)))
    return f"{said} (ended)" if episode.done else said
