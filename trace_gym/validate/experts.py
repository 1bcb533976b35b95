"""TG2: the expert succeeds, by fair means; without the capability it fails."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from trace_gym.episode import Episode
from trace_gym.types import Call, Message, Scenario
from trace_gym.validate.context import Context
from trace_gym.validate.draws import scalars
from trace_gym.validate.properties import Broken, Held, prop
from trace_gym.world import Step, World

CHECKS = "print(*episode.finish().checks, sep='\\n')"


@prop(
    "TG201",
    statement="The oracle succeeds on every scenario, within the turn limit and with well-formed calls only.",
    reason="A problem that its own expert cannot solve teaches nothing, and hides in the averages.",
    mend="Play the counterexample and read the first check that fails: the plan, the verifier or `generate` is wrong.",
)
def oracle_succeeds(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    longest = 0
    for scenario in scenarios:
        episode, steps = context.expert(scenario, "oracle"), context.plan(scenario, "oracle")
        score = episode.finish()
        if len(steps) > world.max_turns:
            raise context.broken(scenario, f"the oracle needs more than the {world.max_turns} turns there are", steps)
        if episode.malformed:
            refusal = _first_refusal(context, scenario, steps)
            says = f"{episode.malformed} turns of the oracle are malformed, the first: {refusal}"
            raise context.broken(scenario, says, steps, CHECKS)
        if not score.success:
            failed = [c.says for c in score.checks if not c.holds] or ["a goal is open at the start"]
            raise context.broken(scenario, f"the oracle fails; this does not hold: {failed[0]}", steps, CHECKS)
        longest = max(longest, episode.turns)
    return Held(f"solved {len(scenarios)} of {len(scenarios)} scenarios in at most {longest} turns", {"turns": longest})


def _first_refusal(context: Context, scenario: Scenario, steps: Sequence[Step]) -> str:
    """Return the answer to the first malformed step."""
    episode = context.begin(scenario)
    for step in steps:
        answers = episode.step(step)
        if episode.malformed:
            return str(answers[0]["content"])
    return "(not repeated)"


@prop(
    "TG202",
    statement="What the oracle passes to tools was said or shown before: no id comes from nowhere.",
    reason="An expert that reads the hidden state proves nothing about what an agent can do.",
    mend="Let the oracle look the value up first, or let the opening, the policy or a tool reveal it.",
)
def oracle_is_grounded(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    counts: Counter[str] = Counter()
    schemas = {t["function"]["name"]: t["function"].get("parameters", {}) for t in context.interface.tools}
    for scenario in scenarios:
        steps = context.plan(scenario, "oracle")
        for call, before in _calls(context.expert(scenario, "oracle")):
            seen = _Seen(before)
            for kind, text in _arguments(call.arguments, schemas.get(call.tool, {})):
                if kind != "text" or seen.shows(text):
                    counts["seen" if kind == "text" else kind] += 1
                elif " " in text and all(map(seen.shows, _ids(text))):
                    counts["sentence"] += 1
                else:
                    says = f"the oracle passes {text!r} to {call.tool}, which nothing had shown"
                    raise context.broken(scenario, says, steps)
    exempt = ", ".join(f"{n} {kind}s" for kind, n in counts.items() if kind != "seen")
    return Held(
        f"{counts['seen']} strings had been shown; exempt: {exempt or 'none'}",
        {k.replace(" ", "_"): v for k, v in sorted(counts.items())},
    )


def _calls(episode: Episode) -> Iterator[tuple[Call, list[Message]]]:
    """The calls of an episode, each with the conversation before it."""
    for n, message in enumerate(episode.messages):
        for made in message.get("tool_calls", ()):
            yield Call(made["function"]["name"], json.loads(made["function"]["arguments"])), episode.messages[:n]


class _Seen:
    """What a conversation has shown to the agent: everything but its own words."""

    def __init__(self, messages: Sequence[Message]) -> None:
        told = [str(m.get("content") or "") for m in messages if m["role"] != "assistant"]
        self.text = "\n".join(told)
        shown = (v for t in told if t[:1] in ("{", "[", '"') for _, v in scalars(_parsed(t)))
        self.strings = {v for v in shown if isinstance(v, str)}

    def shows(self, value: str) -> bool:
        """Whether a tool returned the string, or it stands in the text as a word of its own."""
        return value in self.strings or re.search(rf"(?<!\w){re.escape(value)}(?!\w)", self.text) is not None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _arguments(value: Any, schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every scalar of an argument, as text to be looked for or as a kind that need not have been shown."""
    if isinstance(value, str):
        formula = re.fullmatch(r"(?=.*[+*/() ])[\d\s.+*/()-]+", value) is not None
        yield ("enum value" if value in schema.get("enum", ()) else "formula" if formula else "text"), value
    elif isinstance(value, dict):
        parts = schema.get("properties", {})
        yield from (a for name, part in value.items() for a in _arguments(part, parts.get(name, {})))
    elif isinstance(value, list):
        yield from (a for part in value for a in _arguments(part, schema.get("items", {})))
    else:
        yield "number", ""


def _ids(text: str) -> list[str]:
    """The words of a sentence that look like an id, a code or a date."""
    words = (w.strip(".,:;!?()'\"") for w in text.split())
    return [w for w in words if re.search(r"[A-Za-z_-]", w) and re.search(r"\d|_", w)]


