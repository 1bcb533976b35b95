"""Property TG210: paraphrasing the agent's messages does not change whether a rollout succeeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from trace_gym.episode import Episode
from trace_gym.types import Bars, Say, Scenario
from trace_gym.validation.context import Context, ExpertName, episode_reward
from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.experts import CHECKS
from trace_gym.validation.paraphrase import ANNOUNCED, GROUPS, KINDS, Facts, variants
from trace_gym.validation.properties import CheckFailed, Passed, Skipped, property_check
from trace_gym.validation.sentences import functions
from trace_gym.world import Step, World

MOST = 32
"""Maximum number of scenarios, evenly spaced over the sample. It is large enough that every paraphrase is used."""
COMBINED, GAIN = ("frames", "everything"), "the ablated expert's gain"
GIBBERISH, CONSENT = "Blorp.", "Shall I proceed?"
SHOWN = 300
"""Maximum number of characters of a message that a finding quotes."""


@property_check(
    "TG210",
    statement="The oracle succeeds with paraphrased messages of the same content, and paraphrasing never raises the "
    "reward of the ablated expert.",
    reason="Otherwise a policy learns the phrases that the user and the verifier recognize instead of the capability.",
    fix="Recognize the intent of a message instead of its wording: use the user of the base world for consent, "
    "requests and refusals, and compare dates, times, amounts and counts as values in every common notation.",
)
def paraphrases_keep_success(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    tried: Counter[str] = Counter()
    differing: dict[str, list[CheckFailed]] = {}
    for n, scenario in enumerate(evenly_spaced(scenarios, MOST)):
        for kind, plan in paraphrased_plans(context, scenario, "oracle", n):
            tried[kind] += 1
            if change := difference(context, scenario, kind, plan):
                found = _failure(context, scenario, "oracle", plan, f"{change} ({kind})")
                differing.setdefault(kind, []).append(found)
        for kind, plan in paraphrased_plans(context, scenario, "ablated", n):
            if kind in ("everything", list(KINDS)[n % len(KINDS)]) and (
                change := ablated_gain(context, scenario, plan)
            ):
                found = _failure(context, scenario, "ablated", plan, f"{change} ({kind})")
                differing.setdefault(GAIN, []).append(found)
    if not tried:
        raise Skipped("the oracle sends no message that can be paraphrased")
    kinds = [kind for kind in (*KINDS, ANNOUNCED) if tried[kind]]
    equal = {kind: 1 - len(differing.get(kind, ())) / tried[kind] for kind in kinds}
    metrics = {kind.replace(" ", "_"): share for kind, share in equal.items()}
    bars = Bars(title="Plans that succeed with paraphrased messages", unit="share of plans", bars=equal)
    if not differing:
        quoted = ", ".join(f"{tried[kind]} with {kind}" for kind in kinds)
        return Passed(f"the oracle also succeeds with paraphrased messages: {quoted}", metrics, (bars,))
    worst = min(differing, key=lambda kind: (kind in COMBINED, equal.get(kind, 1)))
    failure = differing[worst][0]
    counts = ", ".join(f"{k} {len(found)}" + f" of {tried[k]}" * (k in tried) for k, found in differing.items())
    failure.message = f"{failure.message}; plans that differ: {counts}"
    failure.metrics, failure.exhibits = metrics, (bars,)
    raise failure


def _failure(
    context: Context, scenario: Scenario, expert: ExpertName, plan: Sequence[Step], change: str
) -> CheckFailed:
    message = first_change(context.plan(scenario, expert), plan)
    return context.failure(scenario, f"with paraphrased messages, {change}; the {expert} says {message}", plan, CHECKS)


def paraphrased_plans(
    context: Context, scenario: Scenario, expert: ExpertName, n: int
) -> Iterator[tuple[str, list[Step]]]:
    """Yield paraphrased variants of an expert's plan that fit in the turn limit, each with its kind of paraphrase."""
    steps = context.plan(scenario, expert)
    if not any(isinstance(step, Say) for step in steps):
        return
    with context.catch_failures(scenario):
        facts = Facts.of(context.expert(scenario, expert).start, context.interface)
    for kind, plan in variants(steps, facts, n, context.interface):
        if len(plan) <= context.world.max_turns:
            yield kind, plan


def difference(context: Context, scenario: Scenario, kind: str, plan: Sequence[Step]) -> str:
    """Return a description of how the results of a variant differ from those of the oracle's plan, or ``""``."""
    original, variant = context.expert(scenario, "oracle"), context.run(scenario, plan)
    one, other = original.finish(), variant.finish()
    if one.success != other.success:
        changed = next((d.description for c, d in zip(one.checks, other.checks, strict=False) if c != d), "the checks")
        return f"the oracle {'succeeds' if other.success else 'fails'}, and this check changes: {changed}"
    return "" if kind == ANNOUNCED else _first_misunderstood(context, scenario, plan, original, variant)


def _first_misunderstood(
    context: Context, scenario: Scenario, plan: Sequence[Step], original: Episode, variant: Episode
) -> str:
    """Return a description of the first paraphrased message that the simulated user misunderstands, or ``""``.

    A plan has fixed steps, so it can succeed even though the user misunderstood a message. A message counts as
    misunderstood if its answer equals the answer to gibberish, or if it requests information and the user gives
    consent instead.
    """
    steps = context.plan(scenario, "oracle")
    message = [at for at, step in enumerate(plan) if isinstance(step, Say)]
    for at, old, new in zip(message, _answers(original), _answers(variant), strict=False):
        if old is None or new is None or old == new:
            continue
        world = context.run(scenario, plan[:at]).world
        with context.catch_failures(scenario, plan[:at]):
            lost, agreed = (world.copy().reply(text) for text in (GIBBERISH, CONSENT))
        if new == lost != old:
            return f"the user answers {new!r} instead of {old!r}, which is also the answer to gibberish"
        step = steps[at]
        asks = isinstance(step, Say) and any(f and f.name in GROUPS["request"] for _, f in functions(step.text))
        if asks and new == agreed != old:
            return f"the user consents ({new!r}) instead of answering {old!r}"
    return ""


def _answers(episode: Episode) -> Iterator[str | None]:
    """Yield the user's answer to each message of the agent; None if the user does not answer."""
    messages = episode.messages
    for message, following in zip(messages, [*messages[1:], {"role": ""}], strict=True):
        if message["role"] == "assistant" and not message.get("tool_calls"):
            yield str(following["content"]) if following["role"] == "user" else None


def ablated_gain(context: Context, scenario: Scenario, plan: Sequence[Step]) -> str:
    """Return a description of the additional reward that a variant of the ablated expert's plan gets, or ``""``."""
    original = context.expert(scenario, "ablated")
    if original.malformed:
        return ""  # a variant with a different number of turns gets a different penalty for malformed turns
    variant = context.run(scenario, plan)
    more = episode_reward(variant) > episode_reward(original) + 1e-9
    return (
        f"the ablated expert gets the reward {episode_reward(variant):g} instead of {episode_reward(original):g}"
        if more
        else ""
    )


def first_change(steps: Sequence[Step], plan: Sequence[Step]) -> str:
    """Return quotations of the first message that differs between two plans, and of the original message."""
    for old, new in zip(steps, plan, strict=False):
        if old != new and isinstance(new, Say):
            quoted = f"{new.text[:SHOWN]!r}"
            return f"{quoted} instead of {old.text[:SHOWN]!r}" if isinstance(old, Say) else f"{quoted} in addition"
    return "the same"
