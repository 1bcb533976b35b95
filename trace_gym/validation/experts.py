"""Properties TG201 to TG205: the oracle succeeds without hidden information, and the ablated expert fails.

Both experts are scripted. The ablated expert lacks the capability that the environment trains.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from trace_gym.chat import calls_of
from trace_gym.episode import Episode
from trace_gym.nested import keys_and_scalars, parse_if_json
from trace_gym.types import Call, Message, Scenario
from trace_gym.validation.check_origins import described, with_origins
from trace_gym.validation.context import Context
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.world import Step, World, overrides

CHECKS = "print(*episode.finish().checks, sep='\\n')"


@property_check(
    "TG201",
    statement="The oracle succeeds on every scenario, within the turn limit, with well-formed calls only, and without "
    "failing a conduct check.",
    reason="A problem that its own expert cannot solve gives no training signal, and averages hide it.",
    fix="Run the counterexample and read the first check that fails. The plan, the verifier or `generate` is wrong.",
)
def oracle_succeeds(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    longest = 0
    for scenario in scenarios:
        episode, steps = context.expert(scenario, "oracle"), context.plan(scenario, "oracle")
        score = episode.finish()
        if len(steps) > world.max_turns:
            raise context.failure(scenario, f"the oracle needs more turns than the limit of {world.max_turns}", steps)
        if episode.malformed:
            refusal = _first_refusal(context, scenario, steps)
            message = f"{episode.malformed} turns of the oracle are malformed; error for the first one: {refusal}"
            raise context.failure(scenario, message, steps, CHECKS)
        if not score.success:
            failed = [c.description for c in score.checks if not c.passed] or ["no goal is unmet at the start"]
            raise context.failure(scenario, f"the oracle fails because of this check: {failed[0]}", steps, CHECKS)
        if improper := [c.description for c in score.checks if c.kind == "conduct" and not c.passed]:
            check = described(improper[0], with_origins(episode.checks()))
            raise context.failure(scenario, f"the oracle succeeds but fails the conduct check {check}", steps, CHECKS)
        longest = max(longest, episode.turns)
    return Passed(
        f"solved {len(scenarios)} of {len(scenarios)} scenarios in at most {longest} turns", {"turns": longest}
    )


def _first_refusal(context: Context, scenario: Scenario, steps: Sequence[Step]) -> str:
    """Return the error message for the first malformed step."""
    episode = context.begin(scenario)
    for step in steps:
        answers = episode.step(step)
        if episode.malformed:
            return str(answers[0]["content"])
    return "(not repeated)"


@property_check(
    "TG202",
    statement="Every string that the oracle passes to a tool appeared in the conversation before the call.",
    reason="An oracle that reads the hidden state does not prove that an agent can solve the problem.",
    fix="Let the oracle look the value up first, or let the initial observation, the policy text or a tool reveal it.",
)
def oracle_is_grounded(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    counts: Counter[str] = Counter()
    schemas = {t["function"]["name"]: t["function"].get("parameters", {}) for t in context.interface.tools}
    for scenario in scenarios:
        steps = context.plan(scenario, "oracle")
        for call, before in _calls(context.expert(scenario, "oracle")):
            seen = _ShownValues(before)
            for kind, text in _arguments(call.arguments, schemas.get(call.tool, {})):
                if kind != "text" or seen.shows(text):
                    counts["seen" if kind == "text" else kind] += 1
                elif " " in text and all(map(seen.shows, _ids(text))):
                    counts["sentence"] += 1
                else:
                    message = (
                        f"the oracle passes {text!r} to {call.tool}, but this value did not appear in the conversation "
                        f"before"
                    )
                    raise context.failure(scenario, message, steps)
    exempt = ", ".join(f"{n} {kind}s" for kind, n in counts.items() if kind != "seen")
    return Passed(
        f"{counts['seen']} strings appeared in the conversation before; exempt: {exempt or 'none'}",
        {k.replace(" ", "_"): v for k, v in sorted(counts.items())},
    )


def _calls(episode: Episode) -> Iterator[tuple[Call, list[Message]]]:
    """Yield the calls of an episode, each with the preceding messages."""
    for n, message in enumerate(episode.messages):
        yield from ((call, episode.messages[:n]) for call in calls_of(message))


class _ShownValues:
    """Information that a conversation has shown to the agent."""

    def __init__(self, messages: Sequence[Message]) -> None:
        shown_texts = [str(m.get("content") or "") for m in messages if m["role"] != "assistant"]
        self.text = "\n".join(shown_texts)
        json_texts = (t for t in shown_texts if t.startswith(("{", "[", '"')))
        shown = (v for t in json_texts for _, v in keys_and_scalars(parse_if_json(t, scalars=True)))
        self.strings = {v for v in shown if isinstance(v, str)}

    def shows(self, value: str) -> bool:
        """Return whether a string is a value in a tool result or a separate word in the text."""
        return value in self.strings or re.search(rf"(?<!\w){re.escape(value)}(?!\w)", self.text) is not None


def _arguments(value: Any, schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a kind and a text for every scalar of an argument.

    Only texts of the kind ``text`` must appear in the conversation. The other kinds are exempt.
    """
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
    """Return the words of a sentence that have the form of an id, a code or a date."""
    words = (w.strip(".,:;!?()'\"") for w in text.split())
    return [w for w in words if re.search(r"[A-Za-z_-]", w) and re.search(r"\d|_", w)]