@prop(
    "TG203",
    statement="No success is left once a call is missing from the end of the oracle's plan.",
    reason="A verifier that pays before the work is done pays for less than the task.",
    mend="Add the goal that the missing call serves, or take the call out of the plan if nothing needs it.",
)
def no_shortcut_succeeds(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    silent = 0
    for scenario in scenarios:
        steps = context.plan(scenario, "oracle")
        last = max((n for n, step in enumerate(steps) if isinstance(step, Call)), default=-1)
        for count in range(len(steps)):
            if not context.expert(scenario, "oracle", count).finish().success:
                continue
            if count <= last or not count:
                says = f"the first {count} of {len(steps)} steps succeed already"
                raise context.broken(scenario, says, steps[:count], CHECKS)
            silent += 1
            break
    share = silent / len(scenarios)
    says = f"no plan that lacks a call succeeds; in {share:.0%} of the scenarios the closing words may be missing"
    return Held(says, {"closing_optional": share})


@prop(
    "TG204",
    statement="Every call of the oracle is legal by the rules of the world.",
    reason="An expert that breaks a rule teaches breaking it, and the reward then contradicts the policy text.",
    mend="Correct the plan, or `violations`: both must follow the policy that the agent reads.",
)
def gold_plan_is_legal(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    if not hasattr(world, "violations"):
        return Held("the world has no `violations(call)` to ask")
    illegal = 0
    for scenario in scenarios:
        steps = context.plan(scenario, "oracle")
        for n, found in _violations(context, scenario, steps):
            raise context.broken(scenario, f"the oracle's {steps[n]} breaks a rule: {found}", steps[: n + 1])
        illegal += any(True for _ in _violations(context, scenario, context.plan(scenario, "ablated")))
    share = illegal / len(scenarios)
    says = f"no call of the oracle breaks a rule; the ablated expert breaks one in {share:.0%} of the scenarios"
    return Held(says, {"ablated_illegal": share})


def _violations(context: Context, scenario: Scenario, steps: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """Each step that breaks a rule in the state that it meets, with the first rule."""
    with context.blame(scenario, steps):
        episode = Episode(context.world, scenario)
        for n, step in enumerate(steps):
            if episode.done:
                return
            found = episode.world.violations(step) if isinstance(step, Call) else ()  # type: ignore[attr-defined]
            if found:
                yield n, found[0]
            episode.step(step)


@prop(
    "TG205",
    statement="Without the capability the expert fails wherever a scenario needs it, and some scenarios do.",
    reason="Otherwise the reward can be had without the capability, and training need not teach it.",
    mend="Make the shortcut of `ablated` end in another state, and check it with a goal or a guard.",
)
def capability_is_necessary(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    needing: Counter[int] = Counter()
    passed = 0
    for scenario in scenarios:
        ablated = context.expert(scenario, "ablated")
        needs, succeeds = needed(context, scenario), ablated.finish().success
        needing[scenario.level] += needs
        passed += succeeds
        named = world.capability in _named(context, scenario)
        if named and not needs and world.capability:
            says = "`needs` names the capability, although both experts do the same"
            raise context.broken(scenario, says, tail="print(episode.start.needs())")
        if needs and succeeds and world.capability:
            says = "needs the capability, and the ablated expert succeeds without it"
            raise context.broken(scenario, says, context.plan(scenario, "ablated"), CHECKS)
    per_level = Counter(s.level for s in scenarios)
    figures = {f"needs_{level}": needing[level] / n for level, n in sorted(per_level.items())}
    figures |= {"needs": needing.total() / len(scenarios), "ablated_succeeds": passed / len(scenarios)}
    if world.capability and not needing.total():
        says = f"none of {len(scenarios)} scenarios needs {world.capability}: both experts do the same"
        raise Broken(says, "", figures)
    if passed == len(scenarios):
        raise Broken(f"the ablated expert succeeds on all {passed} scenarios", "", figures)
    shares = f"{figures['needs']:.0%} of the scenarios need it; the ablated expert succeeds on"
    return Held(f"{shares} {figures['ablated_succeeds']:.0%}", figures)


def needed(context: Context, scenario: Scenario) -> bool:
    """Whether the two experts do something else, or, where neither does anything, say something else.

    Where both do the same, what they say counts if it decides. The ablated expert of a target lacks every capability at
    once; there the world says whether one of them is needed.
    """
    if not context.world.capability:
        return bool(_named(context, scenario))
    one, other = (context.expert(scenario, e) for e in ("oracle", "ablated"))
    done = deeds(one), deeds(other)
    if done == ([], []):
        return one.said != other.said
    return done[0] != done[1] or one.finish().success != other.finish().success


def _named(context: Context, scenario: Scenario) -> frozenset[str]:
    """The capabilities that the world says are needed; it may play both experts to their end, so they must have one."""
    for expert in ("oracle", "ablated"):
        if len(context.plan(scenario, expert)) > context.world.max_turns:
            raise context.broken(scenario, f"the {expert} goes on for more than {context.world.max_turns} turns")
    with context.blame(scenario, tail="print(episode.start.needs())"):
        return Episode(context.world, scenario).start.needs()


def deeds(episode: Episode) -> list[Call]:
    """The writes of an episode, and the call that ended it, such as a hand-over to a colleague."""
    kinds = episode.interface.kinds
    calls = [call for call, _ in _calls(episode)]
    last = calls[-1:] if episode.world.ended else []
    return [c for c in calls if kinds.get(c.tool) == "write" or (c in last and kinds.get(c.tool) == "generic")]
