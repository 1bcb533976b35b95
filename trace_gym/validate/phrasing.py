"""TG2, third part: the same content in other words has the same success."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from trace_gym.episode import Episode
from trace_gym.types import Bars, Say, Scenario
from trace_gym.validate.attempts import spread
from trace_gym.validate.context import Context, Expert, worth
from trace_gym.validate.experts import CHECKS
from trace_gym.validate.paraphrase import ANNOUNCED, GROUPS, KINDS, Facts, variants
from trace_gym.validate.properties import Broken, Held, Inapplicable, prop
from trace_gym.validate.sentences import functions
from trace_gym.world import Step, World

MOST = 32
"""Scenarios that are tried, evenly spread over the sample; more than any function has frames."""
COMBINED, GAIN = ("frames", "everything"), "the ablated expert's gain"
GIBBERISH, CONSENT = "Blorp.", "Shall I proceed?"
SHOWN = 300
"""Characters of a message that a finding quotes."""


@prop(
    "TG210",
    statement="The oracle is understood and succeeds in other words, notations and layouts with the same content, and "
    "the ablated expert earns no more with them.",
    reason="A policy learns the phrases that the user and the verifier recognize instead of the capability.",
    mend="Recognize what a message does instead of its wording: leave consent, requests and refusals to the user of "
    "the base world, and compare dates, times, amounts and counts as values, in every common notation.",
)
def other_words_change_nothing(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    tried: Counter[str] = Counter()
    differing: dict[str, list[Broken]] = {}
    for n, scenario in enumerate(spread(scenarios, MOST)):
        for kind, plan in rewritten(context, scenario, "oracle", n):
            tried[kind] += 1
            if now := difference(context, scenario, kind, plan):
                found = _broken(context, scenario, "oracle", plan, f"{now} ({kind})")
                differing.setdefault(kind, []).append(found)
        for kind, plan in rewritten(context, scenario, "ablated", n):
            if kind in ("everything", list(KINDS)[n % len(KINDS)]) and (now := gain(context, scenario, plan)):
                found = _broken(context, scenario, "ablated", plan, f"{now} ({kind})")
                differing.setdefault(GAIN, []).append(found)
    if not tried:
        raise Inapplicable("the oracle says nothing that could be said in other words")
    kinds = [kind for kind in (*KINDS, ANNOUNCED) if tried[kind]]
    equal = {kind: 1 - len(differing.get(kind, ())) / tried[kind] for kind in kinds}
    figures = {kind.replace(" ", "_"): share for kind, share in equal.items()}
    bars = Bars(title="Plans that succeed in other words", unit="share of plans", bars=equal)
    if not differing:
        told = ", ".join(f"{tried[kind]} with {kind}" for kind in kinds)
        return Held(f"the oracle succeeds in other words as well: {told}", figures, (bars,))
    worst = min(differing, key=lambda kind: (kind in COMBINED, equal.get(kind, 1)))
    broken = differing[worst][0]
    counts = ", ".join(f"{k} {len(found)}" + f" of {tried[k]}" * (k in tried) for k, found in differing.items())
    broken.says = f"{broken.says}; plans that differ: {counts}"
    broken.figures, broken.exhibits = figures, (bars,)
    raise broken


def _broken(context: Context, scenario: Scenario, expert: Expert, plan: Sequence[Step], now: str) -> Broken:
    message = first_change(context.plan(scenario, expert), plan)
    return context.broken(scenario, f"in other words {now}; the {expert} says {message}", plan, CHECKS)


def rewritten(context: Context, scenario: Scenario, expert: Expert, n: int) -> Iterator[tuple[str, list[Step]]]:
    """Yield the variants of an expert's plan that fit in the turn limit, each with its kind."""
    steps = context.plan(scenario, expert)
    if not any(isinstance(step, Say) for step in steps):
        return
    with context.blame(scenario):
        facts = Facts.of(context.expert(scenario, expert).start, context.interface)
    for kind, plan in variants(steps, facts, n, context.interface):
        if len(plan) <= context.world.max_turns:
            yield kind, plan


def difference(context: Context, scenario: Scenario, kind: str, plan: Sequence[Step]) -> str:
    """Return how a variant of the oracle's plan ends differently than the plan; empty if it does not."""
    usual, varied = context.expert(scenario, "oracle"), context.play(scenario, plan)
    one, other = usual.finish(), varied.finish()
    if one.success != other.success:
        changed = next((d.says for c, d in zip(one.checks, other.checks, strict=False) if c != d), "the checks")
        return f"the oracle {'succeeds' if other.success else 'fails'}, and this changes: {changed}"
    return "" if kind == ANNOUNCED else _misunderstood(context, scenario, plan, usual, varied)


def _misunderstood(context: Context, scenario: Scenario, plan: Sequence[Step], usual: Episode, varied: Episode) -> str:
    """Return which message of a variant the user does not understand, although the original is understood.

    A plan is fixed, so it may succeed although a request in it is not answered. A message is not understood if its
    answer is that to gibberish, or if a request is answered like a question for consent.
    """
    steps = context.plan(scenario, "oracle")
    says = [at for at, step in enumerate(plan) if isinstance(step, Say)]
    for at, old, new in zip(says, _answers(usual), _answers(varied), strict=False):
        if old is None or new is None or old == new:
            continue
        world = context.play(scenario, plan[:at]).world
        with context.blame(scenario, plan[:at]):
            lost, agreed = (world.copy().reply(text) for text in (GIBBERISH, CONSENT))
        if new == lost != old:
            return f"the user answers {new!r} instead of {old!r}, which is the answer to gibberish as well"
        step = steps[at]
        asks = isinstance(step, Say) and any(f and f.name in GROUPS["request"] for _, f in functions(step.text))
        if asks and new == agreed != old:
            return f"the user consents ({new!r}) instead of answering {old!r}"
    return ""


def _answers(episode: Episode) -> Iterator[str | None]:
    """Yield the user's answer to each message; None if there is none."""
    messages = episode.messages
    for message, following in zip(messages, [*messages[1:], {"role": ""}], strict=True):
        if message["role"] == "assistant" and not message.get("tool_calls"):
            yield str(following["content"]) if following["role"] == "user" else None


def gain(context: Context, scenario: Scenario, plan: Sequence[Step]) -> str:
    """Return what the ablated expert gains by a variant of its plan; empty if it gains nothing."""
    usual = context.expert(scenario, "ablated")
    if usual.malformed:
        return ""  # another number of turns changes the share that is taken off for malformed ones
    varied = context.play(scenario, plan)
    more = worth(varied) > worth(usual) + 1e-9
    return f"the ablated expert earns {worth(varied):g} instead of {worth(usual):g}" if more else ""


def first_change(steps: Sequence[Step], plan: Sequence[Step]) -> str:
    """Return the first message that differs, with the original."""
    for old, new in zip(steps, plan, strict=False):
        if old != new and isinstance(new, Say):
            told = f"{new.text[:SHOWN]!r}"
            return f"{told} instead of {old.text[:SHOWN]!r}" if isinstance(old, Say) else f"{told} in addition"
    return "the same"