@property_check(
    "TG203",
    statement="A prefix of the oracle's plan that lacks one of its tool calls never succeeds.",
    reason="A verifier that grants success before the work is complete rewards less than the whole task.",
    fix="Add the goal that the missing call serves, or remove the call from the plan if no goal requires it.",
)
def no_shortcut_succeeds(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    silent = 0
    for scenario in scenarios:
        steps = context.plan(scenario, "oracle")
        last = max((n for n, step in enumerate(steps) if isinstance(step, Call)), default=-1)
        for count in range(len(steps)):
            if not context.expert(scenario, "oracle", count).finish().success:
                continue
            if count <= last or not count:
                message = f"the first {count} of {len(steps)} steps of the oracle's plan are sufficient for success"
                raise context.failure(scenario, message, steps[:count], CHECKS)
            silent += 1
            break
    share = silent / len(scenarios)
    message = f"no prefix that lacks a call succeeds; the closing message is optional in {share:.0%} of the scenarios"
    return Passed(message, {"closing_optional": share})


@property_check(
    "TG204",
    statement="Every call of the oracle obeys the rules of the world.",
    reason="An oracle that breaks a rule teaches agents to break it, and its reward contradicts the policy text.",
    fix="Correct the plan or the method `violations`. Both must follow the policy text that the agent reads.",
)
def oracle_obeys_rules(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    if not overrides(world, "violations"):
        return Passed("not checked, because the world has no method `violations(call)`")
    illegal = 0
    for scenario in scenarios:
        steps = context.plan(scenario, "oracle")
        for n, found in broken_rules(context, scenario, steps):
            raise context.failure(scenario, f"the oracle's {steps[n]} breaks a rule: {found}", steps[: n + 1])
        illegal += any(True for _ in broken_rules(context, scenario, context.plan(scenario, "ablated")))
    share = illegal / len(scenarios)
    message = f"no call of the oracle breaks a rule; the ablated expert breaks one in {share:.0%} of the scenarios"
    return Passed(message, {"ablated_illegal": share})


def broken_rules(context: Context, scenario: Scenario, steps: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """Yield the index of each step that breaks a rule in the current state, with the first broken rule."""
    with context.catch_failures(scenario, steps):
        episode = Episode(context.world, scenario)
        for n, step in enumerate(steps):
            if episode.done:
                return
            found = episode.world.violations(step) if isinstance(step, Call) else ()
            if found:
                yield n, found[0]
            episode.step(step)


@property_check(
    "TG205",
    statement="The ablated expert, which lacks the capability, fails on every scenario that needs the capability, and "
    "some scenarios need it.",
    reason="If the ablated expert can succeed, the reward does not require the capability, and training need not teach "
    "it.",
    fix="Let the shortcut of `ablated` produce another final state, and detect that state with a goal or a guard.",
)
def capability_is_necessary(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    needing: Counter[int] = Counter()
    passed = 0
    for scenario in scenarios:
        ablated = context.expert(scenario, "ablated")
        needs, succeeds = needs_capability(context, scenario), ablated.finish().success
        needing[scenario.level] += needs
        passed += succeeds
        named = world.capability in _named(context, scenario)
        if named and not needs and world.capability:
            message = "`needs` contains the capability, although both experts act identically"
            raise context.failure(scenario, message, tail="print(episode.start.needs())")
        if needs and succeeds and world.capability:
            message = "the ablated expert succeeds, although the scenario needs the capability"
            raise context.failure(scenario, message, context.plan(scenario, "ablated"), CHECKS)
    per_level = Counter(s.level for s in scenarios)
    metrics = {f"needs_{level}": needing[level] / n for level, n in sorted(per_level.items())}
    metrics |= {"needs": needing.total() / len(scenarios), "ablated_succeeds": passed / len(scenarios)}
    if world.capability and not needing.total():
        message = f"none of {len(scenarios)} scenarios needs {world.capability}: both experts act identically"
        raise CheckFailed(message, "", metrics)
    if passed == len(scenarios):
        raise CheckFailed(f"the ablated expert succeeds on all {passed} scenarios", "", metrics)
    shares = f"{metrics['needs']:.0%} of the scenarios need the capability; the ablated expert succeeds on"
    return Passed(f"{shares} {metrics['ablated_succeeds']:.0%}", metrics)


def needs_capability(context: Context, scenario: Scenario) -> bool:
    """Return whether a scenario needs the capability.

    A scenario needs the capability if the two experts make different effective calls, or if the calls are equal but
    only one expert succeeds. If neither expert makes an effective call, their messages are compared instead. A world
    with complete tasks, which does not train a specific capability, defines the needed capabilities in its method
    `needs`.
    """
    if not context.world.capability:
        return bool(_named(context, scenario))
    one, other = (context.expert(scenario, e) for e in ("oracle", "ablated"))
    done = effective_calls(one), effective_calls(other)
    if done == ([], []):
        return one.said != other.said
    return done[0] != done[1] or one.finish().success != other.finish().success


def _named(context: Context, scenario: Scenario) -> frozenset[str]:
    """Return the capabilities that the method `needs` returns.

    Both plans are checked against the turn limit first, because `needs` may run both experts to their end.
    """
    for expert in ("oracle", "ablated"):
        if len(context.plan(scenario, expert)) > context.world.max_turns:
            raise context.failure(
                scenario, f"the plan of the {expert} is longer than the limit of {context.world.max_turns} turns"
            )
    with context.catch_failures(scenario, tail="print(episode.start.needs())"):
        return Episode(context.world, scenario).start.needs()


def effective_calls(episode: Episode) -> list[Call]:
    """Return the write calls of an episode and the call that ended it, such as a transfer to a human."""
    kinds = episode.interface.kinds
    calls = [call for call, _ in _calls(episode)]
    last = calls[-1:] if episode.world.ended else []
    return [c for c in calls if kinds.get(c.tool) == "write" or (c in last and kinds.get(c.tool) == "generic")]
